"""A server process that hangs is cut off: its locks are free, and what it began as the leader is refused."""

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from normstat.db.heartbeats import BEAT_S, Heartbeat
from normstat.db.leader import NotLeading, try_lead
from normstat.db.session import make_sessions, open_read_session, open_write_session
from tests.database_access import Database
from tests.databases import on_either_database
from tests.ingest.sending import opened_engine

pytestmark = on_either_database
NOTE = text("INSERT INTO storage_days (day, sizes) VALUES (:day, '{}')")


@pytest.fixture
def clock() -> Iterator[float]:
    """A moment that is a heartbeat later with each look."""
    return count(0.0, BEAT_S)


def make_hung(url: str) -> str:
    """A process that said long ago that it runs; the URL of its connections."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO server_processes (id, place, beat_at) VALUES ('hung-7', 'web1:7', now() - interval '1 min')"
        )
    return f"{url}{'&' if '?' in url else '?'}application_name=normstat%200.1.0%20hung-7"


async def test_a_leader_that_hangs_is_replaced_and_can_write_no_more(db: Database, clock: Iterator[float]) -> None:
    heartbeat = Heartbeat(make_sessions(db.engine), clock=lambda: next(clock))
    async with opened_engine(make_hung(db.url), pool_size=3) as hung, try_lead(hung) as leadership:
        assert leadership is not None
        as_leader = leadership.make_sessions(hung)
        async with open_write_session(as_leader) as session:
            await session.execute(NOTE, {"day": "2026-01-01"})
        async with try_lead(db.engine) as other:
            assert other is None
        async with as_leader() as session:
            await session.execute(NOTE, {"day": "2026-01-02"})
            # It hangs here. At its first heartbeat a process knows nothing of others.
            assert await heartbeat.beat() == []
            [cut_off] = await heartbeat.beat()
            assert (cut_off.place, cut_off.n_connections, cut_off.age_s > 30) == ("web1:7", 2, True)
            with pytest.raises(DBAPIError):
                await session.commit()
        async with try_lead(db.engine) as other:
            assert other is not None
            # It goes on: new connections, whatever it meant to do as the leader.
            for open_session in (open_read_session, open_write_session):
                with pytest.raises(NotLeading):
                    async with open_session(as_leader) as session:
                        await session.execute(NOTE, {"day": "2026-01-03"})
            async with open_write_session(make_sessions(hung)) as session:
                await session.execute(NOTE, {"day": "2026-01-04"})
        with pytest.raises(DBAPIError):
            await leadership.check()
    assert db.query("SELECT day::text FROM storage_days ORDER BY 1") == [("2026-01-01",), ("2026-01-04",)]


async def test_nobody_is_cut_off_by_one_that_hung_itself_or_could_not_reach_the_database(db: Database) -> None:
    moments = iter([0.0, 60.0, 60.0 + BEAT_S])
    heartbeat = Heartbeat(make_sessions(db.engine), clock=lambda: next(moments))
    async with opened_engine(make_hung(db.url)) as hung, hung.connect() as connection:
        assert await heartbeat.beat() == await heartbeat.beat() == []
        assert await connection.scalar(text("SELECT 1")) == 1
        # Meanwhile the other one is back.
        db.query("UPDATE server_processes SET beat_at = now() WHERE id = 'hung-7' RETURNING 1")
        assert await heartbeat.beat() == []
        assert await connection.scalar(text("SELECT 1")) == 1
    await heartbeat.end()
    assert db.query("SELECT place FROM server_processes") == [("web1:7",)]
