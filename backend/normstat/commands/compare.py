"""`normstat compare`: what differs in an incident from a baseline."""

from pathlib import Path
from typing import Annotated

import typer

from normstat.baseline.csv_compare import compare_tables
from normstat.baseline.long_csv import LongTable, read_long_csv
from normstat.commands.in_database import exit_with
from normstat.errors import NormstatError

app = typer.Typer()


@app.command()
def compare(
    baseline_csv: Annotated[Path | None, typer.Option("--baseline-csv", help="long CSV (time,metric,value) of a normal time")] = None,
    incident_csv: Annotated[Path | None, typer.Option("--incident-csv", help="long CSV of the time to look at")] = None,
) -> None:
    """Tell what differs in an incident from a baseline."""
    if baseline_csv is None or incident_csv is None:
        typer.echo("normstat: give both --baseline-csv and --incident-csv", err=True)
        raise typer.Exit(2)
    try:
        tables = [read_long_csv(path) for path in (baseline_csv, incident_csv)]
    except NormstatError as error:
        raise exit_with(error) from error
    for path, table in zip((baseline_csv, incident_csv), tables, strict=True):
        _tell_losses(path, table)
    for item in compare_tables(*tables):
        name = item.metric.replace("\t", " ").replace("\n", " ").replace("\r", " ")
        typer.echo(f"{name}\t{item.score:.3f}\t{item.verdict}")


def _tell_losses(path: Path, table: LongTable) -> None:
    """What of a file does not count, on standard error."""
    for line in table.first_rejected:
        typer.echo(f"normstat: {line}", err=True)
    if table.n_rejected > len(table.first_rejected):
        typer.echo(f"normstat: {path}: {table.n_rejected} lines in all could not be read", err=True)
    if table.n_repeated:
        typer.echo(f"normstat: {path}: {table.n_repeated} times a metric had another value at the same instant; the last one counts", err=True)
