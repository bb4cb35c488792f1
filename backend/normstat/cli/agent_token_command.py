"""`normstat agent-token`: creates agent tokens without a browser."""

from typing import Annotated

import typer

from normstat.auth.accounts import create_agent_token
from normstat.cli.db_session import run_in_session
from normstat.logs import configure_logging
from normstat.settings import load_settings
from normstat.storage.session import WriteSession

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Create tokens for agents.")


@app.callback()
def agent_token() -> None:
    """Create tokens for agents."""


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
