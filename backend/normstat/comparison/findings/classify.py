"""Turn scored series into findings: the kind of change, its impact, and the values of both sides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.wording import MEAN_BEYOND_MEDIAN, Change, describe_change, name_series
from normstat.comparison.model import ChangeRatios, Direction, Finding, FindingKind
from normstat.comparison.series_comparison import unusual_of
from normstat.comparison.side_values import SideValues
from normstat.runtime import work_budget
from normstat.scoring.change_scale import (
    BOTTOM,
    HIGH,
    HOLLOW,
    IN_UNITS,
    LOW,
    MISSING,
    RHYTHM,
    STEP,
    STILL,
    TOP,
    TREND,
    VALUE,
)
from normstat.scoring.host_profile import HostProfile, WindowScores
from normstat.scoring.significance import LOAD, UNUSUAL
from normstat.scoring.summary import (
    MAX_EXACT,
    MIDDLE,
    N_QUANTILES,
    PROBABILITIES,
    Float32Array,
    FloatArray,
    IntArray,
    Summary,
    add_levels,
)
from normstat.stats.spec import Field, Kind, Worse

# A field other than a percentage has no upper bound: its impact is at most half that of a percentage that moves from 0 to 100,
# reached when the host's total of the field moves by this many decades.
DECADES: Final = 5.0
UNBOUNDED_IMPACT: Final = 0.5
# A smaller share of a total, or of the usual value of a series, is ignored.
MIN_SHARE_OF_TOTAL: Final = 0.01
# Temporary falls, in which the lowest samples say more than the mean.
FALLS: Final = frozenset({"stall", "bottom"})
# A change for the better ranks a little lower.
BETTER_FACTOR: Final = 0.8
# Below this grade the anomaly score depends mostly on it, above mostly on impact.
HALF_GRADE: Final = 6.0
MIN_IMPACT_FACTOR: Final = 0.1
# Less is ignored.
MIN_STRENGTH: Final = 1e-3
# A percentage from here on is full; this share of samples at the highest value is a limit, if the series has many values.
FULL_PERCENT: Final = 99.0
AT_LIMIT: Final = 0.25
MANY_DIGITS: Final = 10
FROZEN: Final = 0.9
ENDS: Final = (TOP, HIGH, BOTTOM, LOW, HOLLOW)
MOVEMENTS: Final = (STEP, STILL)
BEFORE_RHYTHM: Final = (VALUE, TOP, BOTTOM, MISSING, LOAD)
# Movement that comes from one end of the distribution is reported as that end, if it has this share of the significance.
END_SIGNIFICANCE_SHARE: Final = 0.5
# Kinds of change that are neither better nor worse.
NEUTRAL_KINDS: Final = frozenset({"movement", "missing", "frozen", "rhythm"})
# Significant digits of results: more than any tool prints, fewer than floating-point noise.
SIGNIFICANT: Final = 9
# A side without samples.
NO_VALUES: Final = SideValues(0, None, None, None, None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class SeriesIdentity:
    """A series of a host. The field has the unit, the digits, and which direction is worse."""

    stat: str
    instance: str
    field: Field


@dataclass(frozen=True, slots=True)
class Totals:
    """The total of each series' field on the host. Shape: both (n_series,)

    `baseline`: sum of the mean sizes of all instances in the baseline; `presence`: share of the reports with the instance
    """

    baseline: FloatArray
    presence: FloatArray


def totals_of(profile: HostProfile, window: Summary) -> Totals:
    """Return the total of each series' field, from the summaries of all its instances."""
    baseline_missing, incident_missing = (np.nan_to_num(side.missing, nan=1.0) for side in (profile.baseline, window))
    presence = np.maximum(1 - baseline_missing, 1 - incident_missing).astype(np.float64)
    mean = np.abs(np.nan_to_num(profile.baseline.mean) + profile.series_stats.level) * (1 - baseline_missing)
    sums = np.bincount(profile.families, weights=mean, minlength=int(profile.families.max(initial=-1)) + 1).astype(np.float64)
    return Totals(sums[profile.families], presence)


def make_findings(
    rows: Sequence[int],
    series: Sequence[SeriesIdentity],
    profile: HostProfile,
    scores: WindowScores,
    parts_of_host: Sequence[float] | None = None,
) -> list[Finding]:
    """Return the findings of some of the series, in the order of `rows`.

    `parts_of_host`: what share of the host 100 % of a series is; without it all of it. Shape: series, parts_of_host (n_series,)
    """
    if not rows:
        return []
    chosen = np.array(rows, np.intp)
    levels = profile.series_stats.level[chosen]
    baselines, incidents = to_values(profile.baseline.take(chosen), levels), to_values(scores.window.take(chosen), levels)
    ratios, totals = scores.change_ratios[:, chosen], totals_of(profile, scores.window)
    ratios_by_kind = _to_change_ratios(ratios)
    bests, is_unusual = choose_kinds(scores.kind_significance[:, chosen]).tolist(), unusual_of(scores)
    result = []
    for place, row in enumerate(rows):
        work_budget.check()
        best, one = bests[place], series[row]
        kinds = _Kinds(row, one.field, profile, scores)
        kind, size = kinds.describe(best)
        change = Change(one.field, kind, baselines[place], incidents[place], size)
        part = 1.0 if parts_of_host is None else parts_of_host[row]
        lost = kinds.decades_lost() if kind in FALLS else 0.0
        impact = _impact(one.field, change, float(totals.baseline[row]), float(totals.presence[row]), part, lost=lost)
        change_ratio, significance = float(ratios[best, place]), float(scores.significance[row])
        direction: Direction = "same" if size == 0 or kind == "frozen" else "up" if size > 0 else "down"
        is_worse = _is_worse(one.field, kind, direction)
        name = name_series(one.stat, one.instance, one.field)
        result.append(
            Finding(
                instance=one.instance,
                kind=kind,
                direction=direction,
                is_worse=is_worse,
                baseline=change.baseline,
                incident=change.incident,
                change_scale=round_value(_to_change_scale(best, float(scores.change_scale[best, row]), size, change_ratio)),
                change=round_value(size),
                change_ratio=round_value(change_ratio),
                significance=round_value(significance),
                certainty="sure" if is_unusual[row] else "likely",
                explained_by_load=round_value(float(scores.explained_by_load[row])),
                change_ratios=ratios_by_kind[place],
                impact=round_value(impact),
                anomaly_score=anomaly_score_of(grade_of(float(scores.strength[row])), impact, is_worse=is_worse),
                sentence=describe_change(name, change, change_ratio, by_load=best == LOAD),
                sparkline=None,
            )
        )
    return result


def grade_of(strength: float) -> float:
    """Return a strength by its decades: UNUSUAL for one of that size, and as much more for each decade."""
    return max(0.0, UNUSUAL * (1 + float(np.log10(max(strength, MIN_STRENGTH) / UNUSUAL))))


def anomaly_score_of(grade: float, impact: float, *, is_worse: bool | None) -> float:
    """Return the number that orders findings: how strong a change is and how much it matters, 0..1."""
    score = grade / (grade + HALF_GRADE) * (MIN_IMPACT_FACTOR + (1 - MIN_IMPACT_FACTOR) * impact**0.5)
    return round_value(score * (BETTER_FACTOR if is_worse is False else 1.0))


def strongest_ratios(rows: Sequence[int], scores: WindowScores) -> list[float]:
    """Return the change ratio of each of some series, for the kind of change that a finding would report."""
    chosen = np.array(rows, np.intp)
    bests = choose_kinds(scores.kind_significance[:, chosen])
    return [round_value(ratio) for ratio in scores.change_ratios[:, chosen][bests, np.arange(len(chosen))].tolist()]


def choose_kinds(significance: FloatArray) -> IntArray:
    """Return the kind that each change is reported as: the most significant one. Shape: (n_kinds + 1, n_series) -> (n_series,)"""
    # A rhythm is reported where the level and the ends are normal: a new level often has one of its own.
    significance = significance.copy()
    plain = [kind for kind in BEFORE_RHYTHM if kind < len(significance)]
    significance[RHYTHM, significance[plain].max(axis=0) >= UNUSUAL] = 0
    # A change of level is reported as such, even if the movement from sample to sample changed as well.
    for kind in MOVEMENTS:
        significance[kind, significance[VALUE] >= UNUSUAL] = 0
    best = significance.argmax(axis=0)
    most = significance.max(axis=0)
    top, bottom = significance[[TOP, HIGH]], significance[[BOTTOM, LOW, HOLLOW]]
    highest, lowest = top.max(axis=0), bottom.max(axis=0)
    # Where both ends changed about equally, it is movement indeed.
    is_end = np.isin(best, MOVEMENTS) & (np.maximum(highest, lowest) >= END_SIGNIFICANCE_SHARE * most)
    is_end &= np.minimum(highest, lowest) < END_SIGNIFICANCE_SHARE * np.maximum(highest, lowest)
    end = np.where(
        highest > lowest, np.array([TOP, HIGH])[top.argmax(axis=0)], np.array([BOTTOM, LOW, HOLLOW])[bottom.argmax(axis=0)]
    )
    return np.asarray(np.where(is_end, end, best), np.int64)


def to_values(summary: Summary, levels: FloatArray) -> list[SideValues]:
    """Return the values of one side of each series. Shape: levels (n_series,)"""
    quantiles = add_levels(summary.quantiles, levels[:, None])
    p5, p95 = (_between(quantiles, share) for share in (0.05, 0.95))
    # p99 lies between the last two quantiles: the mean of the top end is closer to it than a straight line.
    p99 = np.clip(add_levels(summary.top, levels), quantiles[:, -2], quantiles[:, -1])
    mean = add_levels(summary.mean, levels)
    rounded = round_all(np.column_stack([mean, quantiles[:, MIDDLE], p5, p95, p99, quantiles[:, 0], quantiles[:, -1], quantiles]))
    return [_to_side(n, row) for n, row in zip(summary.n.tolist(), rounded.tolist(), strict=True)]


def _to_side(n: int, row: list[float]) -> SideValues:
    if n == 0:
        return NO_VALUES
    mean, median, p5, p95, p99, lowest, highest, *quantiles = row
    return SideValues(n, mean, median, p5, p95, p99, lowest, highest, quantiles)


def round_all(values: FloatArray) -> FloatArray:
    """Return the values with SIGNIFICANT digits. Missing: NaN."""
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


def _to_change_ratios(ratios: Float32Array) -> list[ChangeRatios]:
    """Return the largest ratio of each group of kinds. Shape: ratios (n_kinds + 1, n_series)"""
    kinds = (
        (VALUE, TREND),
        (TOP, HIGH),
        (BOTTOM, LOW, HOLLOW),
        (STEP, RHYTHM),
        (STILL,),
        (MISSING,),
        (LOAD,),
    )
    most = np.stack([ratios[list(some)].max(axis=0) for some in kinds], axis=1)
    return [ChangeRatios(*row) for row in round_all(most.astype(np.float64)).tolist()]


def _to_change_scale(best: int, change_scale: float, change: float, change_ratio: float) -> float:
    """Return the natural change of a series, as the kind measures it."""
    return change_scale if best in IN_UNITS else abs(change) / max(change_ratio, 1e-9)


def _is_worse(field: Field, kind: FindingKind, direction: Direction) -> bool | None:
    if field.worse is Worse.NEITHER or direction == "same" or kind in NEUTRAL_KINDS:
        return None
    return (field.worse is Worse.HIGHER) == (direction == "up")


class _Kinds:
    """The kind of change of one series, and its signed size."""

    def __init__(self, row: int, field: Field, profile: HostProfile, scores: WindowScores) -> None:
        self._row = row
        self._field = field
        self._baseline = profile.baseline
        self._window = scores.window
        self._level = float(profile.series_stats.level[row])
        self._digit = float(profile.series_stats.digit[row])
        self._is_event = bool(profile.series_stats.is_event[row])
        self._median = float(self._window.median[row] - self._baseline.median[row])
        self._mean = float(self._window.mean[row] - self._baseline.mean[row])
        self._has_stalls = float(scores.kind_significance[HOLLOW, row]) >= UNUSUAL

    def describe(self, best: int) -> tuple[FindingKind, float]:
        """Return the kind and the signed size of a change, given its most significant kind."""
        row, baseline, window = self._row, self._baseline, self._window
        if best == MISSING or window.n[row] == 0:
            return "missing", float(window.missing[row] - baseline.missing[row])
        if self._is_event and self._level == 0 and self._mean > 0 and best != STILL:
            return "zero", self._mean
        if self._has_stalls and best != TREND and self._reaches_nothing() and (size := self._bottom()) < 0:
            # Stalls move the level, the movement and the width as well.
            return "stall", size
        if best in (STILL, STEP, RHYTHM):
            return self._describe_movement(best)
        end = self._describe_end(best) if best in ENDS else None
        return self._describe_level(best) if end is None else end

    def _describe_level(self, best: int) -> tuple[FindingKind, float]:
        if best == TREND and (size := self._onset()):
            return "trend", size
        if self._is_at_limit():
            return "saturated", self._middle()
        return "level", self._middle()

    def _middle(self) -> float:
        """Return how far the median moved, or the mean where that says more."""
        return self._mean if not self._median or abs(self._mean) > MEAN_BEYOND_MEDIAN * abs(self._median) else self._median

    def _describe_movement(self, best: int) -> tuple[FindingKind, float]:
        row, baseline, window = self._row, self._baseline, self._window
        if best == RHYTHM:
            size = self._bottom()
            return ("stall", size) if size < 0 and self._reaches_nothing() else ("rhythm", float(window.rhythm[row]))
        still = float(window.still[row] - baseline.still[row])
        if window.still[row] >= FROZEN and still > 0:
            return "frozen", still
        if best == STILL:
            # More equal neighbours mean less movement.
            return "movement", -still
        return "movement", float(window.step_quantiles[row].mean() - baseline.step_quantiles[row].mean())

    def _describe_end(self, best: int) -> tuple[FindingKind, float] | None:
        """Return the change of an end. Missing: None where the whole distribution moved."""
        row, baseline, window = self._row, self._baseline, self._window
        is_top = best in (TOP, HIGH)
        end = float(window.top[row] - baseline.quantiles[row, -2]) if is_top else self._bottom()
        if abs(self._median) >= abs(end) / 2:
            return None
        if is_top:
            return ("spikes" if end > 0 else "top"), end
        return ("stall" if end < 0 and self._reaches_nothing() else "bottom"), end

    def _bottom(self) -> float:
        """Return how far the lowest samples are from those of the baseline."""
        return float(self._window.bottom[self._row] - self._baseline.quantiles[self._row, 1])

    def _reaches_nothing(self) -> bool:
        """Return whether the lowest sample is zero, as far as the tool prints it."""
        return abs(float(self._window.quantiles[self._row, 0]) + self._level) <= max(self._digit, 1e-9)

    def decades_lost(self) -> float:
        """Return how many decades below the baseline's median the samples fall, on average, more than those of the baseline do."""
        usual = abs(float(self._baseline.median[self._row]) + self._level)
        floor = max(self._digit, MIN_SHARE_OF_TOTAL * usual, 1e-9)
        sides = (self._window, self._baseline)
        values = (np.clip(side.quantiles[self._row].astype(np.float64) + self._level, 0.0, None) for side in sides)
        now, before = (float(np.clip(np.log10((usual + floor) / (own + floor)), 0.0, None).mean()) for own in values)
        return max(0.0, now - before)

    def _onset(self) -> float:
        """Return the largest difference between the parts after and before any moment of the incident. Missing: 0."""
        parts = self._window.parts[self._row].astype(np.float64)
        if np.isnan(parts).any():
            return 0.0
        return max((float(parts[at:].mean() - parts[:at].mean()) for at in range(1, len(parts))), key=abs)

    def _is_at_limit(self) -> bool:
        """Return whether many samples lie at the highest value, and that is 100 % or above all of the baseline."""
        row, baseline, window = self._row, self._baseline.quantiles, self._window.quantiles
        highest = float(window[row, -1])
        share = np.count_nonzero(window[row] >= highest) / N_QUANTILES
        if share < AT_LIMIT or self._median <= 0:
            return False
        if self._field.kind is Kind.PERCENT:
            was = np.count_nonzero(baseline[row] >= highest) / N_QUANTILES
            return bool(highest + self._level >= FULL_PERCENT and self._field.worse is not Worse.LOWER and was < AT_LIMIT)
        # A series of few distinct values is often at the highest one, without any limit.
        is_fine = highest - float(window[row, 0]) >= MANY_DIGITS * self._digit
        return bool(is_fine and highest > float(baseline[row, -1]))


def _impact(field: Field, change: Change, baseline_total: float, presence: float, part: float, *, lost: float) -> float:
    """Return the size of the change by the means: points of a percentage, else decades of the host's total.

    `part`: what share of the host 100 % is. A process of many threads uses more than the one CPU of its unit. `lost`: the
    decades that samples of the series fell for a time, on average; its mean hardly moves then.
    """
    one, other = abs(change.baseline.mean or 0.0), abs(change.incident.mean or 0.0)
    if field.kind is Kind.PERCENT:
        return presence * min(1.0, part * abs(other - one) / 100)
    total = max(baseline_total, one)
    floor = max(10.0**-field.decimals, MIN_SHARE_OF_TOTAL * total)
    incident_total = max(0.0, total + other - one)
    return presence * max(impact_of_totals(total, incident_total, floor), _impact_of_decades(lost))


def impact_of_totals(baseline: float, incident: float, floor: float) -> float:
    """Return the impact of a total without an upper bound, by the decades it moved; 0 below `floor`."""
    return _impact_of_decades(abs(float(np.log10((incident + floor) / (baseline + floor)))))


def _impact_of_decades(decades: float) -> float:
    return UNBOUNDED_IMPACT * min(1.0, decades / DECADES)


def round_value(value: float) -> float:
    """Return the value with SIGNIFICANT digits."""
    return float(f"{value:.{SIGNIFICANT}g}")
