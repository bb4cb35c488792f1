"""Which series move with another one: the correlation of their movements at several scales and lags, and how sure that is.

Levels of unrelated series correlate as soon as both drift. So what is correlated are movements: at each step, the mean after it
minus the mean before it, over spans of several lengths (`SCALES`). A dip moves down and up again, a drift hardly moves at all.

How high the correlation of unrelated series gets is measured, not assumed: each series is also correlated with the chosen one
turned by a large part of the window, where nothing can be related, once for each of several turns. A series is found if it is
more strongly correlated than in any of its own turns, and if few enough of all turns (`MAX_FALSE_SHARE`) reach its score.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.summary import BoolArray, Float32Array, FloatArray, IntArray

# Spans whose means are compared, in steps.
SCALES: Final = (1, 3, 9, 27)
# With fewer steps nothing can be told from chance.
MIN_STEPS: Final = 60
# Values that a series needs, and the longest time without one, as a share of all steps.
MIN_VALUES: Final = 30
MAX_SILENCE: Final = 0.15
# Movements are clipped at this many times their mean size, or one spike would be all that counts.
CLIP: Final = 4.0
# Times that the chosen series is turned.
N_TURNS: Final = 4
# Weaker correlations are not listed, however sure they are.
MIN_CORRELATION: Final = 0.4
# Expected share of chance matches among the series found.
MAX_FALSE_SHARE: Final = 0.1
# The strongest turns, whose scores tell how quickly stronger ones become rare.
N_TAIL: Final = 20
# Waves of up to this many cycles are taken off, for a rhythm that does not come back in the window: in a window of a day, whatever
# people cause goes up and down together.
N_HARMONICS: Final = 2
# A rhythm that comes back this often is taken off as it is.
MIN_PERIODS: Final = 2
# A series that moves alike in a turn, as what runs every minute does, is not found unless it is this many times surer in its place.
TURN_MARGIN: Final = 1.25
# Neighbouring frequencies over which the spectrum of the chosen series is averaged.
N_SMOOTHED: Final = 9
# Mean excess of scores over a high one in noise, about; few turns would say less.
MIN_EXCESS: Final = 0.25
# Series correlated at once, so that their spectra stay in the processor's cache.
AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True)
class CoMovements:
    """How series move with the chosen one.

    Shape: all (n_series,), but `turned` (n_series, N_TURNS): the score of each turn. `correlation`: -1..1, of the scale at which it
    is surest; `lag`: in steps, positive where the series moves after the chosen one; `is_known`: whether it has enough values.
    Missing: score 0 where a series does not move or has too few values
    """

    is_known: BoolArray
    correlation: Float32Array
    lag: IntArray
    score: Float32Array
    turned: Float32Array

    def is_candidate(self) -> BoolArray:
        """Return which series may be related, before chance is counted. Shape: (n_series,)"""
        is_surer = self.score > TURN_MARGIN * self.turned.max(axis=1, initial=0)
        return np.asarray((np.abs(self.correlation) >= MIN_CORRELATION) & is_surer, np.bool_)


class CoMovementSearch:
    """Compares series with a chosen one, some at a time."""

    def __init__(self, chosen: FloatArray, max_lag: int, *, period: int | None = None) -> None:
        """Take the values of the chosen series, step by step. `max_lag`: in steps, at most a twelfth of all; `period`: of a rhythm
        that all series may have, a day, in steps.

        Shape: chosen (n_steps,). Missing: NaN

        Raises: ValueError when the series does not move, or has too few values
        """
        self.n_steps = len(chosen)
        self.max_lag = max(1, min(max_lag, self.n_steps // 12))
        if self.n_steps < MIN_STEPS or not _is_known(chosen[None, :].astype(np.float32))[0]:
            raise ValueError("too few values")
        n_periods = 0.0 if period is None else self.n_steps / period
        self._period = period if n_periods >= MIN_PERIODS else None
        n_cycles = 1 if n_periods >= MIN_PERIODS else max(1, math.ceil(N_HARMONICS * n_periods))
        filled = self._prepare(chosen[None, :].astype(np.float32))
        self._scales = [own for scale in SCALES if (own := _Scale.of(filled, scale, self.max_lag, n_cycles)) is not None]
        if not self._scales:
            raise ValueError("the series does not move")

    def compare(self, values: Float32Array) -> CoMovements:
        """Return how these series move with the chosen one. Shape: values (n_series, n_steps). Missing: NaN"""
        parts = [self._compare(values[begin : begin + AT_ONCE]) for begin in range(0, len(values), AT_ONCE)]
        if not parts:
            nothing = np.empty(0, np.float32)
            return CoMovements(np.empty(0, np.bool_), nothing, np.empty(0, np.int64), nothing, np.empty((0, N_TURNS), np.float32))
        return join_movements(parts)

    def _prepare(self, values: Float32Array) -> Float32Array:
        filled = hold_last(values)
        return filled if self._period is None else without_rhythm(filled, self._period)

    def _compare(self, values: Float32Array) -> CoMovements:
        n_series = len(values)
        is_known = _is_known(values)
        filled = self._prepare(values)
        correlation, score = np.zeros((2, n_series), np.float32)
        lag = np.zeros(n_series, np.int64)
        turned = np.zeros((n_series, N_TURNS), np.float32)
        for scale in self._scales:
            found = scale.compare(filled)
            is_better = found.score > score
            correlation[is_better], lag[is_better] = found.correlation[is_better], found.lag[is_better]
            np.maximum(score, found.score, out=score)
            np.maximum(turned, found.turned, out=turned)
        return CoMovements(is_known, correlation, lag, np.where(is_known, score, 0), np.where(is_known[:, None], turned, 0))


def join_movements(parts: Sequence[CoMovements]) -> CoMovements:
    """Return the series of all parts, in their order."""
    return CoMovements(
        np.concatenate([part.is_known for part in parts]),
        np.concatenate([part.correlation for part in parts]),
        np.concatenate([part.lag for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.turned for part in parts]),
    )


def choose_related(found: CoMovements) -> IntArray:
    """Return the places of the series that move with the chosen one, the surest first. Missing: none where nothing does

    The turns say how many unrelated series reach a score: the series are cut off where those are more than MAX_FALSE_SHARE of them.
    """
    places = np.flatnonzero(found.is_candidate())
    if not len(places):
        return places.astype(np.int64)
    places = places[np.argsort(-found.score[places], kind="stable")]
    # Turned series must pass the same test: be stronger than the other turns of their series, and than its real place.
    best = found.turned.max(axis=1)
    chance = np.sort(best[(best >= found.score) & (best > 0)])[::-1]
    share = _expected_by_chance(chance, found.score[places]) / found.turned.shape[1] / np.arange(1, len(places) + 1)
    good = np.flatnonzero(share <= MAX_FALSE_SHARE)
    return np.asarray(places[: good[-1] + 1] if len(good) else places[:0], np.int64)


def _expected_by_chance(chance: FloatArray | Float32Array, scores: FloatArray | Float32Array) -> FloatArray:
    """Return how many turned series reach each score. Beyond the strongest ones they become rarer exponentially.

    Shape: chance (n,) descending, scores (n_scores,) -> (n_scores,)
    """
    counted = len(chance) - np.searchsorted(chance[::-1], scores, side="left").astype(np.float64)
    tail = chance[:N_TAIL]
    if not len(tail):
        return counted
    excess = max(float(tail.mean() - tail[-1]), MIN_EXCESS)
    return np.asarray(np.maximum(counted, len(tail) * np.exp(-np.maximum(scores - tail[-1], 0) / excess)), np.float64)


def _is_known(values: Float32Array) -> BoolArray:
    """Return whether each series has enough values, and none too far from the next. Shape: (n_series, n_steps) -> (n_series,)"""
    is_there = ~np.isnan(values)
    steps = np.arange(values.shape[1])
    silence = steps - np.maximum.accumulate(np.where(is_there, steps, -1), axis=1)
    return np.asarray((is_there.sum(axis=1) >= MIN_VALUES) & (silence.max(axis=1) <= MAX_SILENCE * len(steps)), np.bool_)


def hold_last(values: Float32Array) -> Float32Array:
    """Return the series with the last value in place of a missing one, and the first one before it. 0 where a series has none.

    Shape: (n_series, n_steps) -> the same
    """
    is_there = ~np.isnan(values)
    if is_there.all():
        return values
    steps = np.arange(values.shape[1])
    last = np.maximum.accumulate(np.where(is_there, steps, -1), axis=1)
    first = np.argmax(is_there, axis=1)
    held = np.take_along_axis(values, np.where(last < 0, first[:, None], last), axis=1)
    return np.asarray(np.nan_to_num(held, nan=0.0), np.float32)


def without_rhythm(values: Float32Array, period: int) -> Float32Array:
    """Return the series without what comes back in each period, such as the time of day.

    Shape: (n_series, n_steps) without NaN -> the same
    """
    n_steps = values.shape[1]
    n_periods = -(-n_steps // period)
    padded = np.full((len(values), n_periods * period), np.nan, np.float32)
    padded[:, :n_steps] = values
    of_phase = np.nanmedian(padded.reshape(len(values), n_periods, period), axis=1)
    return np.asarray(values - np.tile(of_phase, (1, n_periods))[:, :n_steps], np.float32)


def movements_of(values: Float32Array, scale: int, slow: Float32Array) -> Float32Array:
    """Return the movement at each step, clipped, without slow waves, and of length 1. 0 where a series does not move.

    Shape: values (n_series, n_steps) without NaN, slow (n_steps - 2 * scale + 1, n_waves) -> (n_series, n_steps - 2 * scale + 1)
    """
    # Far from zero, sums of four-byte floats lose what moves.
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values - values[:, :1], axis=1, dtype=np.float64, out=sums[:, 1:])
    middle = sums[:, scale:-scale] if scale else sums
    moved = (sums[:, 2 * scale :] - 2 * middle + sums[:, : -2 * scale]).astype(np.float32)
    size = np.abs(moved).mean(axis=1, keepdims=True)
    size[size <= 1e-6 * np.abs(values).max(axis=1, keepdims=True) * scale] = np.inf
    moved /= size
    np.clip(moved, -CLIP, CLIP, out=moved)
    moved -= (moved @ slow) @ slow.T
    length = np.sqrt((moved**2).sum(axis=1, keepdims=True))
    moved /= np.where(length > 0, length, 1)
    return moved


@functools.cache
def _slow_waves(n: int, n_cycles: int) -> Float32Array:
    """Return waves of up to this many cycles as columns that are orthogonal and of length 1. Shape: -> (n, n_waves)"""
    # Half cycles, too: a slow wave hardly ever fits into the window a whole number of times.
    phase = np.pi * np.outer((np.arange(n) + 0.5) / n, np.arange(1, 2 * n_cycles + 1))
    waves, _ = np.linalg.qr(np.concatenate([np.ones((n, 1)), np.cos(phase), np.sin(phase)], axis=1))
    return np.asarray(waves, np.float32)


class _Scale:
    """The movements of the chosen series at one scale, at all lags and turns."""

    def __init__(self, filled: Float32Array, scale: int, max_lag: int, n_cycles: int) -> None:
        n = filled.shape[1] - 2 * scale + 1
        self._n, self._scale, self._max_lag = n, scale, max_lag
        self._slow = _slow_waves(n, n_cycles)
        moved = movements_of(filled, scale, self._slow)[0]
        self.is_moving = bool(moved.any())
        lags = np.arange(-max_lag, max_lag + 1)
        # A turn is far from the real place in either direction.
        turns = np.linspace(3 * max_lag, n - 3 * max_lag, N_TURNS).astype(np.int64)
        shifts = np.concatenate([lags, (turns[:, None] + lags).ravel()])
        # shifted[t, k] is what the chosen series did `shifts[k]` steps before t.
        shifted = moved[(np.arange(n)[:, None] - shifts) % n]
        # Shifted, it has slow waves again, which no other series has.
        shifted -= self._slow @ (self._slow.T @ shifted)
        length = np.sqrt((shifted**2).sum(axis=0))
        self._shifted = shifted / np.where(length > 0, length, 1)
        power = np.abs(np.fft.rfft(moved)) ** 2
        kernel = np.ones(N_SMOOTHED) / N_SMOOTHED
        self._power = np.convolve(np.pad(power, N_SMOOTHED // 2, mode="reflect"), kernel, mode="valid").astype(np.float32)

    @classmethod
    def of(cls, filled: Float32Array, scale: int, max_lag: int, n_cycles: int) -> "_Scale | None":
        """Return the scale. Missing: None where the series does not move, or is too short for it"""
        if filled.shape[1] < 6 * scale + 6 * max_lag + 2:
            return None
        made = cls(filled, scale, max_lag, n_cycles)
        return made if made.is_moving else None

    def compare(self, filled: Float32Array) -> CoMovements:
        """Return how these series move with the chosen one at this scale."""
        moved = movements_of(filled, self._scale, self._slow)
        n_lags = 2 * self._max_lag + 1
        correlations = (moved @ self._shifted).reshape(len(moved), 1 + N_TURNS, n_lags)
        root = np.sqrt(np.maximum(self._independent(moved) - self._slow.shape[1] - 2, 0))
        places = np.abs(correlations).argmax(axis=2)
        strongest = np.take_along_axis(correlations, places[:, :, None], axis=2)[:, :, 0]
        scores = np.arctanh(np.minimum(np.abs(strongest), 0.9999)) * root[:, None]
        is_moving: BoolArray = np.abs(moved).max(axis=1) > 0
        lags = places[:, 0].astype(np.int64) - self._max_lag
        return CoMovements(is_moving, strongest[:, 0], lags, scores[:, 0], scores[:, 1:])

    def _independent(self, moved: Float32Array) -> Float32Array:
        """Return the number of independent steps of each pair (Bartlett): fewer where both series are smooth. Shape: (n_series,)"""
        spectrum = np.fft.rfft(moved, axis=1)
        power = spectrum.real**2 + spectrum.imag**2
        # The sum over lags of the product of both autocorrelations, from the spectra; each series has length 1.
        weights = np.full(power.shape[1], 2.0, np.float32)
        weights[0] = 1
        if self._n % 2 == 0:
            weights[-1] = 1
        product = (power @ (weights * self._power)) / self._n
        return np.asarray(self._n / np.maximum(product, 1), np.float32)
