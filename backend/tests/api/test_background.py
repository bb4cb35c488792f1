"""The tasks of the server that nobody waits for, and those that run by the clock, in one of several processes."""

import asyncio
from collections.abc import Mapping, Sequence

import psycopg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from normstat.api.http.state import AppState
from normstat.db.leader import LEADER_LOCK, try_lead
from normstat.db.session import open_read_session
from normstat.errors import DatabaseAway
from normstat.jobs.background import keep_running
from normstat.schedule import run_schedule, wait_for_database

CHECK_S = 0.02


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


async def until_logged(logs: Sequence[Mapping[str, object]], event: str, n: int = 1) -> None:
    async with asyncio.timeout(60):
        while sum(1 for entry in logs if entry["event"] == event) < n:  # noqa: ASYNC110 - a list has no event
            await asyncio.sleep(0.01)


async def end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_process_leads_and_another_follows_it(state: AppState) -> None:
    with capture_logs() as logs:
        first = asyncio.create_task(run_schedule(state.engine, state.settings, check_s=CHECK_S))
        await until_logged(logs, "schedule_started")
        second = asyncio.create_task(run_schedule(state.engine, state.settings, check_s=CHECK_S))
        async with try_lead(state.engine) as leadership:
            assert leadership is None
        await asyncio.sleep(10 * CHECK_S)
        assert [entry["event"] for entry in logs] == ["schedule_started"]
        await end(first)
        await until_logged(logs, "schedule_started", 2)
        await end(second)
    assert [entry["event"] for entry in logs] == ["schedule_started", "schedule_stopped"] * 2


async def test_a_lost_connection_stops_the_jobs_until_it_leads_again(state: AppState) -> None:
    with capture_logs() as logs:
        task = asyncio.create_task(run_schedule(state.engine, state.settings, check_s=CHECK_S))
        await until_logged(logs, "schedule_started")
        async with open_read_session(state.sessions) as session:
            await session.execute(
                text("SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND objid = :id"),
                {"id": LEADER_LOCK & 0xFFFFFFFF},
            )
        await until_logged(logs, "schedule_started", 2)
        await end(task)
    events = [entry["event"] for entry in logs]
    assert events[:4] == ["schedule_started", "schedule_stopped", "task_lost_database", "schedule_started"]


async def test_a_task_whose_database_is_away_waits_for_its_next_run() -> None:
    async def meet(error: Exception) -> str:
        raise error

    task = wait_for_database(meet)
    with capture_logs() as logs:
        assert await task(psycopg.errors.AdminShutdown("terminating connection")) is None
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("scheduled_task_waits", "warning")]
    with pytest.raises(ValueError, match="a defect"):
        await task(ValueError("a defect"))
