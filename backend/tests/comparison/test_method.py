"""What holds of every comparison, whatever the numbers and the constants of the method.

The examples are the same in every run: a method whose numbers are fitted has rare ones that a constant decides.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normstat.comparison.series_comparison import Verdict, compare_arrays, unusual_of
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.host_profile import WindowScores
from normstat.scoring.series_stats import looks_like_percent
from normstat.scoring.significance import LOAD
from normstat.scoring.summary import FloatArray

N_BASELINE, N_INCIDENT, N_SERIES = 240, 60, 12
seeds = st.integers(0, 2**31)


def make(seed: int) -> tuple[FloatArray, FloatArray]:
    """A load that comes and goes, percentages, rare events, heavy tails, as tools print them; one series changes, or none."""
    rng = np.random.default_rng(seed)
    n = N_BASELINE + N_INCIDENT
    load = 1 + 0.5 * np.sin(np.arange(n) / rng.uniform(5, 40)) + 0.1 * rng.normal(0, 1, n)
    columns = [
        *(rng.uniform(10, 1000) * load * rng.normal(1, 0.05, n) for _ in range(4)),
        *(np.clip(rng.uniform(10, 60) * load, 0, 100) for _ in range(3)),
        *(np.where(rng.random(n) < 0.05, rng.exponential(200, n), 0) for _ in range(2)),
        *(rng.lognormal(3, 1, n) for _ in range(2)),
        np.full(n, rng.uniform(0, 100)),
    ]
    values = np.round(np.stack(columns), 2)
    if seed % 2:
        values[seed % 11, N_BASELINE:] += rng.uniform(0, 10) * values[seed % 11].std()
    return values[:, :N_BASELINE], values[:, N_BASELINE:]


def compare(baseline: FloatArray, incident: FloatArray) -> tuple[FloatArray, list[Verdict]]:
    return compare_arrays(
        np.arange(baseline.shape[1], dtype=float), baseline, 1e6 + np.arange(incident.shape[1], dtype=float), incident
    )


@settings(max_examples=15, derandomize=True)
@given(seeds)
def test_the_same_again_gives_the_same(seed: int) -> None:
    baseline, incident = make(seed)
    copies = baseline.copy(), incident.copy()
    first, second = compare(baseline, incident), compare(baseline, incident)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] == second[1]
    # And nothing that was given was changed.
    np.testing.assert_array_equal(baseline, copies[0])
    np.testing.assert_array_equal(incident, copies[1])
    assert np.isfinite(first[0]).all()
    assert (first[0] >= 0).all()


@settings(max_examples=15, derandomize=True)
@given(seeds)
def test_a_baseline_against_itself_is_never_unusual(seed: int) -> None:
    baseline, _ = make(seed)
    assert set(compare(baseline, baseline)[1]) == {"normal"}


@settings(max_examples=15, derandomize=True)
@given(seeds, st.integers(2, 60), st.floats(-1e9, 1e9))
def test_what_never_moves_is_quiet(seed: int, n: int, value: float) -> None:
    baseline, incident = make(seed)
    baseline[3], incident[3] = value, value
    assert compare(baseline, incident[:, :n])[1][3] == "normal"


@settings(max_examples=15, derandomize=True)
@given(seeds, st.sampled_from([10.0, 1000.0, 2.0**20]))
def test_larger_units_change_little(seed: int, factor: float) -> None:
    baseline, incident = make(seed)
    # Not the percentages, whose 100 means something, and without the rounding, which other units would have elsewhere.
    rows = [0, 1, 2, 3, 9, 10]
    random = np.random.default_rng(seed)
    baseline, incident = (side[rows] + random.uniform(0, 1e-5, (len(rows), side.shape[1])) for side in (baseline, incident))
    plain, scaled = compare(baseline, incident), compare(baseline * factor, incident * factor)
    # What happens to end between 90 and 100 in one of the units is taken for a percentage there.
    is_other = ~(looks_like_percent(baseline) | looks_like_percent(baseline * factor))
    np.testing.assert_allclose(plain[0][is_other], scaled[0][is_other], rtol=0.02, atol=0.05)


def score(baseline: FloatArray, incident: FloatArray) -> WindowScores:
    times = (np.arange(baseline.shape[1], dtype=float), 1e6 + np.arange(incident.shape[1], dtype=float))
    return compare_blocks([Block(times[0], baseline, times[1], incident)], np.zeros(len(baseline), np.int64))[1]


@settings(max_examples=15, derandomize=True)
@given(seeds)
def test_the_order_of_the_series_changes_nothing_but_the_load_kind(seed: int) -> None:
    baseline, incident = make(seed)
    order = np.random.default_rng(seed).permutation(len(baseline))
    plain, moved = score(baseline, incident), score(baseline[order], incident[order])
    for name in ("change_ratios", "kind_significance"):
        one, other = getattr(plain, name)[:, order], getattr(moved, name)
        np.testing.assert_array_equal(one[:LOAD], other[:LOAD], err_msg=name)
    # The load model adds up all series: the last bits of its sums depend on their order.
    np.testing.assert_allclose(plain.explained_by_load[order], moved.explained_by_load, atol=1e-4)
    # Where two windows tie for the largest residual, those bits choose the one that is measured by the others. That moves the
    # calibration of the load kind, and a score by no more than the load kind moved.
    shift = np.zeros(len(order))
    if len(moved.kind_significance) > LOAD:
        shift = np.abs(plain.kind_significance[LOAD, order] - moved.kind_significance[LOAD])
    # Above the threshold the score grows with each decade of the change ratio.
    growth = 1 + np.log10(np.maximum(np.fmax(plain.change_ratios[:, order], moved.change_ratios).max(axis=0), 1))
    assert (np.abs(plain.significance[order] - moved.significance) <= growth * shift + 1e-3).all()


@settings(max_examples=15, derandomize=True)
@given(seeds, st.sampled_from(["baseline", "incident", "both"]))
def test_without_any_sample_nothing_is_scored_and_nothing_breaks(seed: int, side: str) -> None:
    baseline, incident = make(seed)
    if side != "incident":
        baseline[[0, 7]] = np.nan
    if side != "baseline":
        incident[[0, 7]] = np.nan
    scores, verdicts = compare(baseline, incident)
    assert np.isfinite(scores).all()
    if side != "incident":
        assert (verdicts[0], verdicts[7]) == ("insufficient-data", "insufficient-data")
        assert (scores[0], scores[7]) == (0, 0)
    everything = compare(np.full_like(baseline, np.nan), incident)
    assert set(everything[1]) == {"insufficient-data"}


@pytest.mark.parametrize(("n_baseline", "n_incident"), [(1, 1), (5, 1), (6, 3), (10, 200), (240, 1), (33, 4)])
def test_few_samples_break_nothing(n_baseline: int, n_incident: int) -> None:
    baseline, incident = make(2)
    scores, verdicts = compare(baseline[:, :n_baseline], np.tile(incident, 4)[:, :n_incident])
    assert np.isfinite(scores).all()
    assert (set(verdicts) == {"insufficient-data"}) == (n_baseline < 5)


def test_a_huge_change_is_unusual_wherever_it_is() -> None:
    for row in range(N_SERIES):
        baseline, incident = make(4)
        incident[row] = incident[row] * 0.5 + 50 * (baseline[row].std() + 1) + 3 * baseline[row].max()
        scores, verdicts = compare(baseline, incident)
        assert verdicts[row] == "unusual", row
        assert scores.argmax() == row


@pytest.mark.parametrize(
    ("significance", "strength", "is_constant", "is_unusual"),
    [
        (5.5, 0.1, False, True),
        (5.4, 3.4, False, False),
        (4.0, 3.5, False, True),
        (4.9, 99.0, True, False),
        (5.0, 0.1, True, True),
        (3.9, 99.0, False, False),
    ],
)
def test_what_is_strong_need_not_be_as_rare(significance: float, strength: float, is_constant: bool, is_unusual: bool) -> None:
    """A series that never moved has no size to move by."""
    found = score(*make(1))
    scores = replace(
        found,
        significance=np.full(N_SERIES, significance),
        strength=np.full(N_SERIES, strength),
        is_constant=np.full(N_SERIES, is_constant),
        change=2 * found.change_scale,
    )
    assert unusual_of(scores).tolist() == [is_unusual] * N_SERIES


def test_a_series_that_did_not_move_is_not_strong_because_the_load_moved() -> None:
    found = score(*make(1))
    change = 0.5 * found.change_scale
    change[LOAD] = 99 * found.change_scale[LOAD]
    scores = replace(found, significance=np.full(N_SERIES, 4.9), strength=np.full(N_SERIES, 95.0), change=change)
    assert not unusual_of(scores).any()
