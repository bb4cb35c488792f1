"""Feed one stream of a bundle to ingest, as an agent would.

A stream keeps the offsets of its bytes, and its key here names the stream that it was (`origin`) and the offset from which it is
known. So bundles of one server that overlap load each byte once: a later one continues the stream of an earlier one. Where an
earlier window comes later, the stream begins again from there, takes over the bytes of the one that is here, and replaces it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from normstat.bundles import bundle_rows
from normstat.bundles.bundle_sections import BundleTarget
from normstat.bundles.carried_stream import KEY, CarriedStream
from normstat.bundles.stream_cut import read_bytes
from normstat.db.schema.models import BUNDLE_KEY
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, DatabaseAway, TooLarge
from normstat.ingest import import_rows
from normstat.ingest.batching import AgentIdentity, Recording, ingest_request
from normstat.ingest.import_rows import ImportedFile, LoadedStream
from normstat.ingest.imports.undo import remove_stream
from normstat.ingest.protocol import Frame, FrameKind

log = structlog.get_logger()

PIECE_BYTES: Final = 4 << 20
MIN_PIECE_BYTES: Final = 4096
MAX_HELD_BYTES: Final = 64 << 20
MAX_TRIES: Final = 6
WAIT_S: Final = 5.0
LOADER: Final = AgentIdentity(host_id=None, token_id=0)
LEFT_TO_AGENT: Final = "the host's own agent sends this stream here; nothing was added to it"


class CarriedBytes:
    """The bytes of a member, each at its offset in the stream. Reading blocks."""

    def __init__(self, runs: Sequence[tuple[int, int]], parts: Iterator[bytes]) -> None:
        self._runs = list(runs)
        self._parts = parts
        self._held = bytearray()
        self._at = self._runs[0][0] if self._runs else 0
        self.n_read = 0

    def take(self, size: int) -> tuple[int, bytes] | None:
        """Return offset and bytes of the next piece. Missing: None at the end.

        Raises: BadRequest
        """
        while self._runs and self._at == self._runs[0][1]:
            self._runs.pop(0)
            self._at = self._runs[0][0] if self._runs else 0
        if not self._runs:
            # The hash is compared when everything was read.
            for _ in self._parts:
                pass
            return None
        wanted = min(size, self._runs[0][1] - self._at)
        while len(self._held) < wanted:
            part = next(self._parts, b"")
            if not part:
                raise BadRequest("A stream of the bundle is shorter than its index says; nothing more was loaded")
            self._held += part
        data, start = bytes(self._held[:wanted]), self._at
        del self._held[:wanted]
        self._at += wanted
        self.n_read += wanted
        return start, data


@dataclass(frozen=True, slots=True)
class StreamCover:
    """Bytes [begin, end) of the stream that are here, in a stream of that key; `is_ours`: it came in a bundle and can grow."""

    begin: int
    end: int
    key: str
    stream_id: int
    is_ours: bool


class StreamFeed:
    """Feeds one stream of a bundle: the bytes that are not here yet."""

    def __init__(self, target: BundleTarget, stream: CarriedStream, carried: CarriedBytes) -> None:
        self._target = target
        self._stream = stream
        self._carried = carried
        self._key = stream.key_here
        # The stream's position here, and the held back bytes of an unfinished line.
        self._end = 0
        self._rest = b""
        self._n_fed = 0
        self._note = ""

    async def run(self) -> AsyncIterator[int]:
        """Feed all of it, and report the result; yields the number of bytes of the member that are done."""
        stream = self._stream
        covers = await self._find_covers()
        n_before = sum(one.n_samples for one in await self._read(covers))
        known = self._choose(covers)
        if known is not None:
            self._key, self._end = known.key, known.end
        while (piece := await asyncio.to_thread(self._carried.take, PIECE_BYTES)) is not None:
            start, data = piece
            if known is None or known.is_ours:
                await self._put(start, data)
            yield self._carried.n_read
        if known is not None and not known.is_ours and known.end < stream.end:
            self._note = LEFT_TO_AGENT
        if known is None or known.is_ours:
            await self._take_over([one for one in covers if one.is_ours and one.key != self._key and one.begin > stream.begin])
        if stream.is_final and self._n_fed:
            await self._request([], is_final=True)
        await self._tell(n_before)

    def _choose(self, covers: Sequence[StreamCover]) -> StreamCover | None:
        """Return the stream that continues with the bundle's bytes. Missing: None when it begins a new one"""
        begin = self._stream.begin
        fitting = [one for one in covers if one.begin <= begin < one.end or (one.is_ours and one.begin <= begin <= one.end)]
        return max(fitting, key=lambda one: one.end, default=None)

    async def _find_covers(self) -> list[StreamCover]:
        """Return which bytes of the stream are here: from bundles, or from the host's own agent."""
        stream, covers = self._stream, []
        async with open_read_session(self._target.sessions) as session:
            host_id = await bundle_rows.find_host_id(session, self._target.host)
            if host_id is None:
                return []
            for known in await bundle_rows.list_streams_like(session, host_id, stream.spec, f"{BUNDLE_KEY}{stream.origin}-"):
                found = KEY.fullmatch(known.key)
                if found is not None and known.acked_offset > int(found[2], 16):
                    covers.append(StreamCover(int(found[2], 16), known.acked_offset, known.key, known.id, is_ours=True))
            if KEY.fullmatch(stream.key) is None:
                own = await import_rows.find_stream(session, self._target.host, stream.spec, stream.key)
                if own is not None and own.command == stream.command:
                    covers.append(StreamCover(0, own.acked_offset, own.key, own.id, is_ours=False))
        return sorted(covers, key=lambda cover: (cover.begin, cover.end))

    async def _put(self, start: int, data: bytes) -> None:
        """Feed the part of these bytes that is not here yet."""
        known = self._end + len(self._rest)
        if start + len(data) <= known:
            return
        if start > known:
            # The bytes between were lost, or are not in the bundle: so is the line that they end.
            self._rest = b""
            await self._request([Frame(FrameKind.GAP, self._stream.spec, self._key, 0, start, "not in the bundle")], is_final=False)
            known = start
        await self._send(data[max(0, known - start) :])

    async def _send(self, data: bytes) -> None:
        """Send the bytes as an agent would, and hold back the end of a line that is still to come."""
        held, size = self._rest + data, len(self._rest) + len(data)
        self._n_fed += len(data)
        while held:
            part, begin = held[:size], self._end
            frame = Frame(FrameKind.STREAM, self._stream.spec, self._key, begin, len(part), self._stream.command, part)
            try:
                await self._request([frame], is_final=False)
            except TooLarge:
                if size <= MIN_PIECE_BYTES:
                    raise
                # A transaction can hold samples of a limited number of days.
                size //= 4
                continue
            n_taken = max(0, min(self._end - begin, len(part)))
            if not n_taken and len(part) == len(held):
                break
            held = held[n_taken:]
            size = size if n_taken else size * 2
        if len(held) > MAX_HELD_BYTES:
            raise TooLarge("A line of a stream in the bundle is longer than 64 MiB")
        self._rest = held

    async def _take_over(self, covers: Sequence[StreamCover]) -> None:
        """Replace streams that begin within this one: take the bytes that they have beyond it, then remove them."""
        for cover in covers:
            if cover.begin > self._end + len(self._rest):
                continue
            if cover.end > self._end + len(self._rest):
                async with open_read_session(self._target.sessions) as session:
                    async for start, data in read_bytes(session, cover.stream_id, self._end + len(self._rest), cover.end):
                        for at in range(0, len(data), PIECE_BYTES):
                            await self._put(start + at, data[at : at + PIECE_BYTES])
            async with open_write_session(self._target.sessions) as session:
                await remove_stream(session, cover.stream_id)

    async def _request(self, frames: Sequence[Frame], *, is_final: bool) -> None:
        """Store frames, and keep the stream's new position. Waits while the database is away."""
        stream, target = self._stream, self._target
        sent = list(frames)
        if is_final:
            sent = [Frame(FrameKind.STREAM, stream.spec, self._key, self._end, len(self._rest), stream.command, self._rest)]
        for attempt in range(1, MAX_TRIES + 1):
            try:
                acks = await ingest_request(
                    target.engine,
                    agent=LOADER,
                    host_name=target.host,
                    os=target.manifest.os,
                    agent_version=target.manifest.agent_version,
                    host_time=None,
                    frames=sent,
                    recording=Recording(stream.timing, is_final=is_final),
                )
            except DatabaseAway:
                if attempt == MAX_TRIES:
                    raise
                log.warning("bundle_waits_for_database", host=target.host, spec=stream.spec, attempt=attempt)
                await asyncio.sleep(WAIT_S)
            else:
                self._end = acks[0].offset
                return
        raise AssertionError

    async def _read(self, covers: Sequence[StreamCover]) -> list[LoadedStream]:
        target, spec = self._target, self._stream.spec
        found = [await import_rows.read_stream(target.sessions, target.host, spec, one.key) for one in covers]
        return [one for one in found if one is not None]

    async def _tell(self, n_before: int) -> None:
        """Report the result, and record which streams here are this one."""
        covers = await self._find_covers()
        streams = await self._read(covers)
        ids = self._target.stream_ids.setdefault(self._stream.origin, [])
        ids += [one.stream_id for one in covers]
        n_samples = sum(one.n_samples for one in streams)
        notes = [self._target.provenance, self._note, "" if self._n_fed else "already here"]
        firsts = [one.first_sample_at for one in streams if one.first_sample_at is not None]
        lasts = [one.last_sample_at for one in streams if one.last_sample_at is not None]
        self._target.told(
            ImportedFile(
                path=self._stream.key,
                spec=self._stream.spec,
                stats=sorted({stat for one in streams for stat in one.stats}),
                n_reports=sum(one.n_reports for one in streams),
                n_samples=n_samples,
                n_samples_new=max(0, n_samples - n_before),
                n_rejected=sum(one.n_rejected for one in streams),
                reasons=[reason for one in streams for reason in one.reasons],
                first_sample_at=min(firsts, default=None),
                last_sample_at=max(lasts, default=None),
                note="; ".join(note for note in notes if note),
                n_since_boot=sum(one.n_since_boot for one in streams),
                missing=[],
                position=0,
                stream_id=next((one.stream_id for one in covers if one.key == self._key and one.is_ours), None),
                is_undone=False,
            )
        )
