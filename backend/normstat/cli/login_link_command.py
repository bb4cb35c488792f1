"""`normstat login-link`: prints a one-time login link for an account."""

from typing import Annotated

import typer

from normstat.auth.login import make_link
from normstat.cli.db_session import run_in_session
from normstat.cli.local_database import find_public_url
from normstat.db.session import WriteSession
from normstat.runtime.logs import configure_logging
from normstat.settings import load_settings

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

    async def work(session: WriteSession) -> str:
        _, token = await make_link(session, name=user, must_forget_password=forget_password, must_revoke_tokens=not keep_api_tokens)
        return token

    # After the #: browsers do not send that part, so it reaches no server's log.
    typer.echo(f"{find_public_url().rstrip('/')}/login#token={run_in_session(work)}")
