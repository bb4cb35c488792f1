"""`normstat config`: checks the settings, and shows each with its source."""

import json
import sys
from typing import Annotated, Final

import typer
from pydantic import SecretStr

from normstat.cli.db_session import print_table
from normstat.cli.local_database import hide_password
from normstat.settings import FILE, SECRETS, Settings, find_sources, load_settings, misspelled_variables, setting_variable

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Check and show the settings: docs/configure.md.")
# What is shown in place of a secret.
HIDDEN: Final = "(hidden)"


@app.command()
def check() -> None:
    """Check all settings; exit with 1, and a sentence for each, if any is wrong."""
    load_settings()
    misspelled = misspelled_variables()
    for sentence in misspelled:
        sys.stderr.write(f"normstat: {sentence}\n")
    if misspelled:
        raise typer.Exit(1)
    typer.echo(f"The settings are valid; {len(find_sources())} of {len(Settings.model_fields)} are set.")


@app.command()
def show(
    *,
    is_changed: Annotated[bool, typer.Option("--changed", help="only settings that are not at their defaults")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object instead of a table")] = False,
) -> None:
    """Show every setting with its value and source: the environment, a file, or the default. Secrets are hidden."""
    settings, sources = load_settings(), find_sources()
    rows = [
        (setting_variable(name), write_value(getattr(settings, name)), sources.get(name, "default"))
        for name in Settings.model_fields
        if name in sources or not is_changed
    ]
    if as_json:
        typer.echo(json.dumps({name: {"value": value, "source": source} for name, value, source in rows}, indent=2))
        return
    print_table([("setting", "value", "source"), *rows])


@app.command()
def example() -> None:
    """Print a normstat.toml with every setting as a comment, its meaning above and its default as the value."""
    typer.echo("# Settings of normstat. The environment (NORMSTAT_WORKERS=2) wins over this file; docs/configure.md has the rest.")
    for name, field in Settings.model_fields.items():
        if setting_variable(name).startswith("NORMSTAT_"):
            typer.echo(f"\n# {field.description}\n#{name} = {write_toml(field.default)}")
            if name in SECRETS:
                typer.echo(f'#{name}{FILE} = "/run/secrets/{name}"')


def write_toml(value: object) -> str:
    """Return a value of a normstat.toml; an empty text for none."""
    match value:
        case bool() | int() | float():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(json.dumps(part) for part in value) + "]"
        case _:
            return json.dumps(write_value(value))


def write_value(value: object) -> str:
    """Return a value as it would be set; empty for none."""
    match value:
        case None:
            return ""
        case SecretStr():
            return HIDDEN
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(map(str, value))
        case _:
            return hide_password(str(value))
