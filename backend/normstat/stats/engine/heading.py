"""The header that the rows of a stream stand under, followed from line to line."""

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Final

from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.header import MAX_COLUMNS, NOTHING_RENAMED, Header, HeaderLine, find_header, split_header
from normstat.stats.engine.number_formats import suffixed_field, suffixed_places
from normstat.stats.engine.reader_state import ReaderState
from normstat.stats.engine.row import Words
from normstat.stats.engine.stretches import HeaderTurn, Stretches, StretchKey
from normstat.stats.engine.times.timestamps import ClockWords, split_words, take_clock
from normstat.stats.spec import Field, Spec
from normstat.stats.translated_lines import read_translations

MAX_DECIMALS: Final = 9
MAX_HEADERS: Final = 256
MAX_SPECS: Final = 4096
# Tables of a tool that are printed in turns.
MAX_TURNS: Final = 64
# Longer lines are not remembered.
MAX_SPLIT_LENGTH: Final = 2000

HeaderKey = tuple[str, bool, tuple[str, ...], tuple[tuple[str, str], ...]]


class Unknown(Enum):
    """Marks a header that was not looked up yet, unlike None: not a header."""

    UNKNOWN = 0


class KnownHeaders:
    """The layout of a spec, and its recently parsed headers.

    A live stream comes in pieces of a few lines. Parsing its header takes longer than reading these, so the result
    is cached across pieces and streams.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        assert isinstance(spec.layout, ColumnLayout)
        self.layout = spec.layout
        fields = [field for stat in spec.stats for field in stat.fields]
        names = [table.instance | table.labels | table.titles for table in spec.layout.tables]
        self._columns = frozenset(name for field in fields for name in (field.column, *field.aliases)).union(*names)
        self._families = [family for stat in spec.stats for family in stat.families]
        self._found: dict[HeaderKey, Header | None] = {}
        self._fields: dict[tuple[int, tuple[int, ...]], tuple[Header, tuple[Field, ...]]] = {}
        self._split: dict[str, tuple[HeaderLine | None, Mapping[str, str]]] = {}
        self.stretches = Stretches()

    def fields_of(self, header: Header, decimals: tuple[int, ...]) -> tuple[Field, ...]:
        """Return the fields of a header whose undocumented columns have these decimals.

        It is the same object for all streams, for as long as few headers are known.
        """
        key = (id(header), decimals)
        found = self._fields.get(key)
        if found is None or found[0] is not header:
            left = iter(decimals)
            fields = tuple(field if field.is_documented else replace(field, decimals=next(left)) for field in header.fields)
            if len(self._fields) >= MAX_HEADERS:
                self._fields.clear()
            found = self._fields[key] = (header, fields)
        return found[1]

    def knows(self, word: str) -> bool:
        """Return whether the word is in a header of this spec."""
        return word in self._columns or any(family.matches(word) for family in self._families)

    def split(self, text: str) -> tuple[HeaderLine | None, Mapping[str, str]]:
        """Return the parts of a line that may be a header, in English, and its columns that are printed otherwise."""
        # All hosts of a fleet print the same header, with the same clock.
        found = self._split.get(text)
        if found is None:
            name = self.spec.translations
            translated = read_translations(name).translate(text) if name else None
            if translated is None:
                found = split_header(text), NOTHING_RENAMED
            else:
                found = split_header(translated.text), translated.printed
            if len(text) <= MAX_SPLIT_LENGTH:
                if len(self._split) >= MAX_HEADERS:
                    self._split.clear()
                self._split[text] = found
        return found

    def find(self, line: HeaderLine, group_line: str, printed: Mapping[str, str]) -> Header | None:
        """Return the header that the line is under this group line, or None; `printed` are columns named in another language."""
        key = (group_line, line.has_clock, line.words, tuple(printed.items()))
        # Read it once: another thread may clear it at any moment.
        header = self._found.get(key, Unknown.UNKNOWN)
        if isinstance(header, Unknown):
            header = find_header(self.spec, self.layout, line, group_line, printed)
            if len(self._found) >= MAX_HEADERS:
                # Garbage may look like headers that never recur.
                self._found.clear()
            self._found[key] = header
        return header


def known_headers(spec: Spec) -> KnownHeaders:
    """Return this process's cached data about a spec, by object identity, because comparing specs takes long."""
    known = _known.get(id(spec))
    if known is None or known.spec is not spec:
        if len(_known) >= MAX_SPECS:
            _known.clear()
        known = _known[id(spec)] = KnownHeaders(spec)
    return known


_known: dict[int, KnownHeaders] = {}


class Heading:
    """The present header, if any, its fields, and all headers that were understood before.

    `table` is the number of the header's table in the layout. `fields` is the same object as long as header and decimals are the
    same, so that its identity can stand for it.
    """

    def __init__(self, known: KnownHeaders, state: ReaderState) -> None:
        self._known = known
        self._layout = known.layout
        self._state = state
        # Headers live as long as this object, which compares them by identity.
        self._found: dict[HeaderKey, Header | None] = {}
        self._fields_of: dict[tuple[int, tuple[int, ...]], tuple[Field, ...]] = {}
        self._is_documented: dict[int, bool] = {}
        self._suffixed_of: dict[tuple[int, tuple[int, ...]], tuple[Field, ...]] = {}
        self._tail = b""
        # The lines after which another header was the present one.
        self._turns: dict[bytes, HeaderTurn] = {}
        self.header: Header | None = None
        self.table = 0
        self.fields: tuple[Field, ...] = ()
        line, printed = self._split(state.header_line)
        header = self._find(line, state.header_group, printed) if line is not None else None
        if line is not None and header is not None:
            name_line = state.name_line
            self._set(header, line, state.header_line)
            state.name_line = name_line

    def take(self, text: str, *, may_be_unknown: bool = False) -> HeaderLine | None:
        """Make the line the present header, if it is one; give its parts.

        A header that no table knows is only accepted where one is expected. Elsewhere it is unclear whether it is a header, and
        whether the rows after it belong to the previous table: they get no header.
        """
        line, printed = self._split(text)
        header = self._find(line, self._state.group_line, printed) if line is not None else None
        if line is None or header is None:
            return None
        if header.table.is_open and not may_be_unknown:
            self.drop()
            return None
        self._state.header_group = self._state.group_line
        self._set(header, line, text)
        return line

    def take_again(self, line: bytes) -> HeaderLine | None:
        """Return the parts of the line when it repeats the current header, perhaps with another clock.

        Missing: None for any other line, and now and then for the same header too: `take` knows it in any case.
        """
        state = self._state
        if not self._tail or not line.endswith(self._tail) or state.group_line != state.header_group or self.header is None:
            return None
        lead = line[: len(line) - len(self._tail)]
        clock: ClockWords | None = None
        if state.header_clock_s is not None:
            words = lead.split()
            if not lead.isascii() or lead[-1:] not in (b" ", b"\t"):
                return None
            clock = take_clock([word.decode() for word in words])
            if clock is None or clock.n_words != len(words):
                return None
        elif lead:
            return None
        self.repeat(line, clock)
        return HeaderLine(self.header.words, clock, self.header.has_clock)

    def repeat(self, line: bytes, clock: ClockWords | None) -> None:
        """Note the line as the present header once more, with this clock, if it has one."""
        self._state.header_line = line.decode()
        self._state.header_clock_s = clock.seconds if clock is not None else None

    def find_turn(self, line: bytes) -> HeaderTurn | None:
        """Return what makes the line the present header, if it was one before, in the same place: tools with two tables print two
        in turns.

        Missing: None for any other line, and now and then for such a one: `take` knows it in any case.
        """
        found = self._turns.get(line)
        state = self._state
        if found is None or found.before is not self.header or found.group_line != state.group_line or state.name_line:
            return None
        return found

    def turn(self, found: HeaderTurn) -> None:
        """Make another header the present one."""
        self._state.header_group = self._state.group_line
        self._set(found.header, found.parts, found.text)

    def note_turn(self, line: bytes, before: Header | None) -> HeaderTurn | None:
        """Remember the line, if it has just become the present header after another one or none, and return what made it that.

        Missing: None for one with a clock, which comes but once, and for one of an open table: what that makes of a line depends on
        the one before
        """
        header, text = self.header, self._state.header_line
        if header is None or header.table.is_open or len(self._turns) >= MAX_TURNS or line != text.encode():
            return None
        parts, _ = self._split(text)
        if parts is None or parts.clock is not None:
            return None
        found = self._turns[line] = HeaderTurn(before, self._state.group_line, header, parts, text)
        return found

    @property
    def stretches(self) -> Stretches:
        """Cached data about the lines between rows, for all streams of the spec."""
        return self._known.stretches

    def stretch_key(self) -> StretchKey:
        """Return the state before a stretch that decides, together with their bytes, the kinds of its lines."""
        state = self._state
        has_clock = state.header_clock_s is not None
        return id(self.header), self._tail, state.group_line, state.header_group, state.name_line, state.is_after_blank, has_clock

    def knows(self, word: str) -> bool:
        """Return whether the spec knows the word in headers."""
        return self._known.knows(word)

    def header_of(self, text: str) -> Header | None:
        """Return the header in a line. Missing: None for a line that is not a header."""
        line, printed = self._split(text)
        return self._find(line, self._state.group_line, printed) if line is not None else None

    def repeats(self, line: bytes) -> bool:
        """Return whether the line is the present header once more, perhaps with another clock."""
        return bool(self._tail) and line.endswith(self._tail)

    def take_name(self, text: str) -> bool:
        """Take a line that holds only the name of the next row, if the table has such lines."""
        header = self.header
        if header is None or not header.table.is_wrapped or header.instance_at != (0,) or len(header.words) < 3:
            return False
        words = split_words(text, 1)
        if len(words) != 1 or words[0][0] in "-+.,0123456789":
            return False
        self._state.name_line = words[0]
        return True

    def drop(self) -> None:
        """Forget the header: the next lines have none."""
        self.header = None
        self._tail = b""
        self._state.header_line = ""
        self._state.name_line = ""

    @property
    def section(self) -> str:
        """The name of the current table among the tables of the tool."""
        header = self.header
        return " ".join(header.words)[:200] if header is not None and header.table.is_open else str(self.table)

    def suffixed_fields(self, words: Words) -> tuple[Field, ...] | None:
        """Return the fields of a row in which sizes have suffixes, the same object for the same ones. Missing: None when none
        does.
        """
        header = self.header
        assert header is not None
        places = suffixed_places(self.fields, [words.words[at] for at in header.value_at])
        if not places:
            return None
        key = (id(self.fields), places)
        if key not in self._suffixed_of:
            self._suffixed_of[key] = tuple(
                suffixed_field(field) if place in places else field for place, field in enumerate(self.fields)
            )
        return self._suffixed_of[key]

    def knows_decimals(self) -> bool:
        """Return whether the decimals of all undocumented columns have been seen."""
        if self.header is not None and self.fields is self.header.fields:
            # There are none.
            return True
        return all(field.is_documented or field.key in self._state.decimals for field in self.fields)

    def learn_decimals(self, words: Words) -> None:
        """Learn the decimals of undocumented columns from their first row."""
        header = self.header
        assert header is not None
        decimals = self._state.decimals
        for at, field in zip(header.value_at, header.fields, strict=True):
            if not field.is_documented and field.key not in decimals:
                if len(decimals) >= MAX_COLUMNS:
                    decimals.clear()
                tail = words.words[at].rstrip("%").replace(",", ".").partition(".")[2]
                decimals[field.key] = min(len(tail), MAX_DECIMALS)
        self.fields = self._known_fields(header)

    def _split(self, text: str) -> tuple[HeaderLine | None, Mapping[str, str]]:
        """Return the parts of a line that may be a header, in English, and its columns that are printed otherwise."""
        return self._known.split(text)

    def _find(self, line: HeaderLine, group_line: str, printed: Mapping[str, str]) -> Header | None:
        key = (group_line, line.has_clock, line.words, tuple(printed.items()))
        if key not in self._found:
            self._found[key] = self._known.find(line, group_line, printed)
        return self._found[key]

    def _set(self, header: Header, line: HeaderLine, text: str) -> None:
        self.header = header
        self._state.header_line = text
        self._state.header_clock_s = line.clock.seconds if line.clock is not None else None
        self._state.name_line = ""
        # The text after the clock, by which a header is recognised.
        self._tail = text[text.index(line.words[0]) :].encode() if line.clock is not None else text.encode()
        # They are records, which take long to compare.
        if self._layout.tables[self.table] is not header.table:
            self.table = next(number for number, table in enumerate(self._layout.tables) if table is header.table)
        self.fields = self._known_fields(header)

    def _known_fields(self, header: Header) -> tuple[Field, ...]:
        # Tools with two tables switch between two headers in every report.
        is_documented = self._is_documented.get(id(header))
        if is_documented is None:
            is_documented = self._is_documented[id(header)] = all(field.is_documented for field in header.fields)
        if is_documented:
            return header.fields
        decimals = self._state.decimals
        seen = tuple(decimals.get(field.key, 0) for field in header.fields if not field.is_documented)
        key = (id(header), seen)
        if key not in self._fields_of:
            self._fields_of[key] = self._known.fields_of(header, seen)
        return self._fields_of[key]
