"""Silent hosts and the server itself: rules over what normstat knows without samples."""

from datetime import datetime, timedelta

from sqlalchemy import text

from normstat.watch.watcher import Watcher
from tests.databases import Sessions, on_either_database
from tests.watch.live import at, read_found

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


async def send_stream(
    sessions: Sessions,
    host: str,
    spec: str,
    received: datetime,
    *,
    command: str = "",
    sample: datetime | None = None,
    key: str = "1",
) -> None:
    put = """
        INSERT INTO streams (host_id, spec, key, command, last_received_at, last_sample_at, first_sample_at)
        SELECT id, :spec, :key, :command, :received, :sample, :sample FROM hosts WHERE name = :host
        ON CONFLICT (host_id, spec, key) DO UPDATE SET last_received_at = :received, last_sample_at = :sample
    """
    asked = {"host": host, "spec": spec, "key": key, "command": command or f"{spec} 10", "received": received}
    async with sessions() as session, session.begin():
        await session.execute(text(put), asked | {"sample": sample or received})


async def test_a_tool_that_stopped_is_named_while_the_agent_sends_others(sessions: Sessions) -> None:
    now = at(1000)
    await see_host(sessions, "web1", now)
    await send_stream(sessions, "web1", "vmstat_linux", now)
    await send_stream(sessions, "web1", "iostat_linux", now - timedelta(seconds=170))
    # Reports each ten minutes, one that prints when something happens, one that went on in another stream, one long gone.
    await send_stream(sessions, "web1", "df_linux", now - timedelta(minutes=21), command="@600 df -k")
    await send_stream(sessions, "web1", "host_events", now - timedelta(hours=3), command="watch 5")
    await send_stream(sessions, "web1", "trace", now - timedelta(hours=3), command="strace -c -p 1")
    await send_stream(sessions, "web1", "mpstat_linux", now - timedelta(hours=1), key="old")
    await send_stream(sessions, "web1", "mpstat_linux", now, key="new")
    await send_stream(sessions, "web1", "free_linux", now - timedelta(hours=30))
    watcher = Watcher(sessions)
    await watcher.run(now)
    assert await read_found(sessions) == []
    for minutes in (1, 2, 10):
        later = now + timedelta(minutes=minutes)
        await see_host(sessions, "web1", later)
        await send_stream(sessions, "web1", "vmstat_linux", later)
        await send_stream(sessions, "web1", "mpstat_linux", later, key="new")
        await watcher.run(later)
    [row] = [row for row in await read_found(sessions) if row.instance == "iostat_linux"]
    assert (row.source, row.colour, row.start_at, row.ended_at) == ("stream-silent", "amber", now + timedelta(minutes=1), None)
    assert row.saw[0]["text"] == "230 s"
    # With three times its interval over, df is missed too.
    assert {row.instance for row in await read_found(sessions)} == {"iostat_linux", "df_linux"}
    await send_stream(sessions, "web1", "iostat_linux", now + timedelta(minutes=11))
    await see_host(sessions, "web1", now + timedelta(minutes=11))
    # Within the same minute streams are not looked at again.
    await watcher.run(now + timedelta(minutes=10, seconds=30))
    await watcher.run(now + timedelta(minutes=11))
    [row] = [row for row in await read_found(sessions) if row.instance == "iostat_linux"]
    assert (row.ended_by, row.ended_at) == ("fine", now + timedelta(minutes=11))


async def test_tools_of_a_silent_host_are_not_missed_one_by_one(sessions: Sessions) -> None:
    now = at(1000)
    await see_host(sessions, "web1", now - timedelta(minutes=10))
    for spec in ("vmstat_linux", "iostat_linux"):
        await send_stream(sessions, "web1", spec, now - timedelta(minutes=10))
    await Watcher(sessions).run(now)
    assert [row.source for row in await read_found(sessions)] == ["host-silent"]


async def test_a_backlog_of_one_host_is_its_own_and_of_many_the_servers(sessions: Sessions) -> None:
    now = at(1000)
    for host in ("web1", "web2", "web3", "web4"):
        await see_host(sessions, host, now)
        await send_stream(sessions, host, "vmstat_linux", now)
    await send_stream(sessions, "web1", "vmstat_linux", now, sample=now - timedelta(minutes=9))
    await Watcher(sessions).run(now)
    [row] = await read_found(sessions)
    assert (row.source, row.host_id, row.saw[0]["text"]) == ("host-behind", 1, "530 s")
    later = now + timedelta(minutes=1)
    for host in ("web1", "web2"):
        await send_stream(sessions, host, "vmstat_linux", later, sample=later - timedelta(minutes=4))
    await Watcher(sessions).run(later)
    found = {row.source: row for row in await read_found(sessions)}
    assert (found["server-behind"].host_id, found["server-behind"].saw[0]["value"]) == (None, 50)


async def test_rejected_lines_that_rise_are_said(sessions: Sessions) -> None:
    now = at(1000)
    await see_host(sessions, "web1", now)
    await send_stream(sessions, "web1", "vmstat_linux", now)
    put = """
        INSERT INTO rejected_lines (stream_id, line_no, line_offset, n_bytes, line_text, reason, received_at)
        SELECT 1, n, n * 10, 10, 'x', 'r', CAST(:at AS timestamptz)
        FROM generate_series(CAST(:first AS int), CAST(:last AS int)) AS n
    """
    async with sessions() as session, session.begin():
        await session.execute(text(put), {"at": now - timedelta(minutes=90), "first": 1, "last": 5})
        await session.execute(text(put), {"at": now - timedelta(minutes=1), "first": 6, "last": 24})
    watcher = Watcher(sessions)
    await watcher.run(now)
    assert await read_found(sessions) == []
    async with sessions() as session, session.begin():
        await session.execute(text(put), {"at": now, "first": 25, "last": 25})
    await watcher.run(now + timedelta(minutes=1))
    [row] = await read_found(sessions)
    assert (row.source, row.saw[0]["value"], row.saw[1]["value"]) == ("rejected-lines", 20, 5)
