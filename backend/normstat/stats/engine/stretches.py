"""The lines between two runs of plain rows, which are the same in every report but for their clocks.

    <blank>
    2026-11-21T12:00:01+0000
    avg-cpu:  %user   %nice %system %iowait  %steal   %idle

To find out what such a line is takes longer than to read ten rows in bulk. A stretch of them that was read line by line is kept,
with what each of its lines was; where the same bytes come again under the same header, with other clocks of the same form, they are
the same. What they do to a reader's state is done by the reader in any case. Stretches are kept for a spec, for all of its streams:
nothing in them belongs to one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from normstat.stats.engine.header import Header, HeaderLine
from normstat.stats.engine.times.timestamps import (
    EPOCH_LEAST,
    SECONDS_A_DAY,
    ClockWords,
    Timestamp,
    clock_of_word,
    parse_clock,
    parse_timestamp,
)
from normstat.stats.records import LineKind

# Longer ones are not from a report. The cache of a spec stays below 2 MB, whatever is sent.
MAX_LINES: Final = 16
MAX_STRETCH_BYTES: Final = 2048
MAX_KEYS: Final = 64
# Under the same header come few: the first report of a day has another date.
MAX_ALTERNATIVES: Final = 4
LEADING_CLOCK: Final = re.compile(rb"(\d\d:\d\d:\d\d)[ \t]")
ISO_STAMP: Final = re.compile(rb"\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)(?:Z|[-+]\d\d:?\d\d)?")
EPOCH_STAMP: Final = re.compile(rb"\d{10}")
CLOCK_BYTES: Final = 8
COLON: Final = b":"
EPOCH_BYTES: Final = 10

# The class of a line depends on this besides its bytes; see Heading.stretch_key.
StretchKey = tuple[int, bytes, str, str, str, bool, bool]


class LineRole(Enum):
    """The role of a line of a stretch."""

    BLANK = 0
    # The present header once more.
    AGAIN = 1
    # A header that was the present one before, in the same place.
    TURN = 2
    STAMP = 3


KINDS: Final = {
    LineRole.BLANK: LineKind.IGNORED,
    LineRole.AGAIN: LineKind.HEADER,
    LineRole.TURN: LineKind.HEADER,
    LineRole.STAMP: LineKind.TIMESTAMP,
}


@dataclass(frozen=True, slots=True)
class HeaderTurn:
    """A line that made `header` the present one, after `before` (None for none) under the same group line."""

    before: Header | None
    group_line: str
    header: Header
    parts: HeaderLine
    text: str


@dataclass(frozen=True, slots=True)
class LineNote:
    """The role of a line when it was read: `clock` if a header had one, `turn` for LineRole.TURN, `stamp` for LineRole.STAMP."""

    role: LineRole
    clock: ClockWords | None = None
    turn: HeaderTurn | None = None
    stamp: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class StretchLine:
    """A line of a stretch: its bytes [begin, end) in it without the newline; `clock_at` is the place of its clock, -1 without one.

    `base` is the stamp at the beginning of its day, for a stamp that is no epoch.
    """

    role: LineRole
    begin: int
    end: int
    clock_at: int
    turn: HeaderTurn | None
    base: Timestamp | None


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Lines that were read after `before` was the present header. `fixed` are the bytes that are no clocks, with their places;
    `books` how many bytes and lines there are of each kind.
    """

    before: Header | None
    lines: tuple[StretchLine, ...]
    n_bytes: int
    fixed: tuple[tuple[int, bytes], ...]
    books: tuple[tuple[LineKind, int, int], ...]

    def times_at(self, data: bytes, begin: int) -> list[ClockWords | Timestamp | None] | None:
        """Return the time on each line of the stretch, where it stands at this place of the data. Missing: None where it does not;
        in the list, for a line without a time.
        """
        for place, text in self.fixed:
            if not data.startswith(text, begin + place):
                return None
        times: list[ClockWords | Timestamp | None] = []
        for line in self.lines:
            if line.clock_at < 0:
                times.append(None)
                continue
            at = begin + line.clock_at
            if line.role is LineRole.STAMP and line.base is None:
                digits = data[at : at + EPOCH_BYTES]
                if not digits.isdigit() or int(digits) < EPOCH_LEAST:
                    return None
                times.append(Timestamp(float(digits), is_clock_only=False, offset_s=0))
                continue
            word = data[at : at + CLOCK_BYTES]
            clock = clock_of_word(word) if word[2:3] == COLON == word[5:6] else None
            if clock is None:
                return None
            base = line.base
            if base is None:
                times.append(clock)
            else:
                seconds = base.seconds + clock.seconds
                times.append(Timestamp(seconds, is_clock_only=False, offset_s=base.offset_s, zone_name=base.zone_name))
        return times


class Stretches:
    """The stretches of a spec, by what classifying their lines depends on. Threads may share it: nothing is changed in place."""

    def __init__(self) -> None:
        self._known: dict[StretchKey, tuple[Stretch, ...]] = {}

    def alternatives(self, key: StretchKey) -> Sequence[Stretch]:
        """Return what may come next."""
        return self._known.get(key, ())

    def learn(self, key: StretchKey, before: Header | None, data: bytes, notes: Sequence[LineNote]) -> None:
        """Keep whole lines that were read line by line, with what each of them was; nothing that could mean something else with
        other clocks.
        """
        is_long = len(notes) > MAX_LINES or len(data) > MAX_STRETCH_BYTES or sum(map(len, key[1:5])) > MAX_STRETCH_BYTES
        if is_long or not notes or len(notes) != data.count(b"\n"):
            return
        found = _to_stretch(before, data, notes)
        if found is None:
            return
        if len(self._known) >= MAX_KEYS and key not in self._known:
            self._known = {}
        # One of an earlier header with the same identity can never come again.
        others = [other for other in self._known.get(key, ()) if other.before is before and other.fixed != found.fixed]
        # The longest is tried first: the end of a piece may be the beginning of another one.
        self._known[key] = tuple(sorted((found, *others[: MAX_ALTERNATIVES - 1]), key=lambda one: -one.n_bytes))


def _to_stretch(before: Header | None, data: bytes, notes: Sequence[LineNote]) -> Stretch | None:
    lines: list[StretchLine] = []
    fixed: list[tuple[int, bytes]] = []
    n_lines: dict[LineKind, int] = {}
    n_bytes: dict[LineKind, int] = {}
    begin = known = 0
    for note in notes:
        end = data.index(b"\n", begin)
        line = _to_line(note, data[begin:end], begin)
        if line is None:
            return None
        lines.append(line)
        if line.clock_at >= 0:
            fixed.append((known, data[known : line.clock_at]))
            known = line.clock_at + (EPOCH_BYTES if note.role is LineRole.STAMP and line.base is None else CLOCK_BYTES)
        kind = KINDS[note.role]
        n_lines[kind] = n_lines.get(kind, 0) + 1
        n_bytes[kind] = n_bytes.get(kind, 0) + end + 1 - begin
        begin = end + 1
    fixed.append((known, data[known:]))
    books = tuple((kind, n_bytes[kind], number) for kind, number in n_lines.items())
    return Stretch(before, tuple(lines), len(data), tuple(one for one in fixed if one[1]), books)


def _to_line(note: LineNote, line: bytes, begin: int) -> StretchLine | None:
    """Return a line of a stretch. Missing: None where another clock could make it something else."""
    end = begin + len(line)
    # Lines that were cleaned before reading are left to be read.
    if not line.isascii() or b"\r" in line or b"\x1b" in line or line[:1] == b">":
        return None
    match note.role:
        case LineRole.STAMP:
            return _to_stamp(note, line, begin)
        case LineRole.AGAIN if note.clock is not None:
            found = LEADING_CLOCK.match(line)
            if found is None or note.clock != clock_of_word(found[1]):
                return None
            return StretchLine(note.role, begin, end, begin, None, None)
        case LineRole.BLANK if line:
            return None
        case _:
            return StretchLine(note.role, begin, end, -1, note.turn, None)


def _to_stamp(note: LineNote, line: bytes, begin: int) -> StretchLine | None:
    end = begin + len(line)
    stamp = parse_timestamp(line.decode())
    if stamp is None or stamp != note.stamp or stamp.is_clock_only or stamp.is_call:
        return None
    if EPOCH_STAMP.fullmatch(line) is not None:
        return StretchLine(note.role, begin, end, begin, None, None)
    found = ISO_STAMP.fullmatch(line)
    seconds = parse_clock(found[1].decode()) if found is not None else None
    if found is None or seconds is None or (stamp.seconds - seconds) % SECONDS_A_DAY:
        return None
    base = Timestamp(stamp.seconds - seconds, is_clock_only=False, offset_s=stamp.offset_s, zone_name=stamp.zone_name)
    return StretchLine(note.role, begin, end, begin + found.start(1), None, base)
