"""The lines around a place in the raw output of a stream, as the tool printed them ("show in context")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound
from normstat.storage.chunks import read_chunks
from normstat.storage.schema.models import Host, RejectedLine, Stream

MAX_LINES: Final = 200
MAX_TEXT_LENGTH: Final = 2000
# How far before the place lines are looked for: lines are some 80 bytes long, and only odd output needs the second or third look.
LOOK_BACKS: Final = (16 * 1024, 256 * 1024, 2 * 1024 * 1024)
# And how far behind it; chunks are mostly below 1 MiB.
LOOK_AHEAD: Final = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ContextLine:
    """A line of the raw output.

    `offset` is its first byte in the stream; `n_bytes` its length with the newline, as far as it was looked at; `is_cut`: the text
    is not the whole line; `is_after_gap`: the host lost what stood directly before this line.
    Missing: `line_no` None where no rejected line near says how many lines came before.
    """

    offset: int
    line_no: int | None
    n_bytes: int
    text: str
    is_cut: bool
    is_target: bool
    is_after_gap: bool


@dataclass(frozen=True, slots=True)
class Context:
    """The lines around a place of a stream, in the order of the stream."""

    stream_id: int
    host: str
    spec: str
    key: str
    lines: list[ContextLine]


@dataclass(frozen=True, slots=True)
class Run:
    """Bytes of a stream from `start` on without a gap. `is_open`: the stream goes on behind them, and nobody looked."""

    start: int
    data: bytes
    is_after_gap: bool
    is_open: bool = False

    @property
    def end(self) -> int:
        """The first offset behind the bytes."""
        return self.start + len(self.data)


async def read_context(session: AsyncSession, stream_id: int, offset: int, *, before: int, after: int) -> Context:
    """Return the line that holds the byte at `offset`, with so many lines before and after it as there are.

    Raises: NotFound for an unknown stream, or a place of which no bytes are kept
    """
    found = (
        await session.execute(
            select(Stream.spec, Stream.key, Stream.acked_offset, Host.name)
            .join(Host, Host.id == Stream.host_id)
            .where(Stream.id == stream_id)
        )
    ).one_or_none()
    if found is None:
        raise NotFound(f"There is no stream {stream_id}; GET /api/v1/hosts/HOST/accounts lists them", {"stream_id": stream_id})
    lines = await _look(session, stream_id, offset, before, after)
    if lines is None:
        raise NotFound(
            f"Of stream {stream_id} no bytes are kept at offset {offset}; it ends at {found.acked_offset}, and the host may have "
            "lost some before, or retention removed them",
            {"stream_id": stream_id, "offset": offset, "acked_offset": found.acked_offset},
        )
    return Context(stream_id, found.name, found.spec, found.key, await _number(session, stream_id, lines))


async def _look(session: AsyncSession, stream_id: int, offset: int, before: int, after: int) -> list[ContextLine] | None:
    """Return the lines around the offset. Missing: None where no bytes are kept at the offset."""
    lines: list[ContextLine] | None = []
    for look_back in LOOK_BACKS:
        start = max(0, offset - look_back)
        lines = find_lines(await _read_runs(session, stream_id, start, offset, after), offset, before, after)
        if lines is None:
            return None
        n_before = [line.is_target for line in lines].index(True)
        # What was read may begin in the middle of a line, so there must be one line more than asked for.
        if start == 0 or n_before > before:
            return lines[max(0, n_before - before) :]
    # Only the end of the first line may be there. The line that was asked for stays, marked as cut.
    first, *rest = lines or []
    return [replace(first, is_cut=True), *rest] if first.is_target else rest


async def _read_runs(session: AsyncSession, stream_id: int, start: int, offset: int, after: int) -> list[Run]:
    """Return the chunks that reach into [start, offset], and those behind until there are lines enough."""
    runs: list[Run] = []
    pieces: list[bytes] = []
    run_start, end = start, start
    is_open, n_newlines = False, 0
    async for chunk_start, data in read_chunks(session, stream_id, start=start):
        if chunk_start > end:
            if pieces:
                runs.append(Run(run_start, b"".join(pieces), is_after_gap=_is_after_gap(runs, start, run_start)))
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
        runs.append(Run(run_start, b"".join(pieces), is_after_gap=_is_after_gap(runs, start, run_start), is_open=is_open))
    return runs


def _is_after_gap(earlier: list[Run], start: int, run_start: int) -> bool:
    """Return whether the byte before a run is not kept: there is a run before it, or the looking began before it."""
    return bool(earlier) or run_start > start


def find_lines(runs: list[Run], offset: int, before: int, after: int) -> list[ContextLine] | None:
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


def _lines_before(runs: list[Run], at: int, end: int) -> Iterator[ContextLine]:
    """Yield the lines before a line's beginning, backwards."""
    while True:
        run = runs[at]
        while end > 0:
            end = run.data.rfind(b"\n", 0, end - 1) + 1
            yield _line_at(run, end)
        if at == 0:
            return
        at -= 1
        end = len(runs[at].data)


def _lines_from(runs: list[Run], at: int, start: int) -> Iterator[ContextLine]:
    """Yield the lines from a line's beginning on."""
    for run in runs[at:]:
        while start < len(run.data):
            line = _line_at(run, start)
            yield line
            start += line.n_bytes
        start = 0


def _line_at(run: Run, start: int) -> ContextLine:
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
    """Return the text of a line without its end, and whether it was cut. What is no text is written out, as in rejected lines."""
    text = data.decode("utf-8", "backslashreplace").removesuffix("\r").replace("\0", "\\x00")
    return text[:MAX_TEXT_LENGTH], len(text) > MAX_TEXT_LENGTH or len(data) < n_bytes


async def _number(session: AsyncSession, stream_id: int, lines: list[ContextLine]) -> list[ContextLine]:
    """Return the lines with their numbers, counted from the rejected lines among them; gaps have no lines."""
    rows = await session.execute(
        select(RejectedLine.line_offset, RejectedLine.line_no).where(
            RejectedLine.stream_id == stream_id, RejectedLine.line_offset.in_([line.offset for line in lines])
        )
    )
    known = {row.line_offset: row.line_no for row in rows}
    first = {known[line.offset] - place for place, line in enumerate(lines) if line.offset in known}
    # A rejected line may stand for several (a table that broke off); where they contradict each other, no number is better.
    if len(first) != 1:
        return lines
    (first_no,) = first
    return [replace(line, line_no=first_no + place) for place, line in enumerate(lines)] if first_no > 0 else lines
