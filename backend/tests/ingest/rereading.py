"""What there is of a stream in the database, for tests that read it again."""

from collections.abc import Awaitable, Callable

import psycopg
from psycopg import sql
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.models import Stream
from normstat.db.session import WriteSession, open_locked_sessions, open_read_session, open_write_session
from normstat.ingest.reparse.reparse_stream import StreamReparse
from normstat.ingest.reparse.reparse_worker import work_off
from normstat.jobs.claims import REPARSE_LOCK
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.records import reparse_rows
from normstat.records.reparse_rows import Reparse, ReparseScope
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.samples.user_specs import put_user_spec
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window, from_us
from tests.databases import Sessions

ALWAYS = Window(from_us(0), from_us(4_000_000_000_000_000))
# What a reparse may change of a stream whose spec did not change: nothing but these.
MAY_DIFFER = {"id", "host_id", "last_received_at", "created_at"}


def rows_of(url: str, statement: str, *, without: set[str]) -> list[dict[str, object]]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        cursor = connection.execute(sql.SQL(statement))
        names = [column.name for column in cursor.description or ()]
        return [{name: value for name, value in zip(names, row, strict=True) if name not in without} for row in cursor.fetchall()]


def books(url: str, host: str = "alpha", *, without: frozenset[str] = frozenset()) -> dict[str, list[dict[str, object]]]:
    """All that is kept of a host's streams but samples and raw bytes."""
    of_host = f"JOIN hosts ON hosts.id = {{}}.host_id WHERE hosts.name = '{host}'"
    return {
        "streams": rows_of(
            url, f"SELECT streams.* FROM streams {of_host.format('streams')} ORDER BY spec, key", without=MAY_DIFFER
        ),
        "rejected": rows_of(
            url,
            "SELECT streams.key, rejected_lines.* FROM rejected_lines JOIN streams ON streams.id = stream_id"
            f" {of_host.format('streams')} ORDER BY streams.spec, streams.key, line_offset",
            without={"id", "stream_id", *without},
        ),
        "instances": rows_of(
            url,
            "SELECT stats.name AS stat, instances.name, first_sample_at, last_sample_at FROM all_instances AS instances"
            f" JOIN stats ON stats.id = stat_id {of_host.format('instances')} ORDER BY 1, 2",
            without=set(),
        ),
    }


async def export(engine: AsyncEngine, host: str = "alpha", stat: str | None = None) -> bytes:
    """The CSV of all samples of a host."""
    return b"".join([piece async for piece in await stream_csv(engine, ExportRequest(host=host, window=ALWAYS, stat=stat))])


async def put(sessions: Sessions, name: str, toml: str) -> None:
    async with open_write_session(sessions) as session:
        await put_user_spec(session, name=name, toml=toml, created_by="admin")


async def wish(sessions: Sessions, scope: ReparseScope | None = None) -> int:
    async with open_write_session(sessions) as session:
        return (await reparse_rows.add_reparse(session, scope or ReparseScope(), created_by="admin")).id


async def look(sessions: Sessions, reparse_id: int) -> Reparse:
    async with open_read_session(sessions) as session:
        return await reparse_rows.read_reparse(session, reparse_id)


async def reparse(sessions: Sessions, url: str, scope: ReparseScope | None = None) -> Reparse:
    """Wishes for it, works it off, and gives how it ended."""
    reparse_id = await wish(sessions, scope)
    assert await work_off(url)
    return await look(sessions, reparse_id)


async def reparse_stream(url: str, key: str = "k", *, watch: Callable[[int], Awaitable[None]] | None = None) -> None:
    """Reads one stream again, without a row of its own; `watch` runs behind each batch."""

    async def no_watch(_: int) -> None:
        """Nothing."""

    async def no_note(_session: WriteSession, _outcome: object) -> None:
        """Nothing."""

    async with open_locked_sessions(url, REPARSE_LOCK) as sessions:
        assert sessions is not None
        async with open_write_session(sessions) as session:
            await refresh_catalogue(session)
            stream = (await session.scalars(select(Stream).where(Stream.key == key))).one()
        spec = load_catalogue().specs[stream.spec]
        await StreamReparse(sessions, stream, spec, watch=watch or no_watch, note=no_note).run()
