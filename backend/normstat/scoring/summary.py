"""Summaries of a window of many series: quantile functions, ends, movement. Pure arithmetic over all series at once.

Values are distances from each series' level (its median in the baseline), so that four-byte floats are exact enough for counts of
bytes as well as for hundredths of a percentage. A comparison looks only at summaries: samples are read once, and a baseline is
stored as the summaries of its windows.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.runtime.arrays import distinct_values
from normstat.scoring.rhythm import rhythm_of

# Evenly spaced in probability, lowest and highest value included.
N_QUANTILES: Final = 33
N_STEP_QUANTILES: Final = 17
PROBABILITIES: Final = np.linspace(0.0, 1.0, N_QUANTILES)
STEP_PROBABILITIES: Final = np.linspace(0.0, 1.0, N_STEP_QUANTILES)
MIDDLE: Final = N_QUANTILES // 2
# The share of the samples in each end of the distribution.
END_SHARE: Final = 0.02
# A series with fewer of its samples shows no period.
MIN_PRESENT: Final = 0.5
# A window has parts: a change that begins in its middle is a full shift of the later parts.
N_PARTS: Final = 4

# Relative error of a distance in four bytes.
RESOLUTION: Final = 1e-7
# The largest power of ten that a float holds exactly.
MAX_EXACT: Final = 22

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Summary:
    """One window of many series. Missing: NaN where a series has no sample in it; distances from the series' level.

    Shape: all (n_series,), but `quantiles` (n_series, N_QUANTILES) and `step_quantiles` (n_series, N_STEP_QUANTILES), `parts`
    (n_series, N_PARTS)
    """

    n: IntArray
    n_reports: IntArray
    quantiles: Float32Array
    # Means of the largest and of the smallest 2 % of the samples, one at least.
    top: Float32Array
    bottom: Float32Array
    mean: Float32Array
    # The root of the mean square of the distances from the level.
    deviation: Float32Array
    # Distances of neighbours, and the share of equal neighbours.
    step_quantiles: Float32Array
    still: Float32Array
    # The share of samples that are not at the level.
    away: Float32Array
    # Medians of the parts of the window, in their order.
    parts: Float32Array
    # How sure it is that the samples repeat themselves with a period: see `rhythm_of`. Missing: NaN also in a short window.
    rhythm: Float32Array

    def __len__(self) -> int:
        return len(self.n)

    @property
    def median(self) -> Float32Array:
        """The middle of the distribution."""
        return self.quantiles[:, MIDDLE]

    @property
    def range(self) -> tuple[Float32Array, Float32Array]:
        """The lowest and the highest values."""
        return self.quantiles[:, 0], self.quantiles[:, -1]

    @property
    def missing(self) -> Float32Array:
        """Share of the reports without a value of the series. Missing: NaN without reports."""
        return np.asarray(1 - self.n / np.where(self.n_reports > 0, self.n_reports, np.nan), np.float32)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> "Summary":
        """Return the summary of some of the series."""
        return Summary(*(getattr(self, field.name)[rows] for field in fields(self)))


def are_disjoint(
    lowest: npt.ArrayLike, highest: npt.ArrayLike, other_lowest: npt.ArrayLike, other_highest: npt.ArrayLike
) -> BoolArray:
    """Return whether two ranges of values have nothing in common; missing ones (NaN) do not count."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.greater(lowest, other_highest) | np.less(highest, other_lowest), np.bool_)


def summarise(
    values: Float32Array,
    n_reports: int | None = None,
    *,
    rhythm_values: Float32Array | None = None,
    rhythm_piece: int | None = None,
) -> Summary:
    """Return the summary of a window.

    `rhythm_values`: samples of a longer time around the window, which show its rhythm; without any column the rhythm is left out;
    `rhythm_piece`: reports in the times whose rhythms it is compared with

    Shape: values (n_series, n_reports), distances from the level in the order of time. Missing: NaN.
    """
    width = values.shape[1]
    known = ~np.isnan(values)
    n = np.count_nonzero(known, axis=1).astype(np.int64)
    reports = np.full(len(values), width if n_reports is None else n_reports, np.int64)
    is_whole = bool((n == width).all())
    ordered = np.sort(values, axis=1)
    steps = np.diff(values if is_whole else _without_gaps(values, known), axis=1)
    np.abs(steps, out=steps)
    n_steps = np.maximum(n - 1, 0)
    still = np.count_nonzero(steps == 0, axis=1) / np.where(n_steps > 0, n_steps, np.nan)
    is_away = values != 0
    away = np.count_nonzero(is_away if is_whole else known & is_away, axis=1) / np.where(n > 0, n, np.nan)
    # A missing value adds nothing.
    present = values if is_whole else np.where(known, values, np.float32(0))
    with np.errstate(invalid="ignore"):
        mean = present.sum(axis=1, dtype=np.float64) / np.where(n > 0, n, np.nan)
        squares = present.astype(np.float64)
        np.square(squares, out=squares)
        deviation = np.sqrt(squares.sum(axis=1) / np.where(n > 0, n, np.nan))
    # Matrices of this size are slow to allocate: release each as soon as possible.
    del known, is_away, present, squares
    steps.sort(axis=1)
    quantiles = pick_quantiles(ordered, n, PROBABILITIES)
    return Summary(
        n=n,
        n_reports=reports,
        quantiles=quantiles,
        top=_end_mean(ordered, n, is_top=True),
        bottom=_end_mean(ordered, n, is_top=False),
        mean=mean.astype(np.float32),
        deviation=deviation.astype(np.float32),
        step_quantiles=pick_quantiles(steps, n_steps, STEP_PROBABILITIES),
        still=still.astype(np.float32),
        away=away.astype(np.float32),
        parts=_parts(values),
        rhythm=rhythm_of(
            values if rhythm_values is None else rhythm_values,
            n >= MIN_PRESENT * np.maximum(reports, width),
            quantiles[:, MIDDLE],
            middle_half(quantiles),
            rhythm_piece,
        ),
    )


def merge(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of all windows together, approximated from their quantiles.

    Ends are the outermost ends; parts and rhythm are lost.

    Raises: ValueError for no summaries
    """
    if not summaries:
        raise ValueError("nothing to merge")
    if len(summaries) == 1:
        return summaries[0]
    counts = np.stack([summary.n for summary in summaries], axis=1)
    steps = np.maximum(counts - 1, 0)
    n = counts.sum(axis=1)
    return Summary(
        n=n,
        n_reports=np.sum([summary.n_reports for summary in summaries], axis=0),
        quantiles=_merge_quantiles([summary.quantiles for summary in summaries], counts, PROBABILITIES),
        top=_extreme([summary.top for summary in summaries], np.fmax),
        bottom=_extreme([summary.bottom for summary in summaries], np.fmin),
        mean=_weighted([summary.mean for summary in summaries], counts),
        deviation=np.sqrt(_weighted([summary.deviation**2 for summary in summaries], counts)),
        step_quantiles=_merge_quantiles([summary.step_quantiles for summary in summaries], steps, STEP_PROBABILITIES),
        still=_weighted([summary.still for summary in summaries], steps),
        away=_weighted([summary.away for summary in summaries], counts),
        parts=np.full((len(counts), N_PARTS), np.nan, np.float32),
        rhythm=np.full(len(counts), np.nan, np.float32),
    )


def concatenate(summaries: Sequence[Summary]) -> Summary:
    """Return the same window of several sets of series as one set."""
    if len(summaries) == 1:
        return summaries[0]
    return Summary(*(np.concatenate([getattr(item, field.name) for item in summaries]) for field in fields(Summary)))


def pick_quantiles(ordered: Float32Array, n: IntArray, probabilities: FloatArray) -> Float32Array:
    """Return quantiles of rows sorted ascending, missing values last. Missing: NaN for a row without samples.

    Shape: ordered (n_rows, width), n (n_rows,) samples in each -> (n_rows, n_probabilities)
    """
    if ordered.shape[1] == 0:
        return np.full((len(ordered), len(probabilities)), np.nan, np.float32)
    if len(n) and (n == n[0]).all() and n[0] > 0:
        # All rows have the same length: read only a few columns.
        places = probabilities * (int(n[0]) - 1)
        low = places.astype(np.intp)
        high = np.minimum(low + 1, int(n[0]) - 1)
        part = (places - low).astype(np.float32)
        return np.asarray(ordered[:, low] * (1 - part) + ordered[:, high] * part, np.float32)
    places = probabilities[None, :] * np.maximum(n - 1, 0)[:, None]
    low = places.astype(np.intp)
    high = np.minimum(low + 1, np.maximum(n - 1, 0)[:, None])
    part = (places - low).astype(np.float32)
    lower, upper = np.take_along_axis(ordered, low, axis=1), np.take_along_axis(ordered, high, axis=1)
    return np.asarray(lower * (1 - part) + upper * part, np.float32)


def count_at_end(n: IntArray) -> IntArray:
    """Return the number of samples in each end, of n."""
    return np.asarray(np.maximum(1, np.rint(END_SHARE * n).astype(np.int64)), np.int64)


def _end_mean(ordered: Float32Array, n: IntArray, *, is_top: bool) -> Float32Array:
    n_rows, width = ordered.shape
    result = np.full(n_rows, np.nan, np.float32)
    if width == 0:
        return result
    counts = count_at_end(n)
    # There are few different lengths: handle the rows of each at once.
    for length in distinct_values(n[n > 0]):
        rows = np.flatnonzero(n == length)
        many = int(counts[rows[0]])
        span = slice(int(length) - many, int(length)) if is_top else slice(0, many)
        chosen = ordered[:, span] if len(rows) == n_rows else ordered[rows, span]
        result[rows] = chosen.mean(axis=1)
    return result


def _without_gaps(values: Float32Array, known: npt.NDArray[np.bool_]) -> Float32Array:
    """Return the samples of each row without gaps, in their order, missing values last."""
    order = np.argsort(~known, axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1)


def middle_half(quantiles: Float32Array) -> Float32Array:
    """Return the width of the middle half of each distribution. Shape: (n_series, N_QUANTILES) -> (n_series,)"""
    quarter = MIDDLE // 2
    return np.asarray(quantiles[:, -1 - quarter] - quantiles[:, quarter], np.float32)


def _parts(values: Float32Array) -> Float32Array:
    n_rows, width = values.shape
    medians = np.full((n_rows, N_PARTS), np.nan, np.float32)
    # Every sample is in some part, also where there are few.
    bounds = np.linspace(0, width, N_PARTS + 1).astype(np.intp).tolist() if width >= N_PARTS else []
    for part, (begin, end) in enumerate(itertools.pairwise(bounds)):
        ordered = np.sort(values[:, begin:end], axis=1)
        n = (~np.isnan(ordered)).sum(axis=1)
        medians[:, part] = pick_quantiles(ordered, n, np.array([0.5]))[:, 0]
    return medians


def _merge_quantiles(functions: Sequence[Float32Array], counts: IntArray, probabilities: FloatArray) -> Float32Array:
    """Return the quantile functions of mixtures, weighted by samples."""
    n_points = functions[0].shape[1]
    points = np.concatenate(functions, axis=1)
    # The outermost points have half the weight of inner ones.
    shares = np.ones(n_points)
    shares[[0, -1]] = 0.5
    weights = (np.maximum(counts, 0)[:, :, None] * shares).reshape(points.shape)
    order = np.argsort(points, axis=1)
    points = np.take_along_axis(points, order, axis=1)
    weights = np.where(np.isnan(points), 0.0, np.take_along_axis(weights, order, axis=1))
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        reached = (np.cumsum(weights, axis=1) - 0.5 * weights) / total
    result = np.full((len(points), len(probabilities)), np.nan, np.float32)
    for row in np.flatnonzero(total[:, 0] > 0):
        has = weights[row] > 0
        result[row] = np.interp(probabilities, reached[row, has], points[row, has])
        result[row, 0], result[row, -1] = points[row, has][[0, -1]]
    return result


def _weighted(values: Sequence[Float32Array], counts: IntArray) -> Float32Array:
    stacked = np.stack(values, axis=1)
    weights = np.where(np.isnan(stacked), 0, counts)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(stacked * weights, axis=1) / np.where(weights.sum(axis=1) > 0, weights.sum(axis=1), np.nan)
    return np.asarray(mean, np.float32)


def _extreme(values: Sequence[Float32Array], pick: np.ufunc) -> Float32Array:
    return np.asarray(pick.reduce(np.stack(values), axis=0), np.float32)


def add_levels(distances: Float32Array, levels: FloatArray) -> FloatArray:
    """Return values from distances, without the digits that four bytes do not hold, so that zero is zero again."""
    wide = distances.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.ceil(np.log10(np.abs(wide) * RESOLUTION))
    exponent = np.clip(np.nan_to_num(exponent, neginf=-MAX_EXACT), -MAX_EXACT, MAX_EXACT)
    factor = 10.0 ** np.abs(exponent)
    values = wide + levels
    return np.asarray(np.where(exponent < 0, np.rint(values * factor) / factor, np.rint(values / factor) * factor), np.float64)
