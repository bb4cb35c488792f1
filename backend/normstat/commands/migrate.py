"""`normstat migrate`: brings the database to this program's schema."""

import time
from typing import Final

import typer
from sqlalchemy.exc import OperationalError

from normstat.settings import load_settings
from normstat.store.migrations import upgrade

app = typer.Typer()

# A database that starts together with us (docker compose, a rebooting machine) needs a moment.
PATIENCE_S: Final = 30.0
RETRY_S: Final = 1.0


@app.command()
def migrate() -> None:
    """Runs all migrations that the database does not have yet."""
    url = load_settings().database_url
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            upgrade(url)
        except OperationalError as error:
            if time.monotonic() > deadline:
                typer.echo(f"The database does not answer: {str(error.orig).strip()}", err=True)
                raise typer.Exit(1) from None
            time.sleep(RETRY_S)
        else:
            return
