"""The load model: common factors of a host's series, and what they leave unexplained.

On a host nearly all series follow a few factors: the number of users, the job that runs. They are learned from the baseline, whose
series are averaged over short bins of time and written as common factors and residuals. In the incident the factors are estimated
again from all series together, so that one culprit hardly moves them; the residual of a series is what the load does not explain.
That finds a shift within the normal swing of the load, and separates a series that grew more than the load from the hundreds that
grew with it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.runtime.arrays import distinct_values
from normstat.scoring.change_scale import SeriesStats
from normstat.scoring.summary import Float32Array, FloatArray

MIN_BINS: Final = 16
MAX_FACTORS: Final = 8
# Bins to a factor at least: with fewer, factors are the noise of the bins.
BINS_PER_FACTOR: Final = 6
N_SHIFTS: Final = 3
# Bins are clipped at this many deviations.
CLIP: Final = 4.0
FAR_CLIP: Final = 12.0
HUBER: Final = 2.0
N_ROUNDS: Final = 4
MAX_WINDOWS: Final = 64


@dataclass(frozen=True, slots=True)
class LoadModel:
    """Common factors of the series of a baseline.

    Shape: mean, deviation (n_series,); loadings (n_series, n_factors), orthonormal columns; reach (n_factors,): largest absolute
    value of each factor in the baseline
    """

    mean: Float32Array
    deviation: Float32Array
    loadings: Float32Array
    reach: Float32Array

    @property
    def n_factors(self) -> int:
        """The number of factors; 0 where the series have none in common."""
        return int(self.loadings.shape[1])


def log_scale_of(bins: Float32Array, series_stats: SeriesStats) -> Float32Array:
    """Return what to add to each series before taking its logarithm, as a distance from its level. Missing: NaN for series that
    stay linear.

    Most series grow in proportion to the load or to a power of it: in logarithms that is a straight line, which also holds beyond
    the baseline. Shape: bins (n_series, n_bins), distances from the level -> (n_series,)
    """
    lowest = np.fmin.reduce(bins, axis=1) + series_stats.level
    small = np.maximum(np.maximum(0.1 * series_stats.size, series_stats.digit), 0.1 * series_stats.scale)
    is_positive = (lowest >= 0) & (small > 0)
    return np.where(is_positive, series_stats.level + small, np.nan).astype(np.float32)


def to_log(bins: Float32Array, added: Float32Array) -> Float32Array:
    """Return logarithms, or unchanged distances for series that stay linear. Shape: bins (n_series, n_bins)"""
    positive = np.maximum(bins + added[:, None], 1e-6 * np.abs(added[:, None]))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isnan(added)[:, None], bins, np.log(positive)).astype(np.float32)


def learn(bins: Float32Array) -> tuple[LoadModel, Float32Array] | None:
    """Return the load model, and the residuals of each half of the bins under the model of the other half.

    Missing: None where the baseline has too few bins, or its series no common factor. Shape: bins, residuals (n_series, n_bins)
    """
    n_bins = bins.shape[1]
    if n_bins < MIN_BINS or len(bins) < 3:
        return None
    mean, deviation, standard = _standardise(bins)
    n_factors = _count_factors(standard)
    if n_factors == 0:
        return None
    loadings = _loadings(standard, n_factors)
    # Residuals of a half that the model was not learned from are unbiased.
    half = n_bins // 2
    left = np.concatenate(
        [
            residuals(standard[:, :half], _loadings(standard[:, half:], n_factors)),
            residuals(standard[:, half:], _loadings(standard[:, :half], n_factors)),
        ],
        axis=1,
    )
    factors = loadings.T @ standard
    return LoadModel(mean, deviation, loadings, np.abs(factors).max(axis=1).astype(np.float32)), left


def unexplained(load_model: LoadModel, bins: Float32Array) -> tuple[Float32Array, Float32Array, float]:
    """Return the residual of each series' shift, the shift itself (both in deviations), and how far the load is beyond the
    baseline.

    The last is 1 where the factors stay within the baseline, 2 where they are twice as far out. Shape: bins (n_series, n_bins)
    """
    standard = np.clip((bins - load_model.mean[:, None]) / load_model.deviation[:, None], -FAR_CLIP, FAR_CLIP)
    standard = np.nan_to_num(standard)
    left, factors = _explain(standard, load_model.loadings)
    beyond = np.abs(factors).mean(axis=1) / np.maximum(load_model.reach, 1e-6)
    return np.median(left, axis=1), np.median(standard, axis=1), float(max(1.0, beyond.max()))


def residuals(standard: Float32Array, loadings: Float32Array) -> Float32Array:
    """Return the residuals of each series. Shape: (n_series, n_bins)"""
    return _explain(standard, loadings)[0]


def _explain(standard: Float32Array, loadings: Float32Array) -> tuple[Float32Array, Float32Array]:
    weights = np.ones_like(standard)
    factors = loadings.T @ standard
    for _ in range(N_ROUNDS):
        left = standard - loadings @ factors
        # Relative to the median residual of the bin, so that an unseen load does not look like many culprits.
        size = np.maximum(np.median(np.abs(left), axis=0) * 1.4826, 0.1)
        weights = np.minimum(1.0, HUBER * size / np.maximum(np.abs(left), 1e-6)).astype(np.float32)
        # One step of a weighted fit with common loadings, without solving an equation per bin.
        factors = factors + loadings.T @ (weights * left)
    own = np.minimum((loadings**2).sum(axis=1), 0.9)[:, None]
    left = (standard - loadings @ factors) / (1 - own * weights)
    return left.astype(np.float32), factors.astype(np.float32)


def _standardise(bins: Float32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
    with np.errstate(invalid="ignore"):
        n = np.maximum((~np.isnan(bins)).sum(axis=1), 1)
        mean = (np.nansum(bins, axis=1) / n).astype(np.float32)
        away = np.nan_to_num(bins - mean[:, None])
        deviation = np.sqrt((away**2).sum(axis=1) / n).astype(np.float32)
    deviation = np.where(deviation > 0, deviation, np.float32(np.inf)).astype(np.float32)
    return mean, deviation, np.clip(away / deviation[:, None], -CLIP, CLIP).astype(np.float32)


def _count_factors(standard: Float32Array) -> int:
    """Return the number of factors that are stronger than by chance, which series shifted in time by random amounts show."""
    n_series, n_bins = standard.shape
    strengths = _strengths(standard)
    random = np.random.default_rng(0)
    by_chance = 0.0
    for _ in range(N_SHIFTS):
        shifts = np.asarray(random.integers(0, n_bins, n_series))
        places = (np.arange(n_bins)[None, :] + shifts[:, None]) % n_bins
        by_chance = max(by_chance, float(_strengths(np.take_along_axis(standard, places, axis=1))[0]))
    most = min(MAX_FACTORS, n_bins // BINS_PER_FACTOR, n_series // 3)
    return int(min(np.count_nonzero(strengths > 1.1 * by_chance), most))


def _strengths(standard: Float32Array) -> FloatArray:
    small = standard.T @ standard if standard.shape[1] <= standard.shape[0] else standard @ standard.T
    return np.sort(np.linalg.eigvalsh(small.astype(np.float64)))[::-1]


def _loadings(standard: Float32Array, n_factors: int) -> Float32Array:
    if standard.shape[1] <= standard.shape[0]:
        _, vectors = np.linalg.eigh((standard.T @ standard).astype(np.float64))
        loadings = standard @ vectors[:, ::-1][:, :n_factors]
    else:
        _, vectors = np.linalg.eigh((standard @ standard.T).astype(np.float64))
        loadings = vectors[:, ::-1][:, :n_factors]
    lengths = np.sqrt((loadings**2).sum(axis=0))
    return np.asarray(loadings / np.maximum(lengths, 1e-12), np.float32)


def window_middles(left: Float32Array, n_window: int) -> Float32Array:
    """Return the absolute median residual of windows of n_window bins. Shape: left (n_series, n_bins) -> (n_windows, n_series)"""
    n_bins = left.shape[1]
    length = int(np.clip(n_window, 1, max(1, n_bins // 8)))
    starts = distinct_values(np.linspace(0, n_bins - length, min(MAX_WINDOWS, 2 * n_bins // length)).astype(np.intp))
    return np.stack([np.abs(np.median(left[:, start : start + length], axis=1)) for start in starts]).astype(np.float32)
