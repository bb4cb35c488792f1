"""Work for many hosts (or baselines, or deletions) in turn: a failure does not stop the others, and waits for its next try.

Failures are remembered by one process. Another process, or the same one after a restart, tries at once what failed here; that costs
one more line in the log.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from normstat.errors import NormstatError
from normstat.runtime.readable import count_of

log = structlog.get_logger()

Key = TypeVar("Key", bound=Hashable)

FIRST_WAIT_S: Final = 60.0
MAX_WAIT_S: Final = 3600.0
MAX_SHOWN: Final = 300
# Errors not caused by the host whose turn it is: the next one would meet the same.
AWAY: Final = (
    psycopg.errors.AdminShutdown,
    psycopg.errors.CrashShutdown,
    psycopg.errors.CannotConnectNow,
    psycopg.errors.TooManyConnections,
    psycopg.errors.DiskFull,
    psycopg.InterfaceError,
)


def is_database_away(error: BaseException) -> bool:
    """Return whether the database is gone, full or overrun, whatever was asked of it."""
    if isinstance(error, PoolTimeout) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return True
    cause = error.orig if isinstance(error, DBAPIError) else error
    # Without a code the error is from libpq: there was no answer.
    return isinstance(cause, AWAY) or (isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None)


def describe(error: BaseException) -> str:
    """Return the error in one line."""
    text = error.message if isinstance(error, NormstatError) else str(error.orig if isinstance(error, DBAPIError) else error)
    text = text.strip() or type(error).__name__
    return text.splitlines()[0][:MAX_SHOWN]


def retry_wait_s(n_failures: int, first_s: float = FIRST_WAIT_S, max_s: float = MAX_WAIT_S) -> float:
    """Return how long to wait after this many failures in a row: each further one doubles the wait, up to `max_s`."""
    doublings = min(max(n_failures, 1) - 1, 20)
    return min(max_s, first_s * 2.0**doublings)


class Failures:
    """The failures of one run of a job, a line each, while everything else went on."""

    def __init__(self, event: str) -> None:
        self._event = event
        self.lines: list[str] = []

    @contextmanager
    def keep(self, what: str) -> Iterator[None]:
        """Run the block; a failure is logged as the event and kept, and does not leave the block.

        Raises: what the database raises when it is away
        """
        try:
            yield
        except Exception as error:
            if is_database_away(error):
                raise
            log.warning(self._event, what=what, error=describe(error), exc_info=error)
            self.lines.append(f"{what}: {describe(error)}")


@dataclass(frozen=True, slots=True)
class Failure:
    """The last failure of a key: how many there were in a row, and when it may be tried again."""

    error: Exception
    n: int
    next_try_s: float


class Turns(Generic[Key]):
    """Whose turn it is: first those that had none yet, then those whose last one is longest ago; failed ones when they have waited.

    A key waits a minute after its first failure and twice as long after each further one, up to an hour. `event` is what the log
    calls a failure.
    """

    def __init__(self, event: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._event = event
        self._clock = clock
        self._n_served = 0
        self._served: dict[Key, int] = {}
        self._failures: dict[Key, Failure] = {}

    @property
    def failures(self) -> dict[Key, Failure]:
        """Keys that failed and have not succeeded since."""
        return dict(self._failures)

    def tell_failures(self, noun: str) -> str:
        """Return how many failed, and the first reason; empty where none did. `noun`: what a key is"""
        if not self._failures:
            return ""
        first = next(iter(self._failures.values()))
        return f"{count_of(len(self._failures), noun)} failed, the first with: {describe(first.error)}"

    def order(self, keys: Sequence[Key]) -> list[Key]:
        """Return those of the keys that are due, in the order of their turns; keys that are not named are forgotten."""
        named = set(keys)
        self._served = {key: number for key, number in self._served.items() if key in named}
        self._failures = {key: failure for key, failure in self._failures.items() if key in named}
        now_s = self._clock()
        due = [key for key in keys if key not in self._failures or self._failures[key].next_try_s <= now_s]
        return sorted(due, key=lambda key: self._served.get(key, 0))

    @contextmanager
    def turn(self, key: Key, **facts: object) -> Iterator[None]:
        """Run the block as the key's turn; a failure is logged with the facts and kept, and does not leave the block.

        Raises: what the database raises when it is away
        """
        self._n_served += 1
        self._served[key] = self._n_served
        try:
            yield
        except Exception as error:
            if is_database_away(error):
                raise
            self._fail(key, error, facts)
        else:
            self._failures.pop(key, None)

    def _fail(self, key: Key, error: Exception, facts: dict[str, object]) -> None:
        before = self._failures.get(key)
        n = 1 if before is None else before.n + 1
        wait_s = retry_wait_s(n)
        self._failures[key] = Failure(error, n, self._clock() + wait_s)
        said = {**facts, "error": describe(error), "n_failures": n, "next_try_in_s": round(wait_s)}
        if isinstance(error, NormstatError):
            log.warning(self._event, **said)
        else:
            # A defect; the traceback is logged the first time.
            log.error(self._event, **said, exc_info=error if n == 1 else None)
