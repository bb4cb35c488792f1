"""`normstat changes`: shows when normal changed on a host."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from pydantic import TypeAdapter

from normstat.cli.db_session import format_instant, parse_time, run_in_session, run_or_exit, to_printable
from normstat.db.session import WriteSession, make_engine, make_sessions
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of
from normstat.settings import load_settings
from normstat.watch.normal_changes import ChangesOfNormal, read_normal_changes, search_again

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show when normal changed on a host: docs/baselines.md.")


@app.command()
def changes(
    *,
    host: Annotated[str, typer.Argument(help="name of the host")],
    start: Annotated[
        datetime | None, typer.Option("--from", parser=parse_time, metavar="TIME", help="only later ones; default: a year ago")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="look for them now in two years, for instance after an import")] = False,
    most: Annotated[int, typer.Option("--series", min=0, max=50, help="further series to list of each change")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer of the API")] = False,
) -> None:
    """Show since when the series of a host differ from the weeks before, and what happened shortly before that."""

    if search:
        configure_logging("error")
        run_or_exit(lambda: asyncio.run(_search(host)))

    async def work(session: WriteSession) -> ChangesOfNormal:
        return await read_normal_changes(session, host, start=start or datetime.now(UTC) - timedelta(days=365))

    found = run_in_session(work)
    if as_json:
        typer.echo(TypeAdapter(ChangesOfNormal).dump_json(found).decode())
        return
    if not found.changes:
        typer.echo(
            "not searched yet; a server does it after midnight UTC" if found.searched_until is None else "no change of normal"
        )
        return
    for change in found.changes:
        typer.echo(f"{format_instant(change.at)}  {to_printable(change.sentence)}")
        for near in change.events:
            typer.echo(f"  {to_printable(' '.join(near.sentence.split()))}")
        # The first series stands in the sentence.
        for series in change.series[1 : most + 1]:
            typer.echo(f"    {to_printable(series.sentence)}")
        if 0 < most < change.n_series - 1:
            typer.echo(f"    {count_of(change.n_series - 1 - most, 'more series', 'more series')}")


async def _search(host: str) -> None:
    engine = make_engine(load_settings().database_url, pool_size=1)
    try:
        await search_again(make_sessions(engine), host, datetime.now(UTC))
    finally:
        await engine.dispose()
