"""The tables of atopsar, live or of a recorded file (`-r`).

web1  6.1.0-18-amd64  #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1  x86_64  2026/11/29
-------------------------- analysis date: 2026/11/29 --------------------------
21:18:12  disk           busy read/s KB/read  writ/s KB/writ avque avserv _dsk_
21:18:14  sda              2%    0.0     0.0   335.8     3.9   1.8   0.05405 ms
          sdb              0%    0.0     0.0    78.5     4.6   0.0   0.00000 ms
21:18:12    pid command  cpu% |   pid command  cpu% |   pid command  cpu%_top3_
21:18:14   7900 java      38% |   911 postgres  21% |                     |

A header ends with the name of its table, which may touch its last column; its clock is the beginning of the first interval. Rows
after the first of a report begin with blanks. A row may end with the mark of a value that is too high (`*`, `+`).

Keys of `[layout]`:
    ignored     names of tables that are not read
Keys of `[[layout.tables]]`:
    stat        the stat of its rows
    header      columns by which its header is known
    n_names     how many words of a row, from the first, name what it is about
    texts       columns of text
    is_top      a row has several processes, parted by "|"

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> result = read(require_spec("atopsar"), excerpt, state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances) for block in result.blocks]
[('atopsar_disk', ['sda', 'sdb']), ('atopsar_top_cpu', ['7900/java', '911/postgres'])]
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.timestamps import take_clock
from normstat.stats.layout import NON_EMPTY, StatName
from normstat.stats.records import NO_TIME, LineKind, State, number_of
from normstat.stats.spec import Layout

BANNER: Final = re.compile(r"(?P<host>\S{1,255})  \S+  #.*  (?P<day>\d{4}/\d\d/\d\d)")
DAY: Final = re.compile(r"-{10,} analysis date: (?P<day>\d{4}/\d\d/\d\d) -{10,}", re.ASCII)
RESTARTED: Final = re.compile(r"\.{10,} logging restarted \.{10,}")
NOTHING: Final = re.compile(r"(?:|report not available.*|no (?:PSI stats|per-process) .*)")
TAG: Final = re.compile(r"_(?P<table>[a-z][a-z0-9]*)_$", re.ASCII)
SUFFIXED: Final = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?[MK]", re.ASCII)
# Service times have their unit after a blank.
MILLISECONDS: Final = "ms"
MARKS: Final = ("*", "+")
UNKNOWN: Final = "?"
TOP_BAR: Final = "|"
N_TOP_WORDS: Final = 3
NO_ROW: Final = Rejected("a row without a clock or without a header")


@dataclass(frozen=True)
class AtopsarTable:
    """A table; the module's docstring explains the keys."""

    stat: StatName
    header: Annotated[tuple[str, ...], NON_EMPTY]
    n_names: int = 0
    texts: tuple[str, ...] = ()
    is_top: bool = False


@dataclass(frozen=True)
class AtopsarLayout(Layout):
    """The tables; the module's docstring explains the keys."""

    tables: Annotated[tuple[AtopsarTable, ...], NON_EMPTY]
    ignored: frozenset[str] = frozenset()


LAYOUT: Final = AtopsarLayout


class Reader(LineReader[AtopsarLayout]):
    """One call of the reader.

    `_columns` are those of the present header, none before any; `_time_us` is that of the present rows.
    """

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        columns = own.get("columns")
        self._columns = tuple(map(str, columns)) if isinstance(columns, list) else ()
        self._table = self._find(self._columns)
        self._is_ignored = own.get("ignored") is True
        self._is_other = own.get("other") is True
        self._time_us = number_of(own.get("time"), NO_TIME)

    def load_after_gap(self, own: State) -> None:
        """Rows wait for the next header."""
        self.load({"other": own.get("other")})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {"columns": list(self._columns), "ignored": self._is_ignored, "other": self._is_other, "time": self._time_us}

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding its rows."""
        text = line.text.rstrip()
        if not text:
            return LineKind.IGNORED
        banner = BANNER.fullmatch(text)
        if banner is not None:
            self._is_other = self.is_another_host(banner["host"])
        if self._is_other:
            return ANOTHER_HOST
        day = banner or DAY.fullmatch(text)
        return self._see_day(day["day"]) if day is not None else self._take_table_line(line, text)

    # Internals.

    def _take_table_line(self, line: Line, text: str) -> Outcome:
        """Take a header or a row."""
        words = text.split()
        clock = take_clock(words)
        words = words[clock.n_words if clock is not None else 0 :]
        rest = " ".join(words)
        if clock is not None and self._take_header(rest):
            self.timeline.see_clock(clock.seconds)
            self._time_us = NO_TIME
            return LineKind.HEADER
        if clock is not None:
            self._time_us = self.timeline.clock_us(clock.seconds)
        if RESTARTED.fullmatch(rest) is not None:
            return LineKind.STATE_CHANGE
        if self._is_ignored or NOTHING.fullmatch(rest) is not None:
            return LineKind.IGNORED
        if self._table is None or self._time_us == NO_TIME:
            return LineKind.TIMESTAMP if clock is None and self.see_time_line(text) else NO_ROW
        if self._table.is_top:
            return self._take_top(self._table, rest, line.offset)
        return self._take_row(self._table, words[:-1] if words[-1] in MARKS else words, line.offset)

    def _see_day(self, text: str) -> Outcome:
        try:
            day = dt.date.fromisoformat(text.replace("/", "-"))
        except ValueError:
            return Rejected(f"{text} is not a day")
        self.timeline.start_day(day)
        self._columns, self._table, self._is_ignored, self._time_us = (), None, False, NO_TIME
        return LineKind.HEADER

    def _take_header(self, text: str) -> bool:
        tag = TAG.search(text)
        columns = tuple(TAG.sub("", text).split())
        table = self._find(columns)
        if table is None and (tag is None or tag["table"] not in self.layout.ignored):
            return False
        self._columns, self._table, self._is_ignored = columns, table, table is None
        return True

    def _find(self, columns: Sequence[str]) -> AtopsarTable | None:
        known = set(columns)
        return next((table for table in self.layout.tables if known.issuperset(table.header)), None)

    def _take_row(self, table: AtopsarTable, words: list[str], offset: int) -> Outcome:
        if words[-1] == MILLISECONDS:
            words = words[:-1]
        n_columns = len(self._columns)
        # Text after the last column has no header: the duplex mode of an interface, the use of a mount.
        if len(words) == n_columns + 1 and words[-1].isalpha():
            words = words[:-1]
        if len(words) != n_columns:
            return Rejected(f"{len(words)} values for {n_columns} columns")
        cells = [
            (column, word[:-1] if SUFFIXED.fullmatch(word) is not None else word)
            for column, word in list(zip(self._columns, words, strict=True))[table.n_names :]
            if column not in table.texts
        ]
        return (
            self.add_row(
                self.stat(table.stat),
                [column for column, _ in cells],
                [word for _, word in cells],
                instance="/".join(words[: table.n_names]),
                time_us=self._time_us,
                offset=offset,
                missing=frozenset({UNKNOWN}),
            )
            or LineKind.SAMPLE
        )

    def _take_top(self, table: AtopsarTable, text: str, offset: int) -> Outcome:
        """Take the processes of a row: a command may hold blanks, and is cut off."""
        column = self._columns[N_TOP_WORDS - 1]
        parts = [part.split() for part in text.split(TOP_BAR) if part.strip()]
        if not all(len(words) >= N_TOP_WORDS and words[0].isdigit() for words in parts):
            return Rejected("not the processes of a row: PID, command and share")
        for pid, *command, share in parts:
            refused = self.add_row(
                self.stat(table.stat),
                [column],
                [share],
                instance=f"{pid}/{' '.join(command)}",
                time_us=self._time_us,
                offset=offset,
            )
            if refused is not None:
                return refused
        return LineKind.SAMPLE
