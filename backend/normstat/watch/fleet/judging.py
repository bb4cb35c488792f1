"""Compute how far means of minutes are from normal, for all series of the fleet at once. Pure."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
# The last minutes of the window, which say how a host is now.
RECENT_MINUTES: Final = 5
# A cell of a ribbon is as unusual as the change ratio says: up to 1 is within normal variation.
LEVELS: Final = (1.0, 3.0, 10.0)
NO_DATA: Final = "-"
NOT_JUDGED: Final = "?"
NOT_READ: Final = "."
# The heights of a sparkline, one letter for a minute.
HEIGHTS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, eq=False)
class FleetSeries:
    """Series of all hosts, those of a host beside each other, with their normal values.

    Shape: host (n_series,), ascending; means, n_rows (n_series, n_minutes); the rest (n_series,). Missing: NaN
    """

    host: npt.NDArray[np.int64]
    means: FloatArray
    n_rows: npt.NDArray[np.int64]
    low: FloatArray
    high: FloatArray
    minute_scale: FloatArray
    recent_scale: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FleetJudgement:
    """Change ratios of the series.

    Shape: recent (n_series,), the means of the last minutes; recent_ratio (n_series,); minute_ratio (n_series, n_minutes).
    Missing: NaN without samples, ratios also without a normal
    """

    recent: FloatArray
    recent_ratio: FloatArray
    minute_ratio: FloatArray


def judge(series: FleetSeries) -> FleetJudgement:
    """Return how far each series is outside its band, in change scales: 0 inside the band."""
    recent = mean_of_last(series.means, series.n_rows, RECENT_MINUTES)
    minute_ratio = _outside(series.means, series.low[:, None], series.high[:, None]) / series.minute_scale[:, None]
    recent_ratio = _outside(recent, series.low, series.high) / series.recent_scale
    return FleetJudgement(recent, recent_ratio, minute_ratio)


def mean_of_last(means: FloatArray, n_rows: npt.NDArray[np.int64], n_minutes: int) -> FloatArray:
    """Return the mean of the last minutes, weighted by their rows. Missing: NaN without samples"""
    own = means[:, -n_minutes:].astype(np.float64)
    weights = np.where(np.isnan(own), 0, n_rows[:, -n_minutes:])
    total = weights.sum(axis=1)
    return np.asarray(np.nansum(own * weights, axis=1) / np.where(total > 0, total, np.nan), np.float64)


def largest_by_host(ratios: FloatArray, host: npt.NDArray[np.int64], n_hosts: int) -> FloatArray:
    """Return the largest ratio of each host in each minute. Shape: ratios (n_series, n) -> (n_hosts, n). Missing: NaN"""
    found = np.full((n_hosts, ratios.shape[1]), np.nan)
    if len(host):
        begins = np.flatnonzero(np.diff(host, prepend=-1))
        found[host[begins]] = np.fmax.reduceat(ratios, begins, axis=0)
    return found


def to_ribbons(ratios: FloatArray, has_data: npt.NDArray[np.bool_], is_read: npt.NDArray[np.bool_]) -> list[str]:
    """Return a letter for each minute of each host: the level 0 to 3, or why there is none.

    Shape: ratios, has_data (n_hosts, n_minutes), is_read (n_minutes,)
    """
    codes = np.full(ratios.shape, ord(NO_DATA), np.uint8)
    codes[has_data] = ord(NOT_JUDGED)
    is_judged = ~np.isnan(ratios)
    codes[is_judged] = ord("0") + level_of(ratios[is_judged])
    codes[:, ~is_read] = ord(NOT_READ)
    return [row.tobytes().decode("ascii") for row in codes]


def level_of(ratios: FloatArray) -> npt.NDArray[np.uint8]:
    """Return the level of change ratios, 0 to 3."""
    return np.searchsorted(LEVELS, ratios, side="right").astype(np.uint8)


def to_lines(values: FloatArray, tops: FloatArray) -> list[str]:
    """Return sparklines: a letter for each minute, its height a share of the top. Missing: `-`. Shape: (n, n_minutes), (n,)"""
    letters = np.frombuffer(HEIGHTS.encode(), np.uint8)
    share = np.clip(np.nan_to_num(values / np.where(tops > 0, tops, 1.0)[:, None]), 0, 1)
    codes = letters[np.rint(share * (len(HEIGHTS) - 1)).astype(np.intp)]
    codes[np.isnan(values)] = ord(NO_DATA)
    return [row.tobytes().decode("ascii") for row in codes]


def _outside(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.maximum(low - values, values - high), 0), np.float64)
