"""Remove raw bytes that the rules of retention do not keep, oldest first, and note from which offset a stream is kept."""

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Integer, and_, column, delete, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.orm import InstrumentedAttribute

from normstat.db.connecting import is_citus
from normstat.db.distribution import HOST_ID, on_shard
from normstat.db.schema.models import Chunk, PackedChunk, Stream
from normstat.db.schema.retention_models import StreamChange
from normstat.db.session import WriteSession, open_write_session
from normstat.db.turns import Failures
from normstat.retention import retention_rules
from normstat.retention.retention_rules import Removed, Rules
from normstat.samples.stream_rows import lock_host_by_id, set_time_limits
from normstat.stats.catalogue import load_catalogue

BATCH_CHUNKS: Final = 500
BATCH_STREAMS: Final = 1000
LOCK_TIMEOUT_S: Final = 10
STATEMENT_TIMEOUT_S: Final = 600


async def remove_chunks(sessions: async_sessionmaker[AsyncSession], run_id: int, rules: Rules, failures: Failures) -> None:
    """Remove all expired raw bytes. A stream that fails does not stop the others."""
    last_id = 0
    while True:
        async with open_write_session(sessions) as session:
            streams = await _next_streams(session, last_id)
        for stream_id, host_id, spec, stat_names, first_at in streams:
            before = rules.chunks_from(_stats_of(spec, stat_names))
            if before is None or first_at >= before:
                continue
            with failures.keep(f"raw bytes of stream {stream_id}"):
                while await _remove_some(sessions, run_id, stream_id, host_id, before):
                    pass
        if not streams:
            return
        last_id = streams[-1][0]


def _stats_of(spec: str, stat_names: list[str]) -> list[str]:
    known = load_catalogue().specs.get(spec)
    return sorted({*stat_names, *(stat.name for stat in known.stats)} if known is not None else {*stat_names})


async def _next_streams(session: AsyncSession, last_id: int) -> list[tuple[int, int, str, list[str], datetime]]:
    """Return the next streams that have raw bytes, with when their first ones came; of packed ones, the last of the first pack."""
    if is_citus():
        return await _next_streams_of_cluster(session, last_id)
    first_chunk = (
        select(Chunk.received_at)
        .where(Chunk.stream_id == Stream.id)
        .order_by(Chunk.start_offset)
        .limit(1)
        .correlate(Stream)
        .scalar_subquery()
    )
    first_pack = (
        select(PackedChunk.last_received_at)
        .where(PackedChunk.stream_id == Stream.id)
        .order_by(PackedChunk.start_offset)
        .limit(1)
        .correlate(Stream)
        .scalar_subquery()
    )
    # Packed chunks are older than the others of their stream.
    first = func.coalesce(first_pack, first_chunk)
    query = (
        select(Stream.id, Stream.host_id, Stream.spec, Stream.stat_names, first)
        .where(Stream.id > last_id, first.is_not(None))
        .order_by(Stream.id)
        .limit(BATCH_STREAMS)
    )
    return [(row[0], row[1], row[2], list(row[3]), row[4]) for row in await session.execute(query)]


async def _next_streams_of_cluster(session: AsyncSession, last_id: int) -> list[tuple[int, int, str, list[str], datetime]]:
    """Return the same where chunks are on workers, which know no streams: those without raw bytes, too, as if they came today."""
    query = select(Stream.id, Stream.host_id, Stream.spec, Stream.stat_names).where(Stream.id > last_id)
    streams = (await session.execute(query.order_by(Stream.id).limit(BATCH_STREAMS))).all()
    hosts = column(HOST_ID, Integer).in_(sorted({row.host_id for row in streams}))
    firsts: dict[int, datetime] = {}
    # Packed chunks are older than the others of their stream.
    for table, received_at in ((Chunk, Chunk.received_at), (PackedChunk, PackedChunk.last_received_at)):
        of_streams = table.stream_id.in_([row.id for row in streams])
        found = select(table.stream_id, func.min(received_at)).where(hosts, of_streams).group_by(table.stream_id)
        firsts |= {row[0]: row[1] for row in await session.execute(found)} if streams else {}
    now = datetime.now(UTC)
    return [(row.id, row.host_id, row.spec, list(row.stat_names), firsts.get(row.id, now)) for row in streams]


async def _remove_some(
    sessions: async_sessionmaker[AsyncSession], run_id: int, stream_id: int, host_id: int, before: datetime
) -> bool:
    """Remove the first packs or chunks of the stream as long as they came before that; whether there may be more.

    A pack goes when all of it is old: it holds chunks of one day.
    """
    async with open_write_session(sessions) as session:
        await set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
        # A reparse that has read them already looks again once it has the host; packing holds it as well.
        if await lock_host_by_id(session, host_id) is None:
            return False

        def of_stream(of_table: type[Chunk] | type[PackedChunk]) -> ColumnElement[bool]:
            return and_(of_table.stream_id == stream_id, *on_shard(host_id))

        old, is_any_left = await _find_old(session, PackedChunk, PackedChunk.last_received_at, of_stream(PackedChunk), before)
        if old:
            table: type[Chunk] | type[PackedChunk] = PackedChunk
        elif is_any_left:
            return False
        else:
            table = Chunk
            old, _ = await _find_old(session, Chunk, Chunk.received_at, of_stream(Chunk), before)
        if not old:
            return False
        kept_from = old[-1].end
        await session.execute(delete(table).where(of_stream(table), table.start_offset < kept_from))
        n_bytes = sum(one.end - one.start for one in old)
        put = insert(StreamChange).values(stream_id=stream_id, kept_from=kept_from)
        changed: dict[str, object] = {"kept_from": func.greatest(StreamChange.kept_from, kept_from)}
        if table is PackedChunk:
            changed["packed_bytes"] = StreamChange.packed_bytes - n_bytes
        await session.execute(put.on_conflict_do_update(index_elements=["stream_id"], set_=changed))
        n_chunks = sum(one.n_chunks for one in old)
        await retention_rules.note_removed(session, run_id, Removed(n_chunks=n_chunks, n_chunk_bytes=n_bytes))
        return len(old) == BATCH_CHUNKS or table is PackedChunk


@dataclass(frozen=True, slots=True)
class OldRawBytes:
    """Bytes [start, end) of a stream that may go."""

    start: int
    end: int
    n_chunks: int


async def _find_old(
    session: WriteSession,
    table: type[Chunk] | type[PackedChunk],
    received_at: InstrumentedAttribute[datetime],
    of_stream: ColumnElement[bool],
    before: datetime,
) -> tuple[list[OldRawBytes], bool]:
    """Return the first rows of the stream as long as they came before that, and whether the stream has any."""
    n_chunks = PackedChunk.n_chunks if table is PackedChunk else literal(1)
    query = (
        select(table.start_offset, table.end_offset, received_at, n_chunks)
        .where(of_stream)
        .order_by(table.start_offset)
        .limit(BATCH_CHUNKS)
    )
    rows = (await session.execute(query)).all()
    old = itertools.takewhile(lambda row: row[2] < before, rows)
    return [OldRawBytes(start, end, n) for start, end, _, n in old], bool(rows)
