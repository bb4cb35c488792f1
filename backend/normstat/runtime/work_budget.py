"""Memory budget and cancellation of comparisons.

The arithmetic runs in a thread, which cannot be killed from outside: so it checks now and then whether to continue. Sizes are
estimated before the memory is allocated. Outside of `working` (commands, tests of the arithmetic) there are no limits.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Final, ParamSpec, TypeVar

import anyio.to_thread

from normstat.errors import Overloaded, TooLarge
from normstat.runtime.readable import format_bytes

T_ = TypeVar("T_")
Item_ = TypeVar("Item_")
P_ = ParamSpec("P_")
RETRY_AFTER_S: Final = 10
# Records, texts and summaries per side of a series: 1,660 measured at 260,000 series of two samples each.
SERIES_BYTES: Final = 2000
# Temporary memory per value of the matrix being processed, including the matrix itself.
CELL_BYTES: Final = 40
# Memory kept for a series that is listed in the answer.
LISTED_BYTES: Final = 800
# How often a comparison that waits for memory checks whether it is free.
WAIT_S: Final = 0.05
# Threads that compute one comparison. The server has other work to do.
MAX_THREADS: Final = 2


class ComparisonStopped(Exception):
    """The comparison was abandoned by its client."""


class MemoryPool:
    """The memory shared by all comparisons of a process."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_used = 0
        self._lock = threading.Lock()
        # In the order in which they began.
        self._works: list[Work] = []

    def take(self, n_bytes: int) -> bool:
        """Take `n_bytes` (negative: give back); return False if less is available."""
        with self._lock:
            if n_bytes > 0 and self.n_used + n_bytes > self.max_bytes:
                return False
            self.n_used += n_bytes
            return True

    def enter(self, work: "Work") -> None:
        """Register a comparison that begins."""
        with self._lock:
            self._works.append(work)

    def leave(self, work: "Work") -> None:
        """Remove a comparison that has ended."""
        with self._lock:
            self._works.remove(work)

    def give_way_to(self, work: "Work") -> bool:
        """Stop all others if `work` began first, so that one comparison always finishes; return False if it did not."""
        with self._lock:
            if self._works[0] is not work:
                return False
            for other in self._works[1:]:
                other.give_way()
            return True


class Work:
    """One comparison: the memory it holds, and whether it must stop."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._is_stopped = threading.Event()
        self._must_give_way = threading.Event()
        self._n_scratch = 0
        self._largest = (0, "")
        # `in_threads` has several threads work for it.
        self._lock = threading.Lock()
        self.n_held = 0

    def stop(self) -> None:
        """Make the next check raise Stopped."""
        self._is_stopped.set()

    def give_way(self) -> None:
        """Make the next check raise Overloaded."""
        self._must_give_way.set()

    def check(self) -> None:
        """Raise if the client is gone, or an earlier comparison needs the memory.

        Raises: Stopped, Overloaded
        """
        if self._is_stopped.is_set():
            raise ComparisonStopped
        if self._must_give_way.is_set():
            raise self._refusal(self.n_held + self._n_scratch)

    def keep(self, n_bytes: int, what: str = "") -> bool:
        """Count memory that is kept, and return True; False if the caller must wait for it. `what` names the stat it is for.

        Raises: TooLarge, Overloaded, Stopped
        """
        with self._lock:
            if what and n_bytes > self._largest[0]:
                self._largest = (n_bytes, what)
            if not self._take(n_bytes):
                return False
            self.n_held += n_bytes
            return True

    def use(self, n_bytes: int) -> bool:
        """Count temporary memory, replacing that of the previous call, and return True; False if the caller must wait for it.

        Raises: TooLarge, Overloaded, Stopped
        """
        with self._lock:
            if not self._take(n_bytes - self._n_scratch):
                return False
            self._n_scratch = n_bytes
            return True

    def release_to(self, n_bytes: int) -> None:
        """Give back everything above `n_bytes`."""
        self._pool.take(n_bytes - self.n_held - self._n_scratch)
        self.n_held, self._n_scratch = n_bytes, 0

    def _take(self, n_bytes: int) -> bool:
        self.check()
        if self._pool.take(n_bytes):
            return True
        needed = self.n_held + self._n_scratch + n_bytes
        most = self._pool.max_bytes
        if needed > most:
            raise TooLarge(
                f"This comparison needs more than {format_bytes(needed)}; the limit is {format_bytes(most)}"
                f" (NORMSTAT_COMPARE_MAX_BYTES).{self._say_largest()} Compare shorter windows, or fewer hosts",
                {"max_bytes": most, "needed_bytes": needed},
            )
        if not self._pool.give_way_to(self):
            raise self._refusal(needed)
        return False

    def _refusal(self, needed: int) -> Overloaded:
        most = self._pool.max_bytes
        return Overloaded(
            f"This comparison needs {format_bytes(needed)}, and another one is using the memory ({format_bytes(most)} for all)."
            f"{self._say_largest()} Try again in a moment",
            {"retry_after_s": RETRY_AFTER_S, "max_bytes": most},
        )

    def _say_largest(self) -> str:
        return f" Most of it is for {self._largest[1]}." if self._largest[1] else ""


_current: ContextVar[Work | None] = ContextVar("work", default=None)
# Threads or tasks that work side by side: each has its own temporary memory.
_n_beside: ContextVar[int] = ContextVar("n_beside", default=1)


@contextmanager
def working(pool: MemoryPool, make: Callable[[MemoryPool], Work] = Work) -> Iterator[Work]:
    """Run the block as one comparison; its memory is given back at the end."""
    work = make(pool)
    pool.enter(work)
    token = _current.set(work)
    try:
        yield work
    finally:
        _current.reset(token)
        pool.leave(work)
        work.release_to(0)


def current() -> Work | None:
    """Return the comparison that this block belongs to. Missing: None outside of one"""
    return _current.get()


def check() -> None:
    """Raise if the client of the current comparison is gone.

    Raises: Stopped, Overloaded
    """
    work = _current.get()
    if work is not None:
        work.check()


def keep(n_bytes: int, what: str = "") -> None:
    """Count memory kept while the current host is compared; may block until it is free, so call it only in a thread.

    Raises: TooLarge, Overloaded, Stopped
    """
    work = _current.get()
    while work is not None and not work.keep(n_bytes, what):
        time.sleep(WAIT_S)


def use(n_bytes: int) -> None:
    """Count temporary memory, in place of that of the previous call; may block as `keep` does.

    Raises: TooLarge, Overloaded, Stopped
    """
    work = _current.get()
    while work is not None and not work.use(n_bytes * _n_beside.get()):
        time.sleep(WAIT_S)


def in_threads(function: Callable[[Item_], T_], items: Sequence[Item_]) -> list[T_]:
    """Return the function of each item, in their order, computed by MAX_THREADS threads at most. For arithmetic of arrays, which
    does not hold the interpreter's lock; the items need about as much temporary memory each.

    Raises: what the function raises; the items that were not begun are left out then
    """
    n_threads = min(MAX_THREADS, os.cpu_count() or 1, len(items))
    if n_threads < 2:
        return [function(item) for item in items]
    with side_by_side(n_threads):
        pool = ThreadPoolExecutor(n_threads, "comparison")
        try:
            futures = [pool.submit(copy_context().run, function, item) for item in items]
            return [future.result() for future in futures]
        finally:
            # After an error, no further item is begun.
            pool.shutdown(cancel_futures=True)


@contextmanager
def side_by_side(n: int) -> Iterator[None]:
    """Count temporary memory for this many workers at once, in threads and tasks that are begun in the block."""
    token = _n_beside.set(n)
    try:
        yield
    finally:
        _n_beside.reset(token)


async def keep_here(n_bytes: int, what: str = "") -> None:
    """Like `keep`, on the event loop."""
    work = _current.get()
    while work is not None and not work.keep(n_bytes, what):  # noqa: ASYNC110 (threads give it back)
        await asyncio.sleep(WAIT_S)


async def use_here(n_bytes: int) -> None:
    """Like `use`, on the event loop."""
    work = _current.get()
    while work is not None and not work.use(n_bytes * _n_beside.get()):  # noqa: ASYNC110 (see above)
        await asyncio.sleep(WAIT_S)


@contextmanager
def host_memory() -> Iterator[None]:
    """Give back at the end of the block what was kept in it, also after an error."""
    work = _current.get()
    held = 0 if work is None else work.n_held
    try:
        yield
    finally:
        if work is not None:
            work.release_to(held)


async def run_in_thread(function: Callable[P_, T_], *args: P_.args, **kwargs: P_.kwargs) -> T_:
    """Run the function in a thread; when cancelled, stop the work and wait until the thread has ended.

    Raises: Stopped
    """
    task = asyncio.ensure_future(anyio.to_thread.run_sync(lambda: function(*args, **kwargs)))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        work = _current.get()
        if work is not None:
            work.stop()
        await asyncio.wait({task})
        if not task.cancelled():
            # Stopped or failed; the result is not needed.
            task.exception()
        raise
