"""Slows down guessing of passwords, without giving an attacker a way to lock the owner out.

Whoever only counts wrong tries has to choose: by address, and a net of many addresses guesses freely; by account, and anybody
locks anybody out by guessing wrong. So two kinds of visitors are told apart (as OWASP's device cookies do):

- A *stranger* is counted three ways. A name at an address: five tries, then waits of 1, 2, 4, ... seconds up to a minute. An
  address whatever the names (made-up ones too): 50 tries, then one each second. A name whatever the addresses: 20 tries, then one
  each 30 seconds, which is below 3,000 guesses a day however many machines guess. The second and third refill steadily and never
  add up to long waits: an attack by made-up names ends for its address one second after the attack ends.
- A *known* visitor shows something that only a login to this very account gives: the cookie that the browser kept from it, or a
  session. Such a visitor is counted alone, by the first rule. Nobody else's tries matter, not even from the same address. A thief
  of the cookie is still slowed down, and a new password of the account makes the cookie worthless.

An address from which somebody logged in to the account is between the two: it is spared the third rule, so an attack from
elsewhere does not reach somebody with a new browser at the usual desk. What remains is an owner with a new browser at a new place
while the attack lasts; a one-time link is the way in. Links are 256 random bits, which nobody guesses: a right one is never
refused, wrong ones are counted so that a flood of them costs little.

Tries are counted before the password is hashed, so many at once do not slip through together, and a refused try costs no
hashing. Memory is bounded: each table forgets what was quiet for longest. In several processes each counts its own part (see
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
# A name at an address is forgotten when it was quiet for this long.
FORGET_AFTER_S: Final = 3600.0
# One address may be a whole company behind a proxy.
FREE_TRIES_OF_ADDRESS: Final = 50
ADDRESS_PAUSE_S: Final = 1.0
FREE_TRIES_OF_NAME: Final = 20
NAME_PAUSE_S: Final = 30.0
MAX_KEYS: Final = 10_000

T = TypeVar("T")


class _Table(Protocol):
    """One way of counting."""

    def wait_s(self, key: Hashable, now: float) -> float: ...

    def count(self, key: Hashable, now: float) -> None: ...

    def take_back(self, key: Hashable) -> None: ...

    def forgive(self, key: Hashable) -> None: ...


@dataclass(slots=True)
class _Tries:
    n: int
    last: float


class _GrowingWaits:
    """So many tries are free, then each wait is twice as long as the one before."""

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
    """So many tries are free, then there is one more for each pause that passes."""

    def __init__(self, n_free: int, pause_s: float, n_processes: int, max_keys: int) -> None:
        self._pause_s = pause_s * n_processes
        self._free_s = (max(1, n_free // n_processes) - 1) * self._pause_s
        self._max_keys = max_keys
        # When all tries so far will be paid off; a try is paid off by one pause.
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
        # Only the try that was right: other people's wrong ones are under this key, too.
        self.take_back(key)


def _put_last(table: OrderedDict[Hashable, T], key: Hashable, value: T, max_keys: int) -> None:
    # The newest stands at the end, so the first is the one that was quiet for longest.
    table[key] = value
    if len(table) > max_keys:
        table.popitem(last=False)


class Attempt:
    """A try that was let through, and counted."""

    def __init__(self, counts: Sequence[tuple[_Table, Hashable]]) -> None:
        self._counts = counts

    def succeed(self) -> None:
        """Forgive the tries: the secret was right."""
        for table, key in self._counts:
            table.forgive(key)

    def withdraw(self) -> None:
        """Take back this try: it was not looked at."""
        for table, key in self._counts:
            table.take_back(key)


class Throttle:
    """Counts tries in bounded memory.

    Each of `n_processes` sees only its part of the tries: it gives its part of the free ones and lets wait so many times longer,
    so that all together let through no more than one would.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_keys: int = MAX_KEYS, n_processes: int = 1) -> None:
        self._clock = clock
        # Tables of their own, so that a flood of one kind of key does not push out counts of another kind.
        self._pairs = _GrowingWaits(FREE_TRIES, n_processes, max_keys)
        self._known = _GrowingWaits(FREE_TRIES, n_processes, max_keys)
        self._addresses = _SteadyRate(FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S, n_processes, max_keys)
        self._names = _SteadyRate(FREE_TRIES_OF_NAME, NAME_PAUSE_S, n_processes, max_keys)
        self._links = _SteadyRate(FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S, n_processes, max_keys)

    def attempt(self, name: str, address: str, *, is_known_address: bool = False) -> Attempt:
        """Count a stranger's try.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        group = group_of(address)
        counts: list[tuple[_Table, Hashable]] = [(self._pairs, (name, group)), (self._addresses, group)]
        if not is_known_address:
            counts.append((self._names, name))
        return self._count(counts)

    def attempt_known(self, name: str, proof: bytes) -> Attempt:
        """Count a try of somebody who has proved an earlier login to this account.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        return self._count([(self._known, (name, proof))])

    def is_name_crowded(self, name: str) -> bool:
        """Return whether a stranger's try would have to wait because of the name alone."""
        return self._names.wait_s(name, self._clock()) > 0

    def count_wrong_link(self, address: str) -> None:
        """Count a link that opens nothing.

        Raises: TooManyRequests when there were many
        """
        self._count([(self._links, group_of(address))])

    def _count(self, counts: Sequence[tuple[_Table, Hashable]]) -> Attempt:
        now = self._clock()
        wait_s = max(table.wait_s(key, now) for table, key in counts)
        if wait_s > 0:
            retry_after_s = math.ceil(wait_s)
            raise TooManyRequests(
                f"Too many wrong tries; wait {retry_after_s} s before the next one", {"retry_after_s": retry_after_s}
            )
        for table, key in counts:
            table.count(key, now)
        return Attempt(counts)

    def __len__(self) -> int:
        return sum(len(table) for table in (self._pairs, self._known, self._addresses, self._names, self._links))
