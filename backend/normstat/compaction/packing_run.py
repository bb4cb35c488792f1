"""Pack the chunks of days that have passed, stream by stream, slowly enough not to be noticed.

A pack is compressed without any lock. Then one transaction, with the host locked for some milliseconds, deletes the chunks and
stores the pack: a process that is killed leaves one or the other. Chunks that changed since they were read stay until next time.
"""

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.codecs.pack_codec import Pack, StoredChunk, build_pack, group_chunks, pack_frame, read_directory
from normstat.db.schema.job_models import JobKind
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.errors import DamagedChunk
from normstat.jobs.periodic import recorded
from normstat.samples import pack_rows
from normstat.samples.chunks import read_hot_chunks
from normstat.samples.pack_rows import RawChunksChanged
from normstat.samples.stream_rows import set_time_limits
from normstat.window import begin_of_day

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]

# A pack takes some hundred kB. An agent that sends every 5 s makes 17,280 chunks a day of a stream; to delete this many takes
# some 20 ms.
MAX_PACK_BYTES: Final = 4 << 20
MAX_PACK_CHUNKS: Final = 4000
CHUNKS_AT_ONCE: Final = 250
# Of one core, and only while there is something to pack: some 450,000 values a second.
SHARE: Final = 0.5
# Ingest holds the host for some milliseconds at a time; a stream whose host is held longer waits for the next run.
LOCK_TIMEOUT_S: Final = 2
STATEMENT_TIMEOUT_S: Final = 60


@dataclass(frozen=True, slots=True)
class PackingDone:
    """The result of a run: how many of the streams with old chunks are done, raw bytes packed, and what they take now.

    `is_all`: nothing is left that could be packed now; `n_failed` streams wait for a retry.
    """

    n_streams: int = 0
    n_done: int = 0
    n_bytes: int = 0
    n_packed_bytes: int = 0
    is_all: bool = True
    n_failed: int = 0


def limit_at(now: datetime, after_days: int) -> datetime:
    """Return before when chunks must have arrived to be packed: packs are of whole days, so this is a midnight (UTC)."""
    return begin_of_day(now - timedelta(days=after_days))


async def run_packing(sessions: Sessions, *, after_days: int, budget_s: float, turns: Turns[int]) -> None:
    """Pack what is due, for about this many seconds, and record the run as a job."""
    async with recorded(sessions, JobKind.PACKING, unit="streams") as outcome:
        done = await pack_chunks(
            sessions, before=limit_at(datetime.now(UTC), after_days), budget_s=budget_s, turns=turns, share=SHARE
        )
        outcome.n_done, outcome.n_total = done.n_done, done.n_streams
        outcome.message = turns.tell_failures("stream")
    if done.n_bytes:
        log.info(
            "chunks_packed", n_bytes=done.n_bytes, n_packed_bytes=done.n_packed_bytes, n_streams=done.n_done, is_all=done.is_all
        )


async def pack_chunks(
    sessions: Sessions, *, before: datetime, budget_s: float, turns: Turns[int] | None = None, share: float = 1.0
) -> PackingDone:
    """Pack all chunks that arrived before that, until the time is over; use this share of a core.

    A stream that fails stops none of the others.
    """
    turns = Turns("packing_failed") if turns is None else turns
    ends_at = time.monotonic() + budget_s
    async with open_read_session(sessions) as session:
        hosts = await pack_rows.list_streams_to_pack(session, before)
    due = turns.order(list(hosts))
    n_done = n_bytes = n_packed_bytes = 0
    for stream_id in due:
        pack: Pack | None = None
        with turns.turn(stream_id, stream_id=stream_id):
            while True:
                pack = await pack_next(sessions, stream_id, hosts[stream_id], before=before, share=share)
                if pack is None:
                    break
                n_bytes += pack.end - pack.start
                n_packed_bytes += len(pack.body) + len(pack.directory)
                if time.monotonic() > ends_at:
                    break
        n_done += pack is None and stream_id not in turns.failures
        if time.monotonic() > ends_at:
            break
    is_all = n_done == len(hosts)
    return PackingDone(len(hosts), n_done, n_bytes, n_packed_bytes, is_all, len(turns.failures))


async def pack_next(sessions: Sessions, stream_id: int, host_id: int, *, before: datetime, share: float) -> Pack | None:
    """Pack the oldest chunks of the stream that are not packed. Missing: None when none is old enough, or others work on them."""
    chunks = await _read_run(sessions, stream_id, before)
    if not chunks:
        return None
    frames = []
    for group in group_chunks(chunks):
        began = time.monotonic()
        frames.append(await asyncio.to_thread(pack_frame, b"".join(chunk.data for chunk in group)))
        await asyncio.sleep((time.monotonic() - began) * (1 / share - 1))
    pack = build_pack(chunks, frames)
    _require_same_chunks(pack, chunks)
    try:
        async with open_write_session(sessions) as session:
            await set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
            await pack_rows.replace_chunks(session, stream_id, host_id, chunks, pack)
    except RawChunksChanged:
        return None
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.LockNotAvailable):
            return None
        raise
    return pack


async def _read_run(sessions: Sessions, stream_id: int, before: datetime) -> list[StoredChunk]:
    """Return the chunks of the next pack, read a few at a time: so the server's other work goes on in between."""
    chunks: list[StoredChunk] = []
    async with open_read_session(sessions) as session:
        while True:
            start = chunks[-1].end if chunks else 0
            n_left = MAX_PACK_BYTES - (start - chunks[0].start if chunks else 0)
            found = await read_hot_chunks(session, stream_id, start=start, most_bytes=n_left, most_chunks=CHUNKS_AT_ONCE)
            run = find_run([*chunks[-1:], *found], before)[1 if chunks else 0 :]
            chunks += run
            n_bytes = chunks[-1].end - chunks[0].start if chunks else 0
            if not run or len(run) < len(found) or n_bytes >= MAX_PACK_BYTES or len(chunks) >= MAX_PACK_CHUNKS:
                return chunks


def find_run(chunks: Sequence[StoredChunk], before: datetime) -> list[StoredChunk]:
    """Return the first of the chunks that make a pack: without a gap, of one day (UTC), from before an instant."""
    run: list[StoredChunk] = []
    for chunk in chunks:
        if chunk.received_at >= before:
            break
        if run and (chunk.start != run[-1].end or _day_of(chunk) != _day_of(run[0])):
            break
        run.append(chunk)
    return run


def _day_of(chunk: StoredChunk) -> int:
    return chunk.received_at.astimezone(UTC).toordinal()


def _require_same_chunks(pack: Pack, chunks: Sequence[StoredChunk]) -> None:
    """Check that the directory gives the chunks back.

    Raises: DamagedChunk
    """
    places = read_directory(pack.directory, pack.start, pack.end)
    starts = itertools.chain.from_iterable(place.chunk_starts for place in places)
    if list(starts) != [chunk.start for chunk in chunks] or places[-1].body_end != len(pack.body):
        raise DamagedChunk(f"The pack of the bytes {pack.start} to {pack.end} does not give its chunks back; they stay as they are")
