"""The runs of an experiment as CSV: one line for each run, a column for each factor and each result. Pure."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

from normstat.csv_cells import safe_cell
from normstat.experiments.run_facts import ExperimentRun


def format_runs_csv(runs: Sequence[ExperimentRun]) -> str:
    """Return the runs, oldest first, with CRLF and a header: run, host, start, end, factors, results with their units, the rest."""
    factors = sorted({name for run in runs for name in run.factors})
    results = list(dict.fromkeys((each.name, each.unit) for run in runs for each in run.results))
    text = io.StringIO()
    writer = csv.writer(text)
    titles = [f"{name} ({unit})" if unit else name for name, unit in results]
    writer.writerow([
        "run", "host", "start", "end", *map(safe_cell, factors), *map(safe_cell, titles),
        "exit_status", "left_out", "command", "note",
    ])  # fmt: skip
    for run in runs:
        values = {(each.name, each.unit): each.value for each in run.results}
        writer.writerow([
            run.id, safe_cell(run.host), _format_time(run.start), _format_time(run.end),
            *(safe_cell(run.factors.get(name, "")) for name in factors),
            *(repr(values[key]) if key in values else "" for key in results),
            "" if run.exit_status is None else run.exit_status,
            safe_cell(run.left_out), safe_cell(run.command), safe_cell(run.note),
        ])  # fmt: skip
    return text.getvalue()


def _format_time(time: datetime | None) -> str:
    return "" if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
