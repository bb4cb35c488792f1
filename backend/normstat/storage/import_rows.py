"""Rows of imports and of loads: what was uploaded, its result, and which bytes are in which stream already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import psycopg
from psycopg import sql
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.stats.records import Timing
from normstat.storage.schema.job_models import OPEN_STATES, Import, ImportedFile, Job, JobKind, JobState
from normstat.storage.schema.models import Host, Load, StoredRejectedLine, Stream
from normstat.storage.session import WriteSession, driver_of, open_read_session
from normstat.storage.stat_tables import table_of
from normstat.window import Window

MAX_REASONS: Final = 50
COUNTED_DAYS: Final = timedelta(days=300)
MAX_STEPS: Final = 64


@dataclass(frozen=True, slots=True)
class KnownLoad:
    """A file's content that was loaded once: the first `n_bytes` bytes of a stream, which now has `acked_offset`."""

    stream_id: int
    key: str
    n_bytes: int
    content_hash: bytes
    acked_offset: int
    is_finished: bool
    timing: Timing


@dataclass(frozen=True, slots=True)
class LoadedStream:
    """What the database has of a stream."""

    stats: list[str]
    n_reports: int
    n_samples: int
    n_rejected: int
    reasons: list[tuple[str, int]]
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    created_at: datetime


async def list_lengths(session: AsyncSession, host: str) -> dict[str, list[int]]:
    """Return the lengths of all contents that were loaded for the host, by spec."""
    query = select(Load.spec, Load.n_bytes).join(Host, Host.id == Load.host_id).where(Host.name == host).distinct()
    lengths: dict[str, list[int]] = {}
    for spec, n_bytes in await session.execute(query):
        lengths.setdefault(spec, []).append(n_bytes)
    return lengths


async def find_loads(session: AsyncSession, host: str, spec: str, hashes: Mapping[int, bytes]) -> list[KnownLoad]:
    """Return the loads whose bytes begin the content that has these hashes (of its first n bytes, by n), the longest first."""
    query = (
        select(Load.n_bytes, Load.content_hash, Stream)
        .join(Stream, Stream.id == Load.stream_id)
        .join(Host, Host.id == Load.host_id)
        .where(Host.name == host, Load.spec == spec, Load.content_hash.in_(list(hashes.values())))
        .order_by(Load.n_bytes.desc(), Load.stream_id)
    )
    return [
        KnownLoad(stream.id, stream.key, n_bytes, content_hash, stream.acked_offset, stream.is_finished, stream.timing)
        for n_bytes, content_hash, stream in await session.execute(query)
        if hashes.get(n_bytes) == content_hash
    ]


async def note_load(session: WriteSession, stream_id: int, n_bytes: int, content_hash: bytes) -> None:
    """Write down that the first bytes of the stream are this content, or will be when it is loaded."""
    query = select(Stream.id, Stream.host_id, Stream.spec).where(Stream.id == stream_id)
    stream = (await session.execute(query)).one()
    values = {"stream_id": stream.id, "host_id": stream.host_id, "spec": stream.spec}
    statement = postgresql_insert(Load).values(n_bytes=n_bytes, content_hash=content_hash, **values)
    await session.execute(statement.on_conflict_do_nothing(index_elements=["stream_id", "n_bytes"]))


async def find_stream(session: AsyncSession, host: str, spec: str, key: str) -> Stream | None:
    """Return the stream of that name."""
    query = select(Stream).join(Host, Host.id == Stream.host_id).where(Host.name == host, Stream.spec == spec, Stream.key == key)
    return await session.scalar(query)


async def read_stream(sessions: async_sessionmaker[AsyncSession], host: str, spec: str, key: str) -> LoadedStream | None:
    """Return what the database has of the stream of that name. Missing: None when there is no such stream."""
    async with open_read_session(sessions) as session:
        stream = await find_stream(session, host, spec, key)
        if stream is None:
            return None
        reasons = (
            select(StoredRejectedLine.reason, func.count())
            .where(StoredRejectedLine.stream_id == stream.id)
            .group_by(StoredRejectedLine.reason)
        )
        found = [(reason, n) for reason, n in await session.execute(reasons.order_by(func.count().desc()).limit(MAX_REASONS))]
    counts = [await _count_samples(sessions, stream, name) for name in stream.stat_names]
    return LoadedStream(
        stats=list(stream.stat_names),
        n_reports=max((n_reports for _, n_reports in counts), default=0),
        n_samples=sum(n_samples for n_samples, _ in counts),
        n_rejected=stream.n_rejected,
        reasons=found,
        first_sample_at=stream.first_sample_at,
        last_sample_at=stream.last_sample_at,
        created_at=stream.created_at,
    )


async def _count_samples(sessions: async_sessionmaker[AsyncSession], stream: Stream, stat: str) -> tuple[int, int]:
    """Return the samples of the stream in a stat, and how many instants they are of.

    A transaction can lock only so many chunks of a hypertable, one for each day: a long stream is counted in several.
    """
    if stream.first_sample_at is None or stream.last_sample_at is None:
        return 0, 0
    # One odd time far away must not make a thousand queries of it: only days with samples are locked.
    step = max(COUNTED_DAYS, (stream.last_sample_at - stream.first_sample_at) / MAX_STEPS)
    n_samples = n_reports = 0
    start = stream.first_sample_at
    while start <= stream.last_sample_at:
        n_here, n_reports_here = await _count_within(sessions, stream, stat, Window(start, start + step))
        n_samples, n_reports = n_samples + n_here, n_reports + n_reports_here
        start += step
    return n_samples, n_reports


async def _count_within(sessions: async_sessionmaker[AsyncSession], stream: Stream, stat: str, window: Window) -> tuple[int, int]:
    statement = sql.SQL(
        "SELECT count(*), count(DISTINCT time) FROM {}"
        " WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s AND stream_id = %(stream_id)s"
    ).format(table_of(stat))
    arguments: dict[str, object] = {
        "host_id": stream.host_id,
        "stream_id": stream.id,
        "start": window.start,
        "end": window.end,
    }
    try:
        async with open_read_session(sessions) as session:
            row = await (await (await driver_of(session)).execute(statement, arguments)).fetchone()
    except psycopg.errors.OutOfMemory:
        middle = window.start + (window.end - window.start) / 2
        halves = [
            await _count_within(sessions, stream, stat, half) for half in (Window(window.start, middle), Window(middle, window.end))
        ]
        return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]
    assert row is not None
    return int(str(row[0])), int(str(row[1]))


# --- imports in the background ---


async def add_import(session: AsyncSession, row: Import, *, n_bytes: int, asked_by: str) -> Import:
    """Return a new import, queued."""
    target = f"{row.host}: {row.name}"
    row.job = Job(kind=JobKind.IMPORT, target=target, n_total=n_bytes, unit="bytes", asked_by=asked_by)
    session.add(row)
    await session.flush()
    await session.refresh(row)
    await session.refresh(row.job)
    return row


async def list_imports(session: AsyncSession, host: str | None, limit: int) -> Sequence[Import]:
    """Return imports, the newest first."""
    query = select(Import).order_by(Import.id.desc()).limit(limit)
    return (await session.scalars(query if host is None else query.where(Import.host == host))).all()


async def find_import(session: AsyncSession, import_id: int) -> Import | None:
    """Return the import of that id. Missing: None when there is no such import."""
    return await session.get(Import, import_id)


async def list_files_of(session: AsyncSession, import_ids: Sequence[int], limit: int) -> dict[int, list[Mapping[str, object]]]:
    """Return the outcomes of the files of each import in their order, loaded files first; at most `limit` of each import."""
    is_note = ImportedFile.result["spec"].astext.is_(None)
    place = func.row_number().over(partition_by=ImportedFile.import_id, order_by=[is_note, ImportedFile.position]).label("place")
    numbered = select(ImportedFile.import_id, ImportedFile.result, place).where(ImportedFile.import_id.in_(import_ids)).subquery()
    query = select(numbered.c.import_id, numbered.c.result).where(numbered.c.place <= limit)
    found: dict[int, list[Mapping[str, object]]] = {}
    for import_id, result in await session.execute(query.order_by(numbered.c.import_id, numbered.c.place)):
        found.setdefault(import_id, []).append(result)
    return found


async def list_unfinished(session: AsyncSession) -> Sequence[Import]:
    """Return imports that are queued or run, the oldest first."""
    query = select(Import).join(Import.job).where(Job.state.in_(OPEN_STATES)).order_by(Import.id)
    return (await session.scalars(query, execution_options={"populate_existing": True})).all()


async def list_stopped_files(session: AsyncSession) -> dict[int, str]:
    """Return the files of stopped imports that nobody has removed yet, by import."""
    query = select(Import.id, Import.file_path).join(Import.job).where(Job.state == JobState.STOPPED, Import.file_path != "")
    return {row.id: row.file_path for row in await session.execute(query)}


async def note_removed_files(session: WriteSession, import_ids: Sequence[int]) -> None:
    """Record that the files of these imports were removed."""
    await session.execute(update(Import).where(Import.id.in_(import_ids)).values(file_path=""))


async def add_files(session: WriteSession, import_id: int, files: Mapping[int, Mapping[str, object]]) -> None:
    """Store the outcomes of files that are done, by their positions."""
    if files:
        await session.execute(update(Import).where(Import.id == import_id).values(n_files=Import.n_files + len(files)))
        rows = [{"import_id": import_id, "position": position, "result": result} for position, result in files.items()]
        await session.execute(insert(ImportedFile), rows)


async def list_done(session: AsyncSession, import_id: int) -> frozenset[int]:
    """Return the positions of the files that are done already."""
    return frozenset(await session.scalars(select(ImportedFile.position).where(ImportedFile.import_id == import_id)))


async def touch_imports(session: WriteSession, job_ids: Sequence[int]) -> None:
    """Record that a process has the files of these imports."""
    await session.execute(update(Job).where(Job.id.in_(job_ids)).values(heartbeat_at=func.clock_timestamp()))


async def fail_abandoned(session: WriteSession, job_id: int, after: timedelta, message: str) -> None:
    """Fail an import if no process has reported its file for that long."""
    seen_at = func.coalesce(Job.heartbeat_at, Job.queued_at)
    is_abandoned = (Job.id == job_id) & Job.state.in_(OPEN_STATES) & (seen_at < func.clock_timestamp() - after)
    values = {"state": JobState.FAILED, "message": message, "finished_at": func.now(), "next_try_at": None}
    await session.execute(update(Job).where(is_abandoned).values(values))


async def delete_import(session: AsyncSession, import_id: int) -> str | None:
    """Remove an import and its job; return the path of its file. Missing: None when there is no such import."""
    row = await session.get(Import, import_id)
    if row is None:
        return None
    await session.execute(delete(Job).where(Job.id == row.job_id))
    return row.file_path
