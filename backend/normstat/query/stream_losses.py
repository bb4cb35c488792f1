"""Losses of a host's streams in a window: rejected lines, and bytes that were lost before they were sent.

Neither has a time of its own. Both lie between two samples of their stream: the samples' lines and times say where.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Gap, StatTable, StoredRejectedLine, Stream
from normstat.db.session import driver_of
from normstat.samples.sample_pages import load_sql
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.samples.stream_rows import MAX_KEPT_PER_REASON
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window

# How far around the window the nearest sample is looked for.
LOOK_AROUND: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class StreamLoss:
    """The losses of a stream in a window.

    `n_rejected`: rejected lines, `is_more` where there may be more than are stored; `reason`: the most frequent one, or empty;
    `n_lost_bytes`: what the agent had to drop; `start`, `end`: the samples around all of it
    """

    stream_id: int
    tool: str
    n_rejected: int
    is_more: bool
    reason: str
    n_lost_bytes: int
    has_samples: bool
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class _Place:
    """A sample: its time, and its line in the stream."""

    at: datetime
    offset: int


@dataclass(frozen=True, slots=True)
class _Span:
    """The samples of a stream around a window, and the first and the last one in it. None where there is none."""

    before: _Place | None
    first: _Place | None
    last: _Place | None
    after: _Place | None


async def read_stream_losses(session: AsyncSession, host_id: int, window: Window) -> list[StreamLoss]:
    """Return the losses of the host's streams in a window, by tool. Before the first and after the last sample of a stream no
    loss has a time: it is not counted.
    """
    streams = await session.execute(
        select(Stream.id, Stream.spec, Stream.stat_names)
        .where(
            Stream.host_id == host_id,
            Stream.first_sample_at < window.end,
            Stream.last_sample_at >= window.start,
            or_(Stream.n_rejected > 0, Stream.n_gap_bytes > 0),
        )
        .order_by(Stream.spec, Stream.id)
    )
    losses = []
    for stream_id, spec, stat_names in streams.all():
        span = await _read_span(session, host_id, stream_id, stat_names, window)
        loss = None if span is None else await _read_loss(session, stream_id, spec, span)
        if loss is not None:
            losses.append(loss)
    return losses


async def read_stream_times(session: AsyncSession, host_id: int, window: Window) -> list[tuple[str, datetime, datetime]]:
    """Return spec, first and last sample of the streams that have samples around or in a window."""
    rows = await session.execute(
        select(Stream.spec, Stream.first_sample_at, Stream.last_sample_at)
        .where(
            Stream.host_id == host_id,
            Stream.first_sample_at < window.end,
            Stream.last_sample_at >= window.start,
        )
        .order_by(Stream.first_sample_at, Stream.id)
    )
    return [(spec, first, last) for spec, first, last in rows.all() if first is not None and last is not None]


async def _read_span(
    session: AsyncSession, host_id: int, stream_id: int, stat_names: Sequence[str], window: Window
) -> _Span | None:
    """Return the samples of a stream around a window. Missing: None without any."""
    tables = (await session.scalars(select(StatTable.name).where(StatTable.name.in_(stat_names)))).all()
    connection = await driver_of(session)
    around = Window(window.start - LOOK_AROUND, window.end + LOOK_AROUND)
    asked = {
        "host_id": host_id,
        "stream_id": stream_id,
        "start": window.start,
        "end": window.end,
        "back": around.start,
        "ahead": around.end,
    }
    rows: list[list[_Place | None]] = []
    for table in tables:
        source = await open_source(connection, SealedQuery(host_id, table, around, has_lines=True))
        statement = load_sql("stream_span").format(table=source.table)
        cursor = await connection.execute(statement, {**asked, **source.parameters}, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        rows.append([_to_place(row[at], row[at + 1]) for at in range(0, len(row), 2)])
    before, first, last, after = ([row[at] for row in rows if row[at] is not None] for at in range(4)) if rows else ([], [], [], [])
    span = _Span(_latest(before), _earliest(first), _latest(last), _earliest(after))
    return None if span == _Span(None, None, None, None) else span


def _to_place(at: object, offset: object) -> _Place | None:
    return _Place(at, int(str(offset))) if isinstance(at, datetime) else None


def _latest(places: Sequence[_Place | None]) -> _Place | None:
    return max((place for place in places if place is not None), key=lambda place: place.offset, default=None)


def _earliest(places: Sequence[_Place | None]) -> _Place | None:
    return min((place for place in places if place is not None), key=lambda place: place.offset, default=None)


async def _read_loss(session: AsyncSession, stream_id: int, spec: str, span: _Span) -> StreamLoss | None:
    """Return the losses of a stream. Missing: None without any."""
    # A line belongs to the report that began before it; lost bytes may begin right after the last report before the window.
    first, last = span.first or span.before, span.after or span.last
    if first is None or last is None or first.offset >= last.offset:
        return None
    reasons = (
        await session.execute(
            select(StoredRejectedLine.reason, func.count())
            .where(
                StoredRejectedLine.stream_id == stream_id,
                StoredRejectedLine.line_offset > first.offset,
                StoredRejectedLine.line_offset < last.offset,
            )
            .group_by(StoredRejectedLine.reason)
            .order_by(func.count().desc(), StoredRejectedLine.reason)
        )
    ).all()
    earliest = span.before or first
    n_lost = await session.scalar(
        select(func.coalesce(func.sum(Gap.end_offset - Gap.start_offset), 0)).where(
            Gap.stream_id == stream_id, Gap.start_offset > earliest.offset, Gap.start_offset < last.offset
        )
    )
    n_rejected = sum(n for _, n in reasons)
    if not n_rejected and not n_lost:
        return None
    known = load_catalogue().specs.get(spec)
    return StreamLoss(
        stream_id=stream_id,
        tool=spec if known is None else known.tool,
        n_rejected=n_rejected,
        is_more=any(n >= MAX_KEPT_PER_REASON for _, n in reasons),
        reason=reasons[0][0] if reasons else "",
        n_lost_bytes=int(n_lost or 0),
        has_samples=span.first is not None,
        start=(earliest if n_lost else first).at,
        end=last.at,
    )
