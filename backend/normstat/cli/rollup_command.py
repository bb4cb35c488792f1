"""`normstat rollup`: list and rebuild rollups, from which wide graphs are drawn. They can be rebuilt from samples at any time."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session, run_or_exit
from normstat.db.session import WriteSession, make_engine, make_sessions
from normstat.db.turns import Turns
from normstat.errors import NormstatError
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes
from normstat.samples.rollups.rollup_job import limit_at, roll_up
from normstat.samples.rollups.rollup_states import RollupState, count_marks, drop_rollups, read_rollup_states
from normstat.settings import load_settings
from normstat.window import from_us

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show, drop and rebuild rollups: docs/run.md.")

# Interval between two reports of the remaining work.
SHOW_S: Final = 5.0
WAIT_S: Final = 1.0
HostOption = Annotated[str | None, typer.Option(help="name of the only host")]


@app.callback()
def rollup() -> None:
    """List and rebuild rollups, which wide graphs are drawn from."""


@app.command()
def status() -> None:
    """List each host's rollup state, and how many hours changed since."""
    states = run_in_session(read_rollup_states)
    limit = from_us(limit_at(datetime.now(UTC)))
    print_table(
        [
            ("host", "rolled up until", "behind by", "hours to do again", "rollups"),
            *(
                (state.host, _instant(state.until), _behind(state, limit), str(state.n_marked), format_bytes(state.n_bytes))
                for state in states
            ),
        ]
    )


@app.command()
def drop(host: HostOption = None) -> None:
    """Drop the rollups; a running server rebuilds them, and draws from the samples until then."""

    async def work(session: WriteSession) -> int:
        return await drop_rollups(session, host)

    typer.echo(f"{count_of(run_in_session(work), 'host')} without rollups")


@app.command()
def rebuild(host: HostOption = None) -> None:
    """Drop the rollups and rebuild them; if interrupted, a running server or `normstat rollup work` continues."""
    drop(host)
    work(host)


@app.command()
def work(host: HostOption = None) -> None:
    """Roll up everything that is due, with or without a running server."""
    configure_logging("error")
    n_hours = run_or_exit(lambda: asyncio.run(_work(host)))
    typer.echo(f"{count_of(n_hours, 'hour')} of stats rolled up")


async def _work(host: str | None) -> int:
    engine = make_engine(load_settings().database_url, pool_size=1)
    sessions = make_sessions(engine)
    turns: Turns[int] = Turns("rollup_failed")
    n_hours = 0
    try:
        while True:
            done = await roll_up(sessions, now=datetime.now(UTC), budget_s=SHOW_S, host=host, turns=turns)
            n_hours += done.n_hours
            n_left = await count_marks(sessions, host)
            if done.is_all and done.n_failed:
                raise NormstatError(
                    f"{count_of(n_hours, 'hour')} of stats rolled up; {count_of(done.n_failed, 'host')} failed, "
                    "the log above says why"
                )
            # Another process may work on the same host; then only watch.
            if done.is_all and n_left == 0:
                return n_hours
            typer.echo(f"{count_of(n_hours, 'hour')} of stats rolled up, {n_left} marked", err=True)
            if done.is_all:
                await asyncio.sleep(WAIT_S)
    finally:
        await engine.dispose()


def _instant(time: datetime | None) -> str:
    return "-" if time is None else f"{time:%Y-%m-%d %H:%M}"


def _behind(state: RollupState, limit: datetime) -> str:
    if state.until is None:
        return "all"
    n_hours = max(0, round((limit - state.until).total_seconds() / 3600))
    return f"{n_hours} h" if n_hours else "-"
