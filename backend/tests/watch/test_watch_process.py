"""Rules in a process of their own: it finds the same, is started again, and writes nothing once another process leads."""

import os
import signal
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from normstat.scheduled_tasks import ScheduledTasks
from normstat.settings import Settings
from normstat.watch import watch_process
from normstat.watch.watch_process import WatchProcess, WatchSettings
from tests.databases import Sessions, on_either_database
from tests.watch import live
from tests.watch.live import read_found, send_mpstat

pytestmark = on_either_database


@pytest.fixture(autouse=True)
def samples_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has the clock of the machine."""
    monkeypatch.setattr(live, "START", datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=50 * live.STEP_S))


async def test_it_judges_and_is_started_again_where_it_was_killed(sessions: Sessions, database_url: str) -> None:
    await send_mpstat(sessions, "sun1", range(50), range(40, 50))
    await send_mpstat(sessions, "sun2", range(50))
    process = WatchProcess(WatchSettings(database_url, None, "warning", None))
    assert await process.run() == 2
    [row] = await read_found(sessions)
    assert (row.source, row.instance) == ("mutex", "1")
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)
    assert await process.run() is None
    await send_mpstat(sessions, "sun2", range(50, 56), range(50, 56))
    assert await process.run() == 2
    assert len(await read_found(sessions)) == 2
    process.end()


async def test_it_writes_nothing_for_a_leader_that_lost_the_lock(sessions: Sessions, database_url: str) -> None:
    await send_mpstat(sessions, "sun1", range(50), range(40, 50))
    process = WatchProcess(WatchSettings(database_url, None, "error", leader_pid=1))
    assert await process.run() == 0
    process.end()
    async with sessions() as session:
        assert await session.scalar(text("SELECT count(*) FROM watched_hosts")) == 0


async def test_the_schedule_uses_it_for_a_large_fleet(
    sessions: Sessions, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_process, "FROM_HOSTS", 2)
    tasks = ScheduledTasks(sessions, Settings.model_validate({"database_url": database_url, "log_level": "error"}))
    for number in range(2):
        await send_mpstat(sessions, f"sun{number}", range(50), range(40, 50))
        async with sessions() as session, session.begin():
            await session.execute(text("UPDATE hosts SET last_seen_at = now()"))
        # The first round finds that there are enough hosts, the second one starts the process.
        for _ in range(2):
            await tasks.run_watch()
        assert (tasks._watch_process is not None) is (number == 1)
        assert len(await read_found(sessions)) == number + 1
    tasks.end()
