"""Silent hosts and the server itself: rules over what normstat knows without samples."""

from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.watch.watcher import Watcher
from tests.databases import on_either_database
from tests.watch.live import at, read_found

Sessions = async_sessionmaker[AsyncSession]
pytestmark = on_either_database


async def see_host(sessions: Sessions, host: str, instant: datetime | None) -> None:
    put = "INSERT INTO hosts (name, last_seen_at) VALUES (:host, :at) ON CONFLICT (name) DO UPDATE SET last_seen_at = :at"
    async with sessions() as session, session.begin():
        await session.execute(text(put), {"host": host, "at": instant})


async def test_a_silent_host_is_said_once_and_ends_when_it_sends_again(sessions: Sessions) -> None:
    now = at(1000)
    await see_host(sessions, "web1", now - timedelta(seconds=100))
    await see_host(sessions, "gone", now - timedelta(days=8))
    # Only imported: nobody expects it to send.
    await see_host(sessions, "file", None)
    await Watcher(sessions).run(now)
    assert await read_found(sessions) == []
    for seconds in (30, 40, 4000):
        await Watcher(sessions).run(now + timedelta(seconds=seconds))
    [row] = await read_found(sessions)
    assert (row.source, row.colour, row.ended_at, row.start_at) == ("host-silent", "red", None, now + timedelta(seconds=30))
    assert row.saw[0]["text"] == "130 s"
    await see_host(sessions, "web1", now + timedelta(seconds=4005))
    await Watcher(sessions).run(now + timedelta(seconds=4010))
    [row] = await read_found(sessions)
    assert (row.ended_by, row.last_at, row.ended_at) == ("fine", now + timedelta(seconds=4000), now + timedelta(seconds=4010))


async def test_jobs_that_nobody_works_on_are_said_of_the_server(sessions: Sessions) -> None:
    now = at(1000)
    async with sessions() as session, session.begin():
        await session.execute(text("INSERT INTO jobs (kind, next_try_at) VALUES ('import', :at)"), {"at": now - timedelta(hours=2)})
    await Watcher(sessions).run(now)
    [row] = await read_found(sessions)
    assert (row.source, row.host_id, row.colour, row.saw[0]["value"]) == ("server-jobs", None, "amber", 7200)
