"""`normstat sessions`: who is logged in, and the end of sessions."""

from typing import Annotated

import typer

from normstat.auth import account_rows, session_rows
from normstat.cli.db_session import format_instant, print_table, run_in_session, to_printable
from normstat.db.schema.models import Session
from normstat.db.session import WriteSession
from normstat.errors import NotFound

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List and end the sessions of accounts: docs/run.md.")


@app.callback()
def sessions() -> None:
    """List and end the sessions of accounts."""


@app.command(name="list")
def list_(account: Annotated[str | None, typer.Option(help="only the sessions of this account")] = None) -> None:
    """List sessions, the last used first; 500 at most."""

    async def read(session: WriteSession) -> list[tuple[Session, str]]:
        if account is None:
            return await session_rows.list_all_sessions(session)
        return [
            (row, account)
            for row in await session_rows.list_sessions(session, (await account_rows.require_user(session, account)).id)
        ]

    found = run_in_session(read)
    if not found:
        typer.echo("no sessions")
        return
    header = ("session", "account", "created", "last seen", "from", "browser", "by")
    print_table([header, *(_to_cells(row, name) for row, name in found)])


@app.command()
def end(
    account: Annotated[str, typer.Option(help="account whose sessions end")],
    number: Annotated[int | None, typer.Option("--session", help="only this one, as `list` numbers them", min=1)] = None,
) -> None:
    """End the sessions of an account, or one of them; the account can log in again."""

    async def work(session: WriteSession) -> int:
        user_id = (await account_rows.require_user(session, account)).id
        if number is None:
            return await session_rows.end_sessions(session, user_id)
        if not await session_rows.end_session(session, user_id, number):
            raise NotFound(f"{account} has no session {number}; `normstat sessions list` shows them")
        return 1

    typer.echo(f"ended: {run_in_session(work)}")


def _to_cells(row: Session, name: str) -> tuple[str, ...]:
    seen = (format_instant(row.created_at), format_instant(row.last_seen_at))
    return (str(row.id), to_printable(name), *seen, row.address or "-", row.browser or "-", row.means or "-")
