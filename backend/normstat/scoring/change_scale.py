"""The scale of natural change of each series, measured on windows of its baseline.

Each window is compared with the whole baseline exactly as an incident is. So the scale contains noise, autocorrelation, jobs that
run every five minutes, heavy tails and rounding, and assumes no distribution. With few windows it is pulled towards what all series
show; floors keep it from being absurdly small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.rhythm import N_HARMONICS
from normstat.scoring.summary import Float32Array, FloatArray, Summary

# The kinds of change. `value`: distance of the quantile functions; `top`, `bottom`: how far samples are beyond the baseline's ends,
# in the mean over all samples (of events: how far the ends moved); `low`, `high`: how many samples are; `step`: the movement from
# sample to sample; `still`: the share of equal neighbours; `missing`: the share of reports without a value; `trend`: later samples
# of the window against earlier ones; `hollow`: how many samples fall to a part of the window's own median, at any load; `rhythm`:
# how sure a period is that the baseline's windows do not have.
KINDS: Final = ("value", "top", "bottom", "low", "high", "step", "still", "missing", "trend", "hollow", "rhythm")
VALUE, TOP, BOTTOM, LOW, HIGH, STEP, STILL, MISSING, TREND, HOLLOW, RHYTHM = range(len(KINDS))
# In the unit of the series; the others are shares or ratios.
IN_UNITS: Final = (VALUE, TOP, BOTTOM, STEP, TREND)
SHARES: Final = (LOW, HIGH, STILL, MISSING, HOLLOW)
# The quantiles beyond which samples count as beyond the baseline's ends.
ENDS_OF_BAND: Final = [1, -2]
# This many windows count as much as all other series together.
POOL_WEIGHT: Final = 8.0
LEVEL_FLOOR: Final = 0.01
PERCENT_LEAST_LEVEL: Final = 1.0
SHARE_FLOOR: Final = 0.02
# How far one sample may be beyond the ends by chance, as a share of the typical deviation.
END_FLOOR: Final = 0.2
HOLLOW_PART: Final = 0.25
# A series that is nearly always at one value has events: what can change is how often it is elsewhere.
EVENT_SHARE: Final = 0.9
EVENT_BURST: Final = 2.0
SD_PER_IQR: Final = 1.349


@dataclass(frozen=True, slots=True)
class SeriesStats:
    """Statistics of each series besides its windows. Shape: all (n_series,)

    `level`: its median, in its unit; `scale`: its typical deviation; `digit`: the smallest difference that the tool can print;
    `size`: its typical size where it is not zero; `is_event`: nearly always at its level; `event_size`: how far it is away when
    not.
    """

    level: FloatArray
    scale: FloatArray
    digit: FloatArray
    size: FloatArray
    is_percent: np.ndarray[tuple[int], np.dtype[np.bool_]]
    is_event: np.ndarray[tuple[int], np.dtype[np.bool_]]
    event_size: FloatArray

    @property
    def has_events(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether there were events: a series that was constant has shown none, and its first move is measured as it is."""
        return np.asarray(self.is_event & (self.event_size > 0), np.bool_)


@dataclass(frozen=True, slots=True)
class Ends:
    """Typical values of windows of one length.

    Shape: all (n_series,); top and bottom as distances from the level, the rhythm a logarithm. Missing: NaN where none shows it
    """

    top: Float32Array
    bottom: Float32Array
    rhythm: Float32Array


@dataclass(frozen=True, slots=True)
class NaturalChange:
    """Natural change of windows of one length.

    Shape: change (n_kinds, n_series): between the 90 % quantile of the windows and the largest. Missing: NaN where no window
    shows it. `n_disjoint`: number of disjoint windows of that length in the baseline
    """

    length_s: float
    n_disjoint: float
    change: Float32Array
    ends: Ends


def measure(
    window: Summary,
    baseline: Summary,
    ends: Ends,
    digit: FloatArray,
    series_stats: SeriesStats,
    *,
    own_ranks: Float32Array | None = None,
) -> Float32Array:
    """Return how far a window is from the baseline, by kind. Missing: NaN where one of them has no samples.

    `own_ranks`: `own_ranks_of` the baseline, computed once for many windows. Shape: -> (n_kinds, n_series)
    """
    inner = slice(1, -1)
    own_ranks = own_ranks_of(baseline) if own_ranks is None else own_ranks
    value = np.abs(window.quantiles[:, inner] - baseline.quantiles[:, inner]).mean(axis=1)
    ranks = ranks_of(window.quantiles, baseline.quantiles[:, ENDS_OF_BAND]) - own_ranks
    result = np.empty((len(KINDS), len(baseline)), np.float32)
    # Events are too rare for quantiles: their frequency counts; their size shows at the ends.
    often = np.abs(window.away - baseline.away) * np.maximum(series_stats.event_size, digit)
    result[VALUE] = np.where(series_stats.has_events, often, value)
    result[LOW], result[HIGH] = np.maximum(ranks[:, 0], 0), np.maximum(-ranks[:, -1], 0)
    low, high = (baseline.quantiles[:, [place]] for place in ENDS_OF_BAND)
    below, above = np.maximum(low - window.quantiles, 0).mean(axis=1), np.maximum(window.quantiles - high, 0).mean(axis=1)
    result[TOP] = np.where(series_stats.has_events, np.abs(window.top - ends.top), above)
    result[BOTTOM] = np.where(series_stats.has_events, np.abs(window.bottom - ends.bottom), below)
    result[STEP] = np.abs(window.step_quantiles - baseline.step_quantiles)[:, inner].mean(axis=1)
    result[STILL] = np.abs(window.still - baseline.still)
    result[MISSING] = np.abs(window.missing - baseline.missing)
    result[TREND] = _onset(window.parts)
    result[HOLLOW] = np.abs(hollow_of(window, series_stats) - hollow_of(baseline, series_stats))
    result[RHYTHM] = rhythm_gain(window.rhythm - ends.rhythm)
    # A series with events only has a frequency and a size, nothing else.
    for kind in (STEP, STILL, HOLLOW, RHYTHM):
        result[kind, series_stats.has_events] = 0
    return result


def rhythm_gain(gain: Float32Array) -> Float32Array:
    """Return how much stronger the typical harmonic of a rhythm is, from the decimal logarithm of how much surer the rhythm is.

    A rhythm that is lost counts 0: the baseline's jobs come and go.
    """
    return np.asarray(np.expm1(np.maximum(gain, 0) * (np.log(10) / N_HARMONICS)), np.float32)


def _onset(parts: Float32Array) -> Float32Array:
    """Return the largest difference between the parts after and before any moment. Shape: (n_series, N_PARTS) -> (n_series,)"""
    differences = [np.abs(parts[:, at:].mean(axis=1) - parts[:, :at].mean(axis=1)) for at in range(1, parts.shape[1])]
    return np.asarray(np.max(differences, axis=0), np.float32)


def own_ranks_of(baseline: Summary) -> Float32Array:
    """Return the ranks of the ends of the band in their own distribution; ties move them. Shape: (n_series, 2)"""
    return ranks_of(baseline.quantiles, baseline.quantiles[:, ENDS_OF_BAND])


def hollow_of(window: Summary, series_stats: SeriesStats) -> Float32Array:
    """Return the share of samples below a quarter of the window's own median. Missing: 0 for series that are negative or mostly
    0.
    """
    level = series_stats.level.astype(np.float32)
    median = window.median + level
    point = HOLLOW_PART * median - level
    share = ranks_of(window.quantiles, point[:, None])[:, 0]
    # A series of few distinct values has such samples anyway.
    is_fine = HOLLOW_PART * median >= series_stats.digit
    return np.where(is_fine & (median > 0) & (window.quantiles[:, 0] + level >= -1e-6 * np.abs(level)), share, 0).astype(np.float32)


def ranks_of(function: Float32Array, points: Float32Array) -> Float32Array:
    """Return the share of a distribution below each point, ties counted by half.

    Shape: function (n_series, N_QUANTILES), points (n_series, n_points) -> (n_series, n_points)
    """
    below = (function[:, None, :] < points[:, :, None]).sum(axis=2)
    upto = (function[:, None, :] <= points[:, :, None]).sum(axis=2)
    ranks = ((below + upto) / (2 * function.shape[1])).astype(np.float32)
    ranks[np.isnan(function[:, 0])] = np.nan
    return np.asarray(ranks, np.float32)


def spread_about_mean(window: Summary) -> Float32Array:
    """Return the standard deviation of each distribution, whatever its level. Shape: -> (n_series,)"""
    return np.asarray(window.quantiles.astype(np.float64).std(axis=1), np.float32)


def ends_of(windows: Sequence[Summary]) -> Ends:
    """Return the typical values of a baseline's windows of one length.

    Raises: ValueError without windows
    """
    if not windows:
        raise ValueError("a change scale needs at least one window")
    return Ends(
        _nanmedian([window.top for window in windows]),
        _nanmedian([window.bottom for window in windows]),
        _nanmedian([window.rhythm for window in windows]),
    )


def least_digit(series_stats: SeriesStats) -> FloatArray:
    """Return the smallest difference that a tool prints, but at least a tenth of the typical deviation; never 0."""
    return np.maximum(np.maximum(series_stats.digit, 0.1 * series_stats.scale), 1e-9)


def change_scale_of(
    natural_change: NaturalChange, baseline: Summary, series_stats: SeriesStats, n_window: FloatArray
) -> Float32Array:
    """Return the change scale of each series: natural change, at least the floor.

    Shape: n_window (n_series,), reports in the window -> (n_kinds, n_series). Missing: infinity where a kind was not measured
    """
    return np.maximum(
        np.nan_to_num(_pool(natural_change, series_stats), posinf=np.inf), floors_of(baseline, series_stats, n_window)
    )


def _pool(natural_change: NaturalChange, series_stats: SeriesStats) -> Float32Array:
    """Return the natural change, with few windows pulled towards that of all series relative to their scale."""
    pooled = np.array(natural_change.change)
    moves = series_stats.scale > 0
    weight = natural_change.n_disjoint / (natural_change.n_disjoint + POOL_WEIGHT)
    for kind in range(len(KINDS)):
        if np.isnan(natural_change.change[kind]).all():
            # The windows are too short for this kind.
            pooled[kind] = np.inf
            continue
        if kind in (STILL, MISSING):
            continue
        scale = series_stats.scale if kind in IN_UNITS else np.ones(len(moves))
        ratios = natural_change.change[kind, moves] / scale[moves]
        ratios = ratios[~np.isnan(ratios)]
        rho = float(np.median(ratios)) if len(ratios) else 1.0
        pooled[kind] = np.where(
            np.isnan(natural_change.change[kind]), rho * scale, weight * natural_change.change[kind] + (1 - weight) * rho * scale
        )
    return pooled


def floors_of(baseline: Summary, series_stats: SeriesStats, n_window: FloatArray) -> Float32Array:
    """Return the smallest meaningful change. Shape: n_window (n_series,), reports in the window -> (n_kinds, n_series)"""
    n_baseline = np.maximum(baseline.n, 1)
    level = LEVEL_FLOOR * series_stats.size
    a_sample = 1 / np.maximum(n_window, 1)
    # One event more or less, or as many as can be missing from the baseline by chance.
    # Events come in bursts: where there are some, there can be several times as many.
    by_chance = 2 * a_sample + 1 / n_baseline + np.where(series_stats.has_events, EVENT_BURST * np.nan_to_num(baseline.away), 0)
    shared = np.where(series_stats.has_events, series_stats.event_size * by_chance, series_stats.digit * a_sample)
    ends = np.where(series_stats.has_events, np.maximum(series_stats.event_size, series_stats.digit), series_stats.digit)
    floors = np.empty((len(KINDS), len(baseline)), np.float32)
    for kind in (VALUE, STEP):
        floors[kind] = np.maximum(level, shared)
    floors[TREND] = np.maximum(level, ends)
    # One sample may be a little beyond the ends by chance.
    by_one = np.where(series_stats.has_events, 0, END_FLOOR * series_stats.scale * a_sample)
    floors[TOP] = floors[BOTTOM] = np.maximum(floors[TREND], by_one)
    for kind in SHARES:
        floors[kind] = np.maximum(SHARE_FLOOR, by_chance)
    # An instance that comes and goes anyway may be missing.
    floors[MISSING] += baseline.missing
    # Noise is ten times as regular by chance.
    floors[RHYTHM] = rhythm_gain(np.ones(1, np.float32))
    return np.maximum(floors, np.float32(1e-30))


def nearly_largest(changes: Float32Array) -> Float32Array:
    """Return the mean of the 90 % quantile and the maximum over windows. Missing: NaN. Shape: (n_windows, ...) -> (...)"""
    ordered, n = _ordered(changes)
    near = _from_top(ordered, np.rint(0.1 * (n - 1)).astype(np.intp))
    return np.where(n > 0, (near + ordered[-1]) / 2, np.nan).astype(np.float32)


def nearly_largest_of_others(changes: Float32Array) -> Float32Array:
    """Return `nearly_largest` without the window with the largest change and its neighbours, which overlap it.

    Shape: (n_windows, ...) -> (...)
    """
    largest = np.where(np.isnan(changes), -np.inf, changes).argmax(axis=0)[None]
    others = changes.copy()
    for offset in (-1, 0, 1):
        np.put_along_axis(others, np.clip(largest + offset, 0, len(changes) - 1), np.nan, axis=0)
    return nearly_largest(others)


def _ordered(changes: Float32Array) -> tuple[Float32Array, np.ndarray]:
    ordered = np.sort(np.where(np.isnan(changes), -np.inf, changes), axis=0)
    return ordered, np.isfinite(ordered).sum(axis=0)


def _from_top(ordered: Float32Array, place: np.ndarray) -> Float32Array:
    # Count from the top: windows without samples are at the bottom.
    return np.asarray(np.take_along_axis(ordered, np.maximum(len(ordered) - 1 - place, 0)[None], axis=0)[0], np.float32)


def _nanmedian(arrays: Sequence[Float32Array]) -> Float32Array:
    ordered = np.sort(np.stack(arrays), axis=0)
    n = (~np.isnan(ordered)).sum(axis=0)
    low, high = np.maximum((n - 1) // 2, 0), np.maximum(n // 2, 0)
    pick = [np.take_along_axis(ordered, np.minimum(place, len(arrays) - 1)[None], axis=0)[0] for place in (low, high)]
    return np.asarray((pick[0] + pick[1]) / 2, np.float32)
