"""The one place that reads untrusted JSON: text with too many values is refused before objects are made of it.

The parser lets no other thread run until it has made every object of a text, and an empty list is two bytes of text and some 60 of
memory.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

import anyio.to_thread
import orjson

from normstat.errors import TooLarge

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
