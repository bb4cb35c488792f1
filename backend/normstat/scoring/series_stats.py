"""Statistics of series from their values alone: level, deviation, digits, typical size, whether they have only events."""

from typing import Final

import numpy as np

from normstat.scoring.change_scale import EVENT_SHARE, PERCENT_LEAST_LEVEL, SD_PER_IQR, SeriesStats
from normstat.scoring.summary import FloatArray, Summary, middle_half

MAX_DECIMALS: Final = 4
# Values looked at to find the digits; more would not change them.
DIGIT_SAMPLES: Final = 200
ALMOST_WHOLE: Final = 1e-6
# Rounding error of eight-byte floats.
LAST_BITS: Final = 1e-13
MAX_PERCENT: Final = 100.0
# A series without a unit is taken for a percentage only if it comes this near to 100.
NEAR_FULL: Final = 90.0

BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]


def levels_of(values: FloatArray) -> FloatArray:
    """Return the median of each series, which distances are measured from. Missing: 0 without samples.

    Shape: (n_series, n) -> (n_series,)
    """
    ordered = np.sort(values, axis=1)
    n = (~np.isnan(values)).sum(axis=1)
    rows = np.arange(len(values))
    # The lower median: a value that was printed.
    middle = ordered[rows, np.maximum(n - 1, 0) // 2] if values.shape[1] else np.zeros(len(values))
    return np.where(n > 0, middle, 0.0)


def digits_of(values: FloatArray) -> FloatArray:
    """Return the smallest difference of printed values; 0 where they have more than four decimals. Shape: -> (n_series,)"""
    step = max(1, values.shape[1] // DIGIT_SAMPLES)
    some = np.nan_to_num(values[:, ::step])
    digits = np.zeros(len(values))
    for decimals in range(MAX_DECIMALS, -1, -1):
        scaled = some * 10.0**decimals
        is_whole = (np.abs(scaled - np.rint(scaled)) <= np.maximum(ALMOST_WHOLE, LAST_BITS * np.abs(scaled))).all(axis=1)
        digits[is_whole] = 10.0**-decimals
    return digits


def looks_like_percent(values: FloatArray) -> BoolArray:
    """Return whether each series stays within 0..100 and comes near to 100. Shape: -> (n_series,)"""
    if values.shape[1] == 0:
        return np.zeros(len(values), np.bool_)
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    return np.asarray((low >= 0) & (high <= MAX_PERCENT) & (high >= NEAR_FULL), np.bool_)


def series_stats_of(baseline: Summary, level: FloatArray, digit: FloatArray, is_percent: BoolArray) -> SeriesStats:
    """Return the statistics from a baseline's summary, in distances from the level. Shape: level, digit, is_percent (n_series,)"""
    width = np.nan_to_num(middle_half(baseline.quantiles)) / SD_PER_IQR
    away = np.nan_to_num(baseline.away).astype(np.float64)
    # Distance from the level when not at it.
    distance = np.nan_to_num(np.abs(baseline.quantiles).mean(axis=1)).astype(np.float64)
    furthest = np.nan_to_num(np.maximum(np.abs(baseline.top), np.abs(baseline.bottom))).astype(np.float64)
    event_size = np.where(away > 0, np.minimum(distance / np.maximum(away, 1e-9), furthest), 0.0)
    event_size = np.where((event_size == 0) & (away > 0), furthest, event_size)
    event_size = np.where(away > 0, np.maximum(event_size, digit), 0.0)
    # The larger of both: a series that was far out once can be so again.
    scale = np.maximum(width, np.nan_to_num(baseline.deviation))
    size = np.where(level != 0, np.abs(level), event_size)
    size = np.where(is_percent, np.maximum(np.minimum(size, MAX_PERCENT - size), PERCENT_LEAST_LEVEL), size)
    is_event = away <= 1 - EVENT_SHARE
    return SeriesStats(level, scale.astype(np.float64), digit, size, is_percent, is_event, event_size)
