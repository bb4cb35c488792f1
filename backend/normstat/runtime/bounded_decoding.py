"""The one place that decodes untrusted zstd and JSON, within the caller's limits.

Ten kilobytes of a zstd frame may unpack to gigabytes: its size is checked before any memory is taken. JSON with too many values
is refused before objects are made of it: the parser lets no other thread run until it has made every object of a text, and an
empty list is two bytes of text and some 60 of memory.
"""

import json
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import anyio.to_thread
import orjson
import zstandard

from normstat.errors import TooLarge

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


T = TypeVar("T")

_one_at_a_time: Final = anyio.CapacityLimiter(1)


class NotJson(ValueError):
    """A text that is not JSON."""


def load_json(text: bytes, most: int) -> Any:
    """Return the value of a text with at most `most` values in lists and objects; a comma within a text counts as one.

    Raises: NotJson; TooLarge
    """
    _check_size(text, most)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise NotJson(str(error)) from None


def load_json_as_printed(text: bytes, most: int) -> Any:
    """Return the value as `load_json` does, but with numbers as their text.

    Raises: NotJson; TooLarge
    """
    _check_size(text, most)
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


async def load_in_turn(load: Callable[[], T]) -> T:
    """Return what `load` returns, which parses a large text, in a thread: several at once would block the event loop for all of
    them.
    """
    return await anyio.to_thread.run_sync(load, limiter=_one_at_a_time)


def _check_size(text: bytes, most: int) -> None:
    n = text.count(b",") + text.count(b"[") + text.count(b"{")
    if n > most:
        raise TooLarge(f"The JSON has about {n:,} values; the limit is {most:,}. Send less at once; nothing was stored")
