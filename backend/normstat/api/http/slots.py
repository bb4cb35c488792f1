"""Bound how many expensive answers are made at once; further requests wait for a while, and then get 503."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio.to_thread

from normstat.api.http.fair_queue import FairQueue, QueueIsFull
from normstat.errors import Overloaded

T = TypeVar("T")

RETRY_AFTER_S: Final = 10
# Maximum number of waiting requests per slot; each costs a connection and some kilobytes.
MAX_WAITING: Final = 16


class Slots:
    """Slots for answers of one kind in one process.

    One account never holds all of them, so that a single user cannot keep all others out. `max_waiting`: per slot; None: any number
    """

    def __init__(self, what: str, *, n_at_once: int, max_wait_s: float, max_waiting: int | None = MAX_WAITING) -> None:
        self._what = what
        self._max_wait_s = max_wait_s
        most = None if max_waiting is None else max_waiting * n_at_once
        self._queue: FairQueue[str] = FairQueue(n_at_once, max_per_key=max(1, n_at_once - 1), max_waiting=most)

    @property
    def n_held(self) -> int:
        """The number of slots in use."""
        return self._queue.n_held

    @asynccontextmanager
    async def hold(self, account: str) -> AsyncIterator[None]:
        """Hold a slot as long as the block runs.

        Raises: Overloaded when none becomes free in time, or too many wait already
        """
        try:
            await self._queue.enter(account, max_wait_s=self._max_wait_s)
        except (TimeoutError, QueueIsFull):
            raise self._refusal(account) from None
        try:
            yield
        finally:
            self._queue.leave(account)

    async def run(self, account: str, work: Callable[[], T]) -> T:
        """Return what `work` returns, which runs in a thread and holds a slot.

        Raises: Overloaded; what `work` raises
        """
        async with self.hold(account):
            return await anyio.to_thread.run_sync(work)

    def _refusal(self, account: str) -> Overloaded:
        queue = self._queue
        return Overloaded(
            f"{self._what.capitalize()} running: {queue.n_held} ({queue.held_by(account)} of them yours). "
            f"At most {queue.capacity} run at once, {queue.max_per_key} per account. Try again in a moment",
            {"retry_after_s": RETRY_AFTER_S, "max_at_once": queue.capacity},
        )
