"""The background loops of a server: each repeats its step until it is cancelled, even after errors."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from normstat.db.turns import retry_wait_s

log = structlog.get_logger()

FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0


async def keep_running(
    name: str,
    step: Callable[[], Awaitable[object]],
    *,
    every_s: float | None = None,
    wake: asyncio.Event | None = None,
    first_pause_s: float = FIRST_PAUSE_S,
    max_pause_s: float = MAX_PAUSE_S,
) -> None:
    """Repeat the step, `every_s` seconds after its end or when `wake` is set, until cancelled.

    A step that fails is repeated after a pause, which doubles with each failure in a row; so is one that ends where `every_s` is
    None: it was meant to run forever. The log has the traceback of a defect, and one line when the database was lost.
    """
    n_failures = 0
    while True:
        if wake is not None:
            wake.clear()
        task = asyncio.ensure_future(step())
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        error = None if task.cancelled() else task.exception()
        if every_s is not None and error is None and not task.cancelled():
            n_failures = 0
            await pause(every_s, wake)
            continue
        n_failures += 1
        pause_s = retry_wait_s(n_failures, first_pause_s, max_pause_s)
        if isinstance(error, DBAPIError | PoolTimeout | psycopg.Error):
            cause = (str(error).splitlines() or [""])[0]
            log.warning("task_lost_database", task=name, error=type(error).__name__, cause=cause, starts_again_in_s=pause_s)
        else:
            log.error("task_ended", task=name, starts_again_in_s=pause_s, exc_info=error)
        await asyncio.sleep(pause_s)


async def pause(seconds: float, wake: asyncio.Event | None) -> None:
    """Sleep for the given time, or until the event is set."""
    if wake is None:
        await asyncio.sleep(seconds)
        return
    # Not wait_for: that of Python 3.11 loses a cancellation that comes together with the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wake.wait()
