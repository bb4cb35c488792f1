"""Decide which bytes of a stream a bundle carries: those of the window, and before them what a reader needs to read them the same.

That is the lines before the first sample, which hold headers, and the report before the window: a counter becomes a rate by it. The
cut is tried: the first reports of the window are read from the cut bytes and compared with what the database has. Where they differ
(for example because a tool prints times without a day), earlier reports are added, and in the end the whole stream.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.bundles import bundle_rows
from normstat.bundles.bundle_rows import StreamReport
from normstat.codecs.pack_codec import StoredChunk
from normstat.db.schema.models import Stream
from normstat.samples.chunks import ByteRange, read_batch, read_ranges
from normstat.samples.lookup import find_stat, read_instance_names
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_floats
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.readers import read
from normstat.stats.records import SampleBlock
from normstat.stats.spec import Spec
from normstat.window import Window, to_us

# The lines before the first sample of a stream: headers, and reports about the time since boot.
MAX_HEAD_BYTES: Final = 256 << 10
BATCH_BYTES: Final = 4 << 20
# Reports before the window that are tried, one after the other.
LEADS: Final = (1, 3)
# Bytes that a trial reads after the cut.
MAX_TRIAL_BYTES: Final = 16 << 20
# Samples are kept with the digits that were printed; a float of four bytes has seven.
TOLERANCE: Final = 1e-6
INSTANT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class StreamCut:
    """The bytes of a stream that a bundle carries: [0, head) and [start, end).

    The first line from `start` on is only there to be passed over: what is known begins at `begin`. `is_whole_start`: nothing of
    the stream is left out before `end`. `is_final`: nothing follows, and the stream was finished. `is_tried`: the first reports of
    the window, read from these bytes, are those of the database.
    """

    head: int
    start: int
    begin: int
    end: int
    is_final: bool
    is_tried: bool

    @property
    def is_whole_start(self) -> bool:
        """Whether the stream is carried from its first byte on."""
        return self.start == 0


async def cut_stream(session: AsyncSession, stream: Stream, spec: Spec | None, window: Window) -> StreamCut:
    """Return the bytes of a stream that the window needs."""
    offsets = await bundle_rows.list_event_offsets(session, stream.id, window)
    after = await bundle_rows.reports_after(session, stream, window.end, 2)
    # The first report after the window completes the last one in it.
    end = stream.acked_offset if len(after) < 2 else max(after[1].first_offset, *(offset + 1 for offset in offsets), 0)
    is_final = end == stream.acked_offset and stream.is_finished
    whole = StreamCut(0, 0, 0, end, is_final, is_tried=True)
    if spec is None:
        return whole
    # A stream may have stats that are reported at different intervals: each needs its report before.
    firsts = await _find_firsts(session, stream, window)
    before = [await bundle_rows.reports_before(session, stream, window.start, max(LEADS), stat) for stat in firsts]
    head = min(MAX_HEAD_BYTES, await bundle_rows.first_line_of(session, stream))
    head = await _end_of_line(session, stream.id, head) if head else 0
    for lead in LEADS:
        if any(len(reports) < lead for reports in before):
            break
        # After the last line of the report that comes before all of these: the report that follows is carried whole.
        first_at = min((reports[lead - 1].at for reports in before), default=window.start)
        ended = await bundle_rows.reports_before(session, stream, first_at, 1)
        if not ended:
            break
        start = min([ended[0].last_offset, *offsets])
        if start <= head:
            break
        begin = await _after_line(session, stream.id, start)
        cut = StreamCut(head, start, begin, end, is_final, is_tried=True)
        if await _reads_the_same(session, stream, spec, cut, firsts):
            return cut
    if not any(before) or await _reads_the_same(session, stream, spec, whole, firsts):
        return whole
    return StreamCut(0, 0, 0, end, is_final, is_tried=False)


async def read_bytes(session: AsyncSession, stream_id: int, start: int, end: int) -> AsyncIterator[tuple[int, bytes]]:
    """Yield offset and bytes of the stored parts of [start, end) of a stream, in order."""
    at = start
    first = (await read_ranges(session, [ByteRange(stream_id, start, start + 1)])).get(stream_id, []) if start < end else []
    for chunk in first:
        if chunk.end > at:
            at = max(at, chunk.start)
            yield at, chunk.data[at - chunk.start : end - chunk.start]
            at = chunk.end
    while at < end:
        batch = await read_batch(session, stream_id, start=at, most_bytes=BATCH_BYTES)
        if not batch:
            return
        for run in _runs(batch):
            if run[0].start >= end:
                return
            yield run[0].start, b"".join(chunk.data for chunk in run)[: end - run[0].start]
        at = batch[-1].end


def _runs(chunks: Sequence[StoredChunk]) -> list[list[StoredChunk]]:
    """Return the chunks in groups that follow each other without a gap."""
    runs: list[list[StoredChunk]] = []
    for chunk in chunks:
        if runs and runs[-1][-1].end == chunk.start:
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    return runs


async def _after_line(session: AsyncSession, stream_id: int, offset: int) -> int:
    """Return where the line after that at `offset` begins."""
    at = offset
    async for start, data in read_bytes(session, stream_id, offset, offset + BATCH_BYTES):
        place = data.find(b"\n")
        at = start + len(data) if place < 0 else start + place + 1
        if place >= 0:
            return at
    return at


async def _end_of_line(session: AsyncSession, stream_id: int, limit: int) -> int:
    """Return the end of the last whole line that ends at `limit` at the latest. Missing: 0 where there is none"""
    found = 0
    expected = 0
    async for start, data in read_bytes(session, stream_id, 0, limit):
        if start != expected:
            break
        expected = start + len(data)
        if (place := data.rfind(b"\n")) >= 0:
            found = start + place + 1
    return found


async def _find_firsts(session: AsyncSession, stream: Stream, window: Window) -> dict[str, list[StreamReport]]:
    """Return the first report of the window, and the next one, of each stat of the stream that has one in it."""
    found = {stat: await bundle_rows.reports_after(session, stream, window.start, 2, stat) for stat in stream.stat_names}
    return {stat: reports for stat, reports in found.items() if reports and reports[0].at < window.end}


async def _reads_the_same(
    session: AsyncSession, stream: Stream, spec: Spec, cut: StreamCut, firsts: Mapping[str, Sequence[StreamReport]]
) -> bool:
    """Return whether the first report of each stat is read from the cut as the database has it."""
    if not firsts:
        return True
    # The second report completes the first.
    ends = [reports[1].last_offset if len(reports) > 1 else cut.end for reports in firsts.values()]
    until = min(cut.end, cut.start + MAX_TRIAL_BYTES, max(ends) + MAX_HEAD_BYTES)
    blocks = await _read_cut(session, stream, spec, cut, until)
    return all([await _has_same_samples(session, stream, stat, reports[0], blocks) for stat, reports in firsts.items()])


async def _read_cut(session: AsyncSession, stream: Stream, spec: Spec, cut: StreamCut, until: int) -> list[SampleBlock]:
    blocks: list[SampleBlock] = []
    state: dict[str, object] = {}
    rest, at = b"", 0
    for begin, end in ((0, cut.head), (cut.start, until)):
        async for start, data in read_bytes(session, stream.id, begin, end):
            if start > at + len(rest):
                state, rest = state_after_gap(state), b""
                at = start
            piece = rest + data
            result = await asyncio.to_thread(
                read, spec, piece, state=state, offset=at, timing=stream.timing, command=stream.command
            )
            state, rest = result.state, piece[result.n_taken :]
            at += result.n_taken
            blocks += result.blocks
    if until == cut.end and (cut.is_final or rest):
        result = read(spec, rest, state=state, offset=at, is_final=True, timing=stream.timing, command=stream.command)
        blocks += result.blocks
    return blocks


async def _has_same_samples(
    session: AsyncSession, stream: Stream, name: str, report: StreamReport, blocks: Sequence[SampleBlock]
) -> bool:
    """Return whether the samples of a report of a stat are those of the database."""
    stat = await find_stat(session, name)
    if stat is None:
        return True
    window = Window(report.at, report.at + INSTANT)
    kept: dict[tuple[str, int, str], float] = {}
    async for page in read_pages(session, PageQuery(name, stream.host_id, window, stat.fields, has_lines=True)):
        names = await read_instance_names(session, sorted(set(page.instance_id.tolist())))
        mine = np.flatnonzero(page.stream_id == stream.id)
        for field_no, field in enumerate(stat.fields):
            if page.has_values[field_no]:
                values = to_floats(field, page.values[field_no])
                rows = [row for row in mine.tolist() if np.isfinite(values[row])]
                kept |= {_key(page, names, row, field.key): float(values[row]) for row in rows}
    read_now: dict[tuple[str, int, str], float] = {}
    for block in blocks:
        if block.stat.name == name:
            read_now |= _values_at(block, to_us(report.at))
    return kept.keys() == read_now.keys() and all(_is_close(value, read_now[key]) for key, value in kept.items())


def _key(page: Page, names: dict[int, str], row: int, field: str) -> tuple[str, int, str]:
    return names[int(page.instance_id[row])], int(page.line_offset[row]), field


def _values_at(block: SampleBlock, at_us: int) -> dict[tuple[str, int, str], float]:
    rows = np.flatnonzero(block.time_us == at_us).tolist()
    found: dict[tuple[str, int, str], float] = {}
    for number, field in enumerate(block.fields):
        missing = block.missing[number] if number < len(block.missing) else None
        for row in rows:
            value = float(block.values[number][row])
            if (missing is None or not missing[row]) and math.isfinite(value):
                found[block.instances[row], int(block.line_offset[row]), field.key] = value
    return found


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))
