"""`perf diff`: how much more or less of the samples fell on a symbol than in the recording before.

    # Event 'cycles'
    #
    # Baseline  Delta Abs  Shared Object      Symbol
    # ........  .........  .................  ...............
    #
        42.22%     +4.97%  [kernel.kallsyms]  [k] cfb_imageblit
                   +1.15%  ld-2.24.so         [.] do_lookup_x

The dots show where the columns stand; a symbol that is in one recording only has no baseline or no difference.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = "\\n".join(line[4:] for line in __doc__.split("\\n")[2:9]).encode() + b"\\n"
>>> (block,) = read(require_spec("perf_diff"), excerpt, state={}, offset=0).blocks
>>> block.instances, [values.tolist() for values in block.values]
(['[kernel.kallsyms] [k] cfb_imageblit', 'ld-2.24.so [.] do_lookup_x'], [[42.22, 0.0], [4.97, 1.15]])
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State, texts_of

EVENT: Final = re.compile(r"# Event '(?P<event>[^']{1,200})'\s*")
HEADER: Final = re.compile(r"#\s*Baseline(?:/0)?\s.*")
DOTS: Final = re.compile(r"#\s*\.+(?:\s+\.+)+\s*")
# With several recordings a column is that of one of them: Delta/2.
NUMBERS: Final = re.compile(r"(?:Baseline|Delta(?: Abs)?|Ratio|Weighted diff|Period(?: Base)?|Base period)(?:/\d{1,3})?", re.ASCII)
VALUE: Final = re.compile(r"([-+]?\d{1,18}(?:\.\d{1,6})?)%?", re.ASCII)
MAX_LINE: Final = 8192
MAX_EVENTS: Final = 100


@dataclass(frozen=True, slots=True)
class DiffColumn:
    """A column: its name, and the places in a line that it has."""

    name: str
    begin: int
    end: int

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers; the others name a row."""
        return NUMBERS.fullmatch(self.name) is not None


LAYOUT: Final = OneStatLayout


class Reader(LineReader[OneStatLayout]):
    """One call of the reader: `_header` waits for the dots below it."""

    def load(self, own: State) -> None:
        """Restore the header, its columns, the events of this report and the names seen."""
        self._header = str(own.get("header", ""))
        columns = own.get("columns")
        found = [DiffColumn(*column) for column in columns] if isinstance(columns, list) else []
        self._columns: list[DiffColumn] = found
        self._events = texts_of(own.get("events"))
        self._is_open = own.get("is_open") is True
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "header": self._header,
            "columns": [[column.name, column.begin, column.end] for column in self._columns],
            "events": self._events,
            "is_open": self._is_open,
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new report."""
        self._header, self._columns, self._events, self._is_open = "", [], [], False
        self._repeats.clear()

    def take_line(self, line: Line) -> Outcome:
        """Return a row, or one of the lines with #."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of perf diff")
        if text.startswith("#"):
            return self._take_comment(text)
        if self._columns:
            return self._take_row(text, line.offset)
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return Rejected("not a line of perf diff")

    def _take_comment(self, text: str) -> Outcome:
        if (event := EVENT.fullmatch(text)) is not None:
            if event["event"] in self._events or len(self._events) >= MAX_EVENTS:
                self.begin_call()
            self._events.append(event["event"])
            self._columns = []
            return LineKind.HEADER
        if HEADER.fullmatch(text) is not None:
            self._header, self._columns = text, []
            return LineKind.HEADER
        if self._header and DOTS.fullmatch(text) is not None:
            spans = [found.span() for found in re.finditer(r"\.+", text)]
            ends = [begin for begin, _ in spans[1:]] + [MAX_LINE]
            self._columns = [
                DiffColumn(self._header[begin:end].strip(), begin, end) for (begin, _), end in zip(spans, ends, strict=True)
            ]
            if not any(column.is_number for column in self._columns) or all(column.is_number for column in self._columns):
                self._columns = []
                return Rejected("a header whose columns are not known")
            if not self._is_open:
                self.begin_report()
                self._is_open = True
            return LineKind.HEADER
        return LineKind.IGNORED

    def _take_row(self, text: str, offset: int) -> Outcome:
        cells = {column: text[column.begin : column.end].strip() for column in self._columns}
        numbers = {column.name: cell for column, cell in cells.items() if column.is_number}
        name = " ".join(" ".join(cell for column, cell in cells.items() if not column.is_number).split())
        if text[: self._columns[0].begin].strip() or not name or not any(numbers.values()):
            return Rejected("not numbers and a name under their columns")
        words = []
        for cell in numbers.values():
            value = VALUE.fullmatch(cell)
            if value is None and cell:
                return Rejected(f"{cell[:40]!r} is not a number")
            words.append("" if value is None else value[1])
        if len(self._events) > 1:
            name = f"{name} ({self._events[-1]})"
        stat = self.spec.stats[0]
        return self.add_row(stat, list(numbers), words, instance=self._repeats.name(name), offset=offset) or LineKind.SAMPLE
