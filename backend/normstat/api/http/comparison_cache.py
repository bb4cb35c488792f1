"""Results of comparisons, cached by their complete inputs up to a number of bytes; concurrent requests share one run."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from normstat.comparison.host_comparison import Progress
from normstat.comparison.series_rows import SeriesRows
from normstat.errors import Overloaded

# Python's objects around one result.
ENTRY_BYTES: Final = 2000


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """A result: its JSON, and the rows of its series, host by host."""

    body: bytes
    rows: list[SeriesRows]

    @property
    def n_bytes(self) -> int:
        """Return about how much memory it takes."""
        return ENTRY_BYTES + len(self.body) + sum(rows.n_bytes for rows in self.rows)


Make = Callable[[Progress], Awaitable[ComparisonResult]]


class _Flight:
    """A running comparison, and the requests that wait for it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[ComparisonResult] | None = None
        self.n_waiting = 0
        self._listeners: list[Progress] = []

    async def tell(self, done: int, total: int, what: str) -> None:
        """Report the progress to all waiting requests."""
        for listener in list(self._listeners):
            await listener(done, total, what)

    async def wait(self, progress: Progress | None) -> ComparisonResult:
        """Return the result.

        When the last waiting request is cancelled, so is the work, which has ended before this raises.
        """
        assert self.task is not None
        self.n_waiting += 1
        if progress is not None:
            self._listeners.append(progress)
        try:
            return await asyncio.shield(self.task)
        finally:
            self.n_waiting -= 1
            if progress is not None:
                self._listeners.remove(progress)
            if self.n_waiting == 0 and not self.task.done():
                self.task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await asyncio.wait({self.task})


class ComparisonCache:
    """The results of one process; the least recently used is dropped first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, ComparisonResult] = OrderedDict()
        self._flights: dict[str, _Flight] = {}
        self.n_bytes = 0

    async def find(self, key: str, make: Make, progress: Progress | None = None) -> ComparisonResult:
        """Return the result of this key: cached, or made now, once for all concurrent requests.

        Raises: what `make` raises
        """
        while True:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
            flight = self._flights.get(key)
            is_mine = flight is None or flight.n_waiting == 0
            if flight is None or is_mine:
                flight = self._begin(key, make)
            try:
                return await flight.wait(progress)
            except Overloaded:
                # That was another account's turn.
                if is_mine:
                    raise

    def _begin(self, key: str, make: Make) -> _Flight:
        flight = _Flight()
        self._flights[key] = flight

        async def work() -> ComparisonResult:
            try:
                result = await make(flight.tell)
                self._keep(key, result)
                return result
            finally:
                if self._flights.get(key) is flight:
                    del self._flights[key]

        flight.task = asyncio.create_task(work())
        # When no request waits any more, the error is not retrieved.
        flight.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return flight

    def _keep(self, key: str, result: ComparisonResult) -> None:
        if result.n_bytes > self._max_bytes:
            return
        self._entries[key] = result
        self.n_bytes += result.n_bytes
        while self.n_bytes > self._max_bytes:
            _, gone = self._entries.popitem(last=False)
            self.n_bytes -= gone.n_bytes
