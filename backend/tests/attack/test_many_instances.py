"""A tool that names something new in every row: beyond a rate that no host needs, rows are rejected lines, and nothing is lost."""

from datetime import UTC, datetime

import pytest
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import open_read_session
from normstat.ingest.batching import set_limits
from normstat.ingest.reparse.reparse_worker import work_off
from normstat.ingest.stream_samples import TOO_MANY_INSTANCES_REASON
from normstat.query.line_accounts import read_host_accounts
from normstat.runtime.input_limits import IngestLimits
from normstat.samples import instance_cache
from tests.database_access import Database, query
from tests.databases import on_either_database
from tests.ingest.rereading import export, look, wish
from tests.ingest.sending import Agent
from tests.ingest.test_intake import accounts, assert_books_balance, raw_bytes
from tests.ingest.test_long_instances import BANNER, SPEC, report

pytestmark = on_either_database

# The full hour.
HOUR_S = 1_795_251_600
LINES = "SELECT line_text FROM rejected_lines ORDER BY line_offset"
# The processes; their commands are summed besides.
NAMES = "SELECT name FROM instances WHERE name LIKE '%/%' ORDER BY name"


@pytest.fixture
def agent(engine: AsyncEngine) -> Agent:
    set_limits(engine, IngestLimits(new_instances=5))
    return Agent(engine)


def commands(first: int, n: int) -> list[bytes]:
    return [b"cmd%03d" % number for number in range(first, first + n)]


def names_of(url: str) -> list[str]:
    return [str(name).split("/")[1] for (name,) in query(url, NAMES)]


async def send(agent: Agent, *reports: bytes, offset: int) -> int:
    text = b"".join(reports)
    assert await agent.send_file(text, SPEC, offset=offset) == offset + len(text)
    return offset + len(text)


async def test_what_is_too_much_is_rejected_counted_and_shown(agent: Agent, db: Database) -> None:
    text = BANNER + report(HOUR_S + 10, *commands(0, 8))
    with structlog.testing.capture_logs() as logs:
        assert await agent.send_file(text, SPEC) == len(text)
    assert names_of(db.url) == [f"cmd{number:03d}" for number in range(5)]
    assert db.query("SELECT count(*) FROM samples.pidstat_linux") == [(5,)]
    assert [str(line).split()[-1] for (line,) in db.query(LINES)] == ["cmd005", "cmd006", "cmd007"]
    found = accounts(db.url)
    assert (found["n_sample"], found["n_rejected"]) == (5, 3)
    assert raw_bytes(db.url) == text
    assert_books_balance(db.url)
    async with open_read_session(db.sessions) as session:
        page = await read_host_accounts(session, "alpha", only=None, stream_id=None, limit=10, now=datetime.now(UTC))
    assert [(reason.reason, reason.n) for reason in page.streams[0].reasons] == [(TOO_MANY_INSTANCES_REASON, 3)]
    assert [(entry["host"], entry["stat"], entry["n_instances"]) for entry in logs if entry["event"] == "instances_refused"] == [
        ("alpha", "pidstat_linux", 3)
    ]


async def test_those_that_are_known_go_on_and_the_next_hour_has_room_again(agent: Agent, database_url: str) -> None:
    at = await send(agent, BANNER, report(HOUR_S + 10, *commands(0, 5)), offset=0)
    # In the same hour, whatever it is sent with: 0 to 4 are known, 5 and 6 are too many.
    at = await send(agent, report(HOUR_S + 20, *commands(0, 7)), report(HOUR_S + 30, *commands(0, 7)), offset=at)
    assert len(names_of(database_url)) == 5
    assert query(database_url, "SELECT count(*) FROM samples.pidstat_linux") == [(15,)]
    assert accounts(database_url)["n_rejected"] == 4
    at = await send(agent, report(HOUR_S + 3600, *commands(0, 7)), offset=at)
    assert names_of(database_url) == [f"cmd{number:03d}" for number in range(7)]
    assert query(database_url, "SELECT count(*) FROM samples.pidstat_linux") == [(22,)]
    # What comes late is of its own hour, which is full.
    await send(agent, report(HOUR_S + 40, *commands(0, 9)), offset=at)
    assert len(names_of(database_url)) == 7
    assert_books_balance(database_url)


async def test_hosts_and_stats_are_counted_apart(agent: Agent, db: Database) -> None:
    text = BANNER + report(HOUR_S + 10, *commands(0, 5))
    for host in ("alpha", "beta"):
        await Agent(db.engine, host).send_file(text, SPEC)
    assert len(names_of(db.url)) == 10
    assert db.query("SELECT sum(n_rejected)::int FROM streams") == [(0,)]


async def test_counts_survive_what_a_process_forgets(agent: Agent, db: Database) -> None:
    """A request that cannot be taken makes the process forget what it knows of the database, and may be sent on purpose."""
    at = await send(agent, BANNER, report(HOUR_S + 10, *commands(0, 5)), offset=0)
    memories = [memory for known, memory in instance_memories(db.engine) if known is db.engine]
    for memory in memories:
        memory.clear()
    await send(agent, report(HOUR_S + 20, *commands(5, 5)), offset=at)
    assert len(names_of(db.url)) == 5


def instance_memories(engine: AsyncEngine) -> list[tuple[AsyncEngine, instance_cache.InstanceCache]]:
    from normstat.ingest import batching

    return [(engine, batching._memories[engine].instances)]


async def test_a_reparse_with_a_higher_limit_brings_all_back(agent: Agent, db: Database) -> None:
    reports = [report(HOUR_S + 10 * number, *commands(0, 12)) for number in range(1, 4)]
    text = BANNER + b"".join(reports)
    await agent.send_file(text, SPEC)
    assert db.query("SELECT count(*) FROM samples.pidstat_linux") == [(15,)]
    # Those that are there do not count; of the seven others three come back.
    reparse_id = await wish(db.sessions)
    assert await work_off(db.url, IngestLimits(new_instances=3))
    done = await look(db.sessions, reparse_id)
    assert (done.n_samples_before, done.n_samples_after, done.n_rejected_after) == (25, 40, 12)
    assert [str(line).split()[-1] for (line,) in db.query(LINES)] == [f"cmd{n:03d}" for n in range(8, 12)] * 3
    assert_books_balance(db.url)
    reparse_id = await wish(db.sessions)
    assert await work_off(db.url)
    done = await look(db.sessions, reparse_id)
    assert (done.state, done.n_samples_after, done.n_rejected_after) == ("done", 60, 0)
    assert db.query(LINES) == []
    assert_books_balance(db.url)
    # The same as on a host that was never limited.
    set_limits(db.engine, IngestLimits())
    await Agent(db.engine, "beta").send_file(text, SPEC)
    assert (await export(db.engine, "alpha")).replace(b"alpha", b"beta") == await export(db.engine, "beta")
