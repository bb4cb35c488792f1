"""The significance of a change: the chance that a normal window of such a series has one as large.

A change ratio of two means much for a steady series and little for one with heavy tails. So each window of the baseline is measured
by the others as the incident is by all of them; the ratios of a family (the same field of all CPUs, all disks) calibrate it. Beyond
the largest ratios a Pareto tail is fitted. With few windows the calibration is pulled towards that of all families.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.change_scale import (
    BOTTOM,
    HIGH,
    HOLLOW,
    JITTER,
    KINDS,
    LOW,
    MISSING,
    ORDER,
    PART,
    SHARES,
    SPREAD,
    STEP,
    STILL,
    TOP,
    TREND,
    VALUE,
)
from normstat.scoring.summary import Float32Array, FloatArray, IntArray

# The tail: the largest windows of a family.
TAIL_SHARE: Final = 0.02
# All families together count as much as this many windows in the tail.
POOL_WEIGHT: Final = 10.0
MIN_TAIL: Final = 0.1
MAX_TAIL: Final = 0.7
# The kind after those of the series itself: against the load model.
LOAD: Final = len(KINDS)
# Kinds that move together; a second group adds to the first.
GROUPS: Final = ((VALUE, ORDER, PART, TREND, LOAD), (TOP, BOTTOM, LOW, HIGH, HOLLOW), (STEP, JITTER, STILL, SPREAD), (MISSING,))
SECOND_SHARE: Final = 0.2
# Weights of the kinds, fitted on half of the cases (docs/comparison.md).
WEIGHTS: Final = (0.75, 0.75, 1.1, 1.0, 0.75, 1.0, 0.75, 1.15, 0.75, 1.1, 1.0, 1.15, 1.15, 1.1, 1.15)
SIZE_WEIGHT: Final = 36.0
# Where something began within the window with at least this significance, series that were off all the time count less.
MIN_ONSET: Final = 3.5
STALE_SHARE: Final = 0.45
# Shares end at 1, so they cannot distinguish a large change from a huge one.
MAX_OF_SHARES: Final = 6.0
OF_LOAD: Final = (VALUE, ORDER, TOP, BOTTOM, LOW, HIGH, STEP, PART, TREND)
EXPLAINED_SHARE: Final = 0.45


@dataclass(frozen=True, slots=True)
class Calibration:
    """The change ratios of normal windows, by kind and family.

    Shape: threshold, tail (n_kinds, n_families): TAIL_SHARE of normal windows have a ratio above `threshold`;
    `tail` is the mean logarithm of the excess
    """

    threshold: Float32Array
    tail: Float32Array

    def significance(self, change_ratios: Float32Array, families: IntArray) -> FloatArray:
        """Return minus the decimal logarithm of the chance of such a ratio in a normal window. Shape: (n_kinds, n_series)"""
        threshold, tail = self.threshold[:, families], self.tail[:, families]
        change_ratios = change_ratios[: len(threshold)]
        ratio = np.maximum(change_ratios, 1e-9) / threshold
        at_threshold = -np.log10(TAIL_SHARE)
        beyond = np.log10(np.maximum(ratio, 1)) / tail
        return np.asarray(np.where(ratio < 1, ratio * at_threshold, at_threshold + beyond), np.float64)

    def with_kind(self, other: "Calibration") -> "Calibration":
        """Return the kinds of both."""
        return Calibration(np.concatenate([self.threshold, other.threshold]), np.concatenate([self.tail, other.tail]))


def calibrate(change_ratios: Float32Array, families: IntArray) -> Calibration:
    """Return the calibration from windows of the baseline.

    Shape: change_ratios (n_windows, n_kinds, n_series), each window measured by the others; families (n_series,) codes from 0 on
    """
    n_kinds = change_ratios.shape[1]
    n_families = int(families.max(initial=-1)) + 1
    threshold = np.ones((n_kinds, n_families), np.float32)
    tail = np.full((n_kinds, n_families), 0.2, np.float32)
    order = np.argsort(families, kind="stable")
    bounds = np.searchsorted(families[order], np.arange(n_families + 1))
    for kind in range(n_kinds):
        common, common_tail, _ = _fit(change_ratios[:, kind, :].ravel())
        for family in range(n_families):
            own, own_tail, n_tail = _fit(change_ratios[:, kind, order[bounds[family] : bounds[family + 1]]].ravel())
            weight = n_tail / (n_tail + POOL_WEIGHT)
            threshold[kind, family] = np.exp(weight * np.log(own) + (1 - weight) * np.log(common))
            tail[kind, family] = weight * own_tail + (1 - weight) * common_tail
    return Calibration(np.maximum(threshold, 1.0), np.clip(tail, MIN_TAIL, MAX_TAIL))


def combine(
    kind_significance: FloatArray,
    change_ratios: Float32Array,
    explained_by_load: Float32Array,
    steady: Float32Array,
    n_window: FloatArray,
) -> FloatArray:
    """Return the significance of each series: that of the most significant group of kinds, plus a share of the second.

    Less where the load explains the change. Where something significant began within the window, series that were off from its
    first sample on count less: the baseline may be of another time. With few samples significance is limited, so the change ratio
    counts too.

    Shape: kind_significance, change_ratios (n_kinds, n_series), explained_by_load, steady (0..1), n_window (n_series,) ->
    (n_series,)
    """
    n_kinds = len(kind_significance)
    weights = np.array(WEIGHTS[:n_kinds])[:, None]
    result = kind_significance * weights
    shares = list(SHARES)
    result[shares] = np.minimum(result[shares], MAX_OF_SHARES)
    sizes = np.log10(np.maximum(change_ratios[:n_kinds], 1))
    sizes[shares] = 0
    result += SIZE_WEIGHT / (n_window + 1) * sizes * weights
    result[[kind for kind in OF_LOAD if kind < n_kinds]] *= 1 - EXPLAINED_SHARE * explained_by_load
    onset = float(np.max(result[TREND] * (1 - steady), initial=0))
    stale = STALE_SHARE * min(1.0, max(0.0, (onset - MIN_ONSET) / MIN_ONSET)) * np.nan_to_num(steady)
    result[[kind for kind in range(n_kinds) if kind not in (TREND, MISSING)]] *= 1 - stale
    groups = np.stack([result[[kind for kind in group if kind < n_kinds]].max(axis=0) for group in GROUPS])
    groups.sort(axis=0)
    return np.asarray(groups[-1] + SECOND_SHARE * groups[-2], np.float64)


def _fit(values: Float32Array) -> tuple[float, float, int]:
    """Return threshold, tail, and the number of windows in the tail."""
    values = values[np.isfinite(values)]
    n_tail = round(TAIL_SHARE * len(values))
    if n_tail == 0:
        return (float(max(values.max(initial=0.5), 0.5)), 0.2, 0)
    largest = np.sort(np.partition(values, len(values) - n_tail - 1)[len(values) - n_tail - 1 :])
    threshold = max(float(largest[0]), 0.5)
    excess = np.log(np.maximum(largest[1:], threshold) / threshold)
    return threshold, float(excess.mean()), n_tail
