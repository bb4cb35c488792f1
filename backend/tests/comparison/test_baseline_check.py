"""A baseline is judged before it judges: ends that show the incident, or are like nothing else, are left out and told."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.comparison.baseline_check import check_baseline
from normstat.comparison.csv_comparison import compare_tables
from normstat.comparison.long_csv import LongTable
from normstat.comparison.score import StatPair
from normstat.scoring.contamination import LIKE_INCIDENT, LIKE_NOTHING, NORMAL, find_contaminated, find_ends, find_moments
from normstat.scoring.summary import FloatArray
from normstat.window import Window
from tests.comparison.sides import field_of, make_side, stat_of

N_SERIES = 30
N_BASELINE = 300
N_INCIDENT = 60
START = datetime(2026, 11, 16, 8, tzinfo=UTC)


def busy(n: int, seed: int) -> FloatArray:
    """Series with the load of a host in common."""
    rng = np.random.default_rng(seed)
    load = 1 + 0.2 * np.sin(np.arange(n) / 20)
    return np.round(100 * load * rng.lognormal(0, 0.1, (N_SERIES, n)), 2)


def incident(n: int = N_INCIDENT) -> FloatArray:
    """Four series are six times as high."""
    values = busy(n, 2)
    values[:4] *= 6
    return values


def contaminated(n: int) -> FloatArray:
    values = busy(N_BASELINE, 1)
    if n:
        values[:, -n:] = incident()[:, :n]
    return values


def test_bins_like_the_incident_and_like_nothing_else_are_told_apart() -> None:
    baseline = contaminated(9)
    baseline[:, :5] = 0
    codes = find_contaminated(baseline, incident())
    assert set(codes[:5].tolist()) == {LIKE_NOTHING}
    assert set(codes[-9:].tolist()) == {LIKE_INCIDENT}
    assert (codes[5:-9] == NORMAL).mean() > 0.99
    assert find_ends(codes) == (5, 9)


def test_nothing_is_left_out_of_what_is_normal_or_unknown() -> None:
    for seed in range(5):
        assert find_ends(find_contaminated(busy(N_BASELINE, 10 + seed), busy(N_INCIDENT, 20 + seed))) == (0, 0)
    # Few series, few bins, no values.
    assert not find_contaminated(contaminated(9)[:5], incident()[:5]).any()
    assert not find_contaminated(contaminated(5)[:, -10:], incident()).any()
    assert not find_contaminated(np.full((N_SERIES, N_BASELINE), np.nan), incident()).any()
    assert not find_contaminated(contaminated(9), np.empty((N_SERIES, 0))).any()


def test_an_incident_in_the_middle_of_a_baseline_or_too_long_a_one_stays() -> None:
    codes = np.zeros(100, np.int8)
    codes[40:60] = LIKE_INCIDENT
    assert find_ends(codes) == (0, 0)
    codes[:] = 0
    codes[70:] = LIKE_INCIDENT
    assert find_ends(codes) == (0, 0)
    # Single normal bins do not end a run.
    codes[:] = 0
    codes[[0, 1, 3, 99]] = LIKE_NOTHING
    assert find_ends(codes) == (4, 1)


def test_moments_like_the_incident_are_left_out_of_short_baselines_only() -> None:
    codes = np.zeros(100, np.int8)
    codes[[10, 50, 51, 99]] = LIKE_INCIDENT
    codes[30] = LIKE_NOTHING
    assert np.flatnonzero(find_moments(codes, 16)).tolist() == [10, 50, 51, 99]
    # For a shorter incident a run of two is too long: it may be an earlier one.
    assert np.flatnonzero(find_moments(codes, 13)).tolist() == [10, 99]
    # A long baseline shows itself how rare they are, and many of them are how the host is.
    assert not find_moments(codes, 12).any()
    codes[::5] = LIKE_INCIDENT
    assert not find_moments(codes, 60).any()
    assert not find_moments(np.zeros(0, np.int8), 60).any()


def pair_of(baseline: FloatArray) -> StatPair:
    fields = ("r_per_s", "w_per_s", "rkb_per_s")
    keys = [(f"sd{number}", field) for field in fields for number in range(N_SERIES // 3)]
    stat = stat_of("iostat_linux")
    begin = START.timestamp()
    sides = [
        make_side(stat, dict(zip(keys, values, strict=True)), start)
        for values, start in ((baseline, begin), (incident(), begin + 1000))
    ]
    return StatPair({key: field_of("iostat_linux", key) for key in fields}, sides[0], sides[1])


def window(start_s: float, length_s: float) -> Window:
    start = START + timedelta(seconds=start_s)
    return Window(start, start + timedelta(seconds=length_s))


@pytest.mark.parametrize("n", [0, 9])
def test_the_end_of_a_hosts_baseline_is_left_out_and_told(n: int) -> None:
    whole = (window(-1, N_BASELINE),)
    checked = check_baseline(whole, window(999, N_INCIDENT), [pair_of(contaminated(n))])
    if not n:
        assert (checked.windows, checked.notes) == (whole, ())
        return
    [note] = checked.notes
    assert note.startswith("The last ")
    assert note.endswith(" s of the baseline already show the incident: left out.")
    [kept] = checked.windows
    assert kept.start == whole[0].start
    assert n - 5 <= (whole[0].end - kept.end).total_seconds() <= n + 5


def table(values: FloatArray, start: float) -> LongTable:
    n = values.shape[1]
    names = [f"m{number}" for number in range(N_SERIES)]
    return LongTable(names, np.repeat(np.arange(N_SERIES), n), np.tile(start + np.arange(n, dtype=float), N_SERIES), values.ravel())


def test_files_rank_a_contaminated_baseline_as_a_clean_one() -> None:
    clean, dirty = (
        [item.metric for item in compare_tables(table(contaminated(n), 0), table(incident(), 1000)) if item.verdict == "unusual"][
            :4
        ]
        for n in (0, 9)
    )
    assert set(clean) == set(dirty) == {"m0", "m1", "m2", "m3"}


def test_moments_of_the_incident_in_a_short_baseline_hardly_weaken_what_changed() -> None:
    clean = busy(90, 1)
    dirty = clean.copy()
    dirty[:, [20, 44, 45, 71]] = incident()[:, :4]
    # Without leaving them out the four are 20 to 30 times weaker.
    strengths = [
        {item.metric: item.strength for item in compare_tables(table(baseline, 0), table(incident(), 1000))}
        for baseline in (clean, dirty)
    ]
    assert all(strengths[1][name] > 0.7 * strengths[0][name] for name in ("m0", "m1", "m2", "m3"))
