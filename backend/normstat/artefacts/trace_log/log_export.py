"""A log as text: the lines of its raw text that a filter leaves, and its events as a table, CSV or JSON lines."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
import orjson

from normstat.artefacts.parts import NO_NUMBER, CodedTexts, LogPart
from normstat.artefacts.trace_log.log_times import print_time
from normstat.artefacts.trace_log.pairing import Indices, Mask
from normstat.errors import BadRequest
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import format_span

# Maximum number of titles before the first event: a reader may need them.
MAX_HEAD_LINES: Final = 60
CHUNK_ROWS: Final = 4096
# A column of the table is no wider; the last one is not cut.
MAX_WIDTH: Final = 32
HEADER: Final = (
    "time", "time_ns", "cpu", "pid", "command", "event", "object", "function", "duration_ns", "arguments", "line",
)  # fmt: skip
TEXTS: Final = ("command", "event", "object", "function")
# strace writes a call that another thread interrupts in two lines.
UNFINISHED: Final = b"<unfinished ...>"
RESUMED: Final = re.compile(rb"<\.\.\. [a-z_][a-z0-9_]{0,40} resumed>")
PID: Final = re.compile(rb"(?:\[pid\s+(\d{1,10})\]|(\d{1,10})(?=\s))?")


class LineFilter:
    """Takes the raw text of a log piece by piece, and gives the lines of chosen events as they are, with what stands before the
    first event. A call of strace in two lines is chosen by its first one.
    """

    def __init__(self, part: LogPart, mask: Mask) -> None:
        """Choose the lines.

        Raises: BadRequest where it is not known from which line each event is
        """
        if part.n_rows and int(part.line.max()) == NO_NUMBER:
            raise BadRequest(
                "It is not known which line each event of this log is from; `normstat artefact reparse` reads its text again"
            )
        n_lines = int(part.line.max()) if part.n_rows else 0
        # The last one is of all lines behind the last event.
        self._wanted = np.zeros(n_lines + 2, bool)
        self._wanted[part.line[mask & (part.line != NO_NUMBER)]] = True
        first = int(part.line.min(where=part.line != NO_NUMBER, initial=np.iinfo(np.int32).max)) if part.n_rows else 1
        self._wanted[max(1, first - MAX_HEAD_LINES) : first] = True
        self._is_strace = part.stat == "strace_log"
        # Line numbers are from 1.
        self._line = 1
        self._rest = b""
        self._open: dict[bytes, bool] = {}

    def feed(self, piece: bytes) -> bytes:
        """Return the chosen lines that end in this piece."""
        data = self._rest + piece
        end = data.rfind(b"\n") + 1
        self._rest = data[end:]
        return self._choose(data[:end])

    def finish(self) -> bytes:
        """Return the last line, where it is chosen and has no end."""
        data, self._rest = self._rest, b""
        return self._choose(data)

    def _choose(self, data: bytes) -> bytes:
        if not data:
            return b""
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        starts = np.concatenate([[0], ends[:-1]])
        numbers = self._line + np.arange(len(ends))
        self._line += len(ends)
        chosen = self._wanted[np.minimum(numbers, len(self._wanted) - 1)]
        if self._is_strace:
            self._add_resumed(data, starts, ends, chosen)
        return b"".join(data[start:end] for start, end in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True))

    def _add_resumed(self, data: bytes, starts: Indices, ends: Indices, chosen: Mask) -> None:
        """Choose the second lines of calls whose first line is chosen, and no others."""
        begun = [found.start() for found in re.finditer(re.escape(UNFINISHED), data)]
        resumed = [found.start() for found in RESUMED.finditer(data)]
        is_begun = np.zeros(len(ends), bool)
        is_begun[np.searchsorted(ends, begun, side="right")] = True
        is_resumed = np.zeros(len(ends), bool)
        is_resumed[np.searchsorted(ends, resumed, side="right")] = True
        for at in np.flatnonzero(is_begun | is_resumed).tolist():
            line = data[int(starts[at]) : int(ends[at])]
            found = PID.match(line)
            pid = (found[1] or found[2] or b"") if found is not None else b""
            if is_resumed[at] and pid in self._open:
                chosen[at] = self._open.pop(pid)
            if line.rstrip().endswith(UNFINISHED):
                self._open[pid] = bool(chosen[at])


def filter_lines(pieces: Iterable[bytes], part: LogPart, mask: Mask) -> Iterator[bytes]:
    """Yield the lines of chosen events, byte for byte.

    Raises: BadRequest where it is not known from which line each event is
    """
    lines = LineFilter(part, mask)
    for piece in pieces:
        yield lines.feed(piece)
    yield lines.finish()


def write_log_csv(part: LogPart, mask: Mask) -> Iterator[bytes]:
    """Yield the chosen events as CSV: UTF-8, CRLF, a header. Nanoseconds have all digits. Missing: an empty cell."""
    yield format_csv([HEADER]).encode()
    for rows in _rows(part, mask):
        yield format_csv(rows).encode("utf-8", errors="replace")


def write_log_json(part: LogPart, mask: Mask) -> Iterator[bytes]:
    """Yield the chosen events as one JSON object a line. `time_ns` is a text of digits: many readers round such numbers."""
    at = HEADER.index("time_ns")
    for rows in _rows(part, mask):
        lines = []
        for row in rows:
            row[at] = str(row[at])
            lines.append(orjson.dumps(dict(zip(HEADER, row, strict=True))))
        yield b"\n".join(lines) + b"\n"


def _rows(part: LogPart, mask: Mask) -> Iterator[list[list[object]]]:
    """Yield the events as they stand in HEADER, some thousands at a time. Missing: None of numbers, "" of texts."""
    for chosen in _chunks(mask):
        times = part.time_ns[chosen].tolist()
        columns: list[Iterable[object]] = [
            (print_time(time, part.clock, part.decimals) for time in times), times,
            _known(part.cpu[chosen]), _known(part.pid[chosen]), *(_texts(getattr(part, name), chosen) for name in TEXTS),
            _known(part.duration_ns[chosen]), _texts(part.arguments, chosen), _known(part.line[chosen]),
        ]  # fmt: skip
        yield [list(row) for row in zip(*columns, strict=True)]


def _chunks(mask: Mask) -> Iterator[Indices]:
    chosen = np.flatnonzero(mask)
    for start in range(0, len(chosen), CHUNK_ROWS):
        yield chosen[start : start + CHUNK_ROWS]


def _known(column: np.ndarray) -> list[int | None]:
    return [None if value == NO_NUMBER else value for value in column.tolist()]


def _texts(column: CodedTexts, chosen: Indices) -> list[str]:
    return list(map(column.names.__getitem__, column.codes[chosen].tolist()))


def write_log_table(part: LogPart, mask: Mask, *, limit: int, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield the first chosen events as lines in columns, with the time since the one before. Columns without any value are left
    out. `clean` makes untrusted text safe to print.
    """
    chosen = np.flatnonzero(mask)[:limit]
    times = part.time_ns[chosen]
    spans = ["", *(format_span(span) for span in np.diff(times).tolist())]
    columns: list[tuple[str, list[str], bool]] = [
        ("time", [print_time(time, part.clock, part.decimals) for time in times.tolist()], True),
        ("since", spans[: len(chosen)], True),
        ("cpu", _printed(part.cpu[chosen]), True),
        ("pid", _printed(part.pid[chosen]), True),
        *((name, [_cut(clean(text)) for text in _texts(getattr(part, name), chosen)], False) for name in TEXTS),
        ("took", ["" if ns is None else format_span(ns) for ns in _known(part.duration_ns[chosen])], True),
        ("arguments", [clean(text) for text in _texts(part.arguments, chosen)], False),
    ]
    columns = [column for column in columns if any(column[1])]
    widths = [max(map(len, [title, *cells])) for title, cells, _ in columns]
    for row in zip(*([title, *cells] for title, cells, _ in columns), strict=True):
        cells = (
            cell.rjust(width) if column[2] else cell.ljust(width) for cell, width, column in zip(row, widths, columns, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _printed(column: np.ndarray) -> list[str]:
    return ["" if value is None else str(value) for value in _known(column)]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 1] + "…"
