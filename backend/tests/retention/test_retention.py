"""Retention: what is older than its rule goes, with all that rests on it, and nothing else."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.compaction import packing_run
from normstat.compaction.packing_run import pack_chunks
from normstat.db.schema.job_models import JobState
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest
from normstat.jobs.claims import REMOVALS, open_claims_in
from normstat.records.reparse_rows import ReparseScope
from normstat.retention import chunk_removal, deletion_worker, retention_rules, retention_run
from normstat.retention.retention_rules import RetentionRulePut, RetentionRun
from normstat.samples.spec_refresh import refresh_catalogue
from tests.addons import APP_USER, app_user_text
from tests.compaction.raw_view import read_whole, stream_ids
from tests.database_access import Database, query
from tests.databases import Sessions
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import export, put, reparse
from tests.ingest.sending import Agent
from tests.ingest.test_reparse import send_in_pieces

DAY = timedelta(days=1)
# Long before today, so that no clock comes into it.
FIRST = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 6, 10, 30, tzinfo=UTC)


@pytest.fixture
def agent(engine: AsyncEngine) -> Agent:
    return Agent(engine)


async def fill(agent: Agent) -> None:
    """Five days: vmstat in a stream a day, and mpstat in one that goes over midnight, from two CPUs to four."""
    for day in range(5):
        await agent.send_file(vmstat_text(vmstat_times(30, FIRST + day * DAY)), key=f"v{day}")
    text = b"".join(mpstat_text(20, 2 if day < 2 else 4, start=FIRST + day * DAY) for day in range(5))
    await agent.send_file(text, "mpstat_linux", "m")
    await agent.send_file(mpstat_text(5, 9, start=FIRST), "mpstat_linux", "wide")


async def apply(sessions: Sessions, *wishes: RetentionRulePut, now: datetime = NOW) -> RetentionRun:
    async with open_write_session(sessions) as session:
        await retention_rules.put_rules(session, wishes, updated_by="anna")
        run = await retention_rules.add_run(session, created_by="anna")
    async with open_claims_in(sessions, REMOVALS) as claims:
        assert claims is not None
        claim = await claims.next(of=[run.job_id])
        assert claim is not None
        return await retention_run.apply_rules(sessions, claim, now=now)


def times(url: str, stat: str) -> tuple[int, datetime]:
    ((n, first),) = query(url, f"SELECT count(*), min(time) FROM samples.{stat}")
    assert isinstance(n, int)
    assert isinstance(first, datetime)
    return n, first


async def test_without_rules_nothing_goes(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = times(db.url, "vmstat_linux"), times(db.url, "mpstat_linux")
    run = await apply(db.sessions)
    assert (run.state, run.n_samples, run.n_chunks) == (JobState.DONE, 0, 0)
    assert (times(db.url, "vmstat_linux"), times(db.url, "mpstat_linux")) == before


async def test_samples_go_by_days_with_all_that_rests_on_them(agent: Agent, db: Database) -> None:
    await fill(agent)
    n_vmstat, n_mpstat = times(db.url, "vmstat_linux")[0], times(db.url, "mpstat_linux")[0]
    lines = (await export(db.engine, stat="mpstat_linux")).splitlines()
    with psycopg.connect(db.url) as connection:
        ids: dict[str, int] = dict(connection.execute("SELECT name, id FROM stats").fetchall())
        for stat in ids.values():
            for day in range(5):
                at = (FIRST + day * DAY).replace(hour=0)
                row = [1, stat, at]
                connection.execute("INSERT INTO rollups SELECT id, %s, 1, 'x', %s, '' FROM hosts", row[1:])
                connection.execute("INSERT INTO rollup_marks SELECT id, %s, %s FROM hosts", [stat, at + timedelta(hours=22)])
    # Three days before the 6th: what is of the 1st and 2nd goes.
    run = await apply(db.sessions, RetentionRulePut(stat="mpstat_linux", samples_days=3, chunks_days=None))
    border = datetime(2026, 3, 3, tzinfo=UTC)
    assert times(db.url, "vmstat_linux")[0] == n_vmstat
    n_left, first = times(db.url, "mpstat_linux")
    assert first > border
    assert (run.state, run.message, run.n_samples) == (JobState.DONE, "", n_mpstat - n_left)
    assert run.n_samples > 100
    # Digit for digit the same but for what went.
    left = (await export(db.engine, stat="mpstat_linux")).splitlines()
    assert left[1:] == [line for line in lines[1:] if line >= b"2026-03-03"]
    spans = db.query(
        "SELECT name, min(time) FROM samples.mpstat_linux JOIN instances ON id = instance_id GROUP BY 1 ORDER BY 1",
    )
    kept = db.query(
        "SELECT i.name, first_sample_at FROM instances AS i JOIN stats ON stats.id = stat_id"
        " WHERE stats.name = 'mpstat_linux' ORDER BY 1",
    )
    assert kept == spans
    assert run.n_instances == 5
    streams = db.query("SELECT key, first_sample_at, stat_names FROM streams WHERE spec = 'mpstat_linux' ORDER BY 1")
    assert streams == [("m", first, ["mpstat_linux"]), ("wide", None, [])]
    for table, column in (("rollups", "block_at"), ("rollup_marks", "hour_at")):
        counts = db.query(
            f"SELECT s.name, count(*), min({column}) >= '{border}' FROM {table} JOIN stats AS s ON s.id = stat_id"
            " GROUP BY 1 ORDER BY 1",
        )
        assert counts == [("mpstat_linux", 3, True), ("vmstat_linux", 5, False)]
    # Again: nothing is left to do.
    again = await apply(db.sessions, RetentionRulePut(stat="mpstat_linux", samples_days=3, chunks_days=None))
    assert (again.state, again.n_samples, again.n_instances) == (JobState.DONE, 0, 0)


async def test_the_rule_for_all_others(agent: Agent, db: Database) -> None:
    await fill(agent)
    n_mpstat = times(db.url, "mpstat_linux")[0]
    await apply(
        db.sessions,
        RetentionRulePut(stat=None, samples_days=1, chunks_days=None),
        RetentionRulePut(stat="mpstat_linux", samples_days=None, chunks_days=None),
    )
    assert times(db.url, "vmstat_linux")[1] >= datetime(2026, 3, 5, tzinfo=UTC)
    assert times(db.url, "mpstat_linux")[0] == n_mpstat


async def age_chunks(url: str, days: int, *, below: int) -> None:
    """As if the first chunks of the stream had come so many days before NOW."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE chunks SET received_at = %s", [NOW])
        connection.execute("UPDATE chunks SET received_at = %s WHERE start_offset < %s", [NOW - days * DAY, below])


async def test_raw_bytes_go_apart_and_their_samples_are_never_lost(
    agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_removal, "BATCH_CHUNKS", 3)
    await put(db.sessions, "app_user", APP_USER)
    text = app_user_text(60)
    at = 0
    while at < len(text) and (end := await agent.send_file(text[at : at + 200], "app_user", offset=at)) > at:
        at = end
    await agent.send_file(app_user_text(5), "app_user", "young")
    before = await export(db.engine)
    bounds = [
        int(str(row[0]))
        for row in db.query("SELECT start_offset FROM chunks JOIN streams ON id = stream_id WHERE key = 'k' ORDER BY 1")
    ]
    assert len(bounds) > 10
    await age_chunks(db.url, 30, below=bounds[8])
    # The young stream came at once: nothing of it is old.
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE chunks SET received_at = %s FROM streams WHERE id = stream_id AND key = 'young'", [NOW])
    run = await apply(db.sessions, RetentionRulePut(stat="app_user", samples_days=None, chunks_days=7))
    assert (run.state, run.n_samples, run.n_chunks, run.n_chunk_bytes) == (JobState.DONE, 0, 8, bounds[8])
    left = db.query("SELECT key, min(start_offset) FROM chunks JOIN streams ON id = stream_id GROUP BY 1 ORDER BY 1")
    assert left == [("k", bounds[8]), ("young", 0)]
    # The samples stay, and a reparse says why it leaves them alone.
    assert await export(db.engine) == before
    await put(db.sessions, "app_user", APP_USER.replace('key = "wait"', 'key = "wait_ms"'))
    async with open_write_session(db.sessions) as session:
        await refresh_catalogue(session)
    outdated = await reparse(db.sessions, db.url, ReparseScope(is_outdated_only=True))
    assert (outdated.state, outdated.n_streams) == (JobState.DONE, 1)
    csv = await export(db.engine)
    ended = await reparse(db.sessions, db.url, ReparseScope(spec="app_user"))
    assert (ended.state, ended.n_streams, ended.n_streams_done) == (JobState.FAILED, 2, 1)
    assert f"kept from offset {bounds[8]} on only" in ended.message
    assert await export(db.engine) == csv
    # The agent goes on all the same.
    more = app_user_text(3, start_s=1_795_300_000)
    assert await agent.send_file(more, "app_user", offset=at) == at + len(more)


async def test_packed_bytes_go_when_all_of_their_pack_is_old(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_run, "MAX_PACK_BYTES", 3000)
    text = vmstat_text(vmstat_times(200))
    await send_in_pieces(agent, text, "vmstat_linux", size=400)
    bounds = [int(str(row[0])) for row in db.query("SELECT start_offset FROM chunks ORDER BY 1")]
    assert len(bounds) > 30
    # A day ends in the middle of the 21st chunk and the ones around it, and the last five are not packed.
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE chunks SET received_at = %s", [NOW - 8 * DAY])
        connection.execute("UPDATE chunks SET received_at = %s WHERE start_offset >= %s", [NOW - 6 * DAY, bounds[20]])
        connection.execute("UPDATE chunks SET received_at = %s WHERE start_offset >= %s", [NOW, bounds[-5]])
    await pack_chunks(db.sessions, before=NOW - DAY, budget_s=60)
    packs = db.query("SELECT start_offset, end_offset, n_chunks FROM packed_chunks ORDER BY 1")
    assert len(packs) > 4
    assert [pack[1] for pack in packs] == [*(pack[0] for pack in packs[1:]), bounds[-5]]
    assert (bounds[20], 20) == (
        next(pack[0] for pack in packs if pack[0] >= bounds[20]),
        sum(int(str(pack[2])) for pack in packs if int(str(pack[0])) < bounds[20]),
    )
    run = await apply(db.sessions, RetentionRulePut(stat=None, samples_days=None, chunks_days=7))
    assert (run.state, run.n_chunks, run.n_chunk_bytes) == (JobState.DONE, 20, bounds[20])
    changes = "SELECT kept_from, packed_to, packed_bytes FROM stream_changes"
    assert db.query(changes) == [(bounds[20], bounds[-5], bounds[-5] - bounds[20])]
    # The next rule lets all packs go, and no chunk.
    run = await apply(db.sessions, RetentionRulePut(stat=None, samples_days=None, chunks_days=3))
    assert (run.state, run.n_chunk_bytes) == (JobState.DONE, bounds[-5] - bounds[20])
    assert db.query(changes) == [(bounds[-5], bounds[-5], 0)]
    assert db.query("SELECT count(*), min(start_offset) FROM chunks") == [(5, bounds[-5])]
    async with open_read_session(db.sessions) as session:
        (stream_id,) = await stream_ids(db.sessions)
        left = await read_whole(session, stream_id)
    assert b"".join(chunk.data for chunk in left) == text[bounds[-5] :]


async def test_bytes_that_go_while_a_reparse_reads_them(agent: Agent, db: Database) -> None:
    """It has read the bytes before they went; it does not replace anything all the same, for the count would not be true."""
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(30), "app_user")
    before = await export(db.engine)
    with psycopg.connect(db.url) as connection:
        connection.execute("SELECT FROM hosts FOR NO KEY UPDATE")
        task = asyncio.create_task(reparse(db.sessions, db.url))
        while not await asyncio.to_thread(query, db.url, "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        connection.execute("INSERT INTO stream_changes (stream_id, kept_from) SELECT id, 90 FROM streams")
    record = await task
    assert record.state is JobState.FAILED
    assert "cannot be derived again" in record.message
    assert await export(db.engine) == before


async def test_what_is_no_rule(sessions: Sessions) -> None:
    for wishes, message in (
        ([RetentionRulePut(stat="nothing_any", samples_days=1, chunks_days=1)], "no stat 'nothing_any'"),
        (
            [
                RetentionRulePut(stat=None, samples_days=1, chunks_days=1),
                RetentionRulePut(stat=None, samples_days=2, chunks_days=1),
            ],
            "two rules",
        ),
    ):
        with pytest.raises(BadRequest, match=message):
            async with open_write_session(sessions) as session:
                await retention_rules.put_rules(session, wishes, updated_by="anna")


async def test_the_night_wishes_only_where_there_are_rules(db: Database) -> None:
    await deletion_worker.queue_nightly_retention(db.sessions)
    async with open_write_session(db.sessions) as session:
        assert await retention_rules.list_runs(session) == []
        await retention_rules.put_rules(
            session, [RetentionRulePut(stat=None, samples_days=365, chunks_days=None)], updated_by="anna"
        )
    await deletion_worker.queue_nightly_retention(db.sessions)
    assert await deletion_worker.work_off_removals(db.url)
    async with open_read_session(db.sessions) as session:
        (run,) = await retention_rules.list_runs(session)
    assert (run.state, run.created_by) == (JobState.DONE, deletion_worker.NIGHTLY)
