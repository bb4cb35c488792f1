"""All ways to read the raw bytes of streams, for tests that compare them before and after packing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.pack_codec import StoredChunk
from normstat.compaction.packing_run import PackingDone, pack_chunks
from normstat.db.schema.models import Stream
from normstat.samples.chunks import ByteRange, read_batch, read_chunks, read_ranges
from tests.databases import Sessions

# In tests all chunks came just now.
LATER = timedelta(days=2)


async def pack_all(sessions: Sessions) -> PackingDone:
    """Packs whatever there is."""
    return await pack_chunks(sessions, before=datetime.now(UTC) + LATER, budget_s=600)


async def stream_ids(sessions: Sessions) -> list[int]:
    async with sessions() as session:
        return list(await session.scalars(select(Stream.id).order_by(Stream.id)))


async def read_whole(session: AsyncSession, stream_id: int, most_bytes: int = 5000) -> list[StoredChunk]:
    """All chunks of a stream, as a reparse reads them; the time they came at without what is less than a second."""
    found: list[StoredChunk] = []
    while batch := await read_batch(session, stream_id, start=found[-1].end if found else 0, most_bytes=most_bytes):
        found += batch
    return [replace(chunk, received_at=chunk.received_at.replace(microsecond=0)) for chunk in found]


async def view(sessions: Sessions, stream_id: int, offsets: Sequence[int]) -> list[object]:
    """What each way to read gives for a stream."""
    async with sessions() as session:
        chunks = await read_whole(session, stream_id)
        seen: list[object] = [chunks]
        end = chunks[-1].end if chunks else 0
        for offset in offsets:
            # Pieces may be joined where chunks follow each other; the bytes and where they begin are the same.
            runs: list[tuple[int, bytes]] = []
            async for start, data in read_chunks(session, stream_id, start=offset):
                if runs and runs[-1][0] + len(runs[-1][1]) == start:
                    runs[-1] = (runs[-1][0], runs[-1][1] + data)
                else:
                    runs.append((start, data))
            seen.append(runs)
            for length in (1, 700, 50_000):
                ranges = await read_ranges(session, [ByteRange(stream_id, offset, min(end, offset + length))])
                seen.append([(chunk.start, chunk.data) for chunk in ranges.get(stream_id, [])])
        return seen


async def views(sessions: Sessions, offsets: Sequence[int]) -> dict[int, list[object]]:
    return {stream_id: await view(sessions, stream_id, offsets) for stream_id in await stream_ids(sessions)}


def counts(url: str) -> tuple[int, int]:
    """How many chunks and how many packs there are."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM packed_chunks)").fetchone()
        assert row is not None
        return int(row[0]), int(row[1])
