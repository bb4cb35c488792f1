"""Counts new names that agents bring, for the limits in ingest_limits.py.

Counts are lost when a process ends, and each process of a server counts on its own: these are limits against floods, not exact
quotas.
"""

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

import structlog

log = structlog.get_logger()

Key = TypeVar("Key", bound=Hashable)

HOUR_S: Final = 3600.0
LOG_EVERY_S: Final = 60.0
# Events within a minute are one entry, so that a flood takes no more memory than a trickle.
ENTRY_S: Final = 60.0


class HourlyCount(Generic[Key]):
    """Counts per key over the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[Key, deque[tuple[float, int]]] = {}

    def count(self, key: Key) -> int:
        """Return the count of the key."""
        seen = self._seen.get(key)
        if seen is None:
            return 0
        begin_s = self._clock() - HOUR_S
        while seen and seen[0][0] <= begin_s:
            seen.popleft()
        if not seen:
            del self._seen[key]
        return sum(n for _, n in seen)

    def add(self, key: Key, n: int) -> None:
        """Add `n` to the count of the key."""
        seen = self._seen.setdefault(key, deque())
        now_s = self._clock()
        if seen and now_s - seen[-1][0] < ENTRY_S:
            now_s, before = seen.pop()
            n += before
        seen.append((now_s, n))


class RefusalLog:
    """Logs refusals: the first of each key at once, the others once a minute, with their number."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[tuple[str, object], tuple[float, int]] = {}

    def note(self, event: str, key: object, **facts: object) -> None:
        """Count a refusal, and log it when due."""
        now_s = self._clock()
        at_s, n = self._said.get((event, key), (float("-inf"), 0))
        if now_s - at_s < LOG_EVERY_S:
            self._said[event, key] = (at_s, n + 1)
            return
        # Keys that have been quiet for long are dropped.
        self._said = {known: said for known, said in self._said.items() if now_s - said[0] < HOUR_S}
        self._said[event, key] = (now_s, 0)
        log.warning(event, **facts, n_refused=n + 1)
