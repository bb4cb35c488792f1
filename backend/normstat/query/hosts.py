"""Hosts, their streams, instances and rejected lines."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.window import Window


class StreamState(StrEnum):
    """live: data within 30 s; late: within 10 min; silent: longer ago."""

    LIVE = "live"
    LATE = "late"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Lines of a stream by kind."""

    header: int
    sample: int
    since_boot: int
    timestamp: int
    state_change: int
    ignored: int
    rejected: int


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """One run of one tool."""

    id: int
    spec: str
    stats: list[str]
    key: str
    command: str
    state: StreamState
    created_at: datetime
    last_received_at: datetime | None
    last_sample_at: datetime | None
    acked_offset: int
    n_lines: LineCounts
    n_gap_bytes: int


@dataclass(frozen=True, slots=True)
class HostRecord:
    """A host; `state` is that of its best stream."""

    name: str
    os: str
    agent_version: str
    created_at: datetime
    last_seen_at: datetime | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    clock_offset_s: float | None
    state: StreamState
    n_streams_live: int
    n_streams: int
    n_rejected: int
    stats: list[str]


@dataclass(frozen=True, slots=True)
class HostDetailRecord:
    """A host and its streams, the newest first; streams that ended more than a week ago are only counted."""

    host: HostRecord
    streams: list[StreamRecord]
    n_old_streams: int


@dataclass(frozen=True, slots=True)
class RejectedLineRecord:
    """A line that could not be read."""

    stream_id: int
    spec: str
    key: str
    line_no: int
    offset: int
    n_bytes: int
    text: str
    reason: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class RejectedLines:
    """Rejected lines, the newest first; `n_total` counts those too whose text is not kept."""

    rejected_lines: list[RejectedLineRecord]
    n_total: int


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """What rows of a stat are about."""

    name: str
    first_sample_at: datetime
    last_sample_at: datetime


async def list_hosts(session: AsyncSession, now: datetime) -> list[HostRecord]:
    """All hosts by name."""
    raise NotImplementedError


async def read_host(session: AsyncSession, name: str, now: datetime) -> HostDetailRecord:
    """A host and its streams.

    Raises: NotFound
    """
    raise NotImplementedError


async def list_rejected(session: AsyncSession, name: str, stream_id: int | None, limit: int) -> RejectedLines:
    """Rejected lines of a host, or of one of its streams, the newest first.

    Raises: NotFound for an unknown host, or a stream that is not the host's
    """
    raise NotImplementedError


async def list_instances(session: AsyncSession, name: str, stat: str, window: Window) -> list[InstanceRecord]:
    """Instances of a stat with samples between the window's ends, in natural order (cpu 9 before cpu 10).

    Raises: NotFound for an unknown host or stat
    """
    raise NotImplementedError
