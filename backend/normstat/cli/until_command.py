"""`normstat until`: shows how long until something of a host is full."""

import dataclasses
from datetime import UTC, datetime
from typing import Annotated

import orjson
import typer

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session, to_printable
from normstat.db.session import WriteSession
from normstat.runtime.readable import format_human
from normstat.watch.forecasts import Forecast, HostForecasts, describe_rate, list_filling, read_forecasts_of_host

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show how long until something is full: docs/watching.md.")


@app.command()
def until(
    *,
    host: Annotated[str, typer.Argument(help="name of the host")],
    at: Annotated[
        datetime | None, typer.Option("--at", parser=parse_time, metavar="TIME", help="as it was seen then; default: now")
    ] = None,
    with_steady: Annotated[bool, typer.Option("--all", help="also what does not fill up")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer of the API")] = False,
) -> None:
    """Show when file systems, inodes, memory, swap space, limits of units and processes' memory are used up."""

    async def work(session: WriteSession) -> HostForecasts:
        return await read_forecasts_of_host(session, host, at or datetime.now(UTC))

    found = run_in_session(work)
    if as_json:
        typer.echo(orjson.dumps(dataclasses.asdict(found)).decode())
        return
    shown = found.forecasts if with_steady else list_filling(found.forecasts)
    if not shown:
        n = len(found.forecasts)
        typer.echo(f"nothing fills up: {n} levels with a limit were looked at" if n else "nothing with a limit is recorded")
        return
    print_table([("forecast", "at", "now", "moves by", "trend of"), *map(_to_row, shown)])


def _to_row(own: Forecast) -> tuple[str, ...]:
    full_at = "-" if own.full_at is None else format_instant(own.full_at)
    span = "-" if own.span_hours is None else f"{own.span_hours} h"
    return (to_printable(own.sentence), full_at, format_human(own.level, own.unit), describe_rate(own), span)
