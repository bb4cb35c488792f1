"""`normstat stat`: manages user specs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NormstatError
from normstat.query import spec_lists
from normstat.settings import load_settings
from normstat.storage import user_specs
from normstat.storage.schema.schema_version import require_current_schema
from normstat.storage.session import make_engine, make_sessions, open_write_session

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Manage your own stats: docs/add-ons.md.")

CREATED_BY: Final = "command line"
MAX_BYTES: Final = 1 << 20
T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="name of the spec")]


@app.callback()
def stat() -> None:
    """Manage your own stats."""


@app.command()
def add(file: Annotated[Path, typer.Argument(help="the spec, a TOML file; its `name` key is the name of the spec")]) -> None:
    """Add the spec in FILE, or replace the user spec of the same name."""
    try:
        toml = file.read_bytes()[:MAX_BYTES].decode()
    except OSError as error:
        typer.echo(f"normstat: {file}: {error.strerror}", err=True)
        raise typer.Exit(1) from error
    except UnicodeDecodeError as error:
        typer.echo(f"normstat: {file} is not UTF-8 text", err=True)
        raise typer.Exit(1) from error

    async def put(session: AsyncSession) -> spec_lists.SpecRecord:
        name = await user_specs.check_text(session, toml)
        row = await user_specs.put_user_spec(session, name=name, toml=toml, created_by=CREATED_BY)
        return await spec_lists.describe(session, row)

    record = _run(put)
    typer.echo(f"Added {record.name}, version {record.version}: {', '.join(record.stats)}")
    if record.n_streams_outdated:
        many = record.n_streams_outdated > 1
        typer.echo(
            f"{record.n_streams_outdated} stream{'s were' if many else ' was'} read with another version; "
            f"`normstat reparse --spec {record.name}` reads {'them' if many else 'it'} again"
        )


@app.command("list")
def list_(*, everything: Annotated[bool, typer.Option("--all", help="include built-in specs")] = False) -> None:
    """List user specs."""
    found = [record for record in _run(spec_lists.list_specs) if everything or not record.is_builtin]
    rows = [("spec", "version", "streams", "outdated", "title", "stats")]
    for record in found:
        numbers = (str(record.version), str(record.n_streams), str(record.n_streams_outdated))
        rows.append((record.name, *numbers, record.title, " ".join(record.stats)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command()
def show(name: Name) -> None:
    """Print the spec of that name, built-in or user-defined."""
    _, toml = _run(lambda session: spec_lists.read_spec(session, name))
    typer.echo(toml, nl=not toml.endswith("\n"))


@app.command()
def remove(name: Name) -> None:
    """Delete a user spec that no stream uses."""
    _run(lambda session: user_specs.delete_user_spec(session, name))
    typer.echo(f"Deleted spec {name}")


def _run(work: Callable[[AsyncSession], Awaitable[T]]) -> T:
    """Return the result of the work, in a committed session; on error, print it and exit."""
    settings = load_settings()

    async def run() -> T:
        engine = make_engine(settings.database_url, pool_size=1)
        try:
            async with open_write_session(make_sessions(engine)) as session:
                return await work(session)
        finally:
            await engine.dispose()

    try:
        require_current_schema(settings.database_url)
        return asyncio.run(run())
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
