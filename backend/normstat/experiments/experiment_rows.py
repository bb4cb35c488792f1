"""Stored experiments: their runs, what each run measured, and the artefacts that belong to it."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import flush_name, name_taken
from normstat.db.schema.artefact_models import ArtefactRow
from normstat.db.schema.experiment_models import ExperimentRow, ExperimentRunRow, RunArtefactRow, RunResultRow
from normstat.db.schema.models import Host
from normstat.errors import BadRequest, NotFound, TooLarge, shorten
from normstat.records.webhook_rows import Topic, tell_webhooks
from normstat.runtime.field_docs import Documented
from normstat.stats.measured_value import MeasuredValue
from normstat.window import Window

EXPERIMENT: Final = "Experiment"
MAX_RUNS: Final = 5000
# A deleted experiment or run can be restored for this long.
RESTORABLE: Final = timedelta(days=1)


class RunSource(StrEnum):
    """The source of a run."""

    CLI = "cli"
    API = "api"
    AGENT = "agent"
    PAGE = "page"
    ARTEFACT = "artefact"


@dataclass(frozen=True, slots=True)
class Experiment(Documented):
    """A named set of runs."""

    id: int
    name: str
    title: str
    note: str
    author: str
    created: datetime
    n_runs: int
    first: datetime | None
    """When the first run began; null without runs."""

    last: datetime | None
    hosts: list[str]
    factors: list[str]
    """Names of the factors of its runs."""


@dataclass(frozen=True, slots=True)
class ExperimentPage(Documented):
    """A page of a list of experiments, the one with the newest run first."""

    experiments: list[Experiment]
    n_total: int


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is stored; `results` in the order in which they were measured."""

    id: int
    experiment_id: int
    host: str
    start: datetime
    end: datetime | None
    factors: dict[str, str]
    command: str
    exit_status: int | None
    note: str
    excluded_reason: str
    source: str
    author: str
    results: list[MeasuredValue]
    artefacts: list[int]


@dataclass(frozen=True, slots=True)
class RunDraft:
    """A run to store; the host is made if needed."""

    host: str
    start: datetime
    end: datetime | None
    factors: Mapping[str, str]
    command: str
    exit_status: int | None
    note: str
    source: RunSource
    author: str
    results: Sequence[MeasuredValue]
    artefacts: Sequence[int]

    def __post_init__(self) -> None:
        """Raise BadRequest when it ends before it starts."""
        if self.end is not None and self.end < self.start:
            raise BadRequest(f"The run ends at {self.end.isoformat()}, before its start {self.start.isoformat()}")


@dataclass(frozen=True, slots=True)
class RunChange:
    """The members of a run that people may change. `results` None: they stay."""

    factors: Mapping[str, str]
    note: str
    excluded_reason: str
    results: Sequence[MeasuredValue] | None
    artefacts: Sequence[int] | None


async def list_experiments(session: AsyncSession, words: Sequence[str], *, limit: int, offset: int) -> ExperimentPage:
    """Return a page of experiments that have all the words in their name, title or note."""
    found: list[ColumnElement[bool]] = [ExperimentRow.deleted_at.is_(None)]
    for word in words:
        columns = (ExperimentRow.name, ExperimentRow.title, ExperimentRow.note)
        found.append(or_(*(column.icontains(word, autoescape=True) for column in columns)))
    newest = (
        select(func.max(ExperimentRunRow.start_at))
        .where(ExperimentRunRow.experiment_id == ExperimentRow.id, ExperimentRunRow.deleted_at.is_(None))
        .scalar_subquery()
    )
    order = (func.coalesce(newest, ExperimentRow.created_at).desc(), ExperimentRow.id.desc())
    rows = (await session.scalars(select(ExperimentRow).where(*found).order_by(*order).limit(limit).offset(offset))).all()
    n_total = await session.scalar(select(func.count()).select_from(ExperimentRow).where(*found))
    return ExperimentPage(await _to_experiments(session, rows), n_total or 0)


async def read_experiment(session: AsyncSession, experiment_id: int) -> Experiment:
    """Return an experiment.

    Raises: NotFound
    """
    return (await _to_experiments(session, [await _require_experiment(session, experiment_id)]))[0]


async def find_experiment(session: AsyncSession, name: str) -> Experiment:
    """Return the experiment of that name, or of that number.

    Raises: NotFound
    """
    live = ExperimentRow.deleted_at.is_(None)
    row = (await session.scalars(select(ExperimentRow).where(ExperimentRow.name == name, live))).one_or_none()
    if row is None and name.isascii() and name.isdecimal() and len(name) < 19:
        row = (await session.scalars(select(ExperimentRow).where(ExperimentRow.id == int(name), live))).one_or_none()
    if row is None:
        raise NotFound(f"There is no experiment {shorten(name)}; GET /api/v1/experiments lists them", {"name": name})
    return (await _to_experiments(session, [row]))[0]


async def has_experiment(session: AsyncSession, name: str) -> bool:
    """Return whether there is an experiment of that name."""
    found = select(ExperimentRow.id).where(ExperimentRow.name == name, ExperimentRow.deleted_at.is_(None))
    return await session.scalar(found) is not None


async def create_experiment(session: AsyncSession, name: str, title: str, note: str, author: str) -> Experiment:
    """Return the new experiment.

    Raises: Conflict when the name is taken
    """
    row = ExperimentRow(name=name, title=title, note=note, author=author)
    session.add(row)
    await _flush(session, name)
    return await read_experiment(session, row.id)


async def update_experiment(session: AsyncSession, experiment_id: int, name: str, title: str, note: str) -> Experiment:
    """Return the changed experiment.

    Raises: NotFound, Conflict
    """
    row = await _require_experiment(session, experiment_id)
    row.name, row.title, row.note, row.updated_at = name, title, note, func.now()
    await _flush(session, name)
    return await read_experiment(session, experiment_id)


async def delete_experiment(session: AsyncSession, experiment_id: int) -> None:
    """Delete an experiment with its runs; it can be restored for a day. The artefacts of the runs stay.

    Raises: NotFound
    """
    row = await _require_experiment(session, experiment_id)
    row.deleted_at = func.now()
    await session.flush()
    for table in (ExperimentRow, ExperimentRunRow):
        await session.execute(delete(table).where(table.deleted_at < func.now() - RESTORABLE))


async def restore_experiment(session: AsyncSession, experiment_id: int) -> Experiment:
    """Return the deleted experiment, which is listed again.

    Raises: NotFound when it was deleted long ago, or never existed; Conflict when its name was given to another one
    """
    row = await session.get(ExperimentRow, experiment_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(f"Experiment {experiment_id} no longer exists", {"experiment": experiment_id})
    row.deleted_at = None
    await _flush(session, row.name)
    return await read_experiment(session, experiment_id)


async def add_run(session: AsyncSession, experiment: str, draft: RunDraft) -> StoredRun:
    """Return the run, stored in the experiment of that name, which is made if needed.

    Raises: NotFound for an unknown artefact; TooLarge for an experiment that is full; Conflict when the name is taken by one that a
        limited account does not see
    """
    query = insert(ExperimentRow).values(name=experiment, author=draft.author)
    await session.execute(query.on_conflict_do_nothing(index_elements=["name"], index_where=ExperimentRow.deleted_at.is_(None)))
    # Locked, so that it is not deleted meanwhile, and two runs do not both take the last place.
    row = (
        await session.scalars(
            select(ExperimentRow).where(ExperimentRow.name == experiment, ExperimentRow.deleted_at.is_(None)).with_for_update()
        )
    ).one_or_none()
    if row is None:
        raise name_taken(experiment, what=EXPERIMENT)
    n_runs = await session.scalar(select(func.count()).select_from(ExperimentRunRow).where(*_live_runs(row.id)))
    if (n_runs or 0) >= MAX_RUNS:
        raise TooLarge(f"The experiment {shorten(experiment)} has {n_runs} runs; the limit is {MAX_RUNS}: begin another one")
    run = _to_row(row.id, await _require_or_add_host(session, draft.host), draft)
    session.add(run)
    await session.flush()
    await _set_results(session, run.id, draft.results)
    await _set_artefacts(session, run.id, draft.artefacts)
    stored = await read_run(session, run.id)
    await tell_webhooks(session, Topic.RUN_STORED, stored)
    return stored


async def read_run(session: AsyncSession, run_id: int) -> StoredRun:
    """Return a run.

    Raises: NotFound
    """
    return (await _to_runs(session, [await _require_run(session, run_id)]))[0]


async def list_runs(session: AsyncSession, experiment_id: int) -> list[StoredRun]:
    """Return the runs of an experiment, oldest first."""
    query = (
        select(ExperimentRunRow)
        .join(Host, Host.id == ExperimentRunRow.host_id)
        .where(*_live_runs(experiment_id), ~Host.name.contains(" "))
        .order_by(ExperimentRunRow.start_at, ExperimentRunRow.id)
        .limit(MAX_RUNS)
    )
    return await _to_runs(session, (await session.scalars(query)).all())


async def update_run(session: AsyncSession, run_id: int, change: RunChange) -> StoredRun:
    """Return the changed run.

    Raises: NotFound
    """
    row = await _require_run(session, run_id)
    row.factors, row.note, row.excluded_reason = dict(change.factors), change.note, change.excluded_reason
    row.updated_at = func.now()
    if change.results is not None:
        await session.execute(delete(RunResultRow).where(RunResultRow.run_id == run_id))
        await _set_results(session, run_id, change.results)
    if change.artefacts is not None:
        await session.execute(delete(RunArtefactRow).where(RunArtefactRow.run_id == run_id))
        await _set_artefacts(session, run_id, change.artefacts)
    await session.flush()
    return await read_run(session, run_id)


async def delete_run(session: AsyncSession, run_id: int) -> None:
    """Delete a run; it can be restored for a day.

    Raises: NotFound
    """
    row = await _require_run(session, run_id)
    row.deleted_at = func.now()
    await session.flush()
    await session.execute(delete(ExperimentRunRow).where(ExperimentRunRow.deleted_at < func.now() - RESTORABLE))


async def restore_run(session: AsyncSession, run_id: int) -> StoredRun:
    """Return the deleted run, which counts again.

    Raises: NotFound when it was deleted long ago, or never existed, or its experiment is deleted
    """
    row = await session.get(ExperimentRunRow, run_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(f"Run {run_id} no longer exists", {"run": run_id})
    row.deleted_at = None
    await session.flush()
    return await read_run(session, run_id)


# --- what bundles carry ---


@dataclass(frozen=True, slots=True)
class CarriedRun:
    """A run as a bundle carries it: the instant of its creation identifies it."""

    draft: RunDraft
    excluded_reason: str
    created: datetime


@dataclass(frozen=True, slots=True)
class CarriedExperiment:
    """An experiment with some of its runs, as a bundle carries it. `n_left`: runs of other hosts and times, which it does not."""

    id: int
    name: str
    title: str
    note: str
    author: str
    created: datetime
    runs: list[CarriedRun]
    n_left: int = 0


async def list_carried_experiments(
    session: AsyncSession, host: str, host_id: int, windows: Sequence[Window], named: Set[int] = frozenset()
) -> list[CarriedExperiment]:
    """Return the experiments with runs of a host that overlap the windows, each with those runs, oldest first.

    Those of the ids `named` come with all runs of the host.
    """
    run = ExperimentRunRow
    last = func.coalesce(run.end_at, run.start_at)
    query = (
        select(run)
        .join(ExperimentRow, ExperimentRow.id == run.experiment_id)
        .where(run.host_id == host_id, run.deleted_at.is_(None), ExperimentRow.deleted_at.is_(None))
        .where(or_(run.experiment_id.in_(named), *((run.start_at < window.end) & (last >= window.start) for window in windows)))
        .order_by(run.start_at, run.id)
    )
    rows = (await session.scalars(query)).all()
    created = {row.id: row.created_at for row in rows}
    runs: dict[int, list[CarriedRun]] = {}
    for each in await _to_runs(session, rows):
        draft = RunDraft(
            host, each.start, each.end, each.factors, each.command, each.exit_status, each.note, RunSource(each.source),
            each.author, each.results, each.artefacts,
        )  # fmt: skip
        runs.setdefault(each.experiment_id, []).append(CarriedRun(draft, each.excluded_reason, created[each.id]))
    found = await session.scalars(select(ExperimentRow).where(ExperimentRow.id.in_(runs)).order_by(ExperimentRow.id))
    experiments = found.all()
    counts = {each.id: each.n_runs for each in await _to_experiments(session, experiments)}
    return [
        CarriedExperiment(
            row.id, row.name, row.title, row.note, row.author, row.created_at, runs[row.id], counts[row.id] - len(runs[row.id])
        )
        for row in experiments
    ]  # fmt: skip


async def put_experiment(session: AsyncSession, carried: CarriedExperiment, other_name: str) -> tuple[int, int]:
    """Store an experiment of a bundle, or the runs of it that are not here; return its id here and how many runs are new.

    It is identified by the instant of its creation. `other_name`: its name where another experiment has the first one.

    Raises: Conflict when both names are taken; TooLarge for an experiment that is full
    """
    row = (
        await session.scalars(
            select(ExperimentRow)
            .where(ExperimentRow.created_at == carried.created, ExperimentRow.deleted_at.is_(None))
            .order_by(ExperimentRow.name.in_((carried.name, other_name)).desc(), ExperimentRow.id)
            .limit(1)
        )
    ).one_or_none()
    if row is None:
        is_taken = select(ExperimentRow.id).where(ExperimentRow.name == carried.name, ExperimentRow.deleted_at.is_(None))
        row = ExperimentRow(
            name=carried.name if await session.scalar(is_taken) is None else other_name, title=carried.title, note=carried.note,
            author=carried.author, created_at=carried.created,
        )  # fmt: skip
        session.add(row)
        await _flush(session, row.name)
    # A run that was deleted here stays deleted, while its row exists.
    query = select(ExperimentRunRow.created_at, ExperimentRunRow.start_at).where(ExperimentRunRow.experiment_id == row.id)
    known = {(created, start) for created, start in (await session.execute(query)).all()}
    new = [run for run in carried.runs if (run.created, run.draft.start) not in known]
    if len(known) + len(new) > MAX_RUNS:
        raise TooLarge(f"The experiment {shorten(row.name)} would have {len(known) + len(new)} runs; the limit is {MAX_RUNS}")
    for run in new:
        stored = _to_row(row.id, await _require_or_add_host(session, run.draft.host), run.draft)
        stored.excluded_reason, stored.created_at = run.excluded_reason, run.created
        session.add(stored)
        await session.flush()
        await _set_results(session, stored.id, run.draft.results)
        await _set_artefacts(session, stored.id, run.draft.artefacts)
    return row.id, len(new)


def _to_row(experiment_id: int, host_id: int, draft: RunDraft) -> ExperimentRunRow:
    return ExperimentRunRow(
        experiment_id=experiment_id,
        host_id=host_id,
        start_at=draft.start,
        end_at=draft.end,
        factors=dict(draft.factors),
        command=draft.command,
        exit_status=draft.exit_status,
        note=draft.note,
        source=draft.source,
        author=draft.author,
    )


async def _flush(session: AsyncSession, name: str) -> None:
    await flush_name(session, name, constraint="uq_experiments__name", what=EXPERIMENT)


async def _require_experiment(session: AsyncSession, experiment_id: int) -> ExperimentRow:
    row = await session.get(ExperimentRow, experiment_id, populate_existing=True)
    if row is None or row.deleted_at is not None:
        raise NotFound(f"There is no experiment {experiment_id}; GET /api/v1/experiments lists them", {"experiment": experiment_id})
    return row


async def _require_run(session: AsyncSession, run_id: int) -> ExperimentRunRow:
    row = await session.get(ExperimentRunRow, run_id, populate_existing=True)
    if row is not None and row.deleted_at is None:
        experiment = await session.get(ExperimentRow, row.experiment_id)
        host = await session.get(Host, row.host_id)
        # The host of a deletion under way is hidden, and its runs with it.
        if experiment is not None and experiment.deleted_at is None and host is not None and " " not in host.name:
            return row
    raise NotFound(f"There is no run {run_id}; GET /api/v1/experiments/ID lists the runs of an experiment", {"run": run_id})


async def _require_or_add_host(session: AsyncSession, name: str) -> int:
    await session.execute(insert(Host).values(name=name).on_conflict_do_nothing(index_elements=["name"]))
    return (await session.scalars(select(Host.id).where(Host.name == name).with_for_update(key_share=True, read=True))).one()


async def _set_results(session: AsyncSession, run_id: int, results: Sequence[MeasuredValue]) -> None:
    names = [each.name for each in results]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRequest(f"The result {shorten(twice)} is given twice", {"name": twice})
    session.add_all(
        RunResultRow(run_id=run_id, name=each.name, position=position, value=each.value, unit=each.unit)
        for position, each in enumerate(results)
    )
    await session.flush()


async def _set_artefacts(session: AsyncSession, run_id: int, artefacts: Sequence[int]) -> None:
    wanted = set(artefacts)
    query = select(ArtefactRow.id).where(ArtefactRow.id.in_(wanted), ArtefactRow.deleted_at.is_(None))
    missing = wanted - set(await session.scalars(query)) if wanted else set()
    if missing:
        raise NotFound(f"There is no artefact {min(missing)}; GET /api/v1/artefacts lists them", {"artefact": min(missing)})
    session.add_all(RunArtefactRow(run_id=run_id, artefact_id=each) for each in sorted(wanted))
    await session.flush()


def _live_runs(experiment_id: int) -> tuple[ColumnElement[bool], ...]:
    return (ExperimentRunRow.experiment_id == experiment_id, ExperimentRunRow.deleted_at.is_(None))


async def _to_experiments(session: AsyncSession, rows: Sequence[ExperimentRow]) -> list[Experiment]:
    ids = [row.id for row in rows]
    live = and_(ExperimentRunRow.experiment_id.in_(ids), ExperimentRunRow.deleted_at.is_(None), ~Host.name.contains(" "))
    joined = select(
        ExperimentRunRow.experiment_id,
        func.count(),
        func.min(ExperimentRunRow.start_at),
        func.max(ExperimentRunRow.start_at),
        func.array_agg(Host.name.distinct()),
    ).join(Host, Host.id == ExperimentRunRow.host_id)
    counts = {row[0]: row for row in await session.execute(joined.where(live).group_by(ExperimentRunRow.experiment_id))}
    keys = select(ExperimentRunRow.experiment_id, func.jsonb_object_keys(ExperimentRunRow.factors)).join(
        Host, Host.id == ExperimentRunRow.host_id
    )
    factors: dict[int, list[str]] = {}
    for experiment_id, name in sorted((await session.execute(keys.where(live).distinct())).all()):
        factors.setdefault(experiment_id, []).append(name)
    found = []
    for row in rows:
        _, n_runs, first, last, hosts = counts.get(row.id, (row.id, 0, None, None, []))
        found.append(
            Experiment(
                row.id, row.name, row.title, row.note, row.author, row.created_at, n_runs, first, last, sorted(hosts),
                factors.get(row.id, []),
            )
        )  # fmt: skip
    return found


async def _to_runs(session: AsyncSession, rows: Sequence[ExperimentRunRow]) -> list[StoredRun]:
    ids = [row.id for row in rows]
    hosts = {
        row.id: row.name
        for row in await session.execute(select(Host.id, Host.name).where(Host.id.in_({row.host_id for row in rows})))
    }
    results: dict[int, list[MeasuredValue]] = {}
    query = select(RunResultRow).where(RunResultRow.run_id.in_(ids)).order_by(RunResultRow.run_id, RunResultRow.position)
    for each in await session.scalars(query):
        results.setdefault(each.run_id, []).append(MeasuredValue(each.name, each.value, each.unit))
    linked = (
        select(RunArtefactRow.run_id, RunArtefactRow.artefact_id)
        .join(ArtefactRow, ArtefactRow.id == RunArtefactRow.artefact_id)
        .where(RunArtefactRow.run_id.in_(ids), ArtefactRow.deleted_at.is_(None))
        .order_by(RunArtefactRow.artefact_id)
    )
    artefacts: dict[int, list[int]] = {}
    for run_id, artefact_id in (await session.execute(linked)).all():
        artefacts.setdefault(run_id, []).append(artefact_id)
    return [
        StoredRun(
            row.id, row.experiment_id, hosts[row.host_id], row.start_at, row.end_at, dict(row.factors), row.command,
            row.exit_status, row.note, row.excluded_reason, row.source, row.author, results.get(row.id, []),
            artefacts.get(row.id, []),
        )
        for row in rows
    ]  # fmt: skip
