"""The job that makes profiles: incrementally, missing no change, going on where it was left; on both databases."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.jobs.claims import PROFILES, open_claims_in
from normstat.profiles import profile_job
from normstat.profiles.profile_job import run_profiles
from normstat.profiles.sketch_reader import read_sketch
from normstat.storage import profile_rows
from normstat.storage.baseline_rows import BaselineChange, update_baseline
from normstat.storage.lookup import StatRef
from normstat.storage.schema.baseline_models import ProfilePiece
from normstat.storage.session import open_write_session
from normstat.window import Window
from tests.databases import on_either_database
from tests.profiles.profiled import (
    CPUS,
    LATER,
    START,
    Sessions,
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


async def test_what_is_added_later_is_as_from_scratch(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 5 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 4))
    assert await load(sessions, baseline_id) is None
    assert await make(sessions) == 1
    first = await loaded(sessions, baseline_id)
    assert {key.instance for key in first.series} == set(CPUS)
    assert first.n_samples == 4 * 360 * 3
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
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
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


async def test_samples_that_come_while_a_piece_is_made_are_not_missed(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    n_late = 0

    async def read_and_be_late(sessions: Sessions, host_id: int, stat: StatRef, span: Window) -> tuple[int, bytes]:
        nonlocal n_late
        found = await read_sketch(sessions, host_id, stat, span)
        if n_late < 2:
            n_late += 1
            await store(sessions, START, np.arange(1800, 1830), seed=n_late)
        return found

    monkeypatch.setattr(profile_job, "read_sketch", read_and_be_late)
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == (3 * 360 + 2 * 30) * 3


async def test_late_samples_while_it_is_put_together_are_not_missed(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    baseline_id = await create(sessions, hours(START, 3))
    read = profile_rows.read_bodies
    is_late = False

    async def read_and_be_late(
        session: AsyncSession, host_id: int, stat_id: int, spans: Sequence[Window], method: int
    ) -> list[bytes]:
        nonlocal is_late
        found = await read(session, host_id, stat_id, spans, method)
        if not is_late:
            is_late = True
            await store(sessions, START, np.arange(1800, 1830), seed=9)
        return found

    monkeypatch.setattr(profile_rows, "read_bodies", read_and_be_late)
    await make(sessions)
    assert (await loaded(sessions, baseline_id)).n_samples == (3 * 360 + 30) * 3


async def test_work_goes_on_where_it_was_left(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
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
    assert (await loaded(sessions, baseline_id)).n_samples == 3 * 360 * 3


async def test_little_time_is_enough_in_the_end(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
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
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    await create(sessions, hours(START, 3))
    async with open_claims_in(sessions, PROFILES) as claims:
        assert claims is not None
        assert await make(sessions) is None
    assert await make(sessions) == 1
