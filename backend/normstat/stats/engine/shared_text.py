"""The lines of a piece of a stream, and its plain rows: alone, or as part of a text that pieces of many streams share.

A live agent sends some kB of each stream. To set up the arrays of normstat.stats.engine.bulk takes longer than to read so little
with them; many such pieces under the same header are one text for it. Each stream keeps its own state: it only asks this text for
the numbers in its own lines, and none of them depends on the lines of others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from normstat.stats.engine.bulk import LineIndex, PlainRows, find_plain_rows
from normstat.stats.engine.header import Header
from normstat.stats.engine.reader_state import mark_of
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field

# A text with more kinds of headers is not tool output; each kind costs a pass over all of its lines. Texts have few kB, so that a
# stream of garbage costs the streams beside it little.
MAX_HEADERS: Final = 12
MAX_SHARED_BYTES: Final = 256 << 10


@dataclass(frozen=True, slots=True)
class TextRows:
    """The plain rows of one header in a text, for those who look at it line by line.

    `number` and `next_other` are those of `rows`; `offsets` (n_rows,) are the places of the rows' lines in the text.
    """

    rows: PlainRows
    number: Sequence[int]
    next_other: Sequence[int]
    offsets: Int64Array
    _marks: dict[bytes, frozenset[str]] = field(default_factory=dict)

    def marks(self, header: Header, first: int, n_rows: int) -> frozenset[str]:
        """Return how a reader's state notes these rows: the same object for reports of the same instances."""
        names = self.rows.instances
        codes = names.codes[first : first + n_rows]
        key = codes.tobytes()
        found = self._marks.get(key)
        if found is None:
            found = self._marks[key] = frozenset(mark_of(header, names.names[code]) for code in codes.tolist())
        return found


@dataclass(slots=True)
class Text:
    """Whole lines, with what was found in them so far: the rows of each tuple of fields, by its identity."""

    index: LineIndex
    _found: dict[int, TextRows | None] = field(default_factory=dict)
    # The identities are those of objects that live.
    _fields: list[tuple[Field, ...]] = field(default_factory=list)

    def is_open(self, fields: tuple[Field, ...]) -> bool:
        """Return whether the rows of these fields are known, or may still be looked for."""
        return id(fields) in self._found or len(self._found) < MAX_HEADERS

    def rows(self, header: Header, fields: tuple[Field, ...]) -> TextRows | None:
        """Return the plain rows of a header. Missing: None when the bulk path does not support it."""
        key = id(fields)
        if key not in self._found:
            rows = find_plain_rows(self.index, header, fields)
            self._fields.append(fields)
            self._found[key] = (
                None
                if rows is None
                else TextRows(rows, numbers(rows.number), numbers(rows.next_other), self.index.line_start[rows.line])
            )
        return self._found[key]


@dataclass(frozen=True, slots=True)
class TextWindow:
    """The whole lines of one piece: those from `first_line` on in a text, which begin at its byte `begin`.

    `starts` and `ends` are the places of its lines in the piece, ends before the newline.
    """

    text: Text
    data: bytes
    first_line: int
    begin: int
    n_bytes: int
    starts: Sequence[int]
    ends: Sequence[int]


def numbers(array: Int64Array) -> Sequence[int]:
    """Return an array for those who want one number of it now and then: as plain ones, and without making a list of all."""
    return np.ascontiguousarray(array).data


def index_alone(lines: bytes, line_limit: int) -> TextWindow:
    """Return the window of a piece that shares its text with none."""
    index = LineIndex(lines, line_limit)
    return TextWindow(Text(index), lines, 0, 0, len(lines), numbers(index.line_start), numbers(index.line_end))


def share_text(pieces: Sequence[bytes], line_limit: int) -> list[TextWindow | None]:
    """Return a window for each piece, on texts of many of them. Missing: None for one without a whole line, or too large."""
    windows: list[TextWindow | None] = [None] * len(pieces)
    for group in _groups(pieces):
        lengths = [pieces[number].rfind(b"\n") + 1 for number in group]
        index = LineIndex(b"".join(pieces[number][:length] for number, length in zip(group, lengths, strict=True)), line_limit)
        text = Text(index)
        starts, ends = index.line_start, index.line_end
        begin, first = 0, 0
        for number, length in zip(group, lengths, strict=True):
            # The piece ends with a newline, which is the end of its last line.
            last = int(ends.searchsorted(begin + length))
            own_starts, own_ends = numbers(starts[first:last] - begin), numbers(ends[first:last] - begin)
            windows[number] = TextWindow(text, pieces[number], first, begin, length, own_starts, own_ends)
            begin, first = begin + length, last
    return windows


def _groups(pieces: Sequence[bytes]) -> Iterator[list[int]]:
    """Yield the numbers of the pieces that share a text."""
    group: list[int] = []
    n_bytes = 0
    for number, piece in enumerate(pieces):
        if len(piece) > MAX_SHARED_BYTES or b"\n" not in piece:
            continue
        if group and n_bytes + len(piece) > MAX_SHARED_BYTES:
            yield group
            group, n_bytes = [], 0
        group.append(number)
        n_bytes += len(piece)
    if group:
        yield group
