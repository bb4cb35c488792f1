"""Chunks of a stream packed together: frames that are read alone, and a directory that says where they are.

The body is one frame after another, each with the bytes of whole chunks, about FRAME_BYTES of them. The directory holds the sizes
of frames and chunks, and the second in which each chunk came; so every chunk is there as it was.
"""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final

import numpy as np
import zstandard

from normstat.codecs.number_planes import PlaneReader, PlaneWriter, compress_zstd
from normstat.codecs.word_columns import pack_words, unpack_words
from normstat.errors import DamagedChunk
from normstat.runtime.bounded_decoding import unpack_zstd

# What is read for one line. Measured on bench/data: half as much takes 8 % more space, twice as much saves 3 %.
FRAME_BYTES: Final = 256 << 10
# A frame larger than this (a chunk of many MiB) is not taken apart into words: that takes ten times its size of memory.
MAX_WORDS_BYTES: Final = 4 << 20
FORMAT: Final = 1
PLAIN_LEVEL: Final = 15
TRIAL_LEVEL: Final = 6


class FrameForm(IntEnum):
    """How the bytes of a frame are compressed: its first byte."""

    ZSTD = 0
    WORDS = 1


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Bytes of a stream from `start` on, and when they arrived."""

    start: int
    data: bytes
    received_at: datetime

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.start + len(self.data)


@dataclass(frozen=True, slots=True)
class FramePlace:
    """Bytes [start, end) of a stream, compressed in bytes [body_start, body_end) of a body; `chunk_starts` are in the stream."""

    start: int
    end: int
    body_start: int
    body_end: int
    chunk_starts: tuple[int, ...]
    received_s: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """Chunks of a stream that follow each other without a gap."""

    start: int
    end: int
    n_chunks: int
    first_received_at: datetime
    last_received_at: datetime
    directory: bytes
    body: bytes


def build_pack(chunks: Sequence[StoredChunk], frames: Sequence[bytes]) -> Pack:
    """Return the chunks as a pack. `frames` are those of `group_chunks`, each compressed."""
    groups = group_chunks(chunks)
    writer = PlaneWriter()
    writer.number(FORMAT)
    writer.number(len(groups))
    writer.ints(np.array([len(group) for group in groups], np.int64))
    writer.ints(np.array([len(frame) for frame in frames], np.int64))
    writer.ints(np.array([len(chunk.data) for chunk in chunks], np.int64))
    writer.ints(np.array([int(chunk.received_at.timestamp()) for chunk in chunks], np.int64))
    return Pack(
        start=chunks[0].start,
        end=chunks[-1].end,
        n_chunks=len(chunks),
        first_received_at=chunks[0].received_at,
        last_received_at=max(chunk.received_at for chunk in chunks),
        directory=writer.finish(),
        body=b"".join(frames),
    )


def group_chunks(chunks: Sequence[StoredChunk]) -> list[list[StoredChunk]]:
    """Return the chunks by the frames they go into."""
    groups: list[list[StoredChunk]] = []
    n_bytes = FRAME_BYTES
    for chunk in chunks:
        if n_bytes + len(chunk.data) > FRAME_BYTES:
            groups.append([])
            n_bytes = 0
        groups[-1].append(chunk)
        n_bytes += len(chunk.data)
    return groups


def pack_frame(data: bytes) -> bytes:
    """Return the bytes compressed. It takes some 20 ms for FRAME_BYTES; run it in a thread."""
    packed = pack_words(data) if len(data) <= MAX_WORDS_BYTES else None
    # Reports of tools go below a tenth at once. For other text, zstd is tried at a level at which it is fast and a quarter worse.
    if packed is not None and (len(packed) < len(data) / 10 or len(packed) < 0.75 * len(compress_zstd(data, TRIAL_LEVEL))):
        return bytes([FrameForm.WORDS]) + packed
    plain = compress_zstd(data, PLAIN_LEVEL)
    if packed is not None and len(packed) < len(plain):
        return bytes([FrameForm.WORDS]) + packed
    return bytes([FrameForm.ZSTD]) + plain


def unpack_frame(body: bytes, n_bytes: int) -> bytes:
    """Return the bytes of a frame.

    Raises: DamagedChunk
    """
    if body[:1] == bytes([FrameForm.WORDS]):
        return unpack_words(body[1:], n_bytes)
    if body[:1] != bytes([FrameForm.ZSTD]):
        raise DamagedChunk(f"A frame of a stream's raw bytes is damaged in the database: it begins with {body[:1]!r}")
    try:
        data = unpack_zstd(body[1:], n_bytes)
    except zstandard.ZstdError as error:
        raise DamagedChunk(f"A frame of a stream's raw bytes is damaged in the database: {error}") from error
    if len(data) != n_bytes:
        raise DamagedChunk(f"A frame of a stream's raw bytes has {len(data)} bytes instead of {n_bytes}")
    return data


def require_whole_frame(body: bytes, n_bytes: int) -> None:
    """Require that a frame is what was written, by its checksum: columns of words are not made text again.

    Raises: DamagedChunk
    """
    if body[:1] != bytes([FrameForm.WORDS]):
        unpack_frame(body, n_bytes)
        return
    try:
        PlaneReader(body[1:])
    except (zstandard.ZstdError, ValueError, IndexError) as error:
        raise DamagedChunk(f"A frame of a stream's raw bytes is damaged in the database: {error}") from error


def read_directory(directory: bytes, start: int, end: int) -> list[FramePlace]:
    """Return the frames of a pack that holds bytes [start, end) of its stream.

    Raises: DamagedChunk
    """
    try:
        reader = PlaneReader(directory)
        version, n_frames = reader.number(), reader.number()
        if version != FORMAT:
            raise DamagedChunk(f"Packed chunks have the format {version}, but this program reads {FORMAT}; use a newer normstat")
        n_chunks, sizes = reader.ints(n_frames).tolist(), reader.ints(n_frames).tolist()
        lengths = reader.ints(sum(n_chunks)).tolist()
        received = reader.ints(sum(n_chunks)).tolist()
    except (zstandard.ZstdError, ValueError, IndexError) as error:
        raise DamagedChunk(f"The directory of packed chunks is damaged in the database: {error}") from error
    bounds = list(itertools.accumulate(lengths, initial=start))
    if bounds[-1] != end:
        raise DamagedChunk(f"The directory of packed chunks is damaged: its chunks end at {bounds[-1]}, not at {end}")
    frames = []
    at = place = 0
    for n, size in zip(n_chunks, sizes, strict=True):
        frames.append(
            FramePlace(bounds[at], bounds[at + n], place, place + size, tuple(bounds[at : at + n]), tuple(received[at : at + n]))
        )
        at, place = at + n, place + size
    return frames


def cut_frame(frame: FramePlace, data: bytes, start: int) -> list[StoredChunk]:
    """Return the chunks of a frame that end after `start`."""
    first = max(0, bisect.bisect_right(frame.chunk_starts, start) - 1)
    ends = (*frame.chunk_starts[1:], frame.end)
    return [
        StoredChunk(
            frame.chunk_starts[number],
            data[frame.chunk_starts[number] - frame.start : ends[number] - frame.start],
            datetime.fromtimestamp(frame.received_s[number], UTC),
        )
        for number in range(first, len(ends))
    ]
