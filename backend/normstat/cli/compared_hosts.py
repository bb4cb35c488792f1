"""The half of `normstat compare` that needs the database: hosts compared, and the result as printed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import typer
from pydantic import TypeAdapter

from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.baselines.baseline_rows import find_baseline
from normstat.cli.db_session import print_table, run_or_exit
from normstat.cli.local_database import use_running_database
from normstat.comparison.findings.wording import to_text
from normstat.comparison.ledger.ledger_table import describe_ledger
from normstat.comparison.model import Comparison
from normstat.comparison.past_incident_rows import Recall, describe_recall, recall
from normstat.comparison.saved_format import to_json
from normstat.comparison.series_rows import SeriesRows
from normstat.comparison.series_search import AskedSeries, AskedSeriesPage, SeriesQuestion, SeriesSort, ask_series
from normstat.comparison.service import WholeComparison, run_whole_comparison
from normstat.comparison.signature import signature_of
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.report.event_section import describe_times
from normstat.runtime.body import check_body
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.settings import load_settings
from normstat.window import Window

MAX_IN_TABLE: Final = 50
MAX_SERIES: Final = 50


@dataclass(frozen=True, slots=True)
class _Compared:
    """A comparison, and the past incidents that it looks like."""

    whole: WholeComparison
    past: Recall


def compare_hosts(given: dict[str, object], baseline: str | None, *, ask: str, as_json: bool) -> Comparison:
    """Print and return the comparison of the options; with `ask` print only the series that match these words.

    `given`: members of `ComparisonInputs`; `baseline`: name or id
    """
    use_running_database()
    found = run_or_exit(lambda: asyncio.run(_compare(given, baseline)))
    whole = found.whole
    if ask:
        answer = find_series(whole.rows, ask)
        typer.echo(TypeAdapter(AskedSeriesPage).dump_json(answer, indent=2)) if as_json else print_series(answer, ask)
    elif as_json:
        typer.echo(to_json(whole.comparison, indent=2))
    else:
        _print(whole, found.past)
    return whole.comparison


async def _compare(given: dict[str, object], baseline: str | None) -> _Compared:
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
