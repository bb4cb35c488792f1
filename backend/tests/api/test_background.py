"""The tasks of the server that nobody waits for."""

import asyncio

import psycopg
import pytest
from structlog.testing import capture_logs

from normstat.errors import DatabaseAway
from normstat.jobs.background import keep_running


@pytest.mark.parametrize("end", ["an error", "a return", "a cancellation from within"])
async def test_a_task_that_ended_by_a_defect_is_started_again(end: str) -> None:
    n_started = 0
    runs = asyncio.Event()

    async def work() -> None:
        nonlocal n_started
        n_started += 1
        if n_started == 3:
            runs.set()
            await asyncio.sleep(3600)
        if end == "an error":
            raise ValueError("nobody thought of this")
        if end != "a return":
            raise asyncio.CancelledError

    with capture_logs() as logs:
        task = asyncio.create_task(keep_running("work", work, first_pause_s=0.0, max_pause_s=0.0))
        await asyncio.wait_for(runs.wait(), 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert [entry["event"] for entry in logs] == ["task_ended", "task_ended"]
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "work"], "the work ends with its keeper"


@pytest.mark.parametrize("error", [ValueError("a defect"), DatabaseAway("away"), psycopg.OperationalError("gone\nand more")])
async def test_a_step_that_failed_is_repeated_and_others_follow_each_other(error: Exception) -> None:
    n_steps = 0
    enough = asyncio.Event()

    async def step() -> None:
        nonlocal n_steps
        n_steps += 1
        if n_steps == 2:
            raise error
        if n_steps == 4:
            enough.set()

    with capture_logs() as logs:
        task = asyncio.create_task(keep_running("work", step, every_s=0.0, first_pause_s=0.0))
        await asyncio.wait_for(enough.wait(), 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [entry["event"] for entry in logs] == ["task_lost_database" if isinstance(error, psycopg.Error) else "task_ended"]


async def test_a_step_is_repeated_at_once_when_it_is_woken() -> None:
    n_steps = 0
    wake, second = asyncio.Event(), asyncio.Event()

    async def step() -> None:
        nonlocal n_steps
        n_steps += 1
        if n_steps == 2:
            second.set()
        wake.set()

    task = asyncio.create_task(keep_running("work", step, every_s=3600, wake=wake))
    await asyncio.wait_for(second.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
