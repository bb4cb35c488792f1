"""What `normstat compare` prints of single series: those that are asked for, and plain differences where nothing has a verdict."""

from collections.abc import Sequence
from typing import Final

import typer

from normstat.cli.db_session import print_table
from normstat.comparison.findings.wording import to_text
from normstat.comparison.series_rows import SeriesRows
from normstat.comparison.series_search import AskedSeries, AskedSeriesPage, SeriesQuestion, SeriesSort, ask_series

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
