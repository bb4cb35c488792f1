"""0013: streams of repeated calls count as outdated; a reparse, and new bytes before it, read them as today."""

import psycopg

from normstat.ingest.reparse.reparse_worker import work_off
from normstat.storage import reparse_rows
from normstat.storage.reparse_rows import ReparseScope
from normstat.storage.schema import migrations
from normstat.storage.session import make_engine, make_sessions, open_write_session
from tests.databases import on_either_database
from tests.ingest.sending import Agent, stream

pytestmark = on_either_database

HEADER = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"  # noqa: E501
ROW = " 1  0      0 812000  10244 409600    0    0     5    12  250  400  7  2 90  1  0\n"
COMMAND = "@10 vmstat 1 3"


def calls(first: int, number: int) -> bytes:
    """Calls of vmstat: the report since boot, then two real ones."""
    return "".join(f"{first + 10 * call}\n{HEADER}{ROW * 3}" for call in range(number)).encode()


async def test_streams_of_calls_are_read_again_after_the_upgrade(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=2)
    agent = Agent(engine)
    await agent.send(stream(calls(1795305600, 3), command=COMMAND), stream(calls(1795305600, 1), key="once", command="vmstat 1"))
    migrations.downgrade(database_url, "0012")
    times = "SELECT extract(epoch FROM time)::int - 1795305600 FROM samples.vmstat_linux ORDER BY stream_id, time"
    with psycopg.connect(database_url) as connection:
        right = connection.execute(times).fetchall()
        assert right[:6] == [(1,), (2,), (11,), (12,), (21,), (22,)]
        # What code before the change stored: a sample at each call, and a state that knows nothing of calls.
        connection.execute("UPDATE samples.vmstat_linux SET time = date_trunc('minute', time) + line_offset * interval '1 ms'")
        connection.execute("UPDATE streams SET reader_state = '{}', first_sample_at = to_timestamp(1795305600)")
    migrations.upgrade(database_url)
    assert outdated(database_url) == [("k",)]
    # More bytes of the same stream are read as today, before anybody asks for a reparse.
    known = len(calls(1795305600, 3))
    await agent.send(stream(calls(1795305630, 1), offset=known, command=COMMAND))
    with psycopg.connect(database_url) as connection:
        late = connection.execute("SELECT time FROM samples.vmstat_linux WHERE time >= to_timestamp(1795305630)").fetchall()
    assert [row[0].timestamp() - 1795305600 for row in sorted(late)] == [31, 32]
    assert outdated(database_url) == [("k",)]
    sessions = make_sessions(engine)
    async with open_write_session(sessions) as session:
        await reparse_rows.add_reparse(session, ReparseScope(is_outdated_only=True), created_by="ann")
    assert await work_off(database_url)
    await engine.dispose()
    assert outdated(database_url) == []
    with psycopg.connect(database_url) as connection:
        of_calls = times.replace("ORDER", "WHERE stream_id = (SELECT id FROM streams WHERE key = 'k') ORDER")
        assert connection.execute(of_calls).fetchall() == [*right[:6], (31,), (32,)]


def outdated(url: str) -> list[tuple[str]]:
    """Return the keys of the streams for which a reparse is offered."""
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT key FROM streams WHERE spec_version = 0").fetchall()
