"""Steps of level, spread and rhythm in made-up series, and of the results of runs."""

import numpy as np
import numpy.typing as npt
import pytest

from normstat.scoring.normal_steps import StepKind, find_normal_steps, find_steps_of_runs, group_steps

Hours = npt.NDArray[np.float32]
N_DAYS = 200
DAY_OF_STEP = 120


def make_hours(seed: int, n_series: int = 1, *, noise: float = 0.2, wander: float = 0.1) -> Hours:
    """Series with a rhythm of the day and of the week, noise and slow wandering, around 100."""
    rng = np.random.default_rng(seed)
    hours = np.arange(24 * N_DAYS)
    day = 0.6 * np.sin(2 * np.pi * (hours % 24) / 24)
    week = np.where(hours // 24 % 7 >= 5, -0.5, 0.0)
    days = np.zeros((n_series, N_DAYS))
    for at in range(1, N_DAYS):
        days[:, at] = 0.9 * days[:, at - 1] + wander * np.sqrt(1 - 0.81) * rng.standard_normal(n_series)
    noise_of_hours = noise * rng.standard_normal((n_series, len(hours)))
    return (100 * np.exp(day + week + np.repeat(days, 24, axis=1) + noise_of_hours)).astype(np.float32)


def steps_of(hours: Hours) -> list[tuple[int, StepKind]]:
    return [(step.day, step.kind) for step in find_normal_steps(hours)]


def test_a_level_that_doubles_is_found_to_the_hour_with_its_values() -> None:
    hours = make_hours(1, noise=0.1)
    hours[:, 24 * DAY_OF_STEP + 10 :] *= 2
    (step,) = find_normal_steps(hours)
    assert step.kind is StepKind.LEVEL
    assert abs(step.hour - (24 * DAY_OF_STEP + 10)) <= 1
    assert step.after / step.before == pytest.approx(2, rel=0.15)


def test_hours_that_vary_more_are_a_step_of_the_spread() -> None:
    calm, restless = make_hours(2, noise=0.1), make_hours(2, noise=0.5)
    calm[:, 24 * DAY_OF_STEP :] = restless[:, 24 * DAY_OF_STEP :]
    (step,) = find_normal_steps(calm)
    assert (step.kind, abs(step.day - DAY_OF_STEP) <= 1) == (StepKind.SPREAD, True)
    assert step.after > 3 * step.before > 0


def test_a_backup_that_moves_is_a_step_of_the_rhythm_and_its_hours_are_told() -> None:
    rng = np.random.default_rng(3)
    backup = np.tile(np.eye(24)[2], N_DAYS)
    backup[24 * DAY_OF_STEP :] = np.tile(np.eye(24)[5], N_DAYS - DAY_OF_STEP)
    hours = (5 + 500 * backup) * np.exp(0.2 * rng.standard_normal(24 * N_DAYS))
    (step,) = find_normal_steps(hours[None].astype(np.float32))
    assert (step.kind, step.day, step.before, step.after) == (StepKind.RHYTHM, DAY_OF_STEP, 2, 5)


def test_rhythm_growth_a_busy_week_and_missing_days_are_no_steps() -> None:
    hours = make_hours(4, 40)
    hours[10:20] *= np.linspace(1, 3, hours.shape[1], dtype=np.float32)
    hours[20:30, 24 * 80 : 24 * 86] *= 2
    hours[30:, 24 * 60 : 24 * 69] = np.nan
    assert steps_of(hours) == []


def test_nothing_is_found_in_series_without_values_that_never_change_or_are_short() -> None:
    flat = np.full((1, 24 * N_DAYS), 7, np.float32)
    assert steps_of(np.concatenate([flat, flat * np.nan, flat * 0])) == []
    assert steps_of(np.empty((0, 24 * N_DAYS), np.float32)) == []
    assert steps_of(make_hours(5)[:, : 24 * 10]) == []
    assert steps_of(make_hours(5)[:, :0]) == []


@pytest.mark.parametrize(("n_after", "is_found"), [(4, False), (8, True)])
def test_a_step_needs_a_week_after_it(n_after: int, is_found: bool) -> None:
    hours = make_hours(6, noise=0.1, wander=0.05)
    hours[:, -24 * n_after :] *= 4
    assert bool(find_normal_steps(hours)) is is_found


def test_steps_of_a_day_are_one_change_and_a_weak_one_alone_is_none() -> None:
    hours = make_hours(7, 6)
    hours[:4, 24 * DAY_OF_STEP :] *= 4
    steps = find_normal_steps(hours)
    (group,) = group_steps(steps)
    assert {step.row for step in group} == {0, 1, 2, 3}
    assert group[0].score == max(step.score for step in group)
    weak = min(steps, key=lambda step: step.score)
    assert group_steps([weak]) == ([[weak]] if weak.score >= 10 else [])


def test_runs_from_one_on_that_are_slower_are_a_step_and_scatter_is_none() -> None:
    rng = np.random.default_rng(8)
    even = 10 * np.exp(0.01 * rng.standard_normal(40))
    assert find_steps_of_runs(even) == []
    slower = even * np.where(np.arange(40) >= 14, 1.08, 1)
    (step,) = find_steps_of_runs(slower)
    assert (step.place, step.n_before, step.n_after) == (14, 14, 26)
    assert step.times == pytest.approx(1.08, abs=0.01)
    assert find_steps_of_runs(even[:7]) == []
