"""Rollups: whatever happens to the samples, and whenever the job is killed, they are those of the samples that are there."""

import asyncio
import functools
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.rows import TupleRow
from typer.testing import CliRunner

from normstat.cli import app
from normstat.codecs.rollup_codec import Buckets, merge, unpack
from normstat.db.schema.models import Host
from normstat.db.session import WriteSession, driver_of, open_read_session
from normstat.query.series_points import SeriesRequest, SeriesResult, read_series
from normstat.samples.rollups import minutes_of_samples, rollup_job, rollup_rows
from normstat.samples.rollups.rollup_job import DELAY, leave_out_next_day, roll_up
from normstat.samples.rollups.rollup_marks import mark_changed
from normstat.samples.rollups.rollup_rows import (
    FRESH,
    HOUR_US,
    HOURS,
    MINUTES,
    Place,
    forget_rollups,
    forget_rollups_before,
    wait_lock,
)
from normstat.samples.stat_tables import read_stored_stats, table_of
from normstat.samples.stream_rows import lock_host_by_id
from normstat.settings import load_settings
from normstat.window import Window, from_us, to_us
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.generated import START as GENERATED
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.rereading import put, reparse
from tests.ingest.sending import Agent
from tests.query.filling import fill_stat

pytestmark = on_either_database

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
START_US = to_us(START)
SECOND_US = 1_000_000
STAT = "mpstat_linux"
LEVELS = {level.number: level for level in (FRESH, MINUTES, HOURS)}


async def store(sessions: Sessions, seconds: np.ndarray, *, cpus: tuple[str, ...] = ("all", "0"), seed: int = 0) -> None:
    """Samples of some seconds after START, as ingest stores them: what is rolled up already is marked, in one transaction."""
    n = len(seconds) * len(cpus)
    rng = np.random.default_rng(seed)
    usr = np.round(rng.uniform(0, 100, n), 2)
    usr[rng.random(n) < 0.1] = np.nan
    intr = rng.integers(0, 9, n) + 0.25
    await fill_stat(sessions, STAT, START, seconds, cpus, key=str(seed), usr_pct=usr, intr_per_s=intr)
    await mark(sessions, int(seconds.min()), int(seconds.max()))


async def mark(sessions: Sessions, first: int, last: int) -> None:
    async with sessions() as session, session.begin():
        host = await lock_host_by_id(WriteSession(session), 1)
        assert host is not None
        stat = (await read_stored_stats(session, [STAT]))[STAT]
        await mark_changed(
            await driver_of(session),
            host_id=host.id,
            stat_id=stat.id,
            hours_us=range((START_US + first * SECOND_US) // HOUR_US * HOUR_US, START_US + last * SECOND_US + 1, HOUR_US),
            rolled_until=host.rolled_until,
        )


async def delete(sessions: Sessions, first: int, last: int) -> None:
    """Deletes the samples in [first, last) seconds after START."""
    async with sessions() as session, session.begin():
        host = await lock_host_by_id(WriteSession(session), 1)
        assert host is not None
        stat = (await read_stored_stats(session, [STAT]))[STAT]
        connection = await driver_of(session)
        span = (START + timedelta(seconds=first), START + timedelta(seconds=last))
        await connection.execute(sql.SQL("DELETE FROM {} WHERE time >= %s AND time < %s").format(table_of(STAT)), span)
        hours_us = range(to_us(span[0]) // HOUR_US * HOUR_US, to_us(span[1]) + 1, HOUR_US)
        await mark_changed(connection, host_id=host.id, stat_id=stat.id, hours_us=hours_us, rolled_until=host.rolled_until)


async def roll(sessions: Sessions, until_s: float) -> None:
    """The job, when it is so many seconds after START by the clock, and all is rolled up that can be."""
    now = START + timedelta(seconds=until_s) + rollup_job.DELAY
    assert (await roll_up(sessions, now=now, budget_s=600)).is_all


Kept = dict[tuple[int, str, int], Buckets]


async def kept_rollups(sessions: Sessions) -> Kept:
    async with sessions() as session:
        connection = await driver_of(session)
        cursor = await connection.execute("SELECT level, field_key, block_at, body FROM rollups")
        rows: list[TupleRow] = await cursor.fetchall()
        return {
            (level, key, to_us(block_at)): unpack(body, first_bucket=to_us(block_at) // LEVELS[level].bucket_us)
            for level, key, block_at, body in rows
        }


def assert_same(kept: Kept, again: Kept) -> None:
    assert kept.keys() == again.keys()
    for place, buckets in kept.items():
        for name in Buckets.__slots__:
            assert np.array_equal(getattr(buckets, name), getattr(again[place], name)), (place, name)


async def rebuild(sessions: Sessions, until_s: float) -> None:
    async with sessions() as session, session.begin():
        host = await lock_host_by_id(WriteSession(session), 1)
        assert host is not None
        await forget_rollups(WriteSession(session), host.id)
    await roll(sessions, until_s)


async def assert_right(sessions: Sessions, until_s: float) -> None:
    """The rollups are those that are made from scratch."""
    kept = await kept_rollups(sessions)
    await rebuild(sessions, until_s)
    assert_same(kept, await kept_rollups(sessions))


async def draw(sessions: Sessions, **wish: object) -> SeriesResult:
    asked = {"host": "web1", "stat": STAT, "window": hours(-1, 40), "width": 40, "fields": ("usr_pct", "intr_per_s")} | wish
    async with open_read_session(sessions) as session:
        return await read_series(session, SeriesRequest(**asked))  # type: ignore[arg-type]


def hours(first: float, last: float) -> Window:
    return Window(START + timedelta(hours=first), START + timedelta(hours=last))


async def raw_values(sessions: Sessions, field: str, window: Window) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Times in microseconds and values of each instance, straight from the view."""
    async with sessions() as session:
        connection = await driver_of(session)
        statement = sql.SQL(
            "SELECT instance, time, {field} FROM {view}"
            " WHERE time >= %s AND time < %s AND {field} IS NOT NULL ORDER BY time, {field}"
        ).format(field=sql.Identifier(field), view=sql.Identifier("stat", STAT))
        rows: list[TupleRow] = await (await connection.execute(statement, (window.start, window.end))).fetchall()
    names = sorted({str(row[0]) for row in rows})
    return {
        name: (
            np.array([to_us(row[1]) for row in rows if row[0] == name]),
            np.round(np.array([row[2] for row in rows if row[0] == name]), 2),
        )
        for name in names
    }


async def assert_drawn(sessions: Sessions, window: Window, width: int) -> SeriesResult:
    """Every column of the graph has the extremes of its samples, and no value that no sample has."""
    drawn = await draw(sessions, window=window, width=width)
    # The longest buckets that a column has room for.
    natural_us = (window.end_us - window.start_us) / width
    bucket_us = 1000 if drawn.source == "raw" else HOUR_US if natural_us >= HOUR_US else 60 * SECOND_US
    column_us = drawn.column_ms * 1000
    origin = window.start_us if drawn.source == "raw" else window.start_us // bucket_us * bucket_us
    lines = {(series.instance, series.field): series for series in drawn.series}
    for field in ("usr_pct", "intr_per_s"):
        found = await raw_values(sessions, field, window)
        assert {instance for instance, key in lines if key == field} == found.keys()
        for name, (time_us, values) in found.items():
            line = lines[name, field]
            assert line.n_raw == len(values)
            there = ~np.isnan(line.values)
            points_us, points = line.times[there] * 1000, line.values[there]
            assert (np.diff(line.times) >= 0).all()
            assert np.isin(points, values).all()
            column, point_column = (time_us - origin) // column_us, (points_us - origin) // column_us
            assert np.array_equal(np.unique(column), np.unique(point_column))
            for number in np.unique(column):
                own, drawn_own = values[column == number], points[point_column == number]
                assert (own.min(), own.max()) == (drawn_own.min(), drawn_own.max())
                # Of two streams' samples at one instant either may be the first.
                own_us = time_us[column == number]
                assert drawn_own[0] in own[own_us == own_us[0]]
                assert drawn_own[-1] in own[own_us == own_us[-1]]
    return drawn


async def test_hours_are_rolled_up_in_time_and_drawn_as_before(sessions: Sessions) -> None:
    await store(sessions, np.arange(0, 30 * 3600, 7))
    before = await draw(sessions)
    assert before.source == "raw"
    await roll(sessions, 9.5 * 3600)
    async with sessions() as session:
        host = await session.get(Host, 1)
        assert host is not None
        assert host.rolled_until == START + timedelta(hours=9)
    for until_h in (15, 30):
        await roll(sessions, until_h * 3600)
        drawn = await assert_drawn(sessions, hours(-1, 40), 40)
        assert drawn.source == ("mixed" if until_h == 15 else "rollup_hour")
        assert drawn.n_raw == before.n_raw
    levels = {level for level, _, _ in await kept_rollups(sessions)}
    assert levels == {FRESH.number, MINUTES.number, HOURS.number}
    drawn = await assert_drawn(sessions, Window(START + timedelta(minutes=31, seconds=17), START + timedelta(hours=25.35)), 40)
    assert drawn.source == "mixed"
    drawn = await assert_drawn(sessions, hours(1, 11), 500)
    assert (drawn.source, drawn.column_ms) == ("rollup_minute", 120_000)
    await assert_right(sessions, 30 * 3600)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.matrix) for seed in (1, 2, 3))])
async def test_late_double_and_deleted_samples_in_any_order(sessions: Sessions, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    until_s = 0.0
    killed = 0
    write = rollup_rows.delete_marks

    async def dies(*arguments: object, **options: object) -> None:
        nonlocal killed
        killed += 1
        raise KeyboardInterrupt

    for number in range(12):
        first = int(rng.integers(0, 50 * 3600))
        match int(rng.integers(0, 4)):
            case 0 | 1:
                seconds = np.unique(rng.integers(first, first + int(rng.integers(100, 30_000)), 300))
                await store(sessions, seconds, cpus=("all", "0", "1", "2")[: int(rng.integers(1, 5))], seed=100 * seed + number)
            case 2 if number > 2:
                await delete(sessions, first, first + int(rng.integers(10, 20_000)))
            case _:
                until_s = max(until_s, first)
        if number == 0:
            await store(sessions, np.arange(0, 4000, 11), seed=100 * seed)
        if rng.random() < 0.4:
            # Killed with everything written but not committed: nothing may be left of it.
            with monkeypatch.context() as patch:
                patch.setattr(rollup_rows, "delete_marks", dies)
                with pytest.raises(KeyboardInterrupt) if await has_work(sessions, until_s) else pytest.raises(AssertionError):
                    await roll(sessions, until_s)
                    raise AssertionError
        if rng.random() < 0.6:
            await roll(sessions, until_s)
        start_h = float(rng.uniform(-2, 40))
        await assert_drawn(sessions, hours(start_h, start_h + float(rng.uniform(1, 30))), int(rng.integers(16, 60)))
    assert rollup_rows.delete_marks is write
    await roll(sessions, 60 * 3600)
    drawn = await assert_drawn(sessions, hours(-3, 60), 30)
    assert drawn.source == "rollup_hour"
    await assert_right(sessions, 60 * 3600)


async def has_work(sessions: Sessions, until_s: float) -> bool:
    """Whether the job would find a mark: it moves on, and marks hours, before it works them off."""
    limit_us = rollup_job.limit_at(START + timedelta(seconds=until_s) + rollup_job.DELAY)
    while await rollup_job.pass_on(sessions, 1, limit_us):
        pass
    async with sessions() as session:
        row = await (await (await driver_of(session)).execute("SELECT count(*) FROM rollup_marks")).fetchone()
        assert row is not None
        return bool(row[0])


async def test_what_changes_while_it_is_rolled_up_is_rolled_up_again(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, np.arange(0, 8000, 5))
    original = minutes_of_samples.roll_page
    n_calls = 0

    def later(*arguments: object) -> object:
        nonlocal n_calls
        n_calls += 1
        return original(*arguments)  # type: ignore[arg-type]

    read = rollup_job._read_hour

    async def with_late_samples(session: object, stat: object, host_id: int, hour_us: int) -> object:
        found = await read(session, stat, host_id, hour_us)  # type: ignore[arg-type]
        if hour_us == START_US and not n_calls_before:
            n_calls_before.append(1)
            await store(sessions, np.array([17, 18]), seed=5)
        return found

    n_calls_before: list[int] = []
    monkeypatch.setattr(rollup_job, "_read_hour", with_late_samples)
    monkeypatch.setattr(minutes_of_samples, "roll_page", later)
    await roll(sessions, 7200)
    assert n_calls_before == [1]
    assert n_calls == 3
    await assert_drawn(sessions, hours(0, 2), 20)
    await assert_right(sessions, 7200)


async def test_years_without_samples_are_passed_in_one_step(sessions: Sessions) -> None:
    await store(sessions, np.arange(0, 600))
    await store(sessions, np.arange(0, 600) + 20 * 365 * 86_400, seed=1)
    await roll(sessions, 20 * 365 * 86_400 + 3600)
    assert len({block for level, _, block in await kept_rollups(sessions) if level == MINUTES.number}) == 1
    drawn = await assert_drawn(sessions, hours(0, 24 * 365 * 20.5), 8000)
    assert drawn.source == "raw"
    drawn = await assert_drawn(sessions, hours(0, 24 * 365 * 20.5), 100)
    assert (drawn.source, drawn.n_raw) == ("rollup_hour", drawn.n_raw)
    assert all(np.isnan(series.values).sum() == 1 for series in drawn.series)


async def test_two_who_roll_up_do_not_meet(sessions: Sessions) -> None:
    await store(sessions, np.arange(0, 4000))
    async with sessions() as session, session.begin():
        connection = await driver_of(session)
        await connection.execute("SELECT pg_advisory_xact_lock(%s, 1)", (rollup_rows.ROLLUP_LOCK,))
        done = await roll_up(sessions, now=from_us(START_US) + timedelta(hours=3), budget_s=60)
        assert done.n_hours == 0
    assert (await roll_up(sessions, now=from_us(START_US) + timedelta(hours=3), budget_s=60)).n_hours == 2


async def test_minutes_of_few_samples_are_left_to_them(sessions: Sessions) -> None:
    # A report each 31 s, and for an hour one each second.
    await store(sessions, np.arange(0, 60 * 3600, 31))
    await store(sessions, np.arange(0, 3600), cpus=("1",), seed=1)
    await roll(sessions, 62 * 3600)
    asked = [{"window": hours(-1, 40), "width": 400}, {"window": hours(3, 35), "width": 300, "top": 1}, {"window": hours(0.51, 30)}]

    async def answers() -> list[object]:
        drawn = [await draw(sessions, **wish) for wish in asked]
        lines = [
            [(own.instance, own.n_raw, own.total, own.times.tobytes(), own.values.tobytes()) for own in one.series] for one in drawn
        ]
        return [(one.source, one.n_raw) for one in drawn] + lines

    before, n_before = await answers(), await count_bytes(sessions)
    assert [one[0] for one in before[:3]] == ["rollup_minute", "rollup_minute", "mixed"]  # type: ignore[index]
    while await leave_out_next_day(sessions, 1, START_US + 50 * HOUR_US):
        pass
    assert await count_bytes(sessions) < n_before / 3
    assert await answers() == before
    # Late samples, also of an instance that was not there: the day is made again, and what its samples tell is left out again.
    await store(sessions, np.array([7, 8, 3601]), cpus=("0", "2"), seed=2)
    assert (await assert_drawn(sessions, hours(-1, 40), 400)).source == "mixed"
    await roll(sessions, 62 * 3600)
    assert (await assert_drawn(sessions, hours(-1, 40), 400)).source == "rollup_minute"
    assert await count_bytes(sessions) < n_before / 3


async def count_bytes(sessions: Sessions) -> int:
    """The bytes of all minutes of whole days."""
    async with sessions() as session:
        cursor = await (await driver_of(session)).execute("SELECT sum(octet_length(body))::int8 FROM rollups WHERE level = 1")
        row = await cursor.fetchone()
        assert row is not None
        return int(str(row[0]))


async def test_younger_hours_stay_when_older_days_are_removed(sessions: Sessions) -> None:
    await store(sessions, np.arange(0, 60 * 3600, 31))
    await roll(sessions, 62 * 3600)
    before = datetime(2026, 11, 22, tzinfo=UTC)
    await remove(sessions, before)
    drawn = await assert_drawn(sessions, hours(-1, 59), 40)
    assert drawn.source == "rollup_hour"
    kept = await kept_rollups(sessions)
    async with sessions() as session, session.begin():
        connection = await driver_of(session)
        # What retention does beside: nothing of the stat is older any more.
        await connection.execute("UPDATE instances SET first_sample_at = %s", (before,))
    await rebuild(sessions, 62 * 3600)
    assert_same(kept, await kept_rollups(sessions))


async def remove(sessions: Sessions, before: datetime) -> None:
    async with sessions() as session, session.begin():
        stat = (await read_stored_stats(session, [STAT]))[STAT]
        await wait_lock(WriteSession(session), 1)
        connection = await driver_of(session)
        await connection.execute(sql.SQL("DELETE FROM {} WHERE time < %s").format(table_of(STAT)), (before,))
        await forget_rollups_before(WriteSession(session), Place(1, stat.id), before)


async def test_the_top_are_the_same_from_rollups_and_from_samples(sessions: Sessions) -> None:
    cpus = tuple(str(number) for number in range(12))
    for number in range(3):
        await store(sessions, np.arange(number * 40_000, number * 40_000 + 40_000, 97), cpus=cpus[number : number + 9], seed=number)
    windows = [hours(0.31, 1.2), hours(0.4, 20.7), hours(2, 34), hours(-20, 300.2), hours(30.5, 33)]
    before = [await draw(sessions, window=window, top=4) for window in windows]
    await roll(sessions, 31 * 3600)
    await delete(sessions, 50_000, 50_001)
    for window, expected in zip(windows, before, strict=True):
        found = await draw(sessions, window=window, top=4)
        names = [series.instance for series in expected.series]
        assert [series.instance for series in found.series] == names
        assert len(set(names)) == 4
        assert found.n_instances_left_out == expected.n_instances_left_out
        assert found.n_raw == expected.n_raw


# --- late lines and streams that are read again, through the ways that they come ---


# Of everything that the tests send.
END = GENERATED + timedelta(hours=9)


async def roll_all(sessions: Sessions) -> int:
    done = await roll_up(sessions, now=END + DELAY, budget_s=600)
    assert done.is_all
    return done.n_hours


def minutes_of(url: str, stat: str, field: str) -> Buckets:
    """The minutes of a field that are rolled up."""
    statement = (
        "SELECT block_at, body, level FROM rollups JOIN stats ON stats.id = stat_id"
        f" WHERE stats.name = '{stat}' AND field_key = '{field}' AND level IN (0, 1) ORDER BY block_at"
    )
    with psycopg.connect(url) as connection:
        rows = connection.execute(statement).fetchall()
    return merge([unpack(body, first_bucket=to_us(at) // 60_000_000) for at, body, _ in rows])


async def command(database_url: str, *words: str) -> str:
    """What `normstat rollup` prints, in a thread: it has an event loop of its own."""
    run = functools.partial(CliRunner().invoke, app, ["rollup", *words], env={"NORMSTAT_DATABASE_URL": database_url})
    load_settings.cache_clear()
    try:
        result = await asyncio.to_thread(run)
    finally:
        load_settings.cache_clear()
    assert result.exit_code == 0, result.output
    return result.output


async def test_late_lines_are_in_the_rollups_and_in_the_graph_before(db: Database) -> None:
    agent = Agent(db.engine)
    await agent.send_file(vmstat_text(vmstat_times(4000)), key="early")
    # All until the end of what is waited for, with samples or without.
    assert await roll_all(db.sessions) == 9
    late = [GENERATED + timedelta(minutes=90, seconds=number) for number in range(120)]
    await agent.send_file(vmstat_text(late, seed=2), key="late")
    n_rows = db.query("SELECT count(*) FROM samples.vmstat_linux")[0][0]
    assert db.query("SELECT extract(hour FROM hour_at AT TIME ZONE 'UTC')::int FROM rollup_marks") == [(13,)]
    window = Window(GENERATED - timedelta(hours=1), END + timedelta(hours=1))
    for n_hours in (0, 1):
        async with open_read_session(db.sessions) as session:
            drawn = await read_series(session, SeriesRequest("alpha", "vmstat_linux", window, 16, ("procs_r",)))
        assert (drawn.n_raw, drawn.source) == (n_rows, "rollup_minute" if n_hours else "mixed")
        assert await roll_all(db.sessions) == 1 - n_hours
    assert int(minutes_of(db.url, "vmstat_linux", "procs_r").n.sum()) == n_rows


async def test_streams_that_are_read_again_are_rolled_up_again(db: Database) -> None:
    agent = Agent(db.engine)
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(50), "app_user")
    first = db.query("SELECT min(first_sample_at), max(last_sample_at) FROM streams")[0]
    done = await roll_up(db.sessions, now=first[1] + timedelta(hours=2) + DELAY, budget_s=600)
    assert done.n_hours > 0
    before = minutes_of(db.url, "app_user", "wait")
    assert len(before)
    # Another key for the column, and users that are no instances any more.
    await put(
        db.sessions,
        "app_user",
        APP_USER.replace('key = "wait"', 'key = "wait_ms"').replace('instance = ["User"]', 'labels = ["User"]'),
    )
    await reparse(db.sessions, db.url)
    assert db.query("SELECT count(*) FROM rollup_marks")[0][0] > 0
    await roll_up(db.sessions, now=first[1] + timedelta(hours=2) + DELAY, budget_s=600)
    assert db.query("SELECT count(*) FROM rollup_marks")[0][0] == 0
    assert len(minutes_of(db.url, "app_user", "wait")) == 0
    after = minutes_of(db.url, "app_user", "wait_ms")
    assert int(after.n.sum()) == db.query("SELECT count(*) FROM samples.app_user")[0][0]
    assert len(np.unique(after.instance)) < len(np.unique(before.instance))


async def test_rollups_are_dropped_and_made_anew_by_one_command(db: Database) -> None:
    await Agent(db.engine).send_file(vmstat_text(vmstat_times(5000)))
    assert "all" in await command(db.url, "status")
    # `rebuild` goes by the clock of the machine, which may be before or after that of the test.
    await roll_all(db.sessions)
    before = minutes_of(db.url, "vmstat_linux", "procs_r")
    assert len(before) == 84
    assert "2026-11-21 21:00" in await command(db.url, "status")
    assert "1 host " in await command(db.url, "drop", "--host", "alpha")
    assert db.query("SELECT count(*) FROM rollups")[0][0] == 0
    assert "rolled up" in await command(db.url, "rebuild")
    await roll_all(db.sessions)
    after = minutes_of(db.url, "vmstat_linux", "procs_r")
    assert all(np.array_equal(getattr(before, name), getattr(after, name)) for name in Buckets.__slots__)
