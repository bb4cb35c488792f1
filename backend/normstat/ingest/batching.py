"""Stores requests in batches, one transaction each (ingest/transaction.py). Only what is committed is acknowledged.

An offset that this module returns is committed. A client that sends the same bytes again, or bytes from elsewhere in the stream,
gets the current offset of the stream, and nothing is stored twice.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.db.distribution import is_worker_away
from normstat.db.session import driver_of, make_sessions, open_write_session
from normstat.errors import DatabaseAway, NormstatError, TooLarge
from normstat.ingest.post_intervals import PostIntervals
from normstat.ingest.protocol import Ack, Frame
from normstat.ingest.transaction import (
    THREAD_BYTES,
    AgentIdentity,
    Batch,
    IngestCache,
    IngestRequest,
    MissingHosts,
    MissingTables,
    Recording,
    TooManyInstances,
)
from normstat.runtime import metrics
from normstat.runtime.input_limits import BATCHES_AT_ONCE, IngestLimits
from normstat.samples import ingest_rows
from normstat.samples.stat_tables import make_stat_tables

__all__ = ["AgentIdentity", "IngestQueue", "IngestRequest", "Recording", "ingest_request"]

log = structlog.get_logger()

# Each retry has the tables and hosts that the attempt before found missing; others may add columns in the meantime.
MAX_ATTEMPTS: Final = 5
RETRY_AFTER_S: Final = 5
# This much is read in about a second; a batch of large requests holds only a few.
BATCH_BYTES: Final = 4 << 20
BATCH_JOBS: Final = 64
# Smaller requests are batched only up to what is read without a thread: beyond that a batch saves nothing.
SMALL_BYTES: Final = 64 << 10
# A batch costs as much as four posts of small agents, whatever is in it. Where several hosts send, the next one begins no sooner
# than this after the last one began, unless there is enough to do: 30 posts of 1,000 agents that send every 5 s.
GATHER_S: Final = 0.15
GATHER_BYTES: Final = THREAD_BYTES
# Database errors when a name cached by this process no longer exists.
FORGOTTEN: Final = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.ForeignKeyViolation)
# A row of one of the requests is locked by another transaction.
TAKEN_APART: Final = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)

_memories: WeakKeyDictionary[AsyncEngine, IngestCache] = WeakKeyDictionary()


async def ingest_request(
    engine: AsyncEngine,
    *,
    agent: AgentIdentity,
    host_name: str,
    os: str,
    agent_version: str,
    host_time: float | None,
    frames: Sequence[Frame],
    recording: Recording | None = None,
) -> list[Ack]:
    """Store all frames of one request on its own; return the current offset of each stream named. All of it is committed.

    `recording` is set for an imported file: it says nothing about the host's present state.
    Raises: BadRequest for an invalid host name; NotAllowed when the token is for another host; DatabaseAway when the database is
    unavailable or busy (nothing was stored); TooLarge when the request is too large for one transaction
    """
    job = IngestRequest(agent, host_name, os, agent_version, host_time, frames, recording)
    job.require_host_name()
    await ingest_batch(engine, _memories.setdefault(engine, IngestCache()), [job])
    if job.error is not None:
        raise job.error
    return job.acks


def set_limits(engine: AsyncEngine, limits: IngestLimits) -> None:
    """Set how many new names may arrive through the engine, from agents and imports."""
    _memories.setdefault(engine, IngestCache()).limits = limits


@dataclass(eq=False, slots=True)
class QueuedRequest:
    """A request in the queue, with the bytes to read; `begun` is set when its batch begins, `done` when it ended."""

    job: IngestRequest
    n_bytes: int
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    error: BaseException | None = None


class IngestQueue:
    """Collects the requests that arrive while others are being written, and stores them together."""

    def __init__(self, engine: AsyncEngine, limits: IngestLimits | None = None) -> None:
        self._engine = engine
        self._memory = _memories.setdefault(engine, IngestCache())
        if limits is not None:
            set_limits(engine, limits)
        self.post_intervals = PostIntervals()
        self._waiting: list[QueuedRequest] = []
        self._hosts_at_work: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        # When the last batch began, and with which hosts.
        self._began_s = float("-inf")
        self._last_hosts: frozenset[str] = frozenset()
        # Runs `_start` at the end of a pause between batches.
        self._timer: asyncio.TimerHandle | None = None

    @property
    def n_waiting(self) -> int:
        """Number of requests that wait for a batch."""
        return len(self._waiting)

    async def submit(self, job: IngestRequest, *, longest_wait_s: float) -> list[Ack]:
        """Store the request together with others that wait.

        Raises: as ingest_request; TimeoutError when its turn did not come in time: nothing was stored
        """
        job.require_host_name()
        own = QueuedRequest(job, job.n_bytes)
        self._waiting.append(own)
        self._start()
        try:
            async with asyncio.timeout(longest_wait_s):
                await own.begun.wait()
        except (TimeoutError, asyncio.CancelledError):
            if own in self._waiting:
                self._waiting.remove(own)
            raise
        await own.done.wait()
        if own.error is not None:
            raise own.error
        if job.error is not None:
            raise job.error
        return job.acks

    def _start(self) -> None:
        """Start batches while enough requests wait and few enough batches are running."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting and len(self._tasks) < BATCHES_AT_ONCE:
            loop = asyncio.get_running_loop()
            pause_s = self._began_s + GATHER_S - loop.time()
            if pause_s > 0 and self._may_pause():
                self._timer = loop.call_later(pause_s, self._start)
                return
            chosen = self._choose()
            if not chosen:
                return
            self._began_s = loop.time()
            self._last_hosts = frozenset(own.job.host_name for own in chosen)
            task = asyncio.create_task(self._run(chosen), name="ingest-batch")
            self._tasks.add(task)
            task.add_done_callback(self._end)

    def _may_pause(self) -> bool:
        """Return whether the requests that wait may wait a little for others. A host that sends alone never does."""
        return (
            len(self._waiting) < BATCH_JOBS
            and any(own.job.host_name not in self._last_hosts for own in self._waiting)
            and sum(own.n_bytes for own in self._waiting) < GATHER_BYTES
        )

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._start()

    def _choose(self) -> list[QueuedRequest]:
        """Return the next batch: requests in order, one per host, of hosts without a running batch."""
        chosen: list[QueuedRequest] = []
        left: list[QueuedRequest] = []
        n_bytes = largest = 0
        for own in self._waiting:
            is_free = own.job.host_name not in self._hosts_at_work
            n_own = own.n_bytes
            limit = THREAD_BYTES if max(n_own, largest) <= SMALL_BYTES else BATCH_BYTES
            if is_free and len(chosen) < BATCH_JOBS and (not chosen or n_bytes + n_own <= limit):
                chosen.append(own)
                n_bytes += n_own
                largest = max(largest, n_own)
                self._hosts_at_work.add(own.job.host_name)
                own.begun.set()
            else:
                left.append(own)
        self._waiting = left
        return chosen

    async def _run(self, chosen: Sequence[QueuedRequest]) -> None:
        jobs = [own.job for own in chosen]
        try:
            with metrics.timed(metrics.INGEST_BATCH_SECONDS), self.post_intervals.working():
                await ingest_batch(self._engine, self._memory, jobs)
        except BaseException as error:
            for own in chosen:
                own.error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._hosts_at_work.difference_update(job.host_name for job in jobs)
            for own in chosen:
                own.done.set()


async def ingest_batch(engine: AsyncEngine, memory: IngestCache, jobs: Sequence[IngestRequest]) -> None:
    """Store requests of different hosts; each gets its acks or its error.

    Raises: DatabaseAway when the database is unavailable or busy: nothing was stored
    """
    try:
        await _ingest_together(engine, memory, jobs)
    except DatabaseAway as error:
        is_of_some = isinstance(_cause_of(error.__cause__), TAKEN_APART) or is_worker_away(error.__cause__)
        if len(jobs) == 1 or not is_of_some:
            raise
        await _ingest_one_by_one(engine, memory, jobs, error)
    except Exception as error:
        if len(jobs) == 1:
            if not isinstance(error, NormstatError):
                raise
            jobs[0].error = error
            return
        await _ingest_one_by_one(engine, memory, jobs, error)


async def _ingest_one_by_one(engine: AsyncEngine, memory: IngestCache, jobs: Sequence[IngestRequest], error: Exception) -> None:
    """Store each request on its own: one of them fails or must wait, and this shows which."""
    log.warning("batch_taken_apart", n_requests=len(jobs), error=type(error).__name__)
    for job in jobs:
        job.error, job.acks = None, []
        await _ingest_alone(engine, memory, job)


async def _ingest_alone(engine: AsyncEngine, memory: IngestCache, job: IngestRequest) -> None:
    try:
        await _ingest_together(engine, memory, [job])
    except NormstatError as error:
        job.error = error
    except Exception:
        # An unexpected error; the other requests must not suffer from it.
        log.exception("request_not_taken", host=job.host_name)
        job.error = NormstatError("Internal server error; nothing was stored; the server's log has the details")


async def _ingest_together(engine: AsyncEngine, memory: IngestCache, jobs: Sequence[IngestRequest]) -> None:
    sessions = make_sessions(engine)
    refused: dict[tuple[int, str], frozenset[str]] = {}
    try:
        for _ in range(MAX_ATTEMPTS):
            with memory.pauses.pause():
                is_stored = await _attempt(sessions, memory, jobs, refused)
            if is_stored:
                return
            for job in jobs:
                job.error = None
    except (DBAPIError, PoolTimeout, psycopg.Error) as error:
        memory.clear()
        known = _to_error(error)
        if known is None:
            raise
        raise known from error
    raise DatabaseAway("The tables are being changed; nothing was stored; send it again", {"retry_after_s": RETRY_AFTER_S})


async def _attempt(
    sessions: async_sessionmaker[AsyncSession],
    memory: IngestCache,
    jobs: Sequence[IngestRequest],
    refused: dict[tuple[int, str], frozenset[str]],
) -> bool:
    """Store the requests; return False when something had to be created or looked up first, and they must be retried."""
    try:
        async with open_write_session(sessions) as session:
            batch = Batch(session, memory, jobs, refused)
            await batch.store()
    except MissingTables as lacking:
        async with open_write_session(sessions) as session:
            await make_stat_tables(session, lacking.wanted)
        memory.stats.clear()
    except MissingHosts as lacking:
        try:
            async with open_write_session(sessions) as session:
                await ingest_rows.add_hosts(await driver_of(session), lacking.names)
        except BaseException:
            for token_id in lacking.tokens:
                memory.new_hosts.add(token_id, -1)
            raise
    except TooManyInstances as found:
        for place, names in found.refused.items():
            refused[place] = refused.get(place, frozenset()) | names
    except FORGOTTEN:
        memory.clear()
    else:
        batch.remember()
        batch.count()
        batch.log_news()
        return True
    return False


def _cause_of(error: BaseException | None) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _to_error(error: Exception) -> NormstatError | None:
    cause = _cause_of(error)
    if isinstance(cause, psycopg.errors.OutOfMemory | psycopg.errors.ConfigurationLimitExceeded):
        # A transaction can lock a limited number of chunks of a hypertable: these samples span too many different days.
        return TooLarge("The samples of this request span too many days for one transaction; send less at once")
    if isinstance(error, PoolTimeout) or isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseAway(
            "The database is unavailable or busy; nothing was stored; send it again", {"retry_after_s": RETRY_AFTER_S}
        )
    return None
