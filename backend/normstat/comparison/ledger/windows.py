"""Amounts of many things in the windows of a baseline and in an incident, and their normal range."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray, IntArray

# The windows are as long as the incident, but no longer than this part of the baseline, so that there are enough of them to know
# what is normal.
MIN_WINDOWS: Final = 8
# More windows add no information.
MAX_WINDOWS: Final = 64
# One in this many windows may be an outlier at either end: a build, a backup, an unnoticed incident.
WINDOWS_PER_OUTLIER: Final = 8
# What a normal window reaches beyond the range of the others.
NOISE_QUANTILE: Final = 0.9
# A window with fewer of the reports that a window has is left out.
MIN_REPORTS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Amounts:
    """Means of some things. Shape: windows (n, n_windows), incident (n,). Nothing is missing: 0 where it was absent"""

    windows: FloatArray
    incident: FloatArray

    @property
    def baseline(self) -> FloatArray:
        """Mean of the baseline. Shape: (n,)"""
        return np.asarray(self.windows.mean(axis=1), np.float64)

    def times(self, factor: float) -> "Amounts":
        """Return the amounts in another unit."""
        return Amounts(factor * self.windows, factor * self.incident)

    def normal_range(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest mean of the windows, but for the outermost ones. Shape: (n,) each"""
        ordered = np.sort(self.windows, axis=1)
        n_left_out = _n_left_out(ordered.shape[1])
        return ordered[:, n_left_out], ordered[:, ordered.shape[1] - 1 - n_left_out]

    def outside(self) -> FloatArray:
        """Return the signed distance of the incident from the normal range, 0 within it. Shape: (n,)"""
        low, high = self.normal_range()
        return np.maximum(self.incident - high, 0.0) - np.maximum(low - self.incident, 0.0)

    def noise(self) -> float:
        """Return how far the farthest thing of a normal window is outside the range of the other windows."""
        if not len(self.windows):
            return 0.0
        return float(np.quantile(self._outside_of_others().max(axis=0), NOISE_QUANTILE))

    def _outside_of_others(self) -> FloatArray:
        """Return how far each window is outside the range of the others. Shape: (n, n_windows)"""
        windows, n = self.windows, self.windows.shape[1]
        ordered = np.sort(windows, axis=1)
        at = min(_n_left_out(n - 1), n - 2)
        # Without the window itself the next one takes its place.
        low = np.where(windows <= ordered[:, [at]], ordered[:, [at + 1]], ordered[:, [at]])
        high = np.where(windows >= ordered[:, [n - 1 - at]], ordered[:, [n - 2 - at]], ordered[:, [n - 1 - at]])
        return np.asarray(np.maximum(np.maximum(windows - high, low - windows), 0.0), np.float64)


def _n_left_out(n_windows: int) -> int:
    return n_windows // WINDOWS_PER_OUTLIER


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of time of equal length, seconds since the epoch. Shape: starts (n,)"""

    starts: FloatArray
    length_s: float

    def place(self, times_s: FloatArray) -> IntArray:
        """Return the span of each report; a report covers the time before it. Missing: -1. Shape: (n_reports,)"""
        at = np.searchsorted(self.starts, times_s, side="left") - 1
        is_in = (at >= 0) & (times_s <= self.starts[np.maximum(at, 0)] + self.length_s) if len(self.starts) else at >= 0
        return np.where(is_in, at, -1).astype(np.int64)

    def last_reports(self, times_s: FloatArray) -> FloatArray:
        """Return when the last report of each span was. Missing: NaN in a span without one. Shape: (n,)"""
        places = self.place(times_s)
        last = np.full(len(self.starts), -np.inf)
        np.maximum.at(last, places[places >= 0], times_s[places >= 0])
        return np.where(np.isfinite(last), last, np.nan)

    def counts(self, times_s: FloatArray) -> IntArray:
        """Return the number of reports of each span. Shape: (n,)"""
        places = self.place(times_s)
        return np.bincount(places[places >= 0], minlength=len(self.starts)).astype(np.int64)


def cut(windows: Sequence[tuple[float, float]], incident_s: float, times_s: FloatArray, parts: int = 1) -> Spans:
    """Return spans of a baseline that are as long as the incident, or as one of its `parts`, with reports at `times_s`.

    Missing: no spans where a baseline has fewer than three
    """
    lengths = [end - start for start, end in windows]
    length_s = min(incident_s / parts, sum(lengths) / MIN_WINDOWS, max(lengths, default=0.0))
    starts = np.concatenate([np.empty(0), *(np.arange(start, end - 0.99 * length_s, length_s) for start, end in windows)])
    spans = Spans(np.sort(starts), length_s)
    counts = spans.counts(times_s)
    known = counts[counts > 0]
    is_whole = counts >= MIN_REPORTS * (np.median(known) if len(known) else np.inf)
    kept = spans.starts[is_whole & (counts > 0)]
    if len(kept) < 3:
        kept = kept[:0]
    if len(kept) > MAX_WINDOWS:
        kept = kept[np.linspace(0, len(kept) - 1, MAX_WINDOWS).round().astype(np.int64)]
    return Spans(kept, length_s)
