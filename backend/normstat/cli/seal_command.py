"""`normstat seal`: pack samples of past days now."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from normstat.cli.db_session import run_or_exit
from normstat.compaction.seal_job import Sealing
from normstat.compaction.unseal import release
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.errors import NormstatError
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of
from normstat.samples.lookup import require_host
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)

SHOW_S = 5.0


@app.command()
def seal(
    host: Annotated[str | None, typer.Option(help="name of the only host")] = None,
    after_days: Annotated[int | None, typer.Option(min=0, help="days after the end of a day; as the server when not given")] = None,
    *,
    unsealed: Annotated[bool, typer.Option("--unsealed", help="also what `normstat unseal` made rows, before its time")] = False,
) -> None:
    """Pack the samples of past days into sealed blocks, with or without a running server; if interrupted, call it again.

    Nothing is lost, digit for digit: graphs, comparisons and exports read them as before. SQL on the views in schema stat does not
    see them; `normstat unseal` gives a window back.
    """
    configure_logging("error")
    n_rows = run_or_exit(lambda: asyncio.run(_work(host, after_days, must_release=unsealed)))
    typer.echo(f"{count_of(n_rows, 'sample')} sealed")


async def _work(host: str | None, after_days: int | None, *, must_release: bool) -> int:
    settings = load_settings()
    engine = make_engine(settings.database_url, pool_size=1)
    sessions = make_sessions(engine)
    days = settings.seal_after_days if after_days is None else after_days
    sealing = Sealing(sessions, days)
    n_rows = 0
    try:
        host_id = None
        if host is not None:
            async with open_read_session(sessions) as session:
                host_id = await require_host(session, host)
        if must_release:
            await release(sessions, host_id)
        while True:
            done = await sealing.seal(now=datetime.now(UTC), budget_s=SHOW_S, host=host, is_throttled=False)
            n_rows += done.n_rows
            if not done.is_all:
                typer.echo(f"{count_of(n_rows, 'sample')} sealed so far", err=True)
                continue
            if done.n_failed:
                raise NormstatError(
                    f"{count_of(n_rows, 'sample')} sealed; {count_of(done.n_failed, 'host')} failed, the log above says why"
                )
            return n_rows
    finally:
        await engine.dispose()
