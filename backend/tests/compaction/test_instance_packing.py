"""Packed instances are found as their rows were, and become rows again where rows of samples need them."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.compaction import instance_packing
from normstat.compaction.instance_packing import pack_instances
from normstat.compaction.seal_job import Sealing
from normstat.compaction.unseal import unseal
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.query.search.search_rows import find_instance_rows, list_host_rows
from normstat.samples import packed_instances
from normstat.samples.lookup import (
    find_instances,
    find_stat,
    list_host_stats,
    list_instances_by_id,
    list_latest_instances,
    list_latest_instances_of_hosts,
    list_stats_of_hosts,
    read_instance_names,
    read_possible_window,
    require_host,
)
from normstat.samples.packed_instances import PackedInstance, add_names, add_packs, find_packed, restore_instances
from normstat.window import LATEST, Window, to_us
from tests.database_access import Database
from tests.databases import Sessions, on_one_database
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.golden_captures import GOLDEN
from tests.ingest.rereading import export, reparse
from tests.ingest.sending import Agent
from tests.query.filling import seal_all

DAYS = Window(START - timedelta(days=3650), START + timedelta(days=3650))
ROWS = "SELECT id, name, first_sample_at, last_sample_at FROM instances ORDER BY id"
ALL = ROWS.replace("instances", "all_instances")
N_PACKED = "SELECT coalesce(sum(n_instances), 0)::int8 FROM packed_instances"


@pytest.fixture
def agent(engine: AsyncEngine) -> Agent:
    return Agent(engine)


async def fill(agent: Agent) -> None:
    """CPUs that come and go, a tool without instances, and processes."""
    await agent.send_file(vmstat_text(vmstat_times(20)), key="v")
    await agent.send_file(mpstat_text(30, 2) + mpstat_text(30, 4, start=START + timedelta(hours=2)), "mpstat_linux", "m")
    for number, path in enumerate(sorted(GOLDEN.glob("*/pidstat_linux/*.txt"), key=lambda path: path.name)[::3]):
        await agent.send_file(path.read_bytes(), "pidstat_linux", f"p{number}")


async def found(sessions: Sessions) -> list[object]:
    """What each way to look for instances finds."""
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, "alpha")
        stats = await list_host_stats(session, host_id)
        result: list[object] = [[stat.name for stat in stats], await list_stats_of_hosts(session, [host_id])]
        for stat in stats:
            for window in (
                DAYS,
                Window(START, START + timedelta(seconds=5)),
                Window(START + timedelta(hours=1), START + timedelta(hours=3)),
            ):
                latest = await list_latest_instances(session, host_id, stat, window)
                instances, _ = latest
                ids = [instance.id for instance in instances]
                result += [
                    latest,
                    await list_latest_instances_of_hosts(session, [host_id], stat, window),
                    await find_instances(session, host_id, stat.id, [instance.name for instance in instances]),
                    await list_instances_by_id(session, ids),
                    await read_instance_names(session, ids),
                    await read_possible_window(session, host_id, stat.id, window),
                ]
        hosts = await list_host_rows(session)
        rows, n_rows = await find_instance_rows(session, hosts, [stat.name for stat in stats], ["a", "1"])
        result += [sorted(rows, key=str), n_rows]
    return result


async def test_packed_instances_are_found_as_before(agent: Agent, db: Database) -> None:
    await fill(agent)
    rows, before = db.query(ROWS), await found(db.sessions)
    await seal_all(db.sessions, "alpha")
    assert db.query(ROWS) == []
    assert db.query(N_PACKED) == [(len(rows),)]
    assert db.query(ALL) == rows
    assert await found(db.sessions) == before


@on_one_database
async def test_a_late_sample_a_reparse_and_an_unsealed_block_need_the_rows_again(agent: Agent, db: Database) -> None:
    await fill(agent)
    rows = db.query(ROWS)
    texts = [await export(db.engine, stat=stat) for stat in ("mpstat_linux", "pidstat_linux")]
    await seal_all(db.sessions, "alpha")
    await agent.send_file(mpstat_text(1, 3, start=START + timedelta(hours=4)), "mpstat_linux", "late")
    # All, and three CPUs; the others stay packed, and no name got another number.
    assert len(db.query(ROWS)) == 4
    assert [row[:2] for row in db.query(ALL)] == [row[:2] for row in rows]
    await reparse(db.sessions, db.url)
    assert [row[:2] for row in db.query(ALL)] == [row[:2] for row in rows]
    await seal_all(db.sessions, "alpha")
    assert db.query(ROWS) == []
    async with open_read_session(db.sessions) as session:
        host_id = await require_host(session, "alpha")
    await unseal(db.sessions, host_id, until=datetime.now(UTC) + timedelta(days=1))
    assert [row[:2] for row in db.query(ROWS)] == [row[:2] for row in rows]
    for stat, text in zip(("mpstat_linux", "pidstat_linux"), texts, strict=True):
        own = await export(db.engine, stat=stat)
        assert own.startswith(text)
        # The view for people joins the rows of instances.
        assert db.query(f"SELECT count(*) FROM stat.{stat}") == [(own.count(b"\r\n") - 1,)]


@on_one_database
async def test_an_instance_with_a_row_of_samples_is_not_packed(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(agent)
    rows = db.query(ROWS)
    async with open_read_session(db.sessions) as session:
        host_id = await require_host(session, "alpha")
    assert await pack_instances(db.sessions, host_id, to_us(START + timedelta(days=1)), min_packed=1) == 0
    # This few stay rows.
    await Sealing(db.sessions, 1).seal(now=datetime.now(UTC), budget_s=60)
    assert db.query(ROWS) == rows
    add_first, late = instance_packing.add_names, [mpstat_text(3, 2, start=START + timedelta(seconds=7))]

    async def add_and_send(connection: psycopg.AsyncConnection, key: tuple[int, int], names: dict[int, str]) -> None:
        await add_first(connection, key, names)
        while late:
            await agent.send_file(late.pop(), "mpstat_linux", "late")

    monkeypatch.setattr(instance_packing, "add_names", add_and_send)
    n_packed = await pack_instances(db.sessions, host_id, to_us(LATEST), min_packed=1)
    assert db.query(ROWS) == [row for row in rows if row[1] in {"all", "0", "1", "2", "3"}]
    assert n_packed == len(rows) - 5
    assert db.query("SELECT count(*) FROM stat.mpstat_linux")[0][0] > 0
    assert db.query(ALL) == rows


@on_one_database
async def test_names_are_found_in_any_number_of_slots(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(agent)
    monkeypatch.setattr(packed_instances, "MAX_SLOT", 8)
    monkeypatch.setattr(packed_instances, "MAX_PACKED", 16)
    async with open_read_session(db.sessions) as session:
        host_id = await require_host(session, "alpha")
        stat = await find_stat(session, "vmstat_linux")
        assert stat is not None
    key = host_id, stat.id
    # Times of any precision.
    made = [PackedInstance(10**6 + 3 * n, *key, f"{n % 700}/name{n}", 7 * n, 7 * n + n % 5) for n in range(500)]
    for part in (made[:30], made[30:40], made[40:]):
        async with open_write_session(db.sessions) as session:
            connection = await driver_of(session)
            await add_names(connection, key, {own.id: own.name for own in part})
            await add_packs(connection, key, part)
    assert db.query("SELECT count(*), min(n_slots), max(n_slots) FROM packed_instance_slots") == [(64, 64, 64)]
    wanted = [(*key, own.name) for own in made]
    async with open_write_session(db.sessions) as session:
        connection = await driver_of(session)
        assert sorted(await find_packed(connection, wanted), key=lambda own: own.id) == made
        assert await find_packed(connection, [(*key, "none"), (host_id, stat.id + 1, made[0].name)]) == []
        await restore_instances(connection, [own.id for own in made[::7]])
        left = sorted(await find_packed(connection, wanted), key=lambda own: own.id)
        assert left == [own for own in made if own not in made[::7]]
    assert len(db.query(f"{ROWS.replace('ORDER BY', 'WHERE id >= 1000000 ORDER BY')}")) == len(made[::7])
