"""`normstat profile`: how far profiles are, and making them without a server."""

from datetime import UTC, datetime, timedelta

import numpy as np

from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.session import open_write_session
from normstat.window import Window, to_us
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_values

pytestmark = on_either_database

START = datetime(2026, 11, 16, 8, tzinfo=UTC)


async def test_profiles_are_made_and_listed(sessions: Sessions, normstat: Commands) -> None:
    seconds = np.arange(0, 3600, 5)
    times = to_us(START) + seconds * 1_000_000
    values = {"procs_r": np.random.default_rng(0).poisson(3, len(seconds))}
    await fill_values(sessions, "web1", "vmstat_linux", time_us=times, instances=[""] * len(seconds), values=values)
    async with open_write_session(sessions) as session:
        window = Window(START, START + timedelta(hours=1))
        await create_baseline(session, BaselineDraft("quiet hour", "", ("web1",), (window,), "ann"))
    assert "queued" in await normstat.do("profile", "status")
    assert "0 profiles built" in await normstat.do("profile", "work", "--host", "web2")
    assert "1 profiles built" in await normstat.do("profile", "work")
    listed = await normstat.do("profile", "status")
    assert "quiet hour" in listed
    assert "3 of 3" in listed
