"""Rows of the rules of retention and of their runs: what may be removed, and what was.

A rule is for one stat, or (no stat) for all that have none of their own; its days for samples and for raw bytes are apart, and
None means for ever. Without rules everything is kept for ever. The results of watching have rules of their own, by the names in
RESULTS; the rule for all other stats is none of theirs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field, StringConstraints
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.job_models import Job, JobKind, JobState
from normstat.db.schema.models import StatTable
from normstat.db.schema.retention_models import RetentionRuleRow, RetentionRunRow
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NotFound, shorten
from normstat.runtime.body import NO_NUL, Body
from normstat.runtime.field_docs import Documented
from normstat.stats.catalogue import load_catalogue

# The name under which the rule for all other stats is kept.
OTHERS: Final = ""
# The scores of each minute, the states of rules, episodes that have ended, backtests: names that no stat can have.
RESULTS: Final = ("@scores", "@states", "@episodes", "@backtests")
# Rolling baselines leave out what was unusual in the last seven days.
MIN_RESULT_DAYS: Final = 8
MAX_DAYS: Final = 100_000
MAX_RUNS_LISTED: Final = 30
DAY: Final = timedelta(days=1)


StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
Days = Annotated[int, Field(ge=1, le=MAX_DAYS)]


class RetentionRulePut(Body):
    """For how many days the samples and the raw bytes of a stat are kept (null: for ever); stat null: all that have no rule;
    `@scores`, `@states`, `@episodes`, `@backtests`: the results of watching, for at least 8 days.
    """

    stat: StatName | None
    samples_days: Days | None
    chunks_days: Days | None


@dataclass(frozen=True, slots=True)
class RetentionRule(Documented):
    """A rule, and who changed it last."""

    stat: str | None
    """null: all stats without a rule of their own. Results of watching have names of their own: `@scores`, `@states`, `@episodes`
    (those that have ended) and `@backtests`."""

    samples_days: int | None
    """null: samples, or results, are kept for ever."""

    chunks_days: int | None
    """null: raw bytes are kept for ever."""

    updated_by: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class RetentionRun(Documented):
    """One application of the rules, at night or on request, and what it removed so far."""

    id: int
    job_id: int
    state: JobState
    message: str
    """Why it failed."""

    n_samples: int
    n_instances: int
    n_chunks: int
    n_chunk_bytes: int
    """Raw bytes as the hosts sent them."""

    n_results: int
    """Scores, states, episodes and backtests."""

    created_by: str
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Retention(Documented):
    """The rules, and their newest runs."""

    rules: list[RetentionRule]
    """The rule for all other stats first."""

    runs: list[RetentionRun]
    """Newest first."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What a piece of work removed."""

    n_samples: int = 0
    n_instances: int = 0
    n_chunks: int = 0
    n_chunk_bytes: int = 0
    n_results: int = 0


class Rules:
    """The rules at one time, as instants: older data may be removed."""

    def __init__(self, records: Iterable[RetentionRule], now: datetime) -> None:
        self._by_stat: Mapping[str | None, RetentionRule] = {record.stat: record for record in records}
        # Days are those of UTC, so that whole chunks of a hypertable can go, and whole blocks of rollups.
        self._today = now.replace(hour=0, minute=0, second=0, microsecond=0)

    def samples_from(self, stat: str) -> datetime | None:
        """Return samples of the stat before it may go. Missing: None when all are kept."""
        return self._back(self._of(stat, "samples_days"))

    def chunks_from(self, stats: Sequence[str]) -> datetime | None:
        """Raw bytes that came before it may go, of a stream with samples of these stats. Missing: None when all are kept.

        The stat that keeps them longest decides; a stream without a spec is under the rule for all others.
        """
        days = [self._of(stat, "chunks_days") for stat in stats or [OTHERS]]
        return None if None in days else self._back(max(day for day in days if day is not None))

    def results_from(self, name: str) -> datetime | None:
        """Return results of this kind before it may go. Missing: None when all are kept."""
        rule = self._by_stat.get(name)
        return None if rule is None else self._back(rule.samples_days)

    def _of(self, stat: str, what: str) -> int | None:
        rule = self._by_stat.get(stat, self._by_stat.get(None))
        found = None if rule is None else getattr(rule, what)
        return None if found is None else int(found)

    def _back(self, days: int | None) -> datetime | None:
        return None if days is None else self._today - min(days, MAX_DAYS) * DAY


async def read_retention(session: AsyncSession) -> Retention:
    """Return the rules and their newest runs."""
    return Retention(await read_rules(session), await list_runs(session))


async def read_rules(session: AsyncSession) -> list[RetentionRule]:
    """Return all rules, the one for all others first."""
    query = select(RetentionRuleRow).order_by(RetentionRuleRow.stat)
    rows = await session.scalars(query, execution_options={"populate_existing": True})
    return [to_record(RetentionRule, row, stat=row.stat or None) for row in rows]


async def put_rules(session: AsyncSession, rules: Sequence[RetentionRulePut], *, updated_by: str) -> None:
    """Replace all rules. A rule that stays as it is keeps the name of who changed it last.

    Raises: BadRequest for two rules of one stat, for an unknown stat, and for results that are not kept long enough
    """
    names = [rule.stat or OTHERS for rule in rules]
    if len(set(names)) < len(names):
        raise BadRequest("There are two rules for one stat; give one for each, and one without a stat for all others")
    known = {stat.name for spec in load_catalogue().specs.values() for stat in spec.stats} | set(
        await session.scalars(select(StatTable.name))
    )
    _require_results(rules)
    unknown = sorted(set(names) - known - {OTHERS, *RESULTS})
    if unknown:
        raise BadRequest(f"There is no stat {shorten(unknown[0])}; GET /api/v1/stats lists them", {"stat": unknown[0]})
    await session.execute(delete(RetentionRuleRow).where(RetentionRuleRow.stat.not_in(names)))
    for rule, name in zip(rules, names, strict=True):
        values = {"samples_days": rule.samples_days, "chunks_days": rule.chunks_days, "updated_by": updated_by}
        put = insert(RetentionRuleRow).values(stat=name, **values)
        old_samples_days, old_chunks_days = RetentionRuleRow.samples_days, RetentionRuleRow.chunks_days
        is_new = old_samples_days.is_distinct_from(rule.samples_days) | old_chunks_days.is_distinct_from(rule.chunks_days)
        await session.execute(
            put.on_conflict_do_update(index_elements=["stat"], set_={**values, "updated_at": func.now()}, where=is_new)
        )


def _require_results(rules: Sequence[RetentionRulePut]) -> None:
    for rule in rules:
        if rule.stat not in RESULTS:
            continue
        if rule.chunks_days is not None:
            raise BadRequest(f"{rule.stat} has no raw bytes; set the days of its samples only", {"stat": rule.stat})
        if rule.samples_days is not None and rule.samples_days < MIN_RESULT_DAYS:
            raise BadRequest(
                f"{rule.stat} is kept for at least {MIN_RESULT_DAYS} days; rolling baselines look back on seven",
                {"stat": rule.stat},
            )


async def add_run(session: AsyncSession, *, created_by: str) -> RetentionRun:
    """Return a new, queued run, or the one that is queued already."""
    queued = select(RetentionRunRow.id).join(RetentionRunRow.job).where(Job.state == JobState.QUEUED).limit(1)
    run_id = await session.scalar(queued)
    if run_id is None:
        row = RetentionRunRow(job=Job(kind=JobKind.RETENTION, unit="stats", asked_by=created_by))
        session.add(row)
        await session.flush()
        run_id = row.id
    return await read_run(session, run_id)


async def read_run(session: AsyncSession, run_id: int) -> RetentionRun:
    """Return the run as it stands.

    Raises: NotFound
    """
    query = select(RetentionRunRow).where(RetentionRunRow.id == run_id)
    row = await session.scalar(query, execution_options={"populate_existing": True})
    if row is None:
        raise NotFound(f"There is no run {run_id} of retention", {"id": run_id})
    return _to_run(row)


async def list_runs(session: AsyncSession) -> list[RetentionRun]:
    """Return the newest runs, the newest first."""
    query = select(RetentionRunRow).order_by(RetentionRunRow.id.desc()).limit(MAX_RUNS_LISTED)
    rows = await session.scalars(query, execution_options={"populate_existing": True})
    return [_to_run(row) for row in rows]


async def find_run(session: AsyncSession, job_id: int) -> int:
    """Return the id of the run of a job."""
    return (await session.scalars(select(RetentionRunRow.id).where(RetentionRunRow.job_id == job_id))).one()


async def note_removed(session: WriteSession, run_id: int, removed: Removed) -> None:
    """Count what was removed, in the transaction that removed it."""
    values = {
        "n_samples": RetentionRunRow.n_samples + removed.n_samples,
        "n_instances": RetentionRunRow.n_instances + removed.n_instances,
        "n_chunks": RetentionRunRow.n_chunks + removed.n_chunks,
        "n_chunk_bytes": RetentionRunRow.n_chunk_bytes + removed.n_chunk_bytes,
        "n_results": RetentionRunRow.n_results + removed.n_results,
    }
    await session.execute(update(RetentionRunRow).where(RetentionRunRow.id == run_id).values(values))


def _to_run(row: RetentionRunRow) -> RetentionRun:
    return to_record(
        RetentionRun,
        row,
        state=JobState(row.job.state),
        message=row.job.message,
        created_by=row.job.asked_by,
        created_at=row.job.queued_at,
        finished_at=row.job.finished_at,
    )
