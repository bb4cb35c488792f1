"""`normstat related`: shows what moves with a series."""

import dataclasses
from datetime import UTC, datetime
from typing import Annotated

import orjson
import typer

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session, to_printable
from normstat.comparison.related_series import (
    MAX_GROUPS,
    RelatedAnswer,
    RelatedRequest,
    RelatedSeries,
    find_related,
    names_of_hosts,
)
from normstat.db.session import WriteSession
from normstat.runtime.readable import format_duration
from normstat.window import Window

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show what moves with a series: docs/comparison.md.")


@app.command()
def related(
    *,
    host: Annotated[str, typer.Argument(help="name of the host")],
    series: Annotated[str, typer.Argument(help="STAT.FIELD or STAT.FIELD@INSTANCE")],
    start: Annotated[datetime, typer.Option("--from", parser=parse_time, metavar="TIME", help="first instant of the window")],
    end: Annotated[datetime, typer.Option("--to", parser=parse_time, metavar="TIME", help="first instant after it")],
    other_host: Annotated[list[str] | None, typer.Option(help="look at the series of this host, too; may be repeated")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_GROUPS, help="most lines")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer of the API")] = False,
) -> None:
    """Show the series that move with one around a window: in which direction, and how long before or after it."""
    place, _, instance = series.partition("@")
    stat, dot, field = place.partition(".")
    if not dot or not stat or not field:
        raise typer.BadParameter(f"{series!r} is no series; write STAT.FIELD or STAT.FIELD@INSTANCE")
    if end <= start:
        raise typer.BadParameter("--to is not after --from")
    asked = RelatedRequest(names_of_hosts(host, other_host or ()), stat, field, instance, Window(start, end), limit)

    async def work(session: WriteSession) -> RelatedAnswer:
        return await find_related(session, asked, datetime.now(UTC))

    answer = run_in_session(work)
    if as_json:
        typer.echo(orjson.dumps(dataclasses.asdict(answer)).decode())
        return
    typer.echo(to_printable(answer.sentence))
    if answer.related:
        print_table([("host", "series", "correlation", "direction and lag", "also"), *map(_to_row, answer.related)])
    read = f"{format_instant(answer.read_start)} to {format_instant(answer.read_end)}"
    step = format_duration(answer.step_ms / 1000)
    typer.echo(f"looked at {read} in steps of {step}; lags up to {format_duration(answer.max_lag_s)}")
    if answer.n_left_out:
        typer.echo(f"{answer.n_left_out:,} series have too few values there")


def _to_row(one: RelatedSeries) -> tuple[str, ...]:
    also = f"{one.n_alike} more of {one.stat}.{one.field}" if one.n_alike else ""
    return (to_printable(one.host), to_printable(one.title), f"{one.correlation:.2f}", one.sentence, also)
