"""What a baseline knows of a host: all its series at once, and how a window is judged by that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.scoring.change_scale import (
    VALUE,
    Ends,
    Traits,
    Usual,
    ends_of,
    floors_of,
    least_digit,
    measure,
    nearly_largest,
    nearly_largest_of_others,
    own_ranks_of,
    yardstick_of,
)
from normstat.scoring.load_model import Follow, unexplained
from normstat.scoring.significance import FOLLOW, Calibration, calibrate, combine
from normstat.scoring.summary import Float32Array, FloatArray, IntArray, Summary

MIN_BASELINE: Final = 5
MIN_INCIDENT: Final = 1
MAX_MISSING: Final = 0.1
# What moves by the last digit that a tool prints is hardly worth a look.
ONE_STEP_FACTOR: Final = 0.6
# As many windows as this count as much as what all series leave unexplained.
FOLLOW_POOL: Final = 16.0


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of windows of one length.

    Shape: unexplained (n_series,): how far the medians of windows lie from what the load explains, in deviations of `Follow`.
    Missing: None where nothing is common to the series
    """

    usual: Usual
    unexplained: Float32Array | None
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class HostProfile:
    """All series of a host in a baseline, in the order of whoever made it.

    Shape: families (n_series,), codes of the series that are alike (the same field of all CPUs); added (n_series,): see
    follow.to_log `bin_s`: length of the bins in which series are compared with each other
    """

    traits: Traits
    whole: Summary
    families: IntArray
    lengths: Sequence[Knowledge]
    follow: Follow | None
    added: Float32Array
    bin_s: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the series. Shape: change, yardstick, surprise (n_kinds + 1, n_series), the rest (n_series,)

    `surprise`: minus the decimal logarithm of the chance of such a change in a normal window; `score`: all kinds in one number;
    `explained`: share of the shift that the load explains, 0..1; `can_judge`: whether both sides have enough samples
    """

    window: Summary
    change: Float32Array
    yardstick: Float32Array
    surprise: FloatArray
    explained: Float32Array
    score: FloatArray
    can_judge: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def times(self) -> Float32Array:
        """How many times the usual change each change is. Missing: 0. Shape: (n_kinds + 1, n_series)"""
        return _ratio(self.change, self.yardstick)


def learn_length(
    windows: Sequence[Summary],
    whole: Summary,
    traits: Traits,
    families: IntArray,
    *,
    length_s: float,
    n_disjoint: float,
    left: Float32Array | None,
) -> Knowledge:
    """Return what windows of one length of a baseline do by themselves; `left`: what the load leaves unexplained in windows of that
    length.

    Shape: left (n_windows, n_series), absolute, in deviations. Raises: ValueError without windows
    """
    ends, digit = ends_of(windows, traits), least_digit(traits)
    own_ranks = own_ranks_of(whole)
    changes = np.stack([measure(window, whole, ends, digit, traits, own_ranks=own_ranks) for window in windows])
    usual = Usual(length_s, n_disjoint, nearly_largest(changes), ends)
    n_window = np.median([window.n_reports for window in windows], axis=0)
    normal = _ratio(changes, yardstick_of(usual, whole, traits, n_window))
    others = yardstick_of(replace(usual, change=nearly_largest_of_others(changes)), whole, traits, n_window)
    _put_largest(normal, changes, others)
    calibration = calibrate(normal, families)
    if left is None:
        return Knowledge(usual, None, calibration)
    floor = _follow_floor(whole, traits, n_window)
    mine, others = (_pooled(array, len(left)) for array in (nearly_largest(left), nearly_largest_of_others(left)))
    normal = _ratio(left, np.maximum(mine, floor))
    _put_largest(normal, left, np.maximum(others, floor))
    return Knowledge(usual, mine, calibration.with_kind(calibrate(normal[:, None, :], families)))


def judge(profile: HostProfile, window: Summary, event_size: FloatArray, bins: Float32Array | None, length_s: float) -> Judged:
    """Return how unusual a window is, series by series.

    `event_size`: how far samples of the window are from the level when they are not there; `bins`: the window's means over bins, as
    follow.to_log gives them. Shape: event_size (n_series,), bins (n_series, n_bins)
    """
    known = at_length(profile.lengths, length_s)
    # Where the baseline shows no event at all, those of the incident say how large one is.
    seen = profile.traits.event_size
    traits = replace(profile.traits, event_size=np.where(profile.traits.is_event & (seen == 0), event_size, seen))
    n_window = window.n_reports.astype(np.float64)
    nothing = np.zeros((1, len(window)), np.float32)
    change = np.concatenate([measure(window, profile.whole, known.usual.ends, least_digit(traits), traits), nothing])
    yardstick = np.concatenate([yardstick_of(known.usual, profile.whole, traits, n_window), nothing + 1])
    explained = nothing[0]
    if profile.follow is not None and known.unexplained is not None and bins is not None and bins.shape[1]:
        left, shift, beyond = unexplained(profile.follow, bins)
        change[FOLLOW] = np.abs(left)
        yardstick[FOLLOW] = np.maximum(known.unexplained * beyond, _follow_floor(profile.whole, traits, n_window))
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = np.nan_to_num(1 - np.minimum(1, np.abs(left) / np.abs(shift))).astype(np.float32)
    times = _ratio(change, yardstick)
    surprise = known.calibration.surprise(times, profile.families)
    surprise[:, _is_one_step(window, profile.whole, traits)] *= ONE_STEP_FACTOR
    # What was always there and is gone can be judged by that.
    is_gone = (window.n == 0) & (window.n_reports > 0) & (profile.whole.missing < MAX_MISSING)
    can_judge = (profile.whole.n >= MIN_BASELINE) & ((window.n >= MIN_INCIDENT) | is_gone)
    score = np.where(can_judge, combine(surprise, times, explained, _steadiness(window, profile.whole), n_window), 0)
    return Judged(window, change, yardstick, surprise, explained, score, can_judge)


def _is_one_step(window: Summary, whole: Summary, traits: Traits) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether nothing of the distribution moved farther than the tool's last digit. Shape: (n_series,)"""
    apart = np.abs(window.quantiles[:, 1:-1] - whole.quantiles[:, 1:-1]).max(axis=1)
    is_there = ~(window.missing > whole.missing + MAX_MISSING)
    # Events of a count are new ones; those of a number with digits behind the point are its rounding.
    is_rounding = ~traits.is_event | (traits.digit < 1)
    return np.asarray((traits.digit > 0) & (apart <= 1.5 * traits.digit) & is_there & is_rounding, np.bool_)


def _steadiness(window: Summary, whole: Summary) -> Float32Array:
    """Return how much of its farthest way a window was off in its first part already, 0..1. Shape: (n_series,)"""
    away = np.abs(window.parts - whole.median[:, None])
    farthest = np.fmax.reduce(away, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(np.minimum(1, away[:, 0] / farthest)), np.float32)


def at_length(lengths: Sequence[Knowledge], length_s: float) -> Knowledge:
    """Return what windows of that length do by themselves, read between the lengths that are known (evenly in their logarithms).

    A shorter window than all of them moves more, as the mean of fewer samples does; a longer one counts as the longest.
    """
    known = sorted(lengths, key=lambda item: item.usual.length_s)
    first, last = known[0], known[-1]
    if length_s >= last.usual.length_s:
        return last
    if length_s <= first.usual.length_s:
        factor = float(np.sqrt(first.usual.length_s / max(length_s, 1e-9)))
        left = None if first.unexplained is None else np.asarray(first.unexplained * factor, np.float32)
        return replace(
            first, usual=replace(first.usual, change=np.asarray(first.usual.change * factor, np.float32)), unexplained=left
        )
    upper = next(number for number, item in enumerate(known) if item.usual.length_s >= length_s)
    one, other = known[upper - 1], known[upper]
    part = float(np.log(length_s / one.usual.length_s) / np.log(other.usual.length_s / one.usual.length_s))
    return Knowledge(
        Usual(
            length_s,
            _between(one.usual.n_disjoint, other.usual.n_disjoint, part),
            _mix(one.usual.change, other.usual.change, part),
            Ends(
                _mix(one.usual.ends.top, other.usual.ends.top, part),
                _mix(one.usual.ends.bottom, other.usual.ends.bottom, part),
                _mix(one.usual.ends.spread, other.usual.ends.spread, part),
                _mix(one.usual.ends.jitter, other.usual.ends.jitter, part),
            ),
        ),
        None if one.unexplained is None or other.unexplained is None else _mix(one.unexplained, other.unexplained, part),
        one.calibration if part < 0.5 else other.calibration,
    )


def _between(one: float, other: float, part: float) -> float:
    return one * (1 - part) + other * part


def _mix(one: Float32Array, other: Float32Array, part: float) -> Float32Array:
    # What only one length knows counts for both.
    mixed = one * np.float32(1 - part) + other * np.float32(part)
    return np.where(np.isnan(mixed), np.fmax(one, other), mixed)


def _pooled(unexplained_usual: Float32Array, n_windows: int) -> Float32Array:
    """Few windows are pulled towards what all series leave unexplained."""
    moves = unexplained_usual[unexplained_usual > 0]
    typical = float(np.median(moves)) if len(moves) else 1.0
    weight = n_windows / (n_windows + FOLLOW_POOL)
    own = np.where(np.isnan(unexplained_usual), typical, unexplained_usual)
    return np.asarray(np.maximum(own, weight * own + (1 - weight) * typical), np.float32)


def _follow_floor(whole: Summary, traits: Traits, n_window: FloatArray) -> Float32Array:
    """Return what a tool can tell apart, as a part of the usual size."""
    return np.asarray(floors_of(whole, traits, n_window)[VALUE] / np.maximum(traits.size, 1e-9), np.float32)


def _put_largest(normal: Float32Array, changes: Float32Array, by_others: Float32Array) -> None:
    """The window with the largest change is measured by the others."""
    if len(normal) < 2:
        return
    largest = np.nan_to_num(changes, nan=-1.0).argmax(axis=0)[None]
    times = _ratio(np.take_along_axis(changes, largest, axis=0)[0], by_others)
    np.put_along_axis(normal, largest, times[None], axis=0)


def _ratio(change: Float32Array, yardstick: Float32Array) -> Float32Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(change / yardstick, nan=0.0, posinf=0.0), np.float32)
