"""The second pass of an import: the files that the survey chose are stored by the same code as live streams.

A stream of an import bears the hash of its content and timing as its key, so that a file of the same content is recognised. One
that has grown since goes on where it ended. Pieces of a few MiB are a transaction each; what was committed stays when the import
ends early.
"""

import asyncio
import datetime as dt
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.models import IMPORT_KEY
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.errors import DatabaseAway, TooLarge
from normstat.ingest import import_rows
from normstat.ingest.batching import AgentIdentity, Recording, ingest_request
from normstat.ingest.import_rows import ImportedFile, LoadedStream, MissingOption
from normstat.ingest.imports.detect import SINCE_BOOT_NOTE
from normstat.ingest.imports.scan import Found, day_of_change
from normstat.ingest.protocol import Frame, FrameKind
from normstat.runtime.readable import count_of
from normstat.stats.engine.times.timeline import require_zone
from normstat.stats.engine.trace.question_names import command_of_file, titled
from normstat.stats.engine.trace.trace_layout import TraceLayout
from normstat.stats.records import Timing

log = structlog.get_logger()

PIECE_BYTES: Final = 4 << 20
# A transaction can hold samples of a limited number of days; beyond that it gets less, down to a few reports.
MIN_PIECE_BYTES: Final = 4096
# A reader that takes none of this many bytes is not waiting for the end of a line.
MAX_HELD_BYTES: Final = 64 << 20
KEY_DIGITS: Final = 24
MAX_TRIES: Final = 6
WAIT_S: Final = 5.0
ALREADY: Final = "already loaded"
TIMES: Final = frozenset({MissingOption.START, MissingOption.DATE})
Moved = Callable[[int], Awaitable[None]]
IMPORTER: Final = AgentIdentity(host_id=None, token_id=0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The stream of a file. Its first `n_known` bytes are stored already; `was_finished`: they were read as the whole."""

    key: str
    stream_id: int | None = None
    n_known: int = 0
    was_finished: bool = False


class Loader:
    """Loads files of one host. `since`: streams made from then on count as new, for an import that goes on after a restart.

    `title` names the question that a tracer was asked.
    """

    def __init__(self, engine: AsyncEngine, host: str, since: datetime | None = None, title: str | None = None) -> None:
        self._engine = engine
        self._sessions = make_sessions(engine)
        self._host = host
        self._since = since
        self._title = title

    async def plan(self, found: Found) -> Plan:
        """Return the stream of the file, by the stored content."""
        assert found.spec is not None
        key = stream_key(found.hashes[found.n_bytes], found.timing)
        async with open_read_session(self._sessions) as session:
            known = await import_rows.find_loads(session, self._host, found.spec.name, found.hashes)
            stream = await import_rows.find_stream(session, self._host, found.spec.name, key)
        for load in known:
            # The stored content begins with this one, or this one with the stored one.
            # A file whose recording was dated again goes on with the same shift.
            is_same = replace(load.timing, shift_us=0) == found.timing and load.n_bytes >= min(load.acked_offset, found.n_bytes)
            if is_same and (stream is None or load.key == key or load.n_bytes == found.n_bytes):
                return Plan(load.key, load.stream_id, min(load.acked_offset, found.n_bytes), load.is_finished)
        if stream is None:
            return Plan(key)
        return Plan(key, stream.id, min(stream.acked_offset, found.n_bytes), stream.is_finished)

    async def load(self, found: Found, plan: Plan, pieces: "Pieces", moved: Moved) -> ImportedFile:
        """Load the file; return its stored state. `moved` is called with the number of its committed bytes.

        Raises: DatabaseAway when the database stays away; Unreadable, Stopped from the pieces
        """
        before = await self.read(found, plan) if plan.stream_id is not None else None
        n_before = before.n_samples if before is not None and not self._is_ours(before) else 0
        is_there = plan.n_known >= found.n_bytes
        if plan.stream_id is not None:
            await self._note(found, plan.stream_id)
        if not is_there:
            await self._send(found, plan, pieces, moved)
        after = await self.read(found, plan) if not is_there else before
        notes = [found.look.note]
        if plan.n_known:
            part = f"its first {count_of(plan.n_known, 'byte')} {'was' if plan.n_known == 1 else 'were'} {ALREADY}"
            notes.insert(0, ALREADY if is_there else part)
        return to_result(found, after, n_before, "; ".join(note for note in notes if note))

    async def read(self, found: Found, plan: Plan) -> LoadedStream | None:
        """Return what the database has of the file's stream."""
        assert found.spec is not None
        return await import_rows.read_stream(self._sessions, self._host, found.spec.name, plan.key)

    async def _stream_id(self, spec: str, key: str) -> int:
        async with open_read_session(self._sessions) as session:
            stream = await import_rows.find_stream(session, self._host, spec, key)
            assert stream is not None
            return stream.id

    def _is_ours(self, stream: LoadedStream) -> bool:
        return self._since is not None and stream.created_at >= self._since

    async def _note(self, found: Found, stream_id: int) -> None:
        async with open_write_session(self._sessions) as session:
            await import_rows.note_load(session, stream_id, found.n_bytes, found.hashes[found.n_bytes])

    async def _send(self, found: Found, plan: Plan, pieces: "Pieces", moved: Moved) -> None:
        """Send the bytes as an agent would, piece by piece."""
        assert found.spec is not None
        command = found.look.command
        if isinstance(found.spec.layout, TraceLayout):
            command = titled(command or command_of_file(found.path), self._title)
        await asyncio.to_thread(pieces.skip, plan.n_known)
        is_noted = plan.stream_id is not None
        most = size = PIECE_BYTES
        is_final = False
        while not is_final:
            await asyncio.to_thread(pieces.hold, size)
            data = bytes(pieces.held[:size])
            is_final = pieces.is_last and len(data) == len(pieces.held)
            follows_cut = plan.was_finished and pieces.offset == plan.n_known and pieces.last_byte != b"\n"
            frame = Frame(FrameKind.STREAM, found.spec.name, plan.key, pieces.offset, len(data), command, data)
            try:
                end = await self._take(frame, Recording(found.timing, is_final=is_final, follows_cut=follows_cut))
            except TooLarge:
                if len(data) <= MIN_PIECE_BYTES:
                    raise
                # The next piece will span as many days.
                most = size = len(data) // 4
                is_final = False
                continue
            if not is_noted:
                await self._note(found, await self._stream_id(found.spec.name, plan.key))
                is_noted = True
            n_taken = max(0, min(end - pieces.offset, len(data)))
            pieces.drop(n_taken)
            await moved(pieces.offset)
            if not n_taken and len(data) > MAX_HELD_BYTES:
                raise TooLarge("A line, or what belongs together in it, is longer than 64 MiB")
            size = most if n_taken else size * 2

    async def _take(self, frame: Frame, recording: Recording) -> int:
        """Return where the stream stands when the frame is committed; waits for a database that is away."""
        for attempt in range(1, MAX_TRIES + 1):
            try:
                acks = await ingest_request(
                    self._engine,
                    agent=IMPORTER,
                    host_name=self._host,
                    os="",
                    agent_version="",
                    host_time=None,
                    frames=[frame],
                    recording=recording,
                )
            except DatabaseAway:
                if attempt == MAX_TRIES:
                    raise
                log.warning("import_waits_for_database", host=self._host, spec=frame.spec, attempt=attempt)
                await asyncio.sleep(WAIT_S)
            else:
                return acks[0].offset
        raise AssertionError


class Pieces:
    """The bytes of one file on their way, [begin, end) of a member, from `offset` on. Reading blocks."""

    def __init__(self, parts: Iterator[bytes], n_bytes: int) -> None:
        self._parts = parts
        self._n_bytes = n_bytes
        self.held = bytearray()
        self.offset = 0
        self.last_byte = b""
        self.is_last = False

    def hold(self, size: int) -> None:
        """Read until `size` bytes are held, or to the end."""
        while len(self.held) < size and not self.is_last:
            part = next(self._parts, b"")
            self.held += part
            self.is_last = not part or self.offset + len(self.held) >= self._n_bytes

    def skip(self, n_bytes: int) -> None:
        """Skip bytes that are stored already."""
        while n_bytes:
            self.hold(min(n_bytes, PIECE_BYTES))
            n_now = min(n_bytes, len(self.held))
            if not n_now:
                return
            self.drop(n_now)
            n_bytes -= n_now

    def drop(self, n_bytes: int) -> None:
        """Forget bytes that were taken."""
        if n_bytes:
            self.last_byte = bytes(self.held[n_bytes - 1 : n_bytes])
        del self.held[:n_bytes]
        self.offset += n_bytes


def stream_key(content_hash: bytes, timing: Timing) -> str:
    """Return the key of the stream of a file of that content, read with that timing."""
    day = timing.date.isoformat() if timing.date is not None else ""
    told = f"{timing.zone or ''} {day} {timing.start_us or ''} {timing.interval_us or ''}{' first' if timing.is_first_real else ''}"
    return IMPORT_KEY + hashlib.sha256(content_hash + told.encode()).hexdigest()[:KEY_DIGITS]


def to_result(found: Found, stream: LoadedStream | None, n_before: int, note: str) -> ImportedFile:
    """Return the row of the result table."""
    assert found.spec is not None
    if stream is None:
        return empty_result(found.path, found.spec.name, note, found.look.missing)
    return ImportedFile(
        path=found.path,
        spec=found.spec.name,
        stats=stream.stats,
        n_reports=stream.n_reports,
        n_samples=stream.n_samples,
        n_samples_new=max(0, stream.n_samples - n_before),
        n_rejected=stream.n_rejected,
        reasons=stream.reasons,
        first_sample_at=stream.first_sample_at,
        last_sample_at=stream.last_sample_at,
        note=note if stream.n_samples or not stream.n_since_boot else _join(note, SINCE_BOOT_NOTE),
        n_since_boot=stream.n_since_boot,
        stream_id=stream.stream_id,
        missing=_missing(found, stream),
        position=0,
        is_undone=False,
    )


def _join(note: str, other: str) -> str:
    return f"{note}; {other}" if note and other not in note else other


def _missing(found: Found, stream: LoadedStream) -> list[MissingOption]:
    """Return the options that would yield samples of the file, or more of them."""
    missing = list(found.look.missing)
    if not stream.n_samples and stream.n_since_boot and MissingOption.FIRST_REAL not in missing:
        missing.append(MissingOption.FIRST_REAL)
    return missing


def unread_result(found: Found, zone: str | None) -> ImportedFile:
    """Return the row of a file that is not loaded, with what is known of its times."""
    result = empty_result(found.path, None if found.spec is None else found.spec.name, found.look.note, found.look.missing)
    if found.modified_at is None or not TIMES.intersection(found.look.missing):
        return result
    try:
        modified_at = dt.datetime.fromtimestamp(found.modified_at, dt.UTC)
    except (OverflowError, ValueError, OSError):
        return result
    return replace(
        result,
        modified_at=modified_at,
        date_of_change=day_of_change(found, require_zone(zone or "UTC")) if MissingOption.DATE in found.look.missing else None,
        span_s=None if found.span_us is None else found.span_us / 1_000_000,
    )


def empty_result(path: str, spec: str | None, note: str, missing: Sequence[MissingOption] = ()) -> ImportedFile:
    """Return the row of a file without samples."""
    return ImportedFile(
        path=path,
        spec=spec,
        stats=[],
        n_reports=0,
        n_samples=0,
        n_samples_new=0,
        n_rejected=0,
        reasons=[],
        first_sample_at=None,
        last_sample_at=None,
        note=note,
        missing=list(missing),
        n_since_boot=0,
        position=0,
        stream_id=None,
        is_undone=False,
    )
