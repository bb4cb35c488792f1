"""`normstat reparse`: derive samples again from the stored raw bytes."""

import asyncio
from typing import Annotated, Final

import psycopg
import typer
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import OPEN_STATES, JobState
from normstat.db.schema_version import require_current_schema
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.errors import DatabaseAway, NormstatError
from normstat.ingest.reparse.reparse_worker import work_off
from normstat.records import reparse_rows
from normstat.records.reparse_rows import Reparse, ReparseScope
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes
from normstat.samples.spec_refresh import reload_user_specs
from normstat.settings import Settings, load_settings

app = typer.Typer(add_completion=False)

CREATED_BY: Final = "command line"
SHOW_S: Final = 0.5


@app.command()
def reparse(
    *,
    stream: Annotated[int | None, typer.Option(help="number of the only stream")] = None,
    spec: Annotated[str | None, typer.Option(help="name of the spec whose streams are reparsed")] = None,
    host: Annotated[str | None, typer.Option(help="name of the host whose streams are reparsed")] = None,
    outdated: Annotated[bool, typer.Option("--outdated", help="only streams parsed with another version of their spec")] = False,
    everything: Annotated[bool, typer.Option("--all", help="all streams of all hosts")] = False,
) -> None:
    """Reparse streams with the current specs; users see the old samples until the new ones are in place."""
    scope = ReparseScope(host=host, stream_id=stream, spec=spec, is_outdated_only=outdated)
    is_chosen = scope != ReparseScope()
    if is_chosen == everything:
        typer.echo("normstat: choose what to reparse: --stream, --spec, --host, --outdated, or several of them, or --all", err=True)
        raise typer.Exit(2)
    settings = load_settings()
    # The final message says how a stream failed.
    configure_logging("error")
    try:
        require_current_schema(settings.database_url)
        ended = asyncio.run(_reparse(settings, scope))
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("normstat: stopped; streams that were not done keep their old samples", err=True)
        raise typer.Exit(130) from None
    typer.echo(
        f"{ended.n_streams_done} of {count_of(ended.n_streams, 'stream')} reparsed: "
        f"{count_of(ended.n_samples_before, 'sample')} before, {ended.n_samples_after} after, "
        f"{count_of(ended.n_rejected_after, 'line')} rejected"
    )
    if ended.state is not JobState.DONE:
        typer.echo(f"normstat: {ended.state}: {ended.message}", err=True)
        raise typer.Exit(1)


async def _reparse(settings: Settings, scope: ReparseScope) -> Reparse:
    """Queue it, then run it, or watch the server run it.

    Raises: DatabaseAway when the database went away meanwhile
    """
    engine = make_engine(settings.database_url, pool_size=2)
    sessions = make_sessions(engine)
    try:
        await reload_user_specs(sessions)
        async with open_write_session(sessions) as session:
            queued = await reparse_rows.add_reparse(session, scope, created_by=CREATED_BY)
        work = asyncio.create_task(_work(settings.database_url, queued.job_id))
        try:
            return await _watch(sessions, queued.id, work)
        except asyncio.CancelledError:
            async with open_write_session(sessions) as session:
                await reparse_rows.stop_reparse(session, queued.id, "stopped at the command line")
            raise
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    except (DBAPIError, psycopg.Error, PoolTimeout) as error:
        raise DatabaseAway(
            f"The database does not answer ({type(error).__name__}); the server or the next `normstat reparse` continues from here"
        ) from error
    finally:
        await engine.dispose()


async def _watch(sessions: async_sessionmaker[AsyncSession], reparse_id: int, work: asyncio.Task[None]) -> Reparse:
    """Show each step; return the reparse when it has ended."""
    shown = ""
    while True:
        async with open_read_session(sessions) as session:
            record = await reparse_rows.read_reparse(session, reparse_id)
        line = (
            f"{record.state}: {format_bytes(record.n_bytes_done)} of {format_bytes(record.n_bytes)}, "
            f"{record.n_streams_done} of {count_of(record.n_streams, 'stream')}"
        )
        if line != shown:
            typer.echo(line, err=True)
            shown = line
        if record.state not in OPEN_STATES:
            return record
        if work.done():
            work.result()
        await asyncio.sleep(SHOW_S)


async def _work(database_url: str, job_id: int) -> None:
    # A running server may claim it first; then this process waits, and takes over if the server ends.
    while not await work_off(database_url, load_settings().ingest_limits, until=job_id):  # noqa: ASYNC110 (another process ends it)
        await asyncio.sleep(SHOW_S)
