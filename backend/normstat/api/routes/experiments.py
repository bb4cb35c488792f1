"""Experiments: named sets of runs with factors, the results of each run, and their analysis."""

from typing import Annotated, Final, Literal

import anyio.to_thread
from fastapi import Query, Response
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, Agent, IdPath, Operator, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import check_room, makes_rows
from normstat.api.http.state import AppState
from normstat.api.routes.events import find_agent_host
from normstat.api.routes.experiment_schemas import (
    ArtefactRunsCreate,
    ExperimentCreate,
    ExperimentDetails,
    ExperimentUpdate,
    RunCreate,
    RunReport,
    RunUpdate,
    RunValue,
)
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.db.row_budgets import EXPERIMENTS, RUNS
from normstat.db.row_records import to_record
from normstat.errors import BadRequest, Conflict, DamagedArtefact, NotFound, TooLarge, TooManyRequests
from normstat.experiments import experiment_rows
from normstat.experiments.artefact_runs import add_artefact_runs, results_with_output
from normstat.experiments.experiment_analysis import AnalysisRequest, ExperimentAnalysis, Work, analyse_runs
from normstat.experiments.experiment_rows import Experiment, ExperimentPage, RunChange, RunDraft, RunSource
from normstat.experiments.measured_values import REAL, SYS, USER
from normstat.experiments.run_facts import ExperimentRun, describe_run, facts_of, format_runs_csv
from normstat.ingest.imports.import_run import require_host_name
from normstat.runtime.body import NO_NUL
from normstat.stats.measured_value import MeasuredValue

router = LazyRouter(tags=["experiments"])

MAX_OFFSET: Final = 100_000
Chosen = Annotated[str | None, Query(max_length=200, pattern=NO_NUL)]


@router.get("/experiments", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_experiments(
    session: ReadSession,
    search: Annotated[
        str, Query(description="words that must all stand in the name, title or note", max_length=200, pattern=NO_NUL)
    ] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> ExperimentPage:
    """List experiments, the one with the newest run first."""
    return await experiment_rows.list_experiments(session, search.split(), limit=limit, offset=offset)


@router.post("/experiments", status_code=201, responses=guarded_answers(Conflict, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.EXPERIMENTS)
async def create_experiment(body: ExperimentCreate, principal: Operator, session: WriteSession) -> Experiment:
    """Create an experiment without runs. The first run under a new name creates one, too."""
    return await experiment_rows.create_experiment(session, body.name, body.title, body.note, principal.name)


async def _require_room_for_name(session: AsyncSession, state: AppState, experiment: str, owner: str) -> None:
    """Check that the account or agent token may make the experiment of that name, if there is none.

    Raises: TooManyRequests
    """
    if not await experiment_rows.has_experiment(session, experiment):
        await check_room(session, state, EXPERIMENTS, owner)


@router.post(
    "/experiments/runs",
    status_code=201,
    responses=guarded_answers(BadRequest, Conflict, NotFound, TooLarge, DamagedArtefact, TooManyRequests),
)
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.RUNS)
async def create_run(body: RunCreate, principal: Operator, session: WriteSession, state: State) -> ExperimentRun:
    """Add a run to the experiment of that name, which is made if needed."""
    require_host_name(body.host)
    await _require_room_for_name(session, state, body.experiment, principal.name)
    results = _to_values(body.results)
    if body.reads_artefacts:
        results = await results_with_output(session, results, body.artefacts)
    draft = to_record(RunDraft, body, source=RunSource(body.source), author=principal.name, results=results)
    return describe_run(await experiment_rows.add_run(session, body.experiment, draft))


@router.post(
    "/experiments/artefact-runs",
    status_code=201,
    responses=guarded_answers(BadRequest, Conflict, NotFound, TooLarge, DamagedArtefact, TooManyRequests),
)
@open_to_limited()
@makes_rows(row_budgets.RUNS)
async def create_artefact_runs(body: ArtefactRunsCreate, principal: Operator, session: WriteSession, state: State) -> Experiment:
    """Create runs from an artefact: rows of IOzone, of a matrix of IOzone runs, of time(1)."""
    await _require_room_for_name(session, state, body.experiment, principal.name)
    return await add_artefact_runs(session, body.experiment, body.artefact, body.factors, principal.name)


@router.post("/ingest/runs", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooLarge, TooManyRequests))
async def report_run(body: RunReport, agent: Agent, session: WriteSession, state: State) -> ExperimentRun:
    """Add a run of a host with an agent's token, for hosts that have only the shell agent."""
    name, host = await find_agent_host(session, state, agent, body.host, RUNS)
    require_host_name(host)
    await _require_room_for_name(session, state, body.experiment, name)
    times = ((REAL, body.real), (USER, body.user), (SYS, body.sys))
    measured = [MeasuredValue(key, value, "s") for key, value in times if value is not None]
    results = [*measured, *_to_values(body.results)]
    draft = to_record(RunDraft, body, host=host, source=RunSource.AGENT, author=name, results=results, artefacts=[])
    return describe_run(await experiment_rows.add_run(session, body.experiment, draft))


@router.get("/experiments/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_experiment(id: IdPath, session: ReadSession) -> ExperimentDetails:  # noqa: A002
    """Return an experiment and its runs."""
    experiment = await experiment_rows.read_experiment(session, id)
    runs = await experiment_rows.list_runs(session, id)
    return ExperimentDetails(experiment=experiment, runs=[describe_run(run) for run in runs])


@router.get("/experiments/{id}/analysis", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def analyse_experiment(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    session: ReadSession,
    result: Annotated[Chosen, Query(description="the result to analyse; default: real, else what most runs have")] = None,
    factor: Annotated[Chosen, Query(description="the factor it depends on; default: the number with most levels")] = None,
    variant: Annotated[
        Chosen, Query(description="a second factor, whose values are lines of their own; default: all that differ; empty: none")
    ] = None,
    reference: Annotated[Chosen, Query(description="the level that speed-ups are relative to; default: the first")] = None,
    base: Annotated[Chosen, Query(description="the variant that the others are divided by; default: the first")] = None,
    better: Annotated[
        Literal["lower", "higher"] | None, Query(description="which values are better; default: lower for times")
    ] = None,
    work: Annotated[
        Work, Query(description="fixed: more workers share the same work; grows: each adds as much work again")
    ] = "fixed",
    cpu: Annotated[Chosen, Query(description="the result that says how busy the CPU was: sorts runs into groups A to D")] = None,
) -> ExperimentAnalysis:
    """Return means of repeats with intervals, ratios, speed-up, efficiency and models of scaling for one result."""
    await experiment_rows.read_experiment(session, id)
    runs = [facts_of(describe_run(run)) for run in await experiment_rows.list_runs(session, id)]
    asked = AnalysisRequest(result, factor, variant, reference, base, better, work, cpu)
    return await anyio.to_thread.run_sync(analyse_runs, runs, asked)


@router.get(
    "/experiments/{id}/runs.csv",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(NotFound), media_type="text/csv", description="UTF-8, CRLF, a header line, then runs, oldest first"
    ),
)
@open_to_limited()
async def export_runs(id: IdPath, session: ReadSession) -> Response:  # noqa: A002
    """Export the runs: a column for each factor and each result."""
    await experiment_rows.read_experiment(session, id)
    runs = [describe_run(run) for run in await experiment_rows.list_runs(session, id)]
    return Response(
        format_runs_csv(runs),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="experiment-{id}.csv"'},
    )


@router.put("/experiments/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited(whole=Whole.EXPERIMENT)
async def update_experiment(id: IdPath, body: ExperimentUpdate, session: WriteSession) -> Experiment:  # noqa: A002
    """Change the name, the title and the note of an experiment."""
    return await experiment_rows.update_experiment(session, id, body.name, body.title, body.note)


@router.delete("/experiments/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.EXPERIMENT)
async def delete_experiment(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete an experiment with its runs; artefacts stay. It can be restored for a day."""
    await experiment_rows.delete_experiment(session, id)
    return Empty()


@router.post("/experiments/{id}/restore", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited(whole=Whole.EXPERIMENT)
async def restore_experiment(id: IdPath, session: WriteSession) -> Experiment:  # noqa: A002
    """Undo the deletion of an experiment."""
    return await experiment_rows.restore_experiment(session, id)


@router.put("/experiments/runs/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def update_run(id: IdPath, body: RunUpdate, session: WriteSession) -> ExperimentRun:  # noqa: A002
    """Change the factors, the note and the results of a run, or exclude it with a reason."""
    results = None if body.results is None else _to_values(body.results)
    change = RunChange(body.factors, body.note, body.excluded_reason.strip(), results, body.artefacts)
    return describe_run(await experiment_rows.update_run(session, id, change))


@router.delete("/experiments/runs/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_run(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a run. It can be restored for a day."""
    await experiment_rows.delete_run(session, id)
    return Empty()


@router.post("/experiments/runs/{id}/restore", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def restore_run(id: IdPath, session: WriteSession) -> ExperimentRun:  # noqa: A002
    """Undo the deletion of a run."""
    return describe_run(await experiment_rows.restore_run(session, id))


def _to_values(values: list[RunValue]) -> list[MeasuredValue]:
    return [MeasuredValue(each.name, each.value, each.unit) for each in values]
