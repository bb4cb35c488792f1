"""The lines around a position in the raw output of a stream, as the tool printed them ("show in context")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, StoredRejectedLine, Stream
from normstat.errors import NotFound
from normstat.runtime.field_docs import Documented
from normstat.samples.chunks import read_chunks

MAX_LINES: Final = 200
MAX_TEXT_LENGTH: Final = 2000
# How far before the position to search for lines. A line has some 80 bytes; only odd output needs the second or third try.
LOOK_BACKS: Final = (16 * 1024, 256 * 1024, 2 * 1024 * 1024)
# How far after it; most chunks are below 1 MiB.
LOOK_AHEAD: Final = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ContextLine(Documented):
    """One line of raw output."""

    offset: int
    """Of its first byte in the stream."""

    line_no: int | None
    """Counted from 1 in the stream; null where no rejected line nearby gives the number of lines before it."""

    n_bytes: int
    """Its length with the newline, as far as it was read."""

    text: str
    is_cut: bool
    """The text is not the whole line."""

    is_target: bool
    """The line contains the requested offset."""

    is_after_gap: bool
    """The host lost the bytes directly before this line."""


@dataclass(frozen=True, slots=True)
class StreamContext:
    """The lines around a position in a stream, in stream order."""

    stream_id: int
    host: str
    spec: str
    key: str
    lines: list[ContextLine]


@dataclass(frozen=True, slots=True)
class ByteRun:
    """Contiguous bytes of a stream from `start` on. `is_open`: more bytes may follow; they were not read."""

    start: int
    data: bytes
    is_after_gap: bool
    is_open: bool = False

    @property
    def end(self) -> int:
        """The first offset after the bytes."""
        return self.start + len(self.data)


async def read_context(session: AsyncSession, stream_id: int, offset: int, *, before: int, after: int) -> StreamContext:
    """Return the line that holds the byte at `offset`, with up to `before` lines before it and `after` lines after it.

    Raises: NotFound for an unknown stream, or an offset whose bytes are not stored
    """
    found = (
        await session.execute(
            select(Stream.spec, Stream.key, Stream.acked_offset, Host.name)
            .join(Host, Host.id == Stream.host_id)
            .where(Stream.id == stream_id)
        )
    ).one_or_none()
    if found is None:
        raise NotFound(f"There is no stream {stream_id}; GET /api/v1/hosts/HOST/accounts lists all", {"stream_id": stream_id})
    lines = await _find_context(session, stream_id, offset, before, after)
    if lines is None:
        raise NotFound(
            f"Stream {stream_id} has no bytes at offset {offset}; it ends at {found.acked_offset}. The host may have "
            "lost them, or retention removed them",
            {"stream_id": stream_id, "offset": offset, "acked_offset": found.acked_offset},
        )
    return StreamContext(stream_id, found.name, found.spec, found.key, await _number(session, stream_id, lines))


async def _find_context(session: AsyncSession, stream_id: int, offset: int, before: int, after: int) -> list[ContextLine] | None:
    """Return the lines around the offset. Missing: None where no bytes are stored at the offset."""
    lines: list[ContextLine] | None = []
    for look_back in LOOK_BACKS:
        start = max(0, offset - look_back)
        lines = find_lines(await _read_runs(session, stream_id, start, offset, after), offset, before, after)
        if lines is None:
            return None
        n_before = [line.is_target for line in lines].index(True)
        # The bytes read may begin in the middle of a line, so one line more than requested is needed.
        if start == 0 or n_before > before:
            return lines[max(0, n_before - before) :]
    # Only the end of the first line may be available. The requested line stays and is marked as cut.
    first, *rest = lines or []
    return [replace(first, is_cut=True), *rest] if first.is_target else rest


async def _read_runs(session: AsyncSession, stream_id: int, start: int, offset: int, after: int) -> list[ByteRun]:
    """Return the chunks that overlap [start, offset], and the following ones until there are enough lines."""
    runs: list[ByteRun] = []
    pieces: list[bytes] = []
    run_start, end = start, start
    is_open, n_newlines = False, 0
    async for chunk_start, data in read_chunks(session, stream_id, start=start):
        if chunk_start > end:
            if pieces:
                runs.append(ByteRun(run_start, b"".join(pieces), is_after_gap=_is_after_gap(runs, start, run_start)))
            pieces = []
        if not pieces:
            run_start = chunk_start
        pieces.append(data)
        end = chunk_start + len(data)
        if end > offset:
            n_newlines += data.count(b"\n", max(0, offset - chunk_start))
            is_open = end - offset > LOOK_AHEAD
            if n_newlines > after or is_open:
                break
    if pieces:
        runs.append(ByteRun(run_start, b"".join(pieces), is_after_gap=_is_after_gap(runs, start, run_start), is_open=is_open))
    return runs


def _is_after_gap(earlier: list[ByteRun], start: int, run_start: int) -> bool:
    """Return whether the byte before a run is missing: another run precedes it, or the search began earlier."""
    return bool(earlier) or run_start > start


def find_lines(runs: list[ByteRun], offset: int, before: int, after: int) -> list[ContextLine] | None:
    """Return the line at the offset, at most `before` + 1 lines before it and `after` lines after it.

    Missing: None where no run holds the offset
    """
    at = next((number for number, run in enumerate(runs) if run.start <= offset < run.end), None)
    if at is None:
        return None
    run = runs[at]
    start = run.data.rfind(b"\n", 0, offset - run.start) + 1
    target = replace(_line_at(run, start), is_target=True)
    earlier = list(islice(_lines_before(runs, at, start), before + 1))
    later = list(islice(_lines_from(runs, at, start + target.n_bytes), after))
    return [*reversed(earlier), target, *later]


def _lines_before(runs: list[ByteRun], at: int, end: int) -> Iterator[ContextLine]:
    """Yield the lines before the start of a line, last one first."""
    while True:
        run = runs[at]
        while end > 0:
            end = run.data.rfind(b"\n", 0, end - 1) + 1
            yield _line_at(run, end)
        if at == 0:
            return
        at -= 1
        end = len(runs[at].data)


def _lines_from(runs: list[ByteRun], at: int, start: int) -> Iterator[ContextLine]:
    """Yield the lines from the start of a line on."""
    for run in runs[at:]:
        while start < len(run.data):
            line = _line_at(run, start)
            yield line
            start += line.n_bytes
        start = 0


def _line_at(run: ByteRun, start: int) -> ContextLine:
    newline = run.data.find(b"\n", start)
    end = len(run.data) if newline < 0 else newline
    text, is_cut = _to_text(run.data[start : min(end, start + 4 * MAX_TEXT_LENGTH)], end - start)
    return ContextLine(
        offset=run.start + start,
        line_no=None,
        n_bytes=end - start + (0 if newline < 0 else 1),
        text=text,
        is_cut=is_cut or (newline < 0 and run.is_open),
        is_target=False,
        is_after_gap=run.is_after_gap and start == 0,
    )


def _to_text(data: bytes, n_bytes: int) -> tuple[str, bool]:
    """Return the text of a line without its line end, and whether it was cut. Bytes that are not text are escaped, as in rejected
    lines.
    """
    text = data.decode("utf-8", "backslashreplace").removesuffix("\r").replace("\0", "\\x00")
    return text[:MAX_TEXT_LENGTH], len(text) > MAX_TEXT_LENGTH or len(data) < n_bytes


async def _number(session: AsyncSession, stream_id: int, lines: list[ContextLine]) -> list[ContextLine]:
    """Return the lines with their numbers, counted from the rejected lines among them; lines lost in gaps do not count."""
    rows = await session.execute(
        select(StoredRejectedLine.line_offset, StoredRejectedLine.line_no).where(
            StoredRejectedLine.stream_id == stream_id, StoredRejectedLine.line_offset.in_([line.offset for line in lines])
        )
    )
    known = {row.line_offset: row.line_no for row in rows}
    first = {known[line.offset] - place for place, line in enumerate(lines) if line.offset in known}
    # A rejected line may stand for several (a truncated table); where the numbers disagree, return none.
    if len(first) != 1:
        return lines
    (first_no,) = first
    return [replace(line, line_no=first_no + place) for place, line in enumerate(lines)] if first_no > 0 else lines
