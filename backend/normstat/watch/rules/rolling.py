"""Functions of a column over the time before each report: its mean, the share in which a condition held, the previous report.

All look back from a report over (time - span, time]. Times need not be evenly spaced.
"""

from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray, IntArray

# A report covers the time since the one before. After a silence longer than this many usual intervals the value is unknown.
MAX_DISTANCES: Final = 3.0


def mean_of_span(times_s: FloatArray, values: FloatArray, span_s: float) -> FloatArray:
    """Return the mean of the known values in a span. Missing: NaN where the span is not covered, or has none.

    Shape: times_s (n_reports,), values (n_reports, n) -> (n_reports, n)
    """
    start, is_covered = _find_span(times_s, span_s)
    is_known = ~np.isnan(values)
    total, count = _sums(np.where(is_known, values, 0.0), start), _sums(is_known.astype(float), start)
    with np.errstate(all="ignore"):
        return np.where(is_covered[:, None] & (count > 0), total / count, np.nan)


def all_of_span(times_s: FloatArray, holds: FloatArray, span_s: float) -> FloatArray:
    """Return whether a condition held in every report of a span: 1.0 or 0.0. Missing: NaN where that is not known."""
    start, is_covered = _find_span(times_s, span_s)
    n_false, n_true = _sums((holds == 0).astype(float), start), _sums((holds == 1).astype(float), start)
    n_reports = (np.arange(len(times_s)) - start + 1)[:, None]
    is_true = is_covered[:, None] & (n_true == n_reports)
    # One report without the condition is enough to know.
    return np.where(n_false > 0, 0.0, np.where(is_true, 1.0, np.nan))


def starts_in_span(times_s: FloatArray, holds: FloatArray, span_s: float) -> FloatArray:
    """Return how many times a condition began to hold within a span. Missing: NaN where the span is not covered.

    A report in which it is unknown neither begins nor ends anything.
    """
    start, is_covered = _find_span(times_s, span_s)
    is_known = ~np.isnan(holds)
    place = np.maximum.accumulate(np.where(is_known, np.arange(len(times_s))[:, None], 0), axis=0)
    last_known = np.take_along_axis(holds, place, axis=0)
    begins = np.zeros(holds.shape)
    begins[1:] = (holds[1:] == 1) & (last_known[:-1] == 0)
    return np.where(is_covered[:, None], _sums(begins, start), np.nan)


def previous_of(times_s: FloatArray, values: FloatArray) -> FloatArray:
    """Return the values of the report before. Missing: NaN at the first one, and after a gap."""
    result = np.full(values.shape, np.nan)
    result[1:] = values[:-1]
    result[_after_gap(times_s)] = np.nan
    return result


def usual_distance(times_s: FloatArray) -> float:
    """Return the median distance of reports in seconds. Missing: 0.0 with fewer than two."""
    if len(times_s) < 2:
        return 0.0
    # np.median looks for NaN first, which takes longer than all else for a few hundred reports.
    distances = np.sort(np.diff(times_s))
    middle = len(distances) // 2
    return float(distances[middle] if len(distances) % 2 else (distances[middle - 1] + distances[middle]) / 2)


def _after_gap(times_s: FloatArray) -> np.ndarray:
    """Return which reports follow a gap: the first one does."""
    if len(times_s) == 0:
        return np.zeros(0, dtype=bool)
    return np.concatenate([[True], np.diff(times_s) > MAX_DISTANCES * usual_distance(times_s)])


def _find_span(times_s: FloatArray, span_s: float) -> tuple[IntArray, np.ndarray]:
    """Return the first report of the span of each report, and whether reports cover all of it.

    Shape: -> (n_reports,), (n_reports,)
    """
    start = np.searchsorted(times_s, times_s - span_s, side="right").astype(np.int64)
    # The run of reports without a gap must reach back over the whole span, the first one covering its own distance.
    begin = np.maximum.accumulate(np.where(_after_gap(times_s), np.arange(len(times_s)), 0)) if len(times_s) else start
    covered_from = times_s[begin] - usual_distance(times_s) if len(times_s) else times_s
    return np.maximum(start, begin), covered_from <= times_s - span_s + 1e-6


def _sums(values: FloatArray, start: IntArray) -> FloatArray:
    """Return the sum of each report's span. Shape: (n_reports, n), (n_reports,) -> (n_reports, n)"""
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    spans: FloatArray = total[1:] - total[start]
    return spans
