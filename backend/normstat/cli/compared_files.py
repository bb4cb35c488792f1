"""The half of `normstat compare` that needs no database: files of long CSV compared, and the result as printed."""

from collections.abc import Sequence
from pathlib import Path

import typer

from normstat.cli.ci_check import CheckCase, FailOn
from normstat.comparison.csv_comparison import MetricScore, compare_tables
from normstat.comparison.long_csv import LongTable, read_long_csv
from normstat.comparison.plain_diff import plain_differences
from normstat.runtime.readable import count_of


def compare_files(baseline: Path, incident: Path, before: Path | None) -> list[CheckCase]:
    """Print the comparison of two files, and return its cases: one for each metric that could be judged, and the new ones.

    Raises: BadRequest
    """
    return _to_cases(_compare(baseline, incident, before))


def _compare(baseline: Path, incident: Path, before: Path | None) -> list[MetricScore]:
    paths = [baseline, incident] if before is None else [baseline, incident, before]
    # The time before may have no samples; the two sides must have some.
    tables = [read_long_csv(path, may_be_empty=path is before) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        _tell_losses(path, table)
    scores = compare_tables(*tables)
    unjudged = [item.metric for item in scores if item.verdict in ("insufficient-data", "appeared")]
    if len(unjudged) == len(scores):
        # Two single outputs: nothing can be judged, but it can be put side by side.
        for plain in plain_differences(tables[0], tables[1], set(unjudged)):
            typer.echo(f"{_on_one_line(plain.metric)}\t0.000\tinsufficient-data\t{plain.describe()}")
        return scores
    for item in scores:
        typer.echo(f"{_on_one_line(item.metric)}\t{item.strength:.3f}\t{item.verdict}")
    return scores


def _on_one_line(name: str) -> str:
    return name.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _tell_losses(path: Path, table: LongTable) -> None:
    """Print the lines of a file that were ignored to standard error."""
    for line in table.first_rejected:
        typer.echo(f"normstat: {line}", err=True)
    if table.n_rejected > len(table.first_rejected):
        typer.echo(f"normstat: {path}: {count_of(table.n_rejected, 'line')} in total could not be read", err=True)
    if table.n_repeated:
        typer.echo(
            f"normstat: {path}: {count_of(table.n_repeated, 'time')} a metric had two values at one instant; the last one was used",
            err=True,
        )


def _to_cases(scores: Sequence[MetricScore]) -> list[CheckCase]:
    cases = [
        CheckCase(
            FailOn.UNUSUAL,
            score.metric,
            [f"{score.metric} is {score.verdict}: strength {score.strength:.1f}"] if score.verdict == "unusual" else [],
        )
        for score in scores
        if score.verdict not in {"appeared", "insufficient-data"}
    ]
    appeared = [f"{score.metric} is new" for score in scores if score.verdict == "appeared"]
    return [*cases, CheckCase(FailOn.APPEARED, "series that appeared", appeared)]
