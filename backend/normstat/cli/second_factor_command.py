"""`normstat second-factor`: which accounts have one, and the reset of a lost one."""

from datetime import datetime
from typing import Annotated

import typer

from normstat.auth import second_factor
from normstat.auth.second_factor_rows import list_accounts
from normstat.cli.db_session import format_instant, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.runtime.logs import configure_logging
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show and reset second factors: docs/configure.md.")


@app.callback()
def second_factor_() -> None:
    """Show and reset second factors."""


@app.command(name="list")
def list_() -> None:
    """List all accounts, and since when each has a second factor."""

    async def read(session: WriteSession) -> list[tuple[str, datetime | None]]:
        return await list_accounts(session)

    found = run_in_session(read)
    print_table([("account", "second factor"), *((name, "-" if at is None else format_instant(at)) for name, at in found)])


@app.command()
def reset(account: Annotated[str, typer.Argument(help="name of the account")]) -> None:
    """Remove the second factor of an account, and end its sessions; it logs in by password alone until it sets up a new one."""

    configure_logging(load_settings().log_level)

    async def work(session: WriteSession) -> bool:
        return await second_factor.reset_of(session, None, account)

    had_one = run_in_session(work)
    typer.echo(f"removed the second factor of {account}" if had_one else f"{account} has no second factor")
