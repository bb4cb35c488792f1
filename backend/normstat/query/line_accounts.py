"""Line and byte accounts: how every line and byte of a host's streams was classified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, SQLColumnExpression, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Gap, StoredRejectedLine, Stream
from normstat.query.host_lists import OLD_AFTER, LineCounts, StreamInfo, read_newest, to_stream
from normstat.query.stream_ends import read_tool_ends
from normstat.records.reparse_rows import is_outdated
from normstat.runtime.field_docs import Documented
from normstat.samples import lookup
from normstat.stats.catalogue import load_catalogue
from normstat.stats.records import LineKind

# Reasons quote the printed text, so a garbage stream has as many reasons as lines; the most frequent show what is wrong.
MAX_REASONS: Final = 20


class StreamFilter(StrEnum):
    """Which streams to list: those with rejected lines, those read with another version of their spec, those that lost bytes."""

    REJECTED = "rejected"
    OUTDATED = "outdated"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ReasonCount(Documented):
    """Why lines were rejected."""

    reason: str
    n: int
    """Counts lines whose text is stored: at most 1000 per reason and stream."""

    last_at: datetime


@dataclass(frozen=True, slots=True)
class StreamAccount(Documented):
    """The account of one stream: what arrived, and how it was classified."""

    stream: StreamInfo
    first_sample_at: datetime | None
    bytes_by_kind: LineCounts
    n_gaps: int
    spec_version: int
    """The version of the spec that its oldest samples were read with; 0: there was no such spec."""

    catalogue_version: int | None
    """The present version of the spec; null if there is none: then the stream is not read, and its lines count as ignored."""

    is_outdated: bool
    """Its samples were read with another version of the spec than the present one."""

    reasons: list[ReasonCount]
    """The most frequent of `n_reasons`."""

    n_reasons: int


@dataclass(frozen=True, slots=True)
class HostAccounts(Documented):
    """The sums over all streams of a host, and the selected streams."""

    host: str
    n_streams: int
    n_streams_outdated: int
    n_bytes: int
    """Bytes that arrived."""

    n_gap_bytes: int
    """Bytes that were lost before they could be sent."""

    n_lines: LineCounts
    bytes_by_kind: LineCounts
    n_matching: int
    """Selected streams without the limit."""

    streams: list[StreamAccount]
    """Newest first."""


async def read_host_accounts(
    session: AsyncSession, name: str, *, only: StreamFilter | None, stream_id: int | None, limit: int, now: datetime
) -> HostAccounts:
    """Return the accounts of a host.

    Raises: NotFound for an unknown host
    """
    host_id = await lookup.require_host(session, name)
    lines_of = [getattr(Stream, f"n_{kind.value}") for kind in LineKind]
    bytes_of = [Stream.bytes_by_kind[kind.value].as_integer() for kind in LineKind]
    sums = (
        await session.execute(
            select(
                func.count(Stream.id),
                func.count(Stream.id).filter(is_outdated()),
                _sum(Stream.acked_offset),
                _sum(Stream.n_gap_bytes),
                *(_sum(column) for column in (*lines_of, *bytes_of)),
            ).where(Stream.host_id == host_id)
        )
    ).one()
    counts = [int(value) for value in sums]
    chosen = [Stream.host_id == host_id, *_chosen(only)] + ([] if stream_id is None else [Stream.id == stream_id])
    n_matching = await session.scalar(select(func.count(Stream.id)).where(*chosen))
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    streams = (
        await session.scalars(select(Stream).where(*chosen).order_by(last_heard.desc(), Stream.id.desc()).limit(limit))
    ).all()
    ids = [stream.id for stream in streams]
    reasons = await _read_reasons(session, [stream.id for stream in streams if stream.n_rejected])
    gaps = await _count_gaps(session, ids)
    newest = await read_newest(session, host_id)
    ends = await read_tool_ends(session, host_id, now - OLD_AFTER)
    return HostAccounts(
        host=name,
        n_streams=counts[0],
        n_streams_outdated=counts[1],
        n_bytes=counts[2] - counts[3],
        n_gap_bytes=counts[3],
        n_lines=_by_kind(counts[4 : 4 + len(LineKind)]),
        bytes_by_kind=_by_kind(counts[4 + len(LineKind) :]),
        n_matching=n_matching or 0,
        streams=[
            _to_account(
                stream,
                reasons.get(stream.id, ([], 0)),
                gaps.get(stream.id, 0),
                to_stream(stream, now, is_newest=stream.id in newest, ends=ends),
            )
            for stream in streams
        ],
    )


def _chosen(only: StreamFilter | None) -> list[ColumnElement[bool]]:
    match only:
        case StreamFilter.REJECTED:
            return [Stream.n_rejected > 0]
        case StreamFilter.OUTDATED:
            return [is_outdated()]
        case StreamFilter.LOST:
            return [Stream.n_gap_bytes > 0]
        case None:
            return []


def _sum(column: SQLColumnExpression[int]) -> ColumnElement[int]:
    return func.coalesce(func.sum(column), 0)


def _by_kind(numbers: Sequence[int]) -> LineCounts:
    return LineCounts(**{kind.value: number for kind, number in zip(LineKind, numbers, strict=True)})


async def _read_reasons(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, tuple[list[ReasonCount], int]]:
    """Return the most frequent reasons of each stream, and its number of reasons."""
    counted = (
        select(
            StoredRejectedLine.stream_id,
            StoredRejectedLine.reason,
            func.count().label("n"),
            func.max(StoredRejectedLine.received_at).label("last_at"),
            func.count().over(partition_by=StoredRejectedLine.stream_id).label("n_reasons"),
            func.row_number()
            .over(partition_by=StoredRejectedLine.stream_id, order_by=(func.count().desc(), StoredRejectedLine.reason))
            .label("place"),
        )
        .where(StoredRejectedLine.stream_id.in_(ids))
        .group_by(StoredRejectedLine.stream_id, StoredRejectedLine.reason)
        .subquery()
    )
    rows = await session.execute(
        select(counted).where(counted.c.place <= MAX_REASONS).order_by(counted.c.stream_id, counted.c.place)
    )
    found: dict[int, tuple[list[ReasonCount], int]] = {}
    for row in rows:
        reasons, _ = found.setdefault(row.stream_id, ([], row.n_reasons))
        reasons.append(ReasonCount(row.reason, row.n, row.last_at))
    return found


async def _count_gaps(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, int]:
    rows = await session.execute(select(Gap.stream_id, func.count()).where(Gap.stream_id.in_(ids)).group_by(Gap.stream_id))
    return {row[0]: row[1] for row in rows}


def _to_account(stream: Stream, reasons: tuple[list[ReasonCount], int], n_gaps: int, record: StreamInfo) -> StreamAccount:
    spec = load_catalogue().specs.get(stream.spec)
    has_bytes = stream.acked_offset > stream.n_gap_bytes
    return StreamAccount(
        stream=record,
        first_sample_at=stream.first_sample_at,
        bytes_by_kind=_by_kind([int(stream.bytes_by_kind.get(kind.value, 0)) for kind in LineKind]),
        n_gaps=n_gaps,
        spec_version=stream.spec_version,
        catalogue_version=None if spec is None else spec.version,
        is_outdated=spec is not None and has_bytes and stream.spec_version != spec.version,
        reasons=reasons[0],
        n_reasons=reasons[1],
    )
