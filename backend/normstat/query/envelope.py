"""The points of one graph line: every sample, or the first, lowest, highest and last sample of each pixel column (M4).

M4 of M4 results and further samples equals M4 of all of them, so a line is thinned while its pages arrive and memory stays bounded.
Every point is a real sample with its real time; missing samples make a gap, and the line is never joined across it.
"""

from typing import Final

import numpy as np

from normstat.codecs.rollup_codec import Buckets
from normstat.query.report_intervals import Intervals
from normstat.samples.sample_pages import BoolArray, Float64Array
from normstat.stats.records import Int64Array

# A distance this many times the typical one around it is a gap.
GAP_FACTOR: Final = 3
# The typical distance is a median over blocks of this many samples, so it follows a change of the interval (1 s by day, 10 s by
# night).
BLOCK: Final = 64
# The rest of a page counts as a block of its own from this size on.
SMALL_BLOCK: Final = 8
# In an envelope each column has up to four points.
POINTS_PER_COLUMN: Final = 4


class GapFinder:
    """Finds the samples of one instance that follow a gap, page by page.

    A distance is a gap when it is long for the instance, or for the reports that it could have been in: a process that runs for a
    second every minute has gaps in between. `intervals`: of these reports, where they are known.
    """

    def __init__(self, intervals: Intervals | None = None) -> None:
        self._intervals = intervals
        self._last_us: int | None = None
        self._usual_us: float | None = None

    def find(self, time_us: Int64Array) -> BoolArray:
        """Return True for each sample that follows a gap.

        Shape: time_us (n,) int64 ascending, later than all earlier calls -> (n,) bool
        """
        after_gap = np.zeros(len(time_us), dtype=np.bool_)
        known = time_us if self._last_us is None else np.concatenate([[self._last_us], time_us])
        self._last_us = int(time_us[-1])
        distances = np.diff(known)
        # Two streams of one stat may give two samples at one instant; they do not tell the interval.
        positions = np.flatnonzero(distances) + (len(time_us) - len(distances))
        distances = distances[distances > 0]
        if len(distances):
            usual = self.usual(distances)
            if self._intervals is not None:
                ends = time_us[positions]
                usual = np.minimum(usual, self._intervals.after(ends - distances))
            after_gap[positions] = distances > GAP_FACTOR * usual
        return after_gap

    def skip_to(self, time_us: int) -> None:
        """Continue after `time_us`; the samples up to there came from rollups."""
        self._last_us = time_us

    def usual(self, distances: Int64Array) -> Float64Array:
        """Return the typical distance around each of these distances, which follow those of earlier calls.

        Shape: distances (n,) int64 microseconds, positive -> (n,) float64
        """
        if self._usual_us is not None and distances.max() <= GAP_FACTOR * self._usual_us and distances.min() >= self._usual_us:
            return np.full(len(distances), self._usual_us)
        n_blocks = len(distances) // BLOCK
        usual = np.empty(len(distances))
        usual[: n_blocks * BLOCK] = np.repeat(np.median(distances[: n_blocks * BLOCK].reshape(n_blocks, BLOCK), axis=1), BLOCK)
        if n_blocks:
            self._usual_us = float(usual[n_blocks * BLOCK - 1])
        rest = distances[n_blocks * BLOCK :]
        if len(rest) >= SMALL_BLOCK or (len(rest) and self._usual_us is None):
            self._usual_us = float(np.median(rest))
        if len(rest):
            usual[n_blocks * BLOCK :] = self._usual_us
        return usual


class SeriesEnvelope:
    """The points of one series, thinned as they grow. `bucket_us`: the longest rollup bucket it may contain; `intervals`: of the
    reports that it could be in.
    """

    def __init__(
        self, start_us: int, column_us: int, n_columns: int, bucket_us: int = 0, intervals: Intervals | None = None
    ) -> None:
        self._intervals = intervals
        self._start_us = start_us
        self._column_us = column_us
        self._bucket_us = bucket_us
        self._last_us: int | None = None
        self._limit = POINTS_PER_COLUMN * n_columns
        self._times: list[Int64Array] = []
        self._values: list[Float64Array] = []
        self._after_gap: list[BoolArray] = []
        self._n_held = 0
        self.n_raw = 0
        self.total = 0.0
        self.is_thinned = False

    def add(self, time_us: Int64Array, values: Float64Array, after_gap: BoolArray) -> None:
        """Add the next samples, in order of time. Missing: NaN; the line breaks there."""
        is_there = ~np.isnan(values)
        if not is_there.all():
            breaks = after_gap.copy()
            breaks[1:] |= ~is_there[:-1]
            time_us, values, after_gap = time_us[is_there], values[is_there], breaks[is_there]
        self.n_raw += len(values)
        self.total += float(values.sum())
        self._hold(time_us, values, after_gap)

    def add_buckets(self, buckets: Buckets, bucket_us: int) -> None:
        """Add the next rollup buckets of this series, in order of time."""
        if not len(buckets):
            return
        start_us = buckets.bucket * bucket_us
        after_gap = np.zeros((len(buckets), POINTS_PER_COLUMN), np.bool_)
        after_gap[1:, 0] = find_missing(buckets.bucket, buckets.n)
        if self._intervals is not None:
            missing_us = (np.diff(buckets.bucket) - 1) * bucket_us
            after_gap[1:, 0] |= missing_us >= GAP_FACTOR * self._intervals.after(start_us[:-1])
        if self._last_us is not None:
            usual_us = bucket_us / buckets.n[0]
            if self._intervals is not None:
                usual_us = min(usual_us, float(self._intervals.after(np.array([self._last_us]))[0]))
            after_gap[0, 0] = start_us[0] - self._last_us > max(bucket_us, GAP_FACTOR * usual_us)
        places = np.array([0, bucket_us // 3, 2 * bucket_us // 3, bucket_us - 1000])
        values = np.stack([buckets.first, buckets.low, buckets.high, buckets.last], axis=1)
        self.n_raw += int(buckets.n.sum())
        self.total += float(buckets.total.sum())
        self._hold((start_us[:, None] + places).ravel(), values.ravel(), after_gap.ravel())

    def _hold(self, time_us: Int64Array, values: Float64Array, after_gap: BoolArray) -> None:
        if len(time_us):
            self._last_us = int(time_us[-1])
        self._n_held += len(values)
        self._times.append(time_us)
        self._values.append(values)
        self._after_gap.append(after_gap)
        # Twice the limit, so that each sample is processed only a few times, however many pages come.
        if self._n_held > 2 * self._limit:
            self.thin()

    @property
    def has_too_many(self) -> bool:
        """Return whether this series alone has more samples than its graph can show."""
        return self.is_thinned or self._n_held > self._limit

    def thin(self) -> None:
        """Keep the first, lowest, highest and last sample of each column."""
        time_us, values, after_gap = self._joined()
        kept = choose_m4((time_us - self._start_us) // self._column_us, values)
        self._times, self._values, self._after_gap = [time_us[kept]], [values[kept]], [after_gap[kept]]
        self._n_held = len(kept)
        self.is_thinned = True

    def points(self) -> tuple[Int64Array, Float64Array, int]:
        """Return times in ms, values with NaN at gaps, and the number of samples among them."""
        time_us, values, after_gap = self._joined()
        n_points = len(values)
        breaks = np.flatnonzero(after_gap)
        # There is no line to break before the first point.
        breaks = breaks[breaks > 0]
        if self.is_thinned:
            # A gap narrower than a column is invisible. Around missing buckets the distance is longer, by nearly two buckets.
            least_us = self._column_us - 2 * self._bucket_us
            breaks = breaks[time_us[breaks] - time_us[breaks - 1] > least_us]
        middles = (time_us[breaks - 1] + time_us[breaks]) // 2
        times_ms = np.insert(time_us, breaks, middles) // 1000
        return times_ms, np.insert(values, breaks, np.nan), n_points

    def _joined(self) -> tuple[Int64Array, Float64Array, BoolArray]:
        if not self._times:
            return np.empty(0, np.int64), np.empty(0), np.empty(0, np.bool_)
        return np.concatenate(self._times), np.concatenate(self._values), np.concatenate(self._after_gap)


def find_missing(bucket: Int64Array, n: Int64Array) -> BoolArray:
    """Return whether there is a gap between each bucket and the one before.

    Shape: bucket (n,) int64 ascending, n (n,) int64 samples per bucket -> (n - 1,) bool
    """
    steps = np.diff(bucket)
    most = np.maximum(n[1:], n[:-1])
    is_gap = (steps - 1) * most >= GAP_FACTOR
    # With at most one sample per bucket, only the distance of the buckets shows the typical interval.
    is_rare = most == 1
    if is_rare.any():
        is_gap[is_rare] = (steps > GAP_FACTOR * GapFinder().usual(steps))[is_rare]
    return is_gap


def choose_m4(column: Int64Array, values: Float64Array) -> Int64Array:
    """Return the positions of the first, lowest, highest and last sample of each column, ascending.

    Shape: column (n,) int64 ascending, values (n,) float64 without NaN -> (m,) int64, m <= 4 for each column
    Source: Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation, VLDB 2014
    """
    if len(values) == 0:
        return np.empty(0, np.int64)
    first = np.concatenate([[0], np.flatnonzero(np.diff(column)) + 1])
    last = np.concatenate([first[1:], [len(values)]]) - 1
    sizes = last - first + 1
    is_chosen = np.zeros(len(values), np.bool_)
    is_chosen[first] = is_chosen[last] = True
    for extreme in (np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)):
        positions = np.flatnonzero(values == np.repeat(extreme, sizes))
        is_chosen[positions[np.searchsorted(positions, first)]] = True
    return np.flatnonzero(is_chosen)
