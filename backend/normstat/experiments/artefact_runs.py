"""Create runs from an artefact, and add values from a run's own output to its results."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_parts
from normstat.experiments import experiment_rows
from normstat.experiments.experiment_rows import Experiment, RunDraft, RunSource
from normstat.experiments.runs_of_artefacts import results_of_parts, runs_of_parts
from normstat.records.artefact_rows import Artefact, read_artefact_row
from normstat.stats.measured_value import MeasuredValue


async def add_artefact_runs(
    session: AsyncSession, experiment: str, artefact_id: int, factors: Mapping[str, str], author: str
) -> Experiment:
    """Return the experiment with the runs that an artefact holds, each with these factors too.

    Raises: NotFound; BadRequest for an artefact without runs; TooLarge, DamagedArtefact
    """
    artefact = await read_artefact_row(session, artefact_id)
    found = runs_of_parts(await load_parts(session, artefact_id))
    for run in found:
        seconds = run.seconds if run.seconds is not None else artefact.duration_s
        end = artefact.end if artefact.end is not None or not seconds else artefact.start + timedelta(seconds=seconds)
        draft = RunDraft(
            host=artefact.host,
            start=artefact.start,
            end=end,
            factors=dict(factors) | run.factors,
            command=run.command or artefact.command,
            exit_status=None,
            note=run.note,
            source=RunSource.ARTEFACT,
            author=author,
            results=run.results,
            artefacts=[artefact_id],
        )
        await experiment_rows.add_run(session, experiment, draft)
    return await experiment_rows.find_experiment(session, experiment)


async def results_with_output(
    session: AsyncSession, results: Sequence[MeasuredValue], artefacts: Sequence[int]
) -> list[MeasuredValue]:
    """Return the results of a run and those that known tools printed into its artefacts.

    Raises: NotFound, DamagedArtefact
    """
    found = {each.name: each for each in results}
    for artefact_id in artefacts:
        artefact: Artefact = await read_artefact_row(session, artefact_id)
        if artefact.parts:
            for each in results_of_parts(await load_parts(session, artefact_id)):
                found.setdefault(each.name, each)
    return list(found.values())
