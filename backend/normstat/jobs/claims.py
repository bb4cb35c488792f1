"""Claim jobs, report their progress, and end them.

A worker holds an advisory lock on a separate connection while it works. A killed worker loses the connection and with
it the lock: its jobs, still `running`, can be claimed at once. Each claim sets `started_at`, and every later change requires it,
so that a worker that lost its job changes nothing.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.session import WriteSession, open_locked_sessions, open_write_session
from normstat.db.turns import retry_wait_s

Sessions = async_sessionmaker[AsyncSession]

# Numbers that no other advisory lock has. The locks of single jobs are JOB_LOCKS + id.
REPARSE_LOCK: Final = 0x6E6F726D_00000011
REMOVAL_LOCK: Final = 0x6E6F726D_00000012
PROFILE_LOCK: Final = 0x6E6F726D_00000016
BACKTEST_LOCK: Final = 0x6E6F726D_00000018
JOB_LOCKS: Final = 0x6E6F726E_00000000
# Due jobs examined for one claim; others may be held by other workers.
MAX_CANDIDATES: Final = 100
MAX_MESSAGE_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class Lane:
    """Kinds of jobs that share workers. With a `lock` one worker of all processes runs one job at a time, without one many run.

    A job that `retries` is run again after a failure, later and later; others stay failed.
    """

    kinds: tuple[JobKind, ...]
    lock: int | None
    retries: frozenset[JobKind] = frozenset()


IMPORTS: Final = Lane((JobKind.IMPORT,), None)
REPARSES: Final = Lane((JobKind.REPARSE,), REPARSE_LOCK)
PROFILES: Final = Lane((JobKind.PROFILE,), PROFILE_LOCK, frozenset({JobKind.PROFILE}))
BACKTESTS: Final = Lane((JobKind.BACKTEST,), BACKTEST_LOCK)
# Both delete samples. A host that is being deleted is hidden already, so retention may come first.
REMOVALS: Final = Lane((JobKind.DELETION, JobKind.RETENTION), REMOVAL_LOCK, frozenset({JobKind.DELETION}))


class JobStopped(Exception):
    """The job was stopped, removed, queued again or taken over; its worker must change nothing more."""


class Claim:
    """A job that this worker runs."""

    def __init__(self, lane: Lane, job: Job) -> None:
        assert job.started_at is not None
        self.id = job.id
        self.kind = JobKind(job.kind)
        self.host_id = job.host_id
        self.baseline_id = job.baseline_id
        self.queued_at = job.queued_at
        self.started_at: datetime = job.started_at
        self.n_tries = job.n_tries
        self.n_total = job.n_total
        self._lane = lane

    async def report(self, session: WriteSession, **values: object) -> None:
        """Record progress: `n_done`, `n_total`, `message`; without any, a sign of life.

        Raises: JobStopped
        """
        if not await self._change(session, heartbeat_at=func.clock_timestamp(), **values):
            raise JobStopped

    async def finish(self, session: WriteSession, message: str = "") -> bool:
        """End the job as done; return False when it was not ours any more."""
        return await self._end(session, JobState.DONE, message=message, n_tries=0)

    async def fail(self, session: WriteSession, message: str) -> bool:
        """End this try as failed, and schedule the next one where the kind has one; return False when it was not ours any more."""
        is_retried = self.kind in self._lane.retries
        next_try_at = func.clock_timestamp() + timedelta(seconds=retry_wait_s(self.n_tries)) if is_retried else None
        return await self._end(session, JobState.FAILED, message=message[:MAX_MESSAGE_LENGTH], next_try_at=next_try_at)

    async def release(self, session: WriteSession) -> None:
        """Put the job back into the queue, after those that are due; this try does not count."""
        values = {"state": JobState.QUEUED, "n_tries": self.n_tries - 1, "next_try_at": func.clock_timestamp()}
        await self._change(session, **values)

    async def _end(self, session: WriteSession, state: JobState, **values: object) -> bool:
        fresh = {"state": state, "finished_at": func.clock_timestamp(), "heartbeat_at": func.clock_timestamp(), "next_try_at": None}
        return await self._change(session, **fresh | values)

    async def _change(self, session: WriteSession, **values: object) -> bool:
        is_ours = and_(Job.id == self.id, Job.state == JobState.RUNNING, Job.started_at == self.started_at)
        return (await session.execute(update(Job).where(is_ours).values(values).returning(Job.id))).first() is not None


class Claims:
    """The claims of a lane. `sessions` share the connection that holds the locks, and its temporary tables."""

    def __init__(self, lane: Lane, sessions: Sessions) -> None:
        self._lane = lane
        self._claimed: set[int] = set()
        self.sessions = sessions

    async def next(self, *, of: Collection[int] | None = None, host_id: int | None = None) -> Claim | None:
        """Claim the job that has been due longest, of these ids or of this host. Missing: None when none is due."""
        async with open_write_session(self.sessions) as session:
            for job_id in await list_due(session, self._lane.kinds, of=of, host_id=host_id, limit=MAX_CANDIDATES):
                if not await self._lock(session, job_id):
                    continue
                found = select(Job).where(Job.id == job_id, is_due()).with_for_update(skip_locked=True)
                job = await session.scalar(found, execution_options={"populate_existing": True})
                if job is None:
                    await self._unlock(session, job_id)
                    continue
                values = {"state": JobState.RUNNING, "n_tries": Job.n_tries + 1, "finished_at": None}
                times = {"started_at": func.clock_timestamp(), "heartbeat_at": func.clock_timestamp()}
                claimed = update(Job).where(Job.id == job_id).values(values | times).returning(Job)
                job = (await session.scalars(claimed, execution_options={"populate_existing": True})).one()
                return Claim(self._lane, job)
        return None

    async def _lock(self, session: AsyncSession, job_id: int) -> bool:
        """Lock the job where the lane has no lock; a session would get its own lock a second time."""
        if self._lane.lock is not None:
            return True
        if job_id in self._claimed or not await session.scalar(select(func.pg_try_advisory_lock(JOB_LOCKS + job_id))):
            return False
        self._claimed.add(job_id)
        return True

    async def _unlock(self, session: AsyncSession, job_id: int) -> None:
        if self._lane.lock is None:
            await session.scalar(select(func.pg_advisory_unlock(JOB_LOCKS + job_id)))
            self._claimed.discard(job_id)


@asynccontextmanager
async def open_claims(database_url: str, lane: Lane) -> AsyncIterator[Claims | None]:
    """Provide the claims of a lane on a separate connection; None when another worker has an exclusive lane."""
    async with open_locked_sessions(database_url, lane.lock) as sessions:
        yield None if sessions is None else Claims(lane, sessions)


@asynccontextmanager
async def open_claims_in(sessions: Sessions, lane: Lane) -> AsyncIterator[Claims | None]:
    """Provide the same on a connection of the pool; the jobs themselves may use others."""
    assert lane.lock is not None
    async with sessions() as holder:
        # Without a transaction, which would stay open for as long as the work takes.
        await holder.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
        if not await holder.scalar(select(func.pg_try_advisory_lock(lane.lock))):
            yield None
            return
        try:
            yield Claims(lane, sessions)
        finally:
            # Should this fail, the connection is gone, and with it the lock.
            await holder.scalar(select(func.pg_advisory_unlock(lane.lock)))


def is_due() -> ColumnElement[bool]:
    """Return the SQL condition of jobs to be run now. One that is running is due for the holder of its lock: its worker has
    died.
    """
    may_start = or_(Job.state == JobState.QUEUED, Job.state == JobState.FAILED)
    return or_(Job.state == JobState.RUNNING, and_(may_start, Job.next_try_at <= func.clock_timestamp()))


def select_due(lane: Lane) -> Select[int]:
    """Return the query of jobs of a lane that are due or running, for `DueWork`."""
    return select(Job.id).where(Job.kind.in_(lane.kinds), is_due())


async def list_due(
    session: AsyncSession,
    kinds: Sequence[JobKind],
    *,
    of: Collection[int] | None = None,
    host_id: int | None = None,
    limit: int | None = None,
) -> list[int]:
    """Return the ids of jobs that are due or running, in the order of the queue."""
    query = select(Job.id).where(Job.kind.in_(kinds), is_due()).order_by(Job.next_try_at, Job.id).limit(limit)
    if of is not None:
        query = query.where(Job.id.in_(of))
    if host_id is not None:
        query = query.where(Job.host_id == host_id)
    return list(await session.scalars(query))
