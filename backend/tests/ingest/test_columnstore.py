"""Samples that are in the columnstore of TimescaleDB's community edition already: read, late, read again, removed as others are.

Runs where NORMSTAT_COMMUNITY_DSN names a server with that edition, and is not collected elsewhere.
"""

import datetime as dt
import re

import psycopg
import pytest

from normstat.db.hypertables import keep_columnstores
from normstat.db.schema.job_models import JobState
from normstat.samples.stat_tables import SCHEMA
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database
from tests.databases import COMMUNITY_DSN, SERVERS, CommunityServer, ServerPool, TestServer
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import books, export, put, reparse
from tests.ingest.sending import Agent

LONG_AGO = START - dt.timedelta(days=30)
JOBS = """
    SELECT job_id FROM timescaledb_information.jobs
    WHERE hypertable_schema = 'samples' AND proc_name IN ('policy_compression', 'policy_columnstore') ORDER BY 1
"""
LOOSE_BYTES = """
    SELECT coalesce(sum(pg_relation_size(format('%I.%I', chunk_schema, chunk_name)::regclass)), 0)
    FROM timescaledb_information.chunks
"""
SETTINGS = """
    SELECT attname, segmentby_column_index, orderby_column_index FROM timescaledb_information.compression_settings
    WHERE hypertable_name = %s ORDER BY 2, 3
"""


@pytest.fixture
def server(servers: ServerPool) -> TestServer:
    if CommunityServer.name not in SERVERS:  # asked for by its path
        pytest.skip(f"{COMMUNITY_DSN} names no server")
    return servers.require(CommunityServer.name)


def pack(url: str) -> int:
    """Runs the policies of all tables at once; how many bytes are not in the columnstore afterwards."""
    with psycopg.connect(url, autocommit=True) as connection:
        jobs = [job for (job,) in connection.execute(JOBS).fetchall()]
        assert jobs
        for job in jobs:
            connection.execute("CALL run_job(%s)", [job])
        # Late rows leave a chunk's own table when they are packed, but only this shortens it.
        connection.execute("VACUUM")
    return loose(url)


def loose(url: str) -> int:
    """How many bytes of rows are not in the columnstore: what a chunk's own table has."""
    with psycopg.connect(url) as connection:
        row = connection.execute(LOOSE_BYTES).fetchone()
    assert row is not None
    return int(str(row[0]))


async def fill(agent: Agent) -> None:
    """Two tools, two instances of one of them, one cut-off day and a whole month back; all old enough for the policy."""
    await agent.send_file(mpstat_text(200, 3, start=LONG_AGO), "mpstat_linux", "m")
    await agent.send_file(vmstat_text(vmstat_times(2500, LONG_AGO)), key="v")
    times = [LONG_AGO + dt.timedelta(days=day, seconds=second) for day in range(6) for second in range(20)]
    await agent.send_file(vmstat_text(times), key="days")


async def test_rows_come_back_as_they_were(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = await export(db.engine)
    assert before.count(b"\n") > 3000
    assert loose(db.url) > 0
    assert pack(db.url) == 0
    assert await export(db.engine) == before


async def test_late_bytes_are_taken_and_packed_by_the_next_run(agent: Agent, db: Database) -> None:
    text = mpstat_text(300, 3, start=LONG_AGO)
    cut = text.index(b"\n", len(text) // 2) + 1
    acked = await agent.send_file(text[:cut], "mpstat_linux")
    assert pack(db.url) == 0
    assert await agent.send_file(text[acked:], "mpstat_linux", offset=acked) == len(text)
    await Agent(db.engine, "beta").send_file(text, "mpstat_linux")
    assert loose(db.url) > 0
    assert db.query("SELECT count(*), count(DISTINCT (host_id, instance_id, time)) FROM samples.mpstat_linux") == [
        (2 * 300 * 4, 2 * 300 * 4)
    ]
    before = await export(db.engine), await export(db.engine, "beta")
    assert pack(db.url) == 0
    assert (await export(db.engine), await export(db.engine, "beta")) == before


async def test_a_column_of_a_packed_table_is_widened(agent: Agent, db: Database) -> None:
    text = vmstat_text(vmstat_times(50, LONG_AGO))
    await agent.send_file(text, key="old")
    before = (await export(db.engine)).splitlines()
    assert pack(db.url) == 0
    later = re.sub(rb"(?m)^ *\d+ ", b"5000000000 ", vmstat_text(vmstat_times(50, LONG_AGO + dt.timedelta(hours=1))))
    await agent.send_file(later, key="new")
    assert db.query("SELECT count(*), max(procs_r) FROM stat.vmstat_linux WHERE procs_r = 5000000000") == [(49, 5_000_000_000)]
    assert (await export(db.engine)).splitlines()[: len(before)] == before
    assert pack(db.url) == 0
    assert (await export(db.engine)).splitlines()[: len(before)] == before


async def test_streams_are_read_again(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(500, start_s=int(LONG_AGO.timestamp())), "app_user")
    await fill(agent)
    before = await export(db.engine), books(db.url)
    assert pack(db.url) == 0
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.n_samples_before) == (JobState.DONE, record.n_samples_after)
    assert (await export(db.engine), books(db.url)) == before
    assert pack(db.url) == 0
    assert (await export(db.engine), books(db.url)) == before


async def test_tables_of_another_edition_or_version_get_the_columnstore(agent: Agent, db: Database) -> None:
    await agent.send_file(vmstat_text(vmstat_times(50, LONG_AGO)))
    await agent.send_file(mpstat_text(10, 2, start=LONG_AGO), "mpstat_linux", "m")
    with psycopg.connect(db.url, autocommit=True) as connection:
        wanted = connection.execute(SETTINGS, ["vmstat_linux"]).fetchall()
        assert wanted == [("host_id", 1, None), ("instance_id", None, 1), ("time", None, 2)]
        for name, change in (
            ("vmstat_linux", "timescaledb.enable_columnstore = false"),
            ("mpstat_linux", "timescaledb.segmentby = 'host_id, instance_id', timescaledb.orderby = 'time'"),
        ):
            connection.execute(f"CALL remove_columnstore_policy('samples.{name}')")
            connection.execute(f"ALTER TABLE samples.{name} SET ({change})")
            assert connection.execute(SETTINGS, [name]).fetchall() != wanted
        connection.execute("CALL add_columnstore_policy('samples.mpstat_linux', interval '7 days')")
        for _ in range(2):
            await keep_columnstores(db.sessions, SCHEMA)
            assert [connection.execute(SETTINGS, [name]).fetchall() for name in ("vmstat_linux", "mpstat_linux")] == [wanted] * 2
            assert len(connection.execute(JOBS).fetchall()) == 2
    assert pack(db.url) == 0
