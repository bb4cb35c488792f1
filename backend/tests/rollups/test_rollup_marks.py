"""Late data and streams that are read again, through the ways that they come: the rollups follow, and `normstat rollup` works."""

import asyncio
import functools
from datetime import timedelta

import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncEngine
from typer.testing import CliRunner

from normstat.cli import app
from normstat.query.series_points import SeriesRequest, read_series
from normstat.rollups.rollup_codec import Buckets, merge, unpack
from normstat.rollups.rollup_job import DELAY, roll_up
from normstat.settings import load_settings
from normstat.storage.session import open_read_session
from normstat.window import Window, to_us
from tests.addons import APP_USER, app_user_text
from tests.databases import on_either_database
from tests.generated import START, vmstat_text, vmstat_times
from tests.ingest.rereading import put, reparse
from tests.ingest.sending import Agent
from tests.ingest.test_intake import query
from tests.query.filling import Sessions

pytestmark = on_either_database

# Of everything that the tests send.
END = START + timedelta(hours=9)


async def roll(sessions: Sessions) -> int:
    done = await roll_up(sessions, now=END + DELAY, budget_s=600)
    assert done.is_all
    return done.n_hours


def minutes_of(url: str, stat: str, field: str) -> Buckets:
    """The minutes of a field that are rolled up."""
    statement = (
        "SELECT block_at, body, level FROM rollups JOIN stats ON stats.id = stat_id"
        f" WHERE stats.name = '{stat}' AND field_key = '{field}' AND level IN (0, 1) ORDER BY block_at"
    )
    with psycopg.connect(url) as connection:
        rows = connection.execute(statement).fetchall()
    return merge([unpack(body, first_bucket=to_us(at) // 60_000_000) for at, body, _ in rows])


async def command(database_url: str, *words: str) -> str:
    """What `normstat rollup` prints, in a thread: it has an event loop of its own."""
    run = functools.partial(CliRunner().invoke, app, ["rollup", *words], env={"NORMSTAT_DATABASE_URL": database_url})
    load_settings.cache_clear()
    try:
        result = await asyncio.to_thread(run)
    finally:
        load_settings.cache_clear()
    assert result.exit_code == 0, result.output
    return result.output


async def test_late_lines_are_in_the_rollups_and_in_the_graph_before(
    engine: AsyncEngine, sessions: Sessions, database_url: str
) -> None:
    agent = Agent(engine)
    await agent.send_file(vmstat_text(vmstat_times(4000)), key="early")
    # All until the end of what is waited for, with samples or without.
    assert await roll(sessions) == 9
    late = [START + timedelta(minutes=90, seconds=number) for number in range(120)]
    await agent.send_file(vmstat_text(late, seed=2), key="late")
    n_rows = query(database_url, "SELECT count(*) FROM samples.vmstat_linux")[0][0]
    assert query(database_url, "SELECT extract(hour FROM hour_at AT TIME ZONE 'UTC')::int FROM rollup_marks") == [(13,)]
    window = Window(START - timedelta(hours=1), END + timedelta(hours=1))
    for n_hours in (0, 1):
        async with open_read_session(sessions) as session:
            drawn = await read_series(session, SeriesRequest("alpha", "vmstat_linux", window, 16, ("procs_r",)))
        assert (drawn.n_raw, drawn.source) == (n_rows, "rollup_minute" if n_hours else "mixed")
        assert await roll(sessions) == 1 - n_hours
    assert int(minutes_of(database_url, "vmstat_linux", "procs_r").n.sum()) == n_rows


async def test_streams_that_are_read_again_are_rolled_up_again(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    agent = Agent(engine)
    await put(sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(50), "app_user")
    first = query(database_url, "SELECT min(first_sample_at), max(last_sample_at) FROM streams")[0]
    done = await roll_up(sessions, now=first[1] + timedelta(hours=2) + DELAY, budget_s=600)
    assert done.n_hours > 0
    before = minutes_of(database_url, "app_user", "wait")
    assert len(before)
    # Another key for the column, and users that are no instances any more.
    await put(
        sessions,
        "app_user",
        APP_USER.replace('key = "wait"', 'key = "wait_ms"').replace('instance = ["User"]', 'labels = ["User"]'),
    )
    await reparse(sessions, database_url)
    assert query(database_url, "SELECT count(*) FROM rollup_marks")[0][0] > 0
    await roll_up(sessions, now=first[1] + timedelta(hours=2) + DELAY, budget_s=600)
    assert query(database_url, "SELECT count(*) FROM rollup_marks")[0][0] == 0
    assert len(minutes_of(database_url, "app_user", "wait")) == 0
    after = minutes_of(database_url, "app_user", "wait_ms")
    assert int(after.n.sum()) == query(database_url, "SELECT count(*) FROM samples.app_user")[0][0]
    assert len(np.unique(after.instance)) < len(np.unique(before.instance))


async def test_rollups_are_dropped_and_made_anew_by_one_command(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    await Agent(engine).send_file(vmstat_text(vmstat_times(5000)))
    assert "all" in await command(database_url, "status")
    # `rebuild` goes by the clock of the machine, which may be before or after that of the test.
    await roll(sessions)
    before = minutes_of(database_url, "vmstat_linux", "procs_r")
    assert len(before) == 84
    assert "2026-11-21 21:00" in await command(database_url, "status")
    assert "1 host " in await command(database_url, "drop", "--host", "alpha")
    assert query(database_url, "SELECT count(*) FROM rollups")[0][0] == 0
    assert "rolled up" in await command(database_url, "rebuild")
    await roll(sessions)
    after = minutes_of(database_url, "vmstat_linux", "procs_r")
    assert all(np.array_equal(getattr(before, name), getattr(after, name)) for name in Buckets.__slots__)
