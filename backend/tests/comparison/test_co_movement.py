"""What moves with a series: found with its lag and direction, and nothing where only chance would."""

import numpy as np
import pytest

from normstat.scoring.co_movement import N_TURNS, CoMovementSearch, choose_related, hold_last
from normstat.scoring.summary import FloatArray, IntArray

N_STEPS = 480
MAX_LAG = 40
N_OTHERS = 300


def smooth_noise(rng: np.random.Generator, n_series: int, memory: float) -> FloatArray:
    """Return noise that remembers this share of its last value, of about deviation 1. Shape: -> (n_series, N_STEPS)"""
    values = rng.normal(size=(n_series, N_STEPS))
    for step in range(1, N_STEPS):
        values[:, step] = memory * values[:, step - 1] + np.sqrt(1 - memory**2) * values[:, step]
    return values


def unrelated(rng: np.random.Generator, kind: str, n_series: int) -> FloatArray:
    """Return series of a kind that have nothing to do with each other."""
    days = np.arange(N_STEPS) / N_STEPS
    phase = rng.normal(0, 0.08, (n_series, 1))
    match kind:
        case "noise":
            return rng.normal(size=(n_series, N_STEPS))
        case "slow noise":
            return smooth_noise(rng, n_series, 0.98)
        case "random walk":
            return rng.normal(size=(n_series, N_STEPS)).cumsum(axis=1)
        case "spikes":
            return (rng.random((n_series, N_STEPS)) < 0.01) * rng.exponential(1, (n_series, N_STEPS))
        case "rhythm of one day":
            wave = 5 * np.sin(2 * np.pi * (days + phase)) + 2 * np.sin(4 * np.pi * (days + phase))
            return np.asarray(wave + rng.normal(0, 0.5, (n_series, N_STEPS)))
        case "rhythm of three days":
            wave = 5 * np.sin(6 * np.pi * (days + phase)) + 2 * np.sin(12 * np.pi * (days + phase))
            return np.asarray(wave + rng.normal(0, 0.5, (n_series, N_STEPS)))
        case _:
            # Fills up by day and is emptied at night.
            return np.asarray((3 * days + rng.random((n_series, 1))) % 1 * 5 + rng.normal(0, 0.1, (n_series, N_STEPS)))


PERIODS = {"rhythm of one day": N_STEPS, "rhythm of three days": N_STEPS // 3, "sawtooth of three days": N_STEPS // 3}


def find(chosen: FloatArray, others: FloatArray, period: int | None = None) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the places of what is found, its lags and its correlations."""
    found = CoMovementSearch(chosen, MAX_LAG, period=period).compare(others.astype(np.float32))
    places = choose_related(found)
    return places, found.lag[places], found.correlation[places].astype(np.float64)


@pytest.mark.parametrize("kind", ["noise", "slow noise", "random walk", "spikes", *PERIODS])
def test_unrelated_series_are_hardly_ever_found(kind: str) -> None:
    rng = np.random.default_rng(5)
    n_found = 0
    for _ in range(4):
        values = unrelated(rng, kind, N_OTHERS + 1)
        n_found += len(find(values[0], values[1:], PERIODS.get(kind))[0])
    # Of 1,200 series.
    assert n_found <= 2


def test_what_drives_a_series_is_found_with_its_lag_and_direction() -> None:
    rng = np.random.default_rng(7)
    drive = smooth_noise(rng, 1, 0.8)[0]
    chosen = 100 - 10 * drive + rng.normal(0, 3, N_STEPS)
    lags, signs = [-12, -3, 0, 6, 20], [1, -1, 1, -1, 1]
    related = [
        1e9 + 1e6 * (sign * np.roll(drive, lag) + rng.normal(0, 0.3, N_STEPS)) for lag, sign in zip(lags, signs, strict=True)
    ]
    others = np.concatenate([unrelated(rng, kind, 100) for kind in ("noise", "slow noise", "random walk", "rhythm of one day")])
    places, found_lags, correlations = find(chosen, np.concatenate([related, others]))
    found = dict(zip(places.tolist(), zip(found_lags.tolist(), correlations.tolist(), strict=True), strict=True))
    assert {0, 1, 2, 3, 4} <= found.keys()
    assert len(found) <= 6
    for place, (lag, sign) in enumerate(zip(lags, signs, strict=True)):
        assert abs(found[place][0] - lag) <= 1
        assert found[place][1] * -sign > 0.5


def test_one_dip_is_enough_where_it_is_clear() -> None:
    rng = np.random.default_rng(9)
    dip = np.zeros(N_STEPS)
    dip[200:250] = 1
    chosen = 500 - 400 * dip + rng.normal(0, 30, N_STEPS)
    related = [8 * np.roll(dip, -5) + rng.normal(0, 0.5, N_STEPS), 50 - 40 * dip + rng.normal(0, 3, N_STEPS)]
    others = np.concatenate([unrelated(rng, kind, 100) for kind in ("noise", "slow noise", "random walk")])
    places, lags, correlations = find(chosen, np.concatenate([related, others]))
    # About one in ten of what is found may be chance; it is never the surest.
    assert set(places[:2].tolist()) == {0, 1}
    assert len(places) <= 3
    by_place = dict(zip(places.tolist(), zip(lags.tolist(), np.sign(correlations).tolist(), strict=True), strict=True))
    assert abs(by_place[0][0] + 5) <= 2
    assert (by_place[0][1], by_place[1][1]) == (-1, 1)


def test_constant_and_silent_series_have_no_score_and_disturb_no_other() -> None:
    rng = np.random.default_rng(11)
    chosen = smooth_noise(rng, 1, 0.8)[0]
    silent = np.full(N_STEPS, np.nan)
    silent[:100] = chosen[:100]
    slow = np.where(np.arange(N_STEPS) % 6 == 0, chosen, np.nan)
    values = np.stack([np.full(N_STEPS, 7.0), silent, np.full(N_STEPS, np.nan), slow, chosen]).astype(np.float32)
    found = CoMovementSearch(chosen, MAX_LAG).compare(values)
    assert found.score[:3].tolist() == [0, 0, 0]
    assert found.is_known.tolist() == [True, False, False, True, True]
    # A tool that reports more rarely holds its value until the next report.
    assert set(choose_related(found).tolist()) == {3, 4}


def test_a_series_that_cannot_be_compared_says_why() -> None:
    with pytest.raises(ValueError, match="does not move"):
        CoMovementSearch(np.ones(N_STEPS), MAX_LAG)
    with pytest.raises(ValueError, match="too few values"):
        CoMovementSearch(np.arange(30.0), MAX_LAG)
    assert CoMovementSearch(np.random.default_rng(0).normal(size=N_STEPS), MAX_LAG).compare(
        np.empty((0, N_STEPS), np.float32)
    ).turned.shape == (0, N_TURNS)


def test_a_missing_value_is_the_last_one_and_before_the_first_the_first() -> None:
    values = np.array([[np.nan, 2, np.nan, 3], [np.nan] * 4], np.float32)
    assert hold_last(values).tolist() == [[2, 2, 2, 3], [0, 0, 0, 0]]
