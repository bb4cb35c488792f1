"""CSV cells written by numpy: a matrix of bytes with one line per row, in which NUL marks unused bytes.

Every cell has the length of the longest in its column; shorter texts are padded with NULs, which are removed from the whole at the
end. Digits come from tables: a number is split into groups of four digits, and each group is one lookup in a table of texts.
Measured: about 10 ns a value, where `%` takes 150 and the database 50.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from normstat.samples.sample_pages import BoolArray, Float64Array, StoredArray, to_codes, to_floats, to_missing
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Storage

ByteMatrix = npt.NDArray[np.uint8]

NUL: Final = b"\0"
# A group of digits, and the offset of its text with leading zeros, for groups that follow others.
GROUP: Final = 10_000
MAX_DECIMALS: Final = 4
# Below this, a double identifies the decimal it was made from.
EXACT_LIMIT: Final = 2.0**52
# Bytes copied as one number.
WORDS: Final = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}
SECOND_US: Final = 1_000_000
DAY_S: Final = 86_400


def join(parts: Sequence[ByteMatrix | bytes], n_rows: int) -> bytes:
    """Return the text of all rows: the parts side by side, without the NULs. A part of plain bytes is the same in every row."""
    return _side_by_side(parts, n_rows).tobytes().translate(None, NUL)


def blank(parts: Sequence[ByteMatrix | bytes], rows: BoolArray) -> ByteMatrix:
    """Return the parts side by side, empty in these rows."""
    matrix = _side_by_side(parts, len(rows))
    matrix[rows] = 0
    return matrix


def _side_by_side(parts: Sequence[ByteMatrix | bytes], n_rows: int) -> ByteMatrix:
    # As fields of a record: numpy copies a field of eight bytes several times as fast as eight columns of one.
    widths = [len(part) if isinstance(part, bytes) else part.shape[1] for part in parts]
    types = [WORDS.get(width, f"V{width}") for width in widths]
    rows = np.empty(n_rows, dtype=[(f"p{number}", type_) for number, type_ in enumerate(types)])
    for number, (part, type_) in enumerate(zip(parts, types, strict=True)):
        column = np.frombuffer(part, dtype=np.uint8) if isinstance(part, bytes) else np.ascontiguousarray(part)
        rows[f"p{number}"] = column.view(type_).reshape(-1)
    return rows.view(np.uint8).reshape(n_rows, sum(widths))


def text_cells(texts: Sequence[bytes]) -> ByteMatrix:
    """Return a cell for each text. Shape: (n, longest)."""
    if not texts:
        return np.empty((0, 1), dtype=np.uint8)
    array = np.array(texts, dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(texts), -1)


def value_cells(field: Field, column: StoredArray, words: Mapping[int, bytes]) -> tuple[ByteMatrix, BoolArray | None]:
    """Return the canonical form of each value, or the word given for its row; and which values are missing: their cells are empty.

    Shape: (n, width), (n,). Missing: None where no value is missing.
    """
    missing = to_missing(column)
    is_missing = missing if missing.any() else None
    if is_missing is not None and is_missing.all():
        return np.zeros((len(column), 1), dtype=np.uint8), is_missing
    cells = _number_cells(field, column, is_missing)
    if is_missing is not None:
        cells[is_missing] = 0
    # A missing value stays an empty cell, whatever the tool's word for it was.
    shown = {row: word for row, word in words.items() if not missing[row]}
    return _replace(cells, shown), is_missing


def time_cells(time_us: Int64Array) -> list[ByteMatrix | bytes]:
    """Return ISO 8601 with Z, a comma, and seconds since the epoch; both with a fraction only if there is one."""
    seconds, fractions = np.divmod(time_us, SECOND_US)
    days, clocks = np.divmod(seconds, DAY_S)
    distinct, places = to_codes(days)
    dates = text_cells([str(day).encode() for day in distinct.astype("datetime64[D]")])
    fraction: list[ByteMatrix | bytes] = [_fraction_cells(fractions)] if fractions.any() else []
    return [dates[places], b"T", _bytes_of(_clock_table()[clocks]), *fraction, b"Z,", whole_cells(seconds), *fraction]


def whole_cells(numbers: npt.NDArray[np.signedinteger]) -> ByteMatrix:
    """Return integers without a decimal point."""
    return _scaled_cells(numbers, 0)


def _number_cells(field: Field, column: StoredArray, missing: BoolArray | None) -> ByteMatrix:
    if field.storage.is_whole or (field.storage is Storage.DEC4 and field.decimals <= MAX_DECIMALS):
        whole = cast("npt.NDArray[np.signedinteger]", column if missing is None else np.where(missing, 0, column))
        return _scaled_cells(whole, field.decimals if field.storage is Storage.DEC4 else 0)
    floats = to_floats(field, column)
    if field.decimals > MAX_DECIMALS:
        return text_cells(_print(floats, field.decimals))
    power = 10.0**field.decimals
    with np.errstate(over="ignore"):
        scaled = np.rint((floats if missing is None else np.where(missing, 0.0, floats)) * power)
    # Where the decimal with this many digits equals this double, these are the digits that printf would give.
    is_exact = (scaled / power == floats) & (np.abs(scaled) < EXACT_LIMIT) & ~((scaled == 0) & np.signbit(floats))
    if missing is not None:
        is_exact |= missing
    cells = _scaled_cells(np.where(is_exact, scaled, 0.0).astype(np.int64), field.decimals)
    if is_exact.all():
        return cells
    rows = np.flatnonzero(~is_exact)
    return _replace(cells, dict(zip(rows.tolist(), _print(floats[rows], field.decimals), strict=True)))


def _print(numbers: Float64Array, decimals: int) -> list[bytes]:
    """Return the texts of numbers outside the tables."""
    return [b"" if number != number else b"%.*f" % (decimals, number) for number in numbers.tolist()]  # noqa: PLR0124 (not a number)


def _scaled_cells(numbers: npt.NDArray[np.signedinteger], decimals: int) -> ByteMatrix:
    """Return the numbers with a point before the last `decimals` digits; the least number of the type does not occur."""
    negative = numbers < 0
    has_sign = bool(negative.any())
    rest = np.abs(numbers) if has_sign else numbers
    largest = int(rest.max(initial=0))
    parts: list[ByteMatrix] = []
    table: npt.NDArray[np.unsignedinteger] = _last_group_table(decimals)
    while True:
        if largest < GROUP:
            parts.append(_bytes_of(table[rest]))
            break
        above = rest // GROUP
        # Leading zeros if digits precede.
        parts.append(_bytes_of(table[rest - above * GROUP + GROUP * (above > 0)]))
        rest, largest, table = above, largest // GROUP, _group_table()
    if has_sign:
        parts.append(np.where(negative, ord("-"), 0).astype(np.uint8)[:, np.newaxis])
    return parts[0] if len(parts) == 1 else np.concatenate(parts[::-1], axis=1)


def _fraction_cells(fractions: Int64Array) -> ByteMatrix:
    """Return a point and up to six digits, without trailing zeros; empty where all are zero."""
    high, low = np.divmod(fractions, 1000)
    whole, stripped = _fraction_tables()
    point = np.where(fractions > 0, ord("."), 0).astype(np.uint8)[:, np.newaxis]
    return np.concatenate([point, _bytes_of(np.where(low > 0, whole[high], stripped[high])), _bytes_of(stripped[low])], axis=1)


def _replace(cells: ByteMatrix, words: Mapping[int, bytes]) -> ByteMatrix:
    """Return the cells with the texts of some rows replaced."""
    if not words:
        return cells
    width = max(cells.shape[1], *map(len, words.values()))
    wider = np.zeros((len(cells), width), dtype=np.uint8)
    wider[:, : cells.shape[1]] = cells
    for row, word in words.items():
        wider[row] = np.frombuffer(word.ljust(width, NUL), dtype=np.uint8)
    return wider


def _bytes_of(texts: npt.NDArray[np.unsignedinteger]) -> ByteMatrix:
    """Return texts of 4 or 8 bytes as rows of bytes."""
    return texts.view(np.uint8).reshape(len(texts), texts.dtype.itemsize)


@cache
def _last_group_table(decimals: int) -> npt.NDArray[np.uint64]:
    """Return, for two decimals: the texts of 0.00 to 99.99, and then of 00.00 to 99.99."""
    first = [f"{number / 10**decimals:.{decimals}f}" for number in range(GROUP)]
    later = [f"{number:04d}" for number in range(GROUP)]
    if decimals:
        later = [f"{text[:-decimals]}.{text[-decimals:]}" for text in later]
    return np.array([*first, *later], dtype="S8").view(np.uint64)


@cache
def _group_table() -> npt.NDArray[np.uint32]:
    """Return the texts of 0 to 9999, with 0 empty, and then of 0000 to 9999."""
    return np.array(["", *map(str, range(1, GROUP)), *(f"{number:04d}" for number in range(GROUP))], dtype="S4").view(np.uint32)


@cache
def _clock_table() -> npt.NDArray[np.uint64]:
    """Return the texts of 00:00:00 to 23:59:59."""
    texts = [f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}" for second in range(DAY_S)]
    return np.array(texts, dtype="S8").view(np.uint64)


@cache
def _fraction_tables() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the texts of 000 to 999, and the same without trailing zeros."""
    texts = [f"{number:03d}" for number in range(1000)]
    return np.array(texts, dtype="S4").view(np.uint32), np.array([text.rstrip("0") for text in texts], dtype="S4").view(np.uint32)
