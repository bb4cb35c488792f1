"""Takes requests: batches of them, in one transaction each (ingest/transaction.py). Nothing is taken that is not committed.

An offset that this module gives back is committed. Whoever sends the same bytes again, or bytes from elsewhere in the stream, is
told where the stream stands, and nothing is stored twice.
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

from normstat import metrics
from normstat.errors import DatabaseAway, NormstatError, TooLarge
from normstat.ingest.protocol import Ack, Frame
from normstat.ingest.transaction import AgentIdentity, Batch, HostsLacking, Job, Memory, Recording, TablesLacking, TooManyInstances
from normstat.ingest_limits import IngestLimits
from normstat.storage import ingest_rows
from normstat.storage.session import driver_of, make_sessions, open_write_session
from normstat.storage.stat_tables import make_stat_tables

__all__ = ["AgentIdentity", "Intake", "Job", "Recording", "take_request"]

log = structlog.get_logger()

# Every attempt after the first has the tables and hosts that the one before found missing; others may add columns meanwhile.
MAX_ATTEMPTS: Final = 5
RETRY_AFTER_S: Final = 5
# One batch is read while another one is written; more would only wait for the same two.
BATCHES_AT_ONCE: Final = 2
# So much is read in about a second; a batch of large requests has few of them.
BATCH_BYTES: Final = 4 << 20
BATCH_JOBS: Final = 64
# What the database says when a name that this process remembers is not there any more.
FORGOTTEN: Final = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.ForeignKeyViolation)
# Something of one of the requests is locked by somebody else.
TAKEN_APART: Final = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)

_memories: WeakKeyDictionary[AsyncEngine, Memory] = WeakKeyDictionary()


async def take_request(
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
    """Take all frames of one request, by itself; give where each stream named stands now. All of it is committed.

    `recording` is there when no agent sends but a file is imported: it says nothing of the host as it is now.
    Raises: BadRequest for a host name that cannot be one; NotAllowed when the token is for another host; DatabaseAway when the
    database does not answer or is busy (nothing was taken); TooLarge when it cannot take that much at once
    """
    job = Job(agent, host_name, os, agent_version, host_time, frames, recording)
    job.require_host_name()
    await take_jobs(engine, _memories.setdefault(engine, Memory()), [job])
    if job.error is not None:
        raise job.error
    return job.acks


def set_limits(engine: AsyncEngine, limits: IngestLimits) -> None:
    """Say how much that is new may come through the engine, by agents and by imports."""
    _memories.setdefault(engine, Memory()).limits = limits


@dataclass(eq=False, slots=True)
class Waiting:
    """A request in the queue; `begun` is set when its batch begins, `done` when it ended."""

    job: Job
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    error: BaseException | None = None


class Intake:
    """Gathers the requests that wait while others are being written, and takes them together."""

    def __init__(self, engine: AsyncEngine, limits: IngestLimits | None = None) -> None:
        self._engine = engine
        self._memory = _memories.setdefault(engine, Memory())
        if limits is not None:
            set_limits(engine, limits)
        self._waiting: list[Waiting] = []
        self._hosts_at_work: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def n_waiting(self) -> int:
        """Requests that wait for a batch."""
        return len(self._waiting)

    async def take(self, job: Job, *, longest_wait_s: float) -> list[Ack]:
        """Take the request together with others that wait.

        Raises: as take_request; TimeoutError when its turn did not come in time: nothing was taken
        """
        job.require_host_name()
        own = Waiting(job)
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
        """Begin batches, as long as there are requests and not too many batches at work."""
        while len(self._tasks) < BATCHES_AT_ONCE:
            chosen = self._choose()
            if not chosen:
                return
            task = asyncio.create_task(self._run(chosen), name="intake")
            self._tasks.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._start()

    def _choose(self) -> list[Waiting]:
        """Return the next batch: requests in their order, of hosts that are not at work, each host once."""
        chosen: list[Waiting] = []
        left: list[Waiting] = []
        n_bytes = 0
        for own in self._waiting:
            is_free = own.job.host_name not in self._hosts_at_work
            if is_free and len(chosen) < BATCH_JOBS and (not chosen or n_bytes + own.job.n_bytes <= BATCH_BYTES):
                chosen.append(own)
                n_bytes += own.job.n_bytes
                self._hosts_at_work.add(own.job.host_name)
                own.begun.set()
            else:
                left.append(own)
        self._waiting = left
        return chosen

    async def _run(self, chosen: Sequence[Waiting]) -> None:
        jobs = [own.job for own in chosen]
        try:
            with metrics.timed(metrics.INGEST_BATCH_SECONDS):
                await take_jobs(self._engine, self._memory, jobs)
        except BaseException as error:
            for own in chosen:
                own.error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._hosts_at_work.difference_update(job.host_name for job in jobs)
            for own in chosen:
                own.done.set()


async def take_jobs(engine: AsyncEngine, memory: Memory, jobs: Sequence[Job]) -> None:
    """Take requests of different hosts; each gets its acks or its error.

    Raises: DatabaseAway when the database does not answer or is busy: nothing was taken
    """
    try:
        await _take_together(engine, memory, jobs)
    except DatabaseAway as error:
        if len(jobs) == 1 or not isinstance(_cause_of(error.__cause__), TAKEN_APART):
            raise
        await _take_apart(engine, memory, jobs, error)
    except Exception as error:
        if len(jobs) == 1:
            if not isinstance(error, NormstatError):
                raise
            jobs[0].error = error
            return
        await _take_apart(engine, memory, jobs, error)


async def _take_apart(engine: AsyncEngine, memory: Memory, jobs: Sequence[Job], error: Exception) -> None:
    """Take each by itself: one of them cannot be taken, or must wait, and which one it is shows then."""
    log.warning("batch_taken_apart", n_requests=len(jobs), error=type(error).__name__)
    for job in jobs:
        job.error, job.acks = None, []
        await _take_alone(engine, memory, job)


async def _take_alone(engine: AsyncEngine, memory: Memory, job: Job) -> None:
    try:
        await _take_together(engine, memory, [job])
    except NormstatError as error:
        job.error = error
    except Exception:
        # Nobody knows what it is; the others must not suffer from it.
        log.exception("request_not_taken", host=job.host_name)
        job.error = NormstatError("Something went wrong in the server; nothing was taken; its log says what")


async def _take_together(engine: AsyncEngine, memory: Memory, jobs: Sequence[Job]) -> None:
    sessions = make_sessions(engine)
    refused: dict[tuple[int, str], frozenset[str]] = {}
    try:
        for _ in range(MAX_ATTEMPTS):
            if await _attempt(sessions, memory, jobs, refused):
                return
            for job in jobs:
                job.error = None
    except (DBAPIError, PoolTimeout, psycopg.Error) as error:
        memory.clear()
        known = _to_error(error)
        if known is None:
            raise
        raise known from error
    raise DatabaseAway("The tables are being changed; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S})


async def _attempt(
    sessions: async_sessionmaker[AsyncSession],
    memory: Memory,
    jobs: Sequence[Job],
    refused: dict[tuple[int, str], frozenset[str]],
) -> bool:
    """Take the requests; False when something had to be made or found out first, and they are to be tried again."""
    try:
        async with open_write_session(sessions) as session:
            batch = Batch(session, memory, jobs, refused)
            await batch.take()
    except TablesLacking as lacking:
        async with open_write_session(sessions) as session:
            await make_stat_tables(session, lacking.wanted)
        memory.stats.clear()
    except HostsLacking as lacking:
        async with open_write_session(sessions) as session:
            await ingest_rows.add_hosts(await driver_of(session), lacking.names)
        for token_id in lacking.tokens:
            memory.new_hosts.add(token_id, 1)
    except TooManyInstances as found:
        for place, names in found.refused.items():
            refused[place] = refused.get(place, frozenset()) | names
    except FORGOTTEN:
        memory.clear()
    else:
        batch.remember()
        batch.count()
        batch.log_what_is_new()
        return True
    return False


def _cause_of(error: BaseException | None) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _to_error(error: Exception) -> NormstatError | None:
    cause = _cause_of(error)
    if isinstance(cause, psycopg.errors.OutOfMemory | psycopg.errors.ConfigurationLimitExceeded):
        # A transaction can lock only so many chunks of a hypertable: these samples are of too many different days.
        return TooLarge("The samples of this request are of too many different days for one transaction; send less at once")
    if isinstance(error, PoolTimeout) or isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseAway(
            "The database does not answer or is busy; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S}
        )
    return None
