"""What normstat knows without samples: silent or late hosts and tools, rejected lines, its jobs and its disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.job_models import Job, JobState
from normstat.db.schema.models import BUNDLE_KEY, IMPORT_KEY, Gap, Host, Stream
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.query.reject_rise import NO_REJECTS, read_reject_counts
from normstat.query.storage_sizes import read_disk
from normstat.records.judging_pace import SENDING
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.times.calls import stream_interval

# Tools that have been silent for longer are not looked at.
STREAMS_OF: Final = timedelta(days=2)
# Reports of slower tools say nothing about a backlog.
MAX_BACKLOG_INTERVAL_S: Final = 60.0
BEHIND_S: Final = 120.0
# With fewer hosts, their share says nothing about the server.
MIN_HOSTS: Final = 3
# The newest stream of each spec of each host: a tool that is started again begins another one.
READ_STREAMS: Final = text("""
    SELECT DISTINCT ON (host_id, spec) host_id, spec, command, last_received_at, last_sample_at
    FROM streams
    WHERE last_received_at >= :since AND NOT is_finished AND key NOT LIKE 'import-%'
    ORDER BY host_id, spec, last_received_at DESC
""")
# By the names of own inputs.
OwnFigures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SeenHost:
    """A host whose agent has sent: when it last did, and when another machine tried to send under its name.

    Missing: None where none did.
    """

    id: int
    name: str
    tags: tuple[str, ...]
    last_seen_at: datetime
    clock_offset_s: float
    other_machine_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """Figures of the streams of a host. `by_stream`: of each tool, by its spec; `ahead_s`: how far its newest row is dated
    ahead of its own clock.
    """

    host: OwnFigures
    by_stream: Mapping[str, OwnFigures]
    ahead_s: float = 0.0


@dataclass(frozen=True, slots=True)
class HostLoss:
    """Bytes that a host lost before they could be sent, and when the last loss was reported."""

    host: str
    n_bytes: int
    last_at: datetime


async def list_seen_hosts(session: AsyncSession) -> list[SeenHost]:
    """Return the hosts with an agent, by id; hosts that were only imported are never silent."""
    columns = (Host.id, Host.name, Host.tags, Host.agent_tags, Host.last_seen_at, Host.clock_offset_s, Host.other_machine_at)
    query = select(*columns).where(Host.last_seen_at.is_not(None), Host.id.not_in(select(HostDeletionRow.host_id)))
    rows = await session.execute(query.order_by(Host.id))
    return [
        SeenHost(id_, name, (*tags, *own), seen, offset_s or 0.0, other_at)
        for id_, name, tags, own, seen, offset_s, other_at in rows
        if seen is not None
    ]


async def read_stream_figures(session: AsyncSession, hosts: Sequence[SeenHost], now: datetime) -> dict[int, StreamFigures]:
    """Return the figures of the streams of hosts, by host: silent tools, backlogs and rejected lines.

    Missing: what has no interval in its command, or prints events only, may be silent for any time, and has no figures; a host that
    does not send has no backlog
    """
    known = {host.id: host for host in hosts}
    by_stream: dict[int, dict[str, OwnFigures]] = {}
    lags: dict[int, list[float]] = {}
    ahead: dict[int, float] = {}
    for host_id, spec, command, received_at, sample_at in await session.execute(READ_STREAMS, {"since": now - STREAMS_OF}):
        host, interval_s = known.get(host_id), stream_interval(command)
        if host is not None and sample_at is not None:
            own_clock = received_at + timedelta(seconds=host.clock_offset_s)
            ahead[host_id] = max(ahead.get(host_id, 0.0), (sample_at - own_clock).total_seconds())
        if host is None or interval_s is None or _has_only_events(spec):
            continue
        silence_s = max(0.0, (host.last_seen_at - received_at).total_seconds())
        by_stream.setdefault(host_id, {})[spec] = {"stream.silence": silence_s, "stream.interval": interval_s}
        if sample_at is not None and interval_s <= MAX_BACKLOG_INTERVAL_S and now - received_at <= SENDING:
            lag_s = (received_at - sample_at).total_seconds() + host.clock_offset_s - interval_s
            lags.setdefault(host_id, []).append(max(0.0, lag_s))
    rejects = await read_reject_counts(session, now, None)
    figures = {}
    for host_id in known:
        own = rejects.get(host_id, NO_REJECTS)
        of_host = {"host.rejected": float(own.last_hour), "host.rejected_before": float(own.hour_before)}
        if host_id in lags:
            # A tool that hangs is not a host that is behind.
            of_host["host.backlog"] = min(lags[host_id])
        figures[host_id] = StreamFigures(of_host, by_stream.get(host_id, {}), ahead.get(host_id, 0.0))
    return figures


def _has_only_events(spec: str) -> bool:
    """Return whether a tool prints only when something happens: the catalogue knows it, and it has no samples."""
    known = load_catalogue().specs.get(spec)
    return known is not None and not known.stats


def find_hosts_behind(figures: Mapping[int, StreamFigures]) -> OwnFigures:
    """Return the share of sending hosts that have a backlog. Missing: left out where too few send"""
    backlogs = [own.host["host.backlog"] for own in figures.values() if "host.backlog" in own.host]
    if len(backlogs) < MIN_HOSTS:
        return {}
    return {"server.hosts_behind": 100.0 * sum(backlog > BEHIND_S for backlog in backlogs) / len(backlogs)}


async def read_losses(session: AsyncSession, since: datetime) -> list[HostLoss]:
    """Return the hosts that lost bytes before they could be sent, most first."""
    query = (
        select(Host.name, func.sum(Gap.end_offset - Gap.start_offset), func.max(Gap.reported_at))
        .join(Stream, Stream.host_id == Host.id)
        .join(Gap, Gap.stream_id == Stream.id)
        .where(Stream.n_gap_bytes > 0, Stream.last_received_at >= since, Gap.reported_at >= since)
        # A loss recorded earlier did not happen now.
        .where(Stream.key.not_like(f"{IMPORT_KEY}%"), Stream.key.not_like(f"{BUNDLE_KEY}%"))
        .group_by(Host.name)
    )
    found = [HostLoss(name, int(n_bytes), last) for name, n_bytes, last in await session.execute(query)]
    return sorted(found, key=lambda loss: -loss.n_bytes)


async def read_server_figures(session: AsyncSession, database_url: str, folder: Path | None, now: datetime) -> dict[str, float]:
    """Return the figures of this server by the names that rules have for them. Missing: left out where it is not known"""
    oldest = await session.scalar(select(func.min(Job.next_try_at)).where(Job.state == JobState.QUEUED, Job.next_try_at <= now))
    figures = {"server.job_wait": 0.0 if oldest is None else (now - oldest).total_seconds()}
    disk = await read_disk(session, database_url, folder)
    if disk is not None and disk.total_bytes:
        figures["server.disk_free"] = 100.0 * disk.free_bytes / disk.total_bytes
    return figures
