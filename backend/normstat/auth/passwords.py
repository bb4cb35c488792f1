"""Passwords: argon2id, computed outside of the event loop, by few threads and for few at a time.

A hash takes 64 MiB and most of a core for some 50 ms. There are two lanes of one thread each, so a flood takes neither the memory
nor the machine: one lane for strangers who try a password, one for known visitors (see throttle.py) and for people who are logged
in. A lane has a short queue, and nobody fills it alone; whoever finds no place is told at once to come again. So a login never
waits for minutes, and those who are known do not wait for strangers at all.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final, TypeVar

import anyio
import anyio.to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from normstat.errors import Overloaded

MAX_WAITING: Final = 32
# Of one address, or one account.
MAX_WAITING_OF_ONE: Final = 8
RETRY_AFTER_S: Final = 1
_HASHER: Final = PasswordHasher()

T = TypeVar("T")


class Lane:
    """One thread with a short queue."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(1)
        self._n_of: Counter[str] = Counter()

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """Hold a place in the queue as long as the block runs; `who` shares the lane with others.

        Raises: Overloaded when there is none
        """
        if self._n_of.total() > MAX_WAITING or self._n_of[who] > MAX_WAITING_OF_ONE:
            raise Overloaded("Too many logins at once; try again in a few seconds", {"retry_after_s": RETRY_AFTER_S})
        self._n_of[who] += 1
        try:
            yield
        finally:
            self._n_of[who] -= 1
            if not self._n_of[who]:
                del self._n_of[who]

    async def work(self, work: Callable[[], T]) -> T:
        """Return what the work returns, after those who came before; to be called with a place."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    async def run(self, who: str, work: Callable[[], T]) -> T:
        """Return what the work returns.

        Raises: Overloaded when there is no place in the queue; the work was not begun then
        """
        with self.place(who):
            return await self.work(work)


@cache
def lane_of_strangers() -> Lane:
    """Return the lane of those who have proved nothing yet."""
    return Lane()


@cache
def lane_of_known() -> Lane:
    """Return the lane of those who are logged in, or were in this account before."""
    return Lane()


@cache
def _hash_of_nobody() -> str:
    return _HASHER.hash("the password of an account that does not exist")


async def hash_password(password: str, *, who: str) -> str:
    """Return the argon2id hash with its parameters and salt; `who` sets the password.

    Raises: Overloaded
    """
    return await lane_of_known().run(who, lambda: _HASHER.hash(password))


async def verify_password(password_hash: str | None, password: str, lane: Lane) -> bool:
    """Return whether the password is right; without a hash (no such account, no password) it takes as long and is wrong.

    To be called with a place in the lane.
    """
    return await lane.work(lambda: _verify(password_hash, password))


def _verify(password_hash: str | None, password: str) -> bool:
    try:
        _HASHER.verify(password_hash or _hash_of_nobody(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None
