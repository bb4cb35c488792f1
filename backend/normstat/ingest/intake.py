"""Frames -> rows, in one transaction: raw bytes, samples, rejected lines, accounts and the new acknowledged offset, or nothing.

An offset that this module gives back is committed. Whoever sends the same bytes again, or bytes from elsewhere in the stream, is
told where the stream stands, and nothing is stored twice.
"""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.errors import BadRequest, DatabaseAway, NormstatError, NotAllowed, TooLarge, shorten
from normstat.ingest.pieces import Piecewise, Taken, show_unseen
from normstat.ingest.restate import NO_VERSION, count_lines, next_spec_version, read_state
from normstat.ingest.wire import Ack, Frame, FrameKind
from normstat.stats.catalogue import load_catalogue
from normstat.stats.gap import state_after_gap
from normstat.stats.records import LineKind, SampleBlock, State, Timing
from normstat.stats.spec import Spec
from normstat.store import chunks, samples, streams
from normstat.store.models import Host, Stream
from normstat.store.session import WriteSession, driver_of, make_sessions, open_write_session
from normstat.store.stat_tables import TablePlan, WantedTable, make_stat_tables, read_stored_stats
from normstat.store.streams import LostBytes, StreamName, clean_text
from normstat.store.user_specs import refresh_catalogue
from normstat.window import from_us

log = structlog.get_logger()

# Reading this much takes a few hundredths of a second; more leaves the event loop.
THREAD_BYTES: Final = 128 * 1024
# Another request of the same host may be in its transaction; a table may be being widened.
LOCK_TIMEOUT_S: Final = 20
STATEMENT_TIMEOUT_S: Final = 60
# Every attempt after the first has the tables that the one before found missing; another request may add columns meanwhile.
MOST_ATTEMPTS: Final = 4
RETRY_AFTER_S: Final = 5
LONGEST_TEXT: Final = 1000
HOST_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}")
# The columns of a stream that count lines, by kind.
COUNTERS: Final[Mapping[LineKind, str]] = {kind: f"n_{kind.value}" for kind in LineKind}


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """Whose token came with the request: `host_id` is the host that it is bound to, None for any host."""

    host_id: int | None
    token_id: int


@dataclass(frozen=True, slots=True)
class Sender:
    """What the agent says of its host. `host_time` is its clock at sending, in seconds since the epoch."""

    agent: AgentIdentity
    host_name: str
    os: str
    agent_version: str
    host_time: float | None


@dataclass(frozen=True, slots=True)
class Recording:
    """What an import says of a stream that was recorded earlier.

    `timing` is kept with a new stream. With `is_final` nothing follows these frames: a last line without a newline is read. With
    `follows_cut` the bytes before these ended in a line without a newline, whose rest comes first.
    """

    timing: Timing
    is_final: bool = False
    follows_cut: bool = False


class TablesLacking(Exception):
    """Tables or columns must be made before the samples can be stored; raised before anything was written."""

    def __init__(self, wanted: list[WantedTable]) -> None:
        super().__init__()
        self.wanted = wanted


@dataclass(slots=True)
class Delivery:
    """What a request brings for one stream. `data` are the bytes from `end` on that were not read yet."""

    stream: Stream
    spec: Spec | None
    state: State
    end: int
    data: bytearray = field(default_factory=bytearray)
    taken: list[Taken] = field(default_factory=list)
    gaps: list[LostBytes] = field(default_factory=list)


async def take_request(
    engine: AsyncEngine,
    *,
    agent: AgentIdentity,
    host_name: str,
    os: str,
    agent_version: str,
    host_time: float | None,
    frames: Sequence[Frame],
    recording: Recording | None = None,
) -> list[Ack]:
    """Takes all frames of a request; gives where each stream named stands now. All of it is committed.

    `recording` is there when no agent sends but a file is imported: it says nothing of the host as it is now.
    Raises: BadRequest for a host name that cannot be one; NotAllowed when the token is for another host; DatabaseAway when the
    database does not answer or is busy (nothing was taken); TooLarge when it cannot take that much at once
    """
    if HOST_NAME.fullmatch(host_name) is None:
        raise BadRequest(
            f"Normstat-Host is {shorten(host_name)}; a host's name has up to 200 of the characters A-Z a-z 0-9 . _ : - and begins "
            "with a letter, a digit or _"
        )
    sender = Sender(agent, host_name, clean_text(os)[:LONGEST_TEXT], clean_text(agent_version)[:LONGEST_TEXT], host_time)
    sessions = make_sessions(engine)
    try:
        for _ in range(MOST_ATTEMPTS):
            try:
                async with open_write_session(sessions) as session:
                    request = Request(session, sender, recording)
                    acks = await request.take(frames)
            except TablesLacking as lacking:
                async with open_write_session(sessions) as session:
                    await make_stat_tables(session, lacking.wanted)
            else:
                request.log_what_is_new()
                return acks
    except (OperationalError, InterfaceError, PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise _to_error(error) from error
    raise DatabaseAway("The tables are being changed; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S})


def _to_error(error: Exception) -> NormstatError:
    cause = error.orig if isinstance(error, OperationalError | InterfaceError) else error
    if isinstance(cause, psycopg.errors.OutOfMemory | psycopg.errors.ConfigurationLimitExceeded):
        # A transaction can lock only so many chunks of a hypertable: these samples are of too many different days.
        return TooLarge("The samples of this request are of too many different days for one transaction; send less at once")
    return DatabaseAway(
        "The database does not answer or is busy; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S}
    )


class Request:
    """One request within one transaction."""

    def __init__(self, session: WriteSession, sender: Sender, recording: Recording | None = None) -> None:
        self._session = session
        self._sender = sender
        self._recording = recording
        self._new_streams: list[Stream] = []
        self._new_reasons: list[tuple[Stream, str]] = []
        self._deliveries: dict[StreamName, Delivery] = {}

    async def take(self, frames: Sequence[Frame]) -> list[Ack]:
        """Reads everything, then writes everything: while it writes it waits for nobody's new tables.

        Raises: TablesLacking before anything was written
        """
        await streams.set_time_limits(self._session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
        host = await self._lock_host()
        await refresh_catalogue(self._session)
        await self._open(host, frames)
        specs = [delivery.spec for delivery in self._deliveries.values() if delivery.spec is not None]
        stored = await read_stored_stats(self._session, [stat.name for spec in specs for stat in spec.stats])
        plan = TablePlan(specs, stored)
        for frame in frames:
            delivery = self._deliveries[frame.spec, frame.key]
            if frame.kind is FrameKind.STREAM:
                _accept(delivery, frame)
            else:
                await self._read(delivery, plan)
                _lose(delivery, frame)
        for delivery in self._deliveries.values():
            await self._read(delivery, plan, is_final=self._recording is not None and self._recording.is_final)
        wanted = plan.lacking(block.stat.name for delivery in self._deliveries.values() for block in _blocks(delivery))
        if wanted:
            raise TablesLacking(wanted)
        await self._write(host, plan)
        return [Ack(key, delivery.end) for (_, key), delivery in self._deliveries.items()]

    def log_what_is_new(self) -> None:
        """One event for each stream, each kind of trouble in it and each gap that was not there before; after the commit."""
        name = self._sender.host_name
        for stream in self._new_streams:
            is_known = self._deliveries[stream.spec, stream.key].spec is not None
            (log.info if is_known else log.warning)(
                "stream_opened" if is_known else "spec_unknown", host=name, spec=stream.spec, key=stream.key, stream=stream.id
            )
        for stream, reason in self._new_reasons:
            log.warning("lines_rejected", host=name, spec=stream.spec, key=stream.key, stream=stream.id, reason=reason[:200])
        for delivery in self._deliveries.values():
            for gap in delivery.gaps:
                log.warning("bytes_lost", host=name, stream=delivery.stream.id, start=gap.start, n_bytes=gap.end - gap.start)

    async def _lock_host(self) -> Host:
        agent, name = self._sender.agent, self._sender.host_name
        if agent.host_id is None:
            return await streams.lock_host(self._session, name)
        host = await streams.lock_host_by_id(self._session, agent.host_id)
        if host is None or host.name != name:
            raise NotAllowed(
                f"This agent token is for another host, not for {shorten(name)}; use that host's token, or one without a host"
            )
        return host

    async def _open(self, host: Host, frames: Sequence[Frame]) -> None:
        found = await streams.open_streams(self._session, host, ((frame.spec, frame.key) for frame in frames))
        for frame in frames:
            name = (frame.spec, frame.key)
            if name not in self._deliveries:
                stream = found[name]
                spec = load_catalogue().specs.get(frame.spec)
                if frame.kind is FrameKind.STREAM and frame.text and not stream.command:
                    stream.command = clean_text(frame.text)[:LONGEST_TEXT]
                if self._recording is not None and stream.last_received_at is None:
                    streams.set_timing(stream, self._recording.timing)
                state = await read_state(self._session, stream, spec)
                if self._recording is not None and self._recording.follows_cut:
                    state = state_after_gap(state)
                self._deliveries[name] = Delivery(stream=stream, spec=spec, state=state, end=stream.acked_offset)
                if stream.last_received_at is None:
                    self._new_streams.append(stream)

    async def _read(self, delivery: Delivery, plan: TablePlan, *, is_final: bool = False) -> None:
        """Reads the bytes that wait; what is left behind the last whole line is dropped, the agent sends it again."""
        if not delivery.data and not is_final:
            return
        stream = delivery.stream
        piecewise = Piecewise(
            delivery.spec,
            plan,
            command=stream.command,
            timing=stream.timing,
            start=delivery.end,
            state=delivery.state,
            n_lines_before=count_lines(stream) + sum(taken.n_lines.total() for taken in delivery.taken),
        )
        data = bytes(delivery.data)
        delivery.data.clear()
        if len(data) > THREAD_BYTES:
            taken = await asyncio.to_thread(piecewise.read, data, is_final=is_final)
        else:
            taken = piecewise.read(data, is_final=is_final)
        delivery.end, delivery.state = taken.end, taken.state
        delivery.taken.append(taken)

    async def _write(self, host: Host, plan: TablePlan) -> None:
        now = datetime.now(UTC)
        if self._recording is None:
            host.last_seen_at = now
        host.os = self._sender.os or host.os
        host.agent_version = self._sender.agent_version or host.agent_version
        if self._sender.host_time is not None:
            host.clock_offset_s = self._sender.host_time - time.time()
        await self._write_samples(host, plan)
        latest: dict[str, datetime] = {}
        for delivery in self._deliveries.values():
            stream = delivery.stream
            stream.last_received_at = now
            await self._write_delivery(delivery)
            times = [int(at) for block in _blocks(delivery) for at in (block.time_us.min(), block.time_us.max())]
            if times:
                first, last = from_us(min(times)), from_us(max(times))
                stream.first_sample_at = min(stream.first_sample_at or first, first)
                stream.last_sample_at = max(stream.last_sample_at or last, last)
                stream.stat_names = sorted({*stream.stat_names, *(block.stat.name for block in _blocks(delivery))})
                latest[stream.spec] = max(latest.get(stream.spec, last), last)
        for spec, last_sample_at in latest.items():
            await streams.announce(self._session, host=host.name, spec=spec, last_sample_at=last_sample_at)

    async def _write_samples(self, host: Host, plan: TablePlan) -> None:
        connection = await driver_of(self._session)
        by_stat: dict[str, list[tuple[int, SampleBlock]]] = {}
        for delivery in self._deliveries.values():
            for block in _blocks(delivery):
                by_stat.setdefault(block.stat.name, []).append((delivery.stream.id, block))
        for name, blocks in by_stat.items():
            stored = plan.require(name)
            spans = samples.instance_spans([block for _, block in blocks])
            ids = await streams.see_instances(connection, host.id, stored.id, spans)
            for stream_id, block in blocks:
                await samples.copy_block(connection, stored, block, samples.Place(host.id, stream_id, ids))

    async def _write_delivery(self, delivery: Delivery) -> None:
        stream = delivery.stream
        bytes_by_kind = dict(stream.bytes_by_kind)
        for taken in delivery.taken:
            if taken.n_unseen:
                await self._look_up_unseen(stream, taken)
            await chunks.add_chunks(self._session, stream.id, taken.chunks)
            new_reasons = await streams.keep_rejected(self._session, stream.id, taken.rejected)
            self._new_reasons += [(stream, reason) for reason in sorted(new_reasons)]
            for kind, n_lines in taken.n_lines.items():
                setattr(stream, COUNTERS[kind], getattr(stream, COUNTERS[kind]) + n_lines)
            for kind, n_bytes in taken.n_bytes.items():
                bytes_by_kind[kind.value] = bytes_by_kind.get(kind.value, 0) + n_bytes
        await streams.add_gaps(self._session, stream.id, delivery.gaps)
        stream.bytes_by_kind = bytes_by_kind
        stream.n_gap_bytes += sum(gap.end - gap.start for gap in delivery.gaps)
        if delivery.taken or delivery.gaps:
            version = delivery.spec.version if delivery.spec else NO_VERSION
            stream.spec_version, stream.reader_version = next_spec_version(stream, version), version
            stream.acked_offset, stream.reader_state = delivery.end, delivery.state
            # Bytes that were there already end nothing, and begin nothing anew.
            stream.is_finished = self._recording is not None and self._recording.is_final

    async def _look_up_unseen(self, stream: Stream, taken: Taken) -> None:
        """Fills in the rejected lines that came in an earlier request, so that they do not depend on how the stream was cut."""
        first = min(line.offset for line in taken.rejected)
        text = b""
        async for start, data in chunks.read_chunks(self._session, stream.id, start=first):
            if start > first + len(text):
                break
            text += data[max(0, first - start) :]
        show_unseen(taken, first, text)


def _accept(delivery: Delivery, frame: Frame) -> None:
    """Appends what is new in the frame; nothing of one that begins beyond what is there."""
    known = delivery.end + len(delivery.data)
    if frame.offset <= known < frame.end:
        delivery.data += frame.data[known - frame.offset :]


def _lose(delivery: Delivery, frame: Frame) -> None:
    """Moves past bytes that the host lost; not past bytes that may still come."""
    if frame.offset <= delivery.end < frame.end:
        delivery.gaps.append(LostBytes(delivery.end, frame.end))
        delivery.end = frame.end
        delivery.state = state_after_gap(delivery.state)


def _blocks(delivery: Delivery) -> Iterable[SampleBlock]:
    return (block for taken in delivery.taken for block in taken.blocks)
