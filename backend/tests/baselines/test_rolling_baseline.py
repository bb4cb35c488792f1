"""Rolling baselines: which windows they have, when they follow, and that nobody's own baseline is in their way."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import select, text

from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_rows import BaselineChange, archive_baseline, delete_baseline, list_baselines, update_baseline
from normstat.baselines.baseline_versions import forget_host, list_versions
from normstat.baselines.covering_rows import CoveringBaseline, read_covering_baselines
from normstat.baselines.rolling_baseline import choose_rolling_windows, update_rolling_baselines
from normstat.baselines.rolling_rows import Recorded, UnusualTime
from normstat.db.schema.baseline_models import Baseline
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import Conflict
from normstat.records.episode_rows import FoundEpisode, replace_episodes
from normstat.watch.rules.rule_file import Colour
from normstat.window import Window
from tests.databases import Sessions, on_either_database
from tests.profiles.profiled import START, create, hours, loaded, make, store

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
NOW = datetime(2026, 11, 23, 12, 34, tzinfo=UTC)
END = NOW.replace(minute=0)
WEEK = Recorded(NOW - 30 * DAY, NOW, 7 * DAY.total_seconds())


def unusual(start: datetime, length: timedelta = 20 * MINUTE, *, instance: str = "cpu") -> UnusualTime:
    return UnusualTime("comparison", instance, start, start + length)


def test_it_is_the_last_week_up_to_a_whole_hour_or_as_much_as_there_is() -> None:
    assert choose_rolling_windows(WEEK, [], NOW).windows == (Window(END - 7 * DAY, END),)
    short = choose_rolling_windows(Recorded(END - 2 * DAY + 5 * MINUTE, NOW, 2 * DAY.total_seconds()), [], NOW)
    assert short.windows == (Window(END - 2 * DAY, END),)
    assert short.reason == "the last 2 days"


def test_unusual_times_are_left_out_with_a_minute_around_them() -> None:
    at = END - 2 * DAY
    found = choose_rolling_windows(WEEK, [unusual(at)], NOW)
    assert found.windows == (Window(END - 7 * DAY, at - MINUTE), Window(at + 21 * MINUTE, END))
    assert found.reason == "the last 7 days, without 1 time that was unusual"


def test_what_was_observed_by_a_heavy_tracer_is_left_out() -> None:
    """The seeds: truss cut 120,000 calls/s to 12,000; such hours are no normal ones."""
    at = END - 2 * DAY
    truss = (Window(at, at + 10 * MINUTE),)
    found = choose_rolling_windows(WEEK, [], NOW, truss)
    assert found.windows == (Window(END - 7 * DAY, at), Window(at + 10 * MINUTE, END))
    assert found.reason == "the last 7 days, without 1 time under a tracer"
    both = choose_rolling_windows(WEEK, [unusual(at + 60 * MINUTE)], NOW, truss)
    assert both.reason == "the last 7 days, without 1 time that was unusual and 1 time under a tracer"
    assert len(both.windows) == 3
    # A tool that always runs is a part of the host.
    assert choose_rolling_windows(WEEK, [], NOW, (Window(at, at + 2 * DAY),)).windows == (Window(END - 7 * DAY, END),)


def test_what_comes_back_at_the_same_time_of_day_is_normal() -> None:
    backups = [unusual(END - (1 + day) * DAY + 10 * day * MINUTE) for day in range(3)]
    assert choose_rolling_windows(WEEK, backups, NOW).windows == (Window(END - 7 * DAY, END),)
    # Twice is not often enough, nor is another part of the host, nor another time of day.
    assert len(choose_rolling_windows(WEEK, backups[:2], NOW).windows) == 3
    other = [*backups[:2], unusual(END - 3 * DAY, instance="disk")]
    assert len(choose_rolling_windows(WEEK, other, NOW).windows) == 4
    later = [*backups[:2], unusual(END - 3 * DAY + 5 * HOUR)]
    assert len(choose_rolling_windows(WEEK, later, NOW).windows) == 4


def test_what_lasts_longer_than_a_day_is_what_is_normal_now() -> None:
    assert choose_rolling_windows(WEEK, [unusual(END - 2 * DAY, 25 * HOUR)], NOW).windows == (Window(END - 7 * DAY, END),)


def test_where_most_was_unusual_nothing_is_left_out() -> None:
    times = [unusual(END - day * DAY, 20 * HOUR + day * MINUTE, instance=str(day)) for day in range(1, 8)]
    found = choose_rolling_windows(WEEK, times, NOW)
    assert found.windows == (Window(END - 7 * DAY, END),)
    assert "most of them was unusual" in found.reason


# --- the job, and what it keeps ---


async def covering(sessions: Sessions, min_s: float = 0.0, now: datetime | None = None) -> CoveringBaseline | None:
    async with open_read_session(sessions) as session:
        return (await read_covering_baselines(session, min_s=min_s, now=now)).get(1)


async def listed(sessions: Sessions, host: str | None = "web1") -> list[BaselineInfo]:
    async with open_read_session(sessions) as session:
        return await list_baselines(session, host)


async def record(sessions: Sessions, n_hours: float, *, start: datetime = START, seed: int = 0) -> datetime:
    """Samples every two minutes of so many hours; return a moment shortly after."""
    await store(sessions, start, np.arange(0, n_hours * 3600, 120), seed=seed)
    return start + timedelta(hours=n_hours)


@on_either_database
async def test_a_host_without_a_baseline_gets_one_after_a_day_and_it_follows_once_a_day(sessions: Sessions) -> None:
    now = await record(sessions, 23)
    assert await update_rolling_baselines(sessions, now) == 0
    now = await record(sessions, 3, start=START + 23 * HOUR, seed=1)
    assert await update_rolling_baselines(sessions, now) == 1
    own = await covering(sessions)
    assert own is not None
    assert (own.name, own.is_rolling, own.windows) == ("last 7 days of web1", True, (hours(START, 25),))
    assert await make(sessions, now) == 1
    assert (await loaded(sessions, own.id)).windows == (hours(START, 25),)
    # Not again on the same day; a day later with what came since.
    later = await record(sessions, 24, start=START + 26 * HOUR, seed=2)
    assert await update_rolling_baselines(sessions, later - 2 * HOUR) == 0
    assert await update_rolling_baselines(sessions, later) == 1
    follows = await covering(sessions)
    assert follows is not None
    assert (follows.id, follows.version, follows.windows) == (own.id, 2, (hours(START, 49),))


@on_either_database
async def test_a_baseline_of_a_person_takes_its_place_and_gives_it_back(sessions: Sessions) -> None:
    now = await record(sessions, 26)
    await update_rolling_baselines(sessions, now)
    # Too short for a profile: it is what the fleet shows, and scores go on with the rolling one.
    short = await create(sessions, Window(now - 10 * MINUTE, now - 5 * MINUTE))
    await update_rolling_baselines(sessions, now)
    assert [(own.is_rolling, own.id == short) for own in await listed(sessions)] == [(False, True), (True, False)]
    of_fleet, of_scores = await covering(sessions), await covering(sessions, 480, now)
    assert of_fleet is not None
    assert of_scores is not None
    assert (of_fleet.id, of_scores.is_rolling) == (short, True)
    async with open_write_session(sessions) as session:
        await update_baseline(session, short, BaselineChange("ann", windows=(hours(START, 2),)))
    await update_rolling_baselines(sessions, now)
    assert [own.id for own in await listed(sessions)] == [short]
    async with open_write_session(sessions) as session:
        await archive_baseline(session, short, is_archived=True)
    await update_rolling_baselines(sessions, now)
    assert [own.is_rolling for own in await listed(sessions)] == [True]


@on_either_database
async def test_nobody_changes_it_and_it_goes_with_its_host(sessions: Sessions) -> None:
    now = await record(sessions, 26)
    await update_rolling_baselines(sessions, now)
    [own] = await listed(sessions)
    assert await listed(sessions, None) == []
    async with open_write_session(sessions) as session:
        with pytest.raises(Conflict, match="keeps last 7 days of web1 itself"):
            await update_baseline(session, own.id, BaselineChange("ann", note="mine"))
        with pytest.raises(Conflict):
            await archive_baseline(session, own.id, is_archived=True)
        with pytest.raises(Conflict):
            await delete_baseline(session, own.id)
        await forget_host(session, 1, "web1", made_by="ann")
        assert (await session.scalars(select(Baseline.id))).all() == []


@on_either_database
async def test_stored_episodes_are_left_out_but_not_withdrawn_or_slight_ones(sessions: Sessions) -> None:
    now = await record(sessions, 30)
    at = [START + n * HOUR for n in (5, 10, 15, 20)]
    kinds = [
        ("comparison", Colour.AMBER, "fine"),
        ("disk", Colour.RED, "fine"),
        ("disk", Colour.AMBER, "fine"),
        ("cpu", Colour.RED, "withdrawn"),
    ]
    async with open_write_session(sessions) as session:
        for start, (source, colour, ended_by) in zip(at, kinds, strict=True):
            end = start + 10 * MINUTE
            found = FoundEpisode(source, 1, "", start, end, end + MINUTE, ended_by, colour, start, "t", "s", "a", ())
            await replace_episodes(session, 1, source, [found], after=start, now=now)
    await update_rolling_baselines(sessions, now)
    own = await covering(sessions)
    assert own is not None
    assert [window.end for window in own.windows] == [at[0] - MINUTE, at[1] - MINUTE, START + 29 * HOUR]
    async with open_read_session(sessions) as session:
        assert [version.reason for version in await list_versions(session, own.id)] == [
            "the last day, without 2 times that were unusual"
        ]


@on_either_database
async def test_a_name_that_a_person_took_is_theirs(sessions: Sessions) -> None:
    now = await record(sessions, 26)
    short = await create(sessions, Window(now - 10 * MINUTE, now - 5 * MINUTE))
    async with open_write_session(sessions) as session:
        await update_baseline(session, short, BaselineChange("ann", name="last 7 days of web1"))
    await update_rolling_baselines(sessions, now)
    assert [own.name for own in await listed(sessions)] == ["last 7 days of web1", "last 7 days of web1 (2)"]


@on_either_database
async def test_only_a_few_of_a_fleet_wait_for_their_profiles(sessions: Sessions) -> None:
    now = await record(sessions, 26)
    async with open_write_session(sessions) as session:
        await session.execute(text("INSERT INTO hosts (name) SELECT 'other' || n FROM generate_series(1, 7) AS n"))
        copy = "INSERT INTO streams (host_id, spec, key, first_sample_at, last_sample_at) SELECT h.id, s.spec, s.key,"
        both = " s.first_sample_at, s.last_sample_at FROM hosts AS h, streams AS s WHERE h.name LIKE 'other%'"
        await session.execute(text(copy + both))
    assert await update_rolling_baselines(sessions, now) == 5
    assert await update_rolling_baselines(sessions, now) == 0
    assert await make(sessions, now) == 5
    assert await update_rolling_baselines(sessions, now) == 3
    assert await update_rolling_baselines(sessions, now) == 0
