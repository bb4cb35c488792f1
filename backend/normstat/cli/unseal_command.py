"""`normstat unseal`: give sealed samples back as rows."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from normstat.cli.db_session import parse_time, run_or_exit
from normstat.compaction.unseal import Unsealed, list_host_ids, unseal
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.runtime.readable import count_of
from normstat.samples.lookup import require_host
from normstat.settings import load_settings
from normstat.window import EPOCH, LATEST, Window

app = typer.Typer(add_completion=False)


@app.command(name="unseal")
def unseal_samples(
    *,
    host: Annotated[str | None, typer.Option(help="name of the host")] = None,
    start: Annotated[
        datetime | None, typer.Option("--from", parser=parse_time, metavar="INSTANT", help="first instant; default: the oldest")
    ] = None,
    end: Annotated[
        datetime | None,
        typer.Option("--to", parser=parse_time, metavar="INSTANT", help="first instant after the window; default: the newest"),
    ] = None,
    stat: Annotated[list[str] | None, typer.Option(help="only this stat; more than once for several")] = None,
    days: Annotated[int, typer.Option(min=1, max=36_500, help="for how many days they stay rows")] = 7,
    is_all: Annotated[
        bool, typer.Option("--all", help="everything of all hosts, and for good; the server needs NORMSTAT_SEAL_AFTER_DAYS=0")
    ] = False,
) -> None:
    """Make sealed samples rows again, for SQL on the views in schema stat. Blocks come back whole: often more than the window."""
    if is_all == (host is not None):
        raise typer.BadParameter("give --host NAME, or --all for all hosts")
    window = None if start is None and end is None else Window(start or EPOCH, end or LATEST)
    until = LATEST if is_all else datetime.now(UTC) + timedelta(days=days)
    done = run_or_exit(lambda: asyncio.run(_work(host, window, stat, until)))
    period = "for good" if is_all else f"for {count_of(days, 'day')}"
    back = f"normstat seal --unsealed{'' if host is None else f' --host {host}'}"
    typer.echo(f"{count_of(done.n_rows, 'sample')} of {count_of(done.n_blocks, 'block')} are rows again, {period}; back: {back}")


async def _work(host: str | None, window: Window | None, stats: Sequence[str] | None, until: datetime) -> Unsealed:
    engine = make_engine(load_settings().database_url, pool_size=1)
    sessions = make_sessions(engine)
    try:
        async with open_read_session(sessions) as session:
            hosts = await list_host_ids(session) if host is None else [await require_host(session, host)]
        found = [await unseal(sessions, host_id, window=window, stats=stats or None, until=until) for host_id in hosts]
    finally:
        await engine.dispose()
    return Unsealed(sum(done.n_blocks for done in found), sum(done.n_rows for done in found))
