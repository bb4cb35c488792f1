"""Date the rows of the reader `columns`: by the clock before them, the time after them, or a time that another program put
before every line.

sar prints a file table by table, and each table starts over:

    00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
    00:10:01        all      0.01      0.00      0.01      0.00      0.00     99.98
    ...
    23:50:01        all      0.02      0.00      0.01      0.00      0.00     99.97

    00:00:01       proc/s   cswch/s
    00:10:01        18.50    310.30

With an interval it prints all tables of one report, then all of the next. In the first form a header of another table turns the
clock back to where the tables begin; in the second one it is a little later than the previous header. A table
that recurs after others proves the second form.
"""

import re
from typing import Final

from normstat.stats.engine.times.banner_day import has_half_of_day, parse_day_first
from normstat.stats.engine.times.timeline import MICRO, Timeline
from normstat.stats.engine.times.timestamps import (
    SECONDS_A_DAY,
    ClockWords,
    Timestamp,
    day_seconds,
    parse_clock,
    parse_date,
    parse_zone,
)
from normstat.stats.engine.times.zone_changes import HeaderZone
from normstat.stats.records import NO_TIME, Int64Array, State, number_of

# No sar has as many tables; a broken stream may.
MAX_SECTIONS: Final = 200
# The headers of one report have the clock at which the report began, or one a little later.
MAX_REPORT_S: Final = 60


class TableSections:
    """The tables since the tool began: those that ended, and where the first began. Kept in the reader's state."""

    __slots__ = ("_begin_s", "_begin_us", "_ended", "_header_s", "_header_us", "_is_by_report", "_present")

    def __init__(self, state: object) -> None:
        self._begin_s: float | None = None
        self._begin_us: int | None = None
        self._ended: set[str] = set()
        self._present = ""
        self._is_by_report = False
        # The clock of the header before, and its instant.
        self._header_s: float | None = None
        self._header_us: int | None = None
        if isinstance(state, list) and len(state) in (5, 7):
            begin_s, begin_us, ended, present, is_by_report, header_s, header_us = (*state, None, None)[:7]
            self._begin_s = float(begin_s) if isinstance(begin_s, int | float) else None
            self._begin_us = begin_us if isinstance(begin_us, int) else None
            self._ended = set(map(str, ended)) if isinstance(ended, list) else set()
            self._present = str(present)
            self._is_by_report = is_by_report is True
            self._header_s = float(header_s) if isinstance(header_s, int | float) else None
            self._header_us = header_us if isinstance(header_us, int) else None

    def to_state(self) -> list[object]:
        """Return the state for a new object."""
        header = (self._header_s, self._header_us)
        return [self._begin_s, self._begin_us, sorted(self._ended), self._present, self._is_by_report, *header]

    @property
    def is_single(self) -> bool:
        """Whether there was one table only."""
        return not self._ended

    def see_header(self, table: str, seconds: float, timeline: Timeline) -> None:
        """Note a header of the table and its clock."""
        if table != self._present:
            if table in self._ended or len(self._ended) >= MAX_SECTIONS:
                self._is_by_report = True
            elif self._present and not self._is_by_report and self._begin_s is not None:
                timeline.last_s = self._begin_s
                timeline.last_us = self._begin_us
            if self._is_by_report and self._header_s is not None and (seconds - self._header_s) % SECONDS_A_DAY <= MAX_REPORT_S:
                timeline.last_s, timeline.last_us = self._header_s, self._header_us
            if self._present and not self._is_by_report:
                self._ended.add(self._present)
            self._present = table
        timeline.see_clock(seconds)
        self._header_s, self._header_us = timeline.last_s, timeline.last_us
        if self._begin_s is None:
            self._begin_s = timeline.last_s
            self._begin_us = timeline.last_us


class RowTimes:
    """The instants of the rows of one call of the reader."""

    def __init__(self, state: State, timeline: Timeline, *, has_zone: bool) -> None:
        self.timeline = timeline
        self.sections = TableSections(state.get("sections"))
        self.header_zone = HeaderZone(state.get("shift"))
        # The time that another program put before the present line.
        self.prefix_us = NO_TIME
        self._has_zone = has_zone
        # The date of the banner read with the day before the month, while the order is unknown.
        self._other_day_s = number_of(state.get("other_day"), None)
        self._is_half_unknown = state.get("half_unknown") is True

    def to_state(self) -> State:
        """Return the state for a new object."""
        return {
            "sections": self.sections.to_state(),
            "other_day": self._other_day_s,
            "shift": self.header_zone.shift_s,
            "half_unknown": self._is_half_unknown,
        }

    def see_banner(self, text: str) -> None:
        """Note the day that a banner names for the start of a run."""
        self.begin_sections()
        self._is_half_unknown = not has_half_of_day(text)
        self.timeline.start_banner(text)
        other = parse_day_first(text) if self.timeline.is_day_first is None else None
        self._other_day_s = day_seconds(other) if other is not None else None

    def see_header(self, clock: ClockWords, section: str | None) -> None:
        """Note a header and its clock; `section` names its table if tables follow each other."""
        if self._other_day_s is not None and not clock.is_epoch:
            if clock.n_words == 1:
                # A clock of 24 hours under a day in this form: the host's locale puts the day first.
                self.timeline.day_s = self._other_day_s
            # The clock gives the order.
            self.timeline.is_order_guessed = False
            self._other_day_s = None
        if section is not None:
            self.sections.see_header(section, clock.seconds, self.timeline)
        else:
            self.timeline.see_clock(clock.seconds)

    def begin_sections(self) -> None:
        """Start another period: the tool or the host was started, and the next tables belong to it."""
        self.sections = TableSections(None)

    def take_prefix(self, prefix: re.Match[str]) -> None:
        """Note a time that another program put before every line."""
        day, clock = parse_date(prefix[1]), parse_clock(prefix[2] or prefix[3])
        if day is not None and clock is not None:
            offset_s = parse_zone(prefix[4]) if prefix[4] else None
            if offset_s is not None:
                # Printed by another program: the tool's own times may be in another zone.
                self.prefix_us = round((day_seconds(day) + clock - offset_s) * MICRO)
                return
            self.prefix_us = self.timeline.stamp_us(Timestamp(day_seconds(day) + clock, is_clock_only=False, offset_s=None))

    def clock_us(self, clock: ClockWords) -> int:
        """Return the instant of a clock or an epoch before a row."""
        if clock.is_epoch:
            return self.timeline.stamp_us(Timestamp(clock.seconds, is_clock_only=False, offset_s=0))
        return NO_TIME if self._is_half_unknown else self.timeline.clock_us(clock.seconds)

    def see_section_clock(self, clock: ClockWords) -> int:
        """Note the clock of a line that is no row, and return its instant. Missing: NO_TIME while the day is unknown."""
        reading = self.timeline.see_clock(clock.seconds)
        return NO_TIME if reading is None or self._is_half_unknown else self.timeline.peek_us(reading)

    def moment_us(self, zone_name: str, moment: float, *, is_own_zone: bool) -> int:
        """Return the instant of date and clock after a row; the header names the zone, unless the row has its own.

        Missing: NO_TIME for a zone whose name has several meanings.
        """
        if is_own_zone:
            offset_s = parse_zone(zone_name)
            if offset_s is None and not self._has_zone:
                return NO_TIME
            return self.timeline.stamp_us(Timestamp(moment, is_clock_only=False, offset_s=offset_s, zone_name=zone_name))
        named = self.header_zone.find(self.timeline, zone_name, moment)
        if named is not None:
            return self.header_zone.time_us(self.timeline, named, moment)
        if not self._has_zone:
            self.timeline.is_unclear = True
            return NO_TIME
        return self.timeline.stamp_us(Timestamp(moment, is_clock_only=False, offset_s=None))

    def moments_us(self, zone_name: str, moments: Int64Array) -> list[int]:
        """Return the instants of many rows under one header, which names their zone."""
        named = self.header_zone.find(self.timeline, zone_name, float(moments[0]))
        if named is None or not self.header_zone.is_without_change(self.timeline, named, moments):
            return [self.moment_us(zone_name, float(moment), is_own_zone=False) for moment in moments.tolist()]
        self.moment_us(zone_name, float(moments[-1]), is_own_zone=False)
        times: list[int] = ((moments - (named.offset_s + self.header_zone.shift_s)) * MICRO).tolist()
        return times
