"""Reports of Oracle between two snapshots, as text: AWR (awrrpt.sql) and Statspack (spreport.sql).

    WORKLOAD REPOSITORY report for
    Begin Snap:       100 21-Nov-26 10:00:05        55       2.1
      End Snap:       101 21-Nov-26 11:00:09        57       2.3
       Elapsed:               60.07 (mins)

    Load Profile                    Per Second   Per Transaction
    ~~~~~~~~~~~~~~~            ---------------   ---------------
                 DB Time(s):               1.4               0.1

    Top 5 Timed Events                                                    Avg %Total
    Event                                            Waits    Time (s)   (ms)   Time
    ----------------------------------------- ------------ ----------- ------ ------
    db file sequential read                        123,456         812      7   15.9

Releases print other headers over the same columns, so columns are found by the rule of dashes below the header, and named by their
order. A table begins with its title and ends with a blank line after its rows; that of statements with a line of dashes.

Keys of `[[stats.tables]]`:
    title      a regular expression of the line that begins the table
    columns    what each column is, from the left; "" is not read, and what is farther right neither
    instance   the column with the name of the row; -1 is the last one
    named      true when rows are names before a colon, and no rule has the width of their columns
    followed   true when lines with the text of a statement follow the row: its first words are a part of the name
Keys of `[layout]`:
    summary    the stat of the report as a whole
    pairs      its columns, by the words before the colon

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = "\\n".join(line[4:] for part in __doc__.split("\\n\\n")[1:4] for line in ["", *part.split("\\n")])
>>> blocks = read(require_spec("oracle_report"), excerpt.encode() + b"\\n", state={}, offset=0, is_final=True).blocks
>>> [(list(block.instances), [column.tolist() for column in block.values]) for block in blocks if block.instances[0]]
[(['DB Time(s)'], [[1.4], [0.1]]), (['db file sequential read'], [[123456.0], [812.0], [7.0], [15.9]])]
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome
from normstat.stats.layout import ASCII, StatName, toml_key
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout

SNAP: Final = re.compile(r"\s*(?P<which>Begin|End) Snap: +\d{1,12} (?P<time>\d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d)\b.*", re.ASCII)
PAIR: Final = re.compile(r"\s*(?P<name>[A-Z][A-Za-z ]{1,30}): +(?P<value>[\d,.]{1,20})(?: .*)?", re.ASCII)
RULE: Final = re.compile(r"\s*-{2,}(?: +-{2,})+\s*", re.ASCII)
END_RULE: Final = re.compile(r"\s+-{5,}\s*", re.ASCII)
NAMED: Final = re.compile(r"\s*(?P<name>\S[^:]{0,60}): +(?P<values>-?[\d.#][\d,.#]*(?: +-?[\d.#][\d,.#]*){0,5})\s*", re.ASCII)
# 6.58, 1,234, 812.30us: AWR from release 12.2 on prints the unit of a wait.
VALUE: Final = re.compile(r"(?P<number>-?(?:\d[\d,]{0,24}(?:\.\d{0,9})?|\.\d{1,9}))(?P<unit>us|ms|s|)", re.ASCII)
MILLISECONDS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MODULE: Final = "Module:"
MAX_TEXT: Final = 80
MAX_SPANS: Final = 40


@dataclass(slots=True)
class OpenRow:
    """A row whose text follows: `cells` are its numbers."""

    offset: int
    name: str
    cells: list[str]
    text: str


@dataclass(frozen=True)
class ReportTable:
    """A table of the report; the module's docstring explains the keys."""

    stat: StatName
    title: Annotated[re.Pattern[str], ASCII]
    columns: tuple[str, ...]
    instance: int = 0
    is_named: bool = toml_key("named", default=False)
    is_followed: bool = toml_key("followed", default=False)


@dataclass(frozen=True)
class ReportLayout(Layout):
    """The tables of a report; the module's docstring explains the keys."""

    tables: tuple[ReportTable, ...]
    summary: StatName
    pairs: Mapping[str, str]


LAYOUT: Final = ReportLayout


class Reader(LineReader[ReportLayout]):
    """One report: `_table` is being read, `_spans` are its columns; `_open` is a row whose text follows."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        number, spans, found = own.get("table"), own.get("spans"), own.get("open")
        self._table = self.layout.tables[number] if isinstance(number, int) and number < len(self.layout.tables) else None
        self._spans = [(int(begin), int(end)) for begin, end in spans] if isinstance(spans, list) else []
        self._has_rows = own.get("rows") is True
        self._open = OpenRow(*found) if isinstance(found, list) else None

    def save(self) -> State:
        """Return the state for the next piece."""
        number = None if self._table is None else self.layout.tables.index(self._table)
        row = self._open
        return {
            "table": number,
            "spans": [list(span) for span in self._spans],
            "rows": self._has_rows,
            "open": None if row is None else [row.offset, row.name, row.cells, row.text],
        }

    def finish(self) -> None:
        """Add the last statement."""
        self._close()

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line."""
        text = line.text.rstrip()
        if not text:
            if self._table is not None and self._has_rows and not self._table.is_followed:
                self._table = None
            self._close()
            return LineKind.IGNORED
        table = next((table for table in self.layout.tables if table.title.fullmatch(text)), None)
        if table is not None:
            self._close()
            self._table, self._spans, self._has_rows = table, [], False
            return LineKind.HEADER
        snap = SNAP.fullmatch(text)
        if snap is not None:
            # The report is of the time before its end.
            self._see_snap(snap["time"])
            return LineKind.TIMESTAMP
        pair = PAIR.fullmatch(text)
        if pair is not None and pair["name"].strip() in self.layout.pairs:
            column = self.layout.pairs[pair["name"].strip()]
            return self._put(self.layout.summary, "", [column], [pair["value"]], line.offset)
        return self._take_row(self._table, line, text) if self._table is not None else LineKind.IGNORED

    # Internals.

    def _see_snap(self, text: str) -> None:
        day, month, year = text[:9].split("-")
        if month in MONTHS and self.see_time_line(f"20{year}-{MONTHS.index(month) + 1:02}-{day} {text[10:]}"):
            self.begin_report()

    def _take_row(self, table: ReportTable, line: Line, text: str) -> Outcome:
        if table.is_named:
            return self._take_named(table, line, text)
        if RULE.fullmatch(text):
            self._spans = self._spans or [found.span() for found in re.finditer("-+", text)][:MAX_SPANS]
            return LineKind.HEADER
        if END_RULE.fullmatch(text):
            self._close()
            self._table = None
            return LineKind.IGNORED
        if self._open is not None and not text.startswith(" "):
            if not text.startswith(MODULE):
                self._open.text = f"{self._open.text} {text}".strip()[:MAX_TEXT]
            return LineKind.IGNORED
        self._close()
        cells = [text[begin:end].strip() for begin, end in self._spans]
        if not any(map(VALUE.fullmatch, cells[1:3])):
            return LineKind.IGNORED if self._spans else LineKind.HEADER
        self._has_rows = True
        name = " ".join(cells.pop(table.instance).split())
        if table.is_followed:
            self._open = OpenRow(line.offset, name, cells, "")
            return LineKind.SAMPLE
        return self._put_cells(table, name, cells, line.offset)

    def _take_named(self, table: ReportTable, line: Line, text: str) -> Outcome:
        found = NAMED.fullmatch(text)
        if found is None:
            return LineKind.IGNORED
        self._has_rows = True
        return self._put_cells(table, found["name"], found["values"].split(), line.offset)

    def _close(self) -> None:
        """Add the statement whose text has ended."""
        if self._open is not None and self._table is not None:
            row, self._open = self._open, None
            self._put_cells(self._table, f"{row.name} {' '.join(row.text.split())}".strip(), row.cells, row.offset)

    def _put_cells(self, table: ReportTable, name: str, words: Sequence[str], offset: int) -> Outcome:
        known = [(column, word) for column, word in zip(table.columns, words, strict=False) if column]
        return self._put(table.stat, name, [column for column, _ in known], [word for _, word in known], offset)

    def _put(self, stat: str, name: str, columns: Sequence[str], words: Sequence[str], offset: int) -> Outcome:
        values = [_plain(word) for word in words]
        if not name and stat != self.layout.summary:
            return LineKind.IGNORED
        refused = self.add_row(self.stat(stat), columns, values, instance=name, offset=offset)
        return refused or LineKind.SAMPLE


def _plain(word: str) -> str:
    """Return a number as digits; of a wait in milliseconds. Missing: "-" for none, and for one that did not fit its column.

    >>> _plain("1,234.5"), _plain("812.30us"), _plain("#####"), _plain("")
    ('1234.5', '0.8123', '-', '-')
    """
    found = VALUE.fullmatch(word)
    if found is None:
        return "-"
    number = found["number"].replace(",", "")
    return f"{float(number) * MILLISECONDS[found['unit']]:.9g}" if found["unit"] else number
