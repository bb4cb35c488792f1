"""Store requests of several agents in one transaction: raw bytes, samples, rejected lines, accounts and offsets, all or none.

A fleet sends many small requests. They are stored together: one statement reads or writes a kind of row for all of them, and one
commit waits for the disk. One bad request is rejected without failing the batch.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import psycopg
import structlog

from normstat.db.session import WriteSession, driver_of
from normstat.errors import BadRequest, NormstatError, NotAllowed, NotAuthenticated, TooLarge, TooManyRequests, shorten
from normstat.ingest.delivery import Delivery
from normstat.ingest.limits import HourlyCount, RefusalLog
from normstat.ingest.line_events import to_loss, to_recorded_events
from normstat.ingest.protocol import Ack, Frame, FrameKind
from normstat.ingest.reparse.recover_state import NO_VERSION, next_spec_version, read_state
from normstat.ingest.stream_samples import LOOKBACK_BYTES, NOTHING_REFUSED, StreamResult, fill_unseen_text
from normstat.records import event_rows
from normstat.records.host_tag_rows import read_tags
from normstat.records.loss_events import StreamGap, note_losses
from normstat.runtime import metrics
from normstat.runtime.input_limits import HOST_NAME, RETRY_AFTER_S, IngestLimits, too_many_hosts
from normstat.runtime.memory import CollectorPauses
from normstat.samples import chunks, ingest_rows, samples, stream_rows
from normstat.samples.ingest_rows import OpenHost, OpenStream, SavedStream
from normstat.samples.instance_cache import InstanceCache, Key, SeenInstances
from normstat.samples.profile_marks import Changed, mark_profiles
from normstat.samples.rollups.rollup_marks import hours_of, mark_changed
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.samples.stat_tables import RequiredTable, StatTableCache
from normstat.samples.stream_cache import StreamCache
from normstat.samples.stream_rows import StreamName, clean_text
from normstat.samples.table_plan import TablePlan
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.readers import share_texts
from normstat.stats.records import LineKind, SampleBlock, Timing
from normstat.window import from_us

log = structlog.get_logger()

# Reading this much takes a few hundredths of a second; more leaves the event loop. A thread that reads small pieces and the event
# loop take turns every 5 ms: with 140 posts a second, their p99 was 3.5 s instead of 0.5.
THREAD_BYTES: Final = 768 * 1024
# Another process may hold the host's lock; a table may be altered, or one of its chunks compressed. A batch gives up early, so that
# its other requests need not wait: they are then stored one by one.
LOCK_TIMEOUT_S: Final = 20
BATCH_LOCK_TIMEOUT_S: Final = 2
STATEMENT_TIMEOUT_S: Final = 60
MAX_TEXT_LENGTH: Final = 1000


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """The token that came with the request: `host_id` is the host that it is bound to, None for any host.

    With `is_remembered` the token comes from a cache, and its validity is checked again.
    """

    host_id: int | None
    token_id: int
    is_remembered: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """Facts of an import about a stream that was recorded earlier.

    `timing` is stored with a new stream. With `is_final` these frames are the last: a last line without a newline is read. With
    `follows_cut` the bytes before these ended in a line without a newline, whose rest comes first.
    """

    timing: Timing
    is_final: bool = False
    follows_cut: bool = False


@dataclass(slots=True)
class IngestRequest:
    """A request. `host_time` is the host's clock at sending, in seconds since the epoch; `recording` is set for imports; `tags` are
    those that the agent's configuration gives the host, separated by commas; `machine` tells machines apart, empty where the agent
    does not.

    Results: `acks`, or the `error` with which it was refused.
    """

    agent: AgentIdentity
    host_name: str
    os: str
    agent_version: str
    host_time: float | None
    frames: Sequence[Frame]
    recording: Recording | None = None
    tags: str = ""
    machine: str = ""
    acks: list[Ack] = field(default_factory=list)
    error: NormstatError | None = None

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes to read."""
        return sum(len(frame.data) for frame in self.frames)

    def require_host_name(self) -> None:
        """Validate the host name.

        Raises: BadRequest
        """
        if HOST_NAME.fullmatch(self.host_name) is None:
            raise BadRequest(
                f"Invalid Normstat-Host {shorten(self.host_name)}; a host name has up to 200 of the characters A-Z a-z 0-9 . _ : - "
                "and begins with a letter, a digit or _"
            )


ANOTHER_MACHINE: Final = (
    "Another machine sends as {host}. Give this one a name (normstat-agent --host) and a token of its own. If it takes the place "
    "of the other, it may send ten minutes after the other sent last"
)


class MissingTables(Exception):
    """Tables or columns must be created before the samples can be stored; raised before anything was written."""

    def __init__(self, wanted: list[RequiredTable]) -> None:
        super().__init__()
        self.wanted = wanted


class MissingHosts(Exception):
    """Hosts must be created first, in a transaction of their own; raised before anything was written.

    `tokens` are those of the agents that name them, one for each of the hosts that an agent creates.
    """

    def __init__(self, names: list[str], tokens: list[int]) -> None:
        super().__init__()
        self.names = names
        self.tokens = tokens


class TooManyInstances(Exception):
    """Some rows are of instances above the limit: the batch must be read again without them. Nothing is written."""

    def __init__(self, refused: Mapping[tuple[int, str], frozenset[str]]) -> None:
        super().__init__()
        self.refused = refused


@dataclass(slots=True)
class IngestCache:
    """The state of the database that a process caches between batches."""

    stats: StatTableCache = field(default_factory=StatTableCache)
    instances: InstanceCache = field(default_factory=InstanceCache)
    streams: StreamCache = field(default_factory=StreamCache)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    pauses: CollectorPauses = field(default_factory=CollectorPauses)
    limits: IngestLimits = field(default_factory=IngestLimits)
    new_hosts: HourlyCount[int] = field(default_factory=HourlyCount)
    new_streams: HourlyCount[int] = field(default_factory=HourlyCount)
    refusals: RefusalLog = field(default_factory=RefusalLog)

    def clear(self) -> None:
        """Clear the cache: the database may be another one, or an older state of it. Counts for the limits stay."""
        self.stats.clear()
        self.instances.clear()
        self.streams.clear()


class Batch:
    """Requests of different hosts within one transaction.

    Rows of instances in `refused`, by host and stat, become rejected lines.
    """

    def __init__(
        self,
        session: WriteSession,
        memory: IngestCache,
        jobs: Sequence[IngestRequest],
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
        self._learned: SeenInstances | None = None
        self._saved: list[SavedStream] = []
        self._n_new_streams: dict[int, int] = {}

    async def store(self) -> None:
        """Read everything, then write everything, so that writing never waits for tables to be created.

        Raises: MissingTables, MissingHosts before anything was written; TooManyInstances
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
            # One at a time: two reading threads would only compete for the interpreter lock.
            async with self._memory.reading:
                await asyncio.to_thread(self._read, plan)
        else:
            self._read(plan)
        wanted = plan.lacking(block.stat.name for delivery in self._deliveries.values() for block in delivery.blocks)
        if wanted:
            raise MissingTables(wanted)
        await self._write(connection, plan)

    def remember(self) -> None:
        """Update the cache and the counts for the limits; after the commit."""
        if self._learned is not None:
            self._memory.instances.remember(self._learned)
        self._memory.streams.keep(self._saved)
        for host_id, n_streams in self._n_new_streams.items():
            self._memory.new_streams.add(host_id, n_streams)

    def count(self) -> None:
        """Count for the metrics what was committed."""
        n_bytes = n_rows = 0
        lines: Counter[LineKind] = Counter()
        for delivery in self._deliveries.values():
            for result in delivery.result:
                n_bytes += result.end - result.start
                # A line that turns out to be of another kind is taken back from the first; counters only grow.
                lines.update({kind: n_lines for kind, n_lines in result.n_lines.items() if n_lines > 0})
                for line in result.rejected:
                    metrics.INGEST_REJECTED.labels(metrics.classify_reason(line.reason)).inc()
            n_rows += sum(len(block.time_us) for block in delivery.blocks)
            if delivery.is_live:
                metrics.INGEST_LOST_BYTES.inc(sum(gap.end - gap.start for gap in delivery.gaps))
        metrics.INGEST_BYTES.inc(n_bytes)
        metrics.INGEST_ROWS.inc(n_rows)
        for kind, n_lines in lines.items():
            metrics.INGEST_LINES.labels(kind.value).inc(n_lines)

    def log_news(self) -> None:
        """Log one event for each new stream, each new kind of problem in a stream and each new gap; after the commit."""
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
        lacking: list[IngestRequest] = []
        for job in self._jobs:
            host = self._hosts.get(job.host_name)
            if job.agent.is_remembered and job.agent.token_id not in valid:
                job.error = NotAuthenticated("This agent token is unknown or revoked; create a new one under /agent-tokens")
            elif job.agent.host_id is not None and (host is None or host.id != job.agent.host_id):
                name = shorten(job.host_name)
                job.error = NotAllowed(
                    f"This agent token is bound to another host, not {name}; use that host's token, or one without a host"
                )
            elif host is None:
                lacking.append(job)
            elif host.is_taken_from(job.machine):
                job.error = NotAllowed(ANOTHER_MACHINE.format(host=shorten(job.host_name)))
                self._memory.refusals.note("machine_refused", host.name, host=host.name, token=job.agent.token_id)
                await ingest_rows.note_other_machine(connection, host)
            elif job.machine and job.recording is None:
                # At once: the next request of the batch may be of another machine.
                host.machine, host.machine_at = job.machine, host.now
        if lacking:
            await self._limit_hosts(connection, lacking)
        made = [job for job in lacking if job.error is None]
        if made:
            raise MissingHosts([job.host_name for job in made], [job.agent.token_id for job in made if job.recording is None])

    async def _limit_hosts(self, connection: psycopg.AsyncConnection, lacking: Sequence[IngestRequest]) -> None:
        """Count the requests that create a host, and refuse those that would create too many. Imports are exempt: people start
        them.
        """
        limits, memory = self._memory.limits, self._memory
        n_left = limits.hosts - await ingest_rows.count_hosts(connection)
        for job in lacking:
            if job.recording is not None:
                continue
            token_id = job.agent.token_id
            if n_left <= 0:
                memory.refusals.note("host_refused", token_id, host=job.host_name, token=token_id, reason="too many hosts in all")
                job.error = too_many_hosts(limits.hosts)
            elif memory.new_hosts.count(token_id) >= limits.new_hosts:
                memory.refusals.note("host_refused", token_id, host=job.host_name, token=token_id, reason="too many within an hour")
                job.error = TooManyRequests(
                    f"This token has created {limits.new_hosts} hosts within an hour, the limit "
                    "(NORMSTAT_INGEST_MAX_NEW_HOSTS); nothing was stored; send it again later",
                    {"retry_after_s": RETRY_AFTER_S},
                )
            else:
                n_left -= 1
                # At once: another batch may look before these hosts are there.
                memory.new_hosts.add(token_id, 1)

    async def _open_streams(self, connection: psycopg.AsyncConnection) -> None:
        names = {job.host_name: self._names_of(job) for job in self._jobs if job.error is None}
        places = set(itertools.chain.from_iterable(names.values()))
        known = await self._memory.streams.take(connection, places)
        if len(known) < len(places):
            known |= await ingest_rows.find_streams(connection, places - known.keys())
        # Imports are exempt: they may begin as many streams as there are files.
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

    def _names_of(self, job: IngestRequest) -> set[tuple[int, StreamName]]:
        host_id = self._hosts[job.host_name].id
        return {(host_id, (frame.spec, frame.key)) for frame in job.frames}

    async def _limit_streams(self, connection: psycopg.AsyncConnection, new: Mapping[str, set[tuple[int, StreamName]]]) -> None:
        """Refuse requests of agents that begin too many streams, and those that reuse a key for another spec.

        `new` are the streams that do not exist yet, by the name of their host.
        """
        specs = await ingest_rows.find_specs_of_keys(connection, itertools.chain.from_iterable(new.values()))
        limit = self._memory.limits.new_streams
        for job in self._jobs:
            own = new.get(job.host_name, set())
            for host_id, (spec, key) in sorted(own):
                if (host_id, key) in specs and job.error is None:
                    (before, *_) = sorted(specs[host_id, key])
                    job.error = BadRequest(
                        f"The stream key {shorten(key, 100)} belongs to {before} on this host and was sent for {spec}; a key "
                        "belongs to one spec for ever: use another key; nothing was stored",
                        {"key": key, "spec": before},
                    )
            if not own or job.error is not None:
                continue
            if len(own) > limit:
                job.error = TooLarge(
                    f"The request begins {len(own)} streams; the limit is {limit} per host and hour; send less at once",
                    {"max_new_streams": limit},
                )
            elif self._memory.new_streams.count(self._hosts[job.host_name].id) + len(own) > limit:
                self._memory.refusals.note("streams_refused", job.host_name, host=job.host_name, n_streams=len(own))
                job.error = TooManyRequests(
                    f"This host has begun {limit} streams within an hour, the limit "
                    "(NORMSTAT_INGEST_MAX_NEW_STREAMS); nothing was stored; send it again later",
                    {"retry_after_s": RETRY_AFTER_S},
                )

    async def _open(self, job: IngestRequest, frame: Frame, stream: OpenStream) -> None:
        name = (stream.host_id, (stream.spec, stream.key))
        delivery = self._deliveries.get(name)
        if delivery is None:
            spec = load_catalogue().specs.get(frame.spec)
            if frame.kind is not FrameKind.GAP and frame.text and not stream.command:
                stream.command = clean_text(frame.text)[:MAX_TEXT_LENGTH]
            recording = job.recording
            if recording is not None and stream.last_received_at is None:
                _set_timing(stream, recording.timing)
            state = await read_state(self._session, stream, spec)
            if recording is not None and recording.follows_cut:
                state = state_after_gap(state)
            is_final = recording is not None and recording.is_final
            delivery = Delivery(stream, spec, state, stream.acked_offset, is_final=is_final, is_live=recording is None)
            self._deliveries[name] = delivery
            if stream.last_received_at is None:
                self._new_streams.append(stream)
        delivery.frames.append(frame)

    def _read(self, plan: TablePlan) -> None:
        """Read the streams, small pieces of like ones together."""
        deliveries = list(self._deliveries.values())
        pieces = [(one, one.spec, data) for one in deliveries if one.spec is not None and (data := one.only_data)]
        found = share_texts([(spec, one.state, data) for one, spec, data in pieces])
        windows = {id(one): window for (one, _, _), window in zip(pieces, found, strict=True)}
        for delivery in deliveries:
            delivery.read(plan, self._refused.get(delivery.stream.host_id, NOTHING_REFUSED), windows.get(id(delivery)))

    async def _write(self, connection: psycopg.AsyncConnection, plan: TablePlan) -> None:
        # The database's clock: what it sets itself in this transaction has the same time.
        now = next(iter(self._hosts.values())).now
        await self._write_samples(connection, plan)
        await self._write_deliveries(connection, now)
        found = {delivery.stream.id: _first_late(delivery) for delivery in self._deliveries.values()}
        await ingest_rows.note_late(connection, {id_: first for id_, first in found.items() if first is not None})
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
        # One round trip.
        async with connection.pipeline():
            writing = await ingest_rows.save_streams(connection, [delivery.stream for delivery in self._deliveries.values()])
            await ingest_rows.save_hosts(connection, [self._hosts[job.host_name] for job in self._jobs if job.error is None])
            await ingest_rows.announce_all(connection, latest)
        self._saved = await writing.finish()

    async def _write_samples(self, connection: psycopg.AsyncConnection, plan: TablePlan) -> None:
        by_key: dict[Key, list[tuple[int, SampleBlock]]] = {}
        for delivery in self._deliveries.values():
            for block in delivery.blocks:
                key = (delivery.stream.host_id, plan.require(block.stat.name).id)
                by_key.setdefault(key, []).append((delivery.stream.id, block))
        spans = {key: samples.instance_spans([block for _, block in blocks]) for key, blocks in by_key.items()}
        epochs = {host.id: host.instance_epoch for host in self._hosts.values()}
        max_new = self._memory.limits.new_instances
        learned = self._learned = await self._memory.instances.resolve(connection, epochs, spans, max_new=max_new)
        if learned.refused:
            stats = {plan.require(block.stat.name).id: block.stat.name for blocks in by_key.values() for _, block in blocks}
            self._refuse_instances({(host_id, stats[stat_id]): names for (host_id, stat_id), names in learned.refused.items()})
        await self._mark_changed(connection, spans, by_key)
        placed: dict[str, list[tuple[SampleBlock, samples.RowTarget]]] = {}
        for key, blocks in by_key.items():
            ids = learned.ids(key)
            for stream_id, block in blocks:
                placed.setdefault(block.stat.name, []).append((block, samples.RowTarget(key[0], stream_id, ids)))
        for name, parts in placed.items():
            await samples.copy_blocks(connection, plan.require(name), parts)

    def _refuse_instances(self, refused: Mapping[tuple[int, str], frozenset[str]]) -> None:
        """Raise TooManyInstances."""
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
        """Mark hours that are already rolled up, or part of profiles, as having more samples."""
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
        kept: list[tuple[int, int, chunks.RawChunk]] = []
        losses: list[StreamGap] = []
        names = {host.id: host.name for host in self._hosts.values()}
        for delivery in self._deliveries.values():
            stream = delivery.stream
            stream.last_received_at = now
            for result in delivery.result:
                if result.n_unseen:
                    await self._read_unseen_text(stream, result)
                kept += [(stream.host_id, stream.id, chunk) for chunk in result.chunks]
                new_reasons = await stream_rows.keep_rejected(self._session, stream.id, result.rejected)
                self._new_reasons += [(stream, reason) for reason in sorted(new_reasons)]
                _count(stream, result)
            await event_rows.add_recorded_events(self._session, to_recorded_events(stream, delivery.result))
            if delivery.gaps and delivery.is_live:
                losses.append(to_loss(stream, names[stream.host_id], delivery.gaps))
            await stream_rows.add_gaps(self._session, stream.id, delivery.gaps)
            stream.n_gap_bytes += sum(gap.end - gap.start for gap in delivery.gaps)
            if delivery.result or delivery.gaps:
                version = delivery.spec.version if delivery.spec else NO_VERSION
                stream.spec_version, stream.reader_version = next_spec_version(stream, version), version
                stream.acked_offset, stream.reader_state = delivery.end, delivery.state
                # Bytes that were stored already neither end nor restart a stream.
                stream.is_finished = delivery.is_final
        await chunks.copy_chunks(connection, kept, now)
        await note_losses(self._session, losses, now)

    async def _read_unseen_text(self, stream: OpenStream, result: StreamResult) -> None:
        """Fill in rejected lines that arrived in an earlier request, so that they do not depend on how the stream was split."""
        # If a sample began further back, with gigabytes of other lines since, the line is stored without its text.
        first = max(min(line.offset for line in result.rejected), result.start - LOOKBACK_BYTES)
        text = b""
        async for start, data in chunks.read_chunks(self._session, stream.id, start=first):
            if start > first + len(text):
                break
            text += data[max(0, first - start) :]
        fill_unseen_text(result, first, text)


def _set_timing(stream: OpenStream, timing: Timing) -> None:
    stream.time_zone, stream.first_day = timing.zone, timing.date
    stream.start_at = None if timing.start_us is None else from_us(timing.start_us)
    stream.interval_s = None if timing.interval_us is None else timing.interval_us / ingest_rows.MICRO
    stream.is_first_real = timing.is_first_real
    stream.shift_s = timing.shift_us / ingest_rows.MICRO


def _update_host(host: OpenHost, job: IngestRequest) -> None:
    host.is_live = job.recording is None
    host.os = clean_text(job.os)[:MAX_TEXT_LENGTH] or host.os
    host.agent_version = clean_text(job.agent_version)[:MAX_TEXT_LENGTH] or host.agent_version
    if host.is_live and job.agent_version:
        host.agent_tags = read_tags(clean_text(job.tags))
    if job.host_time is not None:
        host.clock_offset_s = job.host_time - time.time()


def _count(stream: OpenStream, result: StreamResult) -> None:
    for kind, n_lines in result.n_lines.items():
        stream.n_lines[kind] += n_lines
    for kind, n_bytes in result.n_bytes.items():
        stream.bytes_by_kind[kind.value] = stream.bytes_by_kind.get(kind.value, 0) + n_bytes


def _first_late(delivery: Delivery) -> datetime | None:
    """Return the first of the samples for a time that the stream has passed; before `_note_times`. Missing: None without any"""
    passed, span = delivery.stream.last_sample_at, delivery.span_us
    if passed is None or span is None or (first := from_us(span[0])) >= passed:
        return None
    return first


def _note_times(delivery: Delivery) -> datetime | None:
    """Extend the stream's first and last sample time; return the last of these samples, None when there are none."""
    stream = delivery.stream
    span = delivery.span_us
    if span is None:
        return None
    first, last = map(from_us, span)
    stream.first_sample_at = min(stream.first_sample_at or first, first)
    stream.last_sample_at = max(stream.last_sample_at or last, last)
    names = sorted({*stream.stat_names, *(block.stat.name for block in delivery.blocks)})
    stream.has_new_stats = stream.has_new_stats or names != stream.stat_names
    stream.stat_names = names
    return last
