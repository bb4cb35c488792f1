r"""The log of a system: what its kernel and services reported, one line each.

    Nov 23 02:12:31 web1 kernel: Out of memory: Killed process 4711 (java) total-vm:9437184kB
    2026-11-23T02:12:31.123456+01:00 web1 systemd[1]: app.service: Failed with result 'oom-kill'.
    [Mon Nov 23 02:12:31 2026] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [java:4711]

A line whose message has a pattern of the spec is an event; all others are ignored. The classic form has no year: that of the first
line comes with the file (without it events have no time), and December is followed by January of the next year. Lines of one
program and pattern that follow each other within a minute are one event, which the first of them tells: a broken disk reports
thousands.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"2026-11-23T02:12:31+01:00 web1 kernel: Out of memory: Killed process 4711 (java)\n"
>>> (event,) = read(require_spec("syslog"), text, state={}, offset=0, is_final=True).events
>>> event.kind, event.origin, event.text, event.time_us
('kernel', 'kernel', 'Out of memory: Killed process 4711 (java)', 1795396351000000)
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.bursts import Bursts
from normstat.stats.engine.times.timeline import MICRO
from normstat.stats.engine.times.timestamps import MONTHS, SECONDS_A_DAY, day_seconds, parse_clock, parse_zone
from normstat.stats.fact_words import EventKind
from normstat.stats.layout import ASCII, NON_EMPTY
from normstat.stats.records import NO_TIME, LineEvent, LineKind, State, number_of
from normstat.stats.spec import Layout


@dataclass(frozen=True)
class NotableLines:
    """Lines that are events: the kind of event, and a regular expression to search in the message."""

    kind: EventKind
    pattern: Annotated[re.Pattern[str], ASCII]


@dataclass(frozen=True)
class SyslogLayout(Layout):
    """Patterns that make a line an event; the first match decides."""

    notable: Annotated[tuple[NotableLines, ...], NON_EMPTY]


LAYOUT: Final = SyslogLayout

PROGRAM: Final = r"(?P<program>[^\s:\[]{1,100})(?:\[\d{1,10}\])?:"
CLASSIC: Final = re.compile(
    rf"(?P<month>[A-Z][a-z]{{2}}) (?P<day>[ \d]\d) (?P<clock>\d\d:\d\d:\d\d) \S{{1,255}} (?:{PROGRAM} ?)?(?P<text>.*)", re.ASCII
)
DATED: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)T(?P<clock>\d\d:\d\d:\d\d)(?P<part>[.,]\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d) "
    rf"\S{{1,255}} (?:{PROGRAM} ?)?(?P<text>.*)",
    re.ASCII,
)
KERNEL: Final = re.compile(
    r"\[[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d) (?P<clock>\d\d:\d\d:\d\d) (?P<year>\d{4})\] (?P<text>.*)", re.ASCII
)
# The kernel's seconds since boot; on Solaris the number of the message, its facility and its level.
PREFIX: Final = re.compile(r"\[ *\d+\.\d+\]\s*|\[ID \d+ \w+\.\w+\]\s*", re.ASCII)
# journalctl prints where its own record begins and has holes.
ABOUT_ITSELF: Final = re.compile(r"-- .* --")
NO_LINE: Final = Rejected("not a line of a system log: expected a time, a host and a message")
NO_DATE: Final = Rejected("no such time")
MAX_SEARCHED: Final = 1000
# Lines are in order but for programs that wrote at the same time: further back than this is the next year.
HALF_A_YEAR: Final = 183 * SECONDS_A_DAY


class Reader(LineReader[SyslogLayout]):
    """One call of the reader."""

    _year: int | None
    _last_s: int | None
    _bursts: Bursts

    def load(self, own: State) -> None:
        """Restore the year that the lines have come to, and the events of the last minute."""
        year = own.get("year")
        self._year = year if isinstance(year, int) else (self.timing.date.year if self.timing.date is not None else None)
        self._last_s = number_of(own.get("last"), None)
        self._bursts = Bursts(own.get("bursts"))

    def load_after_gap(self, own: State) -> None:
        """Lost lines change neither the year nor the events of the last minute."""
        self.load(own)

    def save(self) -> State:
        """Return the year, the latest time, and the bursts that may go on."""
        return {"year": self._year, "last": self._last_s, "bursts": self._bursts.to_state()}

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after taking its event."""
        text = line.text
        if not text.strip() or ABOUT_ITSELF.fullmatch(text):
            return LineKind.IGNORED
        found = CLASSIC.fullmatch(text) or DATED.fullmatch(text) or KERNEL.fullmatch(text)
        if found is None:
            # The next lines of a message that has several.
            return LineKind.IGNORED if text[0] in " \t" else NO_LINE
        time_us = self._time_of(found)
        if isinstance(time_us, Rejected):
            return time_us
        program = ("kernel" if found.re is KERNEL else found["program"]) or ""
        message = PREFIX.sub("", found["text"], count=1).strip()
        number = _find_notable(self.layout.notable, message)
        if number is None:
            return LineKind.IGNORED
        if self._bursts.begins(f"{program} {number}", time_us):
            self.events.append(LineEvent(line.offset, time_us, NO_TIME, self.layout.notable[number].kind.value, program, message))
        return LineKind.STATE_CHANGE

    def _time_of(self, found: re.Match[str]) -> int | Rejected:
        """Return the instant of a line in microseconds since the epoch. Missing: NO_TIME while the year is unknown."""
        if found.re is DATED:
            return _read_dated(found)
        month = found["month"].lower()
        if month not in MONTHS:
            return NO_DATE
        if found.re is KERNEL:
            self._year = int(found["year"])
        if self._year is None:
            return NO_TIME
        reading = _read_wall(self._year, MONTHS.index(month) + 1, int(found["day"]), found["clock"])
        if found.re is CLASSIC and reading is not None and self._last_s is not None:
            for step in (1, -1):
                # Into the next year; and back again for a line of December after one of January.
                if step * (self._last_s - reading) > HALF_A_YEAR:
                    moved = _read_wall(self._year + step, MONTHS.index(month) + 1, int(found["day"]), found["clock"])
                    if moved is not None:
                        self._year, reading = self._year + step, moved
        if reading is None:
            return NO_DATE
        self._last_s = reading
        return self.timeline.local_us(reading)


def _read_wall(year: int, month: int, day: int, clock: str) -> int | None:
    """Return the local time, in seconds since the epoch. Missing: None for an invalid day or time."""
    seconds = parse_clock(clock)
    try:
        date = dt.date(year, month, day)
    except ValueError:
        return None
    return None if seconds is None else day_seconds(date) + int(seconds)


def _read_dated(found: re.Match[str]) -> int | Rejected:
    # Not parse_date, which takes a year like 2569 for one of Thailand's calendar: these dates are Gregorian.
    year, month, day = (int(part) for part in found["date"].split("-"))
    reading, offset = _read_wall(year, month, day, found["clock"]), parse_zone(found["zone"])
    if reading is None or offset is None or not 1970 <= year < 2200:
        return NO_DATE
    part_us = int((found["part"] or ".0")[1:].ljust(6, "0")[:6])
    return (reading - offset) * MICRO + part_us


def _find_notable(notable: Sequence[NotableLines], message: str) -> int | None:
    """Return the place of the first pattern in the message. Missing: None where there is none."""
    return next((number for number, one in enumerate(notable) if one.pattern.search(message[:MAX_SEARCHED])), None)
