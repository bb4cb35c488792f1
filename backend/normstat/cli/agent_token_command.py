"""`normstat agent-token`: agent tokens without a browser."""

from datetime import timedelta
from typing import Annotated

import typer

from normstat.auth import account_rows
from normstat.auth.access import is_usable
from normstat.auth.accounts import create_agent_token
from normstat.auth.rotation import ask_rotation
from normstat.cli.db_session import format_instant, print_table, run_in_session, to_printable
from normstat.db.schema.models import AgentToken
from normstat.db.session import WriteSession
from normstat.errors import NotFound
from normstat.runtime.logs import configure_logging
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Create, list, rotate and revoke tokens of agents.")


@app.callback()
def agent_token() -> None:
    """Create, list, rotate and revoke tokens of agents."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="name of the token in the list of tokens", min=1)],
    host: Annotated[str | None, typer.Option(help="the only host that may use it; default: any host")] = None,
) -> None:
    """Print a new agent token; it is shown only once."""
    configure_logging(load_settings().log_level)

    async def work(session: WriteSession) -> str:
        token, _ = await create_agent_token(session, name=name, host=host, created_by="command line")
        return token

    typer.echo(run_in_session(work))


@app.command(name="list")
def list_() -> None:
    """List agent tokens, the newest first."""
    found = run_in_session(account_rows.list_agent_tokens)
    if not found:
        typer.echo("no agent tokens")
        return
    print_table([("token", "name", "host", "created", "last used", "state"), *(_to_cells(row, host) for row, host in found)])


@app.command()
def rotate(
    number: Annotated[int | None, typer.Argument(help="number of the token, as `list` shows it", min=1)] = None,
    *,
    host: Annotated[str | None, typer.Option(help="all tokens of this host")] = None,
    every: Annotated[bool, typer.Option("--all", help="all tokens that are bound to a host")] = False,
    within_days: Annotated[
        int | None, typer.Option(help="days after which the old token ends, even if its agent took no new one", min=1, max=365)
    ] = None,
) -> None:
    """Let agents take a new token; the old one stays valid until the new one is used."""
    if [number is not None, host is not None, every].count(True) != 1:
        raise typer.BadParameter("name one of: the number of a token, --host or --all")
    within = None if within_days is None else timedelta(days=within_days)

    async def work(session: WriteSession) -> int:
        if number is not None:
            ids = [number]
        else:
            rows = await account_rows.list_agent_tokens(session)
            ids = [row.id for row, name in rows if name is not None and is_usable(row) and host in {None, name}]
            if not ids:
                raise NotFound(f"no token is bound to the host {host}" if host else "no token is bound to a host")
        for each in ids:
            await ask_rotation(session, each, by="command line", within=within)
        return len(ids)

    n = run_in_session(work)
    typer.echo(f"asked {n} {'agent' if n == 1 else 'agents'} to take a new token, with the next delivery")


@app.command()
def revoke(number: Annotated[int, typer.Argument(help="number of the token, as `list` shows it", min=1)]) -> None:
    """Revoke a token; its agent keeps its data until it has a new one."""

    async def work(session: WriteSession) -> None:
        if not await account_rows.revoke_agent_token(session, number):
            raise NotFound(f"There is no agent token {number}; `normstat agent-token list` shows them")

    run_in_session(work)
    typer.echo(f"revoked agent token {number}")


def _to_cells(row: AgentToken, host: str | None) -> tuple[str, ...]:
    if row.revoked_at is not None:
        state = "revoked"
    elif not is_usable(row):
        state = "expired"
    else:
        state = "rotating" if row.rotation_asked_at else "active"
    used = "-" if row.last_used_at is None else format_instant(row.last_used_at)
    return (str(row.id), to_printable(row.name), host or "any", format_instant(row.created_at), used, state)
