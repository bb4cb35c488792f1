"""How a change is judged: from what two comparisons found."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from normstat.comparison.ledger_model import Certainty, LedgerLine, Resource
from normstat.comparison.model import ComparedBaseline, Comparison, Counts, FindingGroup, SideCoverage, Sides, Story
from normstat.incidents.change_verdict import MAX_CHANGES, judge_change, sides_of
from normstat.records.change_verdict_rows import Verdict

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
QUARTER = timedelta(minutes=15)


def group(rank: int, field: str, *, is_worse: bool | None, impact: float = 0.3, certainty: str = "sure") -> FindingGroup:
    return FindingGroup(
        rank=rank, host="web1", stat="mpstat_linux", field=field, column=field, unit="%", help="", subsystem="cpu", kind="level",
        direction="up", is_worse=is_worse, change_ratio=9.0, significance=9.0, certainty=certainty, impact=impact,  # type: ignore[arg-type]
        anomaly_score=0.9, sentence=f"{field} rose.", n_members=1, n_instances=1, instances=["all"], members=[], related=[],
        questions=[],
    )  # fmt: skip


def line(resource: Resource, outside: float, *, unit: str = "%", certainty: Certainty = "sure") -> LedgerLine:
    return LedgerLine(
        host="web1", resource=resource, name="vda", stat="iostat_linux", fields=[], instance="", unit=unit, capacity=100.0,
        baseline=5.0, incident=5.0 + outside, low=4.0, high=6.0, change=outside, outside=outside, is_full=False,
        certainty=certainty, ratio=9.0, weight=0.3, parts=[], units=[], remainder=None, window_s=60.0, window_starts_ms=[],
        windows=[], sentence=f"{resource} moved by {outside:g}.",
    )  # fmt: skip


def story(sentence: str, *ranks: int) -> Story:
    return Story(
        rank=1, hosts=["web1"], topic="cpu", title="CPU", sentence=sentence, anomaly_score=0.9, significance=9.0, impact=0.3,
        is_worse=True, onset_ms=None, processes=[], lines=[], also_seen_by=[], ranks=list(ranks),
    )  # fmt: skip


def comparison(
    *groups: FindingGroup,
    stories: tuple[Story, ...] = (),
    ledger: tuple[LedgerLine, ...] = (),
    after_s: float = 720.0,
    before_s: float = 7200.0,
    n_unchanged: int = 100,
) -> Comparison:
    sides = sides_of(AT, QUARTER)
    return Comparison(
        hosts=["web1"], start=sides.after.start, end=sides.after.end, method_version=10,
        against=ComparedBaseline("window", "another window", None, None, [sides.before], None), divisor=None,
        sides=Sides(SideCoverage(before_s, 100, 0), SideCoverage(after_s, 100, 0)), is_seasonal=False, seasonal_note="",
        n_series=100, n_unchanged=n_unchanged, n_findings=len(groups), n_groups=len(groups), verdict="", groups=list(groups),
        appeared=[], disappeared=[], insufficient_data=[], muted=[], counts=Counts(0, 0, 0, 0), spec_versions={}, elapsed_ms=1,
        stories=list(stories), ledger=list(ledger),
    )  # fmt: skip


def test_the_windows() -> None:
    sides = sides_of(AT, QUARTER)
    assert (sides.before.start, sides.before.end) == (AT - timedelta(hours=2), AT)
    assert (sides.after.start, sides.after.end) == (AT + timedelta(minutes=3), AT + QUARTER)
    # What was seen at twelve may have happened since eleven.
    seen_late = sides_of(AT, QUARTER, not_before=AT - timedelta(hours=1))
    assert (seen_late.before.end, seen_late.after.end) == (AT - timedelta(hours=1), AT + QUARTER)


WORSE, BETTER = group(1, "usr_pct", is_worse=True), group(2, "sys_pct", is_worse=False)


@pytest.mark.parametrize(
    ("groups", "verdict", "sentence"),
    [
        ((), Verdict.SAME, "Nothing got worse or better by an amount that matters."),
        ((WORSE,), Verdict.WORSE, "usr_pct rose."),
        ((BETTER,), Verdict.BETTER, "sys_pct rose."),
        # A deployment that saves something and costs something is worse, whichever is stronger.
        ((replace(BETTER, rank=1), replace(WORSE, rank=2)), Verdict.WORSE, "usr_pct rose."),
        # Neither way, likely only, and too small to matter.
        ((group(1, "csw", is_worse=None),), Verdict.SAME, "Nothing got worse or better; 1 thing differs from before: csw rose."),
        ((replace(WORSE, certainty="likely"),), Verdict.SAME, "Nothing got worse or better by an amount that matters."),
        ((replace(WORSE, impact=0.01),), Verdict.SAME, "Nothing got worse or better by an amount that matters."),
        ((replace(WORSE, anomaly_score=0.1),), Verdict.SAME, "Nothing got worse or better by an amount that matters."),
    ],
)
def test_verdicts(groups: tuple[FindingGroup, ...], verdict: Verdict, sentence: str) -> None:
    found = judge_change(comparison(*groups), None)
    assert (found.verdict, found.sentence) == (verdict, sentence)


def test_what_is_normal_at_this_time_is_no_change() -> None:
    found = judge_change(comparison(WORSE, BETTER), comparison())
    assert (found.verdict, found.sentence) == (
        Verdict.SAME,
        "2 things differ from before, all within what is normal here: usr_pct rose.",
    )
    assert [one.is_worse for one in found.changes] == []
    # Outside of the baseline, too, though only likely; and another direction is another change.
    assert judge_change(comparison(WORSE), comparison(replace(WORSE, certainty="likely"))).verdict is Verdict.WORSE
    assert judge_change(comparison(WORSE), comparison(replace(WORSE, direction="down"))).verdict is Verdict.SAME


def test_the_story_says_who_did_it() -> None:
    found = judge_change(comparison(WORSE, BETTER, stories=(story("yes (77), which is new, used 70 % of a CPU.", 1),)), None)
    assert found.sentence == "yes (77), which is new, used 70 % of a CPU."
    assert [(one.sentence, one.is_worse) for one in found.changes] == [(found.sentence, True), ("sys_pct rose.", False)]
    # A story whose strongest part went the other way is not the reason.
    other = comparison(replace(BETTER, rank=1), replace(WORSE, rank=2), stories=(story("It is idle.", 1, 2),))
    assert judge_change(other, None).sentence == "usr_pct rose."
    many = comparison(*(replace(WORSE, rank=rank, sentence=f"field {rank} rose.") for rank in range(1, 40)))
    assert len(judge_change(many, None).changes) == MAX_CHANGES


@pytest.mark.parametrize(
    ("ledger", "verdict"),
    [
        ((line("cpu", 40),), Verdict.WORSE),
        ((line("memory", -20),), Verdict.BETTER),
        ((line("memory", -20), line("cpu", 40)), Verdict.WORSE),
        ((line("disk", 40),), Verdict.WORSE),
        # More data is work, not trouble; what is only likely, or at its capacity as before, is no sign.
        ((line("disk", 40, unit="KiB/s"), line("network", 90, unit="KiB/s")), Verdict.SAME),
        ((line("cpu", 40, certainty="likely"), line("memory", 0)), Verdict.SAME),
    ],
)
def test_the_ledger_comes_first(ledger: tuple[LedgerLine, ...], verdict: Verdict) -> None:
    found = judge_change(comparison(BETTER if verdict is Verdict.WORSE else group(9, "csw", is_worse=None), ledger=ledger), None)
    assert found.verdict is verdict
    if verdict is not Verdict.SAME:
        assert "moved by" in found.sentence
    # Nor is what the baseline has.
    assert judge_change(comparison(ledger=ledger), comparison()).verdict is Verdict.SAME
    assert judge_change(comparison(ledger=ledger), comparison(ledger=ledger)).verdict is verdict


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (comparison(WORSE, after_s=200), "Only 3 min of the 12 min after it have samples."),
        (comparison(WORSE, before_s=50), "Only 50 s before it have samples; a verdict needs 5 min."),
        (comparison(n_unchanged=0), "No series has enough samples before and after it."),
    ],
)
def test_too_little_data(found: Comparison, sentence: str) -> None:
    told = judge_change(found, None)
    assert (told.verdict, told.sentence, told.changes) == (Verdict.TOO_LITTLE_DATA, sentence, [])
