"""`normstat bundle`: carry a host and a window from one server to another."""

import asyncio
import contextlib
import getpass
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from normstat.bundles.bundle_format import MANIFEST_ADAPTER, BundleManifest, bundle_file_name
from normstat.bundles.bundle_reader import BundleFile
from normstat.bundles.bundle_service import BundleRequest, OpenRequest, open_bundle, read_manifest, stream_bundle
from normstat.cli.db_session import exit_with, format_instant, parse_time, print_table, run_or_exit
from normstat.cli.import_command import Screen, print_results
from normstat.db.session import make_engine
from normstat.errors import BadRequest, NormstatError
from normstat.ingest.batching import set_limits
from normstat.ingest.import_rows import ImportedFile
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes
from normstat.settings import Settings, load_settings
from normstat.window import Window

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Carry a host and a window from one normstat to another, digit for digit."
)


@app.command()
def create(
    *,
    host: Annotated[str, typer.Option(help="name of the host")],
    start: Annotated[datetime, typer.Option(parser=parse_time, metavar="INSTANT", help="first instant: 2026-11-21T10:00:00Z")],
    end: Annotated[datetime, typer.Option(parser=parse_time, metavar="INSTANT", help="first instant after the window")],
    baseline: Annotated[
        list[str] | None, typer.Option(help="also the samples of this baseline of the host, of whatever time; repeatable")
    ] = None,
    report: Annotated[
        list[int] | None, typer.Option(help="also this report, by its number, with what it names; repeatable")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: HOST-START-END.normstat.zip")] = None,
) -> None:
    """Write a bundle: raw output, events, baselines, artefacts, experiments, reports of a host in a window."""
    configure_logging("error")

    def work() -> tuple[Path, BundleManifest]:
        window = Window(start, end)
        path = output or Path(bundle_file_name(host, window))
        request = BundleRequest(host, window, getpass.getuser(), tuple(baseline or ()), reports=tuple(report or ()))
        settings = load_settings()
        asyncio.run(_write(settings.database_url, request, path))
        return path, read_manifest(path, max_bytes=settings.import_max_bytes)

    path, manifest = run_or_exit(work)
    typer.echo(f"Created {path}: {format_bytes(path.stat().st_size)}, {_describe(manifest)}.")
    for section in manifest.sections:
        for note in section.notes:
            typer.echo(f"Note: {note}", err=True)


async def _write(database_url: str, request: BundleRequest, path: Path) -> None:
    part = path.with_name(f"{path.name}.part")
    engine = make_engine(database_url, pool_size=2)
    try:
        pieces = await stream_bundle(engine, request)
        with part.open("wb") as file:
            async with aclosing(pieces):
                async for piece in pieces:
                    await asyncio.to_thread(file.write, piece)
        part.replace(path)
    except OSError as error:
        raise BadRequest(f"Cannot write {path}: {error.strerror}; choose a writable place with enough room") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
        await engine.dispose()


@app.command("open")
def open_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a bundle")],
    *,
    as_host: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="the host's name here; default: that in the bundle")
    ] = None,
    merge: Annotated[bool, typer.Option("--merge", help="merge it into a host of that name that already exists here")] = False,
) -> None:
    """Load a bundle of another normstat. A damaged one is refused before anything is loaded; opening it twice changes nothing."""
    configure_logging("error")
    results = run_or_exit(lambda: asyncio.run(_open(load_settings(), file, as_host, merges=merge)))
    print_results(results, shows_all=True)


async def _open(settings: Settings, file: Path, host: str | None, *, merges: bool) -> list[ImportedFile]:
    engine = make_engine(settings.database_url, pool_size=3)
    set_limits(engine, settings.ingest_limits)
    results: list[ImportedFile] = []
    try:
        screen = Screen()
        with screen.progress:

            async def moved(n_done: int, n_all: int) -> None:
                await screen.loading(n_all, n_done, file.name)

            request = OpenRequest(file, getpass.getuser(), host, merges, settings.import_max_bytes)
            await open_bundle(engine, request, told=results.append, moved=moved)
        return results
    finally:
        await engine.dispose()


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a bundle")],
    *,
    check: Annotated[bool, typer.Option("--check", help="also read all of it and compare its hashes")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the manifest as it is")] = False,
) -> None:
    """Show what is in a bundle. It needs no database."""
    try:
        bundle = BundleFile(file, max_bytes=load_settings().import_max_bytes)
        with contextlib.closing(bundle):
            if check:
                bundle.verify()
    except NormstatError as error:
        raise exit_with(error) from error
    if as_json:
        typer.echo(MANIFEST_ADAPTER.dump_json(bundle.manifest, indent=2))
        return
    _print(bundle.manifest)
    if check:
        typer.echo("All hashes are right.")


def _print(manifest: BundleManifest) -> None:
    typer.echo(f"Bundle {manifest.id}, format {manifest.version}: host {manifest.host}, {manifest.os or 'system unknown'}")
    made_at = format_instant(manifest.made_at.astimezone(UTC))
    typer.echo(f"Made by {manifest.made_by} on {manifest.server} (normstat {manifest.normstat}) at {made_at}")
    for number, window in enumerate(manifest.windows):
        typer.echo(f"{'Baseline' if number else 'Window'}  {format_instant(window.start)} to {format_instant(window.end)}")
    typer.echo("")
    rows = [("section", "version", "bytes", "contents")]
    for section in manifest.sections:
        contents = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in section.counts.items())
        rows.append((section.name, str(section.version), format_bytes(sum(one.n_bytes for one in section.members)), contents))
    print_table(rows)
    specs: dict[str, int] = {}
    for section in manifest.sections:
        for entry in section.index if section.name == "streams" else ():
            specs[str(entry.get("spec"))] = specs.get(str(entry.get("spec")), 0) + 1
        for note in section.notes:
            typer.echo(f"Note: {note}")
    if specs:
        typer.echo("\nStreams: " + ", ".join(f"{name} ({n})" if n > 1 else name for name, n in sorted(specs.items())))


def _describe(manifest: BundleManifest) -> str:
    counts = {name: n for section in manifest.sections for name, n in section.counts.items()}
    names = {"streams": "stream", "events": "event", "baselines": "baseline", "artefacts": "artefact"}
    return ", ".join(count_of(counts.get(key, 0), one) for key, one in names.items())
