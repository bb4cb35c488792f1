"""`normstat compare`: what changed in an incident against a baseline, for hosts in the database or two CSV files."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from normstat.cli import quick_imports
from normstat.cli.ci_check import (
    FOUND_EXIT,
    CheckCase,
    FailCondition,
    FailOn,
    cases_of,
    failures_of,
    parse_fail_on,
    write_junit,
)
from normstat.errors import BadRequest, NormstatError

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    *,
    baseline_csv: Annotated[Path | None, typer.Option(help="long CSV (time,metric,value) of the baseline")] = None,
    incident_csv: Annotated[Path | None, typer.Option(help="long CSV of the incident")] = None,
    before_csv: Annotated[
        Path | None, typer.Option(help="long CSV of the time right before the incident: changes that were already there count less")
    ] = None,
    host: Annotated[list[str] | None, typer.Option(help="name of a host; repeatable")] = None,
    start: Annotated[str, typer.Option("--from", help="first instant of the incident, ISO-8601")] = "",
    end: Annotated[str, typer.Option("--to", help="first instant after the incident")] = "",
    baseline: Annotated[str | None, typer.Option(help="name or id of a baseline")] = None,
    baseline_from: Annotated[str | None, typer.Option(help="instead of a baseline: first instant of another window")] = None,
    baseline_to: Annotated[str | None, typer.Option(help="first instant after that window")] = None,
    ago: Annotated[
        Literal["day", "week"] | None, typer.Option(help="instead of a baseline: the same time a day or a week earlier")
    ] = None,
    other_host: Annotated[str | None, typer.Option(help="instead of a baseline: another host in the same window")] = None,
    group: Annotated[
        str | None, typer.Option(help="instead of a baseline: the other hosts of this host group in the same window")
    ] = None,
    divisor: Annotated[str | None, typer.Option(help="divide all series by this one: stat.field or stat.field@instance")] = None,
    ask: Annotated[str, typer.Option(help="show only the series that match these words, ranked or not, each with the reason")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the whole result as JSON")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(help="for builds: exit with 3 if it is found: unusual, disturbed, appeared; unusual:5 is 5 or more"),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="also write the result to this file as JUnit XML")] = None,
) -> None:
    """Show what changed in an incident against a baseline.

    Exit codes: 0 done, and nothing that --fail-on names was found; 1 an error; 2 wrong options; 3 what --fail-on names was found.

    CSV files: a line for each metric, `metric<TAB>significance<TAB>verdict`, most significant first; metrics with insufficient
    data come last. Where no metric has enough data, they are sorted by how much they differ, and a fourth column has both values.
    Hosts: the findings as a table, or as JSON.
    """
    conditions = _parse_conditions(fail_on or [])
    if baseline_csv is not None and incident_csv is not None and not host:
        # Imported only when needed: numpy and pyarrow for files, and several times as much for hosts.
        from normstat.cli.compared_files import compare_files  # noqa: PLC0415

        try:
            cases = compare_files(baseline_csv, incident_csv, before_csv)
        except BadRequest as error:
            raise _exit(error, 1) from error
        _check(cases, conditions, junit)
        return
    if not host or not start or not end or baseline_csv or incident_csv or before_csv:
        typer.echo(
            "normstat: give --baseline-csv and --incident-csv (and --before-csv), or --host, --from, --to and a baseline", err=True
        )
        raise typer.Exit(2)
    given: dict[str, object] = {
        "host": host, "start": start, "end": end, "baseline_start": baseline_from, "baseline_end": baseline_to, "ago": ago,
        "other_host": other_host, "group": group, "divisor": divisor,
    }  # fmt: skip
    with quick_imports():
        from normstat.cli.compared_hosts import compare_hosts  # noqa: PLC0415

    _check(cases_of(compare_hosts(given, baseline, ask=ask, as_json=as_json)), conditions, junit)


def _parse_conditions(texts: list[str]) -> list[FailCondition]:
    try:
        return parse_fail_on(texts)
    except BadRequest as error:
        raise _exit(error, 2) from error


def _exit(error: NormstatError, status: int) -> typer.Exit:
    typer.echo(f"normstat: {error.message}", err=True)
    return typer.Exit(status)


def _check(cases: list[CheckCase], conditions: list[FailCondition], junit: Path | None) -> None:
    """Write the JUnit file, and exit with FOUND_EXIT when a condition is met."""
    try:
        if junit is not None:
            write_junit(junit, cases, conditions or [FailCondition(FailOn.UNUSUAL, 1)])
    except NormstatError as error:
        raise _exit(error, 1) from error
    failures = failures_of(cases, conditions)
    for failure in failures:
        typer.echo(f"normstat: {failure}", err=True)
    if failures:
        raise typer.Exit(FOUND_EXIT)
