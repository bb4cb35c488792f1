"""Rows of imports and of loads: uploads, their results, and the bytes that streams already have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

import psycopg
from psycopg import sql
from pydantic import TypeAdapter
from sqlalchemy import Select, and_, delete, func, insert, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.connecting import is_citus
from normstat.db.distribution import find_owner, on_shard
from normstat.db.row_records import to_record
from normstat.db.schema.job_models import OPEN_STATES, ImportedFileRow, ImportRow, Job, JobKind, JobState
from normstat.db.schema.models import Chunk, Host, Load, PackedChunk, StoredRejectedLine, Stream
from normstat.db.schema.retention_models import StreamChange
from normstat.db.session import WriteSession, driver_of, open_read_session
from normstat.errors import Conflict, NotFound
from normstat.runtime.field_docs import Documented
from normstat.stats.timing import Timing
from normstat.window import Window

MAX_REASONS: Final = 50
COUNTED_DAYS: Final = timedelta(days=300)
MAX_STEPS: Final = 64
MAX_LISTED: Final = 200
MAX_FILES_OF_LIST: Final = 200
MAX_FILES: Final = 5000


@dataclass(frozen=True, slots=True)
class ReasonTotal(Documented):
    """Why lines were rejected."""

    reason: str
    n: int
    """Counts lines whose text is stored: at most 1000 per reason and stream."""


class MissingOption(StrEnum):
    """Options that a person can give for a file so that it yields samples."""

    START = "start"
    INTERVAL = "interval_s"
    ZONE = "zone"
    DATE = "date"
    SPEC = "spec"
    FIRST_REAL = "first_is_real"


@dataclass(frozen=True, slots=True)
class ImportedFile(Documented):
    """The result of a file of an import."""

    path: str
    spec: str | None
    """null: it was not loaded."""

    stats: list[str]
    n_reports: int
    """The instants of the stat that has the most."""

    n_samples: int
    """All samples of the file, also those loaded earlier."""

    n_samples_new: int
    """Samples loaded by this import."""

    n_rejected: int
    reasons: list[ReasonTotal]
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    note: str
    """Why it was not loaded, or another note."""

    n_since_boot: int
    """Lines of reports about the time since boot, which are not samples."""

    missing: list[MissingOption]
    """The options that would yield samples, or more of them."""

    position: int
    """Its place in the upload, to try it again."""

    stream_id: int | None
    """The stream with its bytes."""

    is_undone: bool
    """Whether its samples were removed again."""

    artefact: int | None = None
    """The artefact made of it, if it is output of a tool for artefacts."""

    shift_s: float = 0.0
    """Seconds added to the times in it."""

    modified_at: datetime | None = None
    """When the file was last changed. Missing: null where that is unknown, and for files with all their times."""

    date_of_change: date | None = None
    """The day of its first line if its last line was written when it was last changed. Missing: null for files with days."""

    span_s: float | None = None
    """Seconds from the first report to the last, with 1 s between two where the interval is missing. Missing: null for files with
    times."""


@dataclass(frozen=True, slots=True)
class ImportPlace(Documented):
    """The properties of an import that users may change after it was loaded."""

    label: str
    """What people call it; "" for the name of its file."""

    host: str
    shift_s: float
    """Seconds added to the times in its files."""


@dataclass(frozen=True, slots=True)
class Import(Documented):
    """An uploaded file and its results."""

    id: int
    job_id: int
    host: str
    name: str
    state: JobState
    message: str
    n_bytes: int
    """Size of the upload."""

    n_bytes_done: int
    created_at: datetime
    created_by: str
    finished_at: datetime | None
    files: list[ImportedFile]
    """Loaded files first; at most 200 in a list of imports, 5000 of a single import."""

    n_files: int
    """Files that are done, also those not listed."""

    can_retry: bool
    """Whether the server still has the upload, so that its files can be tried again with other options."""

    is_undo: bool
    """Whether the job removes what the import loaded, or has removed it."""

    is_change: bool
    """Whether the job changes the host or the times of what the import loaded, or has changed them."""

    label: str
    """What people call it; "" for the name of its file."""

    shift_s: float
    """Seconds added to the times in its files."""

    earlier: ImportPlace | None
    """What undoing the last change restores. Missing: null for an import that was not changed."""


@dataclass(frozen=True, slots=True)
class ImportList(Documented):
    """Imports, newest first; at most 200."""

    imports: list[Import]


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
    """The stored state of a stream."""

    stats: list[str]
    n_reports: int
    n_samples: int
    n_rejected: int
    reasons: list[ReasonTotal]
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    created_at: datetime
    n_since_boot: int
    stream_id: int


FILE_ADAPTER: Final = TypeAdapter(ImportedFile)
PLACE_ADAPTER: Final = TypeAdapter(ImportPlace)


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
    """Return the stored state of the stream of that name. Missing: None when there is no such stream."""
    async with open_read_session(sessions) as session:
        stream = await find_stream(session, host, spec, key)
        if stream is None:
            return None
        reasons = (
            select(StoredRejectedLine.reason, func.count())
            .where(StoredRejectedLine.stream_id == stream.id)
            .group_by(StoredRejectedLine.reason)
        )
        found = [
            ReasonTotal(reason, n) for reason, n in await session.execute(reasons.order_by(func.count().desc()).limit(MAX_REASONS))
        ]
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
        n_since_boot=stream.n_since_boot,
        stream_id=stream.id,
    )


async def _count_samples(sessions: async_sessionmaker[AsyncSession], stream: Stream, stat: str) -> tuple[int, int]:
    """Return the samples of the stream in a stat, and how many instants they are of.

    A transaction can lock a limited number of chunks of a hypertable, one for each day: a long stream is counted in several.
    """
    if stream.first_sample_at is None or stream.last_sample_at is None:
        return 0, 0
    # One outlier far away must not cause a thousand queries: only days with samples are locked.
    step = max(COUNTED_DAYS, (stream.last_sample_at - stream.first_sample_at) / MAX_STEPS)
    n_samples = n_reports = 0
    start = stream.first_sample_at
    while start <= stream.last_sample_at:
        n_here, n_reports_here = await _count_within(sessions, stream, stat, Window(start, start + step))
        n_samples, n_reports = n_samples + n_here, n_reports + n_reports_here
        start += step
    return n_samples, n_reports


async def _count_within(sessions: async_sessionmaker[AsyncSession], stream: Stream, stat: str, window: Window) -> tuple[int, int]:
    # The queue of every server needs this module, and few count samples.
    from normstat.samples.sample_source import open_source  # noqa: PLC0415
    from normstat.samples.sealed.sealed_reader import SealedQuery  # noqa: PLC0415

    count = (
        "SELECT count(*), count(DISTINCT time) FROM {} AS t"
        " WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s AND stream_id = %(stream_id)s"
    )
    arguments: dict[str, object] = {
        "host_id": stream.host_id,
        "stream_id": stream.id,
        "start": window.start,
        "end": window.end,
    }
    try:
        async with open_read_session(sessions) as session:
            connection = await driver_of(session)
            source = await open_source(connection, SealedQuery(stream.host_id, stat, window, has_lines=True))
            statement = sql.SQL(count).format(source.table)
            row = await (await connection.execute(statement, {**arguments, **source.parameters})).fetchone()
    except psycopg.errors.OutOfMemory:
        middle = window.start + (window.end - window.start) / 2
        halves = [
            await _count_within(sessions, stream, stat, half) for half in (Window(window.start, middle), Window(middle, window.end))
        ]
        return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]
    assert row is not None
    return int(str(row[0])), int(str(row[1]))


# --- imports in the background ---


async def add_import(session: AsyncSession, row: ImportRow, *, n_bytes: int, asked_by: str) -> Import:
    """Queue a new import."""
    target = f"{row.host}: {row.name}"
    row.job = Job(kind=JobKind.IMPORT, target=target, n_total=n_bytes, unit="bytes", asked_by=asked_by)
    session.add(row)
    await session.flush()
    await session.refresh(row)
    await session.refresh(row.job)
    return _to_import(row, [])


async def add_loaded(session: WriteSession, row: ImportRow, files: Mapping[int, ImportedFile], *, since: datetime, by: str) -> None:
    """Store an import that was loaded since an instant without the queue, with its files."""
    ended = {"state": JobState.DONE, "queued_at": since, "started_at": since, "finished_at": func.clock_timestamp()}
    row.job = Job(kind=JobKind.IMPORT, target=f"{row.host}: {row.name}", unit="bytes", asked_by=by, **ended)
    session.add(row)
    await session.flush()
    await add_files(session, row.id, files)


async def list_imports(session: AsyncSession, host: str | None) -> ImportList:
    """Return the newest imports, of one host or of all."""
    query = select(ImportRow).order_by(ImportRow.id.desc()).limit(MAX_LISTED)
    rows = (await session.scalars(query if host is None else query.where(ImportRow.host == host))).all()
    files = await _list_files(session, [row.id for row in rows], MAX_FILES_OF_LIST)
    return ImportList([_to_import(row, files.get(row.id, [])) for row in rows])


async def read_import(session: AsyncSession, import_id: int) -> Import:
    """Return an import with its files.

    Raises: NotFound
    """
    row = await find_row(session, import_id)
    files = await _list_files(session, [import_id], MAX_FILES)
    return _to_import(row, files.get(import_id, []))


async def _list_files(session: AsyncSession, import_ids: Sequence[int], limit: int) -> dict[int, list[ImportedFile]]:
    """Return the outcomes of the files of each import in their order, loaded files first; at most `limit` of each import."""
    is_note = ImportedFileRow.result["spec"].astext.is_(None)
    file = ImportedFileRow
    place = func.row_number().over(partition_by=file.import_id, order_by=[is_note, file.position]).label("place")
    numbered = select(file.import_id, file.result, file.position, place).where(file.import_id.in_(import_ids)).subquery()
    query = select(numbered.c.import_id, numbered.c.position, numbered.c.result).where(numbered.c.place <= limit)
    found: dict[int, list[ImportedFile]] = {}
    for import_id, position, result in await session.execute(query.order_by(numbered.c.import_id, numbered.c.place)):
        found.setdefault(import_id, []).append(FILE_ADAPTER.validate_python({**result, "position": position}))
    return found


def _to_import(row: ImportRow, files: list[ImportedFile]) -> Import:
    return to_record(
        Import,
        row,
        state=JobState(row.job.state),
        message=row.job.message,
        n_bytes=row.job.n_total,
        n_bytes_done=row.job.n_done,
        created_at=row.job.queued_at,
        created_by=row.job.asked_by,
        finished_at=row.job.finished_at,
        files=files,
        can_retry=row.file_path != "" and row.job.state not in OPEN_STATES,
        earlier=PLACE_ADAPTER.validate_python(row.earlier[-1]) if row.earlier else None,
    )


async def list_unfinished(session: AsyncSession) -> Sequence[ImportRow]:
    """Return imports that are queued or run, the oldest first."""
    query = select(ImportRow).join(ImportRow.job).where(Job.state.in_(OPEN_STATES)).order_by(ImportRow.id)
    return (await session.scalars(query, execution_options={"populate_existing": True})).all()


def select_open_imports() -> Select[int]:
    """Return the query of imports that a worker has to look at: queued, running, and stopped ones whose file is still kept."""
    is_stopped = and_(Job.state == JobState.STOPPED, ImportRow.file_path != "")
    return select(ImportRow.id).join(ImportRow.job).where(or_(Job.state.in_(OPEN_STATES), is_stopped))


async def has_missing(session: AsyncSession, import_id: int) -> bool:
    """Return whether a file of the import lacks an option that a person can give."""
    is_missing = func.jsonb_array_length(ImportedFileRow.result["missing"]) > 0
    query = select(ImportedFileRow.position).where(ImportedFileRow.import_id == import_id, is_missing).limit(1)
    return (await session.scalar(query)) is not None


async def list_old_files(session: AsyncSession, kept_for: timedelta) -> dict[int, str]:
    """Return the files, by import, that were kept for another try longer than that."""
    query = (
        select(ImportRow.id, ImportRow.file_path)
        .join(ImportRow.job)
        .where(Job.state == JobState.DONE, ImportRow.file_path != "", Job.finished_at < func.clock_timestamp() - kept_for)
    )
    return {row.id: row.file_path for row in await session.execute(query)}


async def find_row(session: AsyncSession, import_id: int) -> ImportRow:
    """Return the row of an import, as it is now.

    Raises: NotFound
    """
    row = await session.get(ImportRow, import_id, populate_existing=True)
    if row is None:
        raise NotFound(f"There is no import {import_id}", {"id": import_id})
    return row


async def find_ended(session: AsyncSession, import_id: int) -> ImportRow:
    """Return an import that neither waits nor runs, its job locked.

    Raises: NotFound; Conflict when it has not ended
    """
    row = await find_row(session, import_id)
    state = await session.scalar(select(Job.state).where(Job.id == row.job_id).with_for_update())
    if state in OPEN_STATES:
        raise Conflict("The import has not ended yet; wait for it, or stop it")
    return row


async def read_file(session: AsyncSession, import_id: int, position: int) -> ImportedFileRow:
    """Return the outcome of one file.

    Raises: NotFound
    """
    file = await session.get(ImportedFileRow, (import_id, position))
    if file is None:
        raise NotFound(f"Import {import_id} has no file {position}", {"id": import_id, "position": position})
    return file


async def list_file_rows(session: AsyncSession, import_id: int) -> Sequence[ImportedFileRow]:
    """Return the outcomes of all files."""
    query = select(ImportedFileRow).where(ImportedFileRow.import_id == import_id).order_by(ImportedFileRow.position)
    return (await session.scalars(query)).all()


async def count_contents(session: AsyncSession, stream_id: int) -> int:
    """Return how many contents were loaded into the stream: more than one when a file that had grown continued it."""
    return await session.scalar(select(func.count()).where(Load.stream_id == stream_id)) or 0


async def find_cut_stream(session: AsyncSession, stream_ids: Sequence[int]) -> int | None:
    """Return one of the streams of which retention removed raw bytes. Missing: None when all are whole."""
    query = select(StreamChange.stream_id).where(StreamChange.stream_id.in_(stream_ids), StreamChange.kept_from > 0)
    return await session.scalar(query.limit(1))


async def find_same_spec(session: AsyncSession, host: str, streams: Sequence[Stream]) -> str | None:
    """Return the spec of a stream that the host has under the name of one of these, which are others. Missing: None without any."""
    names = [(stream.spec, stream.key) for stream in streams]
    is_other = Stream.id.not_in([stream.id for stream in streams])
    query = select(Stream.spec).join(Host, Host.id == Stream.host_id)
    return await session.scalar(query.where(Host.name == host, tuple_(Stream.spec, Stream.key).in_(names), is_other).limit(1))


async def delete_stream(session: WriteSession, stream_id: int) -> None:
    """Delete a stream without samples, with its raw bytes and rejected lines."""
    if is_citus():
        # No foreign key reaches the workers.
        shard = on_shard(await find_owner(session, stream_id))
        await session.execute(delete(Chunk).where(Chunk.stream_id == stream_id, *shard))
        await session.execute(delete(PackedChunk).where(PackedChunk.stream_id == stream_id, *shard))
    await session.execute(delete(Stream).where(Stream.id == stream_id))


async def queue_undo(session: AsyncSession, row: ImportRow) -> Import:
    """Queue the removal of what an import loaded."""
    row.is_undo = True
    return await _queue_again(session, row)


async def queue_change(session: AsyncSession, row: ImportRow) -> Import:
    """Queue the move of what an import loaded to the row's host and shift."""
    row.is_change = True
    return await _queue_again(session, row)


async def _queue_again(session: AsyncSession, row: ImportRow) -> Import:
    fresh = {"state": JobState.QUEUED, "n_done": 0, "n_tries": 0, "message": "", "unit": "samples", "finished_at": None}
    await session.execute(update(Job).where(Job.id == row.job_id).values(fresh | {"next_try_at": func.clock_timestamp()}))
    await session.flush()
    await session.refresh(row)
    await session.refresh(row.job)
    return _to_import(row, (await _list_files(session, [row.id], MAX_FILES)).get(row.id, []))


async def list_stopped_files(session: AsyncSession) -> dict[int, str]:
    """Return the files of stopped imports that are not removed yet, by import."""
    query = (
        select(ImportRow.id, ImportRow.file_path)
        .join(ImportRow.job)
        .where(Job.state == JobState.STOPPED, ImportRow.file_path != "")
    )
    return {row.id: row.file_path for row in await session.execute(query)}


async def note_removed_files(session: WriteSession, import_ids: Sequence[int]) -> None:
    """Record that the files of these imports were removed."""
    await session.execute(update(ImportRow).where(ImportRow.id.in_(import_ids)).values(file_path=""))


async def add_files(session: WriteSession, import_id: int, files: Mapping[int, ImportedFile]) -> None:
    """Store the outcomes of files that are done, by their positions."""
    if files:
        await session.execute(update(ImportRow).where(ImportRow.id == import_id).values(n_files=ImportRow.n_files + len(files)))
        rows = [
            {"import_id": import_id, "position": position, "result": FILE_ADAPTER.dump_python(file, mode="json")}
            for position, file in files.items()
        ]
        await session.execute(insert(ImportedFileRow), rows)


async def list_done(session: AsyncSession, import_id: int) -> frozenset[int]:
    """Return the positions of the files that are done already."""
    return frozenset(await session.scalars(select(ImportedFileRow.position).where(ImportedFileRow.import_id == import_id)))


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
    row = await session.get(ImportRow, import_id)
    if row is None:
        return None
    await session.execute(delete(Job).where(Job.id == row.job_id))
    return row.file_path
