"""Recover the reader's state at the end of a stream from its raw bytes, where another version of its spec read it, or none."""

import asyncio
from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.ingest.stream_samples import MOVED
from normstat.samples import chunks
from normstat.samples.ingest_rows import OpenStream
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.readers import read
from normstat.stats.records import State
from normstat.stats.spec import Spec

# The host is locked meanwhile, so that only the beginning and the end of a long stream are read: the beginning holds headers that
# a tool prints but once, the end what changed since. Both take well below a second.
WHOLE_BYTES: Final = 4 << 20
HEAD_BYTES: Final = 256 << 10
TAIL_BYTES: Final = 2 << 20
NO_VERSION: Final = 0


async def read_state(session: AsyncSession, stream: OpenStream, spec: Spec | None) -> State:
    """Return the state to go on reading the stream with.

    It is the stored one while the spec is the same, and exact for streams of up to WHOLE_BYTES when it changed. After the part of
    a longer one that is left out it is as after a gap: lines that cannot be read are rejected until a reparse reads them.
    """
    if spec is None or not stream.acked_offset or stream.reader_version == spec.version:
        return stream.reader_state
    end = stream.acked_offset
    parts = [(0, end)] if end <= WHOLE_BYTES else [(0, HEAD_BYTES), (end - TAIL_BYTES, end)]
    state = await _read_parts(session, stream, spec, parts)
    # Lines are numbered on, whichever part of them was read, and what was counted as rejected remains so.
    kept = {name: value for name, value in stream.reader_state.items() if name == MOVED}
    return state | kept | {"line_no": stream.n_all_lines}


async def _read_parts(session: AsyncSession, stream: OpenStream, spec: Spec, parts: Sequence[tuple[int, int]]) -> State:
    """Return the state after the last part; [start, end) bytes each, widened to whole chunks."""
    state: State = {}
    known = 0
    rest = b""
    for part_start, part_end in parts:
        async for start, data in chunks.read_chunks(session, stream.id, start=max(part_start, known)):
            if start > known:
                state, rest = state_after_gap(state), b""
            # A line that may go on in the next chunk is left to it.
            piece = rest + data
            begin = start - len(rest)
            result = await asyncio.to_thread(
                read, spec, piece, state=state, offset=begin, timing=stream.timing, command=stream.command
            )
            state, known, rest = result.state, start + len(data), piece[result.n_taken :]
            if known >= part_end:
                break
    if rest and known >= stream.acked_offset:
        # Acknowledged bytes were read, the last line included.
        begin = known - len(rest)
        state = read(spec, rest, state=state, offset=begin, is_final=True, timing=stream.timing, command=stream.command).state
    return state_after_gap(state) if known < stream.acked_offset else state


def next_spec_version(stream: OpenStream, version: int) -> int:
    """Return what `spec_version` is once more bytes were read with `version` (NO_VERSION: with no spec).

    It stays the version of the oldest samples. Where it would look up to date and some bytes were read with another version, it is
    NO_VERSION: the stream is outdated until a reparse has read all of it with one version.
    """
    if not stream.acked_offset:
        return version
    if stream.reader_version == version or (version and stream.spec_version != version):
        return stream.spec_version
    return NO_VERSION
