"""Sizes: what the catalogue says, shared out among hosts; growth from the record of each day."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from normstat.db.hypertables import TableSize
from normstat.db.session import open_read_session
from normstat.query import storage_sizes
from normstat.query.disk_usage import StorageInfo, StorageMonitor, build_info, read_storage_info
from normstat.query.storage_sizes import DaySizes, DiskSpace, HostSize, RawSizes, SealedSize, Sizes, note_sizes
from tests.database_access import Database
from tests.databases import Sessions, TestServer
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import Agent

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
CHANGED = """
    SELECT count(*) FROM pg_inherits
    WHERE inhparent = 'samples.mpstat_linux'::regclass AND pg_stat_get_mod_since_analyze(inhrelid) > 0
"""
WEB = HostSize(
    id=1,
    name="web",
    is_being_deleted=False,
    sample_bytes=600,
    chunk_bytes=200,
    n_samples=30,
    first_sample_at=NOW,
    last_sample_at=NOW,
)
SIZES = Sizes(
    measured_at=NOW,
    kind="postgresql",
    database_bytes=1000,
    raw=RawSizes(n_bytes=900, n_packed_bytes=700, chunk_table_bytes=120, packed_table_bytes=80),
    rollup_bytes=50,
    sealed_bytes=40,
    profile_bytes=30,
    artefact_bytes=20,
    sealed={"vmstat_linux": SealedSize(n_rows=200, n_values=680, n_bytes=35)},
    stats=[TableSize("vmstat_linux", 500, 100, 30)],
    hosts=[WEB, replace(WEB, id=2, name="deleted 2", is_being_deleted=True)],
)


def day(
    at: datetime, n_bytes: int, *, first_at: datetime | None = None, first_bytes: int = 0, profiles: int = 30, sealed: int = 0
) -> DaySizes:
    return DaySizes(
        at,
        n_bytes,
        first_at or at,
        first_bytes,
        profile_bytes=profiles,
        sealed_bytes=sealed,
        stats={"vmstat_linux": n_bytes // 2},
        hosts={1: n_bytes // 4},
    )


def test_growth_is_that_of_the_last_week() -> None:
    days = [day(NOW, 1000), day(NOW - 1.5 * DAY, 850), day(NOW - 2.5 * DAY, 800)]
    record = build_info(SIZES, days, DiskSpace(free_bytes=8000, total_bytes=10_000), {"vmstat_linux": 4}, is_sealing=True)
    assert record.growth_bytes_per_day == pytest.approx(200 / 2.5)
    assert record.days_until_full == pytest.approx(100)
    assert [(part.part, part.bytes) for part in record.parts] == [
        ("samples", 600),
        ("sealed", 40),
        ("chunks", 200),
        ("artefacts", 20),
        ("rollups", 50),
        ("profiles", 30),
        ("other", 60),
    ]
    (stat,) = record.stats
    assert (stat.n_samples, stat.n_sealed, stat.n_values) == (230, 200, 800)
    assert stat.bytes_per_value == pytest.approx(635 / 800)
    assert stat.bytes_per_day == pytest.approx(235 / 2.5)
    (host,) = record.hosts
    assert host.host == "web"
    assert host.bytes_per_day == pytest.approx(600 / 2.5)


def test_within_the_first_day_growth_is_that_since_its_first_measurement() -> None:
    today = day(NOW, 1000, first_at=NOW - 0.25 * DAY, first_bytes=900)
    record = build_info(replace(SIZES, sealed={}), [today], None, {}, is_sealing=True)
    assert record.growth_bytes_per_day == pytest.approx(400)
    assert (record.days_until_full, record.disk.free_bytes, record.stats[0].bytes_per_value) == (None, None, None)
    assert (record.stats[0].bytes_per_day, record.hosts[0].bytes_per_day) == (None, None)
    # A quarter of an hour says nothing.
    early = replace(today, first_at=NOW - timedelta(minutes=15))
    assert build_info(SIZES, [early], None, {}, is_sealing=True).growth_bytes_per_day is None
    assert build_info(SIZES, [], None, {}, is_sealing=True).growth_bytes_per_day is None


def test_growth_is_that_of_what_stays_once_samples_are_sealed() -> None:
    """Rows of the first two days, and the profiles of the first week, come once: neither is growth of the days after."""
    now = replace(SIZES, database_bytes=10**9, profile_bytes=4 * 10**8, sealed_bytes=10**8)
    days = [
        day(NOW - 0.5 * DAY, 9 * 10**8, profiles=35 * 10**7, sealed=8 * 10**7),
        day(NOW - 1.5 * DAY, 8 * 10**8, profiles=3 * 10**8, sealed=5 * 10**7),
        day(NOW - 2.5 * DAY, 7 * 10**8, profiles=25 * 10**7),
        day(NOW - 3.5 * DAY, 10**7, profiles=0),
    ]
    record = build_info(now, days, DiskSpace(10**9, 10**10), {}, is_sealing=True)
    assert record.growth_bytes_per_day == pytest.approx((6 * 10**8 - 5 * 10**8) / 1.5)
    assert record.stats[0].bytes_per_day == pytest.approx((635 - 4 * 10**8) / 1.5)
    assert not record.is_before_sealing


def test_growth_is_the_larger_one_of_a_week_and_of_four() -> None:
    """A week's growth leaps: none in the last one is no reason to hope, and a lot is one to hurry."""
    for before_week, per_day in ((1000, (1000 - 900) / 28), (700, (1000 - 700) / 7)):
        days = [day(NOW - n * DAY, before_week if n <= 7 else 900) for n in range(1, 29)]
        record = build_info(replace(SIZES, sealed_bytes=0), days, None, {}, is_sealing=False)
        assert record.growth_bytes_per_day == pytest.approx(per_day)


def test_before_anything_is_sealed_growth_is_that_of_rows_and_says_so() -> None:
    days = [day(NOW - 1.5 * DAY, 850)]
    record = build_info(SIZES, days, None, {}, is_sealing=True)
    assert record.growth_bytes_per_day == pytest.approx(100)
    assert record.is_before_sealing
    assert not build_info(SIZES, days, None, {}, is_sealing=False).is_before_sealing
    assert not build_info(replace(SIZES, stats=[]), days, None, {}, is_sealing=True).is_before_sealing


def test_what_shrinks_is_never_full() -> None:
    record = build_info(SIZES, [day(NOW - 2 * DAY, 3000)], DiskSpace(8000, 10_000), {}, is_sealing=True)
    assert record.growth_bytes_per_day == pytest.approx(-1000)
    assert record.days_until_full is None


async def read(sessions: Sessions, url: str, folder: Path | None = None) -> StorageInfo:
    async with open_read_session(sessions) as session:
        return await read_storage_info(session, url, folder, None)


async def test_sizes_of_what_is_there(db: Database, server: TestServer, tmp_path: Path) -> None:
    await Agent(db.engine).send_file(mpstat_text(300, 8), "mpstat_linux", "m")
    await Agent(db.engine, "beta").send_file(mpstat_text(100, 8), "mpstat_linux", "m")
    await Agent(db.engine, "beta").send_file(vmstat_text(vmstat_times(50)))
    await db.engine.dispose()
    with psycopg.connect(db.url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    record = await read(db.sessions, db.url, tmp_path)
    assert record.kind.split("-")[0] == ("postgresql" if server.name == "postgresql" else "timescaledb")
    sizes = {stat.stat: stat for stat in record.stats}
    assert sizes.keys() == {"mpstat_linux", "vmstat_linux"}
    assert sizes["mpstat_linux"].n_samples == db.query("SELECT count(*) FROM samples.mpstat_linux")[0][0] == 3600
    n_fields = db.query("SELECT count(*) FROM stat_fields JOIN stats ON id = stat_id WHERE name = 'mpstat_linux'")[0][0]
    assert sizes["mpstat_linux"].n_values == 3600 * int(str(n_fields))
    assert sizes["mpstat_linux"].table_bytes > 3600 * 40
    assert sizes["mpstat_linux"].index_bytes > 3600 * 8
    assert sum(part.bytes for part in record.parts) == record.database_bytes > 1 << 20
    alpha, beta = record.hosts
    assert (alpha.host, beta.host) == ("alpha", "beta")
    assert (alpha.n_samples, beta.n_samples) == (2700, 900 + sizes["vmstat_linux"].n_samples)
    assert alpha.sample_bytes + beta.sample_bytes == pytest.approx(record.parts[0].bytes, abs=2)
    assert alpha.first_sample_at is not None
    assert record.disk.free_bytes is not None
    assert record.disk.total_bytes is not None
    assert 0 < record.disk.free_bytes <= record.disk.total_bytes


async def test_sizes_of_chunks_are_those_of_their_files(db: Database, server: TestServer) -> None:
    """In four states: never analyzed, analyzed, written to since, and in the columnstore."""
    if server.name == "postgresql":
        return
    agent = Agent(db.engine)
    for day in range(3):
        await agent.send_file(mpstat_text(400, 8, start=NOW + day * DAY), "mpstat_linux", f"m{day}")
        if day == 1:
            with psycopg.connect(db.url, autocommit=True) as connection:
                connection.execute("ANALYZE samples.mpstat_linux")
    await agent.send_file(mpstat_text(400, 8, start=NOW + DAY), "mpstat_linux", "again")
    # What a connection changed is in the statistics when it ends.
    await db.engine.dispose()
    while db.query(CHANGED) < [(2,)]:  # noqa: ASYNC110 (it is the database that is waited for)
        await asyncio.sleep(0.05)
    for is_compressed in (False, True):
        if is_compressed:
            if server.storage != "timescaledb-community":
                continue
            with psycopg.connect(db.url, autocommit=True) as connection:
                connection.execute("SELECT compress_chunk(c, true) FROM show_chunks('samples.mpstat_linux') AS c LIMIT 2")
        ((wanted,),) = db.query("SELECT total_bytes FROM hypertable_detailed_size('samples.mpstat_linux')")
        (stat,) = (await read(db.sessions, db.url)).stats
        assert stat.table_bytes + stat.index_bytes == pytest.approx(int(str(wanted)), rel=0.2)
        assert stat.n_samples == pytest.approx(4 * 400 * 9, rel=0.3)


async def test_the_day_is_kept_and_compared_with(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await Agent(db.engine).send_file(mpstat_text(50, 8), "mpstat_linux", "m")
    await note_sizes(db.sessions)
    await note_sizes(db.sessions)
    ((sizes, n_days),) = db.query("SELECT sizes, count(*) OVER () FROM storage_days")
    assert n_days == 1
    assert isinstance(sizes, dict)
    assert sizes["first_bytes"] <= sizes["database"]
    with psycopg.connect(db.url) as connection:
        # Two days ago there was nothing.
        empty = '{"database": 0, "first_bytes": 0, "first_at": "2026-01-01T00:00:00+00:00", "stats": {}, "hosts": {}}'
        connection.execute(
            "INSERT INTO storage_days (day, measured_at, sizes) SELECT day - 2, now() - interval '48 hours', %s FROM storage_days",
            [empty],
        )
    record = await read(db.sessions, db.url)
    (profiles,) = [part.bytes for part in record.parts if part.part == "profiles"]
    assert record.growth_bytes_per_day == pytest.approx((record.database_bytes - profiles) / 2, rel=0.01)
    assert record.is_before_sealing
    assert record.hosts[0].bytes_per_day == pytest.approx(
        (record.hosts[0].sample_bytes + record.hosts[0].chunk_bytes) / 2, rel=0.01
    )


async def test_it_is_measured_once_a_minute(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = StorageMonitor(db.url, None, None)
    async with open_read_session(db.sessions) as session:
        first = await watch.read(session)
        assert await watch.read(session) is first
        monkeypatch.setattr("normstat.query.disk_usage.KEPT_S", -1.0)
        assert await watch.read(session) is not first


def test_only_a_database_on_this_machine_is_looked_at() -> None:
    for url, is_local in (
        ("postgresql:///x", True),
        ("postgresql://u@127.0.0.1:5/x", True),
        ("postgresql://u@/x?host=/run/postgresql", True),
        ("postgresql://u@db.example.org/x", False),
        ("postgresql://u@localhost,db.example.org/x", False),
    ):
        assert storage_sizes._is_local(url) is is_local, url
