"""`normstat pack`: packs old raw bytes now, which a running server does by and by."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from normstat.cli.db_session import run_or_exit
from normstat.compaction.packing_run import limit_at, pack_chunks
from normstat.db.session import make_engine, make_sessions
from normstat.db.turns import Turns
from normstat.errors import NormstatError
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)

# Interval between two reports.
SHOW_S: Final = 5.0


@app.command()
def pack(
    days: Annotated[
        int, typer.Option(min=0, help="pack the chunks that arrived before the day this many days ago (UTC); 0: before today")
    ] = 1,
) -> None:
    """Pack old raw bytes now, at full speed, with or without a running server; if interrupted, run it again."""
    configure_logging("error")
    n_bytes, n_packed = run_or_exit(lambda: asyncio.run(_pack(days)))
    typer.echo(f"{format_bytes(n_bytes)} of raw bytes packed into {format_bytes(n_packed)}")


async def _pack(days: int) -> tuple[int, int]:
    engine = make_engine(load_settings().database_url, pool_size=1)
    turns: Turns[int] = Turns("packing_failed")
    n_bytes = n_packed = 0
    try:
        while True:
            done = await pack_chunks(make_sessions(engine), before=limit_at(datetime.now(UTC), days), budget_s=SHOW_S, turns=turns)
            n_bytes += done.n_bytes
            n_packed += done.n_packed_bytes
            if done.is_all:
                return n_bytes, n_packed
            if not done.n_bytes and done.n_failed:
                raise NormstatError(f"{count_of(done.n_failed, 'stream')} could not be packed; the log above says why")
            n_left = done.n_streams - done.n_done
            typer.echo(f"{format_bytes(n_bytes)} packed into {format_bytes(n_packed)}, {count_of(n_left, 'stream')} left", err=True)
    finally:
        await engine.dispose()
