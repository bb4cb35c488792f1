"""The points of a line: real samples only, extremes never lost, gaps never joined."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.codecs.rollup_codec import gather
from normstat.query.envelope import GapFinder, SeriesEnvelope, choose_m4

SECOND = 1_000_000


def seconds(*values: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.array(values) * SECOND).astype(np.int64)


def no_gaps(n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.zeros(n, dtype=np.bool_)


def test_m4_keeps_first_lowest_highest_and_last_of_each_column() -> None:
    column = np.array([0, 0, 0, 0, 0, 0, 1, 1, 3])
    values = np.array([5.0, 9.0, 6.0, 1.0, 1.0, 7.0, 2.0, 2.0, 4.0])
    assert choose_m4(column, values).tolist() == [0, 1, 3, 5, 6, 7, 8]


samples = st.lists(st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6)), min_size=1, max_size=400)


@given(samples, st.integers(1, 20), st.lists(st.integers(0, 400), max_size=5))
def test_an_envelope_has_every_extreme_and_nothing_else_however_the_pages_are_cut(
    rows: list[tuple[int, float]], n_columns: int, cuts: list[int]
) -> None:
    times = np.cumsum([distance for distance, _ in rows]).astype(np.int64) * SECOND
    values = np.array([value for _, value in rows])
    column_us = -(-int(times[-1] + 1) // n_columns)
    trace = SeriesEnvelope(0, column_us, n_columns)
    edges = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        trace.add(times[start:end], values[start:end], no_gaps(end - start))
    trace.thin()
    points_at, points, n_points = trace.points()

    assert trace.n_raw == len(rows)
    assert n_points == len(points) <= 4 * n_columns
    real = set(zip((times // 1000).tolist(), values.tolist(), strict=True))
    assert set(zip(points_at, points, strict=True)) <= real
    for column in np.unique(times // column_us):
        inside = values[times // column_us == column]
        drawn = [value for at, value in zip(points_at, points, strict=True) if at * 1000 // column_us == column]
        assert (drawn[0], min(drawn), max(drawn), drawn[-1]) == (inside[0], inside.min(), inside.max(), inside[-1])


@given(samples, st.integers(1, 20), st.integers(0, 400), st.sampled_from([10, 60]))
def test_an_envelope_of_buckets_has_every_extreme_of_the_samples(
    rows: list[tuple[int, float]], n_columns: int, n_first: int, bucket_s: int
) -> None:
    """The first samples come as buckets, the others as they are, as where rollups end."""
    times = np.cumsum([distance for distance, _ in rows]).astype(np.int64) * SECOND
    values = np.array([value for _, value in rows])
    bucket_us = bucket_s * SECOND
    edge_us = int(times[min(n_first, len(rows) - 1)]) // bucket_us * bucket_us
    column_us = -(-int(times[-1] + 1) // (n_columns * bucket_us)) * bucket_us
    trace = SeriesEnvelope(0, column_us, n_columns, bucket_us)
    n = int((times < edge_us).sum())
    trace.add_buckets(gather(np.full(n, 7), times[:n] // bucket_us, values[:n], times[:n]), bucket_us)
    if n < len(rows):
        trace.add(times[n:], values[n:], GapFinder().find(times[n:]))
    trace.thin()
    points_ms, points, n_points = trace.points()

    assert trace.n_raw == len(rows)
    there = ~np.isnan(points)
    assert n_points == there.sum() <= 4 * n_columns
    assert (np.diff(points_ms) >= 0).all()
    assert np.isin(points[there], values).all()
    column, drawn_in = times // column_us, points_ms[there] * 1000 // column_us
    assert np.array_equal(np.unique(column), np.unique(drawn_in))
    for number in np.unique(column):
        inside, drawn = values[column == number], points[there][drawn_in == number]
        assert (drawn[0], drawn.min(), drawn.max(), drawn[-1]) == (inside[0], inside.min(), inside.max(), inside[-1])


@pytest.mark.parametrize("column_minutes", [1, 3])
def test_missing_minutes_are_a_gap_where_more_samples_were_to_be_expected(column_minutes: int) -> None:
    minutes = np.array([*range(30), *range(32, 60)])
    for n_each, n_gaps in ((1, 0), (60, 1)):
        trace = SeriesEnvelope(0, column_minutes * 60 * SECOND, 60, 60 * SECOND)
        own = np.repeat(minutes, n_each)
        trace.add_buckets(gather(np.zeros(len(own), np.int64), own, np.ones(len(own)), own * 60 * SECOND), 60 * SECOND)
        trace.thin()
        assert np.isnan(trace.points()[1]).sum() == n_gaps


def test_samples_far_from_the_last_bucket_come_after_a_gap() -> None:
    trace = SeriesEnvelope(0, 60 * SECOND, 60, 60 * SECOND)
    minutes = np.repeat(np.arange(5), 60)
    trace.add_buckets(gather(np.zeros(300, np.int64), minutes, np.ones(300), np.arange(300) * SECOND), 60 * SECOND)
    finder = GapFinder()
    finder.skip_to(300 * SECOND - 1000)
    late = seconds(*range(700, 800))
    trace.add(late, np.ones(100), finder.find(late))
    assert np.isnan(trace.points()[1]).sum() == 1


@pytest.mark.parametrize(
    ("times", "gaps"),
    [
        (seconds(*range(20), *range(24, 40)), [20]),
        # Three intervals are not yet one; two samples of one instant say nothing of the interval.
        (seconds(*range(20), *range(22, 40)), []),
        (np.repeat(seconds(*range(30)), 2), []),
        (seconds(5), []),
    ],
)
def test_a_hole_in_the_samples_is_a_gap(times: np.ndarray, gaps: list[int]) -> None:
    assert np.flatnonzero(GapFinder().find(times)).tolist() == gaps


def test_a_new_interval_is_no_row_of_gaps() -> None:
    slow = 1000 + 10 * np.arange(200)
    after_gap = GapFinder().find(seconds(*range(1000), *slow))
    # Which distance is usual is known for blocks of 64, so a few samples at the change may stand alone.
    assert not after_gap[:1000].any()
    assert not after_gap[1100:].any()


def test_a_gap_between_two_pages_is_found() -> None:
    finder = GapFinder()
    assert not finder.find(seconds(*range(100))).any()
    assert finder.find(seconds(*range(200, 300))).tolist() == [True, *[False] * 99]


def test_a_gap_is_a_point_without_a_value_between_its_ends() -> None:
    times = seconds(*range(10), *range(30, 40))
    trace = SeriesEnvelope(0, SECOND, 100)
    trace.add(times, np.arange(20.0), GapFinder().find(times))
    points_at, points, n_points = trace.points()
    assert n_points == 20
    assert np.isnan(points[10])
    assert points_at[9] < points_at[10] < points_at[11]
    assert np.isnan(points).sum() == 1


def test_a_gap_that_is_narrower_than_a_column_is_not_drawn_in_an_envelope() -> None:
    times = seconds(*range(100), *range(110, 1000))
    gaps = GapFinder().find(times)
    for column_s, n_gaps in ((50, 0), (5, 1)):
        trace = SeriesEnvelope(0, column_s * SECOND, 1000 // column_s)
        trace.add(times, np.arange(len(times), dtype=np.float64), gaps)
        trace.thin()
        assert np.isnan(trace.points()[1]).sum() == n_gaps


def test_a_missing_value_breaks_the_line_and_is_never_a_number() -> None:
    times = seconds(*range(6))
    trace = SeriesEnvelope(0, SECOND, 10)
    trace.add(times, np.array([1.0, np.nan, np.nan, 4.0, 5.0, np.nan]), no_gaps(6))
    assert np.array_equal(trace.points()[1], [1.0, np.nan, 4.0, 5.0], equal_nan=True)
    assert trace.n_raw == 3
