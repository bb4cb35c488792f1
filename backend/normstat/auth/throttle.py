"""Slows down guessing: after some wrong tries, each further one has to wait longer."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from normstat.errors import TooManyRequests

FREE_TRIES: Final = 5
# One address may be a whole company behind a proxy, so it gets more before it has to wait.
FREE_TRIES_OF_ADDRESS: Final = 50
LONGEST_WAIT_S: Final = 300.0
# A key is forgotten when it was quiet for this long.
FORGET_AFTER_S: Final = 3600.0
MAX_KEYS: Final = 10_000

Key = tuple[str, str]
K = TypeVar("K")


@dataclass(slots=True)
class _Tries:
    n: int
    last: float


class Throttle:
    """Counts tries by (name, address) and by address alone, in bounded memory.

    A try counts from its start and is forgiven when it succeeds; so many tries at once do not slip through together. Each of
    `n_processes` sees only its part of the tries: it counts each as that many, gives its part of the free ones and lets wait so
    many times longer, so that all together let through no more than one would.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = MAX_KEYS, n_processes: int = 1) -> None:
        self._clock = clock
        self._n_processes = n_processes
        self._max_keys = max_keys
        # Two tables, so that a flood of made-up names cannot push out the count of the address that sends it.
        self._by_name: OrderedDict[Key, _Tries] = OrderedDict()
        self._by_address: OrderedDict[str, _Tries] = OrderedDict()

    def count_try(self, name: str, address: str) -> None:
        """Counts a try.

        Raises: TooManyRequests, when it comes too early; it is not counted then
        """
        now = self._clock()
        key = (name, address)
        wait_s = max(
            self._wait_s(self._by_name.get(key), FREE_TRIES, now),
            self._wait_s(self._by_address.get(address), FREE_TRIES_OF_ADDRESS, now),
        )
        if wait_s > 0:
            retry_after_s = int(wait_s) + 1
            raise TooManyRequests(
                f"Too many wrong tries; wait {retry_after_s} s before the next one", {"retry_after_s": retry_after_s}
            )
        self._count(self._by_name, key, now)
        self._count(self._by_address, address, now)

    def succeed(self, name: str, address: str) -> None:
        """Forgives the tries of this name from this address."""
        self._by_name.pop((name, address), None)
        tries = self._by_address.get(address)
        if tries is not None:
            tries.n -= 1

    def __len__(self) -> int:
        return len(self._by_name) + len(self._by_address)

    def _count(self, table: OrderedDict[K, _Tries], key: K, now: float) -> None:
        tries = table.pop(key, None)
        if tries is None or now - tries.last > FORGET_AFTER_S:
            tries = _Tries(0, now)
        tries.n += 1
        tries.last = now
        # The newest stands at the end, so the first is the one that was quiet for longest.
        table[key] = tries
        if len(table) > self._max_keys:
            table.popitem(last=False)

    def _wait_s(self, tries: _Tries | None, n_free_of_all: int, now: float) -> float:
        n_free = max(1, n_free_of_all // self._n_processes)
        if tries is None or tries.n < n_free or now - tries.last > FORGET_AFTER_S:
            return 0.0
        # 1, 2, 4, ... seconds; the exponent is bounded before it is used.
        pause_s = min(2.0 ** min((tries.n - n_free) * self._n_processes, 10), LONGEST_WAIT_S) * self._n_processes
        return max(0.0, tries.last + pause_s - now)
