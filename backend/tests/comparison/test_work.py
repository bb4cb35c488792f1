"""What a comparison may use: it is counted before it is taken, refused in words, and given back."""

import asyncio
import threading

import numpy as np
import pytest

from normstat.errors import Overloaded, TooLarge
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.runtime import work_budget
from normstat.runtime.units import MIB
from normstat.runtime.work_budget import ComparisonStopped, MemoryPool, host_memory, run_in_thread, working


def test_memory_is_counted_and_given_back() -> None:
    pool = MemoryPool(100 * MIB)
    with working(pool) as own:
        work_budget.keep(30 * MIB, "vmstat")
        work_budget.use(50 * MIB)
        work_budget.use(20 * MIB)
        assert (pool.n_used, own.n_held) == (50 * MIB, 30 * MIB)
        with host_memory():
            work_budget.keep(40 * MIB)
        assert (pool.n_used, own.n_held) == (30 * MIB, 30 * MIB)
        work_budget.use(5 * MIB)
    assert pool.n_used == 0


def test_what_is_too_large_for_the_server_says_what_it_is_for() -> None:
    pool = MemoryPool(100 * MIB)
    with working(pool):
        work_budget.keep(30 * MIB, "vmstat_linux (1 instance, 60 rows)")
        expected = (
            r"needs more than 130 MiB; the limit is 100 MiB \(NORMSTAT_COMPARE_MAX_BYTES\)\."
            r" Most of it is for pidstat_linux \(222,000 instances, 444,000 rows\)\. Compare shorter windows, or fewer hosts"
        )
        with pytest.raises(TooLarge, match=expected):
            work_budget.keep(100 * MIB, "pidstat_linux (222,000 instances, 444,000 rows)")
    assert pool.n_used == 0


def test_of_two_that_need_the_same_memory_the_later_one_gives_way() -> None:
    pool = MemoryPool(100 * MIB)
    with working(pool) as first:
        work_budget.keep(60 * MIB, "vmstat")
        with working(pool) as second:
            with pytest.raises(Overloaded, match="Try again in a moment"):
                work_budget.use(50 * MIB)
            work_budget.keep(40 * MIB)
            # The first one waits, and the second one is told.
            assert not first.use(30 * MIB)
            for call in (work_budget.check, lambda: second.keep(1), lambda: second.use(1)):
                with pytest.raises(Overloaded):
                    call()
        assert first.use(30 * MIB)
        assert pool.n_used == 90 * MIB
    assert pool.n_used == 0


async def test_the_first_waits_in_its_thread_until_the_memory_is_free() -> None:
    pool = MemoryPool(100 * MIB)
    begun, holds = threading.Event(), asyncio.Event()

    def calculate() -> None:
        begun.set()
        work_budget.keep(80 * MIB)

    async def compare_second() -> None:
        with working(pool):
            await work_budget.keep_here(40 * MIB)
            holds.set()
            await asyncio.to_thread(begun.wait)
            # Until it is told to give way.
            while True:
                try:
                    work_budget.check()
                except Overloaded:
                    return
                await asyncio.sleep(0)

    with working(pool):
        second = asyncio.create_task(compare_second())
        await holds.wait()
        await asyncio.gather(second, run_in_thread(calculate))
        assert pool.n_used == 80 * MIB


def test_without_a_comparison_there_are_no_limits() -> None:
    pool = MemoryPool(1)
    with working(pool):
        pass
    work_budget.check()
    work_budget.keep(10**15, "vmstat")
    work_budget.use(10**15)
    assert pool.n_used == 0


def test_matrices_are_counted_before_they_are_made() -> None:
    times = np.arange(1000.0)
    block = Block(times, np.ones((50, 1000)), times, np.ones((50, 1000)))
    with working(MemoryPool(1 * MIB)), pytest.raises(TooLarge):
        compare_blocks([block], np.zeros(50, np.int64))


async def test_a_thread_ends_soon_after_nobody_waits_for_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def calculate() -> None:
        begun.set()
        try:
            while True:
                work_budget.check()
        finally:
            ended.set()

    async def compare() -> None:
        with working(MemoryPool(MIB)):
            await run_in_thread(calculate)

    task = asyncio.create_task(compare())
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # Not a moment later than the task itself: what it holds is free when the next one begins.
    assert ended.is_set()


def test_work_that_is_stopped_takes_nothing_more() -> None:
    with working(MemoryPool(MIB)) as own:
        own.stop()
        for call in (work_budget.check, lambda: work_budget.keep(1), lambda: work_budget.use(1)):
            with pytest.raises(ComparisonStopped):
                call()
