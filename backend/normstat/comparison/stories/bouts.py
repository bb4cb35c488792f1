"""What a resource does again and again: it stops, or something rises for some seconds, and what goes with that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.human import format_human, join_words
from normstat.comparison.findings.stalls import Bouts, find_bursts, find_stalls
from normstat.comparison.model import Finding, FindingGroup
from normstat.comparison.read_side import StatSide
from normstat.comparison.sparklines import samples_of
from normstat.comparison.stories.story_table import StoryPlace
from normstat.comparison.stories.story_words import Amount, is_plural, is_usual, name_subject, representative
from normstat.stats.summaries import is_summary

# Bouts of two series go together if their numbers differ by no more than this share.
ALIKE: Final = 0.34
MAX_EFFECTS: Final = 2
# Stalls without a period are reported from three on, as two may be chance. A period shorter than four reports is noise.
MIN_IRREGULAR: Final = 3
MIN_PERIOD: Final = 4
# How far it must go to be told: points of a percentage, or times what is normal.
MIN_POINTS: Final = 20.0
MIN_TIMES: Final = 3.0
# Roles that say what a resource does, before those that wait for it.
LEADING: Final = ("work", "busy", "latency", "wait")


@dataclass(frozen=True, slots=True)
class _Bout:
    """A series of a story that stalls or bursts."""

    group: FindingGroup
    place: StoryPlace
    finding: Finding
    bouts: Bouts
    is_stall: bool

    @property
    def is_of_device(self) -> bool:
        """Whether it is one device, disk or interface."""
        return bool(self.finding.instance) and not is_summary(self.group.stat, self.finding.instance)

    @property
    def reached(self) -> float | None:
        """How low it falls, or how high it rises."""
        return self.finding.incident.lowest if self.is_stall else self.finding.incident.p99

    def subject(self) -> str:
        return name_subject(self.group.stat, self.finding.instance, self.place)

    def words(self, value: float | None) -> str:
        """Return the clause of the meaning with a value."""
        who = self.subject()
        amount = Amount(format_human(value, self.group.unit))
        return self.place.words.format(who=who, was="were" if is_plural(who) else "was", value=amount)


def describe_bouts_of(placed: Sequence[tuple[int, FindingGroup, StoryPlace]], sides: Mapping[str, StatSide]) -> str | None:
    """Return what a story's resource does again and again: `every 38 s sd3 stops for 5 s: a request to sd3 took 500 ms (...)`.

    `sides`: the incident. Missing: None where nothing repeats
    """
    found = [bout for _, group, place in placed if (bout := _find(group, place, sides)) is not None]
    # A stop explains what rises meanwhile; of two, the one that says what the resource does.
    found.sort(key=lambda bout: (not (bout.is_stall and bout.place.role == "work"), LEADING.index(bout.place.role)))
    if not found:
        return None
    lead = found[0]
    often = _describe_often(lead.bouts)
    length = f"{lead.bouts.length_s:.1f}".removesuffix(".0")
    is_stop = lead.is_stall and lead.is_of_device and lead.place.role == "work"
    head = f"{often} {lead.subject()} stops" if is_stop else f"{often} {_describe_value(lead)},"
    effects: dict[str, str] = {}
    for bout in found if is_stop else found[1:]:
        if bout.place.meaning not in effects and _goes_with(lead.bouts, bout.bouts):
            effects[bout.place.meaning] = _describe_value(bout)
    head = f"{head} for {length} s"
    # What waited, then what did not come.
    told = list(reversed(effects.values()))[: MAX_EFFECTS + 1]
    return f"{head}: {join_words(told)}" if told else head


def _find(group: FindingGroup, place: StoryPlace, sides: Mapping[str, StatSide]) -> _Bout | None:
    """Return the bouts of the series that speaks for a group. Missing: None without words, samples or bouts"""
    side, finding = sides.get(group.stat), representative(group)
    if side is None or not place.words or place.role not in LEADING or finding.baseline.p95 is None or not is_usual(finding):
        # Where the middle moved, it is another level and no bouts.
        return None
    times, values = samples_of(side, finding.instance, group.field)
    if finding.direction == "up" or finding.kind == "spikes":
        bouts, is_stall = find_bursts(times, values, finding.baseline.p95), False
    elif place.role in ("latency", "wait"):
        # Who is asked nothing takes no time to answer.
        return None
    else:
        # What is low now and then anyway does not stop.
        bouts = find_stalls(times, values) if (finding.baseline.p5 or 0.0) > 0 else None
        is_stall = True
    if bouts is None:
        return None
    found = _Bout(group, place, finding, bouts, is_stall)
    if bouts.period_s is None:
        is_told = is_stall and found.is_of_device and bouts.n >= MIN_IRREGULAR
    else:
        is_told = bouts.period_s >= MIN_PERIOD * float(np.median(np.diff(times)))
    reached, usual = found.reached or 0.0, finding.baseline.median or 0.0
    return found if is_told and is_far(reached, usual, group.unit) else None


def is_far(reached: float, usual: float, unit: str) -> bool:
    """Return whether somebody would notice how far a series goes from its usual value."""
    if unit == "%":
        return abs(reached - usual) >= MIN_POINTS
    return reached >= MIN_TIMES * usual or reached <= usual / MIN_TIMES


def _goes_with(lead: Bouts, other: Bouts) -> bool:
    return abs(lead.n - other.n) <= max(1, ALIKE * lead.n)


def _describe_often(bouts: Bouts) -> str:
    return f"{bouts.n:,} times" if bouts.period_s is None else f"every {bouts.period_s:.0f} s"


def _describe_value(bout: _Bout) -> str:
    """Return what a series reached, with what is normal."""
    finding, unit = bout.finding, bout.group.unit
    normal = Amount(format_human(finding.baseline.median, unit))
    return f"{bout.words(bout.reached)} (normally {normal:})"
