"""When normal changed: steps of the level, the spread and the rhythm of series over months, from the means of their hours. Pure.

Each day of a series becomes a level (the median of its hours), a spread (how far its hours are from those of the day before, both
without their level) and a shape (its hours without the level), so the rhythm of a day is no change. Each day is a candidate: the
two weeks from it on are held against the two weeks before it. What the days of the week differ by is taken off.

Series wander, grow and have busy weeks, so a step has to be many times as large as two weeks usually differ from the two before
them in this series (its scale), where a trend moves all of them alike; and the days after it have to lie beside those before it.
All is done on a scale that is logarithmic but near zero: a change is a factor, and noise that grows with the level stays the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from normstat.scoring.summary import Float32Array, FloatArray, IntArray

HOURS_A_DAY: Final = 24
WEEK: Final = 7
# Hours with a value that a day needs.
MIN_HOURS: Final = 12
# The chance that a value after a step lies on its side of a value before it (Mann-Whitney).
MIN_APART: Final = 0.95
# Steps at most this many days apart are one change of the host. Its surest step is this sure, alone or among several series.
TOGETHER: Final = 1
MIN_TOGETHER: Final = 3
MIN_SUREST: Final = 8.0
MIN_ALONE: Final = 10.0
# The place of a step is looked for this far around that from which both sides differ most.
NEAR: Final = 5
# Values below this share of the usual level are compared by difference, larger ones by ratio.
LINEAR: Final = 0.1
# Hours that vary by less than this part of the level vary as little as none.
MIN_SPREAD: Final = 0.01
# Series processed at once, so that their hours stay in the processor's cache.
AT_ONCE: Final = 64
# A standard deviation of a normal distribution is this many median distances, that of a median of n values OF_MEDIAN / sqrt(n).
DEVIATION: Final = 1.4826
OF_MEDIAN: Final = 1.2533
# Hours further from their day's level than this many usual distances count as that far.
CLIP: Final = 8.0
# The sum of 24 distances varies by at least this part of it, and by this much.
MIN_VARIATION: Final = 0.15
MIN_ROUGHNESS: Final = 0.5
# Most steps of one kind in a series. This many in one direction that lead nowhere are a habit, such as a clean-up each month.
MAX_STEPS: Final = 12
MIN_HABIT: Final = 3


@dataclass(frozen=True, slots=True)
class Sides:
    """What is held against each other: up to `length` values before and after a place, at least `least` of them, `present` known.

    A step is `score` times as large as its scale. Where too few other places tell the scale, it is that of independent values
    times `wander`.
    """

    length: int
    least: int
    present: int
    score: float
    wander: float


# Whole weeks of days. Runs of an experiment do not wander like a host.
DAYS: Final = Sides(14, 7, 5, 6.0, 2.0)
RUNS: Final = Sides(12, 4, 4, 6.0, 1.5)


class StepKind(StrEnum):
    """What of a series changed."""

    LEVEL = "level"
    SPREAD = "spread"
    RHYTHM = "rhythm"


# Smaller changes are no reason to mark a newer baseline: factors of the level, of the spread, of an hour of the day.
MIN_FACTORS: Final = {StepKind.LEVEL: 1.1, StepKind.SPREAD: 1.5, StepKind.RHYTHM: 1.25}
# Smaller ones of runs are as good as none.
MIN_RUN_FACTOR: Final = 1.01


@dataclass(frozen=True, slots=True)
class NormalStep:
    """A series differs from an hour on, counted from the first one. `row`: of the series; `score`: how many times its scale the
    change is. `before`, `after`: of up to two weeks on both sides the median level; the usual distance of an hour from that of the
    day before, as a part of the level; the hour of the day in which the series is highest
    """

    row: int
    hour: int
    kind: StepKind
    score: float
    before: float
    after: float

    @property
    def day(self) -> int:
        """The day of the hour."""
        return self.hour // HOURS_A_DAY


def find_normal_steps(hours: Float32Array) -> list[NormalStep]:
    """Return the steps of series, by row and time. Within two weeks of a step of its level, a series has no other.

    Shape: hours (n_series, n_days * 24), whole days of the host's time. Missing: NaN
    """
    found: list[NormalStep] = []
    if hours.shape[1] < 2 * DAYS.least * HOURS_A_DAY:
        return found
    for first in range(0, len(hours), AT_ONCE):
        found += _find_some(hours[first : first + AT_ONCE], first)
    return found


def group_steps(steps: Sequence[NormalStep]) -> list[list[NormalStep]]:
    """Return the steps of about one day as one change, oldest first. The surest step goes first, one of a level if there is any: it
    gives the time.
    """
    groups: list[list[NormalStep]] = []
    left = sorted(steps, key=lambda step: -step.score)
    while left:
        leader = left[0]
        own = [step for step in left if abs(step.day - leader.day) <= TOGETHER]
        left = [step for step in left if abs(step.day - leader.day) > TOGETHER]
        is_together = len({step.row for step in own}) >= MIN_TOGETHER
        if leader.score >= (MIN_SUREST if is_together else MIN_ALONE):
            first = next((step for step in own if step.kind is StepKind.LEVEL), leader)
            groups.append([first, *(step for step in own if step is not first)])
    return sorted(groups, key=lambda group: group[0].hour)


@dataclass(frozen=True, slots=True)
class StepOfRuns:
    """From a place on, values differ. `times`: median of those up to the next step as a multiple of that since the last one"""

    place: int
    times: float
    n_before: int
    n_after: int


def find_steps_of_runs(values: FloatArray) -> list[StepOfRuns]:
    """Return the places from which on positive values differ from those before them. Shape: (n,), in order"""
    if len(values) < 2 * RUNS.least:
        return []
    found = sorted(row_step.place for row_step in _scalar_steps(np.log(values)[None].astype(np.float32), RUNS, MIN_RUN_FACTOR))
    edges = [0, *found, len(values)]
    return [
        StepOfRuns(
            place,
            float(np.median(values[place : edges[number + 2]]) / np.median(values[edges[number] : place])),
            place - edges[number],
            edges[number + 2] - place,
        )
        for number, place in enumerate(found)
    ]


def _find_some(hours: Float32Array, first: int) -> list[NormalStep]:
    unit = _unit_of(hours)
    cells = np.arcsinh(hours / unit[:, None]).reshape(len(hours), -1, HOURS_A_DAY)
    level = _medians(cells, MIN_HOURS)
    shape = cells - level[:, :, None]
    moved = np.full_like(shape, np.nan)
    np.abs(shape[:, 1:] - shape[:, :-1], out=moved[:, 1:])
    spread = _medians(moved, MIN_HOURS)
    kept: list[NormalStep] = []
    for own in (_level_steps(cells, level, unit), _rhythm_steps(shape, spread), _spread_steps(spread)):
        known = [(step.row, step.day) for step in kept]
        kept += [step for step in own if not any(row == step.row and abs(day - step.day) <= DAYS.length for row, day in known)]
    kept.sort(key=lambda step: (step.row, step.hour))
    return [replace(step, row=first + step.row) for step in kept]


def _unit_of(hours: Float32Array) -> Float32Array:
    """Return a part of the usual size of each series' values. Shape: (n_series, n_hours) -> (n_series,)"""
    size = np.abs(hours)
    usual = _medians(size, 1)
    is_there = ~np.isnan(size)
    mean = np.where(is_there, size, 0).sum(axis=1) / np.maximum(is_there.sum(axis=1), 1)
    unit = LINEAR * np.where(np.nan_to_num(usual) > 0, usual, mean)
    return np.asarray(np.where(unit > 0, unit, 1), np.float32)


def _medians(values: Float32Array, n_least: int) -> Float32Array:
    """Return the medians along the last axis. Missing: NaN with fewer than `n_least` values"""
    counts = (~np.isnan(values)).sum(axis=-1)
    # NaN is sorted to the end.
    ordered = np.sort(values, axis=-1)
    places = np.stack([np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, values.shape[-1] - 1)], axis=-1)
    middle = np.take_along_axis(ordered, places, axis=-1).mean(axis=-1)
    return np.asarray(np.where(counts >= n_least, middle, np.nan), np.float32)


# --- level and spread: one number a day ---


def _level_steps(cells: Float32Array, level: Float32Array, unit: Float32Array) -> Iterator[NormalStep]:
    days = _without_week(level)
    for found in _scalar_steps(days, DAYS, MIN_FACTORS[StepKind.LEVEL]):
        of_weekday = level[found.row] - days[found.row]
        hour = _find_hour(cells[found.row] - of_weekday[:, None], days[found.row], found)
        before, after = (float(unit[found.row] * np.sinh(own)) for own in (found.before, found.after))
        yield NormalStep(found.row, hour, StepKind.LEVEL, found.score, before, after)


def _spread_steps(spread: Float32Array) -> Iterator[NormalStep]:
    logarithm = _without_week(np.log(spread + np.float32(MIN_SPREAD)))
    for found in _scalar_steps(logarithm, DAYS, MIN_FACTORS[StepKind.SPREAD]):
        before, after = (max(0.0, float(np.exp(own)) - MIN_SPREAD) for own in (found.before, found.after))
        yield NormalStep(found.row, HOURS_A_DAY * found.place, StepKind.SPREAD, found.score, before, after)


@dataclass(frozen=True, slots=True)
class _ScalarStep:
    """A step of one number a day (or a run). `before`, `after`: medians of both sides"""

    row: int
    place: int
    score: float
    before: float
    after: float


def _without_week(days: Float32Array) -> Float32Array:
    """Return days without what the days of the week usually differ by. Shape: (n_series, n_days) -> the same"""
    n_series, n_days = days.shape
    around, _ = _running_medians(days, WEEK, DAYS.present)
    n_weeks = -(-n_days // WEEK)
    rest = np.full((n_series, n_weeks * WEEK), np.nan, np.float32)
    rest[:, :n_days] = days - around[:, WEEK // 2 + 1 :][:, :n_days]
    of_weekday = np.nan_to_num(_medians(np.moveaxis(rest.reshape(n_series, n_weeks, WEEK), 1, 2), 1))
    return np.asarray(days - np.tile(of_weekday, (1, n_weeks))[:, :n_days], np.float32)


def _running_medians(values: Float32Array, length: int, n_least: int) -> tuple[Float32Array, IntArray]:
    """Return the median of the `length` values before each place, from the first one to as many after the last, and how many are
    known. Shape: (n_series, n) -> (n_series, n + length + 1)
    """
    padded = np.pad(values, ((0, 0), (length, length)), constant_values=np.nan)
    runs = np.lib.stride_tricks.sliding_window_view(padded, length, axis=1)
    return _medians(runs, n_least), (~np.isnan(runs)).sum(axis=2)


def _scalar_steps(values: Float32Array, sides: Sides, factor: float) -> Iterator[_ScalarStep]:
    """Yield the steps of logarithms by more than a factor. Shape: (n_series, n)"""
    n = values.shape[1]
    medians, counts = _running_medians(values, sides.length, sides.present)
    before, after = medians[:, : n + 1], medians[:, sides.length :]
    changes = _inside((after - before) / _inflation(counts[:, : n + 1], counts[:, sides.length :], sides), sides)
    alone = DEVIATION / np.sqrt(2) * np.nan_to_num(_medians(np.abs(np.diff(values, axis=1)), sides.present))
    floors = OF_MEDIAN * np.sqrt(2 / sides.length) * alone + 1e-6
    least = np.log(factor)
    sizes = np.abs(np.nan_to_num(changes)).max(axis=1)
    for row in np.flatnonzero((sizes >= least) & (sizes >= sides.score * floors)).tolist():
        steps = []
        for peak, score in _peaks(changes[row], float(floors[row]), sides):
            if abs(before[row, peak] - after[row, peak]) < least:
                continue
            place = _split(values[row], peak, sides)
            if _is_apart(values[row], place, 1.0 if score > 0 else -1.0, sides):
                low, high = float(medians[row, place]), float(medians[row, place + sides.length])
                steps.append(_ScalarStep(row, place, abs(score), low, high))
        if not any(_is_habit([step for step in steps if (step.after > step.before) is is_up]) for is_up in (True, False)):
            yield from steps


def _is_habit(steps: Sequence[_ScalarStep]) -> bool:
    """Return whether steps in one direction lead nowhere: in between the level goes back."""
    if len(steps) < MIN_HABIT:
        return False
    ordered = sorted(steps, key=lambda step: step.place)
    total = sum(abs(step.after - step.before) for step in steps)
    return abs(ordered[-1].after - ordered[0].before) < total / 2


def _inflation(before: IntArray, after: IntArray, sides: Sides) -> FloatArray:
    """Return how much more the difference of two sides varies with as many values as they have."""
    return np.asarray(np.sqrt((1 / np.maximum(before, 1) + 1 / np.maximum(after, 1)) * sides.length / 2), np.float64)


def _inside(changes: FloatArray, sides: Sides) -> FloatArray:
    """Return changes without those too near to the ends. Shape: (n_series, n + 1)"""
    changes[:, : sides.least] = np.nan
    changes[:, -sides.least :] = np.nan
    return changes


def _peaks(changes: FloatArray, floor: float, sides: Sides) -> Iterator[tuple[int, float]]:
    """Yield the places from which on both sides differ most, and by how many times their scale; the largest first.

    Shape: changes (n + 1,). Missing: NaN
    """
    is_open = ~np.isnan(changes)
    if not is_open.any():
        return
    is_elsewhere = is_open.copy()
    # In a short series most places are near the one step.
    usual = float(np.median(changes[is_open])) if is_open.sum() >= 4 * sides.length else 0.0
    for _ in range(MAX_STEPS):
        peak = int(np.argmax(np.where(is_open, np.abs(changes - usual), -1)))
        around = slice(max(0, peak - sides.length), peak + sides.length + 1)
        is_elsewhere[around] = False
        others = changes[is_elsewhere]
        centre, scale = 0.0, sides.wander * floor
        if len(others) >= 2 * sides.length:
            centre = float(np.median(others))
            scale = max(DEVIATION * float(np.median(np.abs(others - centre))), floor)
        score = (float(changes[peak]) - centre) / scale
        if abs(score) < sides.score:
            return
        yield peak, score
        is_open[around] = False
        if not is_open.any():
            return


def _split(values: Float32Array, peak: int, sides: Sides) -> int:
    """Return the place near `peak` that divides the values around it best: with the least sum of distances from both medians."""
    begin, end = max(0, peak - sides.length), min(len(values), peak + sides.length)

    def misfit(place: int) -> float:
        return sum(float(np.nansum(np.abs(own - np.nanmedian(own)))) for own in (values[begin:place], values[place:end]))

    near = [
        place
        for place in range(max(begin + sides.least, peak - NEAR), min(end - sides.least, peak + NEAR) + 1)
        if not np.isnan(values[place]) and not np.isnan(values[begin:place]).all()
    ]
    return min(near, key=misfit, default=peak)


def _is_apart(values: Float32Array, place: int, sign: float, sides: Sides) -> bool:
    """Return whether the values from a place on lie beside those before it, on the side of the sign."""
    both = values[max(0, place - sides.length) : place], values[place : place + sides.length]
    before, after = (own[~np.isnan(own)] for own in both)
    if min(len(before), len(after)) < sides.present:
        return False
    differences = sign * (after[:, None] - before[None, :])
    return float((differences > 0).mean() + (differences == 0).mean() / 2) >= MIN_APART


def _find_hour(cells: Float32Array, level: Float32Array, found: _ScalarStep) -> int:
    """Return the hour that divides the three days around a step of the level best, without the usual shape of the day.

    Shape: cells (n_days, 24) and level (n_days,) of one series, without what the days of the week differ by
    """
    begin, end = max(0, found.place - DAYS.length), found.place + DAYS.length
    shape = np.nan_to_num(_medians((cells[begin:end] - level[begin:end, None]).T, DAYS.present))
    first = max(0, found.place - 1)
    hours = (cells[first : found.place + 2] - shape).ravel()
    # Which side each hour is nearer to: -1 before, 1 after. The best place has most hours on their side.
    nearer = np.nan_to_num(np.sign((hours - (found.before + found.after) / 2) * np.sign(found.after - found.before)))
    fitting = np.concatenate([[0.0], np.cumsum(-nearer)])
    return first * HOURS_A_DAY + int(np.argmax(fitting[:-1]))


# --- rhythm: 24 numbers a day ---


def _rhythm_steps(shape: Float32Array, spread: Float32Array) -> Iterator[NormalStep]:
    """Yield the steps of the shape of the day. Shape: shape (n_series, n_days, 24), spread (n_series, n_days)"""
    usual = np.maximum(np.nan_to_num(_medians(spread, DAYS.present)), MIN_SPREAD)[:, None, None]
    units = np.clip(shape / usual, -CLIP, CLIP).astype(np.float32)
    before, after, inflation = _side_means(units)
    distances = np.abs(after - before)
    # A host may be off every night.
    is_known = ~np.isnan(distances).all(axis=2)
    changes = _inside(np.where(is_known, np.nansum(distances, axis=2) / inflation, np.nan), DAYS)
    least = np.log(MIN_FACTORS[StepKind.RHYTHM])
    largest = np.nan_to_num(distances).max(axis=2) * usual[:, :, 0]
    for row in np.flatnonzero((largest.max(axis=1) >= least) & ~np.isnan(changes).all(axis=1)).tolist():
        floor = MIN_VARIATION * float(np.nanmedian(changes[row])) + MIN_ROUGHNESS
        for peak, score in _peaks(changes[row], floor, DAYS):
            if score < 0 or largest[row, peak] < least:
                continue
            along = _along(units[row], peak)
            day = _split(along, peak, DAYS)
            if _is_apart(along, day, 1.0, DAYS):
                both = shape[row, max(0, day - DAYS.length) : day], shape[row, day : day + DAYS.length]
                low, high = (float(np.argmax(np.nan_to_num(_medians(side.T, 1), nan=-np.inf))) for side in both)
                yield NormalStep(row, HOURS_A_DAY * day, StepKind.RHYTHM, score, low, high)


def _side_means(units: Float32Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of each hour over the days before and after each day, and how much more they vary with as many days.

    Shape: (n_series, n_days, 24) -> twice (n_series, n_days + 1, 24), (n_series, n_days + 1). Missing: NaN with too few days
    """
    n_series, n_days, _ = units.shape
    length = DAYS.length
    is_there = ~np.isnan(units)
    padded = np.zeros((2, n_series, n_days + 2 * length + 1, HOURS_A_DAY))
    padded[0, :, length + 1 : -length] = np.where(is_there, units, 0)
    padded[1, :, length + 1 : -length] = is_there
    sums = np.cumsum(padded, axis=2)
    totals, counts = sums[:, :, length:] - sums[:, :, :-length]
    means = np.where(counts >= DAYS.present, totals / np.maximum(counts, 1), np.nan)
    of_days = counts.max(axis=2).astype(np.int64)
    return means[:, : n_days + 1], means[:, length:], _inflation(of_days[:, : n_days + 1], of_days[:, length:], DAYS)


def _along(units: Float32Array, peak: int) -> Float32Array:
    """Return how far each day is along the way from the shape before `peak` to that after it. The way is that of the odd days for
    the even ones, and the other way round: in 24 numbers, any days are far along their own way.

    Shape: (n_days, 24) -> (n_days,)
    """
    days = np.nan_to_num(units)
    along = np.full(len(days), np.nan, np.float32)
    number = np.arange(len(days))
    is_known = ~np.isnan(units).all(axis=1)
    for parity in (0, 1):
        own, other = (is_known & (number % 2 == one) for one in (parity, 1 - parity))
        before, after = (
            other & (number < peak) & (number >= peak - DAYS.length),
            other & (number >= peak) & (number < peak + DAYS.length),
        )
        if before.any() and after.any():
            along[own] = days[own] @ (days[after].mean(axis=0) - days[before].mean(axis=0))
    return along
