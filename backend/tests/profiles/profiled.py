"""Stored profiles of a made-up host, for tests: samples as ingest stores them, the job, and what it made."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy import delete, select, update

from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.db.schema.baseline_models import Profile, ProfilePiece
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import StatTable
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.profiles.profile_job import run_profiles
from normstat.profiles.stored_profile import LoadedProfile, load_profile
from normstat.samples.profile_marks import Changed, mark_profiles
from normstat.samples.stream_rows import lock_host_by_id
from normstat.scoring.summary import Summary
from normstat.window import Window
from tests.databases import Sessions
from tests.query.filling import fill_stat

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
LATER = START + timedelta(days=30)
STAT = "mpstat_linux"
CPUS = ("all", "0", "1")


async def store(sessions: Sessions, start: datetime, seconds: np.ndarray, *, seed: int = 0, load: float = 20.0) -> None:
    """Samples at so many seconds after `start`, with what ingest does when it stores them."""
    rng = np.random.default_rng(seed)
    n = len(seconds) * len(CPUS)
    usr, intr = np.round(rng.gamma(4, load / 4, n).clip(0, 100), 2), rng.poisson(load, n) + 0.0
    await fill_stat(sessions, STAT, start, seconds, CPUS, key=str(seed), usr_pct=usr, intr_per_s=intr)
    await mark(sessions, start + timedelta(seconds=int(seconds[0])), start + timedelta(seconds=int(seconds[-1])))


async def mark(sessions: Sessions, first: datetime, last: datetime, stat: str = STAT) -> None:
    async with open_write_session(sessions) as session:
        host = await lock_host_by_id(session, 1)
        assert host is not None
        stat_id = (await session.scalars(select(StatTable.id).where(StatTable.name == stat))).one()
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
        row = (await session.execute(select(Job.state, Job.n_done, Job.n_total, Job.message))).one()
        return row.state, row.n_done, row.n_total, row.message


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
        np.testing.assert_array_equal(getattr(mine.baseline, field.name), getattr(theirs.baseline, field.name), err_msg=field.name)
    np.testing.assert_array_equal(mine.series_stats.level, theirs.series_stats.level)
    assert [known.natural_change.length_s for known in mine.window_models] == [
        known.natural_change.length_s for known in theirs.window_models
    ]
    for known, other_known in zip(mine.window_models, theirs.window_models, strict=True):
        np.testing.assert_array_equal(known.natural_change.change, other_known.natural_change.change)
