"""What runs by the clock runs in one of several server processes, and in another one when that is gone."""

import asyncio
from collections.abc import Mapping, Sequence

import psycopg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from normstat.api.state import AppState
from normstat.schedule import run_schedule, wait_for_database
from normstat.storage.leader import LEADER_LOCK, try_lead
from normstat.storage.session import open_read_session

CHECK_S = 0.02


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
    assert [entry["event"] for entry in logs][:4] == [
        "schedule_started",
        "schedule_stopped",
        "task_lost_database",
        "schedule_started",
    ]


async def test_a_task_whose_database_is_away_waits_for_its_next_run() -> None:
    async def meet(error: Exception) -> str:
        raise error

    task = wait_for_database(meet)
    with capture_logs() as logs:
        assert await task(psycopg.errors.AdminShutdown("terminating connection")) is None
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("scheduled_task_waits", "warning")]
    with pytest.raises(ValueError, match="a defect"):
        await task(ValueError("a defect"))
