"""`normstat stat`: manages user specs."""

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.query import spec_lists
from normstat.samples import extra_columns, user_specs

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Manage your own stats: docs/add-ons.md.")

CREATED_BY: Final = "command line"
MAX_BYTES: Final = 1 << 20
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

    async def put(session: WriteSession) -> spec_lists.SpecInfo:
        name = await user_specs.check_text(session, toml)
        row = await user_specs.put_user_spec(session, name=name, toml=toml, created_by=CREATED_BY)
        return await spec_lists.describe(session, row)

    record = run_in_session(put)
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
    found = [record for record in run_in_session(spec_lists.list_specs).specs if everything or not record.is_builtin]
    rows = [("spec", "version", "streams", "outdated", "title", "stats")]
    for record in found:
        numbers = (str(record.version), str(record.n_streams), str(record.n_streams_outdated))
        rows.append((record.name, *numbers, record.title, " ".join(record.stats)))
    print_table(rows)


@app.command()
def show(name: Name) -> None:
    """Print the spec of that name, built-in or user-defined."""
    toml = run_in_session(lambda session: spec_lists.read_spec(session, name)).toml
    typer.echo(toml, nl=not toml.endswith("\n"))


@app.command()
def remove(name: Name) -> None:
    """Delete a user spec that no stream uses."""
    run_in_session(lambda session: user_specs.delete_user_spec(session, name))
    typer.echo(f"Deleted spec {name}")


@app.command()
def columns(
    stat: Annotated[str | None, typer.Argument(help="list only those of this stat")] = None,
    *,
    remove: Annotated[list[str] | None, typer.Option(metavar="KEY", help="remove this column of STAT with its numbers")] = None,
) -> None:
    """List the columns that hosts sent and no spec describes, or remove some of them."""
    if remove is None:
        found = run_in_session(lambda session: extra_columns.list_extra_columns(session, stat))
        rows = [(one.stat, one.key, one.host or "-", f"{one.created_at:%Y-%m-%d %H:%M:%S}") for one in found]
        print_table([("stat", "column", "first sent by", "since"), *rows])
        return
    if stat is None:
        raise typer.BadParameter("name the stat: normstat stat columns STAT --remove KEY")
    for key in remove:
        run_in_session(partial(extra_columns.remove_extra_column, stat=stat, key=key))
        typer.echo(f"Removed {key} of {stat}. If a host sends it again, it comes back")
