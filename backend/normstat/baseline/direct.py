"""A profile straight from samples: for windows that nobody has looked at before, and for files."""

from collections.abc import Sequence

import numpy as np

from normstat.baseline.summary import Float32Array, FloatArray, Summary, summarise
from normstat.baseline.traits import BoolArray, digits_of, levels_of, looks_like_percent, traits_of
from normstat.baseline.yardstick import LARGEST_PART, MOST_WINDOWS, Profile, Traits, Usual, usual_of

# Shorter windows have no quarters to tell apart.
LEAST_WINDOW: int = 4
LEAST_WINDOWS: int = 4


def cut(n: int, n_wanted: int) -> list[slice]:
    """The windows of a baseline of n reports for an incident of so many: at most an eighth of it (a quarter of few), overlapping by half if need be."""
    length = max(1, min(n_wanted, max(n // LARGEST_PART, min(LEAST_WINDOW, n // LEAST_WINDOWS))))
    n_windows = int(np.clip(2 * n // length - 1, 1, MOST_WINDOWS))
    starts = np.unique(np.linspace(0, n - length, n_windows).astype(np.intp))
    return [slice(int(start), int(start) + length) for start in starts]


def relative(values: FloatArray, level: FloatArray) -> Float32Array:
    """Distances from the level, in four bytes. Shape: values (n_series, n), level (n_series,)"""
    return np.asarray(values - level[:, None], np.float32)


def profile_of(
    values: FloatArray,
    n_incident: int,
    *,
    digit: FloatArray | None = None,
    is_percent: BoolArray | None = None,
) -> Profile:
    """The profile of a baseline for incidents of so many reports; digits and percentages are guessed where nobody names them.

    Shape: values (n_series, n_reports) at the same instants, digit and is_percent (n_series,). Missing: NaN
    """
    level = levels_of(values)
    digit = digits_of(values) if digit is None else digit
    is_percent = looks_like_percent(values) if is_percent is None else is_percent
    distances = relative(values, level)
    whole = summarise(distances)
    traits = traits_of(whole, level, digit, is_percent)
    return Profile(traits, whole, [usual_from(distances, n_incident, whole, traits)])


def usual_from(distances: Float32Array, n_incident: int, whole: Summary, traits: Traits) -> Usual:
    """What windows as long as the incident do by themselves. Shape: distances (n_series, n_reports)"""
    pieces: Sequence[slice] = cut(distances.shape[1], n_incident)
    length = pieces[0].stop - pieces[0].start
    windows = [summarise(distances[:, piece]) for piece in pieces]
    return usual_of(windows, whole, traits, length_s=float(length), n_disjoint=distances.shape[1] / length)
