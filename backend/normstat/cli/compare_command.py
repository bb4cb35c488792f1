"""`normstat compare`: what differs in an incident from a baseline, of hosts in the database or of two CSV files."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from normstat.api.comparison_answer import answer
from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.comparison_schemas import Comparison
from normstat.cli.db_session import exit_with, print_table, run_or_exit
from normstat.comparison.csv_comparison import compare_tables
from normstat.comparison.long_csv import LongTable, read_long_csv
from normstat.errors import BadRequest, NormstatError
from normstat.settings import load_settings
from normstat.storage.baseline_rows import find_baseline
from normstat.storage.session import make_engine, make_sessions, open_read_session
from normstat.storage.user_specs import refresh_catalogue

app = typer.Typer()

MAX_IN_TABLE = 50


@app.command()
def compare(
    *,
    baseline_csv: Annotated[Path | None, typer.Option(help="long CSV (time,metric,value) of a normal time")] = None,
    incident_csv: Annotated[Path | None, typer.Option(help="long CSV of the time to look at")] = None,
    host: Annotated[list[str] | None, typer.Option(help="name of a host; may be given several times")] = None,
    start: Annotated[str, typer.Option("--from", help="first instant of the incident, ISO-8601")] = "",
    end: Annotated[str, typer.Option("--to", help="first instant after the incident")] = "",
    baseline: Annotated[str | None, typer.Option(help="name or id of a baseline")] = None,
    baseline_from: Annotated[str | None, typer.Option(help="instead of a baseline: its first instant")] = None,
    baseline_to: Annotated[str | None, typer.Option(help="and the first instant after it")] = None,
    ago: Annotated[Literal["day", "week"] | None, typer.Option(help="instead of a baseline: the same time, so long ago")] = None,
    other_host: Annotated[str | None, typer.Option(help="instead of a baseline: another host in the same window")] = None,
    divisor: Annotated[str | None, typer.Option(help="divide all by a series: stat.field or stat.field@instance")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the whole answer as JSON")] = False,
) -> None:
    """Tell what differs in an incident from what is normal.

    Two CSV files: a line for each metric, `metric<TAB>score<TAB>verdict`, the most unusual first; what cannot be judged comes last.
    Hosts: the findings as a table, or as JSON.
    """
    if baseline_csv is not None and incident_csv is not None and not host:
        _compare_files(baseline_csv, incident_csv)
        return
    if not host or not start or not end or baseline_csv or incident_csv:
        typer.echo("normstat: give --baseline-csv and --incident-csv, or --host, --from, --to and what to compare with", err=True)
        raise typer.Exit(2)
    given: dict[str, object] = {
        "host": host, "start": start, "end": end, "baseline_start": baseline_from, "baseline_end": baseline_to, "ago": ago,
        "other_host": other_host, "divisor": divisor,
    }  # fmt: skip
    result = run_or_exit(lambda: asyncio.run(_compare_hosts(given, baseline)))
    typer.echo(result.model_dump_json(indent=2)) if as_json else _print(result)


async def _compare_hosts(given: dict[str, object], baseline: str | None) -> Comparison:
    settings = load_settings()
    engine = make_engine(settings.database_url, pool_size=1)
    try:
        sessions = make_sessions(engine)
        async with open_read_session(sessions) as session:
            await refresh_catalogue(session)
            found = None if baseline is None else (await find_baseline(session, baseline)).id
            try:
                inputs = ComparisonInputs.model_validate({**given, "baseline": found})
            except ValidationError as error:
                first = error.errors()[0]
                raise BadRequest(f"{'.'.join(map(str, first['loc'])) or 'the request'}: {first['msg']}") from None
            return await answer(settings, session, inputs)
    finally:
        await engine.dispose()


def _print(result: Comparison) -> None:
    typer.echo(result.verdict)
    if result.seasonal_note:
        typer.echo(result.seasonal_note)
    if result.groups:
        typer.echo("")
        print_table(
            [
                ("rank", "host", "what", "kind", "times", "impact", "finding"),
                *(
                    (
                        str(group.rank),
                        group.host,
                        f"{group.stat}.{group.field}"
                        + (f"@{group.instances[0]}" if group.n_members == 1 and group.instances[0] else ""),
                        group.kind,
                        f"{group.score:.1f}",
                        f"{group.impact:.2f}",
                        group.sentence,
                    )
                    for group in result.groups[:MAX_IN_TABLE]
                ),
            ]
        )
    counts = result.counts
    typer.echo("")
    typer.echo(
        f"{result.n_series:,} series: {result.n_findings:,} unusual, {result.n_unchanged:,} as usual,"
        f" {counts.one_sided:,} on one side only, {counts.thin:,} not judged, {counts.muted:,} muted;"
        f" compared with {result.against.name}"
    )


def _compare_files(baseline: Path, incident: Path) -> None:
    try:
        tables = [read_long_csv(path) for path in (baseline, incident)]
    except NormstatError as error:
        raise exit_with(error) from error
    for path, table in zip((baseline, incident), tables, strict=True):
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
        typer.echo(
            f"normstat: {path}: {table.n_repeated} times a metric had another value at the same instant; the last one counts",
            err=True,
        )
