"""Recurring stalls and bursts of a resource, and what happens at the same times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.stalls import Bouts, find_bursts, find_stalls
from normstat.comparison.model import Finding, FindingGroup
from normstat.comparison.read_side import StatSide
from normstat.comparison.sparklines import samples_of
from normstat.comparison.stories.story_table import StoryPlace
from normstat.comparison.stories.story_words import (
    Amount,
    is_plural,
    is_usual,
    name_members,
    name_series,
    name_subject,
    representative,
)
from normstat.runtime.readable import format_human, join_words
from normstat.stats.summaries import is_summary

# Bouts of two series go together if their numbers differ by no more than this share.
ALIKE: Final = 0.34
MAX_EFFECTS: Final = 2
# Bouts of other resources are at the same time if this share of the fewer ones begins within a bout's length of one of the others.
MIN_TOGETHER: Final = 0.8
MAX_MEANWHILE: Final = 2
# Stalls without a period are reported from three on, as two may be chance, and if they last two reports: a quiet interface has
# single reports without a packet. A period shorter than four reports is noise.
MIN_IRREGULAR: Final = 3
MIN_LENGTH: Final = 2
MIN_PERIOD: Final = 4
# Minimum excursion to be reported: points of a percentage, or multiples of what is normal.
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
        """Return the clause of the meaning with a value; of a series without one: its name, and which way it went."""
        amount = Amount(format_human(value, self.group.unit))
        if not self.place.words:
            return f"{name_series(self.group, self.finding)} {'fell' if self.is_stall else 'rose'} to {amount:}"
        who = name_members(self.group, self.finding, self.place)
        return self.place.words.format(who=who, was="were" if is_plural(who) else "was", value=amount)


def describe_bouts_of(
    placed: Sequence[tuple[int, FindingGroup, StoryPlace]],
    elsewhere: Sequence[tuple[int, FindingGroup, StoryPlace]],
    sides: Mapping[str, StatSide],
) -> str | None:
    """Return the recurring behaviour of a story's resource: `every 38 s sd3 stops for 5 s: a request to sd3 took 500 ms (...)`.

    `elsewhere`: groups of other resources, of which those are named that stop or rise meanwhile; `sides`: the incident.
    Missing: None where nothing repeats
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
    # First what waited, then what stopped.
    told = list(reversed(effects.values()))[: MAX_EFFECTS + 1]
    head = f"{head}: {join_words(told)}" if told else head
    meanwhile = _find_meanwhile(lead, elsewhere, sides)
    return f"{head}; meanwhile {join_words(meanwhile)}" if meanwhile else head


def _find_meanwhile(
    lead: _Bout, elsewhere: Sequence[tuple[int, FindingGroup, StoryPlace]], sides: Mapping[str, StatSide]
) -> list[str]:  # fmt: skip
    """Return what each other resource does during the bouts: what stops before what rises, the strongest first."""
    found: dict[str, _Bout] = {}
    for _, group, place in elsewhere:
        if place.topic in found:
            continue
        bout = _find(group, place, sides, is_lead=False)
        if bout is not None and _is_together(lead, bout):
            found[place.topic] = bout
    ordered = sorted(found.values(), key=lambda bout: not bout.is_stall)
    return [_describe_value(bout) for bout in ordered[:MAX_MEANWHILE]]


def _is_together(lead: _Bout, other: _Bout) -> bool:
    fewer, more = sorted((lead.bouts, other.bouts), key=lambda bouts: bouts.n)
    if fewer.n < (1 - ALIKE) * more.n:
        return False
    begins = np.array(more.begins_s)
    distance = np.min(np.abs(np.array(fewer.begins_s)[:, None] - begins[None, :]), axis=1)
    return bool((distance <= max(fewer.length_s, more.length_s)).mean() >= MIN_TOGETHER)


def _find(group: FindingGroup, place: StoryPlace, sides: Mapping[str, StatSide], *, is_lead: bool = True) -> _Bout | None:
    """Return the bouts of the series that speaks for a group. `is_lead`: it may speak for the story, so it needs words.

    Missing: None without samples or bouts
    """
    side, finding = sides.get(group.stat), representative(group)
    if (
        side is None
        or (is_lead and not place.words)
        or place.role not in LEADING
        or finding.baseline.p95 is None
        or not is_usual(finding)
    ):
        # Where the median moved, the level changed, and there are no bouts.
        return None
    times, values = samples_of(side, finding.instance, group.field)
    if finding.direction == "up" or finding.kind == "spikes":
        bouts, is_stall = find_bursts(times, values, finding.baseline.p95), False
    elif place.role in ("latency", "wait"):
        # A resource without requests has no latency.
        return None
    else:
        # A series that is sometimes low anyway does not stall.
        bouts = find_stalls(times, values) if (finding.baseline.p5 or 0.0) > 0 else None
        is_stall = True
    if bouts is None:
        return None
    found = _Bout(group, place, finding, bouts, is_stall)
    interval_s = float(np.median(np.diff(times)))
    if bouts.period_s is None:
        is_told = is_stall and found.is_of_device and bouts.n >= MIN_IRREGULAR and bouts.length_s >= MIN_LENGTH * interval_s
    else:
        is_told = bouts.period_s >= MIN_PERIOD * interval_s
    reached, usual = found.reached or 0.0, finding.baseline.median or 0.0
    # A CPU that is usually 12 % busy and idle meanwhile stalls, though that is only 12 points.
    is_stop = not is_lead and is_stall and reached <= usual / MIN_TIMES
    return found if is_told and (is_stop or is_far(reached, usual, group.unit)) else None


def is_far(reached: float, usual: float, unit: str) -> bool:
    """Return whether a series goes noticeably far from its usual value."""
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
