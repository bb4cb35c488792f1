"""Find the streams with old chunks, and put packs in their place."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import column, func, insert, table, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.pack_codec import Pack, StoredChunk
from normstat.db.connecting import is_citus
from normstat.db.distribution import HOST_ID
from normstat.db.schema.models import PackedChunk
from normstat.db.schema.retention_models import StreamChange
from normstat.db.session import WriteSession
from normstat.samples.stream_rows import lock_host_by_id

# From stream to stream along the index, however many chunks each of them has.
STREAMS_TO_PACK: Final = text("""
    WITH RECURSIVE firsts AS (
        (SELECT stream_id, received_at FROM chunks ORDER BY stream_id, start_offset LIMIT 1)
        UNION ALL
        SELECT following.stream_id, following.received_at
        FROM firsts CROSS JOIN LATERAL (
            SELECT c.stream_id, c.received_at FROM chunks AS c
            WHERE c.stream_id > firsts.stream_id ORDER BY c.stream_id, c.start_offset LIMIT 1
        ) AS following
    )
    SELECT firsts.stream_id, s.host_id FROM firsts JOIN streams AS s ON s.id = firsts.stream_id
    WHERE firsts.received_at < :before
    ORDER BY firsts.stream_id
""")

# On a cluster there is no index over all streams: each worker looks through the keys of its chunks, which have their host.
STREAMS_OF_CLUSTER: Final = text("""
    SELECT stream_id, host_id FROM chunks GROUP BY stream_id, host_id
    HAVING min(received_at) < :before
    ORDER BY stream_id
""")

# Counted by the database: to receive thousands of rows would stop the server's other work for a while.
DELETE_CHUNKS: Final = """
    WITH gone AS (
        DELETE FROM chunks WHERE {shard}stream_id = :stream_id AND start_offset >= :start AND start_offset < :end
        RETURNING end_offset - start_offset AS n_bytes
    )
    SELECT count(*) AS n_chunks, coalesce(sum(n_bytes), 0)::int8 AS n_bytes FROM gone
"""
DELETE_ON_DATABASE: Final = text(DELETE_CHUNKS.format(shard=""))
DELETE_ON_SHARD: Final = text(DELETE_CHUNKS.format(shard="host_id = CAST(:host_id AS int4) AND "))
# As on a cluster, with the host.
PACKED_SHARD: Final = table(
    PackedChunk.__tablename__, column(HOST_ID), *(column(one.name) for one in PackedChunk.__table__.columns)
)


class RawChunksChanged(Exception):
    """The chunks are no longer as they were read: another process packed them, or they were removed."""


async def list_streams_to_pack(session: AsyncSession, before: datetime) -> dict[int, int]:
    """Return the streams whose first chunk arrived before that, with their hosts."""
    rows = await session.execute(STREAMS_OF_CLUSTER if is_citus() else STREAMS_TO_PACK, {"before": before})
    return {int(row.stream_id): int(row.host_id) for row in rows}


async def replace_chunks(session: WriteSession, stream_id: int, host_id: int, chunks: Sequence[StoredChunk], pack: Pack) -> None:
    """Store the pack in the place of its chunks, with the host locked until the end of the transaction.

    Raises: RawChunksChanged when they are no longer as they were read; then the transaction must not be committed
    """
    # Retention and deletion hold it too.
    if await lock_host_by_id(session, host_id) is None:
        raise RawChunksChanged
    span = {"stream_id": stream_id, "start": pack.start, "end": pack.end}
    is_sharded = is_citus()
    owner = {HOST_ID: host_id} if is_sharded else {}
    gone = (await session.execute(DELETE_ON_SHARD if is_sharded else DELETE_ON_DATABASE, span | owner)).one()
    # Chunks never overlap: the same number of bytes and chunks between these offsets means the same chunks.
    if (gone.n_chunks, gone.n_bytes) != (len(chunks), pack.end - pack.start):
        raise RawChunksChanged
    row = {"start_offset": pack.start, "end_offset": pack.end, "n_chunks": pack.n_chunks, "last_received_at": pack.last_received_at}
    put_into = insert(PACKED_SHARD if is_sharded else PackedChunk)
    await session.execute(put_into.values(stream_id=stream_id, directory=pack.directory, body=pack.body, **row, **owner))
    put = upsert(StreamChange).values(stream_id=stream_id, packed_to=pack.end, packed_bytes=pack.end - pack.start)
    changed = {
        "packed_to": func.greatest(StreamChange.packed_to, put.excluded.packed_to),
        "packed_bytes": StreamChange.packed_bytes + put.excluded.packed_bytes,
    }
    await session.execute(put.on_conflict_do_update(index_elements=["stream_id"], set_=changed))
