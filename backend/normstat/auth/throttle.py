"""Slows down password guessing without giving an attacker a way to lock the owner out.

Counting wrong attempts alone is a dilemma: by address, a botnet guesses freely; by account, anybody locks anybody out by guessing
wrong. So two kinds of visitors are distinguished (as OWASP's device cookies do):

- A *stranger* is counted in three ways. By name and address: five attempts, then waits of 1, 2, 4, ... seconds up to a minute. By
  address for all names (made-up ones too): 50 attempts, then one per second. By name for all addresses: 20 attempts, then one per
  30 seconds, which is below 3,000 guesses a day however many machines guess. The second and third refill steadily and never add up
  to long waits: an attack with made-up names stops affecting its address one second after it ends.
- A *known* visitor shows something that only a login to this very account gives: the cookie that the browser kept from it, or a
  session. Such a visitor is counted alone, by the first rule. Other clients' attempts do not matter, even from the same address. A
  thief of the cookie is still slowed down, and a new password of the account makes the cookie worthless.

An address from which somebody logged in to the account is in between: it is exempt from the third rule, so an attack from elsewhere
does not affect somebody with a new browser at the usual desk. What remains is an owner with a new browser at a new place during the
attack; a one-time link is the way in. Links are 256 random bits and cannot be guessed: a valid one is never refused, and wrong ones
are counted so that a flood of them costs little.

Attempts are counted before the password is hashed, so many at once do not slip through together, and a refused attempt costs no
hashing. Memory is bounded: each table evicts what was quiet for longest. With several processes each counts its own part (see
`Throttle`).
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from normstat.auth.client_address import group_of
from normstat.errors import TooManyRequests

FREE_TRIES: Final = 5
MAX_WAIT_S: Final = 60.0
# A name at an address is forgotten after it was quiet for this long.
FORGET_AFTER_S: Final = 3600.0
# One address may be a whole company behind a proxy.
FREE_TRIES_OF_ADDRESS: Final = 50
ADDRESS_PAUSE_S: Final = 1.0
FREE_TRIES_OF_NAME: Final = 20
NAME_PAUSE_S: Final = 30.0
MAX_KEYS: Final = 10_000

T = TypeVar("T")


class _Table(Protocol):
    """A table of attempts counted under one kind of key."""

    def wait_s(self, key: Hashable, now: float) -> float: ...

    def count(self, key: Hashable, now: float) -> None: ...

    def take_back(self, key: Hashable) -> None: ...

    def forgive(self, key: Hashable) -> None: ...


@dataclass(slots=True)
class _Tries:
    n: int
    last: float


class _GrowingWaits:
    """A number of attempts is free, then each wait is twice as long as the one before."""

    def __init__(self, n_free: int, n_processes: int, max_keys: int) -> None:
        self._n_free = max(1, n_free // n_processes)
        self._n_processes = n_processes
        self._max_keys = max_keys
        self._tries: OrderedDict[Hashable, _Tries] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tries)

    def wait_s(self, key: Hashable, now: float) -> float:
        tries = self._tries.get(key)
        if tries is None or tries.n < self._n_free or now - tries.last > FORGET_AFTER_S:
            return 0.0
        # The exponent is bounded before it is used.
        pause_s = min(2.0 ** min((tries.n - self._n_free) * self._n_processes, 10), MAX_WAIT_S) * self._n_processes
        return max(0.0, tries.last + pause_s - now)

    def count(self, key: Hashable, now: float) -> None:
        tries = self._tries.pop(key, None)
        if tries is None or now - tries.last > FORGET_AFTER_S:
            tries = _Tries(0, now)
        tries.n += 1
        tries.last = now
        _put_last(self._tries, key, tries, self._max_keys)

    def take_back(self, key: Hashable) -> None:
        tries = self._tries.get(key)
        if tries is not None:
            tries.n = max(0, tries.n - 1)

    def forgive(self, key: Hashable) -> None:
        self._tries.pop(key, None)


class _SteadyRate:
    """A number of attempts is free, then one more is allowed after each pause."""

    def __init__(self, n_free: int, pause_s: float, n_processes: int, max_keys: int) -> None:
        self._pause_s = pause_s * n_processes
        self._free_s = (max(1, n_free // n_processes) - 1) * self._pause_s
        self._max_keys = max_keys
        # When all attempts so far will be paid off; one pause pays off one attempt.
        self._paid_at: OrderedDict[Hashable, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._paid_at)

    def wait_s(self, key: Hashable, now: float) -> float:
        return max(0.0, self._paid_at.get(key, now) - self._free_s - now)

    def count(self, key: Hashable, now: float) -> None:
        paid_at = max(self._paid_at.pop(key, now), now) + self._pause_s
        _put_last(self._paid_at, key, paid_at, self._max_keys)

    def take_back(self, key: Hashable) -> None:
        if key in self._paid_at:
            self._paid_at[key] -= self._pause_s

    def forgive(self, key: Hashable) -> None:
        # Only the attempt that was right: other people's wrong ones share this key.
        self.take_back(key)


def _put_last(table: OrderedDict[Hashable, T], key: Hashable, value: T, max_keys: int) -> None:
    # The newest is at the end, so the first is the one that was quiet for longest.
    table[key] = value
    if len(table) > max_keys:
        table.popitem(last=False)


class Attempt:
    """An attempt that was allowed and counted."""

    def __init__(self, counts: Sequence[tuple[_Table, Hashable]]) -> None:
        self._counts = counts

    def succeed(self) -> None:
        """Reset the counts: the secret was right."""
        for table, key in self._counts:
            table.forgive(key)

    def withdraw(self) -> None:
        """Take back this attempt: it was not evaluated."""
        for table, key in self._counts:
            table.take_back(key)


class Throttle:
    """Counts attempts in bounded memory.

    Each of `n_processes` sees only its share of the attempts: it allows its share of the free ones and makes the waits that many
    times longer, so that all together allow no more than one would.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = MAX_KEYS, n_processes: int = 1) -> None:
        self._clock = clock
        # Separate tables, so that a flood of one kind of key does not evict counts of another kind.
        self._pairs = _GrowingWaits(FREE_TRIES, n_processes, max_keys)
        self._known = _GrowingWaits(FREE_TRIES, n_processes, max_keys)
        self._addresses = _SteadyRate(FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S, n_processes, max_keys)
        self._names = _SteadyRate(FREE_TRIES_OF_NAME, NAME_PAUSE_S, n_processes, max_keys)
        self._links = _SteadyRate(FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S, n_processes, max_keys)

    def attempt(self, name: str, address: str, *, is_known_address: bool = False) -> Attempt:
        """Count a stranger's attempt.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        group = group_of(address)
        counts: list[tuple[_Table, Hashable]] = [(self._pairs, (name, group)), (self._addresses, group)]
        if not is_known_address:
            counts.append((self._names, name))
        return self._count(counts)

    def attempt_known(self, name: str, proof: bytes) -> Attempt:
        """Count an attempt of a visitor who has proved an earlier login to this account.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        return self._count([(self._known, (name, proof))])

    def is_name_throttled(self, name: str) -> bool:
        """Return whether a stranger's attempt would have to wait because of the name alone."""
        return self._names.wait_s(name, self._clock()) > 0

    def count_wrong_link(self, address: str) -> None:
        """Count an invalid link.

        Raises: TooManyRequests when there were many
        """
        self._count([(self._links, group_of(address))])

    def _count(self, counts: Sequence[tuple[_Table, Hashable]]) -> Attempt:
        now = self._clock()
        wait_s = max(table.wait_s(key, now) for table, key in counts)
        if wait_s > 0:
            retry_after_s = math.ceil(wait_s)
            raise TooManyRequests(f"Too many failed attempts; try again in {retry_after_s} s", {"retry_after_s": retry_after_s})
        for table, key in counts:
            table.count(key, now)
        return Attempt(counts)

    def __len__(self) -> int:
        return sum(len(table) for table in (self._pairs, self._known, self._addresses, self._names, self._links))
