"""`normstat restore`: restores a backup into an empty database."""

from pathlib import Path
from typing import Annotated

import psycopg
import typer
from sqlalchemy.exc import DBAPIError

from normstat.backup import restore_tables as work
from normstat.cli.db_session import exit_with, to_printable
from normstat.cli.progress import ProgressDisplay
from normstat.errors import DatabaseAway, NormstatError
from normstat.runtime.readable import count_of
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)


@app.command()
def restore(folder: Annotated[Path, typer.Argument(help="the folder of the backup")]) -> None:
    """Restore the backup in FOLDER into the empty database; after an interruption, run it again to continue."""
    try:
        work.check_target(load_settings().database_url, folder)
        with ProgressDisplay("checked") as show:
            manifest = work.check_backup(folder, show.show)
        with ProgressDisplay("restored") as show:
            work.restore(load_settings().database_url, folder, manifest, show.show)
    except NormstatError as error:
        raise exit_with(error) from error
    except (DBAPIError, psycopg.OperationalError) as error:
        said = str(error).strip().splitlines()[0]
        raise exit_with(DatabaseAway(f"The database is unavailable ({said}); run the command again to continue")) from error
    except KeyboardInterrupt:
        typer.echo("normstat: stopped; the next restore of this backup continues from here", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{count_of(manifest.n_rows, 'row')} restored, as of {manifest.taken_at}; the server rebuilds the rollups")
    for line in manifest.damaged:
        typer.echo(f"damaged when the backup was taken: {to_printable(line)}", err=True)
