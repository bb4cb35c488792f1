"""Hosts, their streams, instances and rejected lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple

import anyio.to_thread
from sqlalchemy import exists, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from normstat.db.host_limits import read_visible_names
from normstat.db.limited_session import limited_account
from normstat.db.schema.models import StoredRejectedLine, Stream
from normstat.db.session import driver_of
from normstat.errors import NotFound
from normstat.query.fact_history import read_snapshots
from normstat.query.instance_labels import find_processor_sets, is_of_cpus, label_cpu
from normstat.query.reject_rise import NO_REJECTS, RejectCounts, read_reject_counts
from normstat.query.stream_ends import StreamEnd, ToolEnd, read_tool_ends
from normstat.records.host_tag_rows import sort_tags
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.times.calls import stream_interval
from normstat.window import Window

LIVE_WITHIN: Final = timedelta(seconds=30)
LATE_WITHIN: Final = timedelta(minutes=10)
# A report is this much later than its interval says, at most, before its stream is late: agents send every 5 s by default.
GRACE: Final = timedelta(seconds=20)
# Longer intervals are not believed.
MAX_INTERVAL_S: Final = 86_400
# Streams that have been silent for longer are counted but not listed.
OLD_AFTER: Final = timedelta(days=7)
# From this many hosts on, another thread is worth it.
MANY: Final = 300
# Most hosts of a fleet have the same stats.
MAX_STAT_LISTS: Final = 1024
MAX_SORTED: Final = 1 << 15


class StreamState(StrEnum):
    """live: data within 30 s, or within the interval of its command where that is longer; late: up to 10 min; silent: longer ago;
    recorded: imported from files, no more data will come."""

    LIVE = "live"
    LATE = "late"
    SILENT = "silent"
    RECORDED = "recorded"


# The best first.
STATES: Final = tuple(StreamState)


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
    """Return all hosts by name, with the state of their streams at `now`."""
    hosts = await _read_hosts(session, None)
    totals = await _read_totals(session, now, None)
    patient = await _read_patient(session, now, None)
    rejects = await read_reject_counts(session, now, None)

    def make() -> list[HostInfo]:
        hosts.sort(key=lambda host: _sort_key(host.name))
        return [
            _to_host(host, totals.get(host.id, NO_STREAMS), rejects.get(host.id, NO_REJECTS), patient.get(host.id, []), now)
            for host in hosts
        ]

    # For ten thousand hosts it takes a third of a second, during which agents wait for their answers.
    return make() if len(hosts) < MANY else await anyio.to_thread.run_sync(make)


async def read_host(session: AsyncSession, name: str, now: datetime) -> HostDetail:
    """Return a host and its streams, newest first.

    Raises: NotFound
    """
    host_id = await lookup.require_host(session, name)
    [host] = await _read_hosts(session, host_id)
    totals = await _read_totals(session, now, host_id)
    patient = await _read_patient(session, now, host_id)
    rejects = await read_reject_counts(session, now, host_id)
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    streams = await session.scalars(
        select(Stream)
        .where(Stream.host_id == host_id, last_heard > now - OLD_AFTER)
        .order_by(Stream.created_at.desc(), Stream.id.desc())
    )
    newest = await read_newest(session, host_id)
    ends = await read_tool_ends(session, host_id, now - OLD_AFTER)
    records = [to_stream(stream, now, is_newest=stream.id in newest, ends=ends) for stream in streams]
    own = totals.get(host_id, NO_STREAMS)
    record = _to_host(host, own, rejects.get(host_id, NO_REJECTS), patient.get(host_id, []), now)
    return HostDetail(record, records, own.n_streams - len(records))


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


class _HostRow(NamedTuple):
    """The stored row of a host. Plain rows: objects of ten thousand hosts take longer to make than all else about them."""

    id: int
    name: str
    os: str
    agent_version: str
    created_at: datetime
    last_seen_at: datetime | None
    clock_offset_s: float | None
    tags: list[str]
    agent_tags: list[str]


# By the driver: SQLAlchemy wraps each row again, which takes longer than to read ten thousand of them.
HOSTS: Final = """
    SELECT id, name, os, agent_version, created_at, last_seen_at, clock_offset_s, tags, agent_tags FROM hosts
    WHERE CASE WHEN %(host_id)s::int8 IS NULL THEN id NOT IN (SELECT host_id FROM host_deletions) ELSE id = %(host_id)s END
"""
TOTALS: Final = """
    SELECT host_id, count(*), count(*) FILTER (WHERE is_finished),
        count(*) FILTER (WHERE NOT is_finished AND last_received_at > %(live_from)s), sum(n_rejected)::int8,
        max(last_received_at) FILTER (WHERE NOT is_finished), min(first_sample_at), max(last_sample_at),
        string_agg(array_to_string(stat_names, ' '), ' ')
    FROM streams{} GROUP BY host_id
"""
OF_HOST: Final = " WHERE host_id = %(host_id)s"
# The hash of a row, so that the order of rows does not matter; numeric, so that the sum is exact.
VERSION: Final = """SELECT count(*), CAST(coalesce(sum(hashtextextended(concat_ws(chr(31), name, os, agent_version,
CAST(tags AS text), CAST(agent_tags AS text)), id)), 0) AS text)
FROM hosts WHERE id NOT IN (SELECT host_id FROM host_deletions)"""


async def _read_hosts(session: AsyncSession, host_id: int | None) -> list[_HostRow]:
    """Return one host, or all that are not being deleted and that the account of this request sees."""
    hosts = [_HostRow._make(row) for row in await _read_rows(session, HOSTS, {"host_id": host_id})]
    if host_id is None and limited_account() is not None:
        visible = await read_visible_names(session)
        return [host for host in hosts if host.name in visible]
    return hosts


async def _read_rows(session: AsyncSession, statement: str, arguments: Mapping[str, object]) -> list[tuple[Any, ...]]:
    cursor = await (await driver_of(session)).execute(statement, arguments, binary=True)
    return await cursor.fetchall()


class HostsVersion(NamedTuple):
    """Which hosts there are, and all about them that does not change while they only send: as a number and a hash."""

    n_hosts: int
    hash: str


async def read_hosts_version(session: AsyncSession) -> HostsVersion:
    """Return the version of the list: another one after a host came, left, or got other tags. 15 ms for ten thousand hosts."""
    n_hosts, own_hash = (await session.execute(text(VERSION))).one()
    return HostsVersion(n_hosts, own_hash)


class _Totals(NamedTuple):
    """Sums over all streams of a host; `n_recorded` are imported files, which do not count in `n_live` and `last_received_at`.

    `stats`: the names of the stats that they have samples of, with spaces between, in any order and several times
    """

    n_streams: int
    n_recorded: int
    n_live: int
    n_rejected: int
    last_received_at: datetime | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    stats: str


NO_STREAMS: Final = _Totals(0, 0, 0, 0, None, None, None, "")


async def _read_totals(session: AsyncSession, now: datetime, host_id: int | None) -> Mapping[int, _Totals]:
    arguments = {"live_from": now - LIVE_WITHIN, "host_id": host_id}
    rows = await _read_rows(session, TOTALS.format("" if host_id is None else OF_HOST), arguments)
    return {row[0]: _Totals._make(row[1:]) for row in rows}


# Names stay, and the list is made again and again.
_sort_key = lru_cache(MAX_SORTED)(natural_key)


@lru_cache(MAX_STAT_LISTS)
def _sort_stats(stats: str) -> tuple[str, ...]:
    return tuple(sorted(set(stats.split())))


async def read_newest(session: AsyncSession, host_id: int) -> set[int]:
    """Return the newest stream of each spec of a host: the agent ended the ones before it, or they ended."""
    newest = select(Stream.id).where(Stream.host_id == host_id, ~Stream.is_finished).ext(distinct_on(Stream.spec))
    return set(await session.scalars(newest.order_by(Stream.spec, Stream.created_at.desc(), Stream.id.desc())))


async def _read_patient(session: AsyncSession, now: datetime, host_id: int | None) -> Mapping[int, list[StreamState]]:
    """Return the states of streams without data for 30 s that are not silent because they report at a longer interval, by host."""
    of_host = [] if host_id is None else [Stream.host_id == host_id]
    oldest = now - timedelta(seconds=MAX_INTERVAL_S) - LATE_WITHIN - GRACE
    recent = [~Stream.is_finished, Stream.last_received_at > oldest, *of_host]
    # A fleet has few commands, and many streams of each: those that tools left behind when they were last started again, too.
    commands = await session.scalars(select(Stream.command).where(*recent).distinct())
    limits = {command: _state_limits(now, stream_interval(command)) for command in commands}
    if not limits:
        return {}
    later = aliased(Stream)
    # Only for streams that have been silent for this long and no longer it matters whether another one continued.
    oldest = min(late_from for _, late_from in limits.values())
    has_successor = exists().where(
        later.host_id == Stream.host_id,
        later.spec == Stream.spec,
        ~later.is_finished,
        tuple_(later.created_at, later.id) > tuple_(Stream.created_at, Stream.id),
    )
    asked = select(Stream.host_id, Stream.command, Stream.last_received_at).where(
        ~Stream.is_finished,
        Stream.last_received_at > oldest,
        Stream.last_received_at <= now - LIVE_WITHIN,
        ~has_successor,
        *of_host,
    )
    states: dict[int, list[StreamState]] = {}
    for own_id, command, last_received_at in await session.execute(asked):
        live_from, late_from = limits[command]
        assert last_received_at is not None, "it is within the window"
        if last_received_at > late_from:
            states.setdefault(own_id, []).append(StreamState.LIVE if last_received_at > live_from else StreamState.LATE)
    return states


def to_state(
    last_received_at: datetime | None, now: datetime, *, is_recorded: bool = False, interval_s: float | None = None
) -> StreamState:
    """Return the state of a stream that last sent at `last_received_at`, by the server's clock, and reports every `interval_s`."""
    if is_recorded:
        return StreamState.RECORDED
    live_from, late_from = _state_limits(now, interval_s)
    if last_received_at is None or last_received_at <= late_from:
        return StreamState.SILENT
    return StreamState.LIVE if last_received_at > live_from else StreamState.LATE


def _state_limits(now: datetime, interval_s: float | None) -> tuple[datetime, datetime]:
    """Return the instants after which a stream that reports every `interval_s` must have sent to be live, and to be late."""
    longer = timedelta(0)
    if interval_s is not None and interval_s <= MAX_INTERVAL_S:
        longer = max(longer, timedelta(seconds=interval_s) + GRACE - LIVE_WITHIN)
    return now - LIVE_WITHIN - longer, now - LATE_WITHIN - longer


def _state_of(totals: _Totals, patient: Sequence[StreamState], now: datetime) -> StreamState:
    """Return the best state: of the host's live streams, of those that report at long intervals, and of the last one heard of."""
    if totals.n_live:
        return StreamState.LIVE
    is_recorded = 0 < totals.n_streams == totals.n_recorded
    return min([*patient, to_state(totals.last_received_at, now, is_recorded=is_recorded)], key=STATES.index)


def _to_host(host: _HostRow, totals: _Totals, rejects: RejectCounts, patient: Sequence[StreamState], now: datetime) -> HostInfo:
    return HostInfo(
        name=host.name,
        os=host.os,
        agent_version=host.agent_version,
        created_at=host.created_at,
        last_seen_at=host.last_seen_at,
        first_sample_at=totals.first_sample_at,
        last_sample_at=totals.last_sample_at,
        clock_offset_s=host.clock_offset_s,
        state=_state_of(totals, patient, now),
        n_streams_live=totals.n_live + patient.count(StreamState.LIVE),
        n_streams=totals.n_streams,
        n_rejected=totals.n_rejected,
        n_rejected_last_hour=rejects.last_hour,
        n_rejected_hour_before=rejects.hour_before,
        has_reject_rise=rejects.is_rise,
        stats=list(_sort_stats(totals.stats)),
        tags=sort_tags([*host.tags, *host.agent_tags]),
        agent_tags=sort_tags(host.agent_tags),
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
