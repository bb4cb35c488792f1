"""Stored profiles: made of pieces, outdated when samples change, made anew from what is missing; on both databases."""

import asyncio
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.baseline import profiling
from normstat.baseline.band import BandRequest, read_band
from normstat.baseline.profiling import run_profiles
from normstat.baseline.stored_profile import LoadedProfile, load_profile
from normstat.baseline.summary import Summary
from normstat.store import profiles
from normstat.store.baseline_models import Profile, ProfileJob, ProfilePiece
from normstat.store.baselines import BaselineChange, BaselineDraft, create_baseline, update_baseline
from normstat.store.exclusions import ExclusionDraft, create_exclusion
from normstat.store.models import Host, Instance, StatTable
from normstat.store.profile_jobs import hold_lock
from normstat.store.profile_marks import Changed, forget_profiles_before, mark_profiles
from normstat.store.session import driver_of, open_read_session, open_write_session
from normstat.store.streams import lock_host_by_id
from normstat.window import Window, to_us
from tests.addons import APP_USER, app_user_text
from tests.generated import START as GENERATED
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.rereading import put, reparse
from tests.ingest.sending import Agent
from tests.query.filling import fill_values

Sessions = async_sessionmaker[AsyncSession]
START = datetime(2026, 11, 16, 8, tzinfo=UTC)
LATER = START + timedelta(days=30)
STAT = "mpstat_linux"
CPUS = ("all", "0", "1")


async def store(sessions: Sessions, start: datetime, seconds: np.ndarray, *, seed: int = 0, load: float = 20.0) -> None:
    """Samples at so many seconds after `start`, with what ingest does when it stores them."""
    rng = np.random.default_rng(seed)
    n = len(seconds) * len(CPUS)
    await fill_values(
        sessions,
        "web1",
        STAT,
        time_us=to_us(start) + np.repeat(seconds, len(CPUS)).astype(np.int64) * 1_000_000,
        instances=CPUS * len(seconds),
        values={"usr_pct": np.round(rng.gamma(4, load / 4, n).clip(0, 100), 2), "intr_per_s": rng.poisson(load, n) + 0.0},
        key=str(seed),
    )
    await mark(sessions, start + timedelta(seconds=int(seconds[0])), start + timedelta(seconds=int(seconds[-1])))


async def mark(sessions: Sessions, first: datetime, last: datetime) -> None:
    async with open_write_session(sessions) as session:
        host = await lock_host_by_id(session, 1)
        assert host is not None
        stat_id = (await session.scalars(select(StatTable.id).where(StatTable.name == STAT))).one()
        await mark_profiles(await driver_of(session), Changed(host.id, stat_id, first, last), host.profiled_until)


async def make(sessions: Sessions, now: datetime = LATER) -> int | None:
    return await run_profiles(sessions, budget_s=600, now=now)


async def create(sessions: Sessions, *windows: Window, zone: str = "UTC") -> int:
    async with open_write_session(sessions) as session:
        return (await create_baseline(session, BaselineDraft("normal", "", ("web1",), windows, "ann", time_zone=zone))).id


async def load(sessions: Sessions, baseline_id: int, at: Window | None = None) -> LoadedProfile | None:
    async with open_read_session(sessions) as session:
        return await load_profile(session, baseline_id, None, 1, at=at)


async def loaded(sessions: Sessions, baseline_id: int, at: Window | None = None) -> LoadedProfile:
    found = await load(sessions, baseline_id, at)
    assert found is not None
    return found


def hours(start: datetime, n: float) -> Window:
    return Window(start, start + timedelta(hours=n))


async def job(sessions: Sessions) -> tuple[str, int, int, str]:
    async with sessions() as session:
        row = (await session.execute(select(ProfileJob.state, ProfileJob.n_done, ProfileJob.n_total, ProfileJob.message))).one()
        return tuple(row)


async def n_pieces(sessions: Sessions) -> int:
    async with sessions() as session:
        return len((await session.scalars(select(ProfilePiece.start_at).where(ProfilePiece.n_rows > 0))).all())


async def forget_all(sessions: Sessions) -> None:
    """As if nothing had ever been made."""
    async with open_write_session(sessions) as session:
        await session.execute(delete(ProfilePiece))
        await session.execute(update(Profile).values(is_stale=True))


def assert_same(one: LoadedProfile, other: LoadedProfile) -> None:
    assert (list(one.series), one.n_samples, one.covered_s) == (list(other.series), other.n_samples, other.covered_s)
    mine, theirs = one.profile, other.profile
    for field in fields(Summary):
        np.testing.assert_array_equal(getattr(mine.whole, field.name), getattr(theirs.whole, field.name), err_msg=field.name)
    np.testing.assert_array_equal(mine.traits.level, theirs.traits.level)
    assert [known.usual.length_s for known in mine.lengths] == [known.usual.length_s for known in theirs.lengths]
    for known, other_known in zip(mine.lengths, theirs.lengths, strict=True):
        np.testing.assert_array_equal(known.usual.change, other_known.usual.change)


async def test_what_is_added_later_is_as_from_scratch(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 4 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    first = await loaded(sessions, baseline_id)
    assert {key.instance for key in first.series} == set(CPUS)
    assert first.n_samples == 3 * 360 * 3
    assert first.windows == (hours(START, 3),)
    assert (first.is_seasonal, first.seasonal_note) == (False, "")
    assert (await job(sessions)) == ("done", 4, 4, "")
    async with sessions() as session:
        before = dict((await session.execute(select(ProfilePiece.start_at, ProfilePiece.made_at))).all())
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 4),)))
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    async with sessions() as session:
        after = dict((await session.execute(select(ProfilePiece.start_at, ProfilePiece.made_at))).all())
    # Only the new hour was read.
    assert {start: after[start] for start in before} == before
    assert len(after) == 4
    added = await loaded(sessions, baseline_id)
    await forget_all(sessions)
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    assert_same(added, await loaded(sessions, baseline_id))


async def test_late_samples_make_it_stale_and_then_right(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    before = await loaded(sessions, baseline_id)
    await store(sessions, START, np.arange(5400, 5460), seed=1, load=80)
    assert await load(sessions, baseline_id) is None
    assert await n_pieces(sessions) == 2
    assert await make(sessions) == 1
    after = await loaded(sessions, baseline_id)
    assert after.n_samples == before.n_samples + 180
    await forget_all(sessions)
    await make(sessions)
    assert_same(after, await loaded(sessions, baseline_id))
    # Samples of later than any piece cost nothing.
    await store(sessions, START + timedelta(hours=3), np.arange(60), seed=2)
    assert await load(sessions, baseline_id) is not None
    assert await make(sessions) == 0


async def test_samples_that_come_while_a_piece_is_made_are_not_missed(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    read = profiling.read_piece
    n_late = 0

    async def read_and_be_late(*given: object) -> tuple[int, bytes]:
        nonlocal n_late
        found = await read(*given)
        if n_late < 2:
            n_late += 1
            await store(sessions, START, np.arange(1800, 1830), seed=n_late)
        return found

    monkeypatch.setattr(profiling, "read_piece", read_and_be_late)
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == (3 * 360 + 2 * 30) * 3


async def test_late_samples_while_it_is_put_together_are_not_missed(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    read = profiles.read_bodies
    is_late = False

    async def read_and_be_late(*given: object) -> list[bytes]:
        nonlocal is_late
        found = await read(*given)
        if not is_late:
            is_late = True
            await store(sessions, START, np.arange(1800, 1830), seed=9)
        return found

    monkeypatch.setattr(profiles, "read_bodies", read_and_be_late)
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == (3 * 360 + 30) * 3


async def test_work_goes_on_where_it_was_left(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    read = profiling.read_piece
    n_read = 0

    async def die(*given: object) -> tuple[int, bytes]:
        nonlocal n_read
        n_read += 1
        if n_read == 2:
            # As when the process ends: no clause for failures sees it.
            raise asyncio.CancelledError
        return await read(*given)

    monkeypatch.setattr(profiling, "read_piece", die)
    with pytest.raises(asyncio.CancelledError):
        await make(sessions)
    assert (await job(sessions))[:3] == ("working", 1, 4)
    assert await n_pieces(sessions) == 1
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    assert n_read == 4
    # A run that has no time does one thing at least never twice.
    assert await run_profiles(sessions, budget_s=0) == 0
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * 360 * 3


async def test_little_time_is_enough_in_the_end(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    ticks = iter(range(10_000))
    monkeypatch.setattr(profiling, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    n_runs = 0
    while await load(sessions, baseline_id) is None:
        n_runs += 1
        await run_profiles(sessions, budget_s=3, now=LATER)
        assert n_runs < 50
    assert n_runs > 1


async def test_only_one_process_makes_profiles(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    await create(sessions, hours(START, 3))
    async with hold_lock(sessions) as is_ours:
        assert is_ours
        assert await make(sessions) is None
    assert await make(sessions) == 1


async def test_what_is_excluded_does_not_count(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 4 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 4))
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == 4 * 360 * 3
    incident = Window(START + timedelta(minutes=70), START + timedelta(minutes=100))
    async with open_write_session(sessions) as session:
        await create_exclusion(session, ExclusionDraft("disk full", "", incident, "web1", "ann"))
    assert await load(sessions, baseline_id) is None
    await make(sessions)
    found = await loaded(sessions, baseline_id)
    assert found.n_samples == (4 * 360 - 180) * 3
    assert found.windows == (Window(START, incident.start), Window(incident.end, START + timedelta(hours=4)))


async def test_what_retention_let_go_counts_no_longer(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 4 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 4))
    await make(sessions)
    middle = START + timedelta(hours=2)
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        await connection.execute("DELETE FROM samples.mpstat_linux WHERE time < %s", [middle])
        stat_id = (await session.scalars(select(StatTable.id).where(StatTable.name == STAT))).one()
        await lock_host_by_id(session, 1)
        await forget_profiles_before(connection, 1, stat_id, middle)
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    assert (await loaded(sessions, baseline_id)).n_samples == 2 * 360 * 3


async def test_short_baselines(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 1800))
    baseline_id = await create(sessions, hours(START, 0.4))
    await make(sessions)
    found = await loaded(sessions, baseline_id)
    assert [known.usual.length_s for known in found.profile.lengths] == [60]
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 0.1),)))
    await make(sessions)
    assert await load(sessions, baseline_id) is None
    assert "8 minutes" in (await job(sessions))[3]
    asked = BandRequest(baseline_id, None, "web1", STAT, "usr_pct", "0", hours(START, 2))
    async with open_read_session(sessions) as session:
        band = await read_band(session, asked)
    [step] = band.steps
    assert (step.n, band.unit, band.reason, band.is_seasonal) == (360, "%", "", False)
    assert step.p5 < step.p50 < step.p95


async def test_without_samples_there_is_none_until_they_come(sessions: Sessions) -> None:
    await store(sessions, START + timedelta(days=1), np.arange(60))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    assert await load(sessions, baseline_id) is None
    assert (await job(sessions))[0] == "done"
    assert "no sample" in (await job(sessions))[3]
    await store(sessions, START, np.arange(0, 3 * 3600, 10), seed=1)
    assert await make(sessions, LATER) == 1
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * 360 * 3


async def test_a_damaged_piece_is_made_anew(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    right = await loaded(sessions, baseline_id)
    async with open_write_session(sessions) as session:
        await session.execute(update(ProfilePiece).values(body=b"nonsense").where(ProfilePiece.start_at == START))
        await session.execute(update(Profile).values(body=b"nonsense", sources=""))
    # A profile that cannot be read is none.
    assert await load(sessions, baseline_id) is None
    async with open_write_session(sessions) as session:
        await session.execute(update(Profile).values(is_stale=True))
    await make(sessions)
    assert (await job(sessions))[0] == "failed"
    await make(sessions, LATER)
    assert_same(right, await loaded(sessions, baseline_id))


async def test_another_version_of_a_spec_makes_it_stale(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    async with open_write_session(sessions) as session:
        await session.execute(update(StatTable).values(spec_version=StatTable.spec_version + 1))
    assert await load(sessions, baseline_id) is None
    async with sessions() as session:
        before = set(await session.scalars(select(ProfilePiece.made_at)))
    assert await make(sessions) == 1
    assert await load(sessions, baseline_id) is not None
    async with sessions() as session:
        assert not before & set(await session.scalars(select(ProfilePiece.made_at)))


async def test_pieces_that_no_baseline_has_are_forgotten(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 4 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 4))
    await make(sessions)
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 2),)))
    await make(sessions)
    assert await n_pieces(sessions) == 2
    async with sessions() as session:
        assert set(await session.scalars(select(Profile.version))) == {2}


async def test_like_hours_over_a_change_of_the_clocks(sessions: Sessions) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    # Sunday, the 25th has 25 hours. From 10:00 to 14:00, twice as much from noon on.
    days = [datetime(2026, 10, day, 10, tzinfo=berlin).astimezone(UTC) for day in (23, 24, 25, 26)]
    for number, day in enumerate(days):
        await store(sessions, day, np.arange(0, 7200, 20), seed=number, load=20)
        await store(sessions, day + timedelta(hours=2), np.arange(0, 7200, 20), seed=10 + number, load=60)
    baseline_id = await create(sessions, *(hours(day, 4) for day in days), zone="Europe/Berlin")
    await make(sessions)
    assert (await job(sessions))[0] == "done"

    def at(hour: int, minutes: int = 30) -> Window:
        start = datetime(2026, 11, 3, hour, 10, tzinfo=berlin).astimezone(UTC)
        return Window(start, start + timedelta(minutes=minutes))

    found = await loaded(sessions, baseline_id, at(10))
    assert found.is_seasonal
    assert found.seasonal_note == "Compares 10:10-10:40 with 09:00-12:00 of 4 days (Europe/Berlin)."
    assert found.n_samples == 4 * 360 * 3
    rates = [key.field == "intr_per_s" for key in found.series]
    assert np.all(np.abs(found.profile.traits.level[rates] - 20) <= 3)
    late = await loaded(sessions, baseline_id, at(13))
    assert np.all(np.abs(late.profile.traits.level[rates] - 60) <= 4)
    night = await loaded(sessions, baseline_id, at(3))
    assert not night.is_seasonal
    assert "fewer than 3 days with 03:00" in night.seasonal_note
    assert "longer than three hours" in (await loaded(sessions, baseline_id, at(10, 200))).seasonal_note
    asked = BandRequest(baseline_id, None, "web1", STAT, "intr_per_s", "1", Window(at(9).start, at(15).end))
    async with open_read_session(sessions) as session:
        band = await read_band(session, asked)
    assert band.is_seasonal
    # Cut at full hours; nothing where the baseline has nothing.
    assert [step.start.astimezone(berlin).hour for step in band.steps] == [10, 11, 12, 13]
    assert abs(band.steps[0].p50 - 20) <= 3
    assert abs(band.steps[-1].p50 - 60) <= 4


async def test_lines_that_come_late_or_are_read_again(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    agent = Agent(engine)
    await put(sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(50), "app_user")
    await agent.send_file(vmstat_text(vmstat_times(9000)), key="early")
    async with sessions() as session:
        host = (await session.scalars(select(Host.name))).one()
        first = min(await session.scalars(select(Instance.first_sample_at)))
    async with open_write_session(sessions) as session:
        window = Window(first, GENERATED + timedelta(hours=3))
        baseline_id = (await create_baseline(session, BaselineDraft("all", "", (host,), (window,), "ann"))).id
    await make(sessions)
    before = await loaded(sessions, baseline_id)
    late = [GENERATED + timedelta(minutes=90, seconds=number) for number in range(120)]
    await agent.send_file(vmstat_text(late, seed=2), key="late")
    assert await load(sessions, baseline_id) is None
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples > before.n_samples
    await put(sessions, "app_user", APP_USER.replace('key = "wait"', 'key = "wait_ms"'))
    await reparse(sessions, database_url)
    assert await load(sessions, baseline_id) is None
    await make(sessions)
    keys = {key.field for key in (await loaded(sessions, baseline_id)).series if key.stat == "app_user"}
    assert "wait_ms" in keys
    assert "wait" not in keys
