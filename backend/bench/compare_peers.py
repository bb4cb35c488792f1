"""What others do about the same question, each written again in a few lines on the arrays of a case.

Each takes a Case and gives scores (n_metrics,), larger is more unusual, and which series it calls unusual (bool). A series that a
method cannot judge has the score -inf. Where a method only ranks, the limit is the one that its users take.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.compare_cases import Case
from bench.compare_host import FloatArray

BoolArray = npt.NDArray[np.bool_]
Ranking = tuple[FloatArray, BoolArray]
Method = Callable[[Case], Ranking]

MIDDLES: Final = (np.arange(32) + 0.5) / 32
# Two-sided, at a level of 1 %.
NORMAL_1_PERCENT: Final = 2.576
KOLMOGOROV_1_PERCENT: Final = 1.628


def ordered(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each row sorted, with NaN at the end, and how many numbers it has."""
    return np.sort(values, axis=-1), np.sum(~np.isnan(values), axis=-1)


def quantiles(values: FloatArray, counts: FloatArray, shares: FloatArray) -> FloatArray:
    """Quantiles of sorted rows. Shape: values (..., n), shares (k,) -> (..., k). Missing: NaN for an empty row."""
    places = np.maximum(counts[..., None] - 1, 0) * shares
    low = np.floor(places).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(counts[..., None] - 1, 0).astype(np.intp))
    left, right = np.take_along_axis(values, low, axis=-1), np.take_along_axis(values, high, axis=-1)
    return left + (right - left) * (places - low)


def quantiles_of(values: FloatArray, shares: FloatArray) -> FloatArray:
    return quantiles(*ordered(values), shares)


def judged(scores: FloatArray, limit: float, case: Case) -> Ranking:
    """Scores as they are ranked; a series that has no number on a side is not judged."""
    known = (~np.isnan(case.baseline)).any(axis=1) & (~np.isnan(case.incident)).any(axis=1)
    scores = np.where(known & ~np.isnan(scores), scores, -np.inf)
    return scores, scores > limit


def mean_of(values: FloatArray) -> FloatArray:
    counts = np.sum(~np.isnan(values), axis=1)
    return np.where(counts > 0, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


def most(values: FloatArray) -> FloatArray:
    highest: FloatArray = np.max(np.where(np.isnan(values), -np.inf, values), axis=1)
    return highest


def n_sigma(case: Case) -> Ranking:
    """The incident's largest distance from the mean, in standard deviations; a constant series has 1, as scalers do."""
    mean = mean_of(case.baseline)[:, None]
    deviation = np.sqrt(mean_of((case.baseline - mean) ** 2))
    return judged(most(np.abs(case.incident - mean)) / np.where(deviation > 0, deviation, 1.0), 3.0, case)


def baro_robust(case: Case) -> Ranking:
    """BARO's RobustScorer: the same with median and interquartile range."""
    low, middle, high = quantiles_of(case.baseline, np.array([0.25, 0.5, 0.75])).T
    spread = np.where(high > low, high - low, 1.0)
    return judged(most(np.abs(case.incident - middle[:, None])) / spread, 3.0, case)


def pmdiff(case: Case) -> Ranking:
    """Performance Co-Pilot's pmdiff: the ratio of both means, whichever is larger on top; shown from 2 on."""
    before, after = np.abs(mean_of(case.baseline)), np.abs(mean_of(case.incident))
    smaller, larger = np.minimum(before, after), np.maximum(before, after)
    # What was nothing, or is nothing now, stands above all ratios there.
    ratio = np.where(smaller > 0, larger / np.where(smaller > 0, smaller, 1.0), np.where(larger > 0, 1e6, 1.0))
    return judged(ratio, 2.0, case)


def netdata_volume(case: Case) -> Ranking:
    """Netdata's volume: change of the mean in parts of the baseline's, times the share of the incident on that side of it."""
    before, after = mean_of(case.baseline), mean_of(case.incident)
    counts = np.maximum(np.sum(~np.isnan(case.incident), axis=1), 1)
    above, below = (np.sum(side, axis=1) / counts for side in (case.incident > before[:, None], case.incident < before[:, None]))
    share = np.where(after > before, above, below)
    ratio = np.where(before != 0, np.abs(after - before) / np.where(before != 0, np.abs(before), 1.0), 1.0)
    return judged(np.where(after == before, 0.0, ratio * share), 0.5, case)


def kolmogorov(left: FloatArray, right: FloatArray) -> FloatArray:
    """The distance of both distribution functions times the root of the harmonic size. Shape: (k, n), (k, m) -> (k,)."""
    both = np.concatenate([left, right], axis=1)
    order = np.argsort(both, axis=1)
    values = np.take_along_axis(both, order, axis=1)
    n_left, n_right = (np.maximum(np.sum(~np.isnan(side), axis=1), 1) for side in (left, right))
    is_left = order < left.shape[1]
    known = ~np.isnan(values)
    from_left = np.cumsum(is_left & known, axis=1) / n_left[:, None]
    from_right = np.cumsum(~is_left & known, axis=1) / n_right[:, None]
    # Among equal values only the last one has counted all of them.
    is_last = np.ones(values.shape, dtype=bool)
    is_last[:, :-1] = values[:, 1:] != values[:, :-1]
    distance = np.max(np.where(is_last & known, np.abs(from_left - from_right), 0.0), axis=1)
    scaled: FloatArray = distance * np.sqrt(n_left * n_right / (n_left + n_right))
    return scaled


def plain_ks(case: Case) -> Ranking:
    """Kolmogorov and Smirnov's test of two samples, as if they were independent."""
    return judged(kolmogorov(case.baseline, case.incident), KOLMOGOROV_1_PERCENT, case)


def netdata_ks2(case: Case) -> Ranking:
    """Netdata's KS2: that test on the differences between neighbours."""
    return judged(
        kolmogorov(np.diff(case.baseline, axis=1), np.diff(case.incident, axis=1)),
        KOLMOGOROV_1_PERCENT,
        case,
    )


def mann_whitney(case: Case) -> Ranking:
    """Mann and Whitney's rank test: how many standard deviations the sum of ranks is off, ties taken care of."""
    both = np.concatenate([case.baseline, case.incident], axis=1)
    order = np.argsort(both, axis=1)
    values = np.take_along_axis(both, order, axis=1)
    n_times = both.shape[1]
    place = np.broadcast_to(np.arange(n_times), both.shape)
    changes = values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(np.pad(changes, ((0, 0), (1, 0)), constant_values=True), place, 0), axis=1)
    ends = np.where(np.pad(changes, ((0, 0), (0, 1)), constant_values=True), place, n_times - 1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = (first + last) / 2 + 1
    known = ~np.isnan(values)
    is_incident = (order >= case.baseline.shape[1]) & known
    m = is_incident.sum(axis=1).astype(np.float64)
    total = known.sum(axis=1).astype(np.float64)
    n = total - m
    same = np.where(known, (last - first + 1.0) ** 2 - 1, 0.0).sum(axis=1)
    variance = n * m / 12 * (total + 1 - same / np.maximum(total * (total - 1), 1))
    off = np.abs(np.where(is_incident, ranks, 0.0).sum(axis=1) - m * (total + 1) / 2)
    return judged(np.where(variance > 0, off / np.sqrt(np.maximum(variance, 1e-12)), 0.0), NORMAL_1_PERCENT, case)


def wasserstein_robust(case: Case) -> Ranking:
    """The distance of both quantile functions, over the interquartile range."""
    before, after = quantiles_of(case.baseline, MIDDLES), quantiles_of(case.incident, MIDDLES)
    low, high = quantiles_of(case.baseline, np.array([0.25, 0.75])).T
    distance = np.abs(after - before).mean(axis=1)
    deviation = np.sqrt(mean_of((case.baseline - mean_of(case.baseline)[:, None]) ** 2))
    scale = np.where(high > low, (high - low) / 1.349, np.where(deviation > 0, deviation, 1.0))
    return judged(distance / scale, 1.0, case)


def bubbleup(case: Case) -> Ranking:
    """As Honeycomb's BubbleUp: histograms of both sides in the same buckets, and how much of them does not overlap."""
    cuts = np.arange(1, 20) / 20
    limits = quantiles_of(case.baseline, cuts)
    shares = []
    for side in (case.baseline, case.incident):
        n_known = np.maximum(np.sum(~np.isnan(side), axis=1), 1)
        until = np.stack([np.sum(side <= limits[:, [place]], axis=1) for place in range(len(cuts))], axis=1) / n_known[:, None]
        shares.append(np.diff(np.pad(until, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1))
    return judged(0.5 * np.abs(shares[0] - shares[1]).sum(axis=1), 0.5, case)
