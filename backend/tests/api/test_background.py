"""The tasks of the server that nobody waits for."""

import asyncio

import pytest
from structlog.testing import capture_logs

from normstat.app import keep_running


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
        await asyncio.wait_for(runs.wait(), 120)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert [entry["event"] for entry in logs] == ["task_ended", "task_ended"]
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "work"], "the work ends with its keeper"
