"""From judged series to findings: which kind of change it is, how much of it there is, what both sides show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.baseline.host_profile import FOLLOW, HostProfile, Judged
from normstat.baseline.records import Direction, Figure, Finding, FindingKind, Parts, SideValues
from normstat.baseline.sentences import describe_change
from normstat.baseline.summary import END_SHARE, MIDDLE, PROBABILITIES, FloatArray, Summary
from normstat.baseline.yardstick import (
    BOTTOM,
    HIGH,
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
from normstat.stats.spec import Field, Kind, Worse

# Of what is no percentage nobody knows how much there could be: it counts at most half as much as a percentage that moves from
# 0 to 100, and that when the host's total of the field moves by so many decades.
DECADES: Final = 5.0
UNBOUNDED_IMPACT: Final = 0.5
# Better than normal is worth a look as well, only later.
BETTER_FACTOR: Final = 0.8
# The surprise at which the order stops caring much about how unusual a series is, and begins to about impact.
HALF_SURPRISE: Final = 6.0
LEAST_IMPACT_FACTOR: Final = 0.25
# So much of a percentage is full, and so many samples at their highest value are a limit.
FULL_PERCENT: Final = 99.0
AT_LIMIT: Final = 0.25
FROZEN: Final = 0.9
QUARTER: Final = MIDDLE // 2


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a host: the field knows unit, digits and which direction is worse."""

    stat: str
    instance: str
    field: Field


@dataclass(frozen=True, slots=True)
class Totals:
    """What there is of each series' field on the host. Shape: both (n_series,)

    `usual`: in the baseline, the sum over all instances of their mean sizes; `presence`: share of the reports that have the instance
    """

    usual: FloatArray
    presence: FloatArray


FigureMaker = Callable[[int], Figure | None]


def totals_of(profile: HostProfile, window: Summary) -> Totals:
    """What there is of each series' field, from the summaries of all its instances."""
    presence = np.maximum(1 - profile.whole.missing, 1 - window.missing).astype(np.float64)
    mean = np.abs(np.nan_to_num(profile.whole.mean) + profile.traits.level) * (1 - profile.whole.missing)
    sums = np.bincount(profile.families, weights=mean, minlength=int(profile.families.max(initial=-1)) + 1).astype(np.float64)
    return Totals(sums[profile.families], presence)


def make_finding(row: int, series: Series, profile: HostProfile, judged: Judged, totals: Totals) -> Finding:
    """The finding of one series."""
    field, level = series.field, float(profile.traits.level[row])
    before, after = to_values(profile.whole, row, level), to_values(judged.window, row, level)
    times = judged.times[:, row]
    best = int(judged.surprise[:, row].argmax())
    kind, change = _describe_kind(best, row, field, profile, judged)
    direction: Direction = "same" if change == 0 else "up" if change > 0 else "down"
    is_worse = None
    if (
        field.worse is not Worse.NEITHER
        and direction != "same"
        and kind not in ("spread", "movement", "missing", "frozen", "shape")
    ):
        is_worse = (field.worse is Worse.HIGHER) == (direction == "up")
    impact = _impact(field, before, after, float(totals.usual[row]), float(totals.presence[row]))
    surprise = float(judged.score[row])
    weight = surprise / (surprise + HALF_SURPRISE) * (LEAST_IMPACT_FACTOR + (1 - LEAST_IMPACT_FACTOR) * float(np.sqrt(impact)))
    usual = float(judged.yardstick[best, row])
    score = float(times[best])
    return Finding(
        instance=series.instance,
        kind=kind,
        direction=direction,
        is_worse=is_worse,
        baseline=before,
        incident=after,
        usual=_round(float(np.exp(usual)) if best in RATIOS else usual if best in IN_UNITS else abs(change) / max(score, 1e-9)),
        change=_round(change),
        score=_round(score),
        surprise=_round(surprise),
        explained=_round(float(judged.explained[row])),
        parts=Parts(
            value=_most(times, (VALUE, ORDER, PART, TREND)),
            shape=_round(float(times[SPREAD])),
            top=_most(times, (TOP, HIGH)),
            bottom=_most(times, (BOTTOM, LOW)),
            step=_most(times, (STEP, JITTER)),
            still=_round(float(times[STILL])),
            missing=_round(float(times[MISSING])),
            load=_round(float(times[FOLLOW])),
        ),
        impact=_round(impact),
        weight=_round(weight * (BETTER_FACTOR if is_worse is False else 1.0)),
        sentence=describe_change(series.stat, series.instance, field, kind, before, after, change, score, by_load=best == FOLLOW),
        figure=None,
    )


def to_values(summary: Summary, row: int, level: float) -> SideValues:
    """One side of a series."""
    n = int(summary.n[row])
    if n == 0:
        return SideValues(0, None, None, None, None, None, None, None, None)
    quantiles = summary.quantiles[row].astype(np.float64) + level
    # Between the last two points lies the end: its mean says more than a straight line.
    points = np.append(PROBABILITIES[:-1], (1 - END_SHARE / 2, 1.0))
    reached = np.append(quantiles[:-1], (min(max(float(summary.top[row]) + level, quantiles[-2]), quantiles[-1]), quantiles[-1]))
    p5, p95, p99 = np.interp((0.05, 0.95, 0.99), points, reached)
    return SideValues(
        n=n,
        mean=_round(float(summary.mean[row]) + level),
        median=_round(float(quantiles[MIDDLE])),
        p5=_round(float(p5)),
        p95=_round(float(p95)),
        p99=_round(float(p99)),
        lowest=_round(float(quantiles[0])),
        highest=_round(float(quantiles[-1])),
        quantiles=[_round(float(value)) for value in quantiles],
    )


def _describe_kind(best: int, row: int, field: Field, profile: HostProfile, judged: Judged) -> tuple[FindingKind, float]:
    """What to call the change, and how large it is with its sign."""
    whole, window = profile.whole, judged.window
    median = float(window.median[row] - whole.median[row])
    width = float(_width(window, row) - _width(whole, row))
    top = float(window.top[row] - whole.quantiles[row, -2])
    bottom = float(window.bottom[row] - whole.quantiles[row, 1])
    level = float(profile.traits.level[row])
    if best == MISSING:
        return "missing", float(window.missing[row] - whole.missing[row])
    if profile.traits.is_event[row] and level == 0 and float(window.mean[row]) > float(whole.mean[row]) and best != STILL:
        return "zero", float(window.mean[row] - whole.mean[row])
    if best == STILL:
        kind: FindingKind = "frozen" if window.still[row] >= FROZEN and window.still[row] > whole.still[row] else "movement"
        return kind, float(window.still[row] - whole.still[row])
    if best == SPREAD:
        return "spread", width
    if best in (STEP, JITTER):
        return "movement", float(np.nanmean(window.step_quantiles[row]) - np.nanmean(whole.step_quantiles[row]))
    if best in (TOP, HIGH) and abs(median) < abs(top) / 2:
        return ("spikes" if top > 0 else "top"), top
    if best in (BOTTOM, LOW) and abs(median) < abs(bottom) / 2:
        is_nothing = abs(float(window.bottom[row]) + level) <= max(float(profile.traits.digit[row]), 1e-9)
        return ("stall" if bottom < 0 and is_nothing else "bottom"), bottom
    if best == TREND:
        parts = window.parts[row]
        return "trend", float(parts[2:].mean() - parts[:2].mean())
    if _is_at_limit(window, whole, row, field, level):
        return "saturated", median
    if best == ORDER and abs(median) <= float(profile.traits.digit[row]):
        return "shape", float(window.mean[row] - whole.mean[row])
    return "level", median if median != 0 else float(window.mean[row] - whole.mean[row])


def _is_at_limit(window: Summary, whole: Summary, row: int, field: Field, level: float) -> bool:
    """Whether many samples lie at the highest value, which is full, or higher than all of the baseline."""
    highest = float(window.quantiles[row, -1])
    share = np.count_nonzero(window.quantiles[row] >= highest) / window.quantiles.shape[1]
    if share < AT_LIMIT or float(window.quantiles[row, 0]) == highest:
        return False
    if field.kind is Kind.PERCENT:
        return highest + level >= FULL_PERCENT and field.worse is Worse.HIGHER
    return highest > float(whole.quantiles[row, -1])


def _width(summary: Summary, row: int) -> float:
    return float(summary.quantiles[row, -1 - QUARTER] - summary.quantiles[row, QUARTER])


def _impact(field: Field, before: SideValues, after: SideValues, usual_total: float, presence: float) -> float:
    """How much more or less of it there is, by the means: points of a percentage, else decades of the host's total."""
    one, other = abs(before.mean or 0.0), abs(after.mean or 0.0)
    if field.kind is Kind.PERCENT:
        return presence * min(1.0, abs(other - one) / 100)
    usual = max(usual_total, one)
    floor = max(10.0**-field.decimals, 0.01 * usual)
    now = max(0.0, usual + other - one)
    decades = abs(float(np.log10((now + floor) / (usual + floor))))
    return presence * UNBOUNDED_IMPACT * min(1.0, decades / DECADES)


def _most(times: np.ndarray[tuple[int], np.dtype[np.float32]], kinds: Sequence[int]) -> float:
    return _round(float(max(times[kind] for kind in kinds)))


def _round(value: float) -> float:
    """Nine significant digits: more than any tool prints, and none that only the arithmetic made."""
    return float(f"{value:.9g}")
