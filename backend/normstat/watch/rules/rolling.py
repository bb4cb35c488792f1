"""Functions of a column over the time before each report: its mean, the share in which a condition held, the previous report.

All look back from a report over (time - span, time]. Times need not be evenly spaced. The reports may be those of many hosts, one
after the other: most rules are a few hundred numbers of a host, for which calling numpy takes longer than its arithmetic.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray, IntArray

# A report covers the time since the one before. After a silence longer than this many usual intervals the value is unknown.
MAX_DISTANCES: Final = 3.0
# Further than any span looks back.
APART_S: Final = 200_000.0


class Timeline:
    """The reports of hosts, one host after the other; nothing looks back beyond the first report of its own host.

    Shape: times_s (n_reports,), ascending for each host; bounds (n_hosts + 1,), where the reports of each begin and end
    """

    def __init__(self, times_s: FloatArray, bounds: Sequence[int] | None = None) -> None:
        self.times_s = times_s
        self.bounds = [0, len(times_s)] if bounds is None else list(bounds)
        self._spans: dict[float, tuple[IntArray, np.ndarray]] = {}

    @classmethod
    def of_hosts(cls, times_s: Sequence[FloatArray]) -> "Timeline":
        """Return the reports of several hosts."""
        return cls(np.concatenate(times_s), np.cumsum([0, *map(len, times_s)]).tolist())

    def __len__(self) -> int:
        return len(self.times_s)

    @property
    def hosts(self) -> list[slice]:
        """The reports of each host."""
        return [slice(start, end) for start, end in pairwise(self.bounds)]

    @cached_property
    def firsts(self) -> IntArray:
        """The first report of each host that has any. Shape: (n,)"""
        return np.array([own.start for own in self.hosts if own.stop > own.start], dtype=np.int64)

    @cached_property
    def after_gap(self) -> np.ndarray:
        """Which reports follow a gap: the first one of a host does. Shape: (n_reports,)"""
        result = np.diff(self.times_s, prepend=0.0) > MAX_DISTANCES * self._distances
        result[self.firsts] = True
        return result

    def find_span(self, span_s: float) -> tuple[IntArray, np.ndarray]:
        """Return the first report of the span of each report, and whether reports cover all of it.

        Shape: -> (n_reports,), (n_reports,)
        """
        if span_s not in self._spans:
            self._spans[span_s] = self._find_span(span_s)
        return self._spans[span_s]

    @cached_property
    def _distances(self) -> FloatArray:
        """The usual distance of its host's reports. Shape: (n_reports,)"""
        distances: FloatArray = np.array([usual_distance(self.times_s[own]) for own in self.hosts])
        return np.repeat(distances, np.diff(self.bounds))

    @cached_property
    def _apart_s(self) -> FloatArray:
        """The times, each host's so far after those of the host before that no span reaches them. Shape: (n_reports,)"""
        lengths = np.diff(self.bounds)
        own_s = self.times_s - np.repeat(self.times_s[self.firsts], lengths[lengths > 0])
        longest_s = float(own_s.max(initial=0.0))
        shifts: FloatArray = np.arange(len(lengths)) * np.ceil(longest_s + APART_S)
        apart_s: FloatArray = own_s + np.repeat(shifts, lengths)
        return apart_s

    def _find_span(self, span_s: float) -> tuple[IntArray, np.ndarray]:
        apart_s = self._apart_s
        start = np.searchsorted(apart_s, apart_s - span_s, side="right").astype(np.int64)
        # The run of reports without a gap must reach back over the whole span, the first one covering its own distance.
        begin = np.maximum.accumulate(np.where(self.after_gap, np.arange(len(self)), 0))
        covered_from = self.times_s[begin] - self._distances
        return np.maximum(start, begin), covered_from <= self.times_s - span_s + 1e-6


def mean_of_span(reports: Timeline, values: FloatArray, span_s: float) -> FloatArray:
    """Return the mean of the known values in a span. Missing: NaN where the span is not covered, or has none.

    Shape: values (n_reports, n) -> (n_reports, n)
    """
    start, is_covered = reports.find_span(span_s)
    is_missing = np.isnan(values)
    n_reports = (np.arange(len(reports)) - start + 1)[:, None]
    if not is_missing.any():
        with np.errstate(all="ignore"):
            return np.where(is_covered[:, None], _sums(reports, values, start) / n_reports, np.nan)
    total = _sums(reports, np.where(is_missing, 0.0, values), start)
    n_known = n_reports - _totals(is_missing, start)
    with np.errstate(all="ignore"):
        return np.where(is_covered[:, None] & (n_known > 0), total / n_known, np.nan)


def all_of_span(reports: Timeline, holds: FloatArray, span_s: float) -> FloatArray:
    """Return whether a condition held in every report of a span: 1.0 or 0.0. Missing: NaN where that is not known."""
    start, is_covered = reports.find_span(span_s)
    # One report without the condition is enough to know.
    has_false, has_other = _has(holds == 0, start), _has(holds != 1, start)
    return np.where(has_false, 0.0, np.where(is_covered[:, None] & ~has_other, 1.0, np.nan))


def starts_in_span(reports: Timeline, holds: FloatArray, span_s: float) -> FloatArray:
    """Return how many times a condition began to hold within a span. Missing: NaN where the span is not covered.

    A report in which it is unknown neither begins nor ends anything.
    """
    start, is_covered = reports.find_span(span_s)
    place = np.where(np.isnan(holds), 0, np.arange(len(reports))[:, None])
    # Before its first known value a host has none.
    place[reports.firsts] = reports.firsts[:, None]
    place = np.maximum.accumulate(place, axis=0)
    last_known = np.take_along_axis(holds, place, axis=0)
    begins = np.zeros(holds.shape, dtype=bool)
    begins[1:] = (holds[1:] == 1) & (last_known[:-1] == 0)
    begins[reports.firsts] = False
    return np.where(is_covered[:, None], _totals(begins, start), np.nan)


def previous_of(reports: Timeline, values: FloatArray) -> FloatArray:
    """Return the values of the report before. Missing: NaN at the first one, and after a gap."""
    result = np.full(values.shape, np.nan)
    result[1:] = values[:-1]
    result[reports.after_gap] = np.nan
    return result


def usual_distance(times_s: FloatArray) -> float:
    """Return the median distance of reports in seconds. Missing: 0.0 with fewer than two."""
    if len(times_s) < 2:
        return 0.0
    # np.median looks for NaN first, which takes longer than all else for a few hundred reports.
    distances = np.sort(np.diff(times_s))
    middle = len(distances) // 2
    return float(distances[middle] if len(distances) % 2 else (distances[middle - 1] + distances[middle]) / 2)


def _has(holds: np.ndarray, start: IntArray) -> np.ndarray:
    """Return whether a condition held in any report of each report's span. Shape: (n_reports, n), (n_reports,) -> (n_reports, n)"""
    last = np.maximum.accumulate(np.where(holds, np.arange(len(holds))[:, None], -1), axis=0)
    found: np.ndarray = last >= start[:, None]
    return found


def _totals(holds: np.ndarray, start: IntArray) -> IntArray:
    """Return in how many reports of each report's span a condition held. Shape: (n_reports, n), (n_reports,) -> (n_reports, n)"""
    total = np.cumsum(holds, axis=0, dtype=np.int64)
    found: IntArray = total - np.where((start > 0)[:, None], total[start - 1], 0)
    return found


def _sums(reports: Timeline, values: FloatArray, start: IntArray) -> FloatArray:
    """Return the sum of each report's span. Shape: (n_reports, n), (n_reports,) -> (n_reports, n)"""
    total = np.empty(values.shape)
    is_first = np.zeros(len(total), dtype=bool)
    is_first[reports.firsts] = True
    # Each host apart: the digits of small values would be lost after a host with huge ones.
    for own in reports.hosts:
        np.cumsum(values[own], axis=0, out=total[own])
    spans: FloatArray = total - np.where(is_first[start][:, None], 0.0, total[start - 1])
    return spans
