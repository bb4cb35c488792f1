"""From profiles and an incident's samples to scores: each series by its own yardstick, and against what the load explains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.baseline.follow import Follow, unexplained
from normstat.baseline.summary import Float32Array, FloatArray, Summary, summarise
from normstat.baseline.yardstick import (
    KINDS,
    VALUE,
    Profile,
    Usual,
    floors_of,
    least_digit,
    measure,
    nearly_largest_of_others,
    yardstick_of,
)

# All kinds of change, those of a series by itself first.
ALL_KINDS: Final = (*KINDS, "follow")
FOLLOW: Final = len(KINDS)
LEAST_BASELINE: Final = 5
LEAST_INCIDENT: Final = 1


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the series of one profile. Shape: change, yardstick (n_kinds + 1, n_series), the rest (n_series,)

    `can_judge`: whether both sides have enough samples; `explained`: share of the shift that the load explains, 0..1
    """

    profile: Profile
    window: Summary
    change: Float32Array
    yardstick: Float32Array
    explained: Float32Array
    can_judge: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def times(self) -> Float32Array:
        """How many times the usual change each change is. Missing: 0. Shape: (n_kinds + 1, n_series)"""
        return _ratio(self.change, self.yardstick)


def judge(profile: Profile, usual: Usual, distances: Float32Array) -> Judged:
    """Each series by its own yardstick. Shape: distances (n_series, n_reports) of the incident from the profile's levels"""
    window = summarise(distances)
    profile = _with_events(profile, distances)
    nothing = np.zeros((1, len(window)), np.float32)
    digit = least_digit(profile.traits)
    return Judged(
        profile=profile,
        window=window,
        change=np.concatenate([measure(window, profile.whole, usual.ends, digit, profile.traits), nothing]),
        yardstick=np.concatenate([yardstick_of(profile, usual, distances.shape[1]), nothing + 1]),
        explained=nothing[0],
        can_judge=(profile.whole.n >= LEAST_BASELINE) & (window.n >= LEAST_INCIDENT),
    )


def normal_windows(profile: Profile, usual: Usual, n_window: int) -> Float32Array:
    """How many times its usual change each window of the baseline shows, measured by the others. Shape: (n_windows, n_kinds, n_series)"""
    yardstick = yardstick_of(profile, usual, n_window)
    times = _ratio(usual.changes, yardstick)
    if len(times) > 1:
        others = replace(usual, change=nearly_largest_of_others(usual.changes))
        largest = np.nan_to_num(usual.changes, nan=-1.0).argmax(axis=0)[None]
        by_others = _ratio(np.take_along_axis(usual.changes, largest, axis=0)[0], yardstick_of(profile, others, n_window))
        np.put_along_axis(times, largest, by_others[None], axis=0)
    return times


def judge_together(judged: Sequence[Judged], follow: Follow, bins: Float32Array) -> tuple[list[Judged], Float32Array]:
    """The same with what the load does not explain, and how many times the usual that is in normal windows: (n_windows, n_series).

    Shape: bins (n_series, n_bins) of the incident, the series of all in their order
    """
    left, shift, beyond = unexplained(follow, bins)
    deviation = np.where(np.isfinite(follow.deviation), follow.deviation, 0)
    typical = float(np.median(follow.usual[deviation > 0])) if (deviation > 0).any() else 1.0
    n_windows = len(follow.windows)
    weight = n_windows / (n_windows + 16)
    usual = weight * follow.usual + (1 - weight) * typical
    others = weight * nearly_largest_of_others(follow.windows) + (1 - weight) * typical
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.nan_to_num(1 - np.minimum(1, np.abs(left) / np.abs(shift)))
    results = []
    start = 0
    # What the tool can tell apart, as deviations of the logarithm.
    floors = np.concatenate([floors_of(item.profile, int(item.window.n_reports.max(initial=1)))[VALUE] for item in judged])
    floors = floors / np.concatenate([np.maximum(item.profile.traits.size, 1e-9) for item in judged])
    for item in judged:
        rows = slice(start, start + len(item.window))
        start = rows.stop
        change, yardstick = item.change.copy(), item.yardstick.copy()
        change[FOLLOW] = np.abs(left[rows]) * deviation[rows]
        yardstick[FOLLOW] = np.maximum(usual[rows] * deviation[rows] * beyond, floors[rows])
        results.append(replace(item, change=change, yardstick=yardstick, explained=explained[rows].astype(np.float32)))
    sizes = follow.windows * deviation
    normal = _ratio(sizes, np.maximum(usual * deviation, floors))
    largest = sizes.argmax(axis=0)[None]
    by_others = _ratio(np.take_along_axis(sizes, largest, axis=0)[0], np.maximum(others * deviation, floors))
    np.put_along_axis(normal, largest, by_others[None], axis=0)
    return results, normal


def _ratio(change: Float32Array, yardstick: Float32Array) -> Float32Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(change / yardstick, nan=0.0, posinf=0.0).astype(np.float32)


def _with_events(profile: Profile, distances: Float32Array) -> Profile:
    """Where the baseline shows no event at all, those of the incident say how large one is."""
    traits = profile.traits
    rows = np.flatnonzero(traits.is_event & (traits.event_size == 0))
    if len(rows) == 0 or distances.shape[1] == 0:
        return profile
    sizes = np.abs(distances[rows])
    ordered = np.sort(np.where(sizes > 0, sizes, np.nan), axis=1)
    n = (~np.isnan(ordered)).sum(axis=1)
    event_size = traits.event_size.copy()
    event_size[rows] = np.nan_to_num(ordered[np.arange(len(rows)), np.maximum(n - 1, 0) // 2])
    return replace(profile, traits=replace(traits, event_size=event_size))
