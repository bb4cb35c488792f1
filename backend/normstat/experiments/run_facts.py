"""A stored run as the page and the analysis see it: with derived results, and the reason if it does not count; runs as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from normstat.db.row_records import to_record
from normstat.experiments.experiment_analysis import RunFacts
from normstat.experiments.experiment_rows import StoredRun
from normstat.experiments.measured_values import with_derived
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import to_iso
from normstat.stats.measured_value import MeasuredValue


@dataclass(frozen=True, slots=True)
class ExperimentRun(Documented):
    """A run of an experiment."""

    id: int
    experiment: int
    host: str
    start: datetime
    end: datetime | None
    factors: dict[str, str]
    command: str
    exit_status: int | None
    """As a shell has it: 128 + N for signal N; null where no command was run."""

    note: str
    excluded_reason: str
    """Why a person excluded it; empty where it was not excluded."""

    left_out: str
    """Why it does not count in means and fits; empty where it does."""

    source: str
    """cli, api, agent, page or artefact."""

    author: str
    results: list[MeasuredValue]
    """What was measured, then what follows from it: cpus_used and sys_share."""

    n_measured: int
    """How many of the results were measured; the others follow from them."""

    artefacts: list[int]


def describe_run(run: StoredRun) -> ExperimentRun:
    """Return a stored run as it is shown."""
    return to_record(
        ExperimentRun,
        run,
        experiment=run.experiment_id,
        left_out=why_left_out(run),
        results=with_derived(run.results),
        n_measured=len(run.results),
    )


def facts_of(run: ExperimentRun) -> RunFacts:
    """Return what the analysis needs of a run."""
    return RunFacts(run.id, run.factors, run.results, run.left_out)


def why_left_out(run: StoredRun) -> str:
    """Return why a run does not count; "" where it does."""
    if run.excluded_reason:
        return f"excluded: {run.excluded_reason}"
    return f"it failed with exit status {run.exit_status}" if run.exit_status else ""


def format_runs_csv(runs: Sequence[ExperimentRun]) -> str:
    """Return the runs, oldest first, with CRLF and a header: run, host, start, end, factors, results with their units, the rest."""
    factors = sorted({name for run in runs for name in run.factors})
    results = list(dict.fromkeys((each.name, each.unit) for run in runs for each in run.results))
    titles = [f"{name} ({unit})" if unit else name for name, unit in results]
    rows: list[list[object]] = [["run", "host", "start", "end", *factors, *titles, "exit_status", "left_out", "command", "note"]]
    for run in runs:
        values = {(each.name, each.unit): each.value for each in run.results}
        rows.append([
            run.id, run.host, to_iso(run.start), to_iso(run.end), *(run.factors.get(name) for name in factors),
            *map(values.get, results), run.exit_status, run.left_out, run.command, run.note,
        ])  # fmt: skip
    return format_csv(rows)
