"""Attempts at once, for a process of its own."""

import asyncio

from normstat.auth.throttle import Throttle
from normstat.errors import TooManyRequests
from normstat.storage.session import make_engine, make_sessions


def count_allowed(database_url: str, n: int) -> int:
    """Return how many of `n` attempts at the same instant were allowed."""
    return asyncio.run(_burst(database_url, n))


async def _burst(database_url: str, n: int) -> int:
    engine = make_engine(database_url, pool_size=4)
    throttle = Throttle(make_sessions(engine), lambda: 1000.0)
    done = await asyncio.gather(*(throttle.attempt("ann", "10.0.0.1") for _ in range(n)), return_exceptions=True)
    await engine.dispose()
    refused = [each for each in done if isinstance(each, BaseException)]
    assert all(isinstance(each, TooManyRequests) for each in refused), refused
    return n - len(refused)
