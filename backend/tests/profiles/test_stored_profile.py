"""Stored profiles: what counts in them, of short baselines and of like hours; on both databases."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import ModuleType, SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from sqlalchemy import func, select, update

from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft, create_baseline, update_baseline
from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion
from normstat.db.schema.baseline_models import Profile, ProfilePiece
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import Host, Instance, StatTable
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.jobs.claims import PROFILES, open_claims_in
from normstat.profiles import profile_job, profile_rows
from normstat.profiles.band import BandRequest, read_bands
from normstat.profiles.line_baseline import FROM_PROFILE, NO_WINDOWS, PanelStatistics, read_statistics
from normstat.profiles.profile_job import run_profiles
from normstat.profiles.profile_rows import ProfileKey, ProfileRow
from normstat.profiles.sketch_reader import read_sketch
from normstat.profiles.stored_profile import Wanted, is_current
from normstat.query.series_points import SeriesRequest
from normstat.samples.lookup import StatRef
from normstat.samples.profile_marks import forget_profiles_before
from normstat.samples.stream_rows import lock_host_by_id
from normstat.window import Window
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.generated import START as GENERATED
from tests.generated import vmstat_text
from tests.ingest.rereading import put, reparse
from tests.ingest.sending import Agent
from tests.profiles.profiled import (
    CPUS,
    LATER,
    START,
    STAT,
    assert_same,
    create,
    forget_all,
    hours,
    job,
    load,
    loaded,
    make,
    n_pieces,
    store,
)  # fmt: skip

pytestmark = on_either_database

STEP_S = 30
# Samples of all CPUs.
PER_HOUR = 3600 // STEP_S * len(CPUS)


def every_step(n_hours: int) -> np.ndarray:
    return np.arange(0, n_hours * 3600, STEP_S)


async def test_what_is_excluded_does_not_count(sessions: Sessions) -> None:
    await store(sessions, START, every_step(4))
    baseline_id = await create(sessions, hours(START, 4))
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == 4 * PER_HOUR
    incident = Window(START + timedelta(minutes=70), START + timedelta(minutes=100))
    async with open_write_session(sessions) as session:
        await create_exclusion(
            session, ExclusionCreate(name="disk full", start=incident.start, end=incident.end, host="web1"), by="ann"
        )
    assert await load(sessions, baseline_id) is None
    await make(sessions)
    found = await loaded(sessions, baseline_id)
    assert found.n_samples == (4 * PER_HOUR - PER_HOUR // 2)
    assert found.windows == (Window(START, incident.start), Window(incident.end, START + timedelta(hours=4)))


async def test_what_retention_let_go_counts_no_longer(sessions: Sessions) -> None:
    await store(sessions, START, every_step(4))
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
    assert (await loaded(sessions, baseline_id)).n_samples == 2 * PER_HOUR


async def test_short_baselines(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 1800))
    baseline_id = await create(sessions, hours(START, 0.4))
    await make(sessions)
    found = await loaded(sessions, baseline_id)
    assert [known.natural_change.length_s for known in found.profile.window_models] == [60]
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 0.1),)))
    await make(sessions)
    assert await load(sessions, baseline_id) is None
    assert "8 minutes" in (await job(sessions))[3]
    asked = BandRequest(baseline_id, None, "web1", STAT, [("usr_pct", "0"), ("usr_pct", "gone")], hours(START, 2))
    async with open_read_session(sessions) as session:
        band, gone = (await read_bands(session, asked)).bands
    assert (gone.steps, gone.reason) == ([], "The baseline has no samples of this series.")
    [step] = band.steps
    assert (step.n, band.unit, band.reason, band.is_seasonal) == (360, "%", None, False)
    assert step.p5 < step.p50 < step.p95


async def test_without_samples_there_is_none_until_they_come(sessions: Sessions) -> None:
    await store(sessions, START + timedelta(days=1), np.arange(60))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    assert await load(sessions, baseline_id) is None
    assert (await job(sessions))[0] == "done"
    assert "no sample" in (await job(sessions))[3]
    await store(sessions, START, every_step(3), seed=1)
    assert await make(sessions, LATER) == 1
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * PER_HOUR


async def test_a_damaged_piece_is_made_anew(sessions: Sessions) -> None:
    await store(sessions, START, every_step(3))
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
    async with open_write_session(sessions) as session:
        await session.execute(update(Job).values(next_try_at=func.now()))
    await make(sessions, LATER)
    assert_same(right, await loaded(sessions, baseline_id))


async def test_another_version_of_a_spec_makes_it_stale(sessions: Sessions) -> None:
    await store(sessions, START, every_step(3))
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
    await store(sessions, START, every_step(4))
    baseline_id = await create(sessions, hours(START, 4))
    await make(sessions)
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 2),)))
    await make(sessions)
    assert await n_pieces(sessions) == 4
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
    assert np.all(np.abs(found.profile.series_stats.level[rates] - 20) <= 3)
    late = await loaded(sessions, baseline_id, at(13))
    assert np.all(np.abs(late.profile.series_stats.level[rates] - 60) <= 4)
    night = await loaded(sessions, baseline_id, at(3))
    assert not night.is_seasonal
    assert "fewer than 3 days with 03:00" in night.seasonal_note
    assert "longer than three hours" in (await loaded(sessions, baseline_id, at(10, 200))).seasonal_note
    asked = BandRequest(baseline_id, None, "web1", STAT, [("intr_per_s", "1")], Window(at(9).start, at(15).end))
    async with open_read_session(sessions) as session:
        (band,) = (await read_bands(session, asked)).bands
    assert band.is_seasonal
    # Cut at full hours; nothing where the baseline has nothing.
    assert [datetime.fromtimestamp(step.start_ms / 1000, berlin).hour for step in band.steps] == [10, 11, 12, 13]
    assert abs(band.steps[0].p50 - 20) <= 3
    assert abs(band.steps[-1].p50 - 60) <= 4


async def test_lines_that_come_late_or_are_read_again(db: Database) -> None:
    agent = Agent(db.engine)
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(50), "app_user")
    every_five_seconds = [GENERATED + timedelta(seconds=5 * number) for number in range(1800)]
    await agent.send_file(vmstat_text(every_five_seconds), key="early")
    async with db.sessions() as session:
        host = (await session.scalars(select(Host.name))).one()
        first = min(await session.scalars(select(Instance.first_sample_at)))
    async with open_write_session(db.sessions) as session:
        window = Window(first, GENERATED + timedelta(hours=3))
        baseline_id = (await create_baseline(session, BaselineDraft("all", "", (host,), (window,), "ann"))).id
    await make(db.sessions)
    before = await loaded(db.sessions, baseline_id)
    late = [GENERATED + timedelta(minutes=90, seconds=number) for number in range(120)]
    await agent.send_file(vmstat_text(late, seed=2), key="late")
    assert await load(db.sessions, baseline_id) is None
    await make(db.sessions)
    assert (await loaded(db.sessions, baseline_id)).n_samples > before.n_samples
    await put(db.sessions, "app_user", APP_USER.replace('key = "wait"', 'key = "wait_ms"'))
    await reparse(db.sessions, db.url)
    assert await load(db.sessions, baseline_id) is None
    await make(db.sessions)
    keys = {key.field for key in (await loaded(db.sessions, baseline_id)).series if key.stat == "app_user"}
    assert "wait_ms" in keys
    assert "wait" not in keys


async def test_statistics_of_a_window_stand_beside_those_of_the_baseline(sessions: Sessions) -> None:
    await store(sessions, START, every_step(4))
    baseline_id = await create(sessions, hours(START, 3))
    async with open_write_session(sessions) as session:
        to_come = hours(datetime(2100, 1, 1, tzinfo=UTC), 3)
        other_id = (await create_baseline(session, BaselineDraft("to come", "", ("web1",), (to_come,), "ann"))).id
    incident = Window(START + timedelta(hours=3.5), START + timedelta(hours=3.6))
    request = SeriesRequest("web1", STAT, incident, 1, ("usr_pct",))

    async def state(**against: Any) -> PanelStatistics:
        async with open_read_session(sessions) as session:
            return await read_statistics(session, request, **against)

    exact = await state(baseline_id=baseline_id)
    assert exact.baseline is not None
    assert (exact.baseline.source, exact.baseline.note, exact.source) == ("samples", "", "samples")
    # The same samples, named by their window.
    window = await state(baseline_window=hours(START, 3))
    assert [line.baseline for line in window.lines] == [line.baseline for line in exact.lines]
    await make(sessions)
    profile = await state(baseline_id=baseline_id)
    assert profile.baseline is not None
    assert (profile.baseline.source, profile.baseline.note) == ("profile", FROM_PROFILE)
    for one, other in zip(exact.lines, profile.lines, strict=True):
        assert one.window == other.window
        assert one.window.n == PER_HOUR // 30
        assert one.baseline is not None
        assert other.baseline is not None
        assert one.baseline.n == other.baseline.n == PER_HOUR
        for name in ("lowest", "mean", "highest"):
            assert getattr(other.baseline, name) == pytest.approx(getattr(one.baseline, name), abs=0.001)
        assert other.baseline.p95 == pytest.approx(one.baseline.p95, rel=0.05)
        assert other.baseline.last is None
    empty = await state(baseline_id=other_id)
    assert empty.baseline is not None
    assert (empty.baseline.note, empty.lines[0].baseline) == (NO_WINDOWS, None)
    assert (await state()).baseline is None


# --- the job ---


async def test_what_is_added_later_is_as_from_scratch(sessions: Sessions) -> None:
    await store(sessions, START, every_step(5))
    baseline_id = await create(sessions, hours(START, 4))
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    first = await loaded(sessions, baseline_id)
    assert {key.instance for key in first.series} == set(CPUS)
    assert first.n_samples == 4 * PER_HOUR
    assert first.windows == (hours(START, 4),)
    assert (first.is_seasonal, first.seasonal_note) == (False, "")
    assert (await job(sessions)) == ("done", 5, 5, "")
    async with sessions() as session:
        before = dict((await session.execute(select(ProfilePiece.start_at, ProfilePiece.made_at))).all())
    async with open_write_session(sessions) as session:
        await update_baseline(session, baseline_id, BaselineChange("ann", windows=(hours(START, 5),)))
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    async with sessions() as session:
        after = dict((await session.execute(select(ProfilePiece.start_at, ProfilePiece.made_at))).all())
    # Only the new hour was read.
    assert {start: after[start] for start in before} == before
    assert len(after) == 5
    added = await loaded(sessions, baseline_id)
    await forget_all(sessions)
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    assert_same(added, await loaded(sessions, baseline_id))


async def test_late_samples_make_it_stale_and_then_right(sessions: Sessions) -> None:
    await store(sessions, START, every_step(3))
    baseline_id = await create(sessions, hours(START, 3))
    await make(sessions)
    before = await loaded(sessions, baseline_id)
    await store(sessions, START, np.arange(5400, 5460), seed=1, load=80)
    assert await load(sessions, baseline_id) is None
    assert await n_pieces(sessions) == 5
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


@pytest.mark.parametrize(
    ("module", "name", "n_late"),
    [
        pytest.param(profile_job, "read_sketch", 2, id="a piece is made"),
        pytest.param(profile_rows, "read_bodies", 1, id="it is put together"),
    ],
)
async def test_samples_that_come_meanwhile_are_not_missed(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, n_late: int
) -> None:
    await store(sessions, START, every_step(3))
    baseline_id = await create(sessions, hours(START, 3))
    read, seeds = getattr(module, name), iter(range(1, n_late + 1))

    async def read_and_be_late(*asked: object) -> object:
        found = await read(*asked)
        if seed := next(seeds, None):
            await store(sessions, START, np.arange(1800, 1830), seed=seed)
        return found

    monkeypatch.setattr(module, name, read_and_be_late)
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * PER_HOUR + n_late * 90


async def test_work_goes_on_where_it_was_left(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, every_step(3))
    baseline_id = await create(sessions, hours(START, 3))
    n_read = 0

    async def die(sessions: Sessions, host_id: int, stat: StatRef, span: Window) -> tuple[int, bytes]:
        nonlocal n_read
        n_read += 1
        if n_read == 2:
            # As when the process ends: no clause for failures sees it.
            raise asyncio.CancelledError
        return await read_sketch(sessions, host_id, stat, span)

    monkeypatch.setattr(profile_job, "read_sketch", die)
    with pytest.raises(asyncio.CancelledError):
        await make(sessions)
    assert (await job(sessions))[:3] == ("running", 1, 7)
    assert await n_pieces(sessions) == 1
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    assert n_read == 7
    # A run that has no time does one thing at least never twice.
    assert await run_profiles(sessions, budget_s=0) == 0
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * PER_HOUR


async def test_little_time_is_enough_in_the_end(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, every_step(3))
    baseline_id = await create(sessions, hours(START, 3))
    ticks = iter(range(10_000))
    monkeypatch.setattr(profile_job, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    n_runs = 0
    while await load(sessions, baseline_id) is None:
        n_runs += 1
        await run_profiles(sessions, budget_s=3, now=LATER)
        assert n_runs < 50
    assert n_runs > 1


async def test_only_one_process_makes_profiles(sessions: Sessions) -> None:
    await store(sessions, START, every_step(3))
    await create(sessions, hours(START, 3))
    async with open_claims_in(sessions, PROFILES) as claims:
        assert claims is not None
        assert await make(sessions) is None
    assert await make(sessions) == 1


def test_a_profile_of_windows_that_ended_stays_current() -> None:
    key = ProfileKey(1, 1, 1, -1, 1)
    window = Window(START, START + timedelta(hours=2))
    end = Window(START, START + timedelta(hours=1))
    row = ProfileRow(key, window.end, window.end, (window,), False, {}, "", b"")
    wanted = Wanted(key, UTC, (window,))
    assert is_current(row, wanted)
    # It goes on after what the profile was built from, which was long ago.
    assert not is_current(replace(row, until=end.end, effective=(end,)), wanted)
