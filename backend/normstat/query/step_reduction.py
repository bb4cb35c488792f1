"""Several series made one: steps of time, and the sum, average, minimum, maximum or 95th percentile in each. No database, no clock.

The samples of different hosts never have the same times, so time is divided into equal steps. In a step each series has one
value: the mean of its samples, or its lowest or highest sample where the minimum or maximum is asked for. Only series with a sample
in the step count, and their number is part of the result. Nothing is interpolated, and nothing stands for a missing sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from normstat.codecs.rollup_codec import Buckets
from normstat.samples.sample_pages import Float64Array
from normstat.stats.records import Int64Array
from normstat.window import EPOCH, LATEST_US, Window, from_us, to_us

SECOND_US: Final = 1_000_000
DAY_US: Final = 86_400 * SECOND_US
# Each is made of whole minutes from a minute on, and of whole hours from an hour on: rollups fill them exactly.
STEPS_S: Final = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
# A step is at least this many times as long as the interval of the reports: a late report leaves no hole.
INTERVALS_PER_STEP: Final = 2
PERCENTILE: Final = 0.95


class Reduction(StrEnum):
    """How the values of several series in a step become one."""

    SUM = "sum"
    AVERAGE = "avg"
    MINIMUM = "min"
    MAXIMUM = "max"
    P95 = "p95"


@dataclass(frozen=True, slots=True)
class StepGrid:
    """Equal steps of time from `origin_us` on."""

    origin_us: int
    step_us: int

    def align(self, window: Window) -> Window:
        """Return the whole steps that reach into the window."""
        first = (window.start_us - self.origin_us) // self.step_us
        last = -((self.origin_us - window.end_us) // self.step_us)
        start_us = max(self.origin_us + first * self.step_us, to_us(EPOCH))
        return Window(from_us(start_us), from_us(min(self.origin_us + last * self.step_us, LATEST_US)))

    def steps_of(self, time_us: Int64Array) -> Int64Array:
        """Return the step of each instant, counted from the origin."""
        return (time_us - self.origin_us) // self.step_us


@dataclass(frozen=True, slots=True)
class StepLine:
    """One value in each step that has one.

    Shape: step (n,) int64 ascending, value (n,) float64, n_members (n,) int64: series that have a sample in the step
    """

    step: Int64Array
    value: Float64Array
    n_members: Int64Array

    def __len__(self) -> int:
        return len(self.step)


def choose_step_us(column_us: int, interval_us: int) -> int:
    """Return the shortest round step that is no narrower than a pixel column and holds the reports of two intervals.

    >>> choose_step_us(864_000, 1_000_000) // 1_000_000, choose_step_us(86_400_000, 10_000_000) // 1_000_000
    (2, 120)
    """
    least_us = max(column_us, INTERVALS_PER_STEP * interval_us)
    fitting = (step_s * SECOND_US for step_s in STEPS_S if step_s * SECOND_US >= least_us)
    return next(fitting, -(-least_us // DAY_US) * DAY_US)


def pick_values(buckets: Buckets, how: Reduction) -> Float64Array:
    """Return the value of each step of a series: its lowest or highest sample for a minimum or maximum, else the mean of all."""
    if how is Reduction.MINIMUM:
        return buckets.low
    if how is Reduction.MAXIMUM:
        return buckets.high
    return np.asarray(buckets.total / buckets.n)


def reduce_members(step: Int64Array, value: Float64Array, how: Reduction) -> StepLine:
    """Return one value for each step that occurs. A percentile is interpolated linearly between the two nearest members.

    Shape: step (n,) int64 in any order, value (n,) float64 without NaN
    """
    if not len(step):
        return StepLine(step, value, step)
    order = np.lexsort((value, step))
    step, value = step[order], value[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(step)) + 1])
    n_members = np.diff(np.append(starts, len(step)))
    return StepLine(step[starts], _reduce_sorted(value, starts, n_members, how), n_members)


def _reduce_sorted(value: Float64Array, starts: Int64Array, n: Int64Array, how: Reduction) -> Float64Array:
    if how is Reduction.MINIMUM:
        return value[starts]
    if how is Reduction.MAXIMUM:
        return np.asarray(value[starts + n - 1])
    if how is Reduction.P95:
        place = PERCENTILE * (n - 1)
        below = np.floor(place).astype(np.int64)
        low, high = value[starts + below], value[starts + np.minimum(below + 1, n - 1)]
        return np.asarray(low + (high - low) * (place - below))
    total = np.add.reduceat(value, starts)
    return np.asarray(total if how is Reduction.SUM else total / n)


def join_members(lines: Sequence[StepLine], how: Reduction) -> StepLine:
    """Return the reduction of several lines."""
    if not lines:
        return StepLine(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    return reduce_members(np.concatenate([line.step for line in lines]), np.concatenate([line.value for line in lines]), how)


def to_points(line: StepLine, grid: StepGrid, *, breaks_at_members: bool) -> tuple[Int64Array, Float64Array, Int64Array]:
    """Return times in ms (the start of each step), values with NaN at gaps, and the number of members (0 at gaps).

    The line is not joined across a step without a value; with `breaks_at_members` also not where the number of members changes: the
    sum of three hosts and that of two are different quantities.
    """
    is_gap = np.diff(line.step) > 1
    if breaks_at_members:
        is_gap |= np.diff(line.n_members) != 0
    breaks = np.flatnonzero(is_gap) + 1
    time_us = grid.origin_us + line.step * grid.step_us
    between = (time_us[breaks - 1] + time_us[breaks]) // 2
    return (
        np.insert(time_us, breaks, between) // 1000,
        np.insert(line.value, breaks, np.nan),
        np.insert(line.n_members, breaks, 0),
    )
