"""The CSV of `--output` of dstat, dool and pcp-dstat.

"dool 1.3.4 CSV output"
"Author:","Scott Baker",,,,"URL:","https://github.com/scottchiefbaker/dool/"
"Host:","web1",,,,"User:","root"
"Cmdline:","dool -tcd --output dool.csv 5",,,,"Date:","21 Nov 2026 12:00:00 UTC"
"system","total cpu usage",,,,,"dsk/total",
"time","usr","sys","idl","wai","stl","read","writ"
Nov-21 12:00:00,63.469,10.343,25.756,0.225,0.207,5371444.149,60759911.272
Nov-21 12:00:05,93.532,6.468,0,0,0,524288,983040

A line of titles, of which one stands above several columns, then their names. The first row is about the time since boot. Times
have no year: it is that of `Date:`, whose zone is theirs too. Without a column of times, rows begin at `Date:` and are as far apart
as the command line says. Columns of text (the busiest process) are not read.

Keys of `[layout]`: `other`, the stat of all columns that no group knows: TITLE COLUMN is the instance.
Keys of `[[layout.groups]]`: those of engine/named_series.py; the name is TITLE COLUMN.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> result = read(require_spec("dstat"), excerpt, state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances, block.time_us.tolist()) for block in result.blocks]
[('dstat_cpu', ['all'], [1795262405000000]), ('dstat_disk', ['total'], [1795262405000000])]
>>> [len(block) for block in result.since_boot]
[1, 1]
"""

import csv
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.recorded_series import SeriesGroup, find_place
from normstat.stats.engine.times.calls import interval_in_command
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import Timestamp, day_seconds, parse_clock
from normstat.stats.layout import NON_EMPTY, StatName
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout

MICRO: Final = 1_000_000
BEGIN: Final = re.compile(r"(?:dstat|dool|pcp[ -]dstat) .*CSV output", re.ASCII | re.IGNORECASE)
ABOUT: Final = frozenset({"Author:", "Host:", "Cmdline:"})
DATE: Final = "Date:"
TIME: Final = "time"
EPOCH: Final = "epoch"
TIMES: Final = (TIME, EPOCH)
# dool has the name of the month first, dstat its number last.
DAY: Final = re.compile(
    r"(?:(?P<name>[A-Za-z]{3})-(?P<day>\d\d?)|(?P<first>\d\d?)-(?P<month>\d\d)) (?P<clock>\d\d:\d\d:\d\d)", re.ASCII
)
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NUMBER: Final = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?", re.ASCII)
VALUE: Final = "value"
TOOLS: Final = ("dool", "dstat", "pcp-dstat")
MAX_COLUMNS: Final = 4096
NO_HEADER: Final = Rejected("a row without the two lines that name its columns")
NO_YEAR: Final = Rejected("the time has no year, and no line with Date: is before it")


@dataclass(frozen=True)
class DstatLayout(Layout):
    """The groups; the module's docstring explains the keys."""

    other: StatName
    groups: Annotated[tuple[SeriesGroup, ...], NON_EMPTY]


LAYOUT: Final = DstatLayout


class Reader(LineReader[DstatLayout]):
    """One call of the reader: `_titles` and `_columns` are the two lines of the header, `_day_s` is the day of the latest time."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        day = own.get("day")
        self._titles = texts_of(own.get("titles"))
        self._columns = texts_of(own.get("columns"))
        self._day = dt.date.fromordinal(day) if isinstance(day, int) else None
        self._is_first = own.get("first") is True
        self._is_other = own.get("other") is True

    def load_after_gap(self, own: State) -> None:
        """Keep the header: rows say their times."""
        self.load({**own, "first": False})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "titles": self._titles,
            "columns": self._columns,
            "day": None if self._day is None else self._day.toordinal(),
            "first": self._is_first,
            "other": self._is_other,
        }

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding its rows."""
        text = line.text.strip()
        if not text.strip(","):
            return LineKind.IGNORED
        cells = [cell.strip() for cell in next(csv.reader([text]), [])]
        if BEGIN.fullmatch(cells[0]) is not None:
            self._titles, self._columns, self._is_first, self._is_other = [], [], True, False
            return LineKind.HEADER
        if cells[0] == "Host:" and len(cells) > 1:
            self._is_other = self.is_another_host(cells[1])
        if self._is_other:
            return ANOTHER_HOST
        if cells[0] in ABOUT:
            return self._take_about(cells)
        if NUMBER.fullmatch(cells[0]) is None and DAY.fullmatch(cells[0]) is None:
            return self._take_header(cells)
        return self._take_row(cells, line.offset)

    # Internals.

    def _take_about(self, cells: Sequence[str]) -> Outcome:
        """Take a line about the call: its date and its interval."""
        if DATE in cells[:-1]:
            stamp = parse_time_line(cells[cells.index(DATE) + 1])
            if stamp is None:
                return Rejected(f"{cells[cells.index(DATE) + 1][:60]!r} is not a date")
            self.see_stamp(stamp)
            self._day = dt.date(1970, 1, 1) + dt.timedelta(seconds=stamp.seconds)
            found = [interval_in_command(cells[1], tool) for tool in TOOLS]
            interval_s = next((seconds for seconds in found if seconds is not None), 1.0)
            if self.timing.interval_us is None or self._own_interval_us is not None:
                self.take_interval(round(interval_s * MICRO))
        return LineKind.HEADER

    def _take_header(self, cells: Sequence[str]) -> Outcome:
        """Take the titles, or the columns under them."""
        if len(cells) > MAX_COLUMNS:
            return Rejected(f"more than {MAX_COLUMNS} columns")
        if not self._titles or self._columns:
            titles: list[str] = []
            for cell in cells:
                titles.append(cell or (titles[-1] if titles else ""))
            self._titles, self._columns = titles, []
            return LineKind.HEADER
        self._columns = list(cells)
        self._titles += self._titles[-1:] * (len(cells) - len(self._titles))
        return LineKind.HEADER

    def _take_row(self, cells: Sequence[str], offset: int) -> Outcome:
        columns = self._columns
        if not columns:
            return NO_HEADER
        if len(cells) != len(columns):
            return Rejected(f"{len(cells)} values for {len(columns)} columns")
        at = next((number for number, column in enumerate(columns) if column in TIMES), None)
        time_us = None
        if at is None:
            self.begin_report()
        else:
            found = self._time_us(columns[at], cells[at])
            if isinstance(found, Rejected):
                return found
            time_us = found
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for title, column, cell in zip(self._titles, columns, cells, strict=False):
            if column not in TIMES and NUMBER.fullmatch(cell) is not None:
                place = find_place(self.layout.groups, f"{title} {column}", is_rate=False)
                stat, instance, own = (self.layout.other, f"{title} {column}", VALUE) if place is None else place[0][:3]
                rows.setdefault((stat, instance), {})[own] = cell
        is_since_boot, self._is_first = self._is_first and not self.omits_since_boot, False
        for (stat, instance), values in rows.items():
            refused = self.add_row(
                self.stat(stat),
                list(values),
                list(values.values()),
                instance=instance,
                time_us=time_us,
                offset=offset,
                is_since_boot=is_since_boot,
            )
            if refused is not None:
                return refused
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE

    def _time_us(self, column: str, text: str) -> int | Rejected:
        """Return the instant of a row. Missing: NO_TIME where the zone has several meanings."""
        if column == EPOCH:
            return round(float(text) * MICRO) if NUMBER.fullmatch(text) is not None else Rejected(f"{text[:40]!r} is not an epoch")
        found = DAY.fullmatch(text)
        clock = parse_clock(found["clock"]) if found is not None else None
        if found is None or clock is None or (found["name"] and found["name"].lower() not in MONTHS):
            return Rejected(f"{text[:40]!r} is not a time like Nov-21 12:00:00 or 21-11 12:00:00")
        month = MONTHS.index(found["name"].lower()) + 1 if found["name"] else int(found["month"])
        known = self._day or (self.timing.date if self.timing.date is not None else None)
        if known is None:
            return NO_YEAR
        try:
            # In January after December a year has begun.
            day = dt.date(known.year + (month < known.month), month, int(found["day"] or found["first"]))
        except ValueError:
            return Rejected(f"{text[:40]!r} is not a day")
        self._day = day
        return self.timeline.stamp_us(Timestamp(day_seconds(day) + clock, is_clock_only=False, offset_s=None))
