"""What a comparison may use of the server's memory, and how it is stopped when nobody wants it any more.

The arithmetic runs in a thread, which nothing can end from outside: so it asks now and then whether it is to go on. Sizes are
estimated before the memory is taken. Outside of `working` (commands, tests of the arithmetic) there are no limits.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, ParamSpec, TypeVar

import anyio.to_thread

from normstat.errors import Overloaded, TooLarge

T_ = TypeVar("T_")
P_ = ParamSpec("P_")
MIB: Final = 1 << 20
RETRY_AFTER_S: Final = 10
# Measured at 500,000 series of two samples each: records, texts and summaries, for each side that a series has.
SERIES_BYTES: Final = 1400
# Temporaries of the arithmetic for each value of the matrix that is worked on, the matrix itself included.
CELL_BYTES: Final = 40
# What remains of a series that is in a list of the answer.
LISTED_BYTES: Final = 800


class Stopped(Exception):
    """Nobody waits for the comparison any more."""


class MemoryPool:
    """The memory that all comparisons of a process share."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_used = 0
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> bool:
        """Take so much (a negative number gives back); False where that is more than is left."""
        with self._lock:
            if n_bytes > 0 and self.n_used + n_bytes > self.max_bytes:
                return False
            self.n_used += n_bytes
            return True


class Work:
    """One comparison: what it holds of the pool, and whether it is to stop."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._is_stopped = threading.Event()
        self._n_scratch = 0
        self._largest = (0, "")
        self.n_held = 0

    def stop(self) -> None:
        """Let the next check raise Stopped."""
        self._is_stopped.set()

    def check(self) -> None:
        """Go on only while somebody waits.

        Raises: Stopped
        """
        if self._is_stopped.is_set():
            raise Stopped

    def keep(self, n_bytes: int, what: str = "") -> None:
        """Count memory that stays; `what` is the stat that it is for, in words.

        Raises: TooLarge, Overloaded, Stopped
        """
        self.check()
        if what and n_bytes > self._largest[0]:
            self._largest = (n_bytes, what)
        self._take(n_bytes)
        self.n_held += n_bytes

    def use(self, n_bytes: int) -> None:
        """Count memory that is needed for a moment, instead of that of the call before.

        Raises: TooLarge, Overloaded, Stopped
        """
        self.check()
        self._take(n_bytes - self._n_scratch)
        self._n_scratch = n_bytes

    def release_to(self, n_bytes: int) -> None:
        """Give back what is held beyond so many bytes."""
        self.use(0)
        self._pool.take(n_bytes - self.n_held)
        self.n_held = n_bytes

    def _take(self, n_bytes: int) -> None:
        if self._pool.take(n_bytes):
            return
        needed = self.n_held + self._n_scratch + n_bytes
        most = self._pool.max_bytes
        largest = f" Most of it is for {self._largest[1]}." if self._largest[1] else ""
        if needed <= most:
            raise Overloaded(
                f"This comparison needs {needed // MIB:,} MiB, and others are using the memory ({most // MIB:,} MiB for all)."
                f"{largest} Try again in a moment",
                {"retry_after_s": RETRY_AFTER_S, "max_bytes": most},
            )
        raise TooLarge(
            f"This comparison needs more than {needed // MIB:,} MiB; {most // MIB:,} MiB are allowed (NORMSTAT_COMPARE_MAX_BYTES)."
            f"{largest} Compare shorter windows, or fewer hosts",
            {"max_bytes": most, "needed_bytes": needed},
        )


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def working(pool: MemoryPool) -> Iterator[Work]:
    """Make the block one comparison; its memory is given back at the end."""
    work = Work(pool)
    token = _current.set(work)
    try:
        yield work
    finally:
        _current.reset(token)
        pool.take(-work.n_held - work._n_scratch)  # noqa: SLF001 (ours)


def check() -> None:
    """Go on only while somebody waits for the present comparison.

    Raises: Stopped
    """
    work = _current.get()
    if work is not None:
        work.check()


def keep(n_bytes: int, what: str = "") -> None:
    """Count memory that stays as long as the present host is compared.

    Raises: TooLarge, Overloaded, Stopped
    """
    work = _current.get()
    if work is not None:
        work.keep(n_bytes, what)


def use(n_bytes: int) -> None:
    """Count memory that is needed for a moment, instead of that of the call before.

    Raises: TooLarge, Overloaded, Stopped
    """
    work = _current.get()
    if work is not None:
        work.use(n_bytes)


@contextmanager
def host_memory() -> Iterator[None]:
    """Give back at the end of the block what was kept in it."""
    work = _current.get()
    held = 0 if work is None else work.n_held
    yield
    # After an error the whole comparison gives back.
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
            # Stopped, or what became of it; nobody wants it.
            task.exception()
        raise
