"""The packed form of a block of samples: all rows of one stat of one host in a span of time. No database, no clock.

A block has a head, which is a directory, and a body of parts, so that a few fields of a few instances are read without the others.

    rows     instances; times of the reports; rows of each report; the instance of each row, in the order of time
    lines    streams and, of each row, its stream and line offset; words that columns cannot reproduce
    values   for each field the values of a group of instances, one instance after the other; as whole numbers where they are such

Numbers come back bit by bit. Whole numbers are packed by pcodec, which models their distribution and takes differences where that
pays; repeated patterns, such as the order of CPUs in a report, by zstd.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice, pairwise
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import zstandard

from normstat.codecs.packed_numbers import (
    EXACT,
    NumberArray,
    compress,
    pack_integers,
    pack_numbers,
    unpack_integers,
    unpack_numbers,
)
from normstat.runtime.arrays import distinct_values
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.stats.records import Int64Array
from normstat.stats.spec import Storage

VERSION: Final = 1
# Minimum rows of a group of instances: smaller ones pack worse, and a larger one is read whole for one instance.
ROWS_PER_GROUP: Final = 4000
# Kinds of a column's values in a group.
CONSTANT, WHOLE, SCALED, FLOAT = range(4)
# Added to the kind where some values are missing.
HAS_MISSING: Final = 16
NUMPY_TYPES: Final[Mapping[Storage, type[np.generic]]] = {
    Storage.INT4: np.int32,
    Storage.INT8: np.int64,
    Storage.DEC4: np.int32,
    Storage.FLOAT4: np.float32,
    Storage.FLOAT8: np.float64,
}

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SealedField:
    """A field of a block, with the type and the decimals that its column had when the block was made."""

    key: str
    storage: Storage
    decimals: int


@dataclass(frozen=True, slots=True)
class SealedRows:
    """Rows of one stat of one host.

    Shape: time_us, instance_id, stream_id, line_offset (n,) int64; each of `columns` (n,), by key.
    Missing: the least number of an integer column, NaN in a floating one. `printed`: row -> its words as printed.
    """

    time_us: Int64Array
    instance_id: Int64Array
    stream_id: Int64Array
    line_offset: Int64Array
    fields: Sequence[SealedField]
    columns: Mapping[str, NumberArray]
    printed: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time_us)

    def take(self, rows: npt.NDArray[np.intp] | BoolArray) -> "SealedRows":
        """Return these rows, in this order."""
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        at = {row: place for place, row in enumerate(numbers.tolist()) if row in self.printed} if self.printed else {}
        return SealedRows(
            self.time_us[numbers],
            self.instance_id[numbers],
            self.stream_id[numbers],
            self.line_offset[numbers],
            self.fields,
            {key: column[numbers] for key, column in self.columns.items()},
            {place: self.printed[row] for row, place in at.items()},
        )

    def in_order(self) -> "SealedRows":
        """Return the rows by time, stream, line and instance, which is the order of a block."""
        return self.take(np.lexsort((self.instance_id, self.line_offset, self.stream_id, self.time_us)))


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a body: [start, end), with their CRC-32. Missing: None of a run of several parts, which is read at once"""

    start: int
    end: int
    crc: int | None = None

    def require_whole(self, data: bytes) -> None:
        """Require that these are the bytes that were written.

        Raises: ValueError
        """
        if len(data) != self.end - self.start or zlib.crc32(data) != self.crc:
            raise ValueError("its bytes are not those that were written")


@dataclass(frozen=True, slots=True)
class Directory:
    """The head of a block. `values[field][group]` is empty where the group has no value of the field.

    Shape: group_last, the last instance of each group, and group_rows (g,) int64; n_values: for each field the number of its values
    """

    n_rows: int
    fields: tuple[SealedField, ...]
    rows: Part
    lines: Part
    values: tuple[tuple[Part, ...], ...]
    group_last: Int64Array
    group_rows: Int64Array
    n_values: tuple[int, ...]

    def find_groups(self, instance_ids: Int64Array | None) -> list[int]:
        """Return the groups in which these instances (None: all) may be, ascending."""
        if instance_ids is None:
            return list(range(len(self.group_last)))
        found = distinct_values(np.searchsorted(self.group_last, instance_ids))
        return [int(group) for group in found.tolist() if group < len(self.group_last)]


@dataclass(frozen=True, slots=True)
class RowIndex:
    """When and of which instance each row of a block is.

    Shape: instance_ids (m,) ascending; time_us, code (n,), the code being the place in `instance_ids`
    """

    instance_ids: Int64Array
    time_us: Int64Array
    code: npt.NDArray[np.integer]


def pack(rows: SealedRows) -> tuple[bytes, bytes]:
    """Return head and body of a block of at least one row."""
    rows = rows.in_order()
    ids, codes = np.unique(rows.instance_id, return_inverse=True)
    times, n_each = np.unique(rows.time_us, return_counts=True)
    short = _shortest(codes)
    row_part = _join([pack_integers(ids), pack_integers(times), pack_integers(n_each), _pack_pattern(short)])
    line_part = _pack_lines(rows)
    by_instance = np.argsort(short, kind="stable")
    sizes = np.bincount(codes, minlength=len(ids))
    cuts = _cut(sizes)
    ends = np.cumsum(sizes)
    edges = [0, *(int(ends[cut - 1]) for cut in cuts[1:]), len(rows)]
    parts: list[bytes] = [row_part, line_part]
    lengths: list[list[int]] = []
    n_values: list[int] = []
    for own in rows.fields:
        column = rows.columns[own.key][by_instance]
        missing = find_missing(column)
        n_values.append(int(len(column) - missing.sum()))
        packed = [_pack_values(column[start:end], missing[start:end], own) for start, end in pairwise(edges)]
        lengths.append([len(piece) for piece in packed])
        parts += packed
    head = {
        "n_rows": len(rows),
        "fields": [[own.key, own.storage.value, own.decimals] for own in rows.fields],
        "rows": len(row_part),
        "lines": len(line_part),
        "values": lengths,
        "n_values": n_values,
        "crc": [zlib.crc32(part) for part in parts],
        "group_last": [int(ids[cut - 1]) for cut in [*cuts[1:], len(ids)]],
        "group_rows": np.diff(edges).tolist(),
    }
    packed_head = compress(json.dumps(head, separators=(",", ":")).encode(), has_checksum=True)
    return bytes([VERSION]) + packed_head, b"".join(parts)


# Errors of reading a block whose bytes changed.
DAMAGE: Final = (ValueError, LookupError, TypeError, RuntimeError, zstandard.ZstdError)


def read_head(head: bytes) -> Directory:
    """Return the directory of a block.

    Raises: ValueError for a block of another version
    """
    if head[0] != VERSION:
        raise ValueError(f"A block of sealed samples of version {head[0]}, {VERSION} expected: a newer normstat wrote it")
    found = json.loads(unpack_zstd(head[1:]))
    lengths = [found["rows"], found["lines"], *chain.from_iterable(found["values"])]
    ends = list(accumulate(lengths))
    parts = iter([Part(end - length, end, crc) for end, length, crc in zip(ends, lengths, found["crc"], strict=True)])
    rows, lines = next(parts), next(parts)
    values = [tuple(islice(parts, len(own))) for own in found["values"]]
    return Directory(
        n_rows=found["n_rows"],
        fields=tuple(SealedField(key, Storage(storage), decimals) for key, storage, decimals in found["fields"]),
        rows=rows,
        lines=lines,
        values=tuple(values),
        group_last=np.array(found["group_last"], np.int64),
        group_rows=np.array(found["group_rows"], np.int64),
        n_values=tuple(found["n_values"]),
    )


def unpack_rows(directory: Directory, part: bytes) -> RowIndex:
    """Return times and instances of all rows; `part` is that part of the body."""
    ids_bytes, times_bytes, sizes_bytes, code_bytes = _split(part, 4)
    times, n_each = unpack_integers(times_bytes), unpack_integers(sizes_bytes)
    return RowIndex(unpack_integers(ids_bytes), np.repeat(times, n_each), _unpack_pattern(code_bytes, directory.n_rows))


def unpack_times(part: bytes) -> Int64Array:
    """Return the instants of the reports, ascending; `part` is the one that `unpack_rows` takes."""
    return unpack_integers(_split(part, 4)[1])


def unpack_lines(directory: Directory, part: bytes) -> tuple[Int64Array, Int64Array, dict[int, str]]:
    """Return stream and line offset of all rows, and the words of rows that their columns cannot reproduce."""
    streams_bytes, code_bytes, offset_bytes, printed_bytes = _split(part, 4)
    streams = unpack_integers(streams_bytes)
    codes = _unpack_pattern(code_bytes, directory.n_rows)
    by_stream = np.argsort(codes, kind="stable")
    offsets = np.empty(directory.n_rows, np.int64)
    offsets[by_stream] = np.cumsum(unpack_integers(offset_bytes))
    printed = json.loads(unpack_zstd(printed_bytes)) if printed_bytes else {}
    return streams[codes], offsets, {int(row): str(text) for row, text in printed.items()}


def unpack_values(directory: Directory, number: int, group: int, data: bytes) -> NumberArray:
    """Return the values of a field (by its number) in one group, one instance after the other; `data` is that part of the body."""
    own = directory.fields[number]
    n = int(directory.group_rows[group])
    dtype = np.dtype(NUMPY_TYPES[own.storage])
    if not data:
        return cast("NumberArray", np.full(n, missing_of(dtype), dtype))
    kind, at = data[0], 1
    missing: BoolArray | None = None
    if kind >= HAS_MISSING:
        n_bytes = int.from_bytes(data[at : at + 4], "little")
        bits = np.frombuffer(unpack_zstd(data[at + 4 : at + 4 + n_bytes]), np.uint8)
        missing = np.unpackbits(bits, count=n).astype(np.bool_)
        at += 4 + n_bytes
    values = _unpack_kind(kind % HAS_MISSING, data[at:], own, dtype)
    if missing is None:
        return cast("NumberArray", np.broadcast_to(values, n) if len(values) == 1 != n else values)
    column = np.full(n, missing_of(dtype), dtype)
    column[~missing] = values
    return column


def unpack(head: bytes, body: bytes) -> SealedRows:
    """Return all rows of a block, in the order of time."""
    directory = read_head(head)
    for part in chain([directory.rows, directory.lines], *directory.values):
        part.require_whole(body[part.start : part.end])
    index = unpack_rows(directory, body[directory.rows.start : directory.rows.end])
    streams, offsets, printed = unpack_lines(directory, body[directory.lines.start : directory.lines.end])
    by_instance = np.argsort(index.code, kind="stable")
    columns = {}
    for number, own in enumerate(directory.fields):
        pieces = [
            unpack_values(directory, number, group, body[part.start : part.end])
            for group, part in enumerate(directory.values[number])
        ]
        column = np.empty(directory.n_rows, NUMPY_TYPES[own.storage])
        column[by_instance] = np.concatenate(pieces)
        columns[own.key] = cast("NumberArray", column)
    return SealedRows(index.time_us, index.instance_ids[index.code], streams, offsets, directory.fields, columns, printed)


# --- parts ---


def _cut(sizes: Int64Array) -> list[int]:
    """Return the first instance of each group."""
    cuts, n_rows = [0], 0
    for number, size in enumerate(sizes.tolist()):
        if n_rows >= ROWS_PER_GROUP:
            cuts.append(number)
            n_rows = 0
        n_rows += size
    return cuts


def _pack_lines(rows: SealedRows) -> bytes:
    streams, codes = np.unique(rows.stream_id, return_inverse=True)
    short = _shortest(codes)
    # Of one stream they ascend by the length of a line.
    steps = np.diff(rows.line_offset[np.argsort(short, kind="stable")], prepend=0)
    printed = compress(json.dumps(rows.printed).encode()) if rows.printed else b""
    return _join([pack_integers(streams), _pack_pattern(short), pack_integers(steps), printed])


def _join(pieces: Sequence[bytes]) -> bytes:
    return b"".join([np.array([len(piece) for piece in pieces], "<u4").tobytes(), *pieces])


def _split(part: bytes, n: int) -> list[bytes]:
    lengths = np.frombuffer(part, "<u4", n)
    ends = 4 * n + np.cumsum(lengths, dtype=np.int64)
    return [part[end - length : end] for length, end in zip(lengths.tolist(), ends.tolist(), strict=True)]


def _shortest(codes: npt.NDArray[np.intp]) -> npt.NDArray[np.integer]:
    # A stable sort of 16 bits is ten times as fast as one of 64.
    most = int(codes.max(initial=0))
    return codes.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32)


def _pack_pattern(codes: npt.NDArray[np.integer]) -> bytes:
    """Return the smaller one of the codes and their differences, packed by zstd; the first byte says which, and their width."""
    width = codes.dtype.itemsize
    plain = compress(_code_planes(codes))
    # Modulo the width: they come back by adding up.
    steps = compress(_code_planes(np.diff(codes, prepend=codes.dtype.type(0))))
    return bytes([width]) + plain if len(plain) <= len(steps) else bytes([width + HAS_MISSING]) + steps


def _code_planes(codes: npt.NDArray[np.integer]) -> bytes:
    return np.ascontiguousarray(codes.view(np.uint8).reshape(len(codes), -1).T).tobytes()


def _unpack_pattern(data: bytes, n: int) -> npt.NDArray[np.integer]:
    width = data[0] % HAS_MISSING
    planes = np.frombuffer(unpack_zstd(data[1:]), np.uint8).reshape(width, n)
    codes = np.ascontiguousarray(planes.T).view(f"<u{width}").reshape(n)
    return np.cumsum(codes, dtype=codes.dtype) if data[0] >= HAS_MISSING else codes


def _pack_values(column: NumberArray, missing: BoolArray, own: SealedField) -> bytes:
    """Return the values of a group that are not missing, and which are; nothing where all are missing."""
    n_missing = int(missing.sum())
    if n_missing == len(column):
        return b""
    values = column if n_missing == 0 else column[~missing]
    kind, data = _pack_kind(values, own)
    if n_missing == 0:
        return bytes([kind]) + data
    mask = compress(np.packbits(missing).tobytes())
    return bytes([kind + HAS_MISSING]) + len(mask).to_bytes(4, "little") + mask + data


def _pack_kind(values: NumberArray, own: SealedField) -> tuple[int, bytes]:
    # Compared by bits: -0.0 is not 0.0.
    bits = values.view(f"<i{values.dtype.itemsize}")
    if (bits == bits[0]).all():
        return CONSTANT, values[:1].tobytes()
    if values.dtype.kind == "i":
        return WHOLE, pack_numbers(values)
    scaled = _to_whole(cast("npt.NDArray[np.float64]", values), own.decimals)
    return (FLOAT, pack_numbers(values)) if scaled is None else (SCALED, pack_numbers(scaled))


def _to_whole(values: npt.NDArray[np.float64] | npt.NDArray[np.float32], decimals: int) -> Int64Array | None:
    """Return floating numbers as whole numbers of the last decimal. Missing: None if they would not come back bit by bit."""
    power = 10.0**decimals
    wide = values.astype(np.float64)
    if not (np.abs(wide) < EXACT / power).all():
        return None
    whole = np.rint(wide * power).astype(np.int64)
    back = (whole / power).astype(values.dtype)
    same = back.view(f"<i{values.dtype.itemsize}") == values.view(f"<i{values.dtype.itemsize}")
    return whole if same.all() else None


def _unpack_kind(kind: int, data: bytes, own: SealedField, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    if kind == CONSTANT:
        return np.frombuffer(data, dtype)
    values = unpack_numbers(data)
    return (values / 10.0**own.decimals).astype(dtype) if kind == SCALED else values


def find_missing(column: NumberArray) -> BoolArray:
    """Return True where a column holds no value."""
    return np.isnan(column) if column.dtype.kind == "f" else np.asarray(column == missing_of(column.dtype))


def missing_of(dtype: np.dtype[np.generic]) -> float | int:
    """Return the number that stands for a missing value in a column of that type."""
    return np.nan if dtype.kind == "f" else -(2 ** (8 * dtype.itemsize - 1))
