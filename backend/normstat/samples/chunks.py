"""The raw bytes of streams: compressed in chunks as received, packed together when they are old, and read back from either.

Everything that reads raw bytes does it here. A chunk is in `chunks` or in `packed_chunks`, and moves in one transaction: a reader
of both by two statements reads `chunks` first.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final

import psycopg
import zstandard
from sqlalchemy import ScalarSelect, TextClause, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.pack_codec import FramePlace, StoredChunk, cut_frame, read_directory, unpack_frame
from normstat.db.connecting import is_citus
from normstat.db.distribution import find_owner, on_shard
from normstat.db.schema.models import Chunk, PackedChunk, Stream
from normstat.errors import DamagedChunk
from normstat.runtime.bounded_decoding import unpack_zstd

# Measured on bench/data, what four tools printed on a real host: by the MiB compressed to a tenth at 780 MB/s, by 3 kB, as live
# agents send, to a fifth at 320 MB/s. Level 2 is slower and takes 3 % more; level 9 saves 12 % at a tenth of the speed.
COMPRESSION_LEVEL: Final = 1


_local = threading.local()


@dataclass(frozen=True, slots=True)
class RawChunk:
    """Bytes [start, end) of a stream; `body` holds them compressed."""

    start: int
    end: int
    body: bytes


def compress_chunk(start: int, data: bytes) -> RawChunk:
    """Return the bytes from `start` on as a chunk."""
    # Creating a compressor takes longer than compressing some kB; two threads must not share one.
    compressor = getattr(_local, "compressor", None)
    if compressor is None:
        compressor = _local.compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True)
    return RawChunk(start, start + len(data), compressor.compress(data))


def unpack_body(body: bytes) -> bytes:
    """Return the bytes of a chunk from its stored body.

    Raises: DamagedChunk
    """
    try:
        return unpack_zstd(body)
    except zstandard.ZstdError as error:
        raise DamagedChunk(f"A chunk of a stream's raw bytes is damaged in the database: {error}") from error


async def copy_chunks(
    connection: psycopg.AsyncConnection, chunks: Sequence[tuple[int, int, RawChunk]], received_at: datetime
) -> None:
    """Store chunks of hosts and streams (by their ids); the database refuses one that begins where another one does."""
    if not chunks:
        return
    columns, types = "stream_id, start_offset, end_offset, received_at, body", ["int8", "int8", "int8", "timestamptz", "bytea"]
    has_hosts = is_citus()
    if has_hosts:
        columns, types = f"host_id, {columns}", ["int4", *types]
    async with connection.cursor() as cursor, cursor.copy(f"COPY chunks ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(types)
        for host_id, stream_id, chunk in chunks:
            row = (stream_id, chunk.start, chunk.end, received_at, chunk.body)
            await copy.write_row((host_id, *row) if has_hosts else row)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes [start, end) of a stream."""

    stream_id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PackedFrame:
    """A frame of the pack that begins at `pack_start` of a stream."""

    stream_id: int
    pack_start: int
    place: FramePlace


# With agents' chunks of a few kB each, this many make a few MiB.
MAX_CHUNKS: Final = 2000

# The chunk or pack that holds an offset, else the next one. One that begins before the offset is found by an entry of the index.
NEXT_PIECE: Final = """
    SELECT * FROM (
        SELECT start_offset, end_offset, body, NULL::bytea AS directory
        FROM chunks
        WHERE {shard}stream_id = :stream_id AND end_offset > :start AND start_offset >= coalesce(
            (SELECT max(start_offset) FROM chunks WHERE {shard}stream_id = :stream_id AND start_offset <= :start), 0)
        ORDER BY start_offset LIMIT 1
    ) AS hot
    UNION ALL
    SELECT * FROM (
        SELECT start_offset, end_offset, NULL::bytea, directory
        FROM packed_chunks
        WHERE {shard}stream_id = :stream_id AND end_offset > :start AND start_offset >= coalesce(
            (SELECT max(start_offset) FROM packed_chunks WHERE {shard}stream_id = :stream_id AND start_offset <= :start), 0)
        ORDER BY start_offset LIMIT 1
    ) AS packed
    ORDER BY start_offset LIMIT 1
"""
IN_RANGES: Final = """
    SELECT w.stream_id, c.start_offset, c.end_offset, {columns}
    FROM unnest(CAST(:ids AS int8[]), CAST(:starts AS int8[]), CAST(:ends AS int8[])) AS w(stream_id, range_start, range_end)
    CROSS JOIN LATERAL (
        SELECT * FROM {table} AS t
        WHERE {shard}t.stream_id = w.stream_id AND t.start_offset < w.range_end AND t.end_offset > w.range_start
            AND t.start_offset >= coalesce(
                (SELECT max(start_offset) FROM {table} WHERE {shard}stream_id = w.stream_id AND start_offset <= w.range_start), 0)
    ) AS c
    ORDER BY w.stream_id, c.start_offset
"""
CHUNKS_IN_RANGES: Final = IN_RANGES.replace("{columns}", "c.received_at, c.body").replace("{table}", "chunks")
PACKS_IN_RANGES: Final = IN_RANGES.replace("{columns}", "c.directory").replace("{table}", "packed_chunks")
FRAMES: Final = """
    SELECT w.number, substring(p.body FROM w.body_start + 1 FOR w.body_end - w.body_start) AS body
    FROM unnest(CAST(:ids AS int8[]), CAST(:starts AS int8[]), CAST(:body_starts AS int4[]), CAST(:body_ends AS int4[]))
        WITH ORDINALITY AS w(stream_id, start_offset, body_start, body_end, number)
    JOIN packed_chunks AS p ON {shard}p.stream_id = w.stream_id AND p.start_offset = w.start_offset
    ORDER BY w.number
"""


@cache
def _to_query(statement: str, *, is_sharded: bool) -> TextClause:
    """Return the statement, on a cluster led to the shard of the parameter `host_id`."""
    return text(statement.replace("{shard}", "host_id = CAST(:host_id AS int4) AND " if is_sharded else ""))


def _query_of(statement: str, host_id: int | None, parameters: Mapping[str, object]) -> tuple[TextClause, dict[str, object]]:
    """Return the statement and its parameters for the chunks of a host; the host matters on a cluster only."""
    is_sharded = is_citus()
    return _to_query(statement, is_sharded=is_sharded), {**parameters, **({"host_id": host_id or 0} if is_sharded else {})}


async def read_chunks(session: AsyncSession, stream_id: int, *, start: int = 0) -> AsyncIterator[tuple[int, bytes]]:
    """Yield offset and bytes of each chunk that ends after `start`, in the order of the stream, one at a time; of packed ones those
    of a frame together.

    A gap shows as a chunk that begins later than the one before ended.
    """
    host_id = await find_owner(session, stream_id)
    while True:
        row = (await session.execute(*_query_of(NEXT_PIECE, host_id, {"stream_id": stream_id, "start": start}))).one_or_none()
        if row is None:
            return
        if row.directory is None:
            yield row.start_offset, unpack_body(row.body)
            start = row.end_offset
            continue
        for frame in read_directory(row.directory, row.start_offset, row.end_offset):
            if frame.end <= start:
                continue
            for _, data in await _read_frames(session, host_id, [PackedFrame(stream_id, row.start_offset, frame)]):
                chunks = cut_frame(frame, data, start)
                yield chunks[0].start, b"".join(chunk.data for chunk in chunks)
            # Retention may have removed the pack meanwhile: then it is a gap.
            start = frame.end


async def read_batch(session: AsyncSession, stream_id: int, *, start: int, most_bytes: int) -> list[StoredChunk]:
    """Return the chunks from offset `start` on, a chunk boundary: about `most_bytes`, at least one; empty at the end of the
    stream.
    """
    host_id = await find_owner(session, stream_id)
    shard = on_shard(host_id)
    while True:
        first = select(func.min(Chunk.start_offset)).where(Chunk.stream_id == stream_id, Chunk.start_offset >= start, *shard)
        # Chunks are read before packs, so that a chunk packed in between is found at least once.
        hot_start = await session.scalar(first)
        chunks = await _read_packed_batch(session, (stream_id, host_id), start, most_bytes, until=hot_start)
        if chunks or hot_start is None:
            return chunks
        chunks = await _read_hot(session, (stream_id, host_id), start=hot_start, most_bytes=most_bytes, most_chunks=MAX_CHUNKS)
        if chunks and chunks[0].start == hot_start:
            return chunks


async def _read_packed_batch(
    session: AsyncSession, place: tuple[int, int | None], start: int, most_bytes: int, *, until: int | None
) -> list[StoredChunk]:
    """Return the next packed chunks of a stream of a host that begin before `until`."""
    stream_id, host_id = place
    chunks: list[StoredChunk] = []
    n_bytes, at = 0, start
    while n_bytes < most_bytes:
        query = (
            select(PackedChunk.start_offset, PackedChunk.end_offset, PackedChunk.directory)
            .where(
                PackedChunk.stream_id == stream_id,
                PackedChunk.end_offset > at,
                PackedChunk.start_offset >= func.coalesce(_pack_before(stream_id, host_id, at), 0),
                *on_shard(host_id),
            )
            .order_by(PackedChunk.start_offset)
            .limit(1)
        )
        pack = (await session.execute(query)).one_or_none()
        if pack is None or (until is not None and pack.start_offset >= until):
            break
        for frame in read_directory(pack.directory, pack.start_offset, pack.end_offset):
            at = frame.end
            if frame.end <= start:
                continue
            for _, data in await _read_frames(session, host_id, [PackedFrame(stream_id, pack.start_offset, frame)]):
                more = [chunk for chunk in cut_frame(frame, data, start) if chunk.start >= start]
                chunks += more
                n_bytes += sum(len(chunk.data) for chunk in more)
            if n_bytes >= most_bytes:
                break
    return chunks


def _pack_before(stream_id: int, host_id: int | None, offset: int) -> ScalarSelect[int]:
    before = select(func.max(PackedChunk.start_offset)).where(
        PackedChunk.stream_id == stream_id, PackedChunk.start_offset <= offset, *on_shard(host_id)
    )
    return before.scalar_subquery()


async def read_hot_chunks(
    session: AsyncSession, stream_id: int, *, start: int, most_bytes: int, most_chunks: int = MAX_CHUNKS
) -> list[StoredChunk]:
    """Return the chunks from `start` on that are not packed: about `most_bytes`, at least one if there is any."""
    place = (stream_id, await find_owner(session, stream_id))
    return await _read_hot(session, place, start=start, most_bytes=most_bytes, most_chunks=most_chunks)


async def _read_hot(
    session: AsyncSession, place: tuple[int, int | None], *, start: int, most_bytes: int, most_chunks: int
) -> list[StoredChunk]:
    stream_id, host_id = place
    shard = on_shard(host_id)
    sizes = (
        select(
            Chunk.start_offset,
            func.sum(Chunk.end_offset - Chunk.start_offset).over(order_by=Chunk.start_offset).label("total"),
            (Chunk.end_offset - Chunk.start_offset).label("size"),
        )
        .where(Chunk.stream_id == stream_id, Chunk.start_offset >= start, *shard)
        .order_by(Chunk.start_offset)
        .limit(most_chunks)
        .subquery()
    )
    query = (
        select(Chunk.start_offset, Chunk.received_at, Chunk.body)
        .join(sizes, sizes.c.start_offset == Chunk.start_offset)
        .where(Chunk.stream_id == stream_id, sizes.c.total - sizes.c.size < most_bytes, *shard)
        .order_by(Chunk.start_offset)
    )
    rows = (await session.execute(query)).all()
    return await asyncio.to_thread(lambda: [StoredChunk(row.start_offset, unpack_body(row.body), row.received_at) for row in rows])


async def read_ranges(session: AsyncSession, ranges: Sequence[ByteRange]) -> dict[int, list[StoredChunk]]:
    """Return the chunks that overlap the ranges, in the order of their streams; at most one range for each stream."""
    if not is_citus():
        return await _read_ranges_of(session, None, ranges)
    query = select(Stream.id, Stream.host_id).where(Stream.id.in_([one.stream_id for one in ranges]))
    owners = {row.id: row.host_id for row in await session.execute(query)}
    found: dict[int, list[StoredChunk]] = {}
    for host_id in sorted(set(owners.values())):
        found |= await _read_ranges_of(session, host_id, [one for one in ranges if owners.get(one.stream_id) == host_id])
    return {stream_id: found[stream_id] for stream_id in sorted(found)}


async def _read_ranges_of(session: AsyncSession, host_id: int | None, ranges: Sequence[ByteRange]) -> dict[int, list[StoredChunk]]:
    found: dict[int, list[StoredChunk]] = {}
    wanted = _to_arrays(ranges)
    for row in await session.execute(*_query_of(CHUNKS_IN_RANGES, host_id, wanted)):
        found.setdefault(row.stream_id, []).append(StoredChunk(row.start_offset, unpack_body(row.body), row.received_at))
    frames: list[PackedFrame] = []
    spans = {one.stream_id: one for one in ranges}
    for row in await session.execute(*_query_of(PACKS_IN_RANGES, host_id, wanted)):
        span = spans[row.stream_id]
        frames += [
            PackedFrame(row.stream_id, row.start_offset, frame)
            for frame in read_directory(row.directory, row.start_offset, row.end_offset)
            if frame.end > span.start and frame.start < span.end
        ]
    packed: dict[int, list[StoredChunk]] = {}
    for frame, data in await _read_frames(session, host_id, frames):
        span = spans[frame.stream_id]
        chunks = [chunk for chunk in cut_frame(frame.place, data, span.start) if chunk.start < span.end]
        packed.setdefault(frame.stream_id, []).extend(chunks)
    for stream_id, chunks in packed.items():
        # Chunks packed between the two queries are in both.
        last = chunks[-1].end if chunks else 0
        found[stream_id] = chunks + [chunk for chunk in found.get(stream_id, []) if chunk.start >= last]
    return found


async def list_starts(session: AsyncSession, stream_id: int, *, after: int) -> list[int]:
    """Return where chunks begin after an offset; of packed ones only where each pack begins."""
    shard = on_shard(await find_owner(session, stream_id))
    hot = await session.scalars(select(Chunk.start_offset).where(Chunk.stream_id == stream_id, Chunk.start_offset > after, *shard))
    packed = await session.scalars(
        select(PackedChunk.start_offset).where(PackedChunk.stream_id == stream_id, PackedChunk.start_offset > after, *shard)
    )
    return sorted({*hot, *packed})


async def list_packed_starts(session: AsyncSession, stream_id: int, *, after: int) -> list[int]:
    """Return where the chunks after an offset begin that are in the same pack. Missing: empty where the offset is not packed."""
    host_id = await find_owner(session, stream_id)
    query = select(PackedChunk.start_offset, PackedChunk.end_offset, PackedChunk.directory).where(
        PackedChunk.stream_id == stream_id,
        PackedChunk.start_offset == _pack_before(stream_id, host_id, after),
        *on_shard(host_id),
    )
    row = (await session.execute(query)).one_or_none()
    if row is None:
        return []
    frames = read_directory(row.directory, row.start_offset, row.end_offset)
    return [start for frame in frames for start in frame.chunk_starts if start > after]


async def _read_frames(
    session: AsyncSession, host_id: int | None, frames: Sequence[PackedFrame]
) -> list[tuple[PackedFrame, bytes]]:
    """Return frames with their bytes; those that retention removed meanwhile are left out."""
    if not frames:
        return []
    columns = {
        "ids": [frame.stream_id for frame in frames],
        "starts": [frame.pack_start for frame in frames],
        "body_starts": [frame.place.body_start for frame in frames],
        "body_ends": [frame.place.body_end for frame in frames],
    }
    found = [(frames[row.number - 1], bytes(row.body)) for row in await session.execute(*_query_of(FRAMES, host_id, columns))]
    return await asyncio.to_thread(
        lambda: [(frame, unpack_frame(body, frame.place.end - frame.place.start)) for frame, body in found]
    )


def _to_arrays(ranges: Sequence[ByteRange]) -> dict[str, list[int]]:
    return {
        "ids": [one.stream_id for one in ranges],
        "starts": [one.start for one in ranges],
        "ends": [one.end for one in ranges],
    }
