"""Backtests: asked for, run by a job, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Select, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.schema.watch_models import BacktestRow
from normstat.errors import NotFound
from normstat.window import Window

MAX_LISTED: Final = 50


@dataclass(frozen=True, slots=True)
class BacktestDraft:
    """A backtest to run. `version`: of the stored rule with this text; None for a text that is not stored."""

    rule: str
    version: int | None
    toml: str
    hosts: Sequence[str]
    window: Window
    n_pieces: int
    asked_by: str


@dataclass(frozen=True, slots=True)
class BacktestRecord:
    """A backtest with its job. Missing: `result` is None until the job is done"""

    id: int
    job_id: int
    rule: str
    version: int | None
    toml: str
    hosts: Sequence[str]
    start: datetime
    end: datetime
    state: JobState
    n_done: int
    n_total: int
    message: str
    asked_by: str
    asked_at: datetime
    result: Mapping[str, object] | None


async def add_backtest(session: AsyncSession, draft: BacktestDraft) -> BacktestRecord:
    """Queue a backtest."""
    target = f"{draft.rule} on {', '.join(draft.hosts[:3])}{' and more' if len(draft.hosts) > 3 else ''}"
    job = Job(kind=JobKind.BACKTEST, target=target, n_total=draft.n_pieces, unit="hours", asked_by=draft.asked_by)
    session.add(job)
    await session.flush()
    row = BacktestRow(
        job_id=job.id,
        rule=draft.rule,
        version=draft.version,
        toml=draft.toml,
        hosts=list(draft.hosts),
        start_at=draft.window.start,
        end_at=draft.window.end,
    )
    session.add(row)
    await session.flush()
    return await read_backtest(session, row.id)


async def read_backtest(session: AsyncSession, backtest_id: int) -> BacktestRecord:
    """Return a backtest.

    Raises: NotFound
    """
    row = (await session.execute(_select().where(BacktestRow.id == backtest_id))).one_or_none()
    if row is None:
        raise NotFound(f"There is no backtest {backtest_id}; GET /api/v1/backtests lists them", {"id": backtest_id})
    return _to_record(*row)


async def find_backtest_of_job(session: AsyncSession, job_id: int) -> BacktestRecord | None:
    """Return the backtest that a job runs. Missing: None when it was deleted meanwhile"""
    row = (await session.execute(_select().where(BacktestRow.job_id == job_id))).one_or_none()
    return None if row is None else _to_record(*row)


async def list_backtests(session: AsyncSession, rule: str) -> list[BacktestRecord]:
    """Return the backtests of a rule, the latest first."""
    query = _select().where(BacktestRow.rule == rule).order_by(BacktestRow.id.desc()).limit(MAX_LISTED)
    return [_to_record(*row) for row in await session.execute(query)]


async def find_finished(session: AsyncSession, rule: str, toml: str) -> BacktestRecord | None:
    """Return the latest finished backtest of exactly this text of a rule. Missing: None without one"""
    done = (BacktestRow.rule == rule) & (BacktestRow.toml == toml) & (Job.state == JobState.DONE) & BacktestRow.result.is_not(None)
    row = (await session.execute(_select().where(done).order_by(BacktestRow.id.desc()).limit(1))).one_or_none()
    return None if row is None else _to_record(*row)


async def save_result(session: AsyncSession, backtest_id: int, result: Mapping[str, object]) -> None:
    """Store what a backtest found."""
    await session.execute(update(BacktestRow).where(BacktestRow.id == backtest_id).values(result=dict(result)))


def _select() -> Select[BacktestRow, Job]:
    query = select(BacktestRow, Job).join(Job, Job.id == BacktestRow.job_id)
    return query.execution_options(populate_existing=True)


def _to_record(row: BacktestRow, job: Job) -> BacktestRecord:
    return BacktestRecord(
        id=row.id,
        job_id=job.id,
        rule=row.rule,
        version=row.version,
        toml=row.toml,
        hosts=row.hosts,
        start=row.start_at,
        end=row.end_at,
        state=JobState(job.state),
        n_done=job.n_done,
        n_total=job.n_total,
        message=job.message,
        asked_by=job.asked_by,
        asked_at=job.queued_at,
        result=row.result,
    )
