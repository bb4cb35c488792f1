"""How far minutes are from normal: values, missing ones, letters."""

import numpy as np

from normstat.fleet.judging import FleetSeries, judge, largest_by_host, level_of, to_lines, to_ribbons

NAN = np.nan


def series(means: list[list[float]], *, host: list[int], low: float = 0, high: float = 6, scale: float = 2) -> FleetSeries:
    values = np.array(means, np.float32)
    n = len(values)
    same = np.ones(n)
    return FleetSeries(
        np.array(host),
        values,
        np.where(np.isnan(values), 0, 60).astype(np.int64),
        low * same,
        high * same,
        scale * same,
        scale * same,
    )


def test_inside_the_band_is_normal_and_outside_counts_in_change_scales() -> None:
    judged = judge(series([[3, 6, 10, -4]], host=[0], low=0, high=6))
    assert judged.minute_ratio.tolist() == [[0, 0, 2, 2]]


def test_recent_minutes_count_by_their_rows_and_missing_ones_do_not() -> None:
    own = series([[100, NAN, 8, 8, NAN, 16]], host=[0])
    own.n_rows[0] = [60, 0, 60, 60, 0, 30]
    judged = judge(own)
    assert judged.recent.tolist() == [(8 * 60 + 8 * 60 + 16 * 30) / 150]
    assert judged.recent_ratio.tolist() == [(judged.recent[0] - 6) / 2]


def test_without_samples_or_without_a_normal_there_is_no_ratio() -> None:
    judged = judge(series([[NAN, NAN], [1, 2]], host=[0, 1], low=NAN, high=NAN))
    assert np.isnan(judged.recent_ratio).all()
    assert np.isnan(judged.minute_ratio).all()
    assert judged.recent.tolist()[1] == 1.5


def test_a_ribbon_shows_the_worst_series_and_why_a_minute_has_no_level() -> None:
    own = series([[0, 7, NAN, NAN, 50], [8.5, NAN, NAN, NAN, 0]], host=[1, 1])
    ratios = largest_by_host(judge(own).minute_ratio, own.host, 3)
    has_data = np.array([[True] * 5, [True, True, True, False, True], [False] * 5])
    is_read = np.array([True, True, True, True, False])
    assert to_ribbons(ratios, has_data, is_read) == ["????.", "10?-.", "----."]


def test_levels() -> None:
    assert level_of(np.array([0, 0.99, 1, 2.9, 3, 9.9, 10, 1e9])).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_line_has_a_letter_for_each_minute() -> None:
    assert to_lines(np.array([[0, 50, 100, NAN, 200]]), np.array([100.0])) == ["0Uz-z"]
    assert to_lines(np.array([[0.0, NAN]]), np.array([0.0])) == ["0-"]
