"""A capacity shared by many: slots, or bytes. Requests wait for their share of it, key by key."""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

# None is no key: it means that no request waits.
Key = TypeVar("Key", str, int)
_Waiting = tuple[int, "asyncio.Future[None]"]


class QueueIsFull(Exception):
    """No more requests may wait."""


class FairQueue(Generic[Key]):
    """A capacity in units, shared by keys: addresses, accounts or tokens.

    Keys take turns: the one just served goes to the end. The requests of one key are served in their order. A key
    that has its share is passed over. A request that needs more than is free holds back all others, so that large ones are not
    starved by small ones.
    """

    def __init__(self, capacity: int, *, max_per_key: int | None = None, max_waiting: int | None = None) -> None:
        self.capacity = capacity
        self.max_per_key = capacity if max_per_key is None else max_per_key
        self.n_held = 0
        self.n_waiting = 0
        self._max_waiting = max_waiting
        self._held: Counter[Key] = Counter()
        self._waiting: OrderedDict[Key, deque[_Waiting]] = OrderedDict()
        # Requests of more than one unit among those that wait.
        self._n_large = 0

    def held_by(self, key: Key) -> int:
        """Return the units that the key holds."""
        return self._held[key]

    @asynccontextmanager
    async def hold(self, key: Key, size: int = 1, *, max_wait_s: float) -> AsyncIterator[None]:
        """Hold units, no more than a key may hold, as long as the block runs.

        Raises: TimeoutError, QueueIsFull
        """
        wanted = min(size, self.capacity, self.max_per_key)
        await self.enter(key, wanted, max_wait_s=max_wait_s)
        try:
            yield
        finally:
            self.leave(key, wanted)

    async def enter(self, key: Key, size: int = 1, *, max_wait_s: float) -> None:
        """Take units as soon as it is this request's turn.

        Raises: TimeoutError, QueueIsFull
        """
        if not self._n_large and key not in self._waiting and self._is_free(key, size):
            self.take(key, size)
            return
        if self._max_waiting is not None and self.n_waiting >= self._max_waiting:
            raise QueueIsFull
        turn = asyncio.get_running_loop().create_future()
        self._join(key, (size, turn))
        self._call_next()
        try:
            async with asyncio.timeout(max_wait_s):
                await turn
        except (TimeoutError, asyncio.CancelledError):
            if turn.done() and not turn.cancelled():
                # Its turn came as it timed out; pass it on.
                self.leave(key, size)
            else:
                self._give_up(key, (size, turn))
            raise

    def take(self, key: Key, size: int = 1) -> None:
        """Take units without waiting, even if none are free."""
        self.n_held += size
        self._held[key] += size

    def leave(self, key: Key, size: int = 1) -> None:
        """Give units back; those whose turn it is continue."""
        self.n_held -= size
        self._held[key] -= size
        if not self._held[key]:
            del self._held[key]
        # It may have been served without waiting while others joined the queue behind its next requests.
        if key in self._waiting:
            self._waiting.move_to_end(key)
        self._call_next()

    def _is_free(self, key: Key, size: int) -> bool:
        return self.n_held + size <= self.capacity and self._held[key] + size <= self.max_per_key

    def _join(self, key: Key, waiting: _Waiting) -> None:
        self._waiting.setdefault(key, deque()).append(waiting)
        self.n_waiting += 1
        self._n_large += waiting[0] > 1

    def _leave_queue(self, waiting: _Waiting) -> None:
        self.n_waiting -= 1
        self._n_large -= waiting[0] > 1

    def _give_up(self, key: Key, waiting: _Waiting) -> None:
        queue = self._waiting.get(key)
        if queue is None:
            return
        with contextlib.suppress(ValueError):
            queue.remove(waiting)
            self._leave_queue(waiting)
        if not queue:
            del self._waiting[key]
        self._call_next()

    def _call_next(self) -> None:
        while (key := self._find_next()) is not None:
            queue = self._waiting[key]
            waiting = queue.popleft()
            self._leave_queue(waiting)
            if queue:
                self._waiting.move_to_end(key)
            else:
                del self._waiting[key]
            size, turn = waiting
            if not turn.done():
                self.take(key, size)
                turn.set_result(None)

    def _find_next(self) -> Key | None:
        """Return the key whose turn it is. Missing: None if no request waits, or none fits now."""
        for key, queue in self._waiting.items():
            size = queue[0][0]
            if self._held[key] + size > self.max_per_key:
                continue
            return key if self.n_held + size <= self.capacity else None
        return None
