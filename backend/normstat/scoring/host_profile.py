"""The profile of a host in a baseline, all series at once, and the scores of a window against it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.scoring.change_scale import (
    HOLLOW,
    IN_UNITS,
    RHYTHM,
    STEP,
    STILL,
    TREND,
    VALUE,
    Ends,
    NaturalChange,
    SeriesStats,
    change_scale_of,
    ends_of,
    floors_of,
    least_digit,
    measure,
    nearly_largest,
    nearly_largest_of_others,
    own_ranks_of,
    spread_about_mean,
)
from normstat.scoring.load_model import LoadModel, unexplained
from normstat.scoring.significance import LOAD, Calibration, Constants, calibrate, combine, strength_of
from normstat.scoring.summary import BoolArray, Float32Array, FloatArray, IntArray, Summary, are_disjoint

MIN_BASELINE: Final = 5
MIN_INCIDENT: Final = 1
MAX_MISSING: Final = 0.1
# A change by the last printed digit is hardly significant.
ONE_STEP_FACTOR: Final = 0.6
# This many windows count as much as the residuals of all series.
LOAD_POOL: Final = 16.0
# Kinds that need several samples: how a series moves within a window.
OF_SHAPE: Final = (STEP, STILL, TREND, HOLLOW)


@dataclass(frozen=True, slots=True)
class WindowModel:
    """Natural change and calibration of windows of one length.

    Shape: unexplained (n_series,): distance of the windows' medians from the load model, in its deviations.
    Missing: None without a load model
    """

    natural_change: NaturalChange
    unexplained: Float32Array | None
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class HostProfile:
    """All series of a host in a baseline, in a fixed order.

    Shape: families (n_series,), codes of families (the same field of all CPUs); added (n_series,): see load_model.to_log.
    `bin_s`: length of the load model's bins
    """

    series_stats: SeriesStats
    baseline: Summary
    families: IntArray
    window_models: Sequence[WindowModel]
    load_model: LoadModel | None
    added: Float32Array
    bin_s: float


@dataclass(frozen=True, slots=True)
class Before:
    """The time right before a window. A difference from the baseline that was there already is not the window's own.

    `pieces`: the time cut into windows as long as the scored one; `is_over`: what it shows of the change has ended, so it tells
    nothing. Shape: bins (n_series, n_bins), from `to_log`; is_over (n_series,). Missing: None without bins
    """

    summary: Summary
    pieces: Sequence[Summary]
    bins: Float32Array | None
    is_over: BoolArray

    def take(self, rows: npt.NDArray[np.intp]) -> "Before":
        """Return some of the series."""
        bins = None if self.bins is None else self.bins[rows]
        return Before(self.summary.take(rows), [piece.take(rows) for piece in self.pieces], bins, self.is_over[rows])


@dataclass(frozen=True, slots=True)
class WindowScores:
    """The scores of a window. Shape: change, change_scale, kind_significance (n_kinds + 1, n_series), the rest (n_series,)

    `kind_significance`: minus the decimal logarithm of the chance of such a change in a normal window; `significance`: all kinds in
    one number; `strength`: how far it moved and how rare that is, which orders them; `explained_by_load`: share of the shift, 0..1;
    `is_disjoint`: all samples lie outside the baseline's range; `is_constant`: the baseline has one value only; `has_enough_data`:
    whether both sides have enough samples
    """

    window: Summary
    change: Float32Array
    change_scale: Float32Array
    kind_significance: FloatArray
    explained_by_load: Float32Array
    significance: FloatArray
    strength: FloatArray
    is_disjoint: BoolArray
    is_constant: BoolArray
    has_enough_data: BoolArray

    @property
    def change_ratios(self) -> Float32Array:
        """Change divided by change scale. Missing: 0. Shape: (n_kinds + 1, n_series)"""
        return _ratio(self.change, self.change_scale)


def learn_window_model(
    windows: Sequence[Summary],
    baseline: Summary,
    series_stats: SeriesStats,
    families: IntArray,
    *,
    length_s: float,
    n_disjoint: float,
    left: Float32Array | None,
) -> WindowModel:
    """Return the model of a baseline's windows of one length. `left`: what the load model leaves of each window.

    Shape: left (n_windows, n_series), absolute, in deviations. Raises: ValueError without windows
    """
    ends, digit = ends_of(windows), least_digit(series_stats)
    own_ranks = own_ranks_of(baseline)
    changes = np.stack([measure(window, baseline, ends, digit, series_stats, own_ranks=own_ranks) for window in windows])
    natural_change = NaturalChange(length_s, n_disjoint, nearly_largest(changes), ends)
    n_window = np.median([window.n_reports for window in windows], axis=0)
    normal = _ratio(changes, change_scale_of(natural_change, baseline, series_stats, n_window))
    others = change_scale_of(replace(natural_change, change=nearly_largest_of_others(changes)), baseline, series_stats, n_window)
    _put_largest(normal, changes, others)
    is_constant = _is_constant(baseline)
    normal[:, :, is_constant] = np.nan
    # Not every window shows a rhythm: one that is unknown is not one without.
    normal[:, RHYTHM][np.isnan(changes[:, RHYTHM])] = np.nan
    calibration = calibrate(normal, families, _first_moves(changes, baseline, series_stats, n_window, n_disjoint))
    if left is None:
        return WindowModel(natural_change, None, calibration)
    floor = _load_floor(baseline, series_stats, n_window)
    mine, others = (_pooled(array, len(left)) for array in (nearly_largest(left), nearly_largest_of_others(left)))
    normal = _ratio(left, np.maximum(mine, floor))
    _put_largest(normal, left, np.maximum(others, floor))
    normal[:, is_constant] = np.nan
    return WindowModel(natural_change, mine, calibration.with_kind(calibrate(normal[:, None, :], families)))


def _is_constant(baseline: Summary) -> BoolArray:
    """Return whether each series has had one value only. Shape: (n_series,)"""
    return np.asarray((baseline.n > 0) & (baseline.away == 0), np.bool_)


def _first_moves(
    changes: Float32Array, baseline: Summary, series_stats: SeriesStats, n_window: FloatArray, n_disjoint: float
) -> Constants:
    """Return how often a series that is constant otherwise moves in a window of the baseline, and by how much.

    A series that moved in one window only was constant in all others: what it did there, a constant series can do in the incident.
    Shape: changes (n_windows, n_kinds, n_series)
    """
    has_moved = changes[:, VALUE] > 0
    n_moved = has_moved.sum(axis=0)
    first, last = has_moved.argmax(axis=0), len(has_moved) - 1 - has_moved[::-1].argmax(axis=0)
    # Neighbouring windows overlap.
    is_single = (n_moved > 0) & (last - first <= 1) & (baseline.away <= 1 / max(n_disjoint, 1)) & (len(changes) > 2)
    columns = np.flatnonzero(is_single)
    still = replace(
        series_stats,
        event_size=np.zeros_like(series_stats.event_size),
        size=np.where(series_stats.level == 0, 0, series_stats.size),
    )
    floors = floors_of(baseline, still, n_window)[:, columns]
    largest = np.fmax(changes[first[columns], :, columns], changes[last[columns], :, columns]).T
    n_windows = n_disjoint * (int(_is_constant(baseline).sum()) + len(columns))
    return Constants((len(columns) + 1) / (n_windows + 2), _ratio(largest, floors))


def score_window(
    profile: HostProfile,
    window: Summary,
    event_size: FloatArray,
    bins: Float32Array | None,
    length_s: float,
    *,
    before: Before | None = None,
) -> WindowScores:
    """Return the scores of a window. With `before`, a change is the smaller of those against the baseline and against that time.

    `event_size`: distance of the window's samples from the level when not at it; `bins`: the window's means over bins, from
    `to_log`. Shape: event_size (n_series,), bins (n_series, n_bins)
    """
    window_model = window_model_at(profile.window_models, length_s)
    series_stats = _with_digits(profile.series_stats, event_size)
    n_window = window.n_reports.astype(np.float64)
    nothing = np.zeros((1, len(window)), np.float32)
    change = np.concatenate(
        [measure(window, profile.baseline, window_model.natural_change.ends, least_digit(series_stats), series_stats), nothing]
    )
    change_scale = np.concatenate(
        [change_scale_of(window_model.natural_change, profile.baseline, series_stats, n_window), nothing + 1]
    )
    if before is not None:
        change[:-1] = _new_part(change[:-1], change_scale[:-1], *_hold_against(before, window, profile, window_model, series_stats))
    explained_by_load = nothing[0]
    if profile.load_model is not None and window_model.unexplained is not None and bins is not None and bins.shape[1]:
        left, shift, beyond = unexplained(profile.load_model, bins)
        change[LOAD] = np.abs(left)
        change_scale[LOAD] = np.maximum(window_model.unexplained * beyond, _load_floor(profile.baseline, series_stats, n_window))
        if before is not None and before.bins is not None and before.bins.shape[1]:
            already = unexplained(profile.load_model, before.bins)[0]
            new = _new_part(change[LOAD], change_scale[LOAD], np.abs(already), np.abs(left - already))
            change[LOAD] = np.where(before.is_over, change[LOAD], new)
        with np.errstate(invalid="ignore", divide="ignore"):
            explained_by_load = np.nan_to_num(1 - np.minimum(1, np.abs(left) / np.abs(shift))).astype(np.float32)
    change_ratios, is_constant = _ratio(change, change_scale), _is_constant(profile.baseline)
    kind_significance = window_model.calibration.significance(change_ratios, profile.families, is_constant)
    is_one_step = _is_one_step(window, profile.baseline, series_stats)
    kind_significance[:, is_one_step] *= ONE_STEP_FACTOR
    # A series that was always present and is gone is scored as missing.
    is_gone = (window.n == 0) & (window.n_reports > 0) & (profile.baseline.missing < MAX_MISSING)
    has_enough_data = (profile.baseline.n >= MIN_BASELINE) & ((window.n >= MIN_INCIDENT) | is_gone)
    significance = np.where(
        has_enough_data,
        combine(kind_significance, explained_by_load, is_constant),
        0,
    )
    return WindowScores(
        window,
        change,
        change_scale,
        kind_significance,
        explained_by_load,
        significance,
        strength_of(change_ratios, significance),
        are_disjoint(*window.range, *profile.baseline.range),
        is_constant,
        has_enough_data,
    )


def _hold_against(
    before: Before, window: Summary, profile: HostProfile, window_model: WindowModel, series_stats: SeriesStats
) -> tuple[Float32Array, Float32Array]:
    """Return how far the time right before a window is from the baseline, and the window from that time, by kind.

    Missing: NaN with few samples. Shape: both (n_kinds, n_series)
    """
    digit, ends = least_digit(series_stats), ends_of(before.pieces)
    # The ends of a longer time lie farther out: take those of pieces as long as the window.
    typical = replace(before.summary, top=ends.top, bottom=ends.bottom, rhythm=ends.rhythm)
    already = measure(typical, profile.baseline, window_model.natural_change.ends, digit, series_stats)
    since = measure(window, before.summary, ends, digit, series_stats)
    since[list(IN_UNITS)] /= _wider(before.summary, profile.baseline, digit)
    # A few samples do not show how much a series moves at another level.
    since[:, before.summary.n < MIN_BASELINE] = np.nan
    # Without any sample, nothing is known of that time.
    already[:, before.summary.n == 0] = np.nan
    for told in (already, since):
        told[:, before.is_over] = np.nan
    return already, since


def _wider(before: Summary, baseline: Summary, digit: FloatArray) -> Float32Array:
    """Return how many times as far a series moves right before as in the baseline, at least 1.

    At eight times its level it moves about eight times as far: that is natural there. Shape: -> (n_series,)
    """
    ratio = spread_about_mean(before) / np.maximum(spread_about_mean(baseline), digit)
    return np.asarray(np.maximum(1, np.nan_to_num(ratio, nan=1.0)), np.float32)


def _new_part(change: Float32Array, change_scale: Float32Array, already: Float32Array, since: Float32Array) -> Float32Array:
    """Return the part of a change from the baseline that was not there right before.

    It is divided by the change ratio of the time before where that is above 1, but stays as large as the change since then.
    """
    ratio = np.maximum(1, _ratio(already, change_scale))
    if ratio.ndim > 1:
        # A series at another level moves otherwise as well.
        ratio[list(OF_SHAPE)] = np.maximum(ratio[list(OF_SHAPE)], ratio[VALUE])
    left = np.fmax(since, change / ratio)
    return np.asarray(np.fmin(change, left), np.float32)


def _with_digits(series_stats: SeriesStats, event_size: FloatArray) -> SeriesStats:
    """Return the statistics with a smallest difference for series that showed none: constant at zero, printed with many digits."""
    has_none = (series_stats.digit == 0) & (series_stats.size == 0)
    return replace(series_stats, digit=np.where(has_none, event_size, series_stats.digit))


def _is_one_step(window: Summary, baseline: Summary, series_stats: SeriesStats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether the distribution moved by no more than the tool's last digit. Shape: (n_series,)"""
    apart = np.abs(window.quantiles[:, 1:-1] - baseline.quantiles[:, 1:-1]).max(axis=1)
    is_there = ~(window.missing > baseline.missing + MAX_MISSING)
    # Events of a whole number are real; those of a number with decimals are its rounding.
    is_rounding = ~series_stats.is_event | (series_stats.digit < 1)
    return np.asarray((series_stats.digit > 0) & (apart <= 1.5 * series_stats.digit) & is_there & is_rounding, np.bool_)


def window_model_at(window_models: Sequence[WindowModel], length_s: float) -> WindowModel:
    """Return the model for windows of a length, interpolated between the known lengths (linear in their logarithms).

    A window shorter than all of them moves more, as the mean of fewer samples does; a longer one counts as the longest.
    """
    ordered = sorted(window_models, key=lambda item: item.natural_change.length_s)
    first, last = ordered[0], ordered[-1]
    if length_s >= last.natural_change.length_s:
        return last
    if length_s <= first.natural_change.length_s:
        factor = float(np.sqrt(first.natural_change.length_s / max(length_s, 1e-9)))
        left = None if first.unexplained is None else np.asarray(first.unexplained * factor, np.float32)
        return replace(
            first,
            natural_change=replace(first.natural_change, change=np.asarray(first.natural_change.change * factor, np.float32)),
            unexplained=left,
        )
    upper = next(number for number, item in enumerate(ordered) if item.natural_change.length_s >= length_s)
    one, other = ordered[upper - 1], ordered[upper]
    part = float(
        np.log(length_s / one.natural_change.length_s) / np.log(other.natural_change.length_s / one.natural_change.length_s)
    )
    return WindowModel(
        NaturalChange(
            length_s,
            _between(one.natural_change.n_disjoint, other.natural_change.n_disjoint, part),
            _mix(one.natural_change.change, other.natural_change.change, part),
            Ends(
                _mix(one.natural_change.ends.top, other.natural_change.ends.top, part),
                _mix(one.natural_change.ends.bottom, other.natural_change.ends.bottom, part),
                _mix(one.natural_change.ends.rhythm, other.natural_change.ends.rhythm, part),
            ),
        ),
        None if one.unexplained is None or other.unexplained is None else _mix(one.unexplained, other.unexplained, part),
        one.calibration if part < 0.5 else other.calibration,
    )


def _between(one: float, other: float, part: float) -> float:
    return one * (1 - part) + other * part


def _mix(one: Float32Array, other: Float32Array, part: float) -> Float32Array:
    # Where one length has no value, take the other's.
    mixed = one * np.float32(1 - part) + other * np.float32(part)
    return np.where(np.isnan(mixed), np.fmax(one, other), mixed)


def _pooled(unexplained_usual: Float32Array, n_windows: int) -> Float32Array:
    """Return the residuals of windows, with few windows pulled towards those of all series."""
    moves = unexplained_usual[unexplained_usual > 0]
    typical = float(np.median(moves)) if len(moves) else 1.0
    weight = n_windows / (n_windows + LOAD_POOL)
    own = np.where(np.isnan(unexplained_usual), typical, unexplained_usual)
    return np.asarray(np.maximum(own, weight * own + (1 - weight) * typical), np.float32)


def _load_floor(baseline: Summary, series_stats: SeriesStats, n_window: FloatArray) -> Float32Array:
    """Return the floor of the level, relative to the typical size."""
    return np.asarray(floors_of(baseline, series_stats, n_window)[VALUE] / np.maximum(series_stats.size, 1e-9), np.float32)


def _put_largest(normal: Float32Array, changes: Float32Array, by_others: Float32Array) -> None:
    """Replace the ratio of the window with the largest change by that against the other windows."""
    if len(normal) < 2:
        return
    largest = np.nan_to_num(changes, nan=-1.0).argmax(axis=0)[None]
    ratios = _ratio(np.take_along_axis(changes, largest, axis=0)[0], by_others)
    np.put_along_axis(normal, largest, ratios[None], axis=0)


def _ratio(change: Float32Array, change_scale: Float32Array) -> Float32Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(change / change_scale, nan=0.0, posinf=0.0), np.float32)
