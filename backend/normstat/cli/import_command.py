"""`normstat import`: loads files of tool output that were recorded earlier into the database."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from normstat.artefacts.import_keeper import ImportKeeper
from normstat.db.schema_version import require_current_schema
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.errors import NormstatError
from normstat.ingest import import_rows
from normstat.ingest.batching import set_limits
from normstat.ingest.import_rows import ImportedFile
from normstat.ingest.imports.import_options import ImportOptions, check_options, parse_day, parse_instant
from normstat.ingest.imports.import_queue import to_import_row
from normstat.ingest.imports.import_run import ImportSource, require_host_name, run_import
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes, to_iso
from normstat.settings import Settings, load_settings
from normstat.watch.watch_rule_rows import read_now

app = typer.Typer(add_completion=False)

MAX_UNKNOWN_SHOWN: Final = 20
MAX_REASONS_SHOWN: Final = 5
REASON_LENGTH: Final = 110
NAME_LENGTH: Final = 50
MAX_NAME_LENGTH: Final = 1000
LOADED_BY: Final = "command line"


@app.command("import")
def import_files(  # noqa: PLR0917 (options of a command, given by name)
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="files, folders, archives")],
    host: Annotated[str, typer.Option(help="the host on which the files were recorded")],
    zone: Annotated[str | None, typer.Option(help="zone of times printed without one, e.g. Europe/Berlin (default UTC)")] = None,
    date: Annotated[str | None, typer.Option(help="first day of files with times of day but no dates, e.g. 2026-11-21")] = None,
    start: Annotated[str | None, typer.Option(help="instant of the first report of files without times, ISO 8601")] = None,
    interval: Annotated[float | None, typer.Option(help="seconds between reports, if the files have no times")] = None,
    spec: Annotated[str | None, typer.Option(help="the spec of the files, if it cannot be detected")] = None,
    *,
    title: Annotated[
        str | None, typer.Option(help="what the tracer was asked (dtrace, bpftrace, bcc, SystemTap); part of each instance")
    ] = None,
    date_from_mtime: Annotated[
        bool, typer.Option("--date-from-mtime", help="use the day of a file's last modification as the day of its last line")
    ] = False,
    first_is_real: Annotated[
        bool,
        typer.Option("--first-is-real", help="the first report covers an interval, not the time since boot (as with vmstat -y)"),
    ] = False,
    each_host: Annotated[
        bool,
        typer.Option(
            "--each-host", help="load the lines of each host that a file names into that host, not only those of the first"
        ),
    ] = False,
    all_files: Annotated[bool, typer.Option("--all", help="list every unreadable file, not only the first ones")] = False,
) -> None:
    """Load recorded tool output: files, folders, archives (docs/import.md). Loading a file twice changes nothing."""
    settings = load_settings()
    # The table shows what the server would log for each stream.
    configure_logging("error")
    try:
        require_host_name(host)
        options = check_options(
            zone=zone,
            date=parse_day(date) if date is not None else None,
            start=parse_instant(start) if start is not None else None,
            interval_s=interval,
            # It may be a user spec; those are known only after reading the database.
            spec=None,
            title=title,
            is_first_real=first_is_real,
        )
        options = replace(options, spec=spec, takes_date_from_mtime=date_from_mtime, is_each_host=each_host)
        require_current_schema(settings.database_url)
        results = asyncio.run(_import(settings, host, paths, options))
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("normstat: stopped; loaded data is kept; run the same command to continue", err=True)
        raise typer.Exit(130) from None
    print_results(results, shows_all=all_files)
    if not any(result.spec is not None and (result.n_samples or result.artefact is not None) for result in results):
        raise typer.Exit(1)


async def _import(settings: Settings, host: str, paths: Sequence[Path], options: ImportOptions) -> list[ImportedFile]:
    engine = make_engine(settings.database_url, pool_size=2)
    set_limits(engine, settings.ingest_limits)
    try:
        screen = Screen()
        sessions = make_sessions(engine)
        async with open_read_session(sessions) as session:
            since = await read_now(session)
        with screen.progress:
            source = ImportSource(host, paths, options, settings.import_max_bytes)
            await run_import(engine, source, screen, ImportKeeper(sessions))
        async with open_write_session(sessions) as session:
            row = to_import_row(host, " ".join(path.name for path in paths)[:MAX_NAME_LENGTH], options)
            await import_rows.add_loaded(session, row, screen.results, since=since, by=LOADED_BY)
        return [screen.results[position] for position in sorted(screen.results)]
    finally:
        await engine.dispose()


class Screen:
    """Shows the progress on a terminal, and keeps the results."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self.progress.add_task("looking through the files", total=None)
        self.results: dict[int, ImportedFile] = {}

    async def surveying(self, n_bytes: int, path: str) -> None:
        """Show the survey."""
        self.progress.update(self._task, description=f"looking through {_short(path)} ({format_bytes(n_bytes)})")

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        """Show how much has been loaded."""
        self.progress.update(self._task, total=n_bytes, completed=n_bytes_done, description=f"loading {_short(path)}")

    async def done(self, position: int, file: ImportedFile) -> None:
        """Keep a result."""
        self.results[position] = file


def _short(path: str) -> str:
    return path if len(path) <= NAME_LENGTH else "..." + path[3 - NAME_LENGTH :]


def print_results(results: Sequence[ImportedFile], *, shows_all: bool) -> None:
    """Print the table: a block of lines for each file that was loaded, one line for each that was not."""
    results = sorted(results, key=lambda result: result.path)
    loaded = [result for result in results if result.spec is not None]
    others = [result for result in results if result.spec is None]
    if loaded:
        sys.stdout.write(f"{'reports':>9} {'samples':>10} {'new':>10} {'rejected':>9}  spec, times and file\n")
    for result in loaded:
        counts = f"{result.n_reports:>9} {result.n_samples:>10} {result.n_samples_new:>10} {result.n_rejected:>9}"
        sys.stdout.write(f"{counts}  {result.spec}  {_span(result)}  {result.path}\n")
        for total in result.reasons[:MAX_REASONS_SHOWN]:
            sys.stdout.write(f"{'':>42}{total.n:>6} x {total.reason[:REASON_LENGTH]}\n")
        if len(result.reasons) > MAX_REASONS_SHOWN:
            sys.stdout.write(f"{'':>51}and {len(result.reasons) - MAX_REASONS_SHOWN} more reasons\n")
        if result.n_since_boot:
            n_lines = result.n_since_boot
            what = "line is" if n_lines == 1 else "lines are"
            hint = "" if result.n_samples else "; --first-is-real makes them samples"
            sys.stdout.write(f"{'':>42}{n_lines} {what} about the time since boot, and no samples{hint}\n")
        if result.artefact is not None:
            sys.stdout.write(f"{'':>42}artefact {result.artefact}\n")
        if result.note:
            sys.stdout.write(f"{'':>42}{result.note}\n")
    shown = others if shows_all else others[:MAX_UNKNOWN_SHOWN]
    for result in shown:
        sys.stdout.write(f"{'not loaded':>41}  {result.path}: {result.note}\n")
    if len(shown) < len(others):
        sys.stdout.write(f"{'':>41}  and {len(others) - len(shown)} more that were not loaded (--all lists them)\n")
    n_loaded = sum(1 for result in loaded if result.stats or result.n_rejected)
    n_new = sum(result.n_samples_new for result in loaded)
    n_rejected = sum(result.n_rejected for result in loaded)
    sys.stdout.write(
        f"{n_loaded} of {count_of(len(results), 'file')} loaded: "
        f"{count_of(sum(result.n_samples for result in loaded), 'sample')}, {n_new} of them new,"
        f" {count_of(n_rejected, 'rejected line')}\n"
    )


def _span(result: ImportedFile) -> str:
    if result.first_sample_at is None or result.last_sample_at is None:
        return "no times"
    return f"{to_iso(result.first_sample_at, 'seconds')} to {to_iso(result.last_sample_at, 'seconds')}"
