"""Password hashing with argon2id, off the event loop, with few threads and short queues.

A hash takes 64 MiB and most of a core for some 50 ms. There are two lanes of one thread each, so a flood exhausts neither memory
nor CPU: one lane for strangers who try a password, one for known visitors (see throttle.py) and for logged-in users. A lane has a
short queue which no single client can fill; a client that finds it full gets 503 at once. So a login never waits for
minutes, and known visitors never wait for strangers.
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
# Per address, or per account.
MAX_WAITING_OF_ONE: Final = 8
RETRY_AFTER_S: Final = 1
_HASHER: Final = PasswordHasher()

T = TypeVar("T")


class HashingLane:
    """One worker thread with a short queue."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(1)
        self._n_of: Counter[str] = Counter()

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """Hold a place in the queue while the block runs; `who` identifies the client among those sharing the lane.

        Raises: Overloaded when the queue is full
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
        """Return the result of the work, run after earlier work; call it while holding a place."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    async def run(self, who: str, work: Callable[[], T]) -> T:
        """Return the result of the work.

        Raises: Overloaded when the queue is full; the work was not started then
        """
        with self.place(who):
            return await self.work(work)


@cache
def stranger_lane() -> HashingLane:
    """Return the lane of clients that have proved nothing yet."""
    return HashingLane()


@cache
def known_lane() -> HashingLane:
    """Return the lane of logged-in users and of browsers that logged in to this account before."""
    return HashingLane()


@cache
def _dummy_hash() -> str:
    return _HASHER.hash("the password of an account that does not exist")


async def hash_password(password: str, *, who: str) -> str:
    """Return the argon2id hash with its parameters and salt; `who` sets the password.

    Raises: Overloaded
    """
    return await known_lane().run(who, lambda: _HASHER.hash(password))


async def verify_password(password_hash: str | None, password: str, lane: HashingLane) -> bool:
    """Return whether the password is right; without a hash (no such account, no password) it takes as long and returns False.

    Call it while holding a place in the lane.
    """
    return await lane.work(lambda: _verify(password_hash, password))


def _verify(password_hash: str | None, password: str) -> bool:
    try:
        _HASHER.verify(password_hash or _dummy_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None
