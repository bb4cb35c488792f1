"""The significance of a change: the chance that a normal window of such a series has one as large.

A change ratio of two means much for a steady series and little for one with heavy tails. So each window of the baseline is measured
by the others as the incident is by all of them; the ratios of a family (the same field of all CPUs, all disks) calibrate it. Beyond
the largest ratios a Pareto tail is fitted. With few windows the calibration is pulled towards that of all families. A series
that the baseline does not have is as significant as such series are rare in its windows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.change_scale import (
    BOTTOM,
    HIGH,
    HOLLOW,
    KINDS,
    LOW,
    MISSING,
    RHYTHM,
    STEP,
    STILL,
    TOP,
    TREND,
    VALUE,
)
from normstat.scoring.summary import BoolArray, Float32Array, FloatArray, IntArray

Groups = tuple[tuple[int, ...], ...]

# The tail: the largest windows of a family.
TAIL_SHARE: Final = 0.02
# All families together count as much as this many windows in the tail.
POOL_WEIGHT: Final = 30.0
MIN_TAIL: Final = 0.1
MAX_TAIL: Final = 0.7
# The kind after those of the series itself: against the load model.
LOAD: Final = len(KINDS)
# Kinds that move together; a second group adds to the first.
GROUPS: Final[Groups] = (
    (VALUE, TREND, LOAD),
    (TOP, BOTTOM, LOW, HIGH, HOLLOW),
    (STEP, STILL, RHYTHM),
    (MISSING,),
)
# Groups depend on each other: a second one is no second proof, only support.
SECOND_SHARE: Final = 0.2
# From this significance on, one normal window in ten thousand, a series is likely; or unusual, if it is as strong as this.
LIKELY: Final = 4.0
STRONG: Final = 3.5
# From this one on, one normal window in a hundred thousand, the first move of a constant is unusual, which has no size.
UNUSUAL: Final = 5.0
# From this one on a series is unusual however weak it is.
VERY_RARE: Final = 5.5
# The weight of each kind's change ratio in the order of the series. A level that moved is what people see; movement, stops and
# samples beyond the ends count half, the ends themselves and a rhythm a fifth: each alone costs hits on published incidents when it
# counts more. The trend only makes a series unusual.
EFFECT_WEIGHTS: Final[Mapping[int, float]] = {
    VALUE: 1.0, LOAD: 1.0,
    LOW: 0.5, HIGH: 0.5, STEP: 0.5, STILL: 0.5, MISSING: 0.5, HOLLOW: 0.5,
    TOP: 0.2, BOTTOM: 0.2, RHYTHM: 0.2,
}  # fmt: skip
# The level follows the load, and with it how many samples lie beyond the baseline's ends. What the load explains counts half, for
# the load model may err.
OF_LEVEL: Final = (VALUE, TREND, LOW, HIGH)
EXPLAINED_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Constants:
    """How often constant series move for the first time, and by how much.

    `chance`: that one does so in a normal window; `ratios`: the change ratios of first moves. Shape: ratios (n_kinds, n_moves)
    """

    chance: float
    ratios: Float32Array


@dataclass(frozen=True, slots=True)
class Calibration:
    """The change ratios of normal windows, by kind and family.

    Shape: threshold, tail (n_kinds, n_families + 1): TAIL_SHARE of normal windows have a ratio above `threshold`;
    `tail` is the mean logarithm of the excess. The last column is of the series that are constant, whatever their family.
    """

    threshold: Float32Array
    tail: Float32Array

    def significance(self, change_ratios: Float32Array, families: IntArray, is_constant: BoolArray) -> FloatArray:
        """Return minus the decimal logarithm of the chance of such a ratio in a normal window. Shape: (n_kinds, n_series)"""
        families = np.where(is_constant, self.threshold.shape[1] - 1, families)
        threshold, tail = self.threshold[:, families], self.tail[:, families]
        change_ratios = change_ratios[: len(threshold)]
        ratio = np.maximum(change_ratios, 1e-9) / threshold
        at_threshold = -np.log10(TAIL_SHARE)
        beyond = np.log10(np.maximum(ratio, 1)) / tail
        return np.asarray(np.where(ratio < 1, ratio * at_threshold, at_threshold + beyond), np.float64)

    def with_kind(self, other: "Calibration") -> "Calibration":
        """Return the kinds of both."""
        return Calibration(np.concatenate([self.threshold, other.threshold]), np.concatenate([self.tail, other.tail]))


def calibrate(change_ratios: Float32Array, families: IntArray, of_constants: Constants | None = None) -> Calibration:
    """Return the calibration from windows of the baseline.

    Shape: change_ratios (n_windows, n_kinds, n_series), each window measured by the others; families (n_series,) codes from 0 on
    """
    n_kinds = change_ratios.shape[1]
    n_families = int(families.max(initial=-1)) + 1
    threshold = np.ones((n_kinds, n_families + 1), np.float32)
    tail = np.full((n_kinds, n_families + 1), 0.2, np.float32)
    order = np.argsort(families, kind="stable")
    bounds = np.searchsorted(families[order], np.arange(n_families + 1))
    for kind in range(n_kinds):
        common, common_tail, n_common = _fit(change_ratios[:, kind, :].ravel())
        # The fewer windows the tail is fitted to, the heavier it may be: one standard error is added.
        error = 1 + 1 / np.sqrt(max(n_common, 1))
        threshold[kind, -1], tail[kind, -1] = common, common_tail * error
        for family in range(n_families):
            own, own_tail, n_tail = _fit(change_ratios[:, kind, order[bounds[family] : bounds[family + 1]]].ravel())
            weight = n_tail / (n_tail + POOL_WEIGHT)
            threshold[kind, family] = np.exp(weight * np.log(own) + (1 - weight) * np.log(common))
            tail[kind, family] = np.clip(weight * own_tail + (1 - weight) * common_tail, MIN_TAIL, MAX_TAIL) * error
    calibration = Calibration(np.maximum(threshold, 1.0), np.clip(tail, MIN_TAIL, MAX_TAIL))
    if of_constants is not None:
        _calibrate_constants(calibration, of_constants)
    return calibration


def _calibrate_constants(calibration: Calibration, constants: Constants) -> None:
    """Put the calibration of constant series into the last column. Their tail is the heaviest unless first moves show a lighter
    one.
    """
    n_moves = constants.ratios.shape[1]
    for kind in range(len(KINDS)):
        if kind == MISSING:
            continue
        excess = float(np.log(np.maximum(constants.ratios[kind], 1)).sum())
        tail = max((excess + POOL_WEIGHT * MAX_TAIL) / (n_moves + POOL_WEIGHT), MIN_TAIL)
        calibration.tail[kind, -1] = tail
        calibration.threshold[kind, -1] = (constants.chance / TAIL_SHARE) ** tail


def combine(kind_significance: FloatArray, explained_by_load: Float32Array, is_constant: BoolArray) -> FloatArray:
    """Return the significance of each series: that of the most significant group of kinds, plus a share of the second.

    All kinds of a constant series show the same first move, so there a second group adds nothing. Less where the load explains the
    change. Shape: kind_significance (n_kinds, n_series), explained_by_load, is_constant (n_series,) -> (n_series,)
    """
    result = kind_significance.copy()
    result[list(OF_LEVEL)] *= 1 - EXPLAINED_SHARE * explained_by_load
    groups = [[kind for kind in group if kind < len(result)] for group in GROUPS]
    ordered = np.stack([result[group].max(axis=0) for group in groups])
    ordered.sort(axis=0)
    return np.asarray(ordered[-1] + np.where(is_constant, 0, SECOND_SHARE * ordered[-2]), np.float64)


def strength_of(change_ratios: Float32Array, significance: FloatArray) -> FloatArray:
    """Return how strong each change is, which orders the series: how far it moved, times the square of how rare that is.

    How far: the largest change ratio, those of the level in full. It has no upper bound. At a significance of UNUSUAL it is that.

    Shape: change_ratios (n_kinds, n_series), significance (n_series,) -> (n_series,)
    """
    weights = np.array([EFFECT_WEIGHTS.get(kind, 0.0) for kind in range(len(change_ratios))])
    effect = (change_ratios * weights[:, None]).max(axis=0)
    return np.asarray(effect * (significance / UNUSUAL) ** 2, np.float64)


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


# All families together count as much as this many windows.
NEW_POOL_WEIGHT: Final = 10.0
# Fewer windows than this do not show how often something new appears.
MIN_WINDOWS: Final = 1.0


def appearance_significance(n_with_new: FloatArray, n_windows: float, families: IntArray) -> FloatArray:
    """Return minus the decimal logarithm of the chance that a normal window has a new series of the same family.

    What comes and goes all the time is not surprising. The share of a family's windows is pulled towards that of all families,
    which also stands for families that the baseline does not have.

    Shape: n_with_new (n_families,), windows of the baseline in which a series of the family appeared; families (n_series,), codes
    of the new series, -1 for a family that the baseline does not have -> (n_series,). `n_windows`: disjoint windows of the
    baseline
    """
    windows = max(n_windows, MIN_WINDOWS)
    of_all = (n_with_new.sum() + 1) / (windows * max(len(n_with_new), 1) + 2)
    known = np.append(np.minimum(n_with_new, windows), 0.0)
    # For an unknown family, only the share of all families is known.
    seen = np.append(np.full(len(n_with_new), windows), 0.0)
    chance = (known[families] + NEW_POOL_WEIGHT * of_all) / (seen[families] + NEW_POOL_WEIGHT)
    return np.asarray(-np.log10(np.minimum(chance, 1.0)), np.float64)
