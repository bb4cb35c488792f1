"""Hosts, their streams, instances and rejected lines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.host_limits import read_visible_names
from normstat.db.limited_session import limited_account
from normstat.db.schema.models import StoredRejectedLine, Stream
from normstat.db.session import driver_of
from normstat.errors import NotFound
from normstat.query.fact_history import read_snapshots
from normstat.query.host_numbers import NO_TIME, STATES, HostNumbers, StreamState, read_numbers, to_state
from normstat.query.instance_labels import find_processor_sets, is_of_cpus, label_cpu
from normstat.query.reject_rise import RejectCounts
from normstat.query.stream_ends import StreamEnd, ToolEnd, read_tool_ends
from normstat.records.host_tag_rows import sort_tags
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.times.calls import stream_interval
from normstat.window import Window, from_us

# Streams that have been silent for longer are counted but not listed.
OLD_AFTER: Final = timedelta(days=7)
# From this many hosts on, another thread is worth it.
MANY: Final = 300
# Most hosts of a fleet have the same stats.
MAX_STAT_LISTS: Final = 1024


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Number of lines of a stream, by kind."""

    header: int
    sample: int
    since_boot: int
    timestamp: int
    state_change: int
    ignored: int
    rejected: int


@dataclass(frozen=True, slots=True)
class StreamInfo(Documented):
    """One run of one tool on a host."""

    id: int
    spec: str
    """The spec that reads it."""

    stats: list[str]
    """The stats that the spec yields; empty if there is no such spec."""

    key: str
    """Chosen by the agent; unique within the host and spec."""

    command: str
    """The command line as the agent reported it."""

    state: StreamState
    created_at: datetime
    last_received_at: datetime | None
    """By the server's clock; null before the first bytes."""

    last_sample_at: datetime | None
    """By the host's clock; null without samples."""

    acked_offset: int
    """Bytes below this offset are committed or known to be lost."""

    n_lines: LineCounts
    n_gap_bytes: int
    """Bytes that the agent had to drop before it could send them."""

    ended: StreamEnd | None
    """Why its tool stopped, as the agent said; null while it sends, if a newer stream of its spec went on, or if the agent said
    nothing.
    """


@dataclass(frozen=True, slots=True)
class HostInfo(Documented):
    """A host, with sums over its streams."""

    name: str
    os: str
    """`uname -s -r -m`; empty if no agent reported it."""

    agent_version: str
    created_at: datetime
    last_seen_at: datetime | None
    """The last request of its agent; null for imported hosts."""

    first_sample_at: datetime | None
    last_sample_at: datetime | None
    clock_offset_s: float | None
    """How far the host's clock is ahead of the server's; null if unknown."""

    state: StreamState
    """The best state among its streams."""

    n_streams_live: int
    n_streams: int
    n_rejected: int
    """Rejected lines of all time."""

    n_rejected_last_hour: int
    n_rejected_hour_before: int
    has_reject_rise: bool
    """The last hour has at least ten rejected lines, and at least four times as many as the hour before."""

    stats: list[str]
    """The stats with samples of the host, by name."""

    tags: list[str]
    """By name: those that people gave it, and those that its agent sets."""

    agent_tags: list[str]
    """Those that the configuration of its agent sets; they can only be removed there."""


@dataclass(frozen=True, slots=True)
class HostDetail(Documented):
    """A host and its streams."""

    host: HostInfo
    streams: list[StreamInfo]
    """Newest first, without those that ended more than a week ago."""

    n_old_streams: int
    """Streams that ended more than a week ago."""


@dataclass(frozen=True, slots=True)
class RejectedLineInfo(Documented):
    """A line that could not be read."""

    stream_id: int
    spec: str
    key: str
    line_no: int
    """Counted from 1 in the stream."""

    offset: int
    """Of the line's first byte in the stream."""

    n_bytes: int
    text: str
    """The line, shortened if long."""

    reason: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class RejectedLineList(Documented):
    """Rejected lines, newest first."""

    rejected_lines: list[RejectedLineInfo]
    n_total: int
    """Includes lines whose text is not stored; for one reason, only stored ones."""


@dataclass(frozen=True, slots=True)
class InstanceInfo(Documented):
    """An instance of a stat on a host: what its rows describe (a disk, a CPU, a process)."""

    name: str
    first_sample_at: datetime
    last_sample_at: datetime
    """Up to five minutes early while samples come: it is recorded now and then."""

    label: str
    """Its label in the window: for a CPU, its processor set (`set 1`, or `set 1, then set 2`); empty if none is known."""


async def list_hosts(session: AsyncSession, now: datetime) -> list[HostInfo]:
    """Return all hosts by name, with the state of their streams at `now`; a limited account's own hosts."""
    numbers = await read_numbers(session, now, None)
    visible = None if limited_account() is None else await read_visible_names(session)
    hosts = await read_infos(session, numbers, np.arange(len(numbers.ids)))
    seen = hosts if visible is None else [host for host in hosts if host.name in visible]
    return sorted(seen, key=lambda host: natural_key(host.name))


async def read_host(session: AsyncSession, name: str, now: datetime) -> HostDetail:
    """Return a host and its streams, newest first.

    Raises: NotFound
    """
    host_id = await lookup.require_host(session, name)
    [host] = await read_infos(session, await read_numbers(session, now, host_id), np.arange(1))
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    streams = await session.scalars(
        select(Stream)
        .where(Stream.host_id == host_id, last_heard > now - OLD_AFTER)
        .order_by(Stream.created_at.desc(), Stream.id.desc())
    )
    newest = await read_newest(session, host_id)
    ends = await read_tool_ends(session, host_id, now - OLD_AFTER)
    records = [to_stream(stream, now, is_newest=stream.id in newest, ends=ends) for stream in streams]
    return HostDetail(host, records, host.n_streams - len(records))


async def list_rejected(
    session: AsyncSession, name: str, stream_id: int | None, limit: int, *, reason: str | None = None
) -> RejectedLineList:
    """Return the rejected lines of a host, or of one of its streams, newest first; `reason`: only lines rejected for this reason.

    Raises: NotFound for an unknown host, or a stream of another host
    """
    host_id = await lookup.require_host(session, name)
    chosen = [Stream.host_id == host_id] + ([] if stream_id is None else [Stream.id == stream_id])
    n_streams, n_total = (
        await session.execute(select(func.count(Stream.id), func.coalesce(func.sum(Stream.n_rejected), 0)).where(*chosen))
    ).one()
    if stream_id is not None and n_streams == 0:
        raise NotFound(
            f"{name} has no stream {stream_id}; GET /api/v1/hosts/{name} lists them", {"host": name, "stream_id": stream_id}
        )
    of_reason = [] if reason is None else [StoredRejectedLine.reason == reason]
    if reason is not None:
        counting = select(func.count()).select_from(StoredRejectedLine).join(Stream, Stream.id == StoredRejectedLine.stream_id)
        n_total = (await session.execute(counting.where(*chosen, *of_reason))).scalar_one()
    rows = await session.execute(
        select(StoredRejectedLine, Stream.spec, Stream.key)
        .join(Stream, Stream.id == StoredRejectedLine.stream_id)
        .where(*chosen, *of_reason)
        .order_by(StoredRejectedLine.id.desc())
        .limit(limit)
    )
    lines = [
        RejectedLineInfo(
            stream_id=line.stream_id,
            spec=spec,
            key=key,
            line_no=line.line_no,
            offset=line.line_offset,
            n_bytes=line.n_bytes,
            text=line.line_text,
            reason=line.reason,
            received_at=line.received_at,
        )
        for line, spec, key in rows
    ]
    return RejectedLineList(lines, int(n_total))


async def list_instances(session: AsyncSession, name: str, stat: str, window: Window) -> tuple[list[InstanceInfo], int]:
    """Return the instances of a stat that were present in the window, in natural order (cpu 9 before cpu 10), and how many were
    omitted: above the limit only those with the latest samples are listed.

    Raises: NotFound for an unknown host or stat
    """
    host_id = await lookup.require_host(session, name)
    found = await lookup.find_stat(session, stat)
    if found is None:
        return [], 0
    instances, n_all = await lookup.list_latest_instances(session, host_id, found, window)
    labels: dict[str, str] = {}
    if is_of_cpus(stat):
        labels = find_processor_sets(await read_snapshots(session, host_id), window)
    records = [
        InstanceInfo(instance.name, instance.first_sample_at, instance.last_sample_at, label_cpu(instance.name, labels))
        for instance in instances
    ]
    return records, n_all - len(records)


# By the driver: SQLAlchemy wraps each row again, which takes longer than to read ten thousand of them.
TEXTS: Final = """
    SELECT id, name, os, agent_version, created_at, tags, agent_tags,
        (SELECT string_agg(array_to_string(stat_names, ' '), ' ') FROM streams WHERE host_id = hosts.id)
    FROM hosts WHERE id = ANY(%(ids)s)
"""


async def read_infos(session: AsyncSession, numbers: HostNumbers, chosen: NDArray[np.int64]) -> list[HostInfo]:
    """Return the hosts at these positions of `numbers`, in this order."""
    ids = numbers.ids[chosen].tolist()
    cursor = await (await driver_of(session)).execute(TEXTS, {"ids": ids}, binary=True)
    rows: list[tuple[Any, ...]] = await cursor.fetchall()

    def make() -> list[HostInfo]:
        found = {row[0]: row for row in rows}
        return [_to_host(found[id_], numbers, position) for id_, position in zip(ids, chosen.tolist(), strict=True)]

    # For ten thousand hosts it takes a tenth of a second, during which agents wait for their answers.
    return make() if len(ids) < MANY else await anyio.to_thread.run_sync(make)


@lru_cache(MAX_STAT_LISTS)
def _sort_stats(stats: str) -> tuple[str, ...]:
    return tuple(sorted(set(stats.split())))


async def read_newest(session: AsyncSession, host_id: int) -> set[int]:
    """Return the newest stream of each spec of a host: the agent ended the ones before it, or they ended."""
    newest = select(Stream.id).where(Stream.host_id == host_id, ~Stream.is_finished).ext(distinct_on(Stream.spec))
    return set(await session.scalars(newest.order_by(Stream.spec, Stream.created_at.desc(), Stream.id.desc())))


def _to_time(time_us: int) -> datetime | None:
    return None if time_us == NO_TIME else from_us(time_us)


def _to_host(texts: tuple[Any, ...], numbers: HostNumbers, position: int) -> HostInfo:
    """Return the host of a row of TEXTS, whose numbers are at this position."""
    _, name, os, agent_version, created_at, tags, agent_tags, stats = texts
    rejects = RejectCounts(int(numbers.n_rejected_last_hour[position]), int(numbers.n_rejected_hour_before[position]))
    clock_offset_s = float(numbers.clock_offset_s[position])
    return HostInfo(
        name=name,
        os=os,
        agent_version=agent_version,
        created_at=created_at,
        last_seen_at=_to_time(int(numbers.last_seen_us[position])),
        first_sample_at=_to_time(int(numbers.first_sample_us[position])),
        last_sample_at=_to_time(int(numbers.last_sample_us[position])),
        clock_offset_s=None if math.isnan(clock_offset_s) else clock_offset_s,
        state=STATES[numbers.states[position]],
        n_streams_live=int(numbers.n_streams_live[position]),
        n_streams=int(numbers.n_streams[position]),
        n_rejected=int(numbers.n_rejected[position]),
        n_rejected_last_hour=rejects.last_hour,
        n_rejected_hour_before=rejects.hour_before,
        has_reject_rise=rejects.is_rise,
        stats=list(_sort_stats(stats or "")),
        tags=sort_tags([*tags, *agent_tags]),
        agent_tags=sort_tags(agent_tags),
    )


def to_stream(stream: Stream, now: datetime, *, is_newest: bool, ends: Mapping[str, ToolEnd]) -> StreamInfo:
    """Return the stream with its state at `now`. `is_newest`: of its spec on its host, so that more is to come at its interval;
    `ends`: what the host's agent reported about tools that stopped, by spec.
    """
    interval_s = stream_interval(stream.command) if is_newest else None
    spec = load_catalogue().specs.get(stream.spec)
    state = to_state(stream.last_received_at, now, is_recorded=stream.is_finished, interval_s=interval_s)
    end = ends.get(stream.spec) if is_newest and state in {StreamState.LATE, StreamState.SILENT} else None
    return StreamInfo(
        id=stream.id,
        spec=stream.spec,
        stats=[] if spec is None else [stat.name for stat in spec.stats],
        key=stream.key,
        command=stream.command,
        state=state,
        created_at=stream.created_at,
        last_received_at=stream.last_received_at,
        last_sample_at=stream.last_sample_at,
        acked_offset=stream.acked_offset,
        n_lines=LineCounts(
            header=stream.n_header,
            sample=stream.n_sample,
            since_boot=stream.n_since_boot,
            timestamp=stream.n_timestamp,
            state_change=stream.n_state_change,
            ignored=stream.n_ignored,
            rejected=stream.n_rejected,
        ),
        n_gap_bytes=stream.n_gap_bytes,
        ended=end.end if end is not None and end.is_of(stream) else None,
    )
