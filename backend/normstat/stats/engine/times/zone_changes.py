"""Date readings of a clock whose zone a header names; the header may precede a change to or from summer time.

    procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
     r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                CEST
     1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-10-25 02:59:59
     3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 2026-10-25 02:00:00

`vmstat -t` prints the name of the zone with its header: once a screen, or once for ever with -n. The second row is in CET.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.stats.engine.times.timeline import CORRECTION_LIMIT_S, ClockPass, Timeline, find_passes, require_zone
from normstat.stats.engine.times.timestamps import SECONDS_A_DAY, parse_zone
from normstat.stats.records import Int64Array

HOUR_S: Final = 3600
HALF_A_YEAR_S: Final = 182 * SECONDS_A_DAY
# Zones that change at the same instant as all others of the name. The names of summer time are used nowhere in winter.
SUMMER_ZONES: Final = {
    "CEST": "Europe/Berlin", "MEST": "Europe/Berlin", "WEST": "Europe/Lisbon", "EEST": "Europe/Helsinki", "EDT": "America/New_York",
    "CDT": "America/Chicago", "MDT": "America/Denver", "PDT": "America/Los_Angeles",
}  # fmt: skip
# Some places keep these names all year: only a clock that skips an hour shows the change.
WINTER_ZONES: Final = {
    "CET": "Europe/Berlin", "MET": "Europe/Berlin", "WET": "Europe/Lisbon", "EET": "Europe/Helsinki", "EST": "America/New_York",
    "CST": "America/Chicago", "MST": "America/Denver", "PST": "America/Los_Angeles",
}  # fmt: skip
# In this time a zone changes once at most.
ONE_CHANGE_S: Final = 7 * SECONDS_A_DAY


@dataclass(frozen=True, slots=True)
class NamedZone:
    """The meaning of a zone's name in a header: seconds ahead of UTC, and the zone with its changes where one is known.

    `is_certain`: the host changes with the zone. Otherwise it may be in a place that never changes.
    """

    offset_s: int
    zone: dt.tzinfo | None
    is_certain: bool


class HeaderZone:
    """The zone of the present header. `shift_s` is how much the clock was changed since; kept in the reader's state."""

    __slots__ = ("_found", "shift_s")

    def __init__(self, shift_s: object) -> None:
        self.shift_s = shift_s if isinstance(shift_s, int) else 0
        self._found: dict[str, NamedZone | None] = {}

    def see_header(self) -> None:
        """Note that a header was printed: it names the zone of now."""
        self.shift_s = 0

    def find(self, timeline: Timeline, name: str, reading: float) -> NamedZone | None:
        """Return what the name means. Missing: None for a name of several meanings."""
        if name not in self._found:
            self._found[name] = _find(timeline, name, reading)
        return self._found[name]

    def time_us(self, timeline: Timeline, named: NamedZone, reading: float) -> int:
        """Return the instant of a row."""
        self.shift_s += _change(timeline, named, named.offset_s + self.shift_s, reading)
        return timeline.see_instant(reading, named.offset_s + self.shift_s)

    def is_without_change(self, timeline: Timeline, named: NamedZone, readings: Int64Array) -> bool:
        """Return whether all of the rows have the same distance from UTC as the latest one."""
        if named.zone is None:
            return True
        first = readings[0] if timeline.last_s is None else timeline.last_s
        if first > readings[0] or readings[-1] - first > ONE_CHANGE_S or (np.diff(readings) < 0).any():
            return False
        ends = [find_passes(named.zone, float(reading)) for reading in (first, readings[-1])]
        return all(ends) and len({one.offset_s for passes in ends for one in passes}) == 1


def _find(timeline: Timeline, name: str, reading: float) -> NamedZone | None:
    if timeline.zone is not None:
        for near in (reading, reading - HALF_A_YEAR_S, reading + HALF_A_YEAR_S):
            for one in find_passes(timeline.zone, near):
                if one.name == name:
                    return NamedZone(one.offset_s, timeline.zone, is_certain=True)
    offset_s = parse_zone(name)
    if offset_s is None:
        return None
    zone = SUMMER_ZONES.get(name) or WINTER_ZONES.get(name)
    return NamedZone(offset_s, require_zone(zone) if zone is not None else None, is_certain=name in SUMMER_ZONES)


def _change(timeline: Timeline, named: NamedZone, offset_s: int, reading: float) -> int:
    """Return by how much the zone's distance from UTC changed since the latest row, which had `offset_s`. Units: seconds."""
    last_s = timeline.last_s
    if named.zone is None or last_s is None:
        return 0
    before, now = find_passes(named.zone, last_s), find_passes(named.zone, reading)
    if not before or not now or all(one.offset_s == offset_s for one in now):
        return 0
    step_s = reading - last_s
    if _is_repeated(now):
        goes_back = -HOUR_S <= step_s < -CORRECTION_LIMIT_S and now[0].offset_s == offset_s
        return now[1].offset_s - offset_s if goes_back else 0
    if offset_s not in {one.offset_s for one in before} or now[0].offset_s != now[1].offset_s:
        # The header contradicts the zone, or the clock shows a time that the zone skips.
        return 0
    change_s = now[0].offset_s - offset_s
    is_seen = named.is_certain or 0 < change_s <= step_s < 2 * HOUR_S
    return change_s if is_seen else 0


def _is_repeated(passes: list[ClockPass]) -> bool:
    return passes[1].offset_s < passes[0].offset_s
