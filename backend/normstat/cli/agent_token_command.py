"""`normstat agent-token`: creates agent tokens without a browser."""

import asyncio
from typing import Annotated

import typer

from normstat.auth.accounts import create_agent_token
from normstat.cli.db_session import note_command
from normstat.errors import NormstatError
from normstat.logs import configure_logging
from normstat.settings import Settings, load_settings
from normstat.storage.schema.schema_version import require_current_schema
from normstat.storage.session import make_engine, make_sessions, open_write_session

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
    settings = load_settings()
    configure_logging(settings.log_level)
    try:
        require_current_schema(settings.database_url)
        typer.echo(asyncio.run(_create(settings, name, host)))
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


async def _create(settings: Settings, name: str, host: str | None) -> str:
    engine = make_engine(settings.database_url, pool_size=1)
    try:
        async with open_write_session(make_sessions(engine)) as session:
            token, _ = await create_agent_token(session, name=name, host=host, created_by="command line")
            await note_command(session)
    finally:
        await engine.dispose()
    return token
