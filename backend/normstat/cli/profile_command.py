"""`normstat profile`: the state of baseline profiles, and building them. A running server builds them as well."""

import asyncio
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session, run_or_exit
from normstat.db.schema.job_models import OPEN_STATES
from normstat.db.session import make_engine, make_sessions
from normstat.profiles.profile_job import run_profiles
from normstat.profiles.profile_jobs import ProfileState, list_states
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import format_bytes
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show and build the profiles of baselines: docs/baselines.md.")

# Progress is printed this often.
SHOW_S: Final = 5.0
WAIT_S: Final = 1.0
# The lock, a reader and a writer.
POOL_SIZE: Final = 3


@app.callback()
def profile() -> None:
    """Profiles of baselines."""


@app.command()
def status() -> None:
    """List the profile of each baseline and host, with its state."""
    states = run_in_session(list_states)
    print_table(
        [
            ("baseline", "host", "state", "done", "built at", "size"),
            *(
                (
                    state.baseline,
                    state.host,
                    f"{state.state}: {state.message}" if state.message else state.state,
                    f"{state.n_done} of {state.n_total}",
                    _made_at(state),
                    format_bytes(state.n_bytes),
                )
                for state in states
            ),
        ]
    )


@app.command()
def work(host: Annotated[str | None, typer.Option(help="only this host")] = None) -> None:
    """Build all profiles that are queued or outdated. A server may run meanwhile."""
    configure_logging("error")
    n_made = run_or_exit(lambda: asyncio.run(_work(host)))
    typer.echo(f"{n_made} profiles built")


async def _work(host: str | None) -> int:
    engine = make_engine(load_settings().database_url, pool_size=POOL_SIZE)
    sessions = make_sessions(engine)
    n_made = 0
    try:
        while True:
            made = await run_profiles(sessions, budget_s=SHOW_S, host=host)
            async with sessions() as session:
                states = await list_states(session)
            n_made += made or 0
            n_left = sum(state.state in OPEN_STATES and host in {None, state.host} for state in states)
            if n_left == 0:
                return n_made
            typer.echo(f"{n_made} profiles built, {n_left} to do", err=True)
            if made is None:
                # A running server builds them: wait for it.
                await asyncio.sleep(WAIT_S)
    finally:
        await engine.dispose()


def _made_at(state: ProfileState) -> str:
    if state.made_at is None:
        return "-"
    return f"{state.made_at:%Y-%m-%d %H:%M}{' (outdated)' if state.is_stale else ''}"
