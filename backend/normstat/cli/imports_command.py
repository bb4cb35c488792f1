"""`normstat imports`: list imports, and change their title, host and times."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Final

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session, run_or_exit, to_printable
from normstat.db.row_budgets import require_room_for_host
from normstat.db.schema.job_models import OPEN_STATES, JobState
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.ingest import import_rows
from normstat.ingest.import_rows import Import, ImportList
from normstat.ingest.imports.change import change_import, undo_change
from normstat.ingest.imports.import_queue import work_on_loaded
from normstat.ingest.imports.import_run import require_host_name
from normstat.jobs.claims import IMPORTS, open_claims
from normstat.runtime.logs import configure_logging
from normstat.samples.spec_refresh import reload_user_specs
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List and change imports: docs/import.md.")

POLL_S: Final = 0.5
HEADER: Final = ("import", "title", "host", "state", "first sample", "last sample", "shift s")

Id = Annotated[int, typer.Argument(help="number of the import")]


@app.callback()
def imports() -> None:
    """List imports, and change their title, host and times."""


@app.command(name="list")
def list_(host: Annotated[str | None, typer.Option(help="only imports of this host")] = None) -> None:
    """List the newest 200 imports."""

    async def read(session: AsyncSession) -> ImportList:
        return await import_rows.list_imports(session, host)

    found = run_in_session(read).imports
    if not found:
        typer.echo("no imports")
        return
    print_table([HEADER, *map(_to_cells, found)])


@app.command()
def change(
    import_id: Id,
    *,
    title: Annotated[str | None, typer.Option(help='what people call it; "" for the name of its file')] = None,
    host: Annotated[str | None, typer.Option(help="the host that its samples move to; created if needed")] = None,
    shift: Annotated[float | None, typer.Option(help="seconds added to the times in its files; 0: as printed")] = None,
    start: Annotated[
        datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="new instant of its first sample, instead of --shift")
    ] = None,
) -> None:
    """Rename the import, move it to another host, or date it again."""
    if shift is not None and start is not None:
        raise typer.BadParameter("give --shift or --start, not both")
    limit = load_settings().ingest_max_hosts

    async def work(session: AsyncSession) -> Import:
        if host is not None:
            require_host_name(host)
            await require_room_for_host(session, host, limit)
        return await change_import(session, import_id, label=title, host=host, shift_s=shift, start=start)

    _run(work)


@app.command(name="undo-change")
def undo_change_(import_id: Id) -> None:
    """Take back the last change of the import."""

    async def work(session: AsyncSession) -> Import:
        return await undo_change(session, import_id)

    _run(work)


def _run(work: Callable[[AsyncSession], Awaitable[Import]]) -> None:
    """Queue the change, run it or wait until the server has run it, and print the import; exit 1 if it was not changed."""
    configure_logging("error")
    queued = run_in_session(work)
    done = run_or_exit(lambda: asyncio.run(_work_off(queued)))
    print_table([HEADER, _to_cells(done)])
    # A new title alone is no job: the state is that of the import.
    has_failed = queued.state in OPEN_STATES and done.state is not JobState.DONE
    typer.echo(done.message, err=has_failed)
    for file in done.files:
        if file.note.startswith("not moved"):
            typer.echo(f"{to_printable(file.path)}: {file.note}")
    if has_failed:
        raise typer.Exit(1)


async def _work_off(queued: Import) -> Import:
    settings = load_settings()
    engine = make_engine(settings.database_url, pool_size=2)
    sessions = make_sessions(engine)
    try:
        await reload_user_specs(sessions)
        while True:
            async with open_read_session(sessions) as session:
                found = await import_rows.read_import(session, queued.id)
            if found.state not in OPEN_STATES:
                return found
            async with open_claims(settings.database_url, IMPORTS) as claims:
                claim = None if claims is None else await claims.next(of=[queued.job_id])
                if claims is not None and claim is not None:
                    async with open_write_session(sessions) as write:
                        row = await import_rows.find_row(write, queued.id)
                    await work_on_loaded(sessions, claims, claim, row)
                    continue
            # A server runs it.
            await asyncio.sleep(POLL_S)
    finally:
        await engine.dispose()


def _to_cells(item: Import) -> tuple[str, ...]:
    firsts = [file.first_sample_at for file in item.files if file.first_sample_at is not None]
    lasts = [file.last_sample_at for file in item.files if file.last_sample_at is not None]
    first, last = (format_instant(min(firsts)), format_instant(max(lasts))) if firsts and lasts else ("-", "-")
    title = to_printable(item.label or item.name)
    return str(item.id), title, item.host, str(item.state), first, last, f"{item.shift_s:g}"
