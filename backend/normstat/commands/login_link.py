"""`normstat login-link`: a one-time link into an account."""

import asyncio
from typing import Annotated

import typer

from normstat.auth.login import make_link
from normstat.errors import NormstatError
from normstat.settings import Settings, load_settings
from normstat.store.session import make_engine, make_sessions, open_write_session
from normstat.store.version import require_current_schema

app = typer.Typer()


@app.command()
def login_link(
    user: Annotated[str | None, typer.Option(help="account that the link opens; left out: the oldest administrator")] = None,
    forget_password: Annotated[bool, typer.Option(help="remove the account's password and end its sessions")] = False,  # noqa: FBT002
) -> None:
    """Print a link that logs in once, within one hour; makes the first administrator when there is none."""
    settings = load_settings()
    try:
        require_current_schema(settings.database_url)
        typer.echo(asyncio.run(_make(settings, user, must_forget_password=forget_password)))
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


async def _make(settings: Settings, user: str | None, *, must_forget_password: bool) -> str:
    engine = make_engine(settings.database_url, pool_size=1)
    try:
        async with open_write_session(make_sessions(engine)) as session:
            _, token = await make_link(session, name=user, must_forget_password=must_forget_password)
    finally:
        await engine.dispose()
    # Behind the #: browsers do not send that part, so it reaches no server's log.
    return f"{settings.public_url.rstrip('/')}/login#token={token}"
