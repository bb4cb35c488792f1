"""Means of repeated measurements with their 95 % intervals, and ratios of two means. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.runtime.field_docs import Documented

# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
T_POINTS: Final = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
NORMAL_POINT: Final = 1.959964


@dataclass(frozen=True, slots=True)
class RepeatedMean(Documented):
    """The mean of the repeats of one combination of factors."""

    n: int
    mean: float
    low: float | None
    """Lower end of the 95 % interval of the mean (Student's t), zero at least where no value is negative; null for a single run,
    which has none.
    """

    high: float | None
    deviation: float | None
    """Standard deviation of the repeats; null for a single run."""

    smallest: float
    largest: float


@dataclass(frozen=True, slots=True)
class Ratio(Documented):
    """One mean divided by another."""

    value: float
    low: float | None
    """Lower end of the 95 % interval; null where one of the two has no repeats."""

    high: float | None


def t_point(freedom: float) -> float:
    """Return the two-sided 95 % point of Student's t, within 0.0003 of the exact one from one degree of freedom on.

    Source: table to 30, interpolated in 1/freedom; beyond it Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5)

    >>> t_point(1), t_point(10), round(t_point(60), 4), round(t_point(1000), 4)
    (12.7062, 2.2281, 2.0003, 1.9623)
    """
    if freedom >= len(T_POINTS):
        z = NORMAL_POINT
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    below = max(1, math.floor(freedom))
    first, second = T_POINTS[below - 1], T_POINTS[below]
    if freedom <= below:
        return first
    share = (1 / below - 1 / freedom) / (1 / below - 1 / (below + 1))
    return first + share * (second - first)


def summarise(values: Sequence[float]) -> RepeatedMean:
    """Return the mean of at least one value, with its interval."""
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    mean = float(array.mean())
    if n < 2:
        return RepeatedMean(n, mean, None, None, None, mean, mean)
    deviation = float(array.std(ddof=1))
    half = t_point(n - 1) * deviation / math.sqrt(n)
    # Times and rates are never below zero.
    low = max(mean - half, 0.0) if (array >= 0).all() else mean - half
    return RepeatedMean(n, mean, low, mean + half, deviation, float(array.min()), float(array.max()))


def divide(above: RepeatedMean, below: RepeatedMean) -> Ratio | None:
    """Return the ratio of two positive means. Missing: None where one of them is zero or negative.

    The interval is that of the logarithm of the ratio, with Welch's degrees of freedom.
    """
    if above.mean <= 0 or below.mean <= 0:
        return None
    value = above.mean / below.mean
    if above.deviation is None or below.deviation is None:
        return Ratio(value, None, None)
    parts = [(each.deviation or 0) ** 2 / each.n / each.mean**2 for each in (above, below)]
    variance = sum(parts)
    if variance == 0:
        return Ratio(value, value, value)
    freedom = variance**2 / sum(part**2 / (each.n - 1) for part, each in zip(parts, (above, below), strict=True))
    factor = math.exp(min(t_point(max(1.0, freedom)) * math.sqrt(variance), 50.0))
    return Ratio(value, value / factor, value * factor)
