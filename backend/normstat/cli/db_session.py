"""Shared by commands that use the database: a session, and uniform error messages."""

import asyncio
import os
import pwd
import socket
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

import psycopg
import typer
from sqlalchemy.exc import DBAPIError

from normstat.cli import called_command
from normstat.cli.local_database import describe_search
from normstat.db.schema_version import require_current_schema
from normstat.db.session import WriteSession, make_engine, make_sessions, open_write_session
from normstat.errors import DatabaseAway, NormstatError
from normstat.records.audit_rows import AuditEntry, add_entries, has_changed
from normstat.runtime.body import parse_instant
from normstat.settings import load_settings

T = TypeVar("T")

# The exit status of a command that did its work, and found stored data that cannot be read.
DAMAGED: Final = 3


def run_in_session(work: Callable[[WriteSession], Awaitable[T]]) -> T:
    """Return the result of the work, in a committed session; on error, print it and exit."""
    url = load_settings().database_url

    async def run() -> T:
        engine = make_engine(url, pool_size=1)
        try:
            async with open_write_session(make_sessions(engine)) as session:
                result = await work(session)
                await _note_command(session)
                return result
        finally:
            await engine.dispose()

    return run_or_exit(lambda: asyncio.run(run()))


async def _note_command(session: WriteSession) -> None:
    """Note the command if it changed something, in the transaction of the change."""
    if not await has_changed(session):
        return
    who = _account_name()
    entry = AuditEntry(who, "command", socket.gethostname(), "run_command", {"command": called_command.get()})
    await add_entries(session, [entry])


def _account_name() -> str:
    """Return the name of the operating system's account."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def run_or_exit(work: Callable[[], T]) -> T:
    """Return the result of the work, on a database with this program's schema; on error, print it and exit."""
    try:
        require_current_schema(load_settings().database_url)
        return work()
    except NormstatError as error:
        raise exit_with(error) from error
    except (DBAPIError, psycopg.OperationalError) as error:
        raise exit_with(DatabaseAway(f"The database is unavailable ({str(error).splitlines()[0]})")) from error


def exit_with(error: NormstatError) -> typer.Exit:
    """Print the error, with where a database was looked for if none answers; return the exit to raise."""
    tried = describe_search() if isinstance(error, DatabaseAway) else ""
    typer.echo(f"normstat: {error.message}{tried}", err=True)
    return typer.Exit(1)


def exit_if_damaged(lines: Sequence[str]) -> None:
    """Print what is damaged in the database, a line each, and exit with DAMAGED; without damage, return."""
    for line in lines:
        typer.echo(f"damaged: {to_printable(line)}", err=True)
    if lines:
        raise typer.Exit(DAMAGED)


def parse_time(text: str) -> datetime:
    """Return the instant of an option.

    Raises: typer.BadParameter
    """
    try:
        return parse_instant(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def to_printable(text: str) -> str:
    """Return untrusted text without control characters, which a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print the rows in columns; the first one is the header."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def format_instant(instant: datetime) -> str:
    """Return an instant, which is in UTC, to the second: `2026-11-22 10:00:00Z`."""
    return f"{instant:%Y-%m-%d %H:%M:%S}Z"
