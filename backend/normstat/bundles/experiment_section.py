"""The experiments of a bundle: those with runs of the host in the window, each with these runs."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from normstat.bundles.bundle_format import BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget, section_result
from normstat.bundles.bundle_writer import to_text
from normstat.bundles.record_sections import MAX_NAME, add_json, read_rows, section_bytes
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, NormstatError
from normstat.experiments.experiment_rows import (
    MAX_RUNS,
    CarriedExperiment,
    CarriedRun,
    RunDraft,
    RunSource,
    list_carried_experiments,
    put_experiment,
)
from normstat.runtime.readable import count_of
from normstat.stats.measured_value import MeasuredValue

NO_NUL: Final = r"^[^\x00]*$"
Short = Annotated[str, StringConstraints(max_length=MAX_NAME, pattern=NO_NUL)]
Long = Annotated[str, StringConstraints(max_length=100_000, pattern=NO_NUL)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern=r"^[^\x00-\x1f=]+$")]


class CarriedValue(BaseModel):
    """A result of a run."""

    name: Label
    value: Annotated[float, Field(allow_inf_nan=False)]
    unit: Annotated[str, StringConstraints(max_length=40, pattern=NO_NUL)]


class RunEntry(BaseModel):
    """A run in the member; `artefacts` by their ids where the bundle was made."""

    start: AwareDatetime
    end: AwareDatetime | None
    factors: Annotated[dict[Label, Short], Field(max_length=20)]
    command: Long
    exit_status: Annotated[int | None, Field(ge=0, le=255)]
    note: Long
    excluded_reason: Long
    source: RunSource
    author: Short
    created: AwareDatetime
    results: Annotated[list[CarriedValue], Field(max_length=200)]
    artefacts: Annotated[list[int], Field(max_length=1000)]


class ExperimentEntry(BaseModel):
    """An experiment in the member."""

    id: int
    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern=NO_NUL)]
    title: Long
    note: Long
    author: Short
    created: AwareDatetime
    runs: Annotated[list[RunEntry], Field(max_length=MAX_RUNS)]


_ENTRIES: Final = TypeAdapter(list[ExperimentEntry])


class ExperimentSection:
    """Experiments and their runs. Analyses are made again from the runs."""

    name = "experiments"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the experiments."""
        found = await list_carried_experiments(
            source.session, source.host, source.host_id, source.windows, source.named.experiments
        )
        add_json(source, "experiments.json.zst", [_row_of(each) for each in found])
        source.notes += [
            f"not in the bundle: {count_of(each.n_left, 'run')} of the experiment {each.name}, on other hosts or at other times"
            for each in found
            if each.n_left > 0
        ]
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the experiments and runs that are not here; after the artefacts."""
        try:
            entries = _ENTRIES.validate_python(await read_rows(target, section))
        except ValidationError:
            raise BadRequest("The section experiments of the bundle has a row that is not an experiment; it was left out") from None
        for entry in entries:
            carried = _carried_of(entry, target)
            other_name = f"{entry.name[: MAX_NAME - 60]} ({target.provenance})"[:MAX_NAME]
            try:
                async with open_write_session(target.sessions) as session:
                    id_here, n_new = await put_experiment(session, carried, other_name)
            except NormstatError as error:
                note = f"not added: {error.message}"
                target.told(section_result(f"experiment {entry.name}", "experiment", note, n=len(entry.runs)))
                continue
            target.references.experiments[entry.id] = id_here
            note = target.provenance if n_new else "already here"
            counted = count_of(len(entry.runs), "run")
            target.told(section_result(f"experiment {entry.name}", counted, note, n=len(entry.runs), n_new=n_new))
        yield section_bytes(section)


def _row_of(experiment: CarriedExperiment) -> dict[str, Any]:
    return {
        "id": experiment.id, "name": experiment.name, "title": experiment.title, "note": experiment.note,
        "author": experiment.author, "created": to_text(experiment.created),
        "runs": [
            {
                "start": to_text(run.draft.start), "end": to_text(run.draft.end), "factors": run.draft.factors,
                "command": run.draft.command, "exit_status": run.draft.exit_status, "note": run.draft.note,
                "excluded_reason": run.excluded_reason, "source": run.draft.source, "author": run.draft.author,
                "created": to_text(run.created), "artefacts": run.draft.artefacts,
                "results": [{"name": each.name, "value": each.value, "unit": each.unit} for each in run.draft.results],
            }
            for run in experiment.runs
        ],
    }  # fmt: skip


def _carried_of(entry: ExperimentEntry, target: BundleTarget) -> CarriedExperiment:
    known = target.references.artefacts
    try:
        runs = [
            CarriedRun(
                RunDraft(
                    target.host, _utc(run.start), None if run.end is None else _utc(run.end), run.factors, run.command,
                    run.exit_status, run.note, run.source, target.author_of(run.author),
                    [MeasuredValue(each.name, each.value, each.unit) for each in run.results],
                    [known[each] for each in run.artefacts if each in known],
                ),
                run.excluded_reason,
                _utc(run.created),
            )
            for run in entry.runs
        ]  # fmt: skip
        author = target.author_of(entry.author)
        return CarriedExperiment(entry.id, entry.name, entry.title, entry.note, author, _utc(entry.created), runs)
    except OverflowError:
        raise BadRequest("A run of the bundle has an invalid time; it was left out") from None


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)
