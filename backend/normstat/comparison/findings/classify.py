"""From judged series to findings: which kind of change it is, how much of it there is, what both sides show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat import work_budget
from normstat.comparison.findings.wording import Change, describe_change, name_series
from normstat.comparison.model import Direction, Finding, FindingKind, Parts, SideValues
from normstat.scoring.change_scale import (
    BOTTOM,
    HIGH,
    HOLLOW,
    IN_UNITS,
    JITTER,
    LOW,
    MISSING,
    ORDER,
    PART,
    RATIOS,
    SPREAD,
    STEP,
    STILL,
    TOP,
    TREND,
    VALUE,
)
from normstat.scoring.host_profile import HostProfile, Judged
from normstat.scoring.significance import FOLLOW
from normstat.scoring.summary import (
    MIDDLE,
    N_QUANTILES,
    PROBABILITIES,
    Float32Array,
    FloatArray,
    IntArray,
    Summary,
    middle_half,
)
from normstat.stats.spec import Field, Kind, Worse

# Of what is no percentage nobody knows how much there could be: it counts at most half as much as a percentage that moves from
# 0 to 100, and that when the host's total of the field moves by so many decades.
DECADES: Final = 5.0
UNBOUNDED_IMPACT: Final = 0.5
# Better than normal is worth a look as well, only later.
BETTER_FACTOR: Final = 0.8
# The surprise at which the order stops caring much about how unusual a series is, and begins to about impact.
HALF_SURPRISE: Final = 6.0
MIN_IMPACT_FACTOR: Final = 0.25
# So much of a percentage is full, and so many samples at their highest value are a limit, where the values are many.
FULL_PERCENT: Final = 99.0
AT_LIMIT: Final = 0.25
MANY_DIGITS: Final = 10
FROZEN: Final = 0.9
ENDS: Final = (TOP, HIGH, BOTTOM, LOW, HOLLOW)
MOVEMENTS: Final = (STEP, JITTER, STILL)
# What moves more because one of its ends does, is told by that end, if it is at least so surprising.
TELLING: Final = 0.5
# Of these kinds more is neither better nor worse.
WITHOUT_JUDGEMENT: Final = frozenset({"spread", "movement", "missing", "frozen", "shape"})
# More than any tool prints, and none that only the arithmetic made.
SIGNIFICANT: Final = 9
# What a distance may be off for being kept in four bytes, relative to itself.
RESOLUTION: Final = 1e-7
# The highest power of ten that a float holds exactly.
MAX_EXACT: Final = 22


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a host: the field knows unit, digits and which direction is worse."""

    stat: str
    instance: str
    field: Field


@dataclass(frozen=True, slots=True)
class Totals:
    """What there is of each series' field on the host. Shape: both (n_series,)

    `usual`: in the baseline, the sum over all instances of their mean sizes; `presence`: share of the reports with the instance
    """

    usual: FloatArray
    presence: FloatArray


def totals_of(profile: HostProfile, window: Summary) -> Totals:
    """Return what there is of each series' field, from the summaries of all its instances."""
    away, away_now = (np.nan_to_num(side.missing, nan=1.0) for side in (profile.whole, window))
    presence = np.maximum(1 - away, 1 - away_now).astype(np.float64)
    mean = np.abs(np.nan_to_num(profile.whole.mean) + profile.traits.level) * (1 - away)
    sums = np.bincount(profile.families, weights=mean, minlength=int(profile.families.max(initial=-1)) + 1).astype(np.float64)
    return Totals(sums[profile.families], presence)


def make_findings(rows: Sequence[int], series: Sequence[Series], profile: HostProfile, judged: Judged) -> list[Finding]:
    """Return the findings of some of the series, in the order of `rows`. Shape: series (n_series,)"""
    if not rows:
        return []
    chosen = np.array(rows, np.intp)
    levels = profile.traits.level[chosen]
    befores, afters = to_values(profile.whole.take(chosen), levels), to_values(judged.window.take(chosen), levels)
    times, totals = judged.times[:, chosen], totals_of(profile, judged.window)
    parts = _to_parts(times)
    bests = _choose_kinds(judged.surprise[:, chosen]).tolist()
    result = []
    for place, row in enumerate(rows):
        work_budget.check()
        best, one = bests[place], series[row]
        kind, size = _Kinds(row, one.field, profile, judged).describe(best)
        change = Change(one.field, kind, befores[place], afters[place], size)
        impact = _impact(one.field, change, float(totals.usual[row]), float(totals.presence[row]))
        score, surprise = float(times[best, place]), float(judged.score[row])
        direction: Direction = "same" if size == 0 or kind == "frozen" else "up" if size > 0 else "down"
        is_worse = _is_worse(one.field, kind, direction)
        weight = surprise / (surprise + HALF_SURPRISE) * (MIN_IMPACT_FACTOR + (1 - MIN_IMPACT_FACTOR) * impact**0.5)
        result.append(
            Finding(
                instance=one.instance,
                kind=kind,
                direction=direction,
                is_worse=is_worse,
                baseline=change.before,
                incident=change.after,
                usual=_round(_to_usual(best, float(judged.yardstick[best, row]), size, score)),
                change=_round(size),
                score=_round(score),
                surprise=_round(surprise),
                explained=_round(float(judged.explained[row])),
                parts=parts[place],
                impact=_round(impact),
                weight=_round(weight * (BETTER_FACTOR if is_worse is False else 1.0)),
                sentence=describe_change(name_series(one.stat, one.instance, one.field), change, score, by_load=best == FOLLOW),
                figure=None,
            )
        )
    return result


def _choose_kinds(surprise: FloatArray) -> IntArray:
    """Return what each change is told by: the kind that surprises most. Shape: surprise (n_kinds + 1, n_series) -> (n_series,)"""
    best = surprise.argmax(axis=0)
    most = surprise.max(axis=0)
    top, bottom = surprise[[TOP, HIGH]], surprise[[BOTTOM, LOW, HOLLOW]]
    highest, lowest = top.max(axis=0), bottom.max(axis=0)
    # Both ends alike are movement indeed.
    is_end = np.isin(best, MOVEMENTS) & (np.maximum(highest, lowest) >= TELLING * most)
    is_end &= np.minimum(highest, lowest) < TELLING * np.maximum(highest, lowest)
    end = np.where(
        highest > lowest, np.array([TOP, HIGH])[top.argmax(axis=0)], np.array([BOTTOM, LOW, HOLLOW])[bottom.argmax(axis=0)]
    )
    return np.asarray(np.where(is_end, end, best), np.int64)


def to_values(summary: Summary, levels: FloatArray) -> list[SideValues]:
    """Return one side of each series. Shape: levels (n_series,)"""
    quantiles = _add_levels(summary.quantiles, levels[:, None])
    p5, p95 = (_between(quantiles, share) for share in (0.05, 0.95))
    # Between the last two points lies the end: its mean says more than a straight line.
    p99 = np.clip(_add_levels(summary.top, levels), quantiles[:, -2], quantiles[:, -1])
    mean = _add_levels(summary.mean, levels)
    rounded = round_all(np.column_stack([mean, quantiles[:, MIDDLE], p5, p95, p99, quantiles[:, 0], quantiles[:, -1], quantiles]))
    return [_to_side(n, row) for n, row in zip(summary.n.tolist(), rounded.tolist(), strict=True)]


def _add_levels(distances: Float32Array, levels: FloatArray) -> FloatArray:
    """Return values from distances, without the digits that four bytes do not hold: what was zero is zero again."""
    wide = distances.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.ceil(np.log10(np.abs(wide) * RESOLUTION))
    exponent = np.clip(np.nan_to_num(exponent, neginf=-MAX_EXACT), -MAX_EXACT, MAX_EXACT)
    factor = 10.0 ** np.abs(exponent)
    values = wide + levels
    return np.asarray(np.where(exponent < 0, np.rint(values * factor) / factor, np.rint(values / factor) * factor), np.float64)


def _to_side(n: int, row: list[float]) -> SideValues:
    if n == 0:
        return SideValues(0, None, None, None, None, None, None, None, None)
    mean, median, p5, p95, p99, lowest, highest, *quantiles = row
    return SideValues(n, mean, median, p5, p95, p99, lowest, highest, quantiles)


def round_all(values: FloatArray) -> FloatArray:
    """As many significant digits as count. Missing: NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = SIGNIFICANT - 1 - np.floor(np.log10(np.abs(values)))
    exponent = np.clip(np.nan_to_num(exponent, posinf=0, neginf=0), -MAX_EXACT, MAX_EXACT)
    # Only powers of ten above one are exact.
    factor = 10.0 ** np.abs(exponent)
    return np.asarray(np.where(exponent >= 0, np.rint(values * factor) / factor, np.rint(values / factor) * factor), np.float64)


def _between(quantiles: FloatArray, share: float) -> FloatArray:
    place = share * (len(PROBABILITIES) - 1)
    low = int(place)
    part = place - low
    return np.asarray(quantiles[:, low] * (1 - part) + quantiles[:, min(low + 1, len(PROBABILITIES) - 1)] * part, np.float64)


def _to_parts(times: Float32Array) -> list[Parts]:
    """Shape: times (n_kinds + 1, n_series)"""
    kinds = (
        (VALUE, ORDER, PART, TREND),
        (SPREAD,),
        (TOP, HIGH),
        (BOTTOM, LOW, HOLLOW),
        (STEP, JITTER),
        (STILL,),
        (MISSING,),
        (FOLLOW,),
    )
    most = np.stack([times[list(some)].max(axis=0) for some in kinds], axis=1)
    return [Parts(*row) for row in round_all(most.astype(np.float64)).tolist()]


def _to_usual(best: int, yardstick: float, change: float, score: float) -> float:
    """Return how much it changes by itself, as the kind measures it."""
    if best in RATIOS:
        return float(np.exp(min(yardstick, 700.0)))
    return yardstick if best in IN_UNITS else abs(change) / max(score, 1e-9)


def _is_worse(field: Field, kind: FindingKind, direction: Direction) -> bool | None:
    if field.worse is Worse.NEITHER or direction == "same" or kind in WITHOUT_JUDGEMENT:
        return None
    return (field.worse is Worse.HIGHER) == (direction == "up")


class _Kinds:
    """What to call the change of one series, and how large it is with its sign."""

    def __init__(self, row: int, field: Field, profile: HostProfile, judged: Judged) -> None:
        self._row = row
        self._field = field
        self._whole = profile.whole
        self._window = judged.window
        self._level = float(profile.traits.level[row])
        self._digit = float(profile.traits.digit[row])
        self._is_event = bool(profile.traits.is_event[row])
        self._median = float(self._window.median[row] - self._whole.median[row])
        self._mean = float(self._window.mean[row] - self._whole.mean[row])

    def describe(self, best: int) -> tuple[FindingKind, float]:
        """By the kind that surprises most."""
        row, whole, window = self._row, self._whole, self._window
        if best == MISSING or window.n[row] == 0:
            return "missing", float(window.missing[row] - whole.missing[row])
        if self._is_event and self._level == 0 and self._mean > 0 and best != STILL:
            return "zero", self._mean
        if best in (STILL, STEP, JITTER, SPREAD):
            return self._describe_movement(best)
        end = self._describe_end(best) if best in ENDS else None
        return self._describe_level(best) if end is None else end

    def _describe_level(self, best: int) -> tuple[FindingKind, float]:
        if best == TREND and (size := self._onset()):
            return "trend", size
        if self._is_at_limit():
            return "saturated", self._median or self._mean
        if best == ORDER and abs(self._median) <= self._digit:
            return "shape", self._mean
        return "level", self._median or self._mean

    def _describe_movement(self, best: int) -> tuple[FindingKind, float]:
        row, whole, window = self._row, self._whole, self._window
        if best == SPREAD:
            one, other = middle_half(np.stack([whole.quantiles[row], window.quantiles[row]])).tolist()
            return "spread", other - one
        still = float(window.still[row] - whole.still[row])
        if window.still[row] >= FROZEN and still > 0:
            return "frozen", still
        if best == STILL:
            # More equal neighbours are less movement.
            return "movement", -still
        return "movement", float(window.step_quantiles[row].mean() - whole.step_quantiles[row].mean())

    def _describe_end(self, best: int) -> tuple[FindingKind, float] | None:
        """Missing: None where not an end moved, but all of it."""
        row, whole, window = self._row, self._whole, self._window
        is_top = best in (TOP, HIGH)
        end = float(window.top[row] - whole.quantiles[row, -2]) if is_top else float(window.bottom[row] - whole.quantiles[row, 1])
        if abs(self._median) >= abs(end) / 2:
            return None
        if is_top:
            return ("spikes" if end > 0 else "top"), end
        is_nothing = abs(float(window.quantiles[row, 0]) + self._level) <= max(self._digit, 1e-9)
        return ("stall" if end < 0 and is_nothing else "bottom"), end

    def _onset(self) -> float:
        """Return the largest difference between what comes before and what comes after a moment of the incident. Missing: 0."""
        parts = self._window.parts[self._row].astype(np.float64)
        if np.isnan(parts).any():
            return 0.0
        return max((float(parts[at:].mean() - parts[:at].mean()) for at in range(1, len(parts))), key=abs)

    def _is_at_limit(self) -> bool:
        """Return whether many samples lie at the highest value, which is full, or as high as nothing of the baseline."""
        row, whole, window = self._row, self._whole.quantiles, self._window.quantiles
        highest = float(window[row, -1])
        share = np.count_nonzero(window[row] >= highest) / N_QUANTILES
        if share < AT_LIMIT or self._median <= 0:
            return False
        if self._field.kind is Kind.PERCENT:
            was = np.count_nonzero(whole[row] >= highest) / N_QUANTILES
            return bool(highest + self._level >= FULL_PERCENT and self._field.worse is not Worse.LOWER and was < AT_LIMIT)
        # Of few values one is the highest often, without any limit.
        is_fine = highest - float(window[row, 0]) >= MANY_DIGITS * self._digit
        return bool(is_fine and highest > float(whole[row, -1]))


def _impact(field: Field, change: Change, usual_total: float, presence: float) -> float:
    """Return how much more or less of it there is, by the means: points of a percentage, else decades of the host's total."""
    one, other = abs(change.before.mean or 0.0), abs(change.after.mean or 0.0)
    if field.kind is Kind.PERCENT:
        return presence * min(1.0, abs(other - one) / 100)
    usual = max(usual_total, one)
    floor = max(10.0**-field.decimals, 0.01 * usual)
    now = max(0.0, usual + other - one)
    decades = abs(float(np.log10((now + floor) / (usual + floor))))
    return presence * UNBOUNDED_IMPACT * min(1.0, decades / DECADES)


def _round(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT}g}")
