"""`normstat login-link`: prints a one-time login link for an account."""

import asyncio
from typing import Annotated

import typer

from normstat.auth.login import make_link
from normstat.cli.db_session import note_command
from normstat.errors import NormstatError
from normstat.logs import configure_logging
from normstat.settings import Settings, load_settings
from normstat.storage.schema.schema_version import require_current_schema
from normstat.storage.session import make_engine, make_sessions, open_write_session

app = typer.Typer(add_completion=False)


@app.command()
def login_link(
    user: Annotated[str | None, typer.Option(help="account of the link; default: the oldest administrator")] = None,
    forget_password: Annotated[  # noqa: FBT002
        bool, typer.Option(help="remove the account's password, end its sessions and revoke its API tokens")
    ] = False,
    keep_api_tokens: Annotated[bool, typer.Option(help="with --forget-password: keep the API tokens")] = False,  # noqa: FBT002
) -> None:
    """Print a link that logs in once, within one hour; creates the first administrator if there is none."""
    settings = load_settings()
    configure_logging(settings.log_level)
    try:
        require_current_schema(settings.database_url)
        typer.echo(asyncio.run(_make(settings, user, must_forget_password=forget_password, must_revoke_tokens=not keep_api_tokens)))
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


async def _make(settings: Settings, user: str | None, *, must_forget_password: bool, must_revoke_tokens: bool) -> str:
    engine = make_engine(settings.database_url, pool_size=1)
    try:
        async with open_write_session(make_sessions(engine)) as session:
            _, token = await make_link(
                session, name=user, must_forget_password=must_forget_password, must_revoke_tokens=must_revoke_tokens
            )
            await note_command(session)
    finally:
        await engine.dispose()
    # After the #: browsers do not send that part, so it reaches no server's log.
    return f"{settings.public_url.rstrip('/')}/login#token={token}"
