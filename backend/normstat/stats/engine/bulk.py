"""Read many lines at once: find the plain rows of a header, and their values.

A plain row is one that normstat.stats.engine.row would read as canonical, with a number in every column: one of those that the
layout calls missing is no value. It reads everything else.
The work is done on arrays over all words of a piece of text. The last eight characters of a word are one number of 64 bits, and
what is done to it is done to all of them at once: three multiplications make its value of eight digits. Longer words are summed up
character by character. Nothing here knows about reports, runs or stamps.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.stats.engine.column_layout import TimeStyle
from normstat.stats.engine.header import ColumnRole, Header
from normstat.stats.engine.number_formats import EXACT_LIMIT, read_number
from normstat.stats.engine.row import join_instance
from normstat.stats.engine.times.timestamps import ClockWords, clock_of_word, day_seconds, parse_date
from normstat.stats.records import Int64Array, RowNames, ValueArray
from normstat.stats.spec import Field

BoolArray = npt.NDArray[np.bool_]
# Numbers with more digits are left to the careful path: they would overflow the sums made here.
MAX_DIGITS: Final = 15
# Longer words are no clocks, whatever the locale.
MAX_CLOCK_BYTES: Final = 64
MINUS: Final = ord("-")
DOT: Final = ord(".")
ZERO: Final = ord("0")
COLON: Final = ord(":")
WORD_BYTES: Final = 8
# "00000000" as a number, and what shows that a byte is beyond 9 once it was taken off.
ZEROS: Final = np.uint64(0x3030303030303030)
BEYOND_NINE: Final = np.uint64(0x7676767676767676)
TOP_BITS: Final = np.uint64(0x8080808080808080)
# Values processed at once, so that their arrays stay in the processor's cache.
BLOCK_VALUES: Final = 65_536
# Arrays are not worth it for fewer.
FEW_WORDS: Final = 300
# Names, such as those of CPUs, come again in each report. Multiplied by this number the upper bits of words tell them apart, nearly
# always, as the places of a table: looking at it takes a tenth of sorting.
HASH_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT: Final = np.uint64(64 - 15)
HASH_PLACES: Final = 1 << 15
BLANK, TEXT, CONTROL = 0, 1, 2
# Classes of bytes. A carriage return is a blank: texts in which it occurs anywhere but before a newline never get here.
CLASSES: Final = bytes(BLANK if byte in b" \t\n\r" else CONTROL if byte < 32 or byte == 127 else TEXT for byte in range(256))


class LineIndex:
    """Where the lines and words of a text are. The text ends with a newline.

    Shape: line_start, line_end, first_word, n_words (n_lines,); word_start, word_end (n_words,), ends after the last byte.
    """

    def __init__(self, data: bytes, line_limit: int) -> None:
        self.data = data
        # Eight bytes before the text, and up to sixteen after it, so that any eight that end in the text lie in two numbers.
        padded = np.zeros(WORD_BYTES * (len(data) // WORD_BYTES + 3), dtype=np.uint8)
        self.bytes = padded[WORD_BYTES : WORD_BYTES + len(data)]
        self.bytes[:] = np.frombuffer(data, dtype=np.uint8)
        self._eights = padded.view("<u8")
        newline = np.flatnonzero(self.bytes == 10)
        self.line_end = newline
        self.line_start = np.concatenate([[0], newline[:-1] + 1])
        self.n_lines = len(newline)
        classes = np.frombuffer(data.translate(CLASSES), dtype=np.uint8)
        is_word = np.zeros(len(data) + 1, dtype=np.bool_)
        np.not_equal(classes, BLANK, out=is_word[1:])
        # The text ends with a newline, so that starts and ends alternate.
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        self.word_start = edges[0::2]
        self.word_end = edges[1::2]
        self.first_word = np.searchsorted(self.word_start, self.line_start)
        self.n_words = np.diff(self.first_word, append=len(self.word_start))
        self.is_odd = self.line_end - self.line_start >= line_limit
        if (classes == CONTROL).any():
            self.is_odd[np.searchsorted(self.line_end, np.flatnonzero(classes == CONTROL))] = True
        # A line that another program stamped ("2026-11-21 12:00:01.5<tab>...") is not as plain as it may look.
        at = np.minimum(self.line_start + 4, len(data) - 1)
        self.is_odd |= self.bytes[at] == MINUS

    def mark_odd(self, pattern: re.Pattern[bytes]) -> None:
        """Mark the lines that the pattern finds: each of them is read alone."""
        found = [match.start() for match in pattern.finditer(self.data)]
        self.is_odd[np.searchsorted(self.line_end, found)] = True

    def last_bytes(self, ends: Int64Array) -> npt.NDArray[np.uint64]:
        """Return the eight bytes before each of these places, the last one highest. Shape: that of `ends`."""
        # With the bytes before the text, they begin as far into the numbers as they end in the text.
        at = ends >> 3
        shift = ((ends & 7) << 3).astype(np.uint64)
        # A shift by 64 does not clear a number: two do.
        found: npt.NDArray[np.uint64] = self._eights[at] >> shift
        found |= (self._eights[at + 1] << np.uint64(1)) << (np.uint64(63) - shift)
        return found

    def words(self, places: Int64Array) -> list[bytes]:
        """Return the words with these numbers."""
        data = self.data
        return [
            data[start:end] for start, end in zip(self.word_start[places].tolist(), self.word_end[places].tolist(), strict=True)
        ]

    def distinct(self, places: Int64Array) -> tuple[list[bytes], Int64Array]:
        """Return the different words among those with these numbers, and for each number which of them it is. Shape: (n,)."""
        start = self.word_start[places]
        n_bytes = self.word_end[places] - start
        longest = int(n_bytes.max(initial=0))
        if longest > WORD_BYTES or len(places) < FEW_WORDS:
            known: dict[bytes, int] = {}
            numbers = [known.setdefault(word, len(known)) for word in self.words(places)]
            return list(known), np.array(numbers, np.int64)
        # Short words are numbers of eight bytes; no word has a zero in it.
        keys = self.last_bytes(start + n_bytes) >> ((WORD_BYTES - n_bytes) << 3).astype(np.uint64)
        found, codes = _number_keys(keys)
        return [int(key).to_bytes(WORD_BYTES, "little").rstrip(b"\0") for key in found], codes


def _number_keys(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Int64Array]:
    """Return the different keys, and for each key which of them it is. Shape: keys, codes (n,)."""
    # Equal clocks come in runs.
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    heads = keys[first]
    place = ((heads * HASH_FACTOR) >> HASH_SHIFT).astype(np.intp)
    table = np.zeros(HASH_PLACES, np.uint64)
    table[place] = heads
    if (table[place] == heads).all():
        taken = np.flatnonzero(table)
        number = np.zeros(HASH_PLACES, np.int64)
        number[taken] = np.arange(len(taken))
        found, codes = table[taken], number[place]
    else:
        found, codes = np.unique(heads, return_inverse=True)
    return found, codes if len(first) == len(keys) else np.repeat(codes, np.diff(first, append=len(keys)))


@dataclass(slots=True)
class PlainRows:
    """The plain rows of one header in a text.

    Shape: `number` (n_lines,) is a row's number, or -1 for a line that is no plain row; `line` (n_rows,); values[i] (n_rows,) for
    the i-th field, missing[i] (n_rows,) where it has no value, None if it always has one;
    `instances` n_rows names; `moments` (n_rows,) times after the row. `clocks` are the leading times, one for all rows from that of
    `clock_rows` on to the next, None where rows have none.
    `next_other[k]` is the first line at or after line k that is no plain row. No whole number is farther from 0 than `bound`.
    Units: moments in seconds since the epoch by the clock on the wall.
    """

    number: Int64Array
    line: Int64Array
    values: list[ValueArray]
    instances: RowNames
    clocks: list[ClockWords] | None
    clock_rows: list[int]
    moments: Int64Array | None
    next_other: Int64Array
    missing: list[BoolArray | None]
    bound: int

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return any(mask is not None for mask in self.missing)


def find_plain_rows(index: LineIndex, header: Header, fields: tuple[Field, ...]) -> PlainRows | None:
    """Return the plain rows of a header. Missing: None when the bulk path does not support the header."""
    has_zone_in_row = header.has_trailing_time and not header.zone_name
    if not header.value_at or len(fields) != len(header.value_at) or has_zone_in_row:
        return None
    n_lead = 1 if header.has_clock and header.table.time is TimeStyle.LEADING else 0
    n_words = n_lead + len(header.words) + (2 if header.has_trailing_time else 0)
    fits = index.n_words >= n_words if header.has_last_text else index.n_words == n_words
    line = np.flatnonzero(fits & ~index.is_odd)
    rows = _Rows(index, line, index.first_word[line], n_lead)
    values = rows.take_values(header, fields)
    missing = [_take_missing(column, field, header.table.missing) for column, field in zip(values, fields, strict=True)]
    clocks = rows.take_clocks() if n_lead else None
    moments = rows.take_moments(header) if header.has_trailing_time else None
    is_plain = rows.is_plain
    line = line[is_plain]
    found, clock_rows = _runs_of(*clocks, is_plain) if clocks is not None else (None, [])
    values = [column[is_plain] for column in values]
    whole = [column for column, field in zip(values, fields, strict=True) if field.storage.is_whole]
    number = np.full(index.n_lines, -1, dtype=np.int64)
    number[line] = np.arange(len(line))
    others = np.append(np.flatnonzero(number < 0), index.n_lines)
    return PlainRows(
        number=number,
        line=line,
        values=values,
        instances=rows.take_instances(header),
        clocks=found,
        clock_rows=clock_rows,
        moments=None if moments is None else moments[is_plain],
        next_other=others[np.searchsorted(others, np.arange(index.n_lines))],
        missing=[None if mask is None else mask[is_plain] for mask in missing],
        bound=int(np.abs(np.stack(whole)).max(initial=0)) if whole else 0,
    )


def _runs_of(clocks: list[ClockWords | None], codes: Int64Array, is_plain: BoolArray) -> tuple[list[ClockWords], list[int]]:
    """Return the clocks of the plain rows, each as often as it begins a run of equal ones, and where these runs begin."""
    own = codes[is_plain]
    first = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])) if len(own) else np.empty(0, np.intp)
    found = [clocks[code] for code in own[first].tolist()]
    return [clock for clock in found if clock is not None], first.tolist()


def _take_missing(values: ValueArray, field: Field, words: frozenset[str]) -> BoolArray | None:
    """Return where a column has a number that means "no value", after setting it to 0. Missing: None without such a number.

    Shape: values (n_rows,) -> (n_rows,)
    """
    numbers = [number[0] for word in words if (number := read_number(word, field)) is not None and number[1]]
    if not numbers:
        return None
    mask: BoolArray = np.isin(values, numbers)
    if not mask.any():
        return None
    values[mask] = 0
    return mask


class _Rows:
    """Lines with the right number of words; each step rules out some that are not plain."""

    def __init__(self, index: LineIndex, line: Int64Array, first_word: Int64Array, n_lead: int) -> None:
        self._index = index
        self._line = line
        self._first = first_word
        self._n_lead = n_lead
        self.is_plain: BoolArray = np.ones(len(line), dtype=np.bool_)

    def take_values(self, header: Header, fields: tuple[Field, ...]) -> list[ValueArray]:
        """Return the values of all fields; rows with a word that is not canonical are plain no more."""
        values: list[ValueArray] = [np.empty(0)] * len(fields)
        kinds = [(field.decimals, field.storage.is_whole) for field in fields]
        for kind in dict.fromkeys(kinds):
            numbers = [number for number, own in enumerate(kinds) if own == kind]
            columns = np.array([header.value_at[number] for number in numbers])
            places = self._first[:, None] + (self._n_lead + columns)[None, :]
            limits = None if kind[1] else np.array([EXACT_LIMIT[fields[number].storage] for number in numbers])
            found = self._numbers(places, kind[0], limits)
            for place, number in enumerate(numbers):
                values[number] = found[:, place]
        return values

    def _numbers(self, places: Int64Array, decimals: int, limits: Int64Array | None) -> ValueArray:
        """Return the numbers that words are; whole ones without `limits`, else those that decimals without their point stay below.

        Shape: places (n_rows, n_columns), limits (n_columns,) -> (n_rows, n_columns)
        """
        n_rows, n_columns = places.shape
        numbers: ValueArray = np.empty(places.shape, np.int64) if limits is None else np.empty(places.shape, np.float64)
        step = max(1, BLOCK_VALUES // max(1, n_columns))
        for begin in range(0, n_rows, step):
            own = slice(begin, begin + step)
            total, is_good = self._read_block(places[own], decimals)
            if limits is not None:
                is_good &= np.abs(total) < limits
            self.is_plain[own] &= is_good.all(axis=1)
            numbers[own] = total if limits is None else total / 10.0**decimals
        return numbers

    def _read_block(self, places: Int64Array, decimals: int) -> tuple[Int64Array, BoolArray]:
        """Return the numbers of words, without their points, and which words are canonical numbers.

        Shape: (n_rows, n_columns)
        """
        raw = self._index.bytes
        end = self._index.word_end[places]
        start = self._index.word_start[places]
        first = raw[start]
        is_negative = first == MINUS
        has_negative = bool(is_negative.any())
        if has_negative:
            start = start + is_negative
            first = raw.take(start, mode="clip")
        n_bytes = end - start
        n_whole = n_bytes - (decimals + 1 if decimals else 0)
        # A zero in front is canonical only where it is the whole part.
        is_good = (n_whole >= 1) & ((first != ZERO) | (n_whole == 1))
        if decimals >= MAX_DIGITS:
            return np.zeros(end.shape, np.int64), np.zeros(end.shape, np.bool_)
        if decimals > WORD_BYTES - 2:
            # The point is not within eight characters.
            total, is_good = self._sum_characters(end, n_whole, decimals, is_good)
        else:
            is_long = n_bytes > WORD_BYTES
            total = self._sum_eight(end, n_bytes, decimals, is_good)
            if is_long.any():
                total[is_long], is_good[is_long] = self._sum_characters(end[is_long], n_whole[is_long], decimals, is_good[is_long])
        if has_negative:
            is_good &= ~(is_negative & (total == 0))
            total = np.where(is_negative, -total, total)
        return total, is_good

    def _sum_eight(self, end: Int64Array, n_bytes: Int64Array, decimals: int, is_good: BoolArray) -> Int64Array:
        """Return the numbers of words of up to eight characters; words that are not numbers are no longer good.

        Shape: that of `end`
        """
        found = self._index.last_bytes(end)
        if decimals:
            is_good &= ((found >> np.uint64(8 * (7 - decimals))) & np.uint64(255)) == DOT
            # The digits before the point move up to those after it.
            before = np.uint64((1 << 8 * (7 - decimals)) - 1)
            after = np.uint64(((1 << 8 * decimals) - 1) << 8 * (8 - decimals))
            found = (found & after) | ((found & before) << np.uint64(8))
            n_bytes = n_bytes - 1
        # The bytes before the word become zeros, too. A shift by 64 or more is undefined: such a word is not good, or long.
        unused = (np.clip(WORD_BYTES - n_bytes, 0, WORD_BYTES - 1) << 3).astype(np.uint64)
        found = ((found ^ ZEROS) >> unused) << unused
        is_good &= (((found + BEYOND_NINE) | found) & TOP_BITS) == 0
        found = (found * np.uint64(10) + (found >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
        found = (found * np.uint64(100) + (found >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
        found = (found * np.uint64(10_000) + (found >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
        return found.astype(np.int64)

    def _sum_characters(
        self, end: Int64Array, n_whole: Int64Array, decimals: int, is_good: BoolArray
    ) -> tuple[Int64Array, BoolArray]:
        """Return the numbers of words of any length, and which of them are numbers. Shape: (n,)."""
        raw = self._index.bytes
        is_good = is_good & (n_whole <= MAX_DIGITS - decimals)
        tail = decimals + 1 if decimals else 0
        total = np.zeros(end.shape, dtype=np.int64)
        if decimals:
            is_good &= raw.take(end - tail, mode="clip") == DOT
            for place in range(decimals):
                digit = raw.take(end - 1 - place, mode="clip") - ZERO
                is_good &= digit < 10
                total += digit * np.int64(10**place)
        longest = int(n_whole[is_good].max(initial=0))
        last = end - 1 - tail
        for place in range(longest):
            digit = raw.take(last - place, mode="clip") - ZERO
            is_there = place < n_whole
            is_good &= (digit < 10) | ~is_there
            total += np.where(is_there, digit, 0) * np.int64(10 ** (place + decimals))
        return total, is_good

    def take_clocks(self) -> tuple[list[ClockWords | None], Int64Array]:
        """Return the times that rows begin with, and which of them each has; rows that begin with none, or with one of two words,
        are plain no more.
        """
        words, codes = self._index.distinct(self._first)
        clocks = [clock_of_word(word) if len(word) <= MAX_CLOCK_BYTES else None for word in words]
        self.is_plain &= np.array([clock is not None for clock in clocks], dtype=np.bool_)[codes]
        return clocks, codes

    def take_moments(self, header: Header) -> Int64Array:
        """Return date and clock after each row (2026-11-21 12:00:01); rows without them are no longer plain."""
        date_at = self._first + self._n_lead + len(header.words)
        known: dict[bytes, int | None] = {}
        days = []
        for word in self._index.words(date_at):
            if word not in known:
                day = parse_date(word.decode("utf-8", "backslashreplace")) if len(word) == 10 else None
                known[word] = None if day is None else day_seconds(day)
            days.append(known[word])
        self.is_plain &= np.fromiter((day is not None for day in days), dtype=np.bool_, count=len(days))
        day_s = np.fromiter((day or 0 for day in days), dtype=np.int64, count=len(days))
        return day_s + self._clocks(date_at + 1)

    def _clocks(self, places: Int64Array) -> Int64Array:
        """Return seconds of the day of words like 12:00:01."""
        raw = self._index.bytes
        start = self._index.word_start[places]
        is_good = self._index.word_end[places] - start == 8
        digits = [raw.take(start + at, mode="clip").astype(np.int64) - ZERO for at in (0, 1, 3, 4, 6, 7)]
        for digit in digits:
            is_good &= (digit >= 0) & (digit <= 9)
        for at in (2, 5):
            is_good &= raw.take(start + at, mode="clip") == COLON
        hours, minutes, seconds = (digits[at] * 10 + digits[at + 1] for at in (0, 2, 4))
        is_good &= (hours <= 23) & (minutes <= 59) & (seconds <= 60)
        self.is_plain &= is_good
        clocks: Int64Array = hours * 3600 + minutes * 60 + seconds
        return clocks

    def take_instances(self, header: Header) -> RowNames:
        """Return the names of the plain rows; the last step, because it takes the plain ones alone."""
        first = self._first[self.is_plain]
        if not header.instance_at or header.title:
            return RowNames([header.title], np.zeros(len(first), np.int64))
        columns = [self._names(first, header, at) for at in header.instance_at]
        names, codes = columns[0]
        parts = [[name] for name in names]
        for more, own in columns[1:]:
            # The combinations that occur, which are few.
            found, codes = np.unique(codes * len(more) + own, return_inverse=True)
            parts = [[*parts[pair // len(more)], more[pair % len(more)]] for pair in found.tolist()]
        return RowNames.merge([join_instance(part) for part in parts], codes)

    def _names(self, first: Int64Array, header: Header, at: int) -> tuple[list[str], Int64Array]:
        """Return the different texts of a column of names, and which of them each row has."""
        places = first + self._n_lead + at
        if not header.has_last_text or at != len(header.words) - 1 or header.roles[at] is ColumnRole.VALUE:
            distinct, codes = self._index.distinct(places)
            return [word.decode("utf-8", "backslashreplace") for word in distinct], codes
        # The last column goes to the last word of its line.
        line = self._line[self.is_plain]
        last = self._index.first_word[line] + self._index.n_words[line] - 1
        bounds = zip(self._index.word_start[places].tolist(), self._index.word_end[last].tolist(), strict=True)
        known: dict[bytes, int] = {}
        numbers = [known.setdefault(self._index.data[start:end], len(known)) for start, end in bounds]
        return [word.decode("utf-8", "backslashreplace") for word in known], np.array(numbers, np.int64)
