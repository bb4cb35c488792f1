"""The one place that unpacks a zstd frame as a whole: never to more bytes than the caller allows.

Ten kilobytes may unpack to gigabytes. The size in the frame is checked before any memory is taken.
"""

import threading
from typing import Final, cast

import zstandard

# Blocks of rows and columns of ours are some MiB; a foreign one that claims more is refused.
MAX_BLOCK_BYTES: Final = 256 << 20
_own = threading.local()


class UnpacksTooLarge(zstandard.ZstdError):
    """A frame with more bytes than it may have."""


def unpack_zstd(body: bytes | memoryview, most: int = MAX_BLOCK_BYTES) -> bytes:
    """Return the bytes of a frame, at most `most`.

    Raises: zstandard.ZstdError when it is damaged; UnpacksTooLarge, which is one
    """
    # The decompressor believes a frame that names its size, whatever limit it is given.
    if zstandard.frame_content_size(body) > most:
        raise UnpacksTooLarge(f"the bytes unpack to more than {most:,} bytes")
    # Making a decompressor takes longer than some kB; two threads must not share one.
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    decompressor = cast("zstandard.ZstdDecompressor", _own.decompressor)
    return decompressor.decompress(body, max_output_size=most)
