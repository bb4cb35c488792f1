"""The samples of several hosts as one side: what differs between hosts is normal, what differs from all of them is not."""

import numpy as np
import pytest

from normstat.comparison.compared_group import join_rates, join_sides
from normstat.comparison.divisor import Rate
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import StatPair, score_samples
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import START, field_of, make_side, stat_of

STAT = "mpstat_linux"
N, LEVELS = 120, (20.0, 24.0, 22.0, 30.0, 21.0)
START_S = START.timestamp()


def usr(level: float, seed: int) -> FloatArray:
    return np.round(level + np.random.default_rng(seed).normal(0, 1, N), 2)


def test_hosts_follow_each_other() -> None:
    stat = stat_of(STAT)
    one = make_side(stat, {("0", "usr_pct"): np.arange(3.0), ("1", "usr_pct"): np.arange(10.0, 13)}, START_S)
    other = make_side(stat, {("1", "usr_pct"): np.arange(20.0, 22), ("2", "sys_pct"): np.arange(30.0, 32)}, START_S + 0.5)
    joined = join_sides([one, make_side(stat, {}, START_S), other], 10)
    assert list(joined.names) == ["0", "1", "2"]
    assert (joined.times_s - START_S).tolist() == [0, 1, 2, 20.5, 21.5]
    grid = joined.grid([("0", "usr_pct"), ("1", "usr_pct"), ("2", "sys_pct")])
    nan = np.nan
    np.testing.assert_equal(grid, [[0, 1, 2, nan, nan], [10, 11, 12, 20, 21], [nan, nan, nan, 30, 31]])
    assert join_sides([one], 10) is one


def test_rates_follow_each_other() -> None:
    joined = join_rates([Rate(np.array([5.0]), np.array([1.0])), Rate(np.array([6.0]), np.array([2.0]))], 10)
    assert (joined.times_s.tolist(), joined.values.tolist()) == ([5, 16], [1, 2])


@pytest.mark.parametrize(("level", "is_unusual"), [(23.0, False), (29.0, False), (60.0, True)])
def test_a_host_is_unusual_where_it_differs_by_more_than_the_others_do(level: float, is_unusual: bool) -> None:
    stat, cpus = stat_of(STAT), [str(number) for number in range(4)]

    def host(own: float, seed: int) -> StatSide:
        return make_side(stat, {(cpu, "usr_pct"): usr(own, 10 * seed + at) for at, cpu in enumerate(cpus)}, START_S)

    baseline = join_sides([host(own, seed) for seed, own in enumerate(LEVELS)], N)
    scored = score_samples([StatPair({"usr_pct": field_of(STAT, "usr_pct")}, baseline, host(level, 99))])
    assert scored is not None
    assert (scored.scores.significance >= 5).tolist() == [is_unusual] * len(cpus)
