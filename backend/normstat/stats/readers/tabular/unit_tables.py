"""Tables whose cells have units, under a header of words (nvidia-smi dmon, dcgmi dmon) or of commas (--query-gpu, rocm-smi, below).

# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
# Idx     W     C     C     %     %     %     %   MHz   MHz
    0    43    35     -    45    12     0     0  2505  1075

timestamp, index, utilization.gpu [%], memory.used [MiB]
2026/11/21 12:00:00.123, 0, 45 %, 1234 MiB

A row that does not say what it is about is rejected: those of several would become one. Without times in the rows, a report ends
where one comes again. Objects of JSON with the columns as keys are rows too.

Keys of `[layout]`:
    commas      true where commas part the cells, and times of rows are exact: a second row of the same time is rejected, and rows
                less than a second apart that are about different things are one report
    sizes       true where "1.5 GB" is a size, which becomes bytes: KB, MB and GB are powers of 1024
    units       words that begin the line of units under a header without `#` ("ID")
Keys of `[[layout.tables]]`:
    stat        the stat of its rows
    header      columns by which its header is known
    any_of      columns of which one must be there too
    names       columns of which the first that is there names what a row is about; without these and `all_names` it is ""
    all_names   columns that name it together, joined by "/"
    texts       columns of text
    n_first     how many words of a row stand for its first column ("GPU 0")
    last_text   true where the last column is a text with blanks
    with_commas a column of text that may have commas of its own, which no quotes enclose

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> for name, excerpt in zip(("nvidia_smi", "nvidia_smi_query"), __doc__.split("\\n\\n")[1:3]):
...     (block,) = read(require_spec(name), excerpt.encode() + b"\\n", state={}, offset=0, is_final=True).blocks
...     print(block.instances, [(field.key, column.tolist()) for field, column in zip(block.fields[:2], block.values)])
['0'] [('pwr_w', [43.0]), ('gtemp_c', [35.0])]
['0'] [('utilization_gpu_pct', [45.0]), ('memory_used_mib', [1234.0])]
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.recorded_series import NO_JSON, read_json
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.engine.times.timestamps import Timestamp, day_seconds, parse_clock, parse_date, parse_timestamp
from normstat.stats.layout import NON_EMPTY, StatName, toml_key
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout

HASH: Final = "#"
DATE: Final = "date"
TIME: Final = "time"
# The first that is there counts: an epoch has a zone.
STAMPS: Final = ("timestamp", "datetime")
COMPACT_DAY: Final = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
# "45 %", "1234 MiB", "35.0c", "2.07e+11".
NUMBER: Final = re.compile(r"(?P<number>-?\d{1,18}(?:\.\d{1,9})?(?:e[-+]?\d{1,3})?)(?: ?[A-Za-z%/]{1,6})?", re.ASCII)
ABSENT: Final = frozenset({
    "-", "", "N/A", "[N/A]", "n/a", "[Not Supported]", "Not Supported", "[Not Found]", "[Insufficient Permissions]",
    "[Unknown Error]", "ERR!", "[GPU is lost]",
})  # fmt: skip
# Reasons for a lower clock, as per cent of the time: the mean over samples is the share of them.
STATES: Final = {"Active": "100", "Not Active": "0"}
# The GPUs of one loop of nvidia-smi have times of their own, milliseconds apart.
MAX_LOOP_US: Final = 1_000_000
SIZE: Final = re.compile(r"(?P<number>-?\d{1,18}(?:\.\d{1,9})?) (?P<unit>[KMGTP]?)B(?:/s)?", re.ASCII)
POWERS: Final = " KMGTP"
MAX_COLUMNS: Final = 1000
NO_TABLE: Final = Rejected("an object that no table knows")
JSON_MARKS: Final = frozenset("[]{}")
NO_NAME: Final = Rejected("does not say what it is about: add such a column (index, full_path), or several become one")
AGAIN: Final = Rejected("a second row with that name at that time: add a column that tells them apart (index, full_path)")


@dataclass(frozen=True)
class UnitTable:
    """A table; the module's docstring explains the keys."""

    stat: StatName
    header: Annotated[tuple[str, ...], NON_EMPTY]
    any_of: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    all_names: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    n_first: int = 1
    has_last_text: bool = toml_key("last_text", default=False)
    with_commas: str = ""

    def fits(self, columns: Set[str]) -> bool:
        """Return whether a header with these columns is the table's."""
        return columns >= set(self.header) and (not self.any_of or not columns.isdisjoint(self.any_of))


@dataclass(frozen=True)
class UnitTablesLayout(Layout):
    """The tables; the module's docstring explains the keys."""

    tables: Annotated[tuple[UnitTable, ...], NON_EMPTY]
    has_commas: bool = toml_key("commas", default=False)
    has_sizes: bool = toml_key("sizes", default=False)
    units: tuple[str, ...] = ()


LAYOUT: Final = UnitTablesLayout


class Reader(RepeatingReader[UnitTablesLayout]):
    """One call of the reader: `_columns` are those of the present header; `_is_header` right after it, where units may follow."""

    max_names = 100_000

    @property
    def prefix_kinds(self) -> frozenset[FormKind]:  # type: ignore[override]
        """The kinds of prefix: not times where rows begin with one."""
        return frozenset({FormKind.TAGS}) if self.layout.has_commas else frozenset(FormKind)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._columns = texts_of(own.get("columns"))
        self._table = self._find(self._columns)
        self._is_header = own.get("header") is True

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "columns": self._columns, "header": self._is_header}

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its rows."""
        if self.layout.has_commas and text.startswith(("[", "{")) and text not in JSON_MARKS:
            return self._take_json(text, line.offset)
        cells = self._split(text)
        is_after_header, self._is_header = self._is_header, False
        table = self._find(cells)
        if table is not None:
            self._columns, self._table, self._is_header = cells, table, True
            return LineKind.HEADER
        if is_after_header and (text.startswith(HASH) or cells[:1] in [[word] for word in self.layout.units]):
            return LineKind.HEADER
        if self._table is None or len(cells) < 2:
            return NOT_MINE
        return self._take_row(self._table, cells, line.offset)

    # Internals.

    def _split(self, text: str) -> list[str]:
        if not self.layout.has_commas:
            # With --format csv, nvidia-smi puts commas after the words.
            return text.lstrip(HASH).replace(", ", " ").split()
        cells = [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]
        # below ends lines with a comma.
        return cells[:-1] if len(cells) > 1 and not cells[-1] and text.endswith(",") else cells

    def _take_json(self, text: str, offset: int) -> Outcome:
        """Take the objects of a list, or of lists in it."""
        found = read_json(text)
        if found is NO_JSON:
            return NO_JSON
        outcome: Outcome = NO_NAME
        for item in _objects(found):
            row = {str(name): str(value) for name, value in item.items()}
            table = self._find(list(row))
            outcome = NO_TABLE if table is None else self._take_cells(table, row, offset)
            if isinstance(outcome, Rejected):
                return outcome
        return outcome

    def _find(self, cells: Sequence[str]) -> UnitTable | None:
        if not 1 < len(cells) <= MAX_COLUMNS:
            return None
        known = set(cells)
        return next((table for table in self.layout.tables if table.fits(known)), None)

    def _take_row(self, table: UnitTable, cells: list[str], offset: int) -> Claim:
        n_columns = len(self._columns)
        if table.n_first > 1:
            cells = [" ".join(cells[: table.n_first]), *cells[table.n_first :]]
        if table.has_last_text and len(cells) > n_columns:
            cells = [*cells[: n_columns - 1], " ".join(cells[n_columns - 1 :])]
        if len(cells) > n_columns and table.with_commas in self._columns:
            at, n_more = self._columns.index(table.with_commas), len(cells) - n_columns
            cells = [*cells[:at], ",".join(cells[at : at + n_more + 1]), *cells[at + n_more + 1 :]]
        if len(cells) != n_columns:
            return NOT_MINE if NUMBER.match(cells[0]) is None else Rejected(f"{len(cells)} values for {n_columns} columns")
        return self._take_cells(table, dict(zip(self._columns, cells, strict=True)), offset)

    def _take_cells(self, table: UnitTable, row: dict[str, str], offset: int) -> Outcome:
        """Take the cells of a row by their columns."""
        time_us = self._date_row(row)
        if isinstance(time_us, Rejected):
            return time_us
        instance = next((row[name] for name in table.names if row.get(name, "") not in ABSENT), "")
        if table.all_names:
            parts = [row[name] for name in table.all_names if name in row]
            if parts[0] in ABSENT:
                # No process uses the GPU.
                return LineKind.IGNORED
            instance = "/".join(parts)
        if not instance and (table.names or table.all_names):
            return NO_NAME
        if time_us is not None and not self._see_row(time_us, instance):
            return AGAIN
        return self._add(table, row, instance, offset)

    def _add(self, table: UnitTable, row: dict[str, str], instance: str, offset: int) -> Outcome:
        values = {}
        for column, word in row.items():
            if column in table.texts or column in table.names or column in table.all_names:
                continue
            size = SIZE.fullmatch(word) if self.layout.has_sizes else None
            found = NUMBER.fullmatch(word)
            if size is not None:
                values[column] = f"{float(size['number']) * 1024 ** POWERS.index(size['unit'] or ' '):.0f}"
            elif found is not None:
                values[column] = found["number"]
            elif word in STATES:
                values[column] = STATES[word]
            elif word in ABSENT:
                values[column] = "-"
        self.see_name(instance)
        if not any(word != "-" for word in values.values()):
            return LineKind.IGNORED
        return self.put_row(self.stat(table.stat), list(values), list(values.values()), instance=instance, offset=offset)

    def _date_row(self, row: dict[str, str]) -> int | Rejected | None:
        """Take the columns of time out of a row and return the time. Missing: None where it has none."""
        lower = {column.lower(): column for column in row}
        day, clock, *stamps = (row.pop(lower[name]) if name in lower else None for name in (DATE, TIME, *STAMPS))
        text = next((stamp for stamp in stamps if stamp is not None), clock)
        if text is None:
            return None
        found = self._stamp(day, text)
        if found is None:
            return Rejected(f"{text[:40]!r} is not a time")
        return self.timeline.stamp_us(found)

    def _see_row(self, time_us: int, instance: str) -> bool:
        """Begin the report of a row, unless it belongs to the present one. Returns: False for a second row of the same time"""
        is_seen = self.has_seen(instance)
        if self.n_reports and time_us == self.report_us:
            return not (is_seen and self.layout.has_commas)
        is_of_loop = self.n_reports and self.layout.has_commas and 0 < time_us - self.report_us < MAX_LOOP_US
        if not is_of_loop or is_seen:
            self.end_report()
            self.see_instant(time_us)
        return True

    def _stamp(self, day: str | None, text: str) -> Timestamp | None:
        """Return the time of a row: date and clock, a clock alone, or both in one cell."""
        seconds = parse_clock(text)
        if seconds is None:
            return parse_timestamp(text.replace("/", "-"))
        compact = COMPACT_DAY.fullmatch(day) if day is not None else None
        known = parse_date("-".join(compact.groups())) if compact is not None else None
        if known is None:
            return Timestamp(seconds, is_clock_only=True, offset_s=None) if day is None else None
        return Timestamp(day_seconds(known) + seconds, is_clock_only=False, offset_s=None)


def _objects(found: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects of a list, and of the lists in it."""
    if isinstance(found, dict):
        yield found
    for item in found if isinstance(found, list) else ():
        if isinstance(item, list):
            yield from (each for each in item if isinstance(each, dict))
        elif isinstance(item, dict):
            yield item
