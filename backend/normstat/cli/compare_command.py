"""`normstat compare`: what changed in an incident against a baseline, for hosts in the database or two CSV files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from pydantic import TypeAdapter

from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.baselines.baseline_rows import find_baseline
from normstat.cli.ci_check import (
    FOUND_EXIT,
    CheckCase,
    FailCondition,
    FailOn,
    cases_of,
    cases_of_files,
    failures_of,
    parse_fail_on,
    write_junit,
)
from normstat.cli.db_session import exit_with, print_table, run_or_exit
from normstat.comparison.csv_comparison import MetricScore, compare_tables
from normstat.comparison.findings.wording import to_text
from normstat.comparison.ledger.ledger_table import describe_ledger
from normstat.comparison.long_csv import LongTable, read_long_csv
from normstat.comparison.past_incident_rows import Recall, describe_recall, recall
from normstat.comparison.plain_diff import plain_differences
from normstat.comparison.saved_format import to_json
from normstat.comparison.series_rows import SeriesRows
from normstat.comparison.series_search import AskedSeries, AskedSeriesPage, SeriesQuestion, SeriesSort, ask_series
from normstat.comparison.service import WholeComparison, run_whole_comparison
from normstat.comparison.signature import signature_of
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.errors import BadRequest, NormstatError
from normstat.report.event_section import describe_times
from normstat.runtime.body import check_body
from normstat.runtime.readable import count_of
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.settings import load_settings
from normstat.window import Window

app = typer.Typer(add_completion=False)

MAX_IN_TABLE = 50


@dataclass(frozen=True, slots=True)
class _Compared:
    """A comparison, and the past incidents that it looks like."""

    whole: WholeComparison
    past: Recall


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
        scores = _compare_files(baseline_csv, incident_csv, before_csv)
        _check(cases_of_files(scores), conditions, junit)
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
    found = run_or_exit(lambda: asyncio.run(_compare_hosts(given, baseline)))
    whole = found.whole
    if ask:
        answer = find_series(whole.rows, ask)
        typer.echo(TypeAdapter(AskedSeriesPage).dump_json(answer, indent=2)) if as_json else print_series(answer, ask)
    elif as_json:
        typer.echo(to_json(whole.comparison, indent=2))
    else:
        _print(whole, found.past)
    _check(cases_of(whole.comparison), conditions, junit)


def _parse_conditions(texts: list[str]) -> list[FailCondition]:
    try:
        return parse_fail_on(texts)
    except BadRequest as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(2) from error


def _check(cases: list[CheckCase], conditions: list[FailCondition], junit: Path | None) -> None:
    """Write the JUnit file, and exit with FOUND_EXIT when a condition is met."""
    try:
        if junit is not None:
            write_junit(junit, cases, conditions or [FailCondition(FailOn.UNUSUAL, 1)])
    except NormstatError as error:
        raise exit_with(error) from error
    failures = failures_of(cases, conditions)
    for failure in failures:
        typer.echo(f"normstat: {failure}", err=True)
    if failures:
        raise typer.Exit(FOUND_EXIT)


async def _compare_hosts(given: dict[str, object], baseline: str | None) -> _Compared:
    settings = load_settings()
    engine = make_engine(settings.database_url, pool_size=1)
    try:
        sessions = make_sessions(engine)
        async with open_read_session(sessions) as session:
            await refresh_catalogue(session)
            found = None if baseline is None else (await find_baseline(session, baseline)).id
            inputs = check_body(ComparisonInputs, {**given, "baseline": found})
            whole = await run_whole_comparison(session, inputs.to_request(), max_rows=settings.compare_max_rows)
            result = whole.comparison
            past = await recall(session, result.hosts, Window(result.start, result.end), signature_of(whole.rows))
            return _Compared(whole, past)
    finally:
        await engine.dispose()


def _print(whole: WholeComparison, past: Recall) -> None:
    result = whole.comparison
    typer.echo(result.verdict)
    if looks_like := describe_recall(past):
        typer.echo(looks_like)
    for sentence in describe_ledger(result.ledger, said=result.verdict):
        typer.echo(sentence)
    for one in result.circumstances:
        typer.echo(f"{describe_times(one, result)}  {one.sentence}.".lstrip())
    for note in (result.seasonal_note, result.divisor_note, *result.notes):
        if note:
            typer.echo(note)
    if result.stories:
        typer.echo("")
        print_table(
            [
                ("story", "resource", "host", "what changed"),
                *((str(story.rank), story.title, ", ".join(story.hosts), story.sentence) for story in result.stories),
            ]
        )
    if has_no_verdict(whole.rows):
        print_differences(whole.rows)
    if result.groups:
        typer.echo("")
        print_table(
            [
                ("rank", "host", "series", "kind", "change ratio", "impact", "finding"),
                *(
                    (
                        str(group.rank),
                        group.host,
                        f"{group.stat}.{group.field}"
                        + (f"@{group.instances[0]}" if len(group.instances) == 1 and group.instances[0] else ""),
                        group.kind,
                        f"{group.change_ratio:.1f}",
                        f"{group.impact:.2g}",
                        group.sentence,
                    )
                    for group in result.groups[:MAX_IN_TABLE]
                ),
            ]
        )
    counts = result.counts
    typer.echo("")
    typer.echo(
        f"{result.n_series:,} series: {result.n_findings:,} changed, {result.n_unchanged:,} unchanged,"
        f" {counts.appeared:,} appeared, {counts.disappeared:,} disappeared,"
        f" {counts.insufficient_data:,} with insufficient data, {counts.muted:,} muted;"
        f" compared with {result.against.name}"
    )


def _compare_files(baseline: Path, incident: Path, before: Path | None) -> list[MetricScore]:
    paths = [baseline, incident] if before is None else [baseline, incident, before]
    try:
        # The time before may have no samples; the two sides must have some.
        tables = [read_long_csv(path, may_be_empty=path is before) for path in paths]
    except NormstatError as error:
        raise exit_with(error) from error
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


MAX_SERIES: Final = 50


def find_series(rows: Sequence[SeriesRows], search: str, *, sort: SeriesSort = "significance") -> AskedSeriesPage:
    """Return the first series that match the words."""
    return ask_series(rows, SeriesQuestion(search, sort=sort, limit=MAX_SERIES))


def print_series(answer: AskedSeriesPage, search: str) -> None:
    """Print the series that were asked for, each with its verdict and the reason."""
    if not answer.series:
        typer.echo(f"None of {answer.n_series:,} series matches {search!r}.")
        return
    for one in answer.series:
        typer.echo(f"{one.host}: {one.title}: {one.verdict.replace('_', ' ')}")
        typer.echo(f"  {one.reason}")
    if answer.n_matched > len(answer.series):
        typer.echo(f"The first {len(answer.series):,} of {answer.n_matched:,}; add words to see others.")


def has_no_verdict(rows: Sequence[SeriesRows]) -> bool:
    """Return whether no series has enough samples for a verdict."""
    counts = ask_series(rows, SeriesQuestion(limit=1)).counts
    n_judged = counts.unusual + counts.likely + counts.unchanged + counts.muted
    return counts.insufficient_data > 0 and n_judged == 0


def print_differences(rows: Sequence[SeriesRows]) -> None:
    """Print both values of each series and their difference, the largest in proportion first."""
    answer = find_series(rows, "", sort="difference")
    texts = {(item.stat, item.field.key): item.field for host in rows for item in host.fields}

    def to_cells(one: AskedSeries) -> tuple[str, ...]:
        field = texts[one.stat, one.field]
        difference = "" if one.difference is None else f"{'+' if one.difference > 0 else ''}{to_text(field, one.difference)}"
        ratio = "" if one.ratio is None else f"{one.ratio:.3g}"
        return (one.host, one.title, to_text(field, one.baseline.median), to_text(field, one.incident.median), difference, ratio)

    typer.echo("")
    print_table([("host", "series", "baseline", "incident", "difference", "ratio"), *map(to_cells, answer.series)])
    if answer.n_matched > len(answer.series):
        typer.echo(f"The first {len(answer.series):,} of {answer.n_matched:,} series; --ask WORDS shows others.")
