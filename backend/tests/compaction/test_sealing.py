"""Sealing moves samples and changes nothing: whatever reads them, changes them or removes them, before, while and after."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.compaction import seal_job
from normstat.compaction.seal_job import Sealing, choose_length, limit_at, seal_next
from normstat.compaction.unseal import unseal
from normstat.comparison.service import BaselineChoice, ComparisonRequest, run_comparison
from normstat.db.hypertables import EmptyParts
from normstat.db.session import open_read_session
from normstat.errors import DamagedSamples
from normstat.query.report_coverage import read_coverage
from normstat.query.series_points import SeriesRequest, read_series
from normstat.retention.retention_rules import RetentionRulePut
from normstat.runtime.metrics import DAMAGED_BLOCKS
from normstat.samples.lookup import require_host
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import LATEST, Window, from_us, to_us
from tests.cli.commands import Commands
from tests.database_access import Database
from tests.databases import Sessions, on_either_database, on_one_database
from tests.fork_server import start_forked
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.golden_captures import GOLDEN
from tests.ingest.rereading import books, export, reparse
from tests.ingest.sending import Agent
from tests.query.filling import seal_all
from tests.retention.test_retention import apply

ROWS_LEFT = (
    "SELECT sum(n) FROM (SELECT count(*) AS n FROM samples.vmstat_linux UNION ALL SELECT count(*) FROM samples.mpstat_linux) AS t"
)
MINUTES_BYTES = "SELECT sum(octet_length(body))::int8 FROM rollups WHERE level = 1"
SEALED = "SELECT coalesce(sum(n_rows), 0)::int8 FROM sealed_blocks"


@pytest.fixture
def agent(engine: AsyncEngine) -> Agent:
    return Agent(engine)


async def fill(agent: Agent) -> None:
    """Two days of one tool, CPUs of another that come and go, processes, and odd words."""
    await agent.send_file(vmstat_text(vmstat_times(200)), key="v1")
    await agent.send_file(vmstat_text(vmstat_times(60, START + timedelta(days=1))), key="v2")
    await agent.send_file(mpstat_text(30, 2) + mpstat_text(30, 4, start=START + timedelta(hours=2)), "mpstat_linux", "m")
    for number, path in enumerate(sorted(GOLDEN.glob("*/pidstat_linux/*.txt"), key=lambda path: path.name)[::3]):
        await agent.send_file(path.read_bytes(), "pidstat_linux", f"p{number}")


async def seen(engine: AsyncEngine, sessions: Sessions, url: str) -> tuple[object, ...]:
    """What people see of a host."""
    async with open_read_session(sessions) as session:
        coverage = await read_coverage(session, "alpha", Window(START - timedelta(hours=1), START + timedelta(days=2)))
    return await export(engine), await export(engine, stat="mpstat_linux"), books(url), coverage


@on_either_database
async def test_everything_is_seen_as_before(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = await seen(db.engine, db.sessions, db.url)
    n_rows = db.query(ROWS_LEFT)[0][0]
    assert await seal_all(db.sessions, "alpha") >= n_rows > 300
    assert db.query(ROWS_LEFT) == [(0,)]
    assert await seen(db.engine, db.sessions, db.url) == before


@on_either_database
async def test_slow_reports_have_no_minutes_beside_their_block(agent: Agent, db: Database) -> None:
    await agent.send_file(vmstat_text([START + timedelta(seconds=30 * number) for number in range(2000)]), key="slow")
    now = START + timedelta(days=3)
    await roll_up(db.sessions, now=now, budget_s=60)
    asked = SeriesRequest("alpha", "vmstat_linux", Window(START - timedelta(hours=12), now), 400, ("cpu_us", "cpu_id"))

    async def drawn() -> list[tuple[object, ...]]:
        async with open_read_session(db.sessions) as session:
            found = await read_series(session, asked)
        return [(found.source, one.n_raw, one.total, one.times.tobytes(), one.values.tobytes()) for one in found.series]

    before, [(n_before,)] = await drawn(), db.query(MINUTES_BYTES)
    assert before[0][:2] == ("rollup_minute", 1999)
    assert (await Sealing(db.sessions, None).seal(now=now, budget_s=60, is_throttled=False)).is_all
    [(n_after,)] = db.query(MINUTES_BYTES)
    assert n_after < n_before / 2
    assert await drawn() == before


@on_either_database
async def test_late_samples_are_seen_at_once_and_join_the_block(agent: Agent, db: Database) -> None:
    other = Agent(db.engine, "beta")
    texts = [vmstat_text(vmstat_times(100)), vmstat_text(vmstat_times(100, START + timedelta(seconds=50))), mpstat_text(20, 3)]
    for own in (agent, other):
        await own.send_file(texts[0], key="1")
    await seal_all(db.sessions, "beta")
    for own in (agent, other):
        await own.send_file(texts[1], key="2")
        await own.send_file(texts[2], "mpstat_linux", "m")
    expected = (await export(db.engine)).replace(b"alpha", b"beta")
    assert await export(db.engine, "beta") == expected
    assert await seal_all(db.sessions, "beta") > 0
    assert await export(db.engine, "beta") == expected
    assert db.query("SELECT count(*) FROM sealed_blocks") == [(2,)]


@on_either_database
async def test_the_day_before_a_block_gets_a_block_of_its_own(agent: Agent, db: Database) -> None:
    await agent.send_file(vmstat_text(vmstat_times(60, START + timedelta(days=1))), key="later")
    await seal_all(db.sessions, "alpha")
    await agent.send_file(vmstat_text(vmstat_times(60)), key="earlier")
    before = await export(db.engine)
    await seal_all(db.sessions, "alpha")
    assert await export(db.engine) == before
    # The first report of each text is since boot, and no sample.
    assert db.query("SELECT n_rows FROM sealed_blocks ORDER BY start_at") == [(59,), (59,)]


@on_either_database
async def test_a_reparse_and_an_older_spec_find_what_is_sealed(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = await seen(db.engine, db.sessions, db.url)
    await seal_all(db.sessions, "alpha")
    record = await reparse(db.sessions, db.url)
    assert record.n_samples_before == record.n_samples_after > 300
    assert db.query(SEALED) == [(0,)], "all of it was read again"
    assert await seen(db.engine, db.sessions, db.url) == before


@on_either_database
async def test_retention_and_deletion_take_blocks(agent: Agent, db: Database) -> None:
    other = Agent(db.engine, "beta")
    for own in (agent, other):
        await own.send_file(vmstat_text(vmstat_times(100, START)), key="1")
        await own.send_file(vmstat_text(vmstat_times(100, START + timedelta(days=2))), key="2")
    await seal_all(db.sessions, "beta")
    now = START + timedelta(days=3)
    run = await apply(db.sessions, RetentionRulePut(stat=None, samples_days=2, chunks_days=None), now=now)
    assert run.n_samples == 198
    assert books(db.url, "beta")["instances"] == books(db.url)["instances"]
    assert await export(db.engine, "beta") == (await export(db.engine)).replace(b"alpha", b"beta") != b""
    assert db.query(SEALED) == [(99,)]


@on_either_database
async def test_unsealed_rows_are_those_that_were_sealed(agent: Agent, db: Database) -> None:
    await fill(agent)
    names = [str(name) for (name,) in db.query("SELECT name FROM stats ORDER BY name")]
    tables = {name: db.query(f'SELECT * FROM samples."{name}" ORDER BY host_id, time, instance_id, line_offset') for name in names}
    await seal_all(db.sessions, "alpha")
    async with open_read_session(db.sessions) as session:
        host_id = await require_host(session, "alpha")
    until = datetime.now(UTC) + timedelta(days=1)
    done = await unseal(db.sessions, host_id, until=until)
    assert done.n_rows == sum(len(rows) for rows in tables.values())
    for name, rows in tables.items():
        assert db.query(f'SELECT * FROM samples."{name}" ORDER BY host_id, time, instance_id, line_offset') == rows
    # They stay so until then.
    assert await seal_next(db.sessions, host_id, to_us(LATEST), datetime.now(UTC)) is None
    assert await seal_next(db.sessions, host_id, to_us(LATEST), until + timedelta(seconds=1)) is not None


@on_either_database
async def test_what_was_unsealed_for_good_is_sealed_again_by_the_command_that_is_named(agent: Agent, db: Database) -> None:
    await fill(agent)
    n_rows = await seal_all(db.sessions, "alpha")
    normstat = Commands(db.url)
    code, out, _ = await normstat("unseal", "--all")
    assert (code, out.strip().endswith("are rows again, for good; back: normstat seal --unsealed")) == (0, True)
    assert (await normstat.do("seal", "--after-days", "0")).strip() == "0 samples sealed"
    assert (await normstat.do("seal", "--after-days", "0", "--unsealed", "--host", "alpha")).strip() == f"{n_rows} samples sealed"


@on_either_database
async def test_what_comes_while_it_is_sealed_is_kept(agent: Agent, db: Database) -> None:
    lines = vmstat_text(vmstat_times(600)).splitlines(keepends=True)
    head, body = b"".join(lines[:2]), lines[2:]

    async def send() -> None:
        text = head
        await agent.send_file(head, key="k")
        at = len(head)
        for start in range(0, len(body), 40):
            piece = b"".join(body[start : start + 40])
            at = await agent.send_file(piece, key="k", offset=at)
            text += piece

    async def seal() -> None:
        for _ in range(30):
            if db.query("SELECT 1 FROM hosts WHERE name = 'alpha'"):
                await seal_all(db.sessions, "alpha")
            await asyncio.sleep(0.02)

    await asyncio.gather(send(), seal())
    assert len((await export(db.engine, stat="vmstat_linux")).splitlines()) == 600
    await seal_all(db.sessions, "alpha")
    assert db.query(SEALED) == [(599,)]


@on_either_database
async def test_only_whole_days_that_ended_are_sealed_and_empty_chunks_go(agent: Agent, db: Database) -> None:
    await agent.send_file(vmstat_text(vmstat_times(100, START)), key="1")
    await agent.send_file(vmstat_text(vmstat_times(50, START + timedelta(days=1))), key="2")
    sealing = Sealing(db.sessions, 1)
    day_end = datetime(START.year, START.month, START.day, tzinfo=UTC) + timedelta(days=1)
    for now, n_sealed in ((day_end + timedelta(hours=23), 0), (day_end + timedelta(hours=25), 99)):
        assert (await sealing.seal(now=now, budget_s=60)).n_rows == n_sealed
    before = await export(db.engine)
    parts = EmptyParts()
    assert await parts.drop(db.sessions, "samples", before=day_end) == 0, "somebody could still see its rows"
    n_chunks = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'samples.vmstat_linux'::regclass"
    n_before = int(str(db.query(n_chunks)[0][0]))
    n_dropped = await parts.drop(db.sessions, "samples", before=day_end)
    assert n_dropped == (1 if n_before else 0)
    assert db.query(n_chunks) == [(n_before - n_dropped,)]
    assert await export(db.engine) == before


def test_a_block_has_about_as_many_values_as_are_read_at_once() -> None:
    assert choose_length(5_000_000, 1440) == 720
    assert choose_length(64 * 86_400 * 17, 1440) == 60
    assert choose_length(10**12, 60) == 1
    assert from_us(limit_at(datetime(2026, 3, 5, 7, tzinfo=UTC), timedelta(days=1))) == datetime(2026, 3, 4, tzinfo=UTC)


@on_either_database
async def test_a_busy_day_is_several_blocks(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal_job, "VALUES_PER_BLOCK", 2000)
    await fill(agent)
    before = await seen(db.engine, db.sessions, db.url)
    await seal_all(db.sessions, "alpha")
    assert int(str(db.query("SELECT count(*) FROM sealed_blocks")[0][0])) > 6
    assert await seen(db.engine, db.sessions, db.url) == before
    spans = (
        "SELECT count(*) FROM sealed_blocks AS a JOIN sealed_blocks AS b USING (host_id, stat_id)"
        " WHERE a.start_at < b.start_at AND a.end_at > b.start_at"
    )
    assert db.query(spans) == [(0,)], "no two overlap"


@on_either_database
async def test_a_full_disk_loses_nothing(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = await seen(db.engine, db.sessions, db.url)
    with psycopg.connect(db.url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION fill_up() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        connection.execute("CREATE TRIGGER full_disk BEFORE INSERT ON sealed_blocks FOR EACH ROW EXECUTE FUNCTION fill_up()")
        # As if the database were away: the next run tries again.
        with pytest.raises(psycopg.errors.DiskFull):
            await Sealing(db.sessions, 1).seal(now=START + timedelta(days=9), budget_s=60)
        assert db.query(SEALED) == [(0,)]
        assert await seen(db.engine, db.sessions, db.url) == before
        connection.execute("DROP TRIGGER full_disk ON sealed_blocks")
    assert (await Sealing(db.sessions, 1).seal(now=START + timedelta(days=9), budget_s=60)).n_failed == 0
    assert db.query(ROWS_LEFT) == [(0,)]
    assert await seen(db.engine, db.sessions, db.url) == before


@on_either_database
async def test_a_block_that_cannot_be_read_stops_no_other_host(db: Database) -> None:
    for host in ("alpha", "beta"):
        await Agent(db.engine, host).send_file(vmstat_text(vmstat_times(20)), key="1")
        await seal_all(db.sessions, host)
        await Agent(db.engine, host).send_file(vmstat_text(vmstat_times(20, START + timedelta(hours=1))), key="2")
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE sealed_blocks SET head = '\\x09' FROM hosts WHERE id = host_id AND name = 'alpha'")
    done = await Sealing(db.sessions, 1).seal(now=START + timedelta(days=9), budget_s=60, is_throttled=False)
    assert (done.n_rows, done.is_all, done.n_failed) == (19, True, 1)
    left = "SELECT name, count(*) FROM samples.vmstat_linux JOIN hosts ON id = host_id GROUP BY 1"
    assert db.query(left) == [("alpha", 19)], "they stay rows"


@on_one_database
@pytest.mark.matrix
async def test_a_kill_at_any_moment_leaves_each_sample_once(agent: Agent, db: Database, tmp_path: Path) -> None:
    for day in range(6):
        await agent.send_file(mpstat_text(300, 4, start=START - timedelta(days=20 - day)), "mpstat_linux", f"{day}")
    before = await export(db.engine)
    left = "SELECT count(*) FROM samples.mpstat_linux"
    ended = [await asyncio.to_thread(seal_and_kill, db.url, tmp_path / "log", 0.004 * number) for number in range(6)]
    for _ in range(10):
        assert await export(db.engine) == before
        if db.query(left) == [(0,)]:
            break
        ended.append(await asyncio.to_thread(seal_and_kill, db.url, tmp_path / "log", 60))
    assert -signal.SIGKILL in ended
    assert set(ended) <= {0, -signal.SIGKILL}, (tmp_path / "log").read_text()
    assert db.query(left) == [(0,)]


def seal_and_kill(url: str, log_path: Path, after_s: float) -> int:
    """Kills `normstat seal` so long after its first block; how it ended."""
    with psycopg.connect(url, autocommit=True) as looker:
        known = looker.execute(SEALED).fetchone()
        with log_path.open("ab") as log:
            process = start_forked(["seal"], os.environ | {"NORMSTAT_DATABASE_URL": url}, log)
        while process.poll() is None and looker.execute(SEALED).fetchone() == known:
            time.sleep(0.002)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(after_s)
    process.kill()
    return process.wait()


# --- a block whose bytes are not those that were written ---


SAID = (
    r"\d+ sealed samples of alpha, vmstat_linux, from 20\d\d-\d\d-\d\dT00:00:00Z to 20\d\d-\d\d-\d\dT00:00:00Z cannot be read: .+\."
    r" Make them again from the raw text: normstat reparse --host alpha\. Or restore a backup"
)


DAMAGE = {
    "a bit of the values": "body = set_byte(body, octet_length(body) - 9, get_byte(body, octet_length(body) - 9) # 1)",
    "a bit of the rows": "body = set_byte(body, 40, get_byte(body, 40) # 16)",
    "the end": "body = substring(body FOR octet_length(body) - 3)",
    "a bit of the head": "head = set_byte(head, 30, get_byte(head, 30) # 4)",
    "another version": r"head = '\x09'",
}


async def fill_blocks(engine: AsyncEngine, sessions: Sessions) -> None:
    """Two streams of vmstat in one block, and CPUs in another."""
    agent = Agent(engine)
    await agent.send_file(vmstat_text(vmstat_times(60)), key="v1")
    await agent.send_file(vmstat_text(vmstat_times(60, START.replace(minute=START.minute + 5))), key="v2")
    await agent.send_file(mpstat_text(30, 2), "mpstat_linux", "m")
    await seal_all(sessions, "alpha")


def damage(url: str, how: str) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            f"UPDATE sealed_blocks SET {how} FROM stats WHERE stats.id = stat_id AND stats.name = 'vmstat_linux'"
        )
        assert found.rowcount == 1


@on_either_database
async def test_who_reads_it_is_told_and_a_reparse_mends_it(db: Database) -> None:
    await fill_blocks(db.engine, db.sessions)
    before, accounts = await export(db.engine, stat="vmstat_linux"), books(db.url)["streams"]
    cpus = await export(db.engine, stat="mpstat_linux")
    window = Window(START, START.replace(hour=START.hour + 1))
    for how in DAMAGE.values():
        damage(db.url, how)
        n_counted = DAMAGED_BLOCKS._value.get()
        with pytest.raises(DamagedSamples, match=SAID):
            await export(db.engine, stat="vmstat_linux")
        assert DAMAGED_BLOCKS._value.get() == n_counted + 1, how
        assert await export(db.engine, stat="mpstat_linux") == cpus, "the other stats are not concerned"
        async with open_read_session(db.sessions) as session:
            with pytest.raises(DamagedSamples, match=SAID):
                await run_comparison(session, ComparisonRequest(["alpha"], window, BaselineChoice(window=window)), max_rows=10**6)
        await reparse(db.sessions, db.url)
        assert await export(db.engine, stat="vmstat_linux") == before, how
        assert books(db.url)["streams"] == accounts
        assert await seal_all(db.sessions, "alpha") > 0
        assert await export(db.engine, stat="vmstat_linux") == before, how
