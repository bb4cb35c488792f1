"""sar of System V: Solaris, HP-UX, AIX.

    SunOS web1 5.11 11.3 sun4v    11/21/2026

    12:00:00    %usr    %sys    %wio   %idle
               device        %busy   avque   r+w/s  blks/s  avwait  avserv
             runq-sz %runocc swpq-sz %swpocc

    12:00:05       0       3       0      97
               sd0               1     0.0       2      31     0.0     3.1
               sd1               0     0.0       0       0     0.0     0.0
                 2.0     100     0.0       0

With several options the headers follow each other, and so do the rows: one for each header, and as many as there are devices for
one that begins with a name. From a file it prints table by table, each from the beginning. Where nothing was counted, old releases
print nothing in the columns of -q: such a row is read by the places of its numbers, if they all end where a header's word does. A
row that does not fit its header ends the report: those after it may belong to any header.

Layout keys: those of the reader `columns`, of which `banner`, `ignored`, `messages` and `tables` are used; `optional` names the
columns that may be blank.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> heads = b"12:00:00 runq-sz %runocc swpq-sz %swpocc\\n           msg/s  sema/s\\n"
>>> text = heads + b"12:00:05 2.0 100 0.0 0\\n            1.00    2.00\\n"
>>> result = read(require_spec("sar_solaris"), text, state={}, offset=0)
>>> [(block.stat.name, [values.tolist() for values in block.values]) for block in result.blocks]
[('sar_solaris_queue', [[2.0], [100], [0.0], [0]]), ('sar_solaris_ipc', [[1.0], [2.0]])]
"""

import re
from collections.abc import Sequence
from typing import Final

from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.header import Header, HeaderLine, find_header
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.row import instance_of
from normstat.stats.engine.times.row_times import TableSections
from normstat.stats.engine.times.timestamps import ClockWords, Timestamp, take_clock
from normstat.stats.records import LineKind, State, Timing, number_of, texts_of
from normstat.stats.spec import Spec

# Cells with two numbers: the current value and the maximum.
PAIRS: Final = {f"{name}-sz": (f"{name}-sz", f"{name}-max") for name in ("proc", "inod", "file", "lock", "text", "thrd")}
PAIR: Final = re.compile(r"(\d+)/(\d+)")
ABSENT_PAIR: Final = "N/A"
NUMBER: Final = re.compile(r"[-+]?\d[\d.,/%]*")
# The mean of all rows, and of each device.
AVERAGE: Final = re.compile(r"\s*Average\b")
MAX_STACK: Final = 40
MAX_HEADER: Final = 400
UNFIT: Final = Rejected("after a row that does not fit its header: this one may belong to any header")


LAYOUT: Final = ColumnLayout


class Reader(LineReader[ColumnLayout]):
    """One call of the reader.

    `_texts` are the header lines of the present stack, `_headers` what they mean; `_at` is the header of the latest row, -1 before
    the first one and None where rows fit no more; `_time_us` is the time of the present rows, None before any.
    """

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        self._found: dict[str, Header | None] = {}
        super().__init__(spec, state=state, offset=offset, timing=timing, command=command)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._texts = texts_of(own.get("texts"))
        self._headers = [header for text in self._texts if (header := self._find(text)) is not None]
        self._at = number_of(own.get("at"), None)
        self._time_us = number_of(own.get("time"), None)
        self._is_heading = own.get("heading") is True
        self._is_average = own.get("average") is True
        self._sections = TableSections(own.get("sections"))

    def load_after_gap(self, own: State) -> None:
        """Keep the headers, unless others may have come; rows wait for the next clock."""
        texts = own.get("texts") if TableSections(own.get("sections")).is_single else []
        self.load(own | {"texts": texts, "at": None, "time": None, "heading": False, "average": False})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "texts": list(self._texts),
            "at": self._at,
            "time": self._time_us,
            "heading": self._is_heading,
            "average": self._is_average,
            "sections": self._sections.to_state(),
        }

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = line.text
        if not text.strip():
            self._is_heading = self._is_average = False
            return LineKind.IGNORED
        kind = self._take_known(text)
        if kind is not None:
            return kind
        words = text.split()
        clock = take_clock(words[:3])
        n_lead = clock.n_words if clock is not None else 0
        if len(words) == n_lead:
            return Rejected(f"not a known line of {self.spec.tool}")
        if NUMBER.fullmatch(words[-1]) is None and self._take_header(text, clock):
            return LineKind.HEADER
        self._is_heading = False
        if clock is not None:
            self._time_us = self._clock_us(clock)
            self._at, self._is_average = -1, False
        return self._take_row(words[n_lead:], text, line.offset)

    def _clock_us(self, clock: ClockWords) -> int:
        if clock.is_epoch:
            return self.timeline.stamp_us(Timestamp(clock.seconds, is_clock_only=False, offset_s=0))
        return self.timeline.clock_us(clock.seconds)

    def _take_known(self, text: str) -> LineKind | None:
        """Return a line that the layout knows, or that holds only a time."""
        layout = self.layout
        if AVERAGE.match(text):
            self._is_average, self._is_heading, self._at = True, False, None
            return LineKind.IGNORED
        if layout.messages is not None and layout.messages.search(text):
            self._sections, self._at = TableSections(None), None
            return LineKind.STATE_CHANGE
        if layout.ignored is not None and layout.ignored.search(text):
            return LineKind.IGNORED
        banner = layout.banner.search(text) if layout.banner is not None else None
        if banner is not None:
            self._sections, self._texts, self._headers, self._at = TableSections(None), [], [], None
            self.timeline.start_banner(banner["date"] or "")
            return LineKind.HEADER
        return LineKind.TIMESTAMP if self.see_time_line(text) else None

    def _take_header(self, text: str, clock: ClockWords | None) -> bool:
        """Take a header: one with a clock starts a stack, one without continues the stack just started."""
        text = text[:MAX_HEADER]
        header = self._find(text)
        if header is None:
            return False
        if clock is None and self._is_heading and len(self._texts) < MAX_STACK:
            self._texts.append(text)
            self._headers.append(header)
        else:
            self._texts, self._headers = [text], [header]
            if clock is not None and not clock.is_epoch:
                self._sections.see_header(" ".join(header.words), clock.seconds, self.timeline)
        self._is_heading = True
        self._at, self._time_us = None, None
        return True

    def _find(self, text: str) -> Header | None:
        """Return the header that a line is."""
        if text not in self._found:
            words = text.split()
            clock = take_clock(words[:3])
            words = words[clock.n_words if clock is not None else 0 :]
            named = [name for word in words for name in PAIRS.get(word, (word,))]
            is_bare = bool(named) and not any(NUMBER.fullmatch(word) for word in words)
            self._found[text] = (
                find_header(self.spec, self.layout, HeaderLine(tuple(named), None, has_clock=False)) if is_bare else None
            )
        return self._found[text]

    def _take_row(self, words: Sequence[str], text: str, offset: int) -> Outcome:
        """Return a row: of the present header when that has names, else of the next one that it fits."""
        if self._is_average:
            return LineKind.IGNORED
        if self._at is None or self._time_us is None:
            return UNFIT if self._headers and self._time_us is not None else Rejected("a row without a clock or without a header")
        at = max(self._at, 0)
        if self._at >= 0 and not self._headers[at].instance_at:
            at += 1
        reason = Rejected(f"{len(words)} values, and no header left for them")
        while at < len(self._headers):
            header = self._headers[at]
            cells = self._cells(header, words, self._texts[at], text)
            if isinstance(cells, list):
                refused = self._add(header, cells, offset)
                self._at = None if refused else at
                return refused or LineKind.SAMPLE
            reason = cells
            if not header.instance_at:
                break
            at += 1
        self._at = None
        return reason

    def _cells(self, header: Header, words: Sequence[str], head: str, text: str) -> list[str] | Rejected:
        """Return the cells of the row, one for each of the header's words, or why it does not fit that header."""
        n_columns = len(header.words)
        cells: list[str] = []
        columns = iter(header.words)
        for word in words:
            column = next(columns, "")
            pair = PAIR.fullmatch(word) if column in PAIRS else None
            if column in PAIRS:
                next(columns, "")
                cells += pair.groups() if pair is not None else (word, ABSENT_PAIR)
            else:
                cells.append(word)
        if len(cells) != n_columns and not header.instance_at:
            placed = _by_place(head, text)
            blank = {column for column, cell in zip(header.words, placed, strict=False) if not cell}
            cells = placed if blank <= header.table.optional else cells
        if len(cells) != n_columns:
            return Rejected(f"{len(words)} values for {n_columns} columns")
        if header.instance_at and NUMBER.fullmatch(cells[0]) and "." in cells[0]:
            return Rejected(f"{cells[0]}: not the name of a device or a CPU")
        return cells

    def _add(self, header: Header, cells: Sequence[str], offset: int) -> Rejected | None:
        assert header.stat is not None
        fields = header.fields
        columns = [(field.group, field.column) for field in fields] if header.table.groups else [field.column for field in fields]
        return self.add_row(
            header.stat,
            columns,
            [cells[at] for at in header.value_at],
            instance=instance_of(header, cells),
            time_us=self._time_us,
            offset=offset,
            missing=header.table.missing | {"", ABSENT_PAIR},
        )


def _by_place(head: str, text: str) -> list[str]:
    """Return the cells of a row with blanks in it, by the ends of the header's words.

    Missing: none unless every word of the row ends where one of the header does.
    """
    ends = {found.end(): number for number, found in enumerate(re.finditer(r"\S+", head))}
    cells = [""] * len(ends)
    for found in re.finditer(r"\S+", text):
        number = ends.get(found.end())
        if number is None:
            return []
        cells[number] = found[0]
    # The clock is no column.
    return cells[1:] if take_clock(head.split()[:1]) is not None else cells
