"""Read sealed samples: the rows of a block for a query, from as few of its bytes as possible."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import anyio.to_thread
import numpy as np
import numpy.typing as npt
import psycopg

from normstat.codecs.packed_numbers import NumberArray
from normstat.codecs.sealed_codec import (
    NUMPY_TYPES,
    Directory,
    Part,
    SealedField,
    SealedRows,
    find_missing,
    missing_of,
    read_head,
    unpack_lines,
    unpack_rows,
    unpack_times,
    unpack_values,
)
from normstat.runtime.arrays import distinct_values
from normstat.samples.sealed.sealed_rows import (
    BlockSpan,
    FoundBlock,
    read_beginnings,
    read_directory,
    read_parts,
    reading_block,
)
from normstat.samples.wide_columns import EXACT_INT8
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Storage
from normstat.window import Window

NO_LINES: Final = np.empty(0, np.int64)
# Blocks whose report times are read by one query: to unpack those of one takes some tenths of a millisecond.
BLOCKS_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class SealedQuery:
    """Which rows of blocks to read: `instance_ids` None means all. Without `has_lines`, they have no stream and no line offset."""

    host_id: int
    stat: str
    window: Window
    fields: Sequence[Field] = ()
    instance_ids: Sequence[int] | None = None
    has_lines: bool = False


async def read_block(connection: psycopg.AsyncConnection, query: SealedQuery, block: BlockSpan) -> SealedRows:
    """Return the rows of a block that the query asks for, in the order of time.

    `columns` has those of the fields that have a value in the block, in the types of the fields.

    Raises: DamagedSamples
    """
    async with reading_block(connection, query.host_id, query.stat, block.start_us):
        directory, body = await read_directory(connection, query.host_id, query.stat, block.start_us)
        return await _read_rows(connection, query, block, directory, body)


async def read_found_block(connection: psycopg.AsyncConnection, query: SealedQuery, found: FoundBlock) -> SealedRows:
    """Return the rows of a block as `read_block` does; only parts of large bodies are fetched.

    Raises: DamagedSamples
    """
    async with reading_block(connection, query.host_id, query.stat, found.span.start_us):
        return await _read_rows(connection, query, found.span, read_head(found.head), found.body)


async def _read_rows(
    connection: psycopg.AsyncConnection, query: SealedQuery, block: BlockSpan, directory: Directory, body: bytes | None
) -> SealedRows:
    ids = None if query.instance_ids is None else distinct_values(np.array(query.instance_ids, np.int64))
    groups = directory.find_groups(ids)
    numbers = {own.key: number for number, own in enumerate(directory.fields)}
    wanted = [
        (field, numbers[field.key]) for field in query.fields if field.key in numbers and directory.n_values[numbers[field.key]]
    ]
    parts = [directory.rows, *([directory.lines] if query.has_lines else [])]
    parts += [directory.values[number][group] for _, number in wanted for group in groups]
    if body is None:
        pieces = await read_parts(connection, query.host_id, query.stat, block.start_us, parts)
    else:
        pieces = [body[part.start : part.end] for part in parts]
    for part, piece in zip(parts, pieces, strict=True):
        part.require_whole(piece)
    found = dict(zip(parts, pieces, strict=True))
    return await anyio.to_thread.run_sync(_unpack, _Wanted(query, directory, found, ids, groups, wanted))


async def count_in_block(connection: psycopg.AsyncConnection, query: SealedQuery, block: BlockSpan) -> tuple[int, set[str]]:
    """Return how many rows of a block are in the query's window, and which of its fields have a value there."""
    if query.window.start_us <= block.first_us and block.last_us < query.window.end_us:
        if not query.fields:
            return block.n_rows, set()
        async with reading_block(connection, query.host_id, query.stat, block.start_us):
            directory, _ = await read_directory(connection, query.host_id, query.stat, block.start_us)
        printed = {own.key for own, n in zip(directory.fields, directory.n_values, strict=True) if n}
        return block.n_rows, printed & {field.key for field in query.fields}
    rows = await read_block(connection, query, block)
    return len(rows), {key for key, column in rows.columns.items() if not find_missing(column).all()}


async def read_report_times(
    connection: psycopg.AsyncConnection, query: SealedQuery, blocks: Sequence[BlockSpan]
) -> AsyncIterator[Int64Array]:
    """Yield, for each of the blocks in the order of time, the instants of the query's window at which it has rows, ascending."""
    for begin in range(0, len(blocks), BLOCKS_AT_ONCE):
        some = blocks[begin : begin + BLOCKS_AT_ONCE]
        found = await read_beginnings(connection, query.host_id, query.stat, [block.start_us for block in some])
        for block, (head, beginning) in zip(some, found, strict=True):
            async with reading_block(connection, query.host_id, query.stat, block.start_us):
                part = read_head(head).rows
                data = beginning[part.start : part.end]
                if part.end > len(beginning):
                    [data] = await read_parts(connection, query.host_id, query.stat, block.start_us, [part])
                part.require_whole(data)
                times = unpack_times(data)
            start, end = np.searchsorted(times, [query.window.start_us, query.window.end_us])
            yield times[start:end]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to take of a block, and the bytes that it takes; `fields` with their numbers in the block."""

    query: SealedQuery
    directory: Directory
    found: Mapping[Part, bytes]
    ids: Int64Array | None
    groups: Sequence[int]
    fields: Sequence[tuple[Field, int]]


def _unpack(asked: _Wanted) -> SealedRows:
    directory, found, window, ids = asked.directory, asked.found, asked.query.window, asked.ids
    index = unpack_rows(directory, found[directory.rows])
    start, end = np.searchsorted(index.time_us, [window.start_us, window.end_us])
    is_wanted: npt.NDArray[np.bool_] | None = None
    if ids is not None:
        is_wanted = np.isin(index.instance_ids, ids)[index.code[start:end]]
    rows: slice | npt.NDArray[np.intp] = slice(start, end) if is_wanted is None else start + np.flatnonzero(is_wanted)
    columns: dict[str, NumberArray] = {}
    lost: dict[str, npt.NDArray[np.int64]] = {}
    if asked.fields:
        by_instance = np.argsort(index.code, kind="stable")
        edges = np.concatenate([[0], np.cumsum(directory.group_rows)])
        places = [by_instance[edges[group] : edges[group + 1]] for group in asked.groups]
        for field, number in asked.fields:
            own = directory.fields[number]
            column = np.empty(directory.n_rows, NUMPY_TYPES[own.storage])
            for group, place in zip(asked.groups, places, strict=True):
                column[place] = unpack_values(directory, number, group, found[directory.values[number][group]])
            values = cast("NumberArray", column[rows])
            columns[field.key] = convert(values, own, field)
            if own.storage is Storage.INT8 and field.storage is Storage.FLOAT8:
                lost[field.key] = cast("npt.NDArray[np.int64]", values)
    time_us, instance_id = index.time_us[rows], index.instance_ids[index.code[rows]]
    fields = [SealedField(field.key, field.storage, field.decimals) for field, _ in asked.fields]
    if not asked.query.has_lines:
        return SealedRows(time_us, instance_id, NO_LINES, NO_LINES, fields, columns)
    streams, offsets, printed = unpack_lines(directory, found[directory.lines])
    numbers = np.arange(start, end) if isinstance(rows, slice) else rows
    own_words = {place: printed[row] for place, row in enumerate(numbers.tolist()) if row in printed} if printed else {}
    for key, values in lost.items():
        _keep_words(own_words, key, values)
    return SealedRows(time_us, instance_id, streams[rows], offsets[rows], fields, columns, own_words)


def convert(column: NumberArray, own: SealedField, field: Field) -> NumberArray:
    """Return a column of a block in the type that the field has by now, which was widened since, as rows would be read.

    Missing: also a number that a narrower type cannot hold, for a reader that does not know of the widening yet.
    """
    if own.storage is field.storage:
        return column
    dtype = np.dtype(NUMPY_TYPES[field.storage])
    missing = find_missing(column)
    numbers = column.astype(np.float64)
    if own.storage is Storage.DEC4:
        numbers /= 10.0**own.decimals
    if field.storage is Storage.DEC4:
        numbers = np.rint(numbers * 10.0**field.decimals)
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        missing |= ~((numbers > limits.min) & (numbers <= limits.max))
        source = column if column.dtype.kind == "i" and Storage.DEC4 not in (own.storage, field.storage) else numbers
        made = np.where(missing, 0, source).astype(dtype)
    else:
        made = numbers.astype(dtype)
    made[missing] = missing_of(dtype)
    return cast("NumberArray", made)


def _keep_words(words: dict[int, str], key: str, values: npt.NDArray[np.int64]) -> None:
    """Keep numbers of eight bytes that the float8 of their field has rounded as words; see wide_columns.printed_sql."""
    is_large = (np.abs(values.astype(np.float64)) > EXACT_INT8) & ~find_missing(values)
    for row in np.flatnonzero(is_large).tolist():
        word = f"{key}={values[row]}"
        # The row's own words come last: they count.
        words[row] = f"{word} {words[row]}" if row in words else word


def joined(parts: Sequence[SealedRows], fields: Sequence[Field]) -> SealedRows:
    """Return rows of several blocks or tables as one, with the columns that these fields have by now; in the order of a block."""
    columns = {}
    words: list[dict[int, str]] = [dict(part.printed) for part in parts]
    for field in fields:
        dtype = np.dtype(NUMPY_TYPES[field.storage])
        pieces = []
        for part, own_words in zip(parts, words, strict=True):
            column = part.columns.get(field.key)
            if column is None:
                pieces.append(np.full(len(part), missing_of(dtype), dtype))
                continue
            own = next(own for own in part.fields if own.key == field.key)
            pieces.append(convert(column, own, field))
            if own.storage is Storage.INT8 and field.storage is Storage.FLOAT8:
                _keep_words(own_words, field.key, cast("npt.NDArray[np.int64]", column))
        columns[field.key] = cast("NumberArray", np.concatenate(pieces))
    starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    return SealedRows(
        np.concatenate([part.time_us for part in parts]),
        np.concatenate([part.instance_id for part in parts]),
        np.concatenate([part.stream_id for part in parts]),
        np.concatenate([part.line_offset for part in parts]),
        [SealedField(field.key, field.storage, field.decimals) for field in fields],
        columns,
        {start + row: text for start, own in zip(starts, words, strict=False) for row, text in own.items()},
    ).in_order()
