"""Results of comparisons are kept: given again as long as nothing changed, never afterwards, and made once for all who ask."""

import asyncio

import numpy as np
import pytest

from normstat.api.comparison_cache import ComparisonCache, ComparisonResult
from normstat.comparison.host_comparison import Progress
from normstat.comparison.series_rows import SeriesRows
from normstat.errors import NoData, Overloaded
from tests.cli.connection_rig import settle


def result(n_bytes: int) -> ComparisonResult:
    return ComparisonResult(b"x" * (n_bytes - 2000), [])


class Work:
    """Makes results when it is told to, and counts."""

    def __init__(self, n_bytes: int = 3000) -> None:
        self.n_made = 0
        self.n_stopped = 0
        self.go = asyncio.Event()
        self.n_bytes = n_bytes
        self.error: Exception | None = None

    async def __call__(self, tell: Progress) -> ComparisonResult:
        self.n_made += 1
        await tell(0, 1, "working")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.n_stopped += 1
            raise
        if self.error is not None:
            raise self.error
        return result(self.n_bytes)


async def test_two_who_ask_at_once_share_the_work_and_its_progress() -> None:
    cache, work = ComparisonCache(10_000), Work()
    told: list[str] = []

    async def tell(_done: int, _total: int, what: str) -> None:
        told.append(what)

    tasks = [asyncio.create_task(cache.find("a", work, tell)) for _ in range(3)]
    await settle()
    work.go.set()
    found = await asyncio.gather(*tasks)
    assert work.n_made == 1
    assert found[0] is found[1] is found[2]
    assert told == ["working"] * 3
    assert await cache.find("a", work) is found[0]
    assert work.n_made == 1


async def test_what_one_gives_up_the_other_still_gets() -> None:
    cache, work = ComparisonCache(10_000), Work()
    first, second = (asyncio.create_task(cache.find("a", work)) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    assert (first.cancelled(), work.n_stopped) == (True, 0)
    work.go.set()
    assert (await second).n_bytes == 3000


async def test_when_nobody_waits_the_work_stops_and_who_comes_then_begins_anew() -> None:
    cache, work = ComparisonCache(10_000), Work()
    task = asyncio.create_task(cache.find("a", work))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.n_stopped == 1
    work.go.set()
    await cache.find("a", work)
    assert work.n_made == 2


async def test_errors_are_not_kept_and_who_did_not_wait_in_the_queue_tries_itself() -> None:
    cache, work = ComparisonCache(10_000), Work()
    work.error = NoData("nothing there")
    work.go.set()
    for _ in range(2):
        with pytest.raises(NoData):
            await cache.find("a", work)
    assert work.n_made == 2
    work.go.clear()
    work.error = Overloaded("others run")
    first, second = (asyncio.create_task(cache.find("b", work)) for _ in range(2))
    await settle()
    work.go.set()
    for task in (first, second):
        with pytest.raises(Overloaded):
            await task
    # Each was refused by its own turn.
    assert work.n_made == 4


async def test_the_bytes_are_bounded_and_the_oldest_goes_first() -> None:
    cache, work = ComparisonCache(10_000), Work()
    work.go.set()
    for key in ("a", "b", "c"):
        await cache.find(key, work)
    await cache.find("a", work)
    assert (work.n_made, cache.n_bytes) == (3, 9000)
    await cache.find("d", work)
    assert cache.n_bytes == 9000
    await cache.find("a", work)
    assert work.n_made == 4
    await cache.find("b", work)
    assert work.n_made == 5
    # What is larger than everything is given, and not kept.
    large = Work(20_000)
    large.go.set()
    await cache.find("e", large)
    assert cache.n_bytes == 9000
    nothing = ComparisonCache(0)
    for _ in range(2):
        await nothing.find("a", work)
    assert (work.n_made, nothing.n_bytes) == (7, 0)


def test_rows_count() -> None:
    n = 1000
    rows = SeriesRows(
        "web1", [], [], np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int8), np.zeros((2, n), np.int32),
        np.zeros((2, 3, n)), np.zeros(n, np.int8), np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n, np.float32),
    )  # fmt: skip
    assert ComparisonResult(b"{}", [rows]).n_bytes == 2002 + n * 78
