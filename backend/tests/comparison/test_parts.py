"""Scores do not depend on how many series are scored at once, nor on threads; what is read does not on connections."""

import asyncio
import os
import time

import numpy as np
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison import score as scoring
from normstat.comparison import service, side_reader
from normstat.comparison.model import Comparison
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import ScoredSeries, score_samples
from normstat.comparison.service import ComparisonRequest
from normstat.comparison.side_reader import SideRequest, read_sides
from normstat.db.session import driver_of, make_engine, make_sessions, open_read_session, open_second_session
from normstat.errors import TooLarge
from normstat.profiles.sketch_reader import is_profiled
from normstat.runtime import work_budget
from normstat.runtime.units import MIB
from normstat.runtime.work_budget import MemoryPool, working
from normstat.samples.lookup import list_host_stats, require_host
from tests.comparison.test_before_on_hosts import make_pair, score_by_profile
from tests.comparison.test_run import IN_NORMAL, INCIDENT, NORMAL, START, fill_host
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.ingest.sending import opened_engine
from tests.query.filling import fill_stat, seal_all


@pytest.mark.parametrize("by_profile", [False, True])
@pytest.mark.parametrize(("cells", "n_threads"), [(1, 1), (1, 3), (4000, 2), (10**9, 1)])
def test_scores_are_the_same_however_they_are_cut(
    monkeypatch: pytest.MonkeyPatch, cells: int, n_threads: int, *, by_profile: bool
) -> None:
    # One CPU is gone before the incident, one is there for some reports only.
    pair = make_pair(with_before=True, gone_before="7")

    def scores() -> ScoredSeries:
        found = score_samples([pair])
        assert found is not None
        return score_by_profile(found, pair) if by_profile else found

    monkeypatch.setattr(work_budget, "MAX_THREADS", 2)
    expected = scores()
    monkeypatch.setattr(scoring, "CELLS_AT_ONCE", cells)
    monkeypatch.setattr(work_budget, "MAX_THREADS", n_threads)
    found = scores()
    assert [one.instance for one in found.series] == [one.instance for one in expected.series]
    for name in ("significance", "kind_significance", "change", "change_scale", "explained_by_load"):
        np.testing.assert_array_equal(getattr(found.scores, name), getattr(expected.scores, name), err_msg=name)


def test_threads_stop_at_the_first_error_and_count_what_each_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_budget, "MAX_THREADS", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    pool = MemoryPool(100 * MIB)
    with working(pool):

        def take(number: int) -> tuple[int, int]:
            work_budget.use(30 * MIB)
            return pool.n_used, number

        assert work_budget.in_threads(take, [1, 2, 3]) == [(60 * MIB, 1), (60 * MIB, 2), (60 * MIB, 3)]
        begun: list[int] = []

        def work(number: int) -> None:
            begun.append(number)
            if number:
                # So the error comes before the others are done.
                time.sleep(0.001)
            work_budget.use((60 if number == 0 else 1) * MIB)

        with pytest.raises(TooLarge):
            work_budget.in_threads(work, list(range(1000)))
        assert len(begun) < 1000
    assert pool.n_used == 0


async def compare_within(sessions: Sessions, max_bytes: int, *, max_rows: int = 10**9) -> tuple[Comparison, MemoryPool]:
    pool = MemoryPool(max_bytes)
    with working(pool):
        async with open_read_session(sessions) as session:
            request = ComparisonRequest(["web1"], INCIDENT, IN_NORMAL)
            return (await service.run_whole_comparison(session, request, max_rows=max_rows)).comparison, pool


@on_either_database
async def test_what_does_not_fit_into_memory_is_compared_by_fewer_rows(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill_host(sessions)
    whole, _ = await compare_within(sessions, 100 * MIB)
    assert whole.sides.baseline.n_rows_skipped == 0
    monkeypatch.setattr(service, "THINNED_ROWS", 300)
    found, pool = await compare_within(sessions, 200_000)
    assert found.sides.baseline.n_rows_skipped > 0
    assert found.sides.baseline.n_samples + found.sides.baseline.n_rows_skipped == whole.sides.baseline.n_samples
    assert found.groups[0].instances == whole.groups[0].instances
    assert pool.n_used == 0
    with pytest.raises(TooLarge, match=r"NORMSTAT_COMPARE_MAX_BYTES"):
        await compare_within(sessions, 20_000)


def assert_same(sides: list[StatSide], others: list[StatSide]) -> None:
    for one, other in zip(sides, others, strict=True):
        assert (one.stat, one.names) == (other.stat, other.names)
        np.testing.assert_array_equal(one.report, other.report)
        np.testing.assert_array_equal(one.times_s, other.times_s)
        assert list(one.values) == list(other.values)
        for key in one.values:
            np.testing.assert_array_equal(one.values[key], other.values[key])


@on_either_database
@pytest.mark.parametrize("is_sealed", [False, True])
async def test_two_connections_read_one_state(db: Database, monkeypatch: pytest.MonkeyPatch, *, is_sealed: bool) -> None:
    await fill_host(db.sessions)
    if is_sealed:
        await seal_all(db.sessions, "web1")
    own_engine = make_engine(db.url, pool_size=4)
    begun: list[int] = []
    try:
        own = make_sessions(own_engine)
        async with open_read_session(own) as session:
            host_id = await require_host(session, "web1")
            stats = await list_host_stats(session, host_id)
            wanted = [
                SideRequest(host_id, stat, (window,), [field for field in stat.fields if is_profiled(field)], 10**9)
                for stat in stats
                for window in (INCIDENT, NORMAL)
            ]

            async def tell(_: SideRequest) -> None:
                begun.append(own_engine.pool.checkedout())  # type: ignore[attr-defined]  # that of a queue
                # The other connection gets its turn.
                await asyncio.sleep(0.05)

            monkeypatch.setattr(side_reader, "JOIN_AFTER_S", 3600)
            alone = await read_sides(session, wanted, tell)
            assert set(begun) == {1}
            # What is stored meanwhile is seen by neither.
            await fill_stat(db.sessions, "mpstat_linux", START, 100 + np.arange(5), ("0",), key="2", usr_pct=50.0)
            begun.clear()
            monkeypatch.setattr(side_reader, "JOIN_AFTER_S", 0)
            assert_same(await read_sides(session, wanted, tell), alone)
            assert 2 in begun
            assert own_engine.pool.checkedout() == 1  # type: ignore[attr-defined]
        async with open_read_session(own) as session:
            assert (await read_sides(session, wanted, tell))[1].n_rows == alone[1].n_rows + 5
    finally:
        await own_engine.dispose()


@on_either_database
async def test_where_connections_are_scarce_one_must_do(database_url: str) -> None:

    async with opened_engine(database_url, pool_size=2) as small:
        async with (
            open_read_session(make_sessions(small)) as session,
            open_second_session(session, await driver_of(session)) as second,
        ):
            assert second is None
        async with (
            small.connect() as connection,
            AsyncSession(connection) as bound,
            open_second_session(bound, await driver_of(bound)) as second,
        ):
            assert second is None


@on_either_database
async def test_an_error_of_one_reader_ends_both(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill_host(sessions)
    monkeypatch.setattr(side_reader, "JOIN_AFTER_S", 0)

    async def tell(asked: SideRequest) -> None:
        if asked.stat.name == "pidstat_linux":
            raise TooLarge("no more")

    async with open_read_session(sessions) as session:
        host_id = await require_host(session, "web1")
        wanted = [SideRequest(host_id, stat, (NORMAL,), stat.fields, 10**9) for stat in await list_host_stats(session, host_id)]
        with pytest.raises(TooLarge, match="no more"):
            await read_sides(session, wanted, tell)
        # The session is still of use.
        assert await require_host(session, "web1") == host_id
