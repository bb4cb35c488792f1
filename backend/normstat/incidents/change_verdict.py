"""Judge a change by the comparison of the time after it with the time before, and with what is normal. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

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


def judge_change(found: Comparison, normal: Comparison | None) -> Judgement:
    """Return the verdict: `found` compares after with before, `normal` after with the host's baseline.

    One that got worse by enough decides: a deployment that saves CPU time and raises latency is worse. What is within the baseline
    counts as the same: at nine every day there is more load than at eight.
    """
    too_little = _find_gap(found)
    if too_little:
        return Judgement(Verdict.TOO_LITTLE_DATA, too_little, [])
    large = [group for group in found.groups if group.certainty == "sure" and group.impact >= MIN_IMPACT]
    sure = [group for group in large if group.is_worse is not None]
    outside = None if normal is None else {_place(group) for group in normal.groups}
    kept = sure if outside is None else [group for group in sure if _place(group) in outside]
    changes = [JudgedChange(group.sentence, bool(group.is_worse)) for group in kept][:MAX_CHANGES]
    for verdict, is_worse in ((Verdict.WORSE, True), (Verdict.BETTER, False)):
        first = next((group for group in kept if group.is_worse is is_worse), None)
        if first is not None:
            return Judgement(verdict, _tell(found, first), changes)
    if sure:
        return Judgement(Verdict.SAME, f"{_differ(sure)} from before, all within what is normal here.", changes)
    if large:
        return Judgement(Verdict.SAME, f"Nothing got worse or better; {_differ(large)}: {large[0].sentence}", changes)
    return Judgement(Verdict.SAME, "Nothing got worse or better by an amount that matters.", changes)


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


def _differ(groups: Sequence[FindingGroup]) -> str:
    return "1 field differs" if len(groups) == 1 else f"{len(groups)} fields differ"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _place(group: FindingGroup) -> tuple[str, str, str]:
    return (group.stat, group.field, group.direction)


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
