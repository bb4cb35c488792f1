"""Samples that a watcher keeps from run to run: it reads what is new, and finds what a watcher that reads all of it finds."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.samples.pages_of_hosts import read_short_pages
from normstat.samples.sample_pages import Page, PageQuery
from normstat.watch import kept_samples
from normstat.watch.watcher import Watcher
from tests.databases import Sessions, on_either_database
from tests.query.filling import seal_all
from tests.watch.live import at, read_found, send, send_mpstat, step_of

pytestmark = on_either_database


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """The length of each window that is read ahead."""
    lengths: list[timedelta] = []

    async def note(session: AsyncSession, queries: Sequence[PageQuery], **how: Any) -> list[Page | None]:
        lengths.extend(query.window.end - query.window.start for query in queries)
        return await read_short_pages(session, queries, **how)

    monkeypatch.setattr(kept_samples, "read_short_pages", note)
    return lengths


async def read_episodes(sessions: Sessions, host: str = "sun1") -> list[tuple[object, ...]]:
    async with sessions() as session:
        host_id = await session.scalar(text("SELECT id FROM hosts WHERE name = :host"), {"host": host})
    return [
        (row.instance, step_of(row.start_at), step_of(row.last_at), step_of(row.ended_at), row.ended_by, row.colour)
        for row in await read_found(sessions)
        if row.host_id == host_id
    ]


async def test_a_run_reads_only_what_came_since_the_last_one(sessions: Sessions, read: list[timedelta]) -> None:
    judge = Watcher(sessions)
    await send_mpstat(sessions, "sun1", range(60))
    await judge.run(at(60))
    longest = []
    for begin in range(60, 120, 6):
        await send_mpstat(sessions, "sun1", range(begin, begin + 6), range(70, 90))
        read.clear()
        await judge.run(at(begin + 6))
        longest.append(max(read))
    # Then from the last sample before on, and a minute ahead.
    assert longest[0] > timedelta(minutes=4)
    assert max(longest[1:]) <= timedelta(minutes=2, seconds=1)
    assert [own[1:4] for own in await read_episodes(sessions)] == [(70, 89, 101)]


@pytest.mark.parametrize("seed", range(2))
async def test_what_comes_in_any_order_is_judged_as_if_all_was_read(sessions: Sessions, seed: int) -> None:
    await _send_in_any_order(sessions, "sun1", Watcher(sessions), np.random.default_rng(seed))
    # The other watcher judges this host, too, at instants that it has passed.
    first = await read_episodes(sessions)
    reading_all = Watcher(sessions)
    reading_all._kept = kept_samples.KeptSamples(max_bytes=0)
    await _send_in_any_order(sessions, "sun2", reading_all, np.random.default_rng(seed))
    assert await read_episodes(sessions, "sun2") == first
    assert len(first) > 1


async def _send_in_any_order(sessions: Sessions, host: str, judge: Watcher, rng: np.random.Generator) -> None:
    await send_mpstat(sessions, host, range(40), key=host)
    other = 0
    for begin in range(40, 94, 6):
        contended = rng.choice(np.arange(begin, begin + 6), 3, replace=False).tolist() if rng.random() < 0.4 else []
        # Some reports wait, and come late.
        n_late = 3 * int(rng.random() < 0.3)
        await send_mpstat(sessions, host, range(begin + n_late, begin + 6), contended, key=host)
        if rng.random() < 0.4:
            # Another stream of the same tool, which is behind.
            end = int(rng.integers(other + 1, begin + 7))
            values = {"smtx": np.full(end - other, int(rng.choice([100, 900]))), "sys_pct": np.full(end - other, 40)}
            await send(sessions, (host, "mpstat_solaris"), range(other, end), ("7",), values, key=f"{host} too")
            other = end
        await judge.run(at(begin + 6))
        if n_late:
            await send_mpstat(sessions, host, range(begin, begin + n_late), contended, key=host, late=True)
            await judge.run(at(begin + 6) + timedelta(seconds=1))


async def test_samples_that_were_derived_again_or_removed_are_read_again(sessions: Sessions, read: list[timedelta]) -> None:
    async with sessions() as session, session.begin():
        await session.execute(text("INSERT INTO jobs (kind, state, finished_at) VALUES ('retention', 'done', now())"))
    judge = Watcher(sessions)
    for begin in (0, 60):
        await send_mpstat(sessions, "sun1", range(begin, begin + 60))
        await judge.run(at(begin + 60))
    for minutes, change in enumerate(
        (
            "INSERT INTO stream_changes (stream_id, n_replaced, n_late) SELECT id, 1, 1 FROM streams",
            "UPDATE streams SET spec_version = spec_version + 1",
            "INSERT INTO retention_runs (job_id, n_samples) SELECT id, 7 FROM jobs",
        ),
        start=1,
    ):
        async with sessions() as session, session.begin():
            await session.execute(text(change))
        read.clear()
        await judge.run(at(120) + timedelta(minutes=minutes))
        assert max(read) > timedelta(minutes=4)
    read.clear()
    await judge.run(at(120) + timedelta(minutes=9))
    assert max(read) < timedelta(seconds=1)


async def test_a_host_that_finds_no_room_is_read_in_full(sessions: Sessions, read: list[timedelta]) -> None:
    judge = Watcher(sessions)
    judge._kept = kept_samples.KeptSamples(max_bytes=1000)
    for begin in (0, 60, 66, 72):
        await send_mpstat(sessions, "sun1", range(begin, max(60, begin + 6)), range(62, 66))
        read.clear()
        await judge.run(at(max(60, begin + 6)))
        assert begin == 0 or max(read) > timedelta(minutes=4)
    assert [own[1:3] for own in await read_episodes(sessions)] == [(62, 65)]


async def test_sealed_samples_are_not_read_ahead_and_are_judged(sessions: Sessions, read: list[timedelta]) -> None:
    judge = Watcher(sessions)
    for host in ("sun1", "sun2"):
        await send_mpstat(sessions, host, range(60), range(50, 60))
    await judge.run(at(60))
    assert await seal_all(sessions, "sun1") > 0
    for host in ("sun1", "sun2"):
        await send_mpstat(sessions, host, range(60, 72))
    read.clear()
    assert await judge.run(at(72)) == 2
    # That of the other host alone.
    assert len(read) == 1
    assert [own[1:4] for own in await read_episodes(sessions, "sun1")] == [(50, 59, 71)]
    assert await read_episodes(sessions, "sun1") == await read_episodes(sessions, "sun2")
