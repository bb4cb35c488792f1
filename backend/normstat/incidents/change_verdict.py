"""Judge a change by the comparison of the time after it with the time before, and with what is normal. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from normstat.comparison.ledger_model import LedgerLine
from normstat.comparison.model import Comparison, FindingGroup
from normstat.records.change_verdict_rows import ChangeSides, JudgedChange, Verdict
from normstat.window import Window

# Programs start, caches fill: this share of the time after a change is left out.
SETTLING: Final = 0.2
# The time before is that many times as long as the time after, so that it shows how much a quarter of an hour differs by itself.
BEFORE_FACTOR: Final = 8
# This share of the time after a change must have samples, and this long the time before.
MIN_COVERED: Final = 0.5
MIN_BEFORE: Final = timedelta(minutes=5)
# A smaller change is no reason to look at a deployment: 2 points of a percentage, or a fifth of a decade of the host's total.
MIN_IMPACT: Final = 0.02
# Nor is one that stands far down in the list of changes: on 1,600 series a few are there by chance.
MIN_SCORE: Final = 0.15
# Resources of which a host has so much and no more.
SCARCE: Final = frozenset({"cpu", "memory", "processes", "throttling", "memory_limit", "database"})
MAX_CHANGES: Final = 10


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a host."""

    verdict: Verdict
    sentence: str
    changes: list[JudgedChange]


def sides_of(at: datetime, after: timedelta, *, not_before: datetime | None = None) -> ChangeSides:
    """Return the windows to compare. A change that was seen later than it happened leaves out the time in between."""
    return ChangeSides(
        Window((not_before or at) - BEFORE_FACTOR * after, not_before or at),
        Window(at + SETTLING * after, at + after),
    )


@dataclass(frozen=True, slots=True)
class _Sign:
    """A resource or a field that changed for certain. `is_worse`: None where more of it is neither better nor worse"""

    place: tuple[str, str, str]
    is_worse: bool | None
    sentence: str


def judge_change(found: Comparison, normal: Comparison | None) -> Judgement:
    """Return the verdict: `found` compares after with before, `normal` after with the host's baseline.

    One that got worse by enough decides: a deployment that saves CPU time and raises latency is worse. What is within the baseline
    counts as the same: at nine every day there is more load than at eight.
    """
    too_little = _find_gap(found)
    if too_little:
        return Judgement(Verdict.TOO_LITTLE_DATA, too_little, [])
    signs = _find_signs(found)
    directed = [sign for sign in signs if sign.is_worse is not None]
    outside = None if normal is None else _outside(normal)
    kept = directed if outside is None else [sign for sign in directed if sign.place in outside]
    # One story may tell of several fields.
    changes = list({sign.sentence: JudgedChange(sign.sentence, bool(sign.is_worse)) for sign in kept}.values())[:MAX_CHANGES]
    for verdict, is_worse in ((Verdict.WORSE, True), (Verdict.BETTER, False)):
        first = next((sign for sign in kept if sign.is_worse is is_worse), None)
        if first is not None:
            return Judgement(verdict, first.sentence, changes)
    if directed:
        told = f"{_differ(directed)} from before, all within what is normal here: {directed[0].sentence}"
        return Judgement(Verdict.SAME, told, changes)
    if signs:
        return Judgement(Verdict.SAME, f"Nothing got worse or better; {_differ(signs)} from before: {signs[0].sentence}", changes)
    return Judgement(Verdict.SAME, "Nothing got worse or better by an amount that matters.", changes)


def _find_signs(found: Comparison) -> list[_Sign]:
    """Return what changed for certain and by enough: resources, the heaviest first, then fields, the strongest first."""
    resources = [
        _Sign(_place_of_line(line), line.outside > 0 if _is_worse_if_more(line) else None, line.sentence)
        for line in found.ledger
        if line.certainty == "sure" and line.outside != 0
    ]
    fields = [
        _Sign(_place_of_group(group), group.is_worse, _tell(found, group))
        for group in found.groups
        if group.certainty == "sure" and group.impact >= MIN_IMPACT and group.anomaly_score >= MIN_SCORE
    ]
    return [*resources, *fields]


def _outside(normal: Comparison) -> set[tuple[str, str, str]]:
    """Return what is outside of the baseline, for certain or likely."""
    lines = {_place_of_line(line) for line in normal.ledger if line.certainty != "nothing"}
    return lines | {_place_of_group(group) for group in normal.groups}


def _is_worse_if_more(line: LedgerLine) -> bool:
    """Return whether more use of a resource is worse, as it is of those that run out; more data and requests are work."""
    return line.resource in SCARCE or (line.resource == "disk" and line.unit == "%")


def _find_gap(found: Comparison) -> str:
    """Return what is missing for a verdict; empty: nothing."""
    wanted_s = (found.end - found.start).total_seconds()
    if found.sides.incident.covered_s < MIN_COVERED * wanted_s:
        return f"Only {_minutes(found.sides.incident.covered_s)} of the {_minutes(wanted_s)} after it have samples."
    if found.sides.baseline.covered_s < MIN_BEFORE.total_seconds():
        least = _minutes(MIN_BEFORE.total_seconds())
        return f"Only {_minutes(found.sides.baseline.covered_s)} before it have samples; a verdict needs {least}."
    if found.n_unchanged + found.n_findings == 0:
        return "No series has enough samples before and after it."
    return ""


def _differ(signs: Sequence[_Sign]) -> str:
    n = len({sign.sentence for sign in signs})
    return "1 thing differs" if n == 1 else f"{n} things differ"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _place_of_group(group: FindingGroup) -> tuple[str, str, str]:
    return (group.stat, group.field, group.direction)


def _place_of_line(line: LedgerLine) -> tuple[str, str, str]:
    return (line.resource, line.name, "up" if line.outside > 0 else "down")


def _tell(found: Comparison, group: FindingGroup) -> str:
    """Return the sentence of the story that a group belongs to, which names who did it; else its own."""
    return next(
        (story.sentence for story in found.stories if group.rank in story.ranks and _leads(found, story.ranks, group)),
        group.sentence,
    )


def _leads(found: Comparison, ranks: Sequence[int], group: FindingGroup) -> bool:
    """Return whether a story points the way of the group: the strongest of its groups with a direction has the same."""
    own = [one for one in found.groups if one.rank in ranks and one.is_worse is not None]
    return bool(own) and own[0].is_worse == group.is_worse
