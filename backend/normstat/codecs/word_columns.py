"""Text of reports in columns of words: lossless, a fifth smaller than zstd at its best makes it, in a fifth of the time.

    15:16:29     all    1.50   39.00      a class of lines: how many words, and which of them are numbers
    15:16:30       0    0.00   48.76      a column of a class: its words, and where they stand in the line

It knows nothing about the tool. Words of a column are stored as whole numbers of their last decimal if that gives their text back,
times as the number that their digits make, other words by their place in a list. The rows of a class are ordered by instance if
that makes the numbers smaller; its column comes first, in the order of the lines, so that the order itself needs no bytes.
Lines that few others resemble are stored as they are. Binary input is rejected.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import zstandard

from normstat.codecs.number_planes import Ints, PlaneReader, PlaneWriter
from normstat.errors import DamagedChunk

Bytes = npt.NDArray[np.uint8]

# Each column of a class costs some 0.2 ms; lines of classes beyond that, and of rare ones, are stored as they are.
MAX_COLUMNS: Final = 1000
MIN_ROWS: Final = 4
# A longer word is taken for several that follow each other without a space.
MAX_WORD_LENGTH: Final = 64
# Decimal digits that fit into 63 bits.
MAX_DIGITS: Final = 18
# Columns among which the instance is looked for.
MAX_KEYS: Final = 6
SPACE, NEWLINE, DOT, MINUS, ZERO, NINE = 32, 10, 46, 45, 48, 57
# How words of a column are stored.
CONSTANT, NUMBER, DIGITS, CODES, TEXT = range(5)
# How the place of a word in its line is stored: its end, its start, or the spaces before it.
BY_END, BY_START, BY_GAP = range(3)


@dataclass(slots=True)
class SplitText:
    """Lines and words of a text, by their places in it; `first_word` and `n_words` tell which words a line has."""

    text: Bytes
    starts: Ints
    ends: Ints
    word_starts: Ints
    word_ends: Ints
    first_word: Ints
    n_words: Ints


@dataclass(slots=True)
class WordColumn:
    """The words of a column: characters to the right, zeros before them; and how long they are."""

    chars: Bytes
    lengths: Ints


def pack_words(text: bytes) -> bytes | None:
    """Return the text in columns of words, compressed. Missing: None where it does not suit; nothing else is lost or changed."""
    lines = _split(text)
    if lines is None:
        return None
    found = _classify(lines)
    if found is None:
        return None
    classes, n_classes = found
    writer = PlaneWriter()
    writer.number(len(lines.starts))
    writer.ints(classes)
    is_plain = classes == n_classes
    n_after = lines.ends - lines.starts
    has_words = (lines.n_words > 0) & ~is_plain
    n_after[has_words] = (lines.ends - lines.word_ends[lines.first_word + lines.n_words - 1])[has_words]
    n_after[is_plain] = 0
    writer.ints(n_after)
    writer.number(n_classes)
    for number in range(n_classes):
        rows = np.flatnonzero(classes == number)
        writer.number(int(lines.n_words[rows[0]]))
        _pack_class(writer, lines, rows)
    writer.text(b"".join(text[start : end + 1] for start, end in zip(lines.starts[is_plain], lines.ends[is_plain], strict=True)))
    packed = writer.finish()
    # Packing verifies that nothing is lost: text that does not come back is stored as it is.
    return packed if unpack_words(packed, len(text)) == text else None


def unpack_words(body: bytes, n_bytes: int) -> bytes:
    """Return the text.

    Raises: DamagedChunk
    """
    try:
        return _unpack(PlaneReader(body), n_bytes)
    except (zstandard.ZstdError, ValueError, IndexError, OverflowError) as error:
        raise DamagedChunk(f"Raw bytes of a stream are damaged in the database: {error}") from error


def _split(text: bytes) -> SplitText | None:
    if not text.endswith(b"\n") or b"\0" in text:
        return None
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    is_space = (data == SPACE) | (data == NEWLINE)
    edges = np.diff(is_space.astype(np.int8), prepend=1)
    word_starts, word_ends = np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)
    if not len(word_starts):
        return None
    n_parts = -(-(word_ends - word_starts) // MAX_WORD_LENGTH)
    if int(n_parts.max()) > 1:
        part = np.arange(int(n_parts.sum())) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        word_starts, word_ends = np.repeat(word_starts, n_parts) + part * MAX_WORD_LENGTH, np.repeat(word_ends, n_parts)
        word_ends = np.minimum(word_ends, word_starts + MAX_WORD_LENGTH)
    first_word = np.searchsorted(word_starts, starts)
    n_words = np.diff(first_word, append=len(word_starts))
    return SplitText(data, starts, ends, word_starts, word_ends, first_word, n_words)


def _classify(lines: SplitText) -> tuple[Ints, int] | None:
    """Return the class of each line: alike are those with as many words, and numbers among them at the same places.

    Also the number of classes; lines that are stored as they are have that number.
    """
    first = lines.text[lines.word_starts]
    second = lines.text[np.minimum(lines.word_starts + 1, len(lines.text) - 1)]
    is_number = _is_digit(first) | ((first == MINUS) & _is_digit(second))
    place = np.arange(len(first)) - np.repeat(lines.first_word, lines.n_words)
    # A sum of odd numbers, one for each place. Two kinds of lines with the same sum would only compress worse.
    weight = (place.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    weight ^= weight >> np.uint64(29)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(np.where(is_number, weight, np.uint64(0)), dtype=np.uint64)])
    mark = sums[lines.first_word + lines.n_words] - sums[lines.first_word] + lines.n_words.astype(np.uint64)
    _, at, codes, counts = np.unique(mark, return_index=True, return_inverse=True, return_counts=True)
    n_words = lines.n_words[at]
    if (n_words[codes] != lines.n_words).any():
        return None
    is_kept = (counts >= MIN_ROWS) | (n_words == 0)
    # Those that most of the text is in.
    by_size = np.argsort(-counts * n_words, kind="stable")
    is_kept[by_size[np.cumsum(np.where(is_kept, n_words, 0)[by_size]) > MAX_COLUMNS]] = False
    # In the order in which they appear, the plain ones last.
    order = np.argsort(np.where(is_kept, at, len(lines.text)), kind="stable")
    rank = np.empty(len(at), np.int64)
    rank[order] = np.minimum(np.arange(len(at)), int(is_kept.sum()))
    return rank[codes], int(is_kept.sum())


def _pack_class(writer: PlaneWriter, lines: SplitText, rows: Ints) -> None:
    n_words = int(lines.n_words[rows[0]])
    if not n_words:
        return
    words = lines.first_word[rows][:, None] + np.arange(n_words)
    starts, ends = lines.word_starts[words], lines.word_ends[words]
    columns = [_column_of(lines.text, starts[:, number], ends[:, number]) for number in range(n_words)]
    numbers = [to_numbers(column.chars, column.lengths) for column in columns]
    key = _find_key(columns, numbers)
    writer.number(-1 if key is None else key)
    order: Ints | None = None
    if key is not None:
        _pack_words(writer, columns[key], numbers[key], may_be_codes=True)
        order = _order_by(columns[key])
    for number, column in enumerate(columns):
        if number == key:
            continue
        if order is None:
            _pack_words(writer, column, numbers[number])
            continue
        found = numbers[number]
        sorted_column = WordColumn(column.chars[order], column.lengths[order])
        _pack_words(writer, sorted_column, None if found is None else (found[0][order], found[1]))
    _pack_places(writer, starts - lines.starts[rows][:, None], ends - lines.starts[rows][:, None], order)


def _pack_places(writer: PlaneWriter, starts: Ints, ends: Ints, order: Ints | None) -> None:
    for number in range(starts.shape[1]):
        before = ends[:, number - 1] if number else np.zeros(len(starts), np.int64)
        choices = [ends[:, number], starts[:, number], starts[:, number] - before]
        if order is not None:
            choices = [choice[order] for choice in choices]
        n_changes = [int(np.count_nonzero(np.diff(choice))) for choice in choices]
        best = n_changes.index(min(n_changes))
        writer.number(best)
        writer.ints(choices[best])


def _pack_words(writer: PlaneWriter, column: WordColumn, found: tuple[Ints, int] | None, *, may_be_codes: bool = False) -> None:
    chars = column.chars
    if not (chars != chars[0]).any():
        writer.number(CONSTANT)
        writer.text(chars[0][chars[0] != 0].tobytes())
        return
    distinct, codes = _distinct(chars)
    if found is not None and not (may_be_codes and _is_smaller(codes, found[0])):
        writer.number(NUMBER)
        writer.number(found[1])
        writer.ints(found[0])
        return
    digits = to_digits(chars, column.lengths)
    if digits is not None and not may_be_codes:
        writer.number(DIGITS)
        writer.text(np.where(_is_digit(chars[0]), ZERO, chars[0]).astype(np.uint8).tobytes())
        writer.ints(digits)
        return
    table = [row[row != 0].tobytes() for row in distinct]
    if len(table) * 2 <= len(chars) or may_be_codes:
        writer.number(CODES)
        writer.text(b"\n".join(table))
        writer.ints(codes)
        return
    writer.number(TEXT)
    writer.text(b"\n".join(row[row != 0].tobytes() for row in chars))


def _is_smaller(one: Ints, other: Ints) -> bool:
    sizes = []
    for values in (one, other):
        trial = PlaneWriter()
        trial.ints(values)
        sizes.append(len(trial.finish()))
    return sizes[0] < sizes[1]


def _find_key(columns: list[WordColumn], numbers: list[tuple[Ints, int] | None]) -> int | None:
    """Return the column by which the rows are ordered. Missing: None where that makes nothing smaller."""
    n_rows = len(columns[0].chars)
    values = [found[0] for found in numbers if found is not None and (found[0] != found[0][0]).any()]
    if n_rows < 16 or not values:
        return None
    matrix = np.stack(values).astype(np.float64)
    best, least = None, 0.9 * _cost(matrix)
    n_tried = 0
    for number in [len(columns) - 1, *range(len(columns) - 1)]:
        order = _order_by(columns[number], max_distinct=n_rows // 3)
        if order is None:
            continue
        cost = _cost(matrix[:, order])
        if cost < least:
            best, least = number, cost
        n_tried += 1
        if n_tried == MAX_KEYS:
            break
    return best


def _cost(matrix: npt.NDArray[np.float64]) -> float:
    """Return about how many bits the differences take."""
    return float(np.log2(np.abs(np.diff(matrix, axis=1)) + 1).sum())


def _order_by(column: WordColumn, max_distinct: int | None = None) -> Ints | None:
    """Return the order of the rows by their words, then as they came."""
    distinct, codes = _distinct(column.chars)
    if max_distinct is not None and not 2 <= len(distinct) <= max_distinct:
        return None
    return np.argsort(codes, kind="stable")


def _distinct(chars: Bytes) -> tuple[Bytes, Ints]:
    """Return the different rows, and the number of each row among them."""
    keys = np.ascontiguousarray(chars).view(np.dtype((np.void, chars.shape[1]))).ravel()
    _, at, codes = np.unique(keys, return_index=True, return_inverse=True)
    return chars[at], codes.astype(np.int64)


def _column_of(text: Bytes, starts: Ints, ends: Ints) -> WordColumn:
    lengths = ends - starts
    places = ends[:, None] - np.arange(int(lengths.max()), 0, -1)
    chars = text[np.maximum(places, 0)]
    chars[places < starts[:, None]] = 0
    return WordColumn(chars, lengths)


def to_numbers(chars: Bytes, lengths: Ints) -> tuple[Ints, int] | None:
    """Return words as whole numbers of their last decimal, and the number of decimals. Missing: None where the numbers would not
    give all words back.
    """
    width = chars.shape[1]
    is_dot = chars == DOT
    dots = np.flatnonzero(is_dot.any(axis=0))
    if len(dots) > 1 or (len(dots) == 1 and not is_dot[:, dots[0]].all()):
        return None
    decimals = width - 1 - int(dots[0]) if len(dots) else 0
    if len(dots) and not decimals:
        return None
    first = chars[np.arange(len(chars)), width - lengths]
    is_negative = first == MINUS
    digits = np.delete(chars, dots, axis=1)
    digits = np.where((digits == MINUS) & is_negative[:, None], 0, digits)
    is_digit = _is_digit(digits)
    if digits.shape[1] > MAX_DIGITS + 1 or ((digits != 0) & ~is_digit).any():
        return None
    n_digits = is_digit.sum(axis=1)
    n_whole = n_digits - decimals
    if (n_whole < 1).any() or (n_digits > MAX_DIGITS).any() or (n_digits + is_negative + len(dots) != lengths).any():
        return None
    first_digit = np.where(is_negative, chars[np.arange(len(chars)), np.minimum(width - lengths + 1, width - 1)], first)
    if ((first_digit == ZERO) & (n_whole > 1)).any():
        return None
    values = _read_digits(digits, is_digit)
    if (is_negative & (values == 0)).any():
        return None
    return np.where(is_negative, -values, values), decimals


def to_digits(chars: Bytes, lengths: Ints) -> Ints | None:
    """Return the digits of words that differ in nothing else, as one number each: times, dates. Missing: None for other words."""
    if (lengths != chars.shape[1]).any():
        return None
    is_digit = _is_digit(chars)
    if (is_digit != is_digit[0]).any() or not 0 < int(is_digit[0].sum()) <= MAX_DIGITS:
        return None
    if (chars[:, ~is_digit[0]] != chars[0, ~is_digit[0]]).any():
        return None
    return _read_digits(chars[:, is_digit[0]], np.ones((len(chars), int(is_digit[0].sum())), np.bool_))


def _read_digits(digits: Bytes, is_digit: npt.NDArray[np.bool_]) -> Ints:
    values = np.zeros(len(digits), np.int64)
    for place in range(digits.shape[1]):
        values = values * 10 + np.where(is_digit[:, place], digits[:, place].astype(np.int64) - ZERO, 0)
    return values


def _is_digit(chars: Bytes) -> npt.NDArray[np.bool_]:
    return (chars >= ZERO) & (chars <= NINE)


def _unpack(reader: PlaneReader, n_bytes: int) -> bytes:
    n_lines = reader.number()
    if not 0 < n_lines <= n_bytes:
        raise ValueError(f"{n_lines} lines in {n_bytes} bytes")
    classes, lengths = reader.ints(n_lines), reader.ints(n_lines) + 1
    found: list[tuple[Ints, list[WordColumn], Ints]] = []
    n_classes = reader.number()
    for number in range(n_classes):
        rows = np.flatnonzero(classes == number)
        n_words = reader.number()
        if not n_words:
            continue
        columns, starts = _unpack_class(reader, len(rows), n_words)
        lengths[rows] += starts[:, -1] + columns[-1].lengths
        found.append((rows, columns, starts))
    plain = np.frombuffer(reader.text(), np.uint8)
    plain_ends = np.flatnonzero(plain == NEWLINE) + 1
    is_plain = classes == n_classes
    lengths[is_plain] = np.diff(plain_ends, prepend=0)
    if int(lengths.sum()) != n_bytes or (lengths < 1).any():
        raise ValueError(f"{int(lengths.sum())} bytes instead of {n_bytes}")
    text = np.full(n_bytes, SPACE, np.uint8)
    ends = np.cumsum(lengths)
    text[ends - 1] = NEWLINE
    for rows, columns, starts in found:
        begin = (ends - lengths)[rows]
        for number, column in enumerate(columns):
            width = column.chars.shape[1]
            places = (begin + starts[:, number] + column.lengths)[:, None] - np.arange(width, 0, -1)
            is_there = column.chars != 0
            text[places[is_there]] = column.chars[is_there]
    starts = ends[is_plain] - lengths[is_plain]
    text[np.arange(len(plain)) + np.repeat(starts - (plain_ends - lengths[is_plain]), lengths[is_plain])] = plain
    return text.tobytes()


def _unpack_class(reader: PlaneReader, n_rows: int, n_words: int) -> tuple[list[WordColumn], Ints]:
    key = reader.number()
    back: Ints | None = None
    columns: list[WordColumn | None] = [None] * n_words
    if key >= 0:
        columns[key] = column = _unpack_column(reader, n_rows)
        order = _order_by(column)
        assert order is not None
        back = np.empty(n_rows, np.int64)
        back[order] = np.arange(n_rows)
    for number in range(n_words):
        if number != key:
            column = _unpack_column(reader, n_rows)
            columns[number] = column if back is None else WordColumn(column.chars[back], column.lengths[back])
    known = [column for column in columns if column is not None]
    starts = np.empty((n_rows, n_words), np.int64)
    end = np.zeros(n_rows, np.int64)
    for number, column in enumerate(known):
        kind = reader.number()
        place = reader.ints(n_rows)
        if back is not None:
            place = place[back]
        starts[:, number] = place - column.lengths if kind == BY_END else place if kind == BY_START else end + place
        if (starts[:, number] < end).any():
            raise ValueError("a word stands on another")
        end = starts[:, number] + column.lengths
    return known, starts


def _unpack_column(reader: PlaneReader, n_rows: int) -> WordColumn:
    kind = reader.number()
    if kind == CONSTANT:
        return _to_column([reader.text()], np.zeros(n_rows, np.int64))
    if kind == NUMBER:
        decimals = reader.number()
        return from_numbers(reader.ints(n_rows), decimals)
    if kind == DIGITS:
        form = np.frombuffer(reader.text(), np.uint8)
        return _from_digits(reader.ints(n_rows), form)
    words = reader.text().split(b"\n")
    return _to_column(words, reader.ints(n_rows) if kind == CODES else np.arange(n_rows))


def _to_column(words: list[bytes], codes: Ints) -> WordColumn:
    width = max(map(len, words))
    table = np.frombuffer(b"".join(word.rjust(width, b"\0") for word in words), np.uint8).reshape(len(words), width)
    return WordColumn(table[codes], np.array([len(word) for word in words], np.int64)[codes])


def from_numbers(values: Ints, decimals: int) -> WordColumn:
    """Return the words of whole numbers of their last decimal."""
    is_negative = values < 0
    rest = np.abs(values)
    places: list[Bytes] = []
    while len(places) < decimals + 1 or rest.any():
        is_there = (rest > 0) | (len(places) <= decimals)
        places.append(np.where(is_there, rest % 10 + ZERO, 0).astype(np.uint8))
        rest = rest // 10
    n_digits = sum((place != 0).astype(np.int64) for place in places)
    if decimals:
        places.insert(decimals, np.full(len(values), DOT, np.uint8))
    lengths = n_digits + bool(decimals)
    places.append(np.zeros(len(values), np.uint8))
    chars = np.stack(places[::-1], axis=1)
    chars[np.flatnonzero(is_negative), (chars.shape[1] - 1 - lengths)[is_negative]] = MINUS
    lengths = lengths + is_negative
    return WordColumn(np.ascontiguousarray(chars[:, chars.shape[1] - int(lengths.max()) :]), lengths)


def _from_digits(values: Ints, form: Bytes) -> WordColumn:
    chars = np.tile(form, (len(values), 1))
    rest = values
    for place in np.flatnonzero(_is_digit(form))[::-1]:
        chars[:, place] = rest % 10 + ZERO
        rest = rest // 10
    return WordColumn(chars, np.full(len(values), len(form), np.int64))
