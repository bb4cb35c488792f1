"""The runs of an experiment as CSV: one line for each run, a column for each factor and each result. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from normstat.experiments.run_facts import ExperimentRun
from normstat.runtime.csv_cells import format_csv


def format_runs_csv(runs: Sequence[ExperimentRun]) -> str:
    """Return the runs, oldest first, with CRLF and a header: run, host, start, end, factors, results with their units, the rest."""
    factors = sorted({name for run in runs for name in run.factors})
    results = list(dict.fromkeys((each.name, each.unit) for run in runs for each in run.results))
    titles = [f"{name} ({unit})" if unit else name for name, unit in results]
    rows: list[list[object]] = [["run", "host", "start", "end", *factors, *titles, "exit_status", "left_out", "command", "note"]]
    for run in runs:
        values = {(each.name, each.unit): each.value for each in run.results}
        rows.append([
            run.id, run.host, _format_time(run.start), _format_time(run.end), *(run.factors.get(name) for name in factors),
            *map(values.get, results), run.exit_status, run.left_out, run.command, run.note,
        ])  # fmt: skip
    return format_csv(rows)


def _format_time(time: datetime | None) -> str:
    return "" if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
