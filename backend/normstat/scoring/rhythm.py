"""The rhythm of windows: how sure it is that a series repeats itself with a period, from the harmonics in its spectrum.

A stop of 5 s every 40 s that is sampled every 5 s hardly moves the distribution of the samples. But its spectrum has lines at
1/40 Hz and its multiples. Each line is compared with its neighbours, so that the steep spectrum of a slow series is no rhythm.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# A window with fewer reports shows no period.
MIN_REPORTS: Final = 24
# A period comes back this often in a window, and is this many reports long.
MIN_CYCLES: Final = 4
MIN_PERIOD: Final = 4
N_HARMONICS: Final = 6
# Frequencies are tried in such parts of a line, so that the last harmonic meets its line.
STEP: Final = 1 / N_HARMONICS
# A line is compared with this many on each side.
N_BESIDE: Final = 10
# Lines are at least this share of the mean, or a frequency without any power makes its neighbours strong.
MIN_POWER: Final = 0.01
# Samples are clipped at this many widths of the middle half, or one spike hides everything.
CLIP: Final = 3.0
# Series processed at once, so that their spectra stay in the processor's cache.
AT_ONCE: Final = 512


def rhythm_of(
    values: Float32Array, is_there: BoolArray, median: Float32Array, width: Float32Array, piece: int | None = None
) -> Float32Array:
    """Return how sure the strongest rhythm of each series is: minus the decimal logarithm of the chance that a frequency and its
    harmonics are as strong in noise. 0 where the middle half of the samples is one value.

    `piece`: reports in the windows that it is compared with. A longer window shows the same rhythm more surely, so the mean over
    pieces of that length is returned.

    Shape: values (n_series, n_reports) in the order of time, the rest (n_series,): whether it has enough samples, their median, and
    the width of their middle half -> (n_series,). Missing: NaN without enough samples, and in windows of few reports
    """
    n_reports = values.shape[1]
    wanted = n_reports if piece is None else min(piece, n_reports)
    length = _quick_length(wanted)
    if length < MIN_REPORTS:
        return np.full(len(values), np.nan, np.float32)
    result = np.where(is_there, 0, np.nan).astype(np.float32)
    rows = np.flatnonzero(is_there & (width > 0))
    starts = np.linspace(0, n_reports - length, -(-n_reports // wanted)).astype(np.intp).tolist()
    for begin in range(0, len(rows), AT_ONCE):
        some = rows[begin : begin + AT_ONCE]
        deviations = values[some]
        deviations -= median[some, None]
        deviations /= width[some, None]
        # A missing sample carries no information: it is put in the middle.
        np.copyto(deviations, 0, where=np.isnan(deviations))
        np.clip(deviations, -CLIP, CLIP, out=deviations)
        found = [_strongest(_lines(deviations[:, start : start + length])) for start in starts]
        result[some] = np.mean(found, axis=0)
    return result


def _quick_length(n: int) -> int:
    """Return the largest number up to n that is a product of 2, 3 and 5: the spectrum of that many reports is quick to compute."""
    for length in range(n, 0, -1):
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
    return 0


def _lines(deviations: Float32Array) -> Float32Array:
    """Return the strength of each frequency: minus the natural logarithm of its chance in noise as strong as its neighbours.

    Shape: (n_series, n_reports) -> (n_frequencies, n_series)
    """
    spectrum = np.fft.rfft(deviations, axis=1)
    power = np.ascontiguousarray((spectrum.real**2 + spectrum.imag**2).T)
    # The mean is no frequency.
    power[0] = power[1]
    power = np.log(power + np.float32(MIN_POWER) * power.mean(axis=0) + np.float32(1e-9))
    n = len(power)
    sums = np.zeros((n + 1, power.shape[1]), np.float32)
    np.cumsum(power, axis=0, out=sums[1:])
    places = np.arange(n)
    low, high = np.maximum(places - N_BESIDE, 0), np.minimum(places + N_BESIDE + 1, n)
    n_beside = (high - low - 1).astype(np.float32)[:, None]
    # The mean of logarithms: other harmonics among the neighbours hardly lift it. Of noise it is less by Euler's constant.
    beside = (sums[high] - sums[low] - power) / n_beside
    ratio = np.exp(power - beside - np.float32(np.euler_gamma))
    # One line of noise exceeds `ratio` times the mean of k others with the chance (1 + ratio / k) ** -k.
    return np.asarray(n_beside * np.log1p(ratio / n_beside), np.float32)


def find_period(values: FloatArray) -> float | None:
    """Return the period of the strongest rhythm of one series, in samples. Missing: None where too few samples move.

    Shape: values (n,), in the order of time, without missing values
    """
    length = _quick_length(len(values))
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75)) if len(values) else (0.0, 0.0, 0.0)
    if length < MIN_REPORTS or high <= low:
        return None
    deviations = np.clip((values[None, :length] - median) / (high - low), -CLIP, CLIP).astype(np.float32)
    sums = [(n_harmonics, frequencies, total[:, 0].copy()) for n_harmonics, frequencies, total in _combs(_lines(deviations))]
    _, period = max(
        (float(_chance_of_sum(total.max(keepdims=True), n_harmonics)[0]), float(length / frequencies[total.argmax()]))
        for n_harmonics, frequencies, total in sums
    )
    return period


def _strongest(lines: Float32Array) -> Float32Array:
    """Return minus the decimal logarithm of the chance of the strongest frequency with its harmonics. Shape: -> (n_series,)"""
    result = np.zeros(lines.shape[1], np.float32)
    for n_harmonics, _, total in _combs(lines):
        result = np.maximum(result, _chance_of_sum(total.max(axis=0), n_harmonics))
    return result


def _combs(lines: Float32Array) -> Iterator[tuple[int, FloatArray, Float32Array]]:
    """Yield numbers of harmonics, the frequencies (in periods a window) that have that many, and the sums of their lines.

    Shape: lines (n_lines, n_series); sums (n_frequencies, n_series), valid until the next
    """
    n, n_series = lines.shape
    frequencies = np.arange(MIN_CYCLES, 2 * (n - 1) / MIN_PERIOD + STEP / 2, STEP)
    total = np.zeros((len(frequencies), n_series), np.float32)
    for harmonic in range(1, N_HARMONICS + 1):
        # Frequencies whose harmonic is still in the spectrum.
        places = np.rint(harmonic * frequencies).astype(np.intp)
        places = places[places < n]
        if len(places) == 0:
            return
        total = total[: len(places)]
        total += lines[places]
        yield harmonic, frequencies[: len(places)], total


def _chance_of_sum(total: Float32Array, n_terms: int) -> Float32Array:
    """Return minus the decimal logarithm of the chance that the logarithms of `n` chances reach a sum."""
    term = np.ones(len(total))
    series = term.copy()
    for number in range(1, n_terms):
        term = term * total / number
        series += term
    return np.asarray((total - np.log(series)) / np.log(10), np.float32)
