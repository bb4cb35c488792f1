"""The stories of a report: first, on two pages, with the rest as details that are not printed."""

import re

import pytest

from normstat.comparison.model import Finding, StoryLine
from normstat.report.report_page import render_report
from normstat.report.stories import MAX_STORIES, drawn_group
from normstat.report.tables import member_change
from tests.report.made import NO_VALUES, comparison, finding, group, side_values, story
from tests.report.test_page import COVER, read


def test_stories_come_first_and_the_rest_is_not_printed() -> None:
    groups = [group(rank) for rank in range(1, 4)]
    record = comparison(
        *groups, stories=[story(1, 1, 2), story(2, 3)], notes=["The baseline has only 4 minutes of data; use at least 10."]
    )
    page = render_report(record, COVER)
    text = read(page).text
    told = [
        "story 1: dd (29206) wrote 1.81 GiB/s.",
        "The baseline has only 4 minutes of data; use at least 10.",
        "What happened",
        "began 10:00:12 UTC, 12 s into the incident, dd (29206) started 10:00:12 UTC",
        "vda was busy 83 % of the time (normally 0 to 6 %)",
        "Also seen by: bo (vmstat)",
        "story 2: dd (29206)",
        "3 changes, next questions and other series",
        "finding 1 is up",
        "Inputs",
    ]
    places = [text.index(said) for said in told]
    assert places == sorted(places)
    # The verdict of the service repeats the first story; the findings are in the part for screens.
    assert "The kernel works more." not in text
    before, _, rest = page.partition('<details class="screen">')
    details = rest.partition("</details>")[0]
    assert before.count("<article") == 0
    assert details.count("<article") == 3
    assert before.count("<svg") == 2
    assert 'href="data:text/csv' in page


def test_without_stories_the_findings_are_the_report() -> None:
    page = render_report(comparison(group()), COVER)
    assert "<details" not in page
    assert "The kernel works more." in read(page).text
    assert page.count("<article") == 1


def test_a_report_has_no_more_stories_than_two_pages_hold() -> None:
    record = comparison(group(), stories=[story(rank) for rank in range(1, MAX_STORIES + 3)])
    text = read(render_report(record, COVER)).text
    assert f"story {MAX_STORIES}:" in text
    assert f"story {MAX_STORIES + 1}:" not in text
    assert "2 more stories in the comparison on the page." in text


def test_the_graph_is_of_the_strongest_group_that_is_no_detail() -> None:
    groups = {rank: group(rank) for rank in (1, 2, 3)} | {4: group(4, members=[finding(sparkline=None)])}
    detail, busy = StoryLine("detail", "", 2), StoryLine("busy", "", 3)

    def drawn(ranks: list[int], *lines: StoryLine) -> int | None:
        found = drawn_group(story(ranks=ranks, lines=list(lines)), groups)
        return None if found is None else found.rank

    assert drawn([1, 2, 3], detail, busy) == 3
    assert drawn([1, 2], detail) == 1
    assert drawn([2], detail) == 2
    assert drawn([4, 2], detail) == 2
    assert drawn([4]) == 4
    assert drawn([99]) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (finding(), "10 → 20 %"),
        (finding(baseline=NO_VALUES, kind="appeared"), "not there → 20 %"),
        (finding(incident=NO_VALUES, kind="disappeared", baseline=side_values(38)), "38 % → gone"),
        (finding(baseline=NO_VALUES, incident=NO_VALUES), "no samples"),
    ],
)
def test_one_side_without_samples_is_said(given: Finding, said: str) -> None:
    assert member_change(given, "%") == said


def test_a_graph_says_which_side_has_no_samples() -> None:
    for side, change in (("baseline", {"baseline": NO_VALUES}), ("incident", {"incident": NO_VALUES, "sparkline": None})):
        page = render_report(comparison(group(members=[finding(**change)]), stories=[story()]), COVER)
        svg = re.findall(r"<svg.*?</svg>", page)
        assert svg
        assert all(f"no samples in the {side}" in drawing for drawing in svg)
        assert not any(f"no samples in the {other}" in page for other in {"baseline", "incident"} - {side})
