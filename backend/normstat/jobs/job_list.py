"""List jobs, stop them, try them again; count them for the metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import Baseline
from normstat.db.schema.job_models import OPEN_STATES, Job, JobKind, JobState, ReparseRow
from normstat.db.schema.models import Host
from normstat.db.session import WriteSession
from normstat.errors import Conflict, NotFound
from normstat.runtime.field_docs import Documented

RETRIED_STATES: Final = frozenset({JobState.FAILED, JobState.STOPPED})
REMOVES_DATA: Final = frozenset({JobKind.RETENTION, JobKind.DELETION})
# Retention runs every night, and each run is a job.
MAX_ENDED_RUNS: Final = 400
# A deletion has hidden the host already and cannot be undone; rollups and sealing follow the samples.
NOT_STOPPED: Final = {
    JobKind.DELETION: "The host is gone already; its deletion cannot be stopped",
    JobKind.ROLLUP: "Rollups are made every minute and cannot be stopped",
    JobKind.SEALING: "Samples are sealed every few minutes; NORMSTAT_SEAL_AFTER_DAYS=0 stops that",
    JobKind.PACKING: "Old raw bytes are packed by the clock; NORMSTAT_PACK_AFTER_DAYS=0 turns it off",
}
NOT_RETRIED: Final = {
    JobKind.IMPORT: "The server no longer has the file of a finished import; upload it again",
    JobKind.ROLLUP: "Rollups are tried again every minute",
    JobKind.SEALING: "Sealing is tried again every few minutes",
    JobKind.PACKING: "Packing is tried again every five minutes",
}


@dataclass(frozen=True, slots=True)
class JobInfo(Documented):
    """A background job as it is now."""

    id: int
    kind: JobKind
    host: str | None
    """Name of the host that it works on."""
    baseline: str | None
    """Name of the baseline it works on."""
    target: str
    """What it works on, apart from host and baseline."""
    state: JobState
    n_done: int
    """Progress, counted in `unit`."""
    n_total: int | None
    """Null while it is unknown."""
    unit: str
    message: str
    """Why it failed or was stopped."""
    n_tries: int
    asked_by: str
    queued_at: datetime
    started_at: datetime | None
    """Start of the latest try."""
    heartbeat_at: datetime | None
    """Last sign of life of the worker."""
    finished_at: datetime | None
    next_try_at: datetime | None
    """When a queued or failed job runs next."""
    is_stoppable: bool
    """Whether it may be stopped now."""
    is_retriable: bool
    """Whether it may be queued again now."""
    removes_data: bool
    """Whether it removes data: then only administrators stop or retry it."""


@dataclass(frozen=True, slots=True)
class JobList:
    """Background jobs: queued and running ones first, then the latest; at most 500."""

    jobs: list[JobInfo]


@dataclass(frozen=True, slots=True)
class JobFilter:
    """A filter of jobs: by kind, state and host; None: any."""

    kind: JobKind | None = None
    state: JobState | None = None
    host: str | None = None


@dataclass(frozen=True, slots=True)
class JobCount:
    """The number of jobs of a kind in a state, and when the oldest of them was queued."""

    kind: JobKind
    state: JobState
    n: int
    oldest_queued_at: datetime


async def list_jobs(session: AsyncSession, wanted: JobFilter, limit: int) -> list[JobInfo]:
    """Return jobs: queued and running ones first, then the latest."""
    query = _select_jobs()
    if wanted.kind is not None:
        query = query.where(Job.kind == wanted.kind)
    if wanted.state is not None:
        query = query.where(Job.state == wanted.state)
    if wanted.host is not None:
        query = query.where(Host.name == wanted.host)
    last_change = func.coalesce(Job.finished_at, Job.queued_at)
    query = query.order_by(Job.state.in_(OPEN_STATES).desc(), last_change.desc(), Job.id.desc()).limit(limit)
    return [_to_info(job, host, baseline) for job, host, baseline in await session.execute(query)]


async def read_job(session: AsyncSession, job_id: int) -> JobInfo:
    """Return the job.

    Raises: NotFound
    """
    query = _select_jobs().where(Job.id == job_id)
    row = (await session.execute(query, execution_options={"populate_existing": True})).one_or_none()
    if row is None:
        raise NotFound(f"There is no job {job_id}", {"id": job_id})
    return _to_info(row[0], row[1], row[2])


async def stop_job(session: AsyncSession, job_id: int, *, message: str) -> JobInfo:
    """Stop a job that is queued, running or waiting for a retry; completed work is kept.

    Raises: NotFound, Conflict
    """
    job = await _lock_job(session, job_id)
    kind = JobKind(job.kind)
    if kind in NOT_STOPPED:
        raise Conflict(NOT_STOPPED[kind], {"id": job_id})
    if not _has_next_step(job):
        raise Conflict(f"Job {job_id} is {job.state} already", {"id": job_id, "state": job.state})
    values = {"state": JobState.STOPPED, "message": message, "next_try_at": None, "finished_at": func.now()}
    await session.execute(update(Job).where(Job.id == job_id).values(values))
    return await read_job(session, job_id)


async def retry_job(session: AsyncSession, job_id: int) -> JobInfo:
    """Queue a job again that failed or was stopped.

    Raises: NotFound, Conflict
    """
    job = await _lock_job(session, job_id)
    kind = JobKind(job.kind)
    if kind in NOT_RETRIED:
        raise Conflict(NOT_RETRIED[kind], {"id": job_id})
    if job.state not in RETRIED_STATES:
        raise Conflict(
            f"Job {job_id} is {job.state}; only failed and stopped jobs are tried again", {"id": job_id, "state": job.state}
        )
    values = {"state": JobState.QUEUED, "n_done": 0, "message": "", "n_tries": 0}
    times = {"queued_at": func.clock_timestamp(), "next_try_at": func.clock_timestamp(), "started_at": None, "finished_at": None}
    await session.execute(update(Job).where(Job.id == job_id).values(values | times))
    if kind is JobKind.REPARSE:
        counts = ("last_stream_id", "n_streams_done", "n_samples_before", "n_samples_after", "n_rejected_after")
        await session.execute(update(ReparseRow).where(ReparseRow.job_id == job_id).values(dict.fromkeys(counts, 0)))
    return await read_job(session, job_id)


async def count_jobs(session: AsyncSession) -> Sequence[JobCount]:
    """Return the number of jobs by kind and state."""
    query = select(Job.kind, Job.state, func.count(), func.min(Job.queued_at)).group_by(Job.kind, Job.state)
    return [JobCount(JobKind(kind), JobState(state), n, oldest) for kind, state, n, oldest in await session.execute(query)]


async def forget_old_runs(session: WriteSession) -> None:
    """Remove all but the latest runs of retention and backtests that have ended."""
    for kind in (JobKind.RETENTION, JobKind.BACKTEST):
        ended = select(Job.id).where(Job.kind == kind, Job.state.not_in(OPEN_STATES)).order_by(Job.id.desc())
        await session.execute(delete(Job).where(Job.id.in_(ended.offset(MAX_ENDED_RUNS))))


async def _lock_job(session: AsyncSession, job_id: int) -> Job:
    found = select(Job).where(Job.id == job_id).with_for_update()
    job = await session.scalar(found, execution_options={"populate_existing": True})
    if job is None:
        raise NotFound(f"There is no job {job_id}", {"id": job_id})
    return job


def _select_jobs() -> Select[Job, str, str]:
    """Return the query; a job without a host or a baseline has None for its name."""
    query = select(Job, Host.name, Baseline.name).outerjoin(Host, Host.id == Job.host_id)
    return query.outerjoin(Baseline, Baseline.id == Job.baseline_id)


def _has_next_step(job: Job) -> bool:
    return job.state in OPEN_STATES or job.next_try_at is not None


def _to_info(job: Job, host: str | None, baseline: str | None) -> JobInfo:
    kind = JobKind(job.kind)
    return to_record(
        JobInfo,
        job,
        kind=kind,
        host=host,
        baseline=baseline,
        state=JobState(job.state),
        n_total=job.n_total or None,
        next_try_at=job.next_try_at if job.state in {JobState.QUEUED, JobState.FAILED} else None,
        is_stoppable=kind not in NOT_STOPPED and _has_next_step(job),
        is_retriable=kind not in NOT_RETRIED and job.state in RETRIED_STATES,
        removes_data=kind in REMOVES_DATA,
    )
