"""The report as a file: whole, quiet and safe, whatever hosts call their things."""

import base64
import csv
import io
import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest

from normstat.comparison.model import (
    Circumstance,
    Command,
    ComparedBaseline,
    Comparison,
    Counts,
    InsufficientData,
    MutedFinding,
    Question,
    StoryLine,
    StoryProcess,
    UnmatchedSeries,
)
from normstat.query.host_events import HostEvent
from normstat.records.event_rows import EventSource
from normstat.report.event_section import events_window
from normstat.report.markup import Markup, join, tag, visible
from normstat.report.numbers import HEADER, write_csv
from normstat.report.report_page import MAX_GROUPS, POLICY, Cover, render_report, title_of
from normstat.runtime.readable import format_duration, format_instant, format_number
from normstat.stats.fact_words import EventKind
from tests.report.made import HOSTILE, NO_VALUES, START, comparison, finding, group, side_values, sparkline, story

COVER = Cover("Slow mornings", "Ask Kim.\n& Bob", "alice", START + timedelta(hours=3), "https://norm.example/comparison?h=web1")
VOID = {"meta", "br", "hr", "img", "link"}


class Reader(HTMLParser):
    """What a browser would see: elements, attributes, text; ill-nested elements fail."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.ids: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += [(key, value or "") for key, value in attrs]
        self.ids += [value for key, value in attrs if key == "id" and value]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def finish(self) -> "Reader":
        self.close()
        assert not self._open
        return self


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader.finish()


def everything_called(name: Any) -> Comparison:
    """A comparison in which each text is that name."""
    question = Question(name, [Command(name, name, "root", name, name)])
    member = finding(name, sentence=name, kind=name)
    texts = dict.fromkeys(("host", "stat", "field", "column", "unit", "help", "subsystem", "sentence"), name)
    hostile = group(1, name, **texts, related=[name], instances=[name, name], questions=[question], members=[member])
    return comparison(
        hostile,
        hosts=[name, name],
        against=ComparedBaseline(name, name, 1, 1, [], name),
        divisor=name,
        seasonal_note=name,
        verdict=name,
        appeared=[UnmatchedSeries(name, name, name, name, 1, name)],
        disappeared=[UnmatchedSeries(name, name, name, name, 2, name)],
        insufficient_data=[InsufficientData(name, name, name, name, 0, 1, name)],
        muted=[MutedFinding(name, name, name, name, 2.0, 5.0)],
        counts=Counts(1, 1, 1, 1),
        spec_versions={name: 1},
        stories=[
            story(
                hosts=[name],
                title=name,
                sentence=name,
                processes=[StoryProcess(name, name, name, name, [1], "new", 0, f"{name}.")],
                lines=[StoryLine("busy", f"{name};", 1)],
                also_seen_by=[name],
            )
        ],
        notes=[name],
    )


def test_report_says_what_was_found_and_from_what() -> None:
    page = render_report(comparison(group(1, "0", "1"), group(2, "5", direction="down", is_worse=None)), COVER)
    text = read(page).text
    for said in (
        "Slow mornings",
        "Ask Kim.\n& Bob",
        "The kernel works more.",
        "1,310 series compared: 1,300 unchanged; 2 changed, in 2 groups of related changes.",
        "finding 1 is up",
        "2 of 64 changed",
        "CPU time in the kernel.",
        "vmstat sy is up, too",
        "truss -c -p 17",
        "truss | normstat-agent put",
        "id 3, version 4",
        "mpstat_linux 2",
        "2026-11-19 10:00:00 UTC to 2026-11-20 10:00:00 UTC",
        "5,529,600 samples",
        "Created by normstat",
        "2026-11-21 13:00:00 UTC for alice",
    ):
        assert said in text
    # The same question is written once.
    assert text.count("truss -c -p 17") == 1


def noted(text: str, minutes: int = -5) -> HostEvent:
    at = START + timedelta(minutes=minutes)
    return HostEvent(
        at=at, not_before=None, kind=EventKind.DEPLOYMENT, text=text, end=None, tags=[text], hosts=None, source=EventSource.USER,
        author=text, id=1,
    )  # fmt: skip


def test_report_has_the_events_before_and_during_the_incident() -> None:
    record = comparison(group())
    text = read(render_report(record, replace(COVER, events=(noted("deployed 1.4"),)))).text
    assert "deployed 1.4 #deployed 1.4" in text
    assert "all hosts" in text
    assert "earlier events are not listed" not in text
    many = read(render_report(record, replace(COVER, events=tuple(noted(f"no {number}") for number in range(65))))).text
    assert "5 earlier events are not listed." in many
    assert "no 4 #" not in many
    window = events_window(record)
    assert (record.start - window.start, window.end) == (timedelta(hours=1), record.end)
    assert "Events" not in read(render_report(record, COVER)).text


def test_an_event_is_told_once() -> None:
    """Below the answer with its distance to the onset, or in the section of events."""
    told, other = noted("deployed 1.4"), noted("a backup", minutes=-50)
    at_ms = round(told.at.timestamp() * 1000)
    circumstance = Circumstance("event", "web1", "deployed 1.4, 5 min before it began", at_ms, None)
    record = replace(comparison(group()), circumstances=[circumstance])
    text = read(render_report(record, replace(COVER, events=(other, told)))).text
    assert (text.count("deployed 1.4"), text.count("a backup #")) == (1, 1)
    assert "Other events" in text
    # Another event with the same text is another one.
    again = replace(told, at=told.at - timedelta(minutes=9))
    assert read(render_report(record, replace(COVER, events=(again, told)))).text.count("deployed 1.4 #") == 1
    assert "Other events" not in read(render_report(record, replace(COVER, events=(told,)))).text


def test_report_needs_nothing_but_itself() -> None:
    page = render_report(comparison(group()), COVER)
    reader = read(page)
    assert reader.elements["script"] == reader.elements["link"] == reader.elements["img"] == reader.elements["iframe"] == 0
    addresses = [value for key, value in reader.attributes if key in ("href", "src", "action", "data", "xlink:href")]
    assert [address for address in addresses if not address.startswith(("#", "data:text/csv"))] == [COVER.address]
    assert not re.search(r"url\(|@import|javascript:", page)
    assert ("content", POLICY) in reader.attributes
    assert POLICY.startswith("default-src 'none';")


@pytest.mark.parametrize("name", [HOSTILE, "</title></style><script>", "javascript:alert(1)", "a]]>", "\ud800", "-->", "\x00"])
def test_no_name_becomes_markup(name: str) -> None:
    plain = read(render_report(everything_called("plain"), replace(COVER, events=(noted("plain"),))))
    hostile = read(render_report(everything_called(name), Cover(name, name, name, START, name, (noted(name),))))
    # Only the link to a bad address is missing.
    assert plain.elements - hostile.elements == Counter({"a": 1, "dt": 1, "dd": 1})
    assert not hostile.elements - plain.elements
    assert {key for key, _ in hostile.attributes} <= {key for key, _ in plain.attributes}
    assert not [value for key, value in hostile.attributes if key == "href" and value.startswith("javascript:")]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile.text)


def test_links_lead_to_what_is_there() -> None:
    groups = [group(rank) for rank in range(1, MAX_GROUPS + 6)]
    reader = read(render_report(comparison(*groups), COVER))
    targets = {value.removeprefix("#") for key, value in reader.attributes if key == "href" and value.startswith("#")}
    assert targets <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids)) == MAX_GROUPS
    assert "5 more groups in the table below." in reader.text
    assert f"finding {MAX_GROUPS + 5}" not in reader.text


def test_nothing_unusual_is_said_as_clearly() -> None:
    reader = read(render_report(comparison(), COVER))
    assert "No unusual change in 1,310 series." in reader.text
    assert "No series changed more than its normal variation." in reader.text
    assert reader.elements["svg"] == 0


def test_what_is_not_known_is_not_drawn_as_zero() -> None:
    gone = finding("sda", incident=NO_VALUES, sparkline=sparkline(low=[None] * 160, high=[None] * 160), kind="missing")
    nowhere = finding("sdb", baseline=NO_VALUES, incident=NO_VALUES, sparkline=None)
    gaps = sparkline()
    gaps.low[40:60] = [None] * 20
    gaps.high[40:60] = [None] * 20
    page = render_report(comparison(group(1, members=[gone, nowhere, finding("sdc", sparkline=gaps)], n_members=3)), COVER)
    reader = read(page)
    assert reader.elements["svg"] == 2, "nothing is drawn of what has no numbers"
    assert "–" in reader.text
    now = [value for key, value in reader.attributes if key == "d" and value.count("M") == 2]
    assert len(now) == 1, "a gap parts the line in two"


@pytest.mark.parametrize("levels", [(0, 0, 0), (5, 0, 5), (1e-9, 0, 3e-9), (-4, 2, 8), (1e15, 1, 2e15), (3, 0, 3.0000001)])
def test_any_numbers_can_be_drawn(levels: tuple[float, float, float]) -> None:
    baseline, spread, incident = levels
    drawn = finding(
        "", baseline=side_values(baseline, spread), incident=side_values(incident, spread), sparkline=sparkline(incident)
    )
    page = render_report(comparison(group(1, members=[drawn])), COVER)
    assert not re.search(r"nan|inf\b|Infinity", page.partition("<svg")[2].partition("</svg>")[0])


def test_numbers_of_a_report_are_in_it() -> None:
    record = comparison(group(1, "0", "1", n_members=3, instances=["0", "1", "2"]))
    reader = read(render_report(record, COVER))
    (address,) = [value for key, value in reader.attributes if key == "href" and value.startswith("data:")]
    assert base64.b64decode(address.partition("base64,")[2]) == write_csv(record)


def test_csv_has_a_line_for_each_series() -> None:
    record = replace(everything_called("a,b\nc"), groups=[group(1, "0", "1", n_members=3, instances=["0", "1", "2"])])
    body = write_csv(record).decode()
    assert body.startswith(",".join(HEADER) + "\r\n")
    rows = list(csv.DictReader(io.StringIO(body, newline="")))
    assert [(row["state"], row["instance"]) for row in rows] == [
        ("finding", "0"),
        ("finding", "1"),
        ("finding", "2"),
        ("appeared", "a,b\nc"),
        ("disappeared", "a,b\nc"),
        ("insufficient_data", "a,b\nc"),
        ("muted", "a,b\nc"),
    ]
    assert rows[0]["baseline_median"] == "10"
    assert rows[0]["incident_p95"] == repr(20 + 6 * (0.95 - 0.5))
    assert rows[0]["is_worse"] == "yes"
    assert rows[2]["baseline_median"] == ""
    assert (rows[3]["incident_n"], rows[4]["baseline_n"]) == ("1", "2")
    assert (rows[6]["change_ratio"], rows[6]["significance"]) == ("2.0", "5.0")


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|'/c calc'!A1", "-2+3", "\uff1d1"])
def test_csv_holds_no_formula(name: str) -> None:
    rows = list(csv.reader(io.StringIO(write_csv(everything_called(name)).decode(), newline="")))
    cells = {cell for row in rows[1:] for cell in row}
    assert f"'{name}" in cells
    assert name not in cells


def test_negative_numbers_are_numbers() -> None:
    record = comparison(group(1, members=[finding("0", change=-3.5)]))
    (row,) = csv.DictReader(io.StringIO(write_csv(record).decode(), newline=""))
    assert row["change"] == "-3.5"


def test_text_becomes_markup_through_tag_alone() -> None:
    bold = tag("b", "a < b & c")
    assert bold == "<b>a &lt; b &amp; c</b>"
    assert tag("p", bold, title='"x"') == '<p title="&quot;x&quot;"><b>a &lt; b &amp; c</b></p>'
    # What plain text has touched is plain text, and escaped.
    assert join("" + bold) == "&lt;b&gt;a &amp;lt; b &amp;amp; c&lt;/b&gt;"
    assert isinstance(bold, Markup)
    assert visible("a\u202eb\x1b\u200b\U000e0001ü 日") == "a\\u202eb\\x1b\\u200b\\U000e0001ü 日"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (None, "–"),
        (float("nan"), "–"),
        (12.3456, "12.35"),
        (0.00123456, "0.001235"),
        (1234.5, "1,234"),
        (123456789, "123,456,789"),
        (-5.5, "−5.5"),
        (100, "100"),
        (1e-9, "1.000e-09"),
        (2.5e18, "2.500e+18"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert format_number(value) == text


def test_times() -> None:
    assert format_duration(0) == "0 s"
    assert format_duration(5400) == "1 h 30 min"
    assert format_duration(90061) == "1 d 1 h"
    assert format_instant(START + timedelta(milliseconds=1500)) == "2026-11-21 10:00:01.5 UTC"
    assert title_of(comparison()) == "web1: 2026-11-21 10:00:00 UTC against weekdays"
