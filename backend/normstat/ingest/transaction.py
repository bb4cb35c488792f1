"""Requests of several agents -> rows, in one transaction: raw bytes, samples, rejected lines, accounts and offsets, or nothing.

A fleet sends many small requests. They are taken together: one statement reads or writes a kind of row for all of them, and one
commit waits for the disk. A request that cannot be taken is refused by itself; the others are not kept from the disk by it.
"""

import asyncio
import itertools
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import psycopg
import structlog

from normstat import metrics
from normstat.errors import BadRequest, NormstatError, NotAllowed, NotAuthenticated, TooLarge, TooManyRequests, shorten
from normstat.ingest.delivery import Delivery
from normstat.ingest.limits import RETRY_AFTER_S, HourlyCount, RefusalLog
from normstat.ingest.protocol import Ack, Frame, FrameKind
from normstat.ingest.reparse.recover_state import NO_VERSION, next_spec_version, read_state
from normstat.ingest.stream_samples import BEHIND_BYTES, NOTHING_REFUSED, Taken, show_unseen
from normstat.ingest_limits import IngestLimits
from normstat.rollups.rollup_marks import hours_of, mark_changed
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.gap import state_after_gap
from normstat.stats.records import SampleBlock, Timing
from normstat.storage import chunks, ingest_rows, samples, stream_rows
from normstat.storage.ingest_rows import OpenHost, OpenStream
from normstat.storage.instance_memory import InstanceMemory, Key, Learned
from normstat.storage.profile_marks import Changed, mark_profiles
from normstat.storage.session import WriteSession, driver_of
from normstat.storage.stat_tables import StatMemory, TablePlan, WantedTable
from normstat.storage.stream_rows import StreamName, clean_text
from normstat.storage.user_specs import refresh_catalogue
from normstat.window import from_us

log = structlog.get_logger()

# Reading this much takes a few hundredths of a second; more leaves the event loop.
THREAD_BYTES: Final = 128 * 1024
# Another process may have the host in its transaction; a table may be being widened, or a part of it packed. A batch gives up
# early, so that its other requests need not wait: it is taken apart then.
LOCK_TIMEOUT_S: Final = 20
BATCH_LOCK_TIMEOUT_S: Final = 2
STATEMENT_TIMEOUT_S: Final = 60
MAX_TEXT_LENGTH: Final = 1000
HOST_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}")


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """Whose token came with the request: `host_id` is the host that it is bound to, None for any host.

    With `is_remembered` the token was looked up some time ago: whether it is still valid is asked again.
    """

    host_id: int | None
    token_id: int
    is_remembered: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """What an import says of a stream that was recorded earlier.

    `timing` is kept with a new stream. With `is_final` nothing follows these frames: a last line without a newline is read. With
    `follows_cut` the bytes before these ended in a line without a newline, whose rest comes first.
    """

    timing: Timing
    is_final: bool = False
    follows_cut: bool = False


@dataclass(slots=True)
class Job:
    """A request. `host_time` is the host's clock at sending, in seconds since the epoch; `recording` is there for imports.

    What becomes of it: `acks`, or the `error` with which it was refused.
    """

    agent: AgentIdentity
    host_name: str
    os: str
    agent_version: str
    host_time: float | None
    frames: Sequence[Frame]
    recording: Recording | None = None
    acks: list[Ack] = field(default_factory=list)
    error: NormstatError | None = None

    @property
    def n_bytes(self) -> int:
        """How much there is to read."""
        return sum(len(frame.data) for frame in self.frames)

    def require_host_name(self) -> None:
        """Nothing, when the name can be a host's.

        Raises: BadRequest
        """
        if HOST_NAME.fullmatch(self.host_name) is None:
            raise BadRequest(
                f"Normstat-Host is {shorten(self.host_name)}; a host's name has up to 200 of the characters A-Z a-z 0-9 . _ : - "
                "and begins with a letter, a digit or _"
            )


class TablesLacking(Exception):
    """Tables or columns must be made before the samples can be stored; raised before anything was written."""

    def __init__(self, wanted: list[WantedTable]) -> None:
        super().__init__()
        self.wanted = wanted


class HostsLacking(Exception):
    """Hosts must be made first, in a transaction of their own; raised before anything was written.

    `tokens` are those of the agents that name them, one for each of the hosts that an agent makes.
    """

    def __init__(self, names: list[str], tokens: list[int]) -> None:
        super().__init__()
        self.names = names
        self.tokens = tokens


class TooManyInstances(Exception):
    """Some rows are of instances that are too many: the batch is to be read again without them. Nothing is written."""

    def __init__(self, refused: Mapping[tuple[int, str], frozenset[str]]) -> None:
        super().__init__()
        self.refused = refused


@dataclass(slots=True)
class Memory:
    """What a process remembers of the database between batches."""

    stats: StatMemory = field(default_factory=StatMemory)
    instances: InstanceMemory = field(default_factory=InstanceMemory)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    limits: IngestLimits = field(default_factory=IngestLimits)
    new_hosts: HourlyCount[int] = field(default_factory=HourlyCount)
    new_streams: HourlyCount[int] = field(default_factory=HourlyCount)
    refusals: RefusalLog = field(default_factory=RefusalLog)

    def clear(self) -> None:
        """Forget it: the database may be another one, or an older state of it. What was counted against the limits stays."""
        self.stats.clear()
        self.instances.clear()


class Batch:
    """Jobs of different hosts within one transaction.

    Rows of instances in `refused`, by host and stat, become rejected lines.
    """

    def __init__(
        self,
        session: WriteSession,
        memory: Memory,
        jobs: Sequence[Job],
        refused: Mapping[tuple[int, str], frozenset[str]] | None = None,
    ) -> None:
        self._session = session
        self._memory = memory
        self._jobs = jobs
        self._refused: dict[int, dict[str, frozenset[str]]] = {}
        for (host_id, stat), names in (refused or {}).items():
            self._refused.setdefault(host_id, {})[stat] = names
        self._hosts: dict[str, OpenHost] = {}
        self._deliveries: dict[tuple[int, StreamName], Delivery] = {}
        self._new_streams: list[OpenStream] = []
        self._new_reasons: list[tuple[OpenStream, str]] = []
        self._learned: Learned | None = None
        self._n_new_streams: dict[int, int] = {}

    async def take(self) -> None:
        """Read everything, then write everything: while it writes it waits for nobody's new tables.

        Raises: TablesLacking, HostsLacking before anything was written; TooManyInstances
        """
        connection = await driver_of(self._session)
        lock_s = LOCK_TIMEOUT_S if len(self._jobs) == 1 else BATCH_LOCK_TIMEOUT_S
        await stream_rows.set_time_limits(self._session, lock_s=lock_s, statement_s=STATEMENT_TIMEOUT_S)
        await self._lock_hosts(connection)
        if not any(job.error is None for job in self._jobs):
            return
        await refresh_catalogue(self._session)
        await self._open_streams(connection)
        if not self._deliveries:
            return
        specs = {delivery.spec.name: delivery.spec for delivery in self._deliveries.values() if delivery.spec is not None}
        stored = await self._memory.stats.read(self._session, [stat.name for spec in specs.values() for stat in spec.stats])
        plan = TablePlan(specs.values(), stored)
        if sum(delivery.n_bytes for delivery in self._deliveries.values()) > THREAD_BYTES:
            # One at a time: two threads that read would only take the interpreter from each other.
            async with self._memory.reading:
                await asyncio.to_thread(self._read, plan)
        else:
            self._read(plan)
        wanted = plan.lacking(block.stat.name for delivery in self._deliveries.values() for block in delivery.blocks)
        if wanted:
            raise TablesLacking(wanted)
        await self._write(connection, plan)

    def remember(self) -> None:
        """Keep what was learned, and count what is new; after the commit."""
        if self._learned is not None:
            self._memory.instances.remember(self._learned)
        for host_id, n_streams in self._n_new_streams.items():
            self._memory.new_streams.add(host_id, n_streams)

    def count(self) -> None:
        """Count for the metrics what was committed."""
        for delivery in self._deliveries.values():
            for taken in delivery.taken:
                metrics.INGEST_BYTES.inc(taken.end - taken.start)
                for kind, n_lines in taken.n_lines.items():
                    metrics.INGEST_LINES.labels(kind.value).inc(n_lines)
                for line in taken.rejected:
                    metrics.INGEST_REJECTED.labels(metrics.classify_reason(line.reason)).inc()
            metrics.INGEST_ROWS.inc(sum(len(block.time_us) for block in delivery.blocks))

    def log_what_is_new(self) -> None:
        """One event for each stream, each kind of trouble in it and each gap that was not there before; after the commit."""
        names = {host.id: host.name for host in self._hosts.values()}
        for stream in self._new_streams:
            is_known = self._deliveries[stream.host_id, (stream.spec, stream.key)].spec is not None
            (log.info if is_known else log.warning)(
                "stream_opened" if is_known else "spec_unknown",
                host=names[stream.host_id],
                spec=stream.spec,
                key=stream.key,
                stream=stream.id,
            )
        for stream, reason in self._new_reasons:
            log.warning(
                "lines_rejected",
                host=names[stream.host_id],
                spec=stream.spec,
                key=stream.key,
                stream=stream.id,
                reason=reason[:200],
            )
        for delivery in self._deliveries.values():
            for gap in delivery.gaps:
                log.warning(
                    "bytes_lost",
                    host=names[delivery.stream.host_id],
                    stream=delivery.stream.id,
                    start=gap.start,
                    n_bytes=gap.end - gap.start,
                )

    async def _lock_hosts(self, connection: psycopg.AsyncConnection) -> None:
        remembered = [job.agent.token_id for job in self._jobs if job.agent.is_remembered]
        valid = await ingest_rows.find_valid_tokens(connection, remembered) if remembered else set()
        self._hosts = await ingest_rows.lock_hosts(connection, (job.host_name for job in self._jobs))
        lacking: list[Job] = []
        for job in self._jobs:
            host = self._hosts.get(job.host_name)
            if job.agent.is_remembered and job.agent.token_id not in valid:
                job.error = NotAuthenticated("This agent token is unknown or revoked; make a new one under /agent-tokens")
            elif job.agent.host_id is not None and (host is None or host.id != job.agent.host_id):
                name = shorten(job.host_name)
                job.error = NotAllowed(
                    f"This agent token is for another host, not for {name}; use that host's token, or one without a host"
                )
            elif host is None:
                lacking.append(job)
        if lacking:
            await self._limit_hosts(connection, lacking)
        made = [job for job in lacking if job.error is None]
        if made:
            raise HostsLacking([job.host_name for job in made], [job.agent.token_id for job in made if job.recording is None])

    async def _limit_hosts(self, connection: psycopg.AsyncConnection, lacking: Sequence[Job]) -> None:
        """Refuse those requests for now that would make too many hosts. Who imports is a person, and may."""
        limits, memory = self._memory.limits, self._memory
        n_left = limits.hosts - await ingest_rows.count_hosts(connection)
        n_made: Counter[int] = Counter()
        for job in lacking:
            if job.recording is not None:
                continue
            token_id = job.agent.token_id
            if n_left <= 0:
                memory.refusals.note("host_refused", token_id, host=job.host_name, token=token_id, reason="too many hosts in all")
                job.error = TooManyRequests(
                    f"This server takes {limits.hosts} hosts and has as many; delete hosts that are gone, or raise "
                    "NORMSTAT_INGEST_MAX_HOSTS; nothing was taken",
                    {"retry_after_s": RETRY_AFTER_S},
                )
            elif memory.new_hosts.count(token_id) + n_made[token_id] >= limits.new_hosts:
                memory.refusals.note("host_refused", token_id, host=job.host_name, token=token_id, reason="too many within an hour")
                job.error = TooManyRequests(
                    f"This token made {limits.new_hosts} new hosts within an hour, which is as many as it may "
                    "(NORMSTAT_INGEST_MAX_NEW_HOSTS); nothing was taken; send it again later",
                    {"retry_after_s": RETRY_AFTER_S},
                )
            else:
                n_left -= 1
                n_made[token_id] += 1

    async def _open_streams(self, connection: psycopg.AsyncConnection) -> None:
        names = {job.host_name: self._names_of(job) for job in self._jobs if job.error is None}
        known = await ingest_rows.find_streams(connection, itertools.chain.from_iterable(names.values()))
        # Who imports is a person, and may begin as many streams as there are files.
        of_agents = [job for job in self._jobs if job.error is None and job.recording is None]
        new = {job.host_name: own for job in of_agents if (own := names[job.host_name] - set(known))}
        if new:
            await self._limit_streams(connection, new)
        jobs = [job for job in self._jobs if job.error is None]
        wanted = itertools.chain.from_iterable(names[job.host_name] for job in jobs)
        found = await ingest_rows.open_streams(connection, wanted, known)
        for job in jobs:
            if job.host_name in new:
                self._n_new_streams[self._hosts[job.host_name].id] = len(new[job.host_name])
            host = self._hosts[job.host_name]
            for frame in job.frames:
                await self._open(job, frame, found[host.id, (frame.spec, frame.key)])

    def _names_of(self, job: Job) -> set[tuple[int, StreamName]]:
        host_id = self._hosts[job.host_name].id
        return {(host_id, (frame.spec, frame.key)) for frame in job.frames}

    async def _limit_streams(self, connection: psycopg.AsyncConnection, new: Mapping[str, set[tuple[int, StreamName]]]) -> None:
        """Refuse requests of agents that begin too many streams, and those that use a key again for another spec.

        `new` are the streams that are not there yet, by the name of their host.
        """
        specs = await ingest_rows.find_specs_of_keys(connection, itertools.chain.from_iterable(new.values()))
        limit = self._memory.limits.new_streams
        for job in self._jobs:
            own = new.get(job.host_name, set())
            for host_id, (spec, key) in sorted(own):
                if (host_id, key) in specs and job.error is None:
                    (before, *_) = sorted(specs[host_id, key])
                    job.error = BadRequest(
                        f"The stream key {shorten(key, 100)} belongs to {before} on this host and came as {spec}; a key belongs to "
                        "one spec for ever: use another one; nothing was taken",
                        {"key": key, "spec": before},
                    )
            if not own or job.error is not None:
                continue
            if len(own) > limit:
                job.error = TooLarge(
                    f"The request begins {len(own)} streams; a host begins at most {limit} in an hour; send less at once",
                    {"max_new_streams": limit},
                )
            elif self._memory.new_streams.count(self._hosts[job.host_name].id) + len(own) > limit:
                self._memory.refusals.note("streams_refused", job.host_name, host=job.host_name, n_streams=len(own))
                job.error = TooManyRequests(
                    f"This host began {limit} streams within an hour, which is as many as it may "
                    "(NORMSTAT_INGEST_MAX_NEW_STREAMS); nothing was taken; send it again later",
                    {"retry_after_s": RETRY_AFTER_S},
                )

    async def _open(self, job: Job, frame: Frame, stream: OpenStream) -> None:
        name = (stream.host_id, (stream.spec, stream.key))
        delivery = self._deliveries.get(name)
        if delivery is None:
            spec = load_catalogue().specs.get(frame.spec)
            if frame.kind is FrameKind.STREAM and frame.text and not stream.command:
                stream.command = clean_text(frame.text)[:MAX_TEXT_LENGTH]
            recording = job.recording
            if recording is not None and stream.last_received_at is None:
                _set_timing(stream, recording.timing)
            state = await read_state(self._session, stream, spec)
            if recording is not None and recording.follows_cut:
                state = state_after_gap(state)
            is_final = recording is not None and recording.is_final
            delivery = Delivery(stream, spec, state, stream.acked_offset, is_final=is_final)
            self._deliveries[name] = delivery
            if stream.last_received_at is None:
                self._new_streams.append(stream)
        delivery.frames.append(frame)

    def _read(self, plan: TablePlan) -> None:
        for delivery in self._deliveries.values():
            delivery.read(plan, self._refused.get(delivery.stream.host_id, NOTHING_REFUSED))

    async def _write(self, connection: psycopg.AsyncConnection, plan: TablePlan) -> None:
        # That of the database: what it sets by itself in this transaction has the same.
        now = next(iter(self._hosts.values())).now
        await self._write_samples(connection, plan)
        await self._write_deliveries(connection, now)
        latest: dict[tuple[str, str], datetime] = {}
        for job in self._jobs:
            if job.error is None:
                host = self._hosts[job.host_name]
                _update_host(host, job)
                own = {(frame.spec, frame.key): self._deliveries[host.id, (frame.spec, frame.key)] for frame in job.frames}
                job.acks = [Ack(key, delivery.end) for (_, key), delivery in own.items()]
                for delivery in own.values():
                    last = _note_times(delivery)
                    if last is not None:
                        news = (host.name, delivery.stream.spec)
                        latest[news] = max(latest.get(news, last), last)
        await ingest_rows.save_streams(connection, [delivery.stream for delivery in self._deliveries.values()])
        await ingest_rows.save_hosts(connection, [self._hosts[job.host_name] for job in self._jobs if job.error is None])
        await ingest_rows.announce_all(connection, latest)

    async def _write_samples(self, connection: psycopg.AsyncConnection, plan: TablePlan) -> None:
        by_key: dict[Key, list[tuple[int, SampleBlock]]] = {}
        for delivery in self._deliveries.values():
            for block in delivery.blocks:
                key = (delivery.stream.host_id, plan.require(block.stat.name).id)
                by_key.setdefault(key, []).append((delivery.stream.id, block))
        spans = {key: samples.instance_spans([block for _, block in blocks]) for key, blocks in by_key.items()}
        epochs = {host.id: host.instance_epoch for host in self._hosts.values()}
        max_new = self._memory.limits.new_instances
        learned = self._learned = await self._memory.instances.see(connection, epochs, spans, max_new=max_new)
        if learned.refused:
            stats = {plan.require(block.stat.name).id: block.stat.name for blocks in by_key.values() for _, block in blocks}
            self._refuse_instances({(host_id, stats[stat_id]): names for (host_id, stat_id), names in learned.refused.items()})
        await self._mark_changed(connection, spans, by_key)
        placed: dict[str, list[tuple[SampleBlock, samples.Place]]] = {}
        for key, blocks in by_key.items():
            ids = learned.ids(key)
            for stream_id, block in blocks:
                placed.setdefault(block.stat.name, []).append((block, samples.Place(key[0], stream_id, ids)))
        for name, parts in placed.items():
            await samples.copy_blocks(connection, plan.require(name), parts)

    def _refuse_instances(self, refused: Mapping[tuple[int, str], frozenset[str]]) -> None:
        """Raise: TooManyInstances, always"""
        hosts = {host.id: host.name for host in self._hosts.values()}
        for (host_id, stat), names in refused.items():
            host = hosts[host_id]
            self._memory.refusals.note("instances_refused", (host, stat), host=host, stat=stat, n_instances=len(names))
        raise TooManyInstances(refused)

    async def _mark_changed(
        self,
        connection: psycopg.AsyncConnection,
        spans: Mapping[Key, Mapping[str, tuple[int, int]]],
        by_key: Mapping[Key, Sequence[tuple[int, SampleBlock]]],
    ) -> None:
        """Tell that hours which are rolled up already, or in profiles, got more samples."""
        hosts = {host.id: host for host in self._hosts.values()}
        for (host_id, stat_id), by_name in spans.items():
            rolled_until, profiled_until = hosts[host_id].rolled_until, hosts[host_id].profiled_until
            if rolled_until is not None or profiled_until is not None:
                first = from_us(min(first for first, _ in by_name.values()))
                last = from_us(max(last for _, last in by_name.values()))
                changed = Changed(host_id, stat_id, first, last)
                if rolled_until is not None and first < rolled_until:
                    hours = hours_of(block.time_us for _, block in by_key[host_id, stat_id])
                    await mark_changed(connection, host_id=host_id, stat_id=stat_id, hours_us=hours, rolled_until=rolled_until)
                await mark_profiles(connection, changed, profiled_until)

    async def _write_deliveries(self, connection: psycopg.AsyncConnection, now: datetime) -> None:
        kept: list[tuple[int, chunks.RawChunk]] = []
        for delivery in self._deliveries.values():
            stream = delivery.stream
            stream.last_received_at = now
            for taken in delivery.taken:
                if taken.n_unseen:
                    await self._look_up_unseen(stream, taken)
                kept += [(stream.id, chunk) for chunk in taken.chunks]
                new_reasons = await stream_rows.keep_rejected(self._session, stream.id, taken.rejected)
                self._new_reasons += [(stream, reason) for reason in sorted(new_reasons)]
                _count(stream, taken)
            await stream_rows.add_gaps(self._session, stream.id, delivery.gaps)
            stream.n_gap_bytes += sum(gap.end - gap.start for gap in delivery.gaps)
            if delivery.taken or delivery.gaps:
                version = delivery.spec.version if delivery.spec else NO_VERSION
                stream.spec_version, stream.reader_version = next_spec_version(stream, version), version
                stream.acked_offset, stream.reader_state = delivery.end, delivery.state
                # Bytes that were there already end nothing, and begin nothing again.
                stream.is_finished = delivery.is_final
        await chunks.copy_chunks(connection, kept, now)

    async def _look_up_unseen(self, stream: OpenStream, taken: Taken) -> None:
        """Fill in the rejected lines that came in an earlier request, so that they do not depend on how the stream was cut."""
        # Of a sample that began further back, with gigabytes of other lines since, the line stays without its text.
        first = max(min(line.offset for line in taken.rejected), taken.start - BEHIND_BYTES)
        text = b""
        async for start, data in chunks.read_chunks(self._session, stream.id, start=first):
            if start > first + len(text):
                break
            text += data[max(0, first - start) :]
        show_unseen(taken, first, text)


def _set_timing(stream: OpenStream, timing: Timing) -> None:
    stream.time_zone, stream.first_day = timing.zone, timing.date
    stream.start_at = None if timing.start_us is None else from_us(timing.start_us)
    stream.interval_s = None if timing.interval_us is None else timing.interval_us / ingest_rows.MICRO


def _update_host(host: OpenHost, job: Job) -> None:
    host.is_live = job.recording is None
    host.os = clean_text(job.os)[:MAX_TEXT_LENGTH] or host.os
    host.agent_version = clean_text(job.agent_version)[:MAX_TEXT_LENGTH] or host.agent_version
    if job.host_time is not None:
        host.clock_offset_s = job.host_time - time.time()


def _count(stream: OpenStream, taken: Taken) -> None:
    for kind, n_lines in taken.n_lines.items():
        stream.n_lines[kind] += n_lines
    for kind, n_bytes in taken.n_bytes.items():
        stream.bytes_by_kind[kind.value] = stream.bytes_by_kind.get(kind.value, 0) + n_bytes


def _note_times(delivery: Delivery) -> datetime | None:
    """Widen the stream's first and last sample; give the last of these samples, None when there are none."""
    stream = delivery.stream
    blocks = list(delivery.blocks)
    if not blocks:
        return None
    first = from_us(min(int(block.time_us.min()) for block in blocks))
    last = from_us(max(int(block.time_us.max()) for block in blocks))
    stream.first_sample_at = min(stream.first_sample_at or first, first)
    stream.last_sample_at = max(stream.last_sample_at or last, last)
    names = sorted({*stream.stat_names, *(block.stat.name for block in blocks)})
    stream.has_new_stats = stream.has_new_stats or names != stream.stat_names
    stream.stat_names = names
    return last
