"""Tables with bars in which every CPU has a column: intrstat and trapstat. As many CPUs as fit are side by
side, the others in further blocks below.

      device |      cpu0 %tim      cpu1 %tim
-------------+------------------------------
    e1000g#0 |         0  0.0       239  0.2

Keys of `[[layout.tables]]`:
    stat      the stat of its rows
    left      the words of the header before the first bar
    rows      regular expression of what stands before the first bar of a row (its words joined by single blanks): the instance
    gathers   true when a row of a report may continue in other blocks; it becomes a sample when the report ends

A share of time ("%tim") belongs to the column before it, and has its name; one without a column before it is that of the whole row.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("intrstat_solaris"), __doc__.split("\\n\\n")[1].encode() + b"\\n", state={}, offset=0, is_final=True)
>>> [(block.instances, [field.column for field in block.fields]) for block in result.blocks]
[(['e1000g#0'], ['cpu0', 'cpu0 %tim', 'cpu1', 'cpu1 %tim'])]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.errors import shorten
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_order import Reports, reports_after_gap
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.layout import NON_EMPTY, StatName, toml_key
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Layout

RULE: Final = frozenset("-=+ \t")
BAR: Final = "|"
SHARE: Final = "%tim"
WHOLE_ROW: Final = "total"
COUNT_WORD: Final = re.compile(r"[0-9]{1,18}|-")
SHARE_WORD: Final = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,6})?|-")
# Limit of an unfinished report, in characters of its words; more is rejected.
MAX_PENDING: Final = 1 << 21
MAX_COLUMNS: Final = 2048
MAX_NAME_LENGTH: Final = 1000
# `trapstat -P`: nanoseconds, CPU, trap, name and rate; with -t and -T mode, page size and four pairs of misses and shares.
PARSABLE: Final = re.compile(
    r"(?P<ns>\d{6,20}) +(?P<cpu>\d{1,5}) +(?:(?P<trap>[0-9a-f]{1,3}) (?P<name>\S{1,60}) +(?P<rate>\d{1,18})"
    r"|(?P<mode>[uk]) +(?:(?P<size>\d{4,12}) +)?(?P<numbers>(?:\d{1,18} +\d{1,3}\.\d ?\s*){4}))",
    re.ASCII,
)
PARSABLE_COLUMNS: Final = tuple(
    f"{kind}{ending}" for kind in ("itlb-miss", "itsb-miss", "dtlb-miss", "dtsb-miss") for ending in ("", " %tim")
)


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A row that may go on in another block: the place of its first line, its words by column."""

    offset: int
    words: dict[str, str]


def _columns(segments: list[str]) -> list[str]:
    """Return the names of the columns after the first bar."""
    columns = []
    for segment in segments:
        name = WHOLE_ROW
        for word in segment.split():
            columns.append(f"{name} {word}" if word == SHARE else word)
            name = WHOLE_ROW if word == SHARE else word
    return columns


@dataclass(frozen=True)
class CpuBlockTable:
    """One kind of table; the module's docstring explains the keys."""

    stat: StatName
    left: tuple[str, ...]
    rows: re.Pattern[str]
    is_gathered: bool = toml_key("gathers", default=False)


@dataclass(frozen=True)
class CpuBlocksLayout(Layout):
    """The tables."""

    tables: Annotated[tuple[CpuBlockTable, ...], NON_EMPTY]


LAYOUT: Final = CpuBlocksLayout


class Reader(LineReader[CpuBlocksLayout]):
    """One call of the reader."""

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the present block and the rows of the open report."""
        self._reports = Reports(own.get("reports"))
        self._table: CpuBlockTable | None = None
        self._columns: list[str] = []
        self._pending: dict[str, PendingRow] = {}
        self._n_pending = 0
        self._begun_ns = int(str(own.get("begun_ns", -1)))
        header = own.get("header")
        if isinstance(header, list) and len(header) == 2:
            self._table = self.layout.tables[int(header[0])]
            self._columns = [str(column) for column in header[1]]
        pending = own.get("pending")
        for name, (offset, words) in pending.items() if isinstance(pending, dict) else ():
            self._pending[name] = PendingRow(int(offset), dict(words))
            self._n_pending += _size(words)

    def load_after_gap(self, own: State) -> None:
        """Keep the header; drop the report, whose end is missing."""
        self.load({**own, "pending": {}})
        self._reports = reports_after_gap(own.get("reports"))

    def save(self) -> State:
        """Return the state for `load`."""
        return {
            "reports": self._reports.to_state(),
            "begun_ns": self._begun_ns,
            "header": [self.layout.tables.index(self._table), self._columns] if self._table is not None else None,
            "pending": {name: [row.offset, row.words] for name, row in self._pending.items()},
        }

    def finish(self) -> None:
        """Complete the last report."""
        self._flush()

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a rule, a time or a row."""
        text = line.text
        if not text.strip(" \t"):
            return LineKind.IGNORED
        if "+" in text and RULE.issuperset(text):
            return LineKind.HEADER
        left, bar, rest = text.partition(BAR)
        if bar and len(rest) <= MAX_PENDING:
            name = " ".join(left.split())
            if self._take_header(name, rest):
                return LineKind.HEADER
            return self._take_row(name, rest, line.offset)
        found = PARSABLE.fullmatch(text.strip())
        if found is not None:
            return self._take_parsable(found, line.offset)
        stamp = parse_time_line(text)
        if stamp is not None:
            self._flush()
            self._reports.close()
            self._begun_ns = -1
            self.see_stamp(stamp)
            return LineKind.TIMESTAMP
        return Rejected(f"not a known line of {self.spec.tool}")

    def _take_header(self, left: str, rest: str) -> bool:
        table = next((table for table in self.layout.tables if left == " ".join(table.left)), None)
        if table is None:
            return False
        columns = _columns(rest.split(BAR))[:MAX_COLUMNS]
        names = [f"{table.stat} {column}" for column in columns] if table.is_gathered else []
        if table is not self._table or not self._reports.is_open or not self._reports.seen.isdisjoint(names):
            # The same CPU again, or another kind of table: what was gathered is whole.
            self._flush()
            if names:
                self._reports.close()
        for name in names:
            if self._reports.see(name):
                self.begin_report()
        self._table, self._columns = table, columns
        return True

    def _take_parsable(self, found: re.Match[str], offset: int) -> Outcome:
        """Take a row of `trapstat -P`: nanoseconds since its start, a CPU, and what the tables have of it.

        The CPUs are read one after another, so a report has many instants: it is of its first. A row that is there already begins
        the next report.
        """
        groups = found.groupdict()
        traps, tlb, page = self.layout.tables[0], self.layout.tables[1], self.layout.tables[-1]
        if groups["trap"] is not None:
            table, name, columns, words = traps, f"{groups['trap']} {groups['name']}", [f"cpu{groups['cpu']}"], [groups["rate"]]
        else:
            size = _page_name(int(groups["size"])) if groups["size"] else ""
            table = page if size else tlb
            name = " ".join(filter(None, [groups["cpu"], groups["mode"], size]))
            columns, words = list(PARSABLE_COLUMNS), groups["numbers"].split()
        if self._reports.see(f"{table.stat} {name} {columns[0]}"):
            self._flush()
            self.begin_report()
            self._begun_ns = int(groups["ns"])
        self._table, self._columns = table, columns
        if table.is_gathered:
            return self._gather(name, dict(zip(columns, words, strict=True)), offset)
        time_us = self._parsable_us()
        return self.add_row(self.stat(table.stat), columns, words, instance=name, offset=offset, time_us=time_us) or LineKind.SAMPLE

    def _parsable_us(self) -> int | None:
        """Return the time of the present report of `trapstat -P`. Missing: None for that of the tables."""
        if self._begun_ns < 0 or self.base_us == NO_TIME:
            return None
        return self.base_us + self._begun_ns // 1000

    def _take_row(self, name: str, rest: str, offset: int) -> Outcome:
        table, columns = self._table, self._columns
        if table is None:
            return Rejected("a line before any header")
        words = rest.replace(BAR, " ").split()
        if len(name) > MAX_NAME_LENGTH or not table.rows.fullmatch(name):
            return Rejected(f"{shorten(name, 40)} is not what a row of this table begins with")
        if len(words) != len(columns):
            return Rejected(f"{len(words)} values for {len(columns)} columns")
        if table.is_gathered:
            return self._gather(name, dict(zip(columns, words, strict=True)), offset)
        if self._reports.see(name):
            self.begin_report()
        return self.add_row(self.stat(table.stat), columns, words, instance=name, offset=offset) or LineKind.SAMPLE

    def _gather(self, name: str, words: dict[str, str], offset: int) -> Outcome:
        for column, word in words.items():
            if (SHARE_WORD if column.endswith(SHARE) else COUNT_WORD).fullmatch(word) is None:
                return Rejected(f"column {column}: {shorten(word, 40)} is not a number that it can hold")
        row = self._pending.get(name)
        if row is not None and not row.words.keys().isdisjoint(words):
            return Rejected("a row that the table already has")
        self._n_pending += _size(words)
        if self._n_pending > MAX_PENDING:
            self._n_pending -= _size(words)
            return Rejected("more rows than a report of this tool has")
        if row is None:
            self._pending[name] = PendingRow(offset, words)
        else:
            row.words.update(words)
        return LineKind.SAMPLE

    def _flush(self) -> None:
        """Add the rows of the report, which is over."""
        columns = list(dict.fromkeys(column for row in self._pending.values() for column in row.words))
        table = self._table
        for name, row in self._pending.items():
            assert table is not None
            words = [row.words.get(column, ABSENT) for column in columns]
            time_us = self._parsable_us()
            self.add_row(self.stat(table.stat), columns, words, instance=name, offset=row.offset, time_us=time_us)
        self._pending.clear()
        self._n_pending = 0


def _page_name(n_bytes: int) -> str:
    """Return the size of a page as the tables name it.

    >>> _page_name(8192), _page_name(4194304), _page_name(2**31)
    ('8k', '4m', '2g')
    """
    for power, letter in ((30, "g"), (20, "m"), (10, "k")):
        if n_bytes >= 1 << power and n_bytes % (1 << power) == 0:
            return f"{n_bytes >> power}{letter}"
    return str(n_bytes)


def _size(words: Mapping[str, str]) -> int:
    return sum(len(column) + len(word) for column, word in words.items())
