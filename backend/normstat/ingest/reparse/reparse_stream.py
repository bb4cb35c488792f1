"""Derive the samples of a stream again from its raw bytes; see ADR 7.

The stream is read from its first byte into temporary tables, in small transactions and without a lock. Then one transaction
replaces its old samples, and holds the lock of its host while it reads the bytes that arrived meanwhile: nothing is lost or
doubled, and readers see all of the old or all of the new samples. A process that dies leaves the old ones.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.codecs.pack_codec import StoredChunk
from normstat.db.hypertables import allow_large_changes
from normstat.db.schema.models import Host, Stream
from normstat.db.session import WriteSession, driver_of, open_write_session
from normstat.errors import Conflict, DatabaseAway, NotFound
from normstat.ingest.reparse.reparse_reader import Rereading
from normstat.ingest.reparse.staging import Replaced, Staging
from normstat.records.stream_changes import note_replaced, require_all_kept
from normstat.runtime.input_limits import MAX_NEW_INSTANCES
from normstat.samples import stream_rows
from normstat.samples.chunks import read_batch
from normstat.samples.sealed.sealed_rows import wait_seal_lock
from normstat.samples.stat_tables import RequiredTable, StoredStat, make_stat_tables, read_stored_stats
from normstat.samples.stream_rows import is_being_deleted, move_stream
from normstat.samples.table_plan import TablePlan
from normstat.stats.records import LineKind, SampleBlock
from normstat.stats.spec import Spec
from normstat.window import from_us

Sessions = async_sessionmaker[AsyncSession]
# Called with the number of bytes read; it may raise JobStopped.
Watch = Callable[[int], Awaitable[None]]
# Runs in the transaction that replaces the samples.
Note = Callable[[WriteSession, "StreamOutcome"], Awaitable[None]]

# Bytes read at a time: enough to read in bulk, few enough to notice a stop soon.
BATCH_BYTES: Final = 4 << 20
# When less than this is left, the rest may be read with the host locked.
TAIL_BYTES: Final = 256 << 10
# Agents send every few seconds: a stream that was silent for this long probably gets nothing while its samples are replaced.
QUIET: Final = timedelta(minutes=2)
# Rules and scores judge what was replaced again as far back as what comes late.
JUDGED_AGAIN: Final = timedelta(hours=24)
MAX_ATTEMPTS: Final = 6
RETRY_S: Final = 1.0
LOCK_TIMEOUT_S: Final = 60
# Replacing ten million rows takes some minutes.
STATEMENT_TIMEOUT_S: Final = 6 * 3600


class Moved(Exception):
    """More of the stream came while its samples were replaced without a lock."""


class Lacking(Exception):
    """The end of the stream needs tables or columns that are not there."""

    def __init__(self, wanted: list[RequiredTable]) -> None:
        super().__init__()
        self.wanted = wanted


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """How many samples there were and are, and how many lines are rejected now."""

    n_before: int
    n_after: int
    n_rejected: int


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """The host of a stream's samples, and the shift of their times.

    Units: microseconds.
    """

    host_id: int
    shift_us: int


class StreamReparse:
    """One stream that is read again with a spec. The sessions share one connection, which has the temporary tables.

    With another `place` its samples, events and raw bytes move there in the transaction that replaces the samples.
    """

    def __init__(
        self,
        sessions: Sessions,
        stream: Stream,
        spec: Spec,
        *,
        watch: Watch,
        note: Note,
        max_new_instances: int = MAX_NEW_INSTANCES,
        place: StreamPlace | None = None,
    ) -> None:
        self._sessions = sessions
        self._max_new_instances = max_new_instances
        self._stream_id = stream.id
        self._old_place = StreamPlace(stream.host_id, stream.timing.shift_us)
        self._place = place or self._old_place
        self._spec = spec
        self._watch = watch
        self._note = note
        timing = replace(stream.timing, shift_us=self._place.shift_us)
        self._reading = Rereading(spec, self._place.host_id, stream.command, timing)
        self._stored: dict[str, StoredStat] = {}
        self._plan = TablePlan([spec], {})

    async def run(self) -> StreamOutcome:
        """Read the stream and replace its samples.

        Raises: JobStopped from the watch; NotFound when the stream was deleted; Conflict when raw bytes of the stream were removed;
        DatabaseAway when others would not let the host or its tables go
        """
        async with open_write_session(self._sessions) as session:
            await require_all_kept(session, self._stream_id)
            await self._load_plan(session)
        staging = Staging(host_id=self._place.host_id, stream_id=self._stream_id)
        await self._stage(staging)
        try:
            return await self._replace(staging)
        finally:
            async with open_write_session(self._sessions) as session:
                await staging.clear(session)

    async def _stage(self, staging: Staging) -> None:
        """Read and stage all stored bytes, except a small end that may still be growing."""
        n_read = 0
        while True:
            async with open_write_session(self._sessions) as session:
                batch = await read_batch(session, self._stream_id, start=self._reading.next_offset, most_bytes=BATCH_BYTES)
            n_bytes = sum(len(chunk.data) for chunk in batch)
            if not batch:
                return
            async with open_write_session(self._sessions) as session:
                self._reading, blocks = await self._read(session, self._reading, batch, staging)
            await self._make_tables(self._lacking(blocks))
            async with open_write_session(self._sessions) as session:
                await staging.add(session, blocks, self._stored)
            n_read += n_bytes
            await self._watch(n_read)
            if n_bytes < TAIL_BYTES:
                return

    async def _read(
        self, session: WriteSession, reading: Rereading, batch: Sequence[StoredChunk], staging: Staging
    ) -> tuple[Rereading, list[SampleBlock]]:
        """Read the chunks that follow; where the reading stands then, and the samples.

        As at ingest, rows of instances that are too many within an hour are rejected; those that exist already are not counted.
        """
        before = reading.copy()
        blocks = await asyncio.to_thread(reading.read, batch, self._plan)
        refused = await staging.find_refused(session, blocks, self._stored, self._max_new_instances)
        if not refused:
            return reading, blocks
        before.refused = refused
        blocks = await asyncio.to_thread(before.read, batch, self._plan)
        before.refused = {}
        return before, blocks

    async def _replace(self, staging: Staging) -> StreamOutcome:
        mark = staging.mark()
        async with open_write_session(self._sessions) as session:
            last_received_at = (await self._read_stream(session)).last_received_at
        async with open_write_session(self._sessions) as session:
            await staging.make_room(session)
        is_quiet = last_received_at is not None and datetime.now(UTC) - last_received_at > QUIET
        for attempt in range(MAX_ATTEMPTS):
            staging.go_back(mark)
            try:
                async with open_write_session(self._sessions) as session:
                    await stream_rows.set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
                    await allow_large_changes(session)
                    return await self._swap(session, staging, locks_first=not is_quiet)
            except Moved:
                is_quiet = False
            except Lacking as lacking:
                await self._make_tables(lacking.wanted)
            except (DBAPIError, psycopg.Error) as error:
                if not is_passing(error):
                    raise
                await asyncio.sleep(RETRY_S * 2**attempt)
        raise DatabaseAway("The host or its tables were locked by other transactions throughout; nothing was changed; try again")

    async def _swap(self, session: WriteSession, staging: Staging, *, locks_first: bool) -> StreamOutcome:
        """Replace the old samples by the new ones.

        Without `locks_first` the host is locked at the end, for a moment; that is right when nothing more of the stream came.
        Raises: Moved; Lacking
        """
        for host_id in self._host_ids:
            await wait_seal_lock(await driver_of(session), host_id)
        host = await self._lock_hosts(session) if locks_first else None
        stream = await self._read_stream(session)
        reading, blocks = await self._read_end(session, self._reading.copy(), stream, staging)
        if reading.n_passed != stream.n_gap_bytes:
            # A restore of a damaged database may have left the bytes out; only the samples are left.
            n_missing = reading.n_passed - stream.n_gap_bytes
            raise Conflict(f"{n_missing:,} raw bytes of the stream are missing; its samples stay as they are")
        wanted = self._lacking(blocks)
        if wanted:
            raise Lacking(wanted)
        await staging.add(session, blocks, self._stored)
        end, is_finished = stream.acked_offset, stream.is_finished
        span = None
        if stream.first_sample_at is not None and stream.last_sample_at is not None:
            span = (stream.first_sample_at, stream.last_sample_at)
        is_moved = len(self._host_ids) > 1
        # The rows of the old host only go.
        old = Staging(host_id=self._old_place.host_id, stream_id=stream.id) if is_moved else staging
        replaced = await old.replace(session, await self._old_stats(session, stream), span)
        if is_moved:
            replaced = replace(await staging.replace(session, (), None), n_before=replaced.n_before)
        if host is None:
            host = await self._lock_hosts(session)
            stream = await self._read_stream(session)
            if (stream.acked_offset, stream.is_finished) != (end, is_finished):
                raise Moved
        if is_moved:
            await old.settle(session)
        await staging.settle(session)
        if self._place != self._old_place:
            stream.shift_s = self._place.shift_us / 1_000_000
            await move_stream(session, stream, host.id, timedelta(microseconds=self._place.shift_us - self._old_place.shift_us))
        await _write(session, host, stream, reading, replaced)
        await note_replaced(session, stream.id, _first_to_judge(stream))
        outcome = StreamOutcome(replaced.n_before, replaced.n_after, stream.n_rejected)
        await self._note(session, outcome)
        return outcome

    async def _read_end(
        self, session: WriteSession, reading: Rereading, stream: Stream, staging: Staging
    ) -> tuple[Rereading, list[SampleBlock]]:
        """Read what was not staged yet, up to the acknowledged end."""
        blocks: list[SampleBlock] = []
        while batch := await read_batch(session, stream.id, start=reading.next_offset, most_bytes=BATCH_BYTES):
            reading, more = await self._read(session, reading, batch, staging)
            blocks += more
        return reading, blocks + reading.finish(stream.acked_offset, self._plan, is_finished=stream.is_finished)

    async def _old_stats(self, session: WriteSession, stream: Stream) -> list[str]:
        """Return the stats that have rows of the stream."""
        # A program that did not note the names yet may have written the rows: they belong to the spec's stats then.
        names = stream.stat_names or [stat.name for stat in self._spec.stats]
        return list(await read_stored_stats(session, names))

    async def _read_stream(self, session: WriteSession) -> Stream:
        stream = await session.get(Stream, self._stream_id, populate_existing=True)
        if stream is None:
            raise NotFound(f"The stream {self._stream_id} was deleted")
        # Looked at once more with the host locked: retention removes bytes only under that lock.
        await require_all_kept(session, stream.id)
        return stream

    @property
    def _host_ids(self) -> list[int]:
        """The hosts that lose or get samples, in the order in which everybody locks hosts."""
        return sorted({self._old_place.host_id, self._place.host_id})

    async def _lock_hosts(self, session: WriteSession) -> Host:
        """Lock the hosts; return the one that has the samples afterwards."""
        for host_id in self._host_ids:
            host = await stream_rows.lock_host_by_id(session, host_id)
            if host is None or await is_being_deleted(session, host_id):
                raise NotFound(f"The host of stream {self._stream_id} was deleted")
        return await session.get_one(Host, self._place.host_id)

    def _lacking(self, blocks: list[SampleBlock]) -> list[RequiredTable]:
        return self._plan.lacking(block.stat.name for block in blocks)

    async def _make_tables(self, wanted: list[RequiredTable]) -> None:
        if not wanted:
            return
        for attempt in range(MAX_ATTEMPTS):
            try:
                async with open_write_session(self._sessions) as session:
                    await make_stat_tables(session, wanted)
                    break
            except (DBAPIError, psycopg.Error) as error:
                if not is_passing(error):
                    raise
                await asyncio.sleep(RETRY_S * 2**attempt)
        else:
            raise DatabaseAway("The tables were in use by other transactions throughout; nothing was changed; try again")
        async with open_write_session(self._sessions) as session:
            await self._load_plan(session)

    async def _load_plan(self, session: WriteSession) -> None:
        self._stored = await read_stored_stats(session, [stat.name for stat in self._spec.stats])
        self._plan = TablePlan([self._spec], self._stored)


async def _write(session: WriteSession, host: Host, stream: Stream, reading: Rereading, replaced: Replaced) -> None:
    """Write the row of the stream, and its rejected lines."""
    stream.spec_version = stream.reader_version = reading.spec.version
    stream.reader_state = reading.state
    for kind in LineKind:
        setattr(stream, stream_rows.COUNTERS[kind], reading.n_lines[kind])
    stream.bytes_by_kind = {kind.value: n for kind, n in reading.n_bytes.items()}
    stream.stat_names = replaced.stat_names
    stream.first_sample_at = None if replaced.first_us is None else from_us(replaced.first_us)
    stream.last_sample_at = None if replaced.last_us is None else from_us(replaced.last_us)
    lines = sorted(((line.line, line.received_at) for line in reading.rejected), key=lambda found: found[0].offset)
    await stream_rows.replace_rejected(session, stream.id, lines)
    if stream.last_sample_at is not None:
        await stream_rows.announce(session, host=host.name, spec=stream.spec, last_sample_at=stream.last_sample_at)


def is_passing(error: DBAPIError | psycopg.Error) -> bool:
    """Return whether the error is a conflict with another transaction, which may be gone the next time."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(
        cause, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure
    )


def _first_to_judge(stream: Stream) -> datetime | None:
    """Return from when on rules and scores judge the samples again. Missing: None where all are too old for that"""
    if stream.first_sample_at is None or stream.last_sample_at is None:
        return None
    oldest = datetime.now(UTC) - JUDGED_AGAIN
    return max(stream.first_sample_at, oldest) if stream.last_sample_at >= oldest else None
