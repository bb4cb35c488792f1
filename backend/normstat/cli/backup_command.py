"""`normstat backup`: copies the whole database into a folder."""

from pathlib import Path
from typing import Annotated

import typer

from normstat.backup.dump import Progress, back_up
from normstat.backup.manifest import Manifest
from normstat.backup.restore_tables import check_backup
from normstat.cli.db_session import exit_if_damaged, run_or_exit
from normstat.cli.progress import ProgressDisplay
from normstat.doctor.packed_checks import CHECKS
from normstat.runtime.readable import count_of, format_bytes
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="folder of the backup; files of an earlier backup are not copied again")],
    *,
    check: Annotated[bool, typer.Option("--check", help="copy nothing; check that all files of the backup are unchanged")] = False,
) -> None:
    """Update the backup in FOLDER to the present state of the database; after an interruption, run it again to continue.

    Damaged data is copied as far as it can be read, and listed; the exit status is then 3.
    """
    seen = [Progress()]

    def work() -> Manifest:
        with ProgressDisplay("checked" if check else "backup") as show:

            def watch(progress: Progress) -> None:
                seen[0] = progress
                show.show(progress)

            return check_backup(folder, watch) if check else back_up(load_settings().database_url, folder, watch, CHECKS)

    try:
        manifest = run_or_exit(work)
    except KeyboardInterrupt:
        typer.echo("normstat: stopped; the next backup into this folder continues from here", err=True)
        raise typer.Exit(130) from None
    if check:
        typer.echo(f"unchanged: {count_of(len(manifest.pieces), 'file')}; the backup was taken at {manifest.taken_at}")
        exit_if_damaged(manifest.damaged)
        return
    size = format_bytes(sum(piece.n_bytes for piece in manifest.pieces))
    n_new = len(manifest.pieces) - seen[0].n_kept
    typer.echo(
        f"{count_of(manifest.n_rows, 'row')} in {count_of(len(manifest.pieces), 'file')}, {size}; "
        f"of these, new: {count_of(n_new, 'file')} ({format_bytes(seen[0].n_bytes)})"
    )
    exit_if_damaged(manifest.damaged)
