"""Rows of reparses: which streams are to be read again, and the outcome so far. State and bytes are in their jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, case, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.job_models import OPEN_STATES, Job, JobKind, JobState, ReparseRow
from normstat.db.schema.models import Host, Stream
from normstat.db.schema.retention_models import StreamChange
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NotFound, shorten
from normstat.runtime.field_docs import Documented
from normstat.stats.catalogue import load_catalogue

MAX_LISTED: Final = 100
MAX_TEXT_LENGTH: Final = 500
MAX_MESSAGE_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class ReparseScope:
    """Which streams: all, or those of a host, of a spec, one alone; `is_outdated_only`: of these the outdated ones."""

    host: str | None = None
    stream_id: int | None = None
    spec: str | None = None
    is_outdated_only: bool = False


@dataclass(frozen=True, slots=True)
class Reparse(Documented):
    """A reparse as it is now."""

    id: int
    job_id: int
    host: str | None
    stream_id: int | None
    spec: str | None
    is_outdated_only: bool
    state: JobState
    message: str
    n_streams: int
    n_streams_done: int
    n_bytes: int
    """Size of the streams when it was queued."""

    n_bytes_done: int
    n_samples_before: int
    """Of the streams that are done."""

    n_samples_after: int
    """Of the streams that are done."""

    n_rejected_after: int
    """Of the streams that are done."""

    created_at: datetime
    created_by: str
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReparseList(Documented):
    """The newest reparses, newest first; at most 100."""

    reparses: list[Reparse]


def is_outdated() -> ColumnElement[bool]:
    """Return the SQL condition of outdated streams: the stream has bytes, a spec for them, and was read by another version of
    it (0: there was no spec when they came).
    """
    versions = [and_(Stream.spec == spec.name, Stream.spec_version != spec.version) for spec in load_catalogue().specs.values()]
    # A stream without its first bytes cannot be reparsed, so it does not count as outdated.
    is_cut = select(StreamChange.stream_id).where(StreamChange.stream_id == Stream.id, StreamChange.kept_from > 0).exists()
    return and_(Stream.acked_offset > Stream.n_gap_bytes, or_(*versions), ~is_cut)


async def add_reparse(session: AsyncSession, scope: ReparseScope, *, created_by: str) -> Reparse:
    """Return a new, queued reparse, or the one of the same scope that is queued already.

    Raises: NotFound for an unknown host or stream; BadRequest for an unknown spec, and for a stream of another host or spec
    """
    host_id = await _require_scope(session, scope)
    same = {"host_id": host_id, "stream_id": scope.stream_id, "spec": scope.spec, "is_outdated_only": scope.is_outdated_only}
    queued = select(ReparseRow.id).filter_by(**same).join(ReparseRow.job).where(Job.state == JobState.QUEUED).limit(1)
    known = await session.scalar(queued)
    if known is not None:
        return await read_reparse(session, known)
    newest = await session.scalar(select(func.coalesce(func.max(Stream.id), 0)))
    of_host = host_id
    if scope.stream_id is not None:
        of_host = await session.scalar(select(Stream.host_id).where(Stream.id == scope.stream_id))
    job = Job(kind=JobKind.REPARSE, host_id=of_host, target=_describe(scope), unit="bytes", asked_by=created_by)
    row = ReparseRow(**same, newest_stream_id=newest, job=job)
    session.add(row)
    await session.flush()
    row.n_streams, job.n_total = (
        await session.execute(
            select(func.count(), func.coalesce(func.sum(Stream.acked_offset - Stream.n_gap_bytes), 0)).where(*_streams_of(row))
        )
    ).one()
    await session.flush()
    return await read_reparse(session, row.id)


def _describe(scope: ReparseScope) -> str:
    """Return which streams are read, in words; the host is shown beside them."""
    parts = [
        f"stream {scope.stream_id}" if scope.stream_id is not None else "",
        f"spec {scope.spec}" if scope.spec is not None else "",
        "outdated streams" if scope.is_outdated_only else "",
    ]
    return ", ".join(filter(None, parts)) or "all streams"


async def list_reparses(session: AsyncSession) -> ReparseList:
    """Return the newest reparses."""
    query = select(ReparseRow, Host.name).join(Host, Host.id == ReparseRow.host_id, isouter=True)
    rows = await session.execute(query.order_by(ReparseRow.id.desc()).limit(MAX_LISTED))
    return ReparseList([_to_reparse(row, host) for row, host in rows])


async def read_reparse(session: AsyncSession, reparse_id: int) -> Reparse:
    """Return the reparse.

    Raises: NotFound
    """
    query = select(ReparseRow, Host.name).join(Host, Host.id == ReparseRow.host_id, isouter=True).where(ReparseRow.id == reparse_id)
    found = (await session.execute(query, execution_options={"populate_existing": True})).one_or_none()
    if found is None:
        raise NotFound(f"There is no reparse {reparse_id}", {"id": reparse_id})
    return _to_reparse(found[0], found[1])


async def stop_reparse(session: AsyncSession, reparse_id: int, message: str) -> None:
    """Stop the reparse, unless it has ended; streams that were done keep their new samples, all others their old ones.

    Raises: NotFound
    """
    row = await session.get(ReparseRow, reparse_id)
    if row is None:
        raise NotFound(f"There is no reparse {reparse_id}", {"id": reparse_id})
    values = {"state": JobState.STOPPED, "message": message, "next_try_at": None, "finished_at": func.now()}
    await session.execute(update(Job).where(Job.id == row.job_id, Job.state.in_(OPEN_STATES)).values(values))


async def find_reparse(session: AsyncSession, job_id: int) -> ReparseRow | None:
    """Return the reparse of a job. Missing: None when it was removed with its host or stream."""
    query = select(ReparseRow).where(ReparseRow.job_id == job_id)
    return await session.scalar(query, execution_options={"populate_existing": True})


async def note_failure(session: WriteSession, reparse: ReparseRow, stream: Stream, text: str) -> None:
    """Record that a stream could not be read again and kept its samples; the job's message names the first ones."""
    told = f"stream {stream.id} ({stream.spec} {shorten(stream.key)}): {text[:MAX_TEXT_LENGTH]}"
    message = case(
        (Job.message == "", told),
        (func.length(Job.message) < MAX_MESSAGE_LENGTH, Job.message + "; " + told),
        else_=Job.message,
    )
    await session.execute(update(Job).where(Job.id == reparse.job_id, Job.state == JobState.RUNNING).values(message=message))
    await session.execute(update(ReparseRow).where(ReparseRow.id == reparse.id).values(last_stream_id=stream.id))


async def next_stream(session: AsyncSession, reparse: ReparseRow) -> Stream | None:
    """Return the next stream that the reparse has to read."""
    query = select(Stream).where(*_streams_of(reparse), Stream.id > reparse.last_stream_id).order_by(Stream.id).limit(1)
    return await session.scalar(query, execution_options={"populate_existing": True})


async def note_stream(
    session: WriteSession, reparse: ReparseRow, stream_id: int, *, n_before: int, n_after: int, n_rejected: int
) -> None:
    """Record that a stream is done, in the transaction that replaced its samples."""
    counts = {
        "last_stream_id": stream_id,
        "n_streams_done": ReparseRow.n_streams_done + 1,
        "n_samples_before": ReparseRow.n_samples_before + n_before,
        "n_samples_after": ReparseRow.n_samples_after + n_after,
        "n_rejected_after": ReparseRow.n_rejected_after + n_rejected,
    }
    await session.execute(update(ReparseRow).where(ReparseRow.id == reparse.id).values(counts))


async def bytes_behind(session: AsyncSession, reparse: ReparseRow) -> int:
    """Return the number of bytes of the streams that are still to be read."""
    size = func.coalesce(func.sum(Stream.acked_offset - Stream.n_gap_bytes), 0)
    return await session.scalar(select(size).where(*_streams_of(reparse), Stream.id > reparse.last_stream_id)) or 0


def _streams_of(reparse: ReparseRow) -> Sequence[ColumnElement[bool]]:
    """Return those with bytes that there is a spec for, of the scope, not newer than the reparse."""
    conditions: list[ColumnElement[bool]] = [
        Stream.acked_offset > Stream.n_gap_bytes,
        Stream.spec.in_(load_catalogue().specs),
        Stream.id <= reparse.newest_stream_id,
    ]
    if reparse.host_id is not None:
        conditions.append(Stream.host_id == reparse.host_id)
    if reparse.stream_id is not None:
        conditions.append(Stream.id == reparse.stream_id)
    if reparse.spec is not None:
        conditions.append(Stream.spec == reparse.spec)
    if reparse.is_outdated_only:
        conditions.append(is_outdated())
    return conditions


async def _require_scope(session: AsyncSession, scope: ReparseScope) -> int | None:
    host_id: int | None = None
    if scope.host is not None:
        host_id = await session.scalar(select(Host.id).where(Host.name == scope.host))
        if host_id is None:
            raise NotFound(f"There is no host {shorten(scope.host)}", {"host": scope.host})
    spec = scope.spec
    if scope.stream_id is not None:
        stream = await session.get(Stream, scope.stream_id)
        if stream is None:
            raise NotFound(f"There is no stream {scope.stream_id}", {"stream_id": scope.stream_id})
        if (host_id is not None and stream.host_id != host_id) or (spec is not None and stream.spec != spec):
            raise BadRequest(f"Stream {scope.stream_id} is not of that host and spec; name the stream alone")
        spec = stream.spec
    if spec is not None and spec not in load_catalogue().specs:
        raise BadRequest(f"There is no spec {shorten(spec)} to read with; add it first", {"spec": spec})
    return host_id


def _to_reparse(row: ReparseRow, host: str | None) -> Reparse:
    return to_record(
        Reparse,
        row,
        host=host,
        state=JobState(row.job.state),
        message=row.job.message,
        n_bytes=row.job.n_total,
        n_bytes_done=row.job.n_done,
        created_at=row.job.queued_at,
        created_by=row.job.asked_by,
        finished_at=row.job.finished_at,
    )
