"""prstat of Solaris and illumos: tables of processes, threads, users, zones, projects and tasks, and the line of totals.

   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/NLWP
  1701 root     0.5 0.2 0.0 0.0 0.0 0.0  99 0.0  21   0  1K   0 java/25
Total: 1 processes, 25 lwps, load averages: 0.30, 0.27, 0.34

Keys of `[layout]`: `total` is the stat of the line of totals. Keys of `[[layout.tables]]`:
    stat         the stat of its rows
    header       columns that must be there; "SIZE|SWAP" are alternatives
    instance     columns that name what a row is about, in the order of the name; the last column of a table of processes holds
                 NAME/NUMBER, of which the name counts
    number       the column that the number after the name is; in the instance when it is among its columns
    labels       columns of text
    counts, sizes, times   columns by the way their numbers are printed: what is left of one that was cut off is no value
    rows         regular expression of a row (its words joined by single blanks) that cannot be anything else, even when no header
                 came before it
    since_start  true when the first report is about the time since each process began

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode()
>>> result = read(require_spec("prstat_solaris"), excerpt, state={}, offset=0, is_final=True)
>>> [(block.instances, block.fields[1].key, block.values[1].tolist()) for block in result.since_boot]
[(['1701/java'], 'usr_pct', [0.5])]
>>> [block.values[0].tolist() for block in result.blocks]
[[1]]
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.errors import shorten
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_order import Reports, reports_after_gap
from normstat.stats.engine.times.timestamps import split_words
from normstat.stats.layout import NON_EMPTY, Alternatives, StatName, toml_key
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

# Terminal control between the words: move, clear, underline, switch character sets.
TERMINAL: Final = re.compile(rb"[\x1b\r\x0e\x0f]")
ESCAPE: Final = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()*+][0-9A-Za-z]|[=>78cDEHM])|[\r\x0e\x0f]")
TOTAL: Final = re.compile(
    r"\s*total:\s*(?P<processes>\d+)(?: processes)?,(?:\s*(?P<lwps>\d+) lwps,)?\s*load averages?:"
    r"\s*(?P<one>\d+[.,]\d\d),\s*(?P<five>\d+[.,]\d\d),\s*(?P<fifteen>\d+[.,]\d\d)\s*",
    re.IGNORECASE | re.ASCII,
)
WAIT: Final = re.compile(r"\s*Please wait\.*")
# The name of a process may hold blanks and slashes; with -L the name of the thread stands after it (illumos).
PROCESS: Final = re.compile(r"(?P<name>[^\[]*[^\[\s])/(?P<number>\d{1,9})(?P<thread> \[.*)?")
NUMBER_LIKE: Final = re.compile(r"[-+]?[.,]?\d[\d.,]*[KMGTP%]?|-", re.ASCII)
# Truncated numbers that were too long for their column: ".10M" as ".10", "10240G" as "10240", "1000:00:00" as "1000:00:0".
CUT: Final = {
    "counts": re.compile(r"[.,]\d+", re.ASCII),
    "sizes": re.compile(r"\d+(?:[.,]\d+)?", re.ASCII),
    "times": re.compile(r"\d+:(?!\d\d[:.]\d\d$)[\d:.]*", re.ASCII),
}
TOTAL_COLUMNS: Final = ("processes", "lwps", "load 1", "load 5", "load 15")
# The name of a process, without the number after it.
NAME: Final = "PROCESS"
MAX_COLUMNS: Final = 64
MAX_NAME_LENGTH: Final = 1000


@dataclass(frozen=True)
class PrstatTable:
    """One kind of table; the module's docstring explains the keys."""

    stat: StatName
    header: tuple[Alternatives, ...] = ()
    instance: tuple[str, ...] = ()
    number: str = ""
    labels: frozenset[str] = frozenset()
    counts: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    rows: re.Pattern[str] | None = None
    is_since_start: bool = toml_key("since_start", default=False)

    @functools.cached_property
    def cut(self) -> Mapping[str, re.Pattern[str]]:
        """The form of a complete number in each column."""
        columns = {"counts": self.counts, "sizes": self.sizes, "times": self.times}
        return {column: pattern for key, pattern in CUT.items() for column in columns[key]}


@dataclass(frozen=True)
class PrstatLayout(Layout):
    """The stat of the line of totals, and the tables."""

    total: Stat
    tables: Annotated[tuple[PrstatTable, ...], NON_EMPTY]


LAYOUT: Final = PrstatLayout


class Reader(LineReader[PrstatLayout]):
    """One call of the reader."""

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the present header and report."""
        self._tables, self._total = self.layout.tables, self.layout.total
        self._reports = Reports(own.get("reports"))
        self._table: PrstatTable | None = None
        self._header: list[str] = []
        self._find_header(split_words(str(own.get("header", ""))))

    def load_after_gap(self, own: State) -> None:
        """Keep the header; the first report is over."""
        self.load(own)
        self._reports = reports_after_gap(own.get("reports"))

    def save(self) -> State:
        """Return the state for `load`."""
        return {"reports": self._reports.to_state(), "header": " ".join(self._header)}

    def clean(self, line: bytes) -> bytes:
        """Return the words of a screen, without control sequences."""
        return line if TERMINAL.search(line) is None else ESCAPE.sub(b"", line)

    def is_whole(self, line: Line) -> bool:
        """Return whether the line is that of load averages, which have two decimals; any other line may go on."""
        return TOTAL.fullmatch(line.text) is not None

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a time, the totals or a row."""
        # The first header is written over it; in a file, after it.
        wait = WAIT.match(line.text)
        line = line if wait is None else Line(line.text[wait.end() :], line.offset)
        if not line.text.strip():
            return LineKind.IGNORED
        total = TOTAL.fullmatch(line.text)
        if total is not None:
            return self._take_total(total, line.offset)
        words = split_words(line.text)
        if len(words) <= MAX_COLUMNS and self._find_header(words):
            assert self._table is not None
            self._see(f"header {self._table.stat}")
            return LineKind.HEADER
        if self.see_time_line(line.text):
            self._reports.close()
            return LineKind.TIMESTAMP
        if self._table is not None:
            return self._take_row(self._table, self._header, words, line)
        return self._take_stray(words, line)

    def _see(self, name: str) -> None:
        if self._reports.see(name):
            self.begin_report()

    def _find_header(self, words: list[str]) -> bool:
        """Make the words the present header, if they are one."""
        present = set(words)
        for table in self._tables:
            if all(needed & present for needed in table.header):
                self._table, self._header = table, words
                return True
        return False

    def _take_total(self, total: re.Match[str], offset: int) -> Outcome:
        self._see("total")
        reason = self.add_row(self._total, TOTAL_COLUMNS, [word or ABSENT for word in total.groups()], offset=offset)
        self._reports.close()
        return reason or LineKind.SAMPLE

    def _take_stray(self, words: list[str], line: Line) -> Outcome:
        """Return the kind of a line before any header: a row only if it is certain."""
        joined = " ".join(words) if len(words) <= MAX_COLUMNS else ""
        for table in self._tables:
            if table.rows is None or table.rows.fullmatch(joined) is None:
                continue
            header = [min(needed) for needed in table.header]
            # Whether the numbers after the names are those of threads, or how many there are, only the header says. The same
            # name with another number would be a second thread.
            instance, _, number = f"{words[0]} {words[-1]}".rpartition("/")
            if f"stray {instance}" in self._reports.seen and f"{instance}/{number}" not in self._reports.seen:
                return Rejected("the process is already in the report, and no header says that these are threads")
            self._see(f"{instance}/{number}")
            self._reports.seen.add(f"stray {instance}")
            return self._take_row(table, header, words, line)
        return Rejected("a line before any header that could be something else than a row")

    def _take_row(self, table: PrstatTable, header: list[str], words: list[str], line: Line) -> Outcome:
        n_columns = len(header)
        columns = [column for column in header if column not in table.labels]
        by_column = dict(zip(header, words, strict=False))
        if table.number:
            tail = " ".join(words[n_columns - 1 :])
            if len(words) < n_columns or (len(words) > n_columns and NUMBER_LIKE.fullmatch(words[n_columns - 1])):
                return Rejected(f"{len(words)} values for {n_columns} columns")
            process = PROCESS.fullmatch(tail)
            if process is None:
                return Rejected(f"{shorten(tail, 40)} is not a name followed by a number")
            by_column[NAME], by_column[table.number] = process["name"], process["number"]
            columns[-1] = table.number
        elif len(words) != n_columns:
            return Rejected(f"{len(words)} values for {n_columns} columns")
        values = [by_column[column] for column in columns]
        patterns = [table.cut.get(column) for column in columns]
        cut = {word for word, pattern in zip(values, patterns, strict=True) if pattern is not None and pattern.fullmatch(word)}
        instance = "/".join(by_column[column] for column in table.instance)
        if len(instance) > MAX_NAME_LENGTH:
            return Rejected(f"a name of {len(instance)} characters")
        if self._header:
            self._see(f"{table.stat} {instance}")
        is_since_start = table.is_since_start and self._reports.is_first and not self.omits_since_boot
        reason = self.add_row(
            self.stat(table.stat),
            columns,
            values,
            instance=instance,
            offset=line.offset,
            missing=frozenset({ABSENT, *cut}),
            is_since_boot=is_since_start,
        )
        return reason or (LineKind.SINCE_BOOT if is_since_start else LineKind.SAMPLE)
