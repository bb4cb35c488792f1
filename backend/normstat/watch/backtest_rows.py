"""Backtests: asked for, run by a job, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints
from sqlalchemy import Select, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.schema.watch_models import BacktestRow
from normstat.errors import NotFound
from normstat.runtime.body import NO_NUL, Body, Instant, Name
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import name_some
from normstat.watch.rule_book import read_watch_book
from normstat.watch.rules.rule_file import MAX_BYTES
from normstat.watch.watch_lists import SeenValue, to_seen
from normstat.window import Window

MAX_LISTED: Final = 50
MAX_NAMED: Final = 3
RuleText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_BYTES, pattern=NO_NUL)]


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


class BacktestCreate(Body):
    """A rule's text to evaluate on recorded samples of hosts."""

    toml: RuleText
    hosts: Annotated[list[Name], Field(min_length=1, max_length=50)]
    start: Instant
    end: Instant


@dataclass(frozen=True, slots=True)
class PastEpisode(Documented):
    """An episode that a backtest found."""

    instance: str
    start: datetime
    last: datetime
    colour: str
    sentence: str
    saw: list[SeenValue]


@dataclass(frozen=True, slots=True)
class BacktestHost(Documented):
    """The findings of a rule in a host's recorded samples."""

    host: str
    problem: str
    """Why it could not be judged; empty if it was."""
    n_reports: int
    seconds: dict[str, float]
    """How long the worst instance had each colour."""
    unknown_s: float
    n_episodes: int
    n_a_week: float
    episodes: list[PastEpisode]
    """At most 1,000."""


@dataclass(frozen=True, slots=True)
class Backtest(Documented):
    """A rule evaluated on recorded samples of hosts, with its job's progress."""

    id: int
    job_id: int
    """Stop it by the job."""
    rule: str
    version: int | None
    """Version of the stored rule; null if the text was never stored."""
    hosts: list[str]
    start: datetime
    end: datetime
    state: JobState
    n_done: int
    n_total: int
    """Hours of samples of a host."""
    message: str
    asked_by: str
    asked_at: datetime
    is_present_text: bool
    """Whether the stored rule has exactly this text."""
    results: list[BacktestHost] | None
    """Null until it is done."""


async def add_backtest(session: AsyncSession, draft: BacktestDraft) -> Backtest:
    """Queue a backtest."""
    target = f"{draft.rule} on {name_some(draft.hosts, MAX_NAMED)}"
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


async def read_backtest(session: AsyncSession, backtest_id: int) -> Backtest:
    """Return a backtest.

    Raises: NotFound
    """
    found = (await session.execute(_select().where(BacktestRow.id == backtest_id))).one_or_none()
    if found is None:
        raise NotFound(f"There is no backtest {backtest_id}; GET /api/v1/backtests lists them", {"id": backtest_id})
    row, job = found
    return _to_backtest(row, job, await _read_text(session, row.rule))


async def find_backtest_of_job(session: AsyncSession, job_id: int) -> BacktestRow | None:
    """Return the backtest that a job runs. Missing: None when it was deleted meanwhile"""
    query = select(BacktestRow).where(BacktestRow.job_id == job_id)
    return await session.scalar(query, execution_options={"populate_existing": True})


async def list_backtests(session: AsyncSession, rule: str) -> list[Backtest]:
    """Return the backtests of a rule without their episodes, the latest first."""
    query = _select().where(BacktestRow.rule == rule).order_by(BacktestRow.id.desc()).limit(MAX_LISTED)
    text = await _read_text(session, rule)
    return [_without_episodes(_to_backtest(row, job, text)) for row, job in await session.execute(query)]


async def has_finished(session: AsyncSession, rule: str, toml: str) -> bool:
    """Return whether a backtest of exactly this text of a rule has finished."""
    done = (BacktestRow.rule == rule) & (BacktestRow.toml == toml) & (Job.state == JobState.DONE) & BacktestRow.result.is_not(None)
    return await session.scalar(select(BacktestRow.id).join(Job, Job.id == BacktestRow.job_id).where(done).limit(1)) is not None


async def save_result(session: AsyncSession, backtest_id: int, result: Mapping[str, object]) -> None:
    """Store what a backtest found."""
    await session.execute(update(BacktestRow).where(BacktestRow.id == backtest_id).values(result=dict(result)))


def _select() -> Select[BacktestRow, Job]:
    query = select(BacktestRow, Job).join(Job, Job.id == BacktestRow.job_id)
    return query.execution_options(populate_existing=True)


async def _read_text(session: AsyncSession, rule: str) -> str:
    """Return the present text of a rule. Missing: empty for one that is not stored"""
    booked = (await read_watch_book(session)).rules.get(rule)
    return "" if booked is None else booked.toml


def _to_backtest(row: BacktestRow, job: Job, toml: str) -> Backtest:
    hosts = None if row.result is None else row.result.get("hosts")
    return to_record(
        Backtest,
        row,
        start=row.start_at,
        end=row.end_at,
        state=JobState(job.state),
        n_done=job.n_done,
        n_total=job.n_total,
        message=job.message,
        asked_by=job.asked_by,
        asked_at=job.queued_at,
        is_present_text=row.toml == toml,
        results=[_to_result(each) for each in hosts] if isinstance(hosts, list) else None,
    )


def _to_result(stored: Mapping[str, object]) -> BacktestHost:
    seconds, episodes = stored.get("seconds"), stored.get("episodes")
    return BacktestHost(
        host=str(stored["host"]),
        problem=str(stored.get("problem", "")),
        n_reports=int(str(stored.get("n_reports", 0))),
        seconds=seconds if isinstance(seconds, dict) else {},
        unknown_s=float(str(stored.get("unknown_s", 0.0))),
        n_episodes=int(str(stored.get("n_episodes", 0))),
        n_a_week=float(str(stored.get("n_a_week", 0.0))),
        episodes=[_to_past(each) for each in episodes] if isinstance(episodes, list) else [],
    )


def _to_past(stored: Mapping[str, object]) -> PastEpisode:
    saw = stored["saw"]
    return PastEpisode(
        instance=str(stored["instance"]),
        start=datetime.fromisoformat(str(stored["start"])),
        last=datetime.fromisoformat(str(stored["last"])),
        colour=str(stored["colour"]),
        sentence=str(stored["sentence"]),
        saw=to_seen(saw) if isinstance(saw, list) else [],
    )


def _without_episodes(backtest: Backtest) -> Backtest:
    if backtest.results is None:
        return backtest
    return replace(backtest, results=[replace(result, episodes=[]) for result in backtest.results])
