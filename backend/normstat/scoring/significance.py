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
    RHYTHM,
    SHARES,
    SPREAD,
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
    (VALUE, ORDER, PART, TREND, LOAD),
    (TOP, BOTTOM, LOW, HIGH, HOLLOW),
    (STEP, JITTER, STILL, SPREAD, RHYTHM),
    (MISSING,),
)
# The kinds that decide the place of a series in the ranking. The others only make it unusual: they say the same again, or, as a
# spread of three samples, move by themselves.
DECIDING: Final[Groups] = ((VALUE, LOAD), (TOP, BOTTOM), (STEP, STILL), (MISSING,))
# Groups depend on each other: a second one is no second proof, only support. So are the kinds that do not decide.
SECOND_SHARE: Final = 0.2
# From this significance on a series is unusual: one normal window in a hundred thousand reaches it.
UNUSUAL: Final = 5.0
# The level follows the load, and with it how many samples lie beyond the baseline's ends. What the load explains counts half, for
# the load model may err.
OF_LEVEL: Final = (VALUE, ORDER, PART, TREND, LOW, HIGH)
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


def combine(
    kind_significance: FloatArray, change_ratios: Float32Array, explained_by_load: Float32Array, is_constant: BoolArray
) -> FloatArray:
    """Return the significance of each series: that of the most significant group of kinds, plus a share of the second.

    All kinds of a constant series show the same first move, so there a second group adds nothing. Less where the load explains the
    change. Any kind can make a series unusual. How far above UNUSUAL it stands, only the deciding kinds say: chances far beyond the
    baseline's windows are extrapolated, so there the size decides as well, and what is above UNUSUAL grows by itself with each
    decade of the change ratio.

    Shape: kind_significance, change_ratios (n_kinds, n_series), explained_by_load, is_constant (n_series,) ->
    (n_series,)
    """
    result = kind_significance.copy()
    result[list(OF_LEVEL)] *= 1 - EXPLAINED_SHARE * explained_by_load
    by_any, by_deciding = (_together(result, groups, is_constant) for groups in (GROUPS, DECIDING))
    # Shares end at 1: they cannot distinguish a large change from a huge one.
    sized = [kind for group in _known(DECIDING, len(result)) for kind in group if kind not in SHARES]
    decades = np.log10(np.maximum(change_ratios[sized].max(axis=0), 1))
    above = np.maximum(SECOND_SHARE * (by_any - UNUSUAL), (by_deciding - UNUSUAL) * (1 + decades))
    return np.asarray(np.where(by_any >= UNUSUAL, UNUSUAL + above, by_deciding), np.float64)


def _together(kind_significance: FloatArray, groups: Groups, is_constant: BoolArray) -> FloatArray:
    """Return the significance of the first group of kinds, plus a share of the second. Shape: -> (n_series,)"""
    ordered = np.stack([kind_significance[group].max(axis=0) for group in _known(groups, len(kind_significance))])
    ordered.sort(axis=0)
    return np.asarray(ordered[-1] + np.where(is_constant, 0, SECOND_SHARE * ordered[-2]), np.float64)


def _known(groups: Groups, n_kinds: int) -> list[list[int]]:
    """Return the groups without the load kind where there is no load model."""
    return [[kind for kind in group if kind < n_kinds] for group in groups]


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
