"""`normstat migrate`: upgrades the database to this program's schema."""

import time
from typing import Final

import typer

from normstat.db.schema_version import require_current_schema
from normstat.errors import NormstatError
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)

# A database that starts together with us (docker compose, a rebooting machine) needs a moment.
PATIENCE_S: Final = 30.0
RETRY_S: Final = 1.0


@app.command()
def migrate() -> None:
    """Run all pending migrations."""
    try:
        require_current_schema(load_settings().database_url)
    except NormstatError:
        _upgrade()


def _upgrade() -> None:
    # Nearly always there is nothing to do, and these take two thirds of the time.
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    from normstat.db.migrations import upgrade  # noqa: PLC0415

    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            upgrade(load_settings().database_url)
        except NormstatError as error:
            typer.echo(f"normstat: {error.message}", err=True)
            raise typer.Exit(1) from error
        except OperationalError as error:
            if time.monotonic() > deadline:
                typer.echo(f"normstat: the database is unavailable: {str(error.orig).strip()}", err=True)
                raise typer.Exit(1) from error
            time.sleep(RETRY_S)
        else:
            return
