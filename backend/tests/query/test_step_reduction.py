"""Steps of time and what makes several series one. Pure."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.query.step_reduction import (
    STEPS_S,
    Reduction,
    StepGrid,
    StepLine,
    choose_step_us,
    join_members,
    reduce_members,
    to_points,
)
from normstat.window import Window

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
SECOND = 1_000_000


def line_of(steps: list[int], values: list[float], n: list[int] | None = None) -> StepLine:
    return StepLine(np.array(steps), np.array(values), np.array(n or [1] * len(steps)))


def test_only_members_with_a_value_in_the_step_count() -> None:
    found = join_members([line_of([5], [1.0]), line_of([5, 6], [3.0, 7.0]), line_of([5], [2.0])], Reduction.P95)
    assert (found.step.tolist(), found.n_members.tolist()) == ([5, 6], [3, 1])
    assert found.value.tolist() == pytest.approx([2.9, 7.0])


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1e6, 1e6)), min_size=1, max_size=60))
def test_each_reduction_is_what_numpy_says_of_the_members(members: list[tuple[int, float]]) -> None:
    step, value = np.array([k for k, _ in members]), np.array([v for _, v in members])
    asked: dict[Reduction, Callable[[npt.NDArray[np.float64]], float]] = {
        Reduction.SUM: lambda own: float(np.sum(own)),
        Reduction.AVERAGE: lambda own: float(np.mean(own)),
        Reduction.MINIMUM: lambda own: float(np.min(own)),
        Reduction.MAXIMUM: lambda own: float(np.max(own)),
        Reduction.P95: lambda own: float(np.quantile(own, 0.95)),
    }
    for how, direct in asked.items():
        found = reduce_members(step, value, how)
        assert found.step.tolist() == sorted(set(step.tolist()))
        for k, v, n in zip(found.step, found.value, found.n_members, strict=True):
            own = value[step == k]
            assert n == len(own)
            assert v == pytest.approx(direct(own), rel=1e-9, abs=1e-6)


def test_a_line_is_not_joined_across_a_step_without_a_value() -> None:
    grid = StepGrid(0, 10 * SECOND)
    times, values, n = to_points(line_of([1, 2, 4], [1.0, 2.0, 4.0]), grid, breaks_at_members=False)
    assert times.tolist() == [10_000, 20_000, 30_000, 40_000]
    assert [None if np.isnan(v) else v for v in values] == [1.0, 2.0, None, 4.0]
    assert n.tolist() == [1, 1, 0, 1]


def test_a_sum_of_fewer_hosts_is_not_joined_with_that_of_all() -> None:
    grid = StepGrid(0, SECOND)
    _, values, n = to_points(line_of([1, 2, 3], [9.0, 3.0, 9.0], [3, 1, 3]), grid, breaks_at_members=True)
    assert n.tolist() == [3, 0, 1, 0, 3]
    assert np.isnan(values).tolist() == [False, True, False, True, False]


def test_steps_hold_two_reports_and_are_no_narrower_than_a_pixel() -> None:
    assert choose_step_us(1, 0) == SECOND
    assert choose_step_us(1, 10 * SECOND) == 20 * SECOND
    assert choose_step_us(61 * SECOND, SECOND) == 120 * SECOND
    assert choose_step_us(30 * 86_400 * SECOND + 1, 0) == 31 * 86_400 * SECOND
    for step in STEPS_S:
        # So that rollups fill them.
        assert step < 60 or step % 60 == 0
        assert step < 3600 or step % 3600 == 0


def test_a_window_is_widened_to_whole_steps() -> None:
    grid = StepGrid(0, 60 * SECOND)
    asked = Window(START + timedelta(seconds=10), START + timedelta(seconds=70))
    assert grid.align(asked) == Window(START, START + timedelta(minutes=2))
    assert grid.align(Window(START, START + timedelta(minutes=2))) == Window(START, START + timedelta(minutes=2))
