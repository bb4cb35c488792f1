"""A period that the baseline does not have is found in the spectrum of a window, and told in seconds."""

import numpy as np
import pytest

from normstat.comparison.findings.stalls import describe_rhythm
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.change_scale import RHYTHM
from normstat.scoring.rhythm import find_period
from normstat.scoring.summary import Float32Array, FloatArray, summarise
from tests.comparison.sides import compare_values

# From here on no window of noise of these tests comes: one series in a million has it by chance.
SURE = 6.0


def noise(n_series: int, n: int, seed: int = 0) -> FloatArray:
    """Work with a heavy tail, correlated from sample to sample."""
    rng = np.random.default_rng(seed)
    drive = rng.normal(0, 1, (n_series, n + 20))
    smooth = sum(0.7**lag * drive[:, 20 - lag : n + 20 - lag] for lag in range(20))
    return np.asarray(100 * np.exp(0.2 * smooth), np.float64)


def stalled(values: FloatArray, period_s: float, length_s: float, interval_s: float) -> FloatArray:
    """Return the samples with stalls; one that lies partly in a stall shows a part of the work."""
    ends = interval_s * np.arange(1, values.shape[-1] + 1)

    def until(moments: FloatArray) -> FloatArray:
        whole = np.floor(moments / period_s)
        return whole * length_s + np.minimum(moments - whole * period_s, length_s)

    return np.asarray(values * (1 - (until(ends) - until(ends - interval_s)) / interval_s), np.float64)


def disks(values: FloatArray) -> dict[tuple[str, str], FloatArray]:
    return {(f"sd{letter}", "r_per_s"): np.round(row, 2) for letter, row in zip("abcdefgh", values, strict=True)}


def rhythm(values: FloatArray) -> Float32Array:
    return summarise(values.astype(np.float32)).rhythm


def test_noise_has_no_rhythm() -> None:
    found = rhythm(noise(500, 200))
    assert np.isfinite(found).all()
    assert found.max() < SURE
    assert np.median(found) < 2.5


@pytest.mark.parametrize(("period_s", "length_s", "interval_s"), [(40, 5, 5), (40, 5, 1), (37, 5, 5), (60, 10, 10), (20, 6, 1)])
def test_stalls_have_one(period_s: float, length_s: float, interval_s: float) -> None:
    values = stalled(noise(20, 240), period_s, length_s, interval_s)
    assert np.median(rhythm(values)) > SURE
    periods = [find_period(row) for row in values]
    close = [period is not None and abs(period * interval_s / period_s - 1) < 0.03 for period in periods]
    assert sum(close) >= 16


def test_one_spike_a_ramp_and_a_random_walk_are_no_rhythm() -> None:
    spike, ramp = noise(1, 200)[0], noise(1, 200)[0] + 10 * np.arange(200)
    spike[77] = 1e6
    walks = np.cumsum(np.random.default_rng(1).normal(0, 1, (100, 200)), axis=1)
    assert rhythm(np.vstack([spike[None], ramp[None], walks])).max() < SURE


def test_a_level_a_unit_and_other_series_change_nothing() -> None:
    values = stalled(noise(600, 200), 40, 5, 5)
    alone = rhythm(values[7:8])
    assert rhythm(values)[7] == pytest.approx(alone[0], rel=1e-4)
    assert rhythm(1000 * values[7:8] - 5000)[0] == pytest.approx(alone[0], rel=1e-2)


def test_gaps_weaken_a_rhythm_and_hide_none() -> None:
    values = stalled(noise(1, 240), 40, 5, 5)
    whole = float(rhythm(values)[0])
    rng = np.random.default_rng(2)
    some, most = values.copy(), values.copy()
    some[0, rng.random(240) < 0.1] = np.nan
    most[0, rng.random(240) < 0.7] = np.nan
    assert SURE < rhythm(some)[0] < whole
    assert np.isnan(rhythm(most)[0])


def test_a_short_window_shows_none_and_a_constant_has_none() -> None:
    assert np.isnan(rhythm(noise(3, 20))).all()
    assert rhythm(np.full((2, 100), 7.0)).tolist() == [0, 0]
    assert find_period(np.full(100, 7.0)) is None
    assert find_period(np.empty(0)) is None
    empty = np.empty((0, 100))
    assert len(rhythm(empty)) == 0


def test_a_new_period_is_told_in_seconds() -> None:
    """Sampled every second, more than half of the work stops for 4 s every 20 s."""
    normal, incident = noise(8, 2400, seed=3), noise(8, 240, seed=4)
    incident[0] = incident[0] * np.where(np.arange(240) % 20 < 4, 0.4, 1.0)
    groups = compare_values({"iostat_linux": (disks(normal), disks(incident))}).groups
    assert [group.members[0].instance for group in groups] == ["sda"]
    assert groups[0].kind == "rhythm"
    assert " goes up and down with a period that the baseline does not show " in groups[0].sentence
    assert groups[0].sentence.endswith(" It repeats every 20 s.")


def test_an_incident_shows_its_rhythm_in_one_piece_where_the_baseline_has_four_as_long() -> None:
    """Windows of an eighth of 1,200 reports hold three periods of 40, too few; the incident holds six."""
    normal, incident = noise(8, 1200, seed=3), noise(8, 240, seed=4)
    incident[0] *= np.where(np.arange(240) % 40 < 8, 0.3, 1.0)
    times = np.arange(1440.0)
    profile, scores = compare_blocks([Block(times[:1200], normal, times[1200:], incident)], np.zeros(8, np.int64))
    whole = rhythm(incident - profile.series_stats.level[:, None])
    np.testing.assert_allclose(scores.window.rhythm, whole, rtol=1e-3)
    assert scores.kind_significance[RHYTHM].argmax() == 0


def test_a_rhythm_of_the_baseline_is_nothing_new() -> None:
    normal, incident = noise(8, 2400, seed=3), noise(8, 240, seed=4)
    for side in (normal, incident):
        side[0] *= np.where(np.arange(side.shape[1]) % 20 < 4, 0.4, 1.0)
    assert compare_values({"iostat_linux": (disks(normal), disks(incident))}).groups == []


def test_the_period_counts_in_seconds_of_the_samples() -> None:
    values = noise(1, 240)[0] * np.where(np.arange(240) % 12 < 3, 0.5, 1.0)
    assert describe_rhythm(np.arange(0.0, 1200.0, 5.0), values) == "It repeats every 60 s."
    stops = noise(1, 240)[0] * np.where(np.arange(240) % 20 < 6, 0.0, 1.0)
    assert describe_rhythm(np.arange(240.0), stops) == "It stops for 6 s every 20 s."
    assert describe_rhythm(np.arange(10.0), np.ones(10)) == ""
