"""Columns of numbers in few bytes, exactly: pcodec, which models their distribution, or zstd, which finds repetitions."""

import threading
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import zstandard
from pcodec import ChunkConfig, standalone

from normstat.runtime.bounded_decoding import unpack_zstd

Ints = npt.NDArray[np.int64]
NumberArray = npt.NDArray[np.int64] | npt.NDArray[np.int32] | npt.NDArray[np.float64] | npt.NDArray[np.float32]

# Whole numbers from here on are not exact in a float64.
EXACT: Final = 2.0**53
LEVEL: Final = 8
ZSTD_LEVEL: Final = 9
PACKED_BY_ZSTD, PACKED_BY_PCODEC = range(2)
_own = threading.local()
_CONFIG: Final = ChunkConfig(compression_level=LEVEL)


def pack_integers(numbers: Ints) -> bytes:
    """Return the smaller one of two packed forms: repeated patterns suit the one, noise the other."""
    by_pcodec = pack_numbers(numbers.astype(np.int64))
    steps = np.diff(numbers, prepend=0).astype(np.int64)
    by_zstd = compress(_planes(steps))
    if len(by_zstd) < len(by_pcodec):
        return bytes([PACKED_BY_ZSTD]) + by_zstd
    return bytes([PACKED_BY_PCODEC]) + by_pcodec


def unpack_integers(data: bytes) -> Ints:
    """Return what `pack_integers` packed."""
    if data[0] == PACKED_BY_PCODEC:
        return cast("Ints", standalone.simple_decompress(data[1:]))
    steps = np.ascontiguousarray(np.frombuffer(unpack_zstd(data[1:]), np.uint8).reshape(8, -1).T).view("<i8").reshape(-1)
    return np.cumsum(steps, dtype=np.int64)


def pack_numbers(numbers: NumberArray) -> bytes:
    """Return numbers of any kind packed by pcodec."""
    return bytes(standalone.simple_compress(np.ascontiguousarray(numbers), _CONFIG))


def unpack_numbers(data: bytes) -> NumberArray:
    """Return what `pack_numbers` packed, of its type."""
    return cast("NumberArray", standalone.simple_decompress(data))


def compress(data: bytes, *, has_checksum: bool = False) -> bytes:
    """Return bytes packed by zstd. `has_checksum`: with a sum that tells whether they come back as they were."""
    if has_checksum:
        return bytes(zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(data))
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
    return cast("bytes", _own.compressor.compress(data))


def _planes(numbers: Ints) -> bytes:
    return np.ascontiguousarray(numbers.astype("<i8").view(np.uint8).reshape(-1, 8).T).tobytes()
