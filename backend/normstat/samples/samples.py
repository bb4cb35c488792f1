"""Write blocks of samples to the wide tables, by COPY BINARY.

A row on the wire is a count of columns and then, for each column, its length and its bytes, all big-endian. Rows of a block have
the same columns, so a structured NumPy array is the wire format already. A missing value has length -1 and no bytes: a mask removes
them from the array's bytes, for all rows at once. A dec4 is sent as the integer that it is stored as.
"""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import sql

from normstat.errors import SpecError
from normstat.samples.binary_arrays import POSTGRES_EPOCH_US
from normstat.samples.printed_words import NO_VALUE, format_printed
from normstat.samples.stat_tables import Column, StoredStat
from normstat.samples.wide_columns import EXACT_INT8
from normstat.stats.engine.number_formats import EXACT_LIMIT, format_values
from normstat.stats.records import RowNames, SampleBlock, ValueArray
from normstat.stats.spec import Field, Storage

Int32Array = npt.NDArray[np.int32]
COPY_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_TRAILER: Final = b"\xff\xff"
# Arrays are slower for fewer rows: where names must be numbered first, and where they are numbers already.
FEW_ROWS: Final = 2000
FEW_NUMBERED_ROWS: Final = 200
# Blocks with more rows are written one by one: to put them together, and to have them as one piece, costs as much as encoding them.
MANY_ROWS: Final = 2000
# Larger data is sent without a copy, which would be made in fresh pages.
SMALL_BYTES: Final = 1 << 20
WIRE_TYPES: Final[Mapping[Storage, str]] = {
    Storage.INT4: ">i4",
    Storage.INT8: ">i8",
    Storage.DEC4: ">i4",
    Storage.FLOAT4: ">f4",
    Storage.FLOAT8: ">f8",
}
NULL_LENGTH: Final = -1
# Types that hold everything that a type holds, with the same number of decimals.
AT_LEAST: Final[Mapping[Storage, frozenset[Storage]]] = {
    Storage.INT4: frozenset({Storage.INT8}),
    Storage.INT8: frozenset(),
    Storage.DEC4: frozenset({Storage.FLOAT8}),
    Storage.FLOAT4: frozenset({Storage.FLOAT8}),
    Storage.FLOAT8: frozenset(),
}


@dataclass(frozen=True, slots=True)
class RowTarget:
    """Where the rows of a block belong; `instance_ids` by the names in the block."""

    host_id: int
    stream_id: int
    instance_ids: Mapping[str, int]

    def ids(self, block: SampleBlock) -> Int32Array:
        """Return the ids of the instances of the block's rows. Shape: (n,)."""
        names = block.instances
        if isinstance(names, RowNames) and len(names) >= FEW_NUMBERED_ROWS:
            ids = np.zeros(len(names.names), np.int32)
            for number in names.present()[0]:
                ids[number] = self.instance_ids[names.names[number]]
            return ids[names.codes]
        return np.fromiter(map(self.instance_ids.__getitem__, block.instances), dtype=np.int32, count=len(block))


@dataclass(frozen=True, slots=True)
class RowOwners:
    """The same for rows of several blocks: the ids of host, stream and instance of each. Shape: (n,) each, or one for all."""

    host_id: Int32Array | int
    stream_id: Int32Array | int
    instance_id: Int32Array


async def copy_block(
    connection: psycopg.AsyncConnection,
    stored: StoredStat,
    block: SampleBlock,
    place: RowTarget,
    *,
    into: sql.Identifier | None = None,
) -> None:
    """Write all rows of the block within the connection's transaction; the table has a column for every field.

    `into` names a table with the same columns to write to instead.
    Raises: SpecError when a field's values do not fit the type of its column
    """
    await copy_rows(connection, into or stored.table, _names_of(stored, block.fields), [encode_rows(stored, block, place)])


async def copy_blocks(
    connection: psycopg.AsyncConnection, stored: StoredStat, parts: Sequence[tuple[SampleBlock, RowTarget]]
) -> None:
    """Write all rows of blocks of one stat, with as few statements as their columns allow.

    Raises: SpecError when a field's values do not fit the type of its column
    """
    by_keys: dict[tuple[str, ...], tuple[Sequence[Field], list[bytes | memoryview]]] = {}
    for fields, alike in _group_by_fields(parts):
        pieces = by_keys.setdefault(tuple(field.key for field in fields), (fields, []))[1]
        small = [part for part in alike if len(part[0]) < MANY_ROWS]
        if len(small) > 1:
            pieces.append(_encode(stored, *_join(small)))
        alone = alike if len(small) < 2 else [part for part in alike if len(part[0]) >= MANY_ROWS]
        pieces += [encode_rows(stored, *part) for part in alone]
    for of_rows, pieces in by_keys.values():
        await copy_rows(connection, stored.table, _names_of(stored, of_rows), pieces)


def _group_by_fields(
    parts: Sequence[tuple[SampleBlock, RowTarget]],
) -> list[tuple[tuple[Field, ...], list[tuple[SampleBlock, RowTarget]]]]:
    """Return the blocks whose values are of the same types, in their order: each group is written as one."""
    groups: dict[tuple[tuple[str, int, Storage], ...], list[tuple[SampleBlock, RowTarget]]] = {}
    known: dict[int, list[tuple[SampleBlock, RowTarget]]] = {}
    for block, place in parts:
        group = known.get(id(block.fields))
        if group is None:
            kind = tuple((field.key, field.decimals, field.storage) for field in block.fields)
            group = known[id(block.fields)] = groups.setdefault(kind, [])
        group.append((block, place))
    return [(group[0][0].fields, group) for group in groups.values()]


def _join(parts: Sequence[tuple[SampleBlock, RowTarget]]) -> tuple[SampleBlock, RowOwners]:
    """Return the rows of all these blocks as one."""
    first = parts[0][0]
    sizes = [len(block) for block, _ in parts]
    blocks = [block for block, _ in parts]
    begins = itertools.accumulate(sizes, initial=0)
    joined = SampleBlock(
        stat=first.stat,
        fields=first.fields,
        time_us=np.concatenate([block.time_us for block in blocks]),
        instances=(),
        values=tuple(np.concatenate(column) for column in zip(*(block.values for block in blocks), strict=True)),
        line_offset=np.concatenate([block.line_offset for block in blocks]),
        missing=tuple(
            None
            if all(mask is None for mask in masks)
            else np.concatenate(
                [np.zeros(size, np.bool_) if mask is None else mask for mask, size in zip(masks, sizes, strict=True)]
            )
            for masks in zip(*(block.missing or (None,) * len(first.fields) for block in blocks), strict=True)
        ),
        printed={begin + row: words for block, begin in zip(blocks, begins, strict=False) for row, words in block.printed.items()},
    )
    owners = RowOwners(
        np.repeat(np.array([place.host_id for _, place in parts], np.int32), sizes),
        np.repeat(np.array([place.stream_id for _, place in parts], np.int32), sizes),
        np.concatenate([place.ids(block) for block, place in parts]),
    )
    return joined, owners


def _names_of(stored: StoredStat, fields: Sequence[Field]) -> list[str]:
    return [stored.columns[field.key].name for field in fields]


@functools.lru_cache(maxsize=1024)
def copy_statement(table: str, columns: tuple[str, ...]) -> bytes:
    """Return the statement that takes rows with these columns of fields; `table` is quoted."""
    names = ["time", "host_id", "instance_id", "stream_id", "line_offset", *columns, "printed"]
    composed = sql.SQL("({}) FROM STDIN (FORMAT BINARY)").format(sql.SQL(", ").join(map(sql.Identifier, names)))
    return f"COPY {table} {composed.as_string(None)}".encode()


async def copy_rows(
    connection: psycopg.AsyncConnection, table: sql.Identifier, columns: Sequence[str], pieces: Sequence[bytes | memoryview]
) -> None:
    """Write rows in COPY BINARY format, with these columns between `line_offset` and `printed`."""
    statement = copy_statement(table.as_string(None), tuple(columns))
    whole = [COPY_HEADER, *pieces, COPY_TRAILER]
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for piece in [b"".join(whole)] if sum(map(len, whole)) < SMALL_BYTES else whole:
            await copy.write(piece)


def encode_rows(stored: StoredStat, block: SampleBlock, place: RowTarget) -> bytes | memoryview:
    """Return the block's rows in COPY BINARY format; the columns are BASE_COLUMNS with the fields before `printed`.

    Raises: SpecError when a field's values do not fit the type of its column
    """
    return _encode(stored, block, RowOwners(place.host_id, place.stream_id, place.ids(block)))


def _encode(stored: StoredStat, block: SampleBlock, owners: RowOwners) -> bytes | memoryview:
    return encode_wire(len(block), _columns_of(stored, block, owners), block.missing, _printed_rows(stored, block))


def encode_wire(
    n_rows: int,
    columns: Sequence[tuple[str, npt.NDArray[np.generic] | int]],
    missing: Sequence[npt.NDArray[np.bool_] | None],
    printed: Mapping[int, str],
) -> bytes | memoryview:
    """Return rows in COPY BINARY format: the BASE_COLUMNS and the fields, each with its type on the wire, then `printed`.

    `missing`: for each field, which of its values are missing. `printed`: row -> its words.
    """
    rows = _fixed_rows(n_rows, columns, missing)
    keep = _kept_bytes(rows, missing)
    row_bytes = rows.view(np.uint8).reshape(len(rows), rows.dtype.itemsize)
    if not printed:
        return (row_bytes.reshape(-1) if keep is None else row_bytes[keep]).data
    is_plain = np.ones(len(rows), dtype=np.bool_)
    is_plain[list(printed)] = False
    plain = row_bytes[is_plain]
    parts = [plain.tobytes() if keep is None else plain[keep[is_plain]].tobytes()]
    for number, words in printed.items():
        # The row ends with the length of `printed`, four bytes, which its text replaces.
        row = row_bytes[number] if keep is None else row_bytes[number][keep[number]]
        encoded = words.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00")
        parts.append(row[:-4].tobytes() + len(encoded).to_bytes(4, "big") + encoded)
    return b"".join(parts)


def _columns_of(stored: StoredStat, block: SampleBlock, owners: RowOwners) -> Sequence[tuple[str, npt.NDArray[np.generic] | int]]:
    """Return the columns of the block's rows, each with its type on the wire."""
    columns: list[tuple[str, npt.NDArray[np.generic] | int]] = [
        (">i8", block.time_us - POSTGRES_EPOCH_US),
        (">i4", owners.host_id),
        (">i4", owners.instance_id),
        (">i4", owners.stream_id),
        (">i8", block.line_offset),
    ]
    for field, values in zip(block.fields, block.values, strict=True):
        storage = stored.columns[field.key].storage
        if storage.is_whole and values.dtype.kind != "i" and (values != np.floor(values)).any():
            raise SpecError(f"{stored.name}.{field.key} is a column of whole numbers, but the values have decimals; widen it first")
        if storage is Storage.DEC4:
            values = np.rint(values * 10.0 ** stored.columns[field.key].decimals)  # noqa: PLW2901
        columns.append((WIRE_TYPES[storage], values))
    return columns


def _fixed_rows(
    n_rows: int,
    columns: Sequence[tuple[str, npt.NDArray[np.generic] | int]],
    missing: Sequence[npt.NDArray[np.bool_] | None],
) -> npt.NDArray[np.void]:
    """Return the wire rows with all columns filled and `printed` empty. Shape: (n,)."""
    layout = [("n", ">i2")]
    for number, (wire_type, _) in enumerate(columns):
        layout += [(f"l{number}", ">i4"), (f"v{number}", wire_type)]
    rows = np.empty(n_rows, dtype=np.dtype([*layout, ("printed", ">i4")]))
    rows["n"] = len(columns) + 1
    for number, (wire_type, column) in enumerate(columns):
        rows[f"l{number}"] = np.dtype(wire_type).itemsize
        rows[f"v{number}"] = column
    rows["printed"] = 0
    for number, own in enumerate(missing, start=FIRST_FIELD):
        if own is not None:
            rows[f"l{number}"][own] = NULL_LENGTH
    return rows


FIRST_FIELD: Final = 5


def _kept_bytes(rows: npt.NDArray[np.void], missing: Sequence[npt.NDArray[np.bool_] | None]) -> npt.NDArray[np.bool_] | None:
    """Return which bytes of the rows go on the wire. Shape: (n, row size). Missing: None when all do."""
    if all(own is None or not own.any() for own in missing):
        return None
    keep = np.ones((len(rows), rows.dtype.itemsize), dtype=np.bool_)
    assert rows.dtype.fields is not None
    for number, own in enumerate(missing, start=FIRST_FIELD):
        if own is not None:
            column, at = rows.dtype.fields[f"v{number}"][:2]
            keep[own, at : at + column.itemsize] = False
    return keep


def _printed_rows(stored: StoredStat, block: SampleBlock) -> Mapping[int, str]:
    """Return the rows with words that their columns cannot reproduce, with these words; see samples/printed_words.py.

    This depends on the type and decimals of a column. Where the block was read with others (a column unknown to the spec whose
    first number happened to have no decimals, a newer spec) every row is checked.
    """
    made = [stored.columns[field.key] for field in block.fields]
    fits = all(_fits(field, column, values) for field, column, values in zip(block.fields, made, block.values, strict=True))
    numbers = sorted(block.printed) if fits else range(len(block))
    if not len(numbers):
        return {}
    at = np.array(numbers, dtype=np.intp)
    words = {number: text.split(" ") for number, text in block.printed.items()}
    odd: dict[int, dict[str, str]] = {}
    for place, (field, column, values) in enumerate(zip(block.fields, made, block.values, strict=True)):
        missing = block.missing[place] if block.missing else None
        kept = replace(field, decimals=column.decimals, storage=column.storage)
        back = format_values(kept, _as_stored(values[at], column))
        said = format_values(field, values[at])
        for number, text_back, text_said in zip(numbers, back, said, strict=True):
            is_missing = missing is not None and bool(missing[number])
            word = words[number][place] if number in words else (NO_VALUE if is_missing else text_said)
            if word != (NO_VALUE if is_missing else text_back):
                odd.setdefault(number, {})[field.key] = word
    return {number: format_printed(found) for number, found in odd.items()}


def _fits(field: Field, column: Column, values: ValueArray) -> bool:
    """Return whether the column reproduces what the reader took for canonical."""
    if field.decimals != column.decimals:
        return False
    if field.storage is column.storage or column.storage in AT_LEAST[field.storage]:
        return True
    if field.storage.is_whole and column.storage is Storage.FLOAT8:
        return len(values) == 0 or -EXACT_INT8 <= int(values.min()) <= int(values.max()) <= EXACT_INT8
    # In older tables a float4 is enough for percentages, whatever type their fields have now.
    is_float4 = column.storage is Storage.FLOAT4 and not field.storage.is_whole
    return is_float4 and bool(np.abs(values).max(initial=0) * 10.0**column.decimals < EXACT_LIMIT[Storage.FLOAT4])


def _as_stored(values: ValueArray, column: Column) -> ValueArray:
    """Return the values as that column returns them."""
    match column.storage:
        case Storage.DEC4:
            power = 10.0**column.decimals
            return np.rint(values * power) / power
        case Storage.FLOAT4:
            return values.astype(np.float32).astype(np.float64)
        case Storage.FLOAT8:
            return values.astype(np.float64)
        case Storage.INT4 | Storage.INT8:
            return values.astype(np.int64)


def instance_spans(blocks: Sequence[SampleBlock]) -> dict[str, tuple[int, int]]:
    """Return the first and last time of each instance.

    Units: microseconds since the epoch.
    """
    spans: dict[str, tuple[int, int]] = dict(_spans_of(blocks[0])) if blocks else {}
    for block in blocks[1:]:
        for name, (first, last) in _spans_of(block):
            known = spans.get(name)
            spans[name] = (first, last) if known is None else (min(known[0], first), max(known[1], last))
    return spans


def _spans_of(block: SampleBlock) -> Iterable[tuple[str, tuple[int, int]]]:
    """Return the first and last time of each instance of a block."""
    instances = block.instances
    if len(block) < (FEW_NUMBERED_ROWS if isinstance(instances, RowNames) else FEW_ROWS):
        times = block.time_us.tolist()
        if times == sorted(times):
            # Of each name, a dict keeps the last time that it is given, in the order of the first.
            names = list(instances)
            lasts = dict(zip(names, times, strict=True))
            firsts = dict(zip(reversed(names), reversed(times), strict=True))
            return [(name, (firsts[name], last)) for name, last in lasts.items()]
    numbered = instances if isinstance(instances, RowNames) else RowNames.number(instances)
    found, first_rows, last_rows = numbered.present()
    names = [numbered.names[number] for number in found]
    if (block.time_us[1:] >= block.time_us[:-1]).all():
        return zip(names, zip(block.time_us[first_rows].tolist(), block.time_us[last_rows].tolist(), strict=True), strict=True)
    firsts_us = np.full(len(numbered.names), np.iinfo(np.int64).max)
    lasts_us = np.full(len(numbered.names), np.iinfo(np.int64).min)
    np.minimum.at(firsts_us, numbered.codes, block.time_us)
    np.maximum.at(lasts_us, numbered.codes, block.time_us)
    return zip(names, zip(firsts_us[found].tolist(), lasts_us[found].tolist(), strict=True), strict=True)
