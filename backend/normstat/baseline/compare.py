"""What differs in an incident from a baseline: method 1, pure arithmetic over arrays.

For each series: how many times larger is the change than what the series does by itself? Two changes are looked at: that of the
median, and that of the ends (the value that the highest, or lowest, 2 % of the samples reach, three of them at least), because a
disk that writes every fifth second never moves a median. What a series does by itself is read off the baseline: it is cut into
windows of the incident's length, and each is compared with the whole as the incident is. Autocorrelation, bursts and rounding
are thereby in the yardstick. Floors keep it from being absurdly small: the digits that the tool prints, 2 % of the usual level,
half a point of a percentage; for a series that is zero mostly, its usual size when it is not.

Findings are ordered by weight = impact * score / (score + 8): far outside is far outside, then it counts how much of it there is.
Names are never looked at. Units decide: a field without a unit is an id, a counter only ever grows; neither is compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from normstat.stats.spec import Field, Kind, Worse

METHOD_VERSION: Final = 1
# With fewer samples on a side a series is listed apart and not judged.
LEAST_BASELINE: Final = 10
LEAST_INCIDENT: Final = 5
# A change this many times larger than the usual one is a finding.
FINDING_SCORE: Final = 3.0
END_FINDING_SCORE: Final = 4.0
# The last bits of a float, which other units would round otherwise, decide nothing.
ALMOST: Final = 1 - 1e-9
# The score at which the order stops caring much about how far outside a series is, and begins to about impact.
HALF_SCORE: Final = 8.0
MOST_PIECES: Final = 32
# With fewer pieces than this the baseline does not say how much its ends move by themselves.
LEAST_PIECES_FOR_ENDS: Final = 4
END_SHARE: Final = 0.02
LEAST_AT_END: Final = 3
LEVEL_FLOOR: Final = 0.02
PERCENT_FLOOR: Final = 0.5
# Of what is no percentage nobody knows how much there could be: it counts at most half as much as a percentage that moves from
# 0 to 100, and that when the host's total of the field moves by so many decades.
DECADES: Final = 5.0
UNBOUNDED_IMPACT: Final = 0.5
# Better than normal is worth a look as well, only later.
BETTER_FACTOR: Final = 0.7

FloatArray = npt.NDArray[np.float64]
ChangeKind = Literal["level", "top", "bottom"]
Direction = Literal["up", "down", "same"]
Side = Literal["baseline", "incident"]


@dataclass(frozen=True, slots=True)
class InstanceInput:
    """The samples of one instance. Shape: (n_samples, n_fields) in the order of time. Missing: NaN; no rows where it was away."""

    name: str
    baseline: FloatArray
    incident: FloatArray


@dataclass(frozen=True, slots=True)
class StatInput:
    """Both sides of one stat."""

    stat: str
    fields: Sequence[Field]
    instances: Sequence[InstanceInput]


@dataclass(frozen=True, slots=True)
class SideStats:
    """One side of a series that has samples there."""

    n: int
    mean: float
    median: float
    p5: float
    p95: float
    p99: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class SeriesId:
    """Which series of the host; the field knows unit, digits and which direction is worse."""

    stat: str
    instance: str
    field: Field


@dataclass(frozen=True, slots=True)
class Finding:
    """A series that differs.

    `kind` says what moved: the level (median) or one of the ends. `shift` is how far it moved, in the unit of the field; `scale`
    how far it moves by itself; `score` = |shift| / scale. `ks`: greatest distance of both distribution functions, 0..1.
    `impact`: how much of it there is, 0..1.
    """

    series: SeriesId
    kind: ChangeKind
    baseline: SideStats
    incident: SideStats
    before: float
    after: float
    scale: float
    ks: float
    impact: float

    @property
    def shift(self) -> float:
        """How far it moved."""
        return self.after - self.before

    @property
    def score(self) -> float:
        """How many times as far as it usually moves."""
        return abs(self.shift) / self.scale

    @property
    def direction(self) -> Direction:
        """Where it moved."""
        return "same" if self.shift == 0 else "up" if self.shift > 0 else "down"

    @property
    def is_worse(self) -> bool | None:
        """Whether that is bad news; None where the field does not say."""
        if self.series.field.worse is Worse.NEITHER or self.shift == 0:
            return None
        return (self.series.field.worse is Worse.HIGHER) == (self.shift > 0)

    @property
    def weight(self) -> float:
        """What findings are ordered by, 0..1."""
        factor = BETTER_FACTOR if self.is_worse is False else 1.0
        return factor * self.impact * self.score / (self.score + HALF_SCORE)


@dataclass(frozen=True, slots=True)
class OneSided:
    """A series that only one side has. `weight`: its part of 100 %, or of all there was of that field, by how long it was there."""

    series: SeriesId
    side: Side
    stats: SideStats
    weight: float


@dataclass(frozen=True, slots=True)
class Thin:
    """A series with too few samples on a side, or of which a side says nothing at all (the tool did not run, or print it)."""

    series: SeriesId
    n_baseline: int
    n_incident: int


@dataclass(frozen=True, slots=True)
class Context:
    """What else there is of a series' field on the host.

    `usual_total`: the mean over the baseline's reports of the sum over all instances. `presence`: the share of the reports that
    have the instance, on the side that has it more often, 0..1; a process that shows up now and then is not what a host does.
    """

    usual_total: float
    presence: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """All series of one or more stats: each is in exactly one of the lists, or unchanged."""

    findings: Sequence[Finding]
    one_sided: Sequence[OneSided]
    thin: Sequence[Thin]
    n_unchanged: int

    @property
    def n_series(self) -> int:
        """All series that were looked at."""
        return len(self.findings) + len(self.one_sided) + len(self.thin) + self.n_unchanged


def is_comparable(field: Field) -> bool:
    """Whether values of the field say how much: ids have no unit, and counters only say how long the host is up."""
    return bool(field.unit) and field.kind is not Kind.COUNTER


def compare_stat(given: StatInput) -> Outcome:
    """Sorts all series of a stat into findings, one-sided, thin and unchanged ones."""
    findings: list[Finding] = []
    one_sided: list[OneSided] = []
    thin: list[Thin] = []
    n_unchanged = 0
    totals = _Totals(given.instances, len(given.fields))
    for column, field in enumerate(given.fields):
        if not is_comparable(field):
            continue
        for instance in given.instances:
            baseline, incident = _known(instance.baseline[:, column]), _known(instance.incident[:, column])
            series = SeriesId(given.stat, instance.name, field)
            if len(baseline) == 0 and len(incident) == 0:
                continue
            if totals.is_one_sided[column]:
                thin.append(Thin(series, len(baseline), len(incident)))
            elif len(baseline) == 0:
                one_sided.append(_to_one_sided(series, "incident", incident, totals, column))
            elif len(incident) == 0:
                one_sided.append(_to_one_sided(series, "baseline", baseline, totals, column))
            elif len(baseline) < LEAST_BASELINE or len(incident) < LEAST_INCIDENT:
                thin.append(Thin(series, len(baseline), len(incident)))
            elif (
                finding := compare_series(series, baseline, incident, totals.context(column, len(baseline), len(incident)))
            ) is not None:
                findings.append(finding)
            else:
                n_unchanged += 1
    return Outcome(findings, one_sided, thin, n_unchanged)


def rank(outcomes: Iterable[Outcome]) -> Outcome:
    """All outcomes as one, each list with what matters most first; the order is the same every time."""
    outcomes = list(outcomes)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    one_sided = [series for outcome in outcomes for series in outcome.one_sided]
    thin = [series for outcome in outcomes for series in outcome.thin]
    # Where two weigh about the same, the one that speaks of the whole host (a stat of one row) comes first.
    findings.sort(key=lambda item: (-round(item.weight, 2), item.series.instance != "", -item.weight, _name(item.series)))
    one_sided.sort(key=lambda item: (-item.weight, -item.stats.mean, item.side, _name(item.series)))
    thin.sort(key=lambda item: (-item.n_incident, -item.n_baseline, _name(item.series)))
    return Outcome(findings, one_sided, thin, sum(outcome.n_unchanged for outcome in outcomes))


def compare_series(series: SeriesId, baseline: FloatArray, incident: FloatArray, context: Context | None = None) -> Finding | None:
    """The change of one series. Missing: None when it is no larger than what the series does by itself.

    Shape: baseline, incident (n,) in the order of time, without NaN; without a context the series is all there is of its field
    """
    left, right = np.sort(baseline), np.sort(incident)
    ks = _ks_distance(left, right)
    if ks == 0:
        return None
    median = _quantile(left, 0.5)
    # Half the usual distance from the median, as a standard deviation would measure it.
    spread = 0.5 * 1.4826 * float(np.median(np.abs(left - median)))
    floor = _floor(series.field, left, median)
    pieces = _cut(baseline, len(incident))
    restless = float(np.abs(np.median(pieces, axis=1) - median).max())
    before, after, scale = median, _quantile(right, 0.5), max(restless, spread, floor)
    kind: ChangeKind = "level"
    if abs(after - before) < FINDING_SCORE * scale * ALMOST:
        found = _compare_ends(pieces, right, median, max(spread, floor))
        if found is None:
            return None
        kind, before, after, scale = found
    impact = _impact(series.field, float(left.mean()), float(right.mean()), floor, context)
    return Finding(series, kind, summarise(left), summarise(right), before, after, scale, ks, impact)


def summarise(ordered: FloatArray) -> SideStats:
    """What one side shows. Shape: ordered (n,) ascending."""
    p5, median, p95, p99 = (_quantile(ordered, share) for share in (0.05, 0.5, 0.95, 0.99))
    return SideStats(len(ordered), float(ordered.mean()), median, p5, p95, p99, float(ordered[0]), float(ordered[-1]))


def count_at_end(n: int) -> int:
    """How many of n samples are their upper or lower end: the end is where the innermost of them lies."""
    return max(min(LEAST_AT_END, n), round(END_SHARE * n))


def _compare_ends(
    pieces: FloatArray, incident: FloatArray, median: float, floor: float
) -> tuple[ChangeKind, float, float, float] | None:
    """The end that moved most: kind, usual value, value now, and how far it moves by itself."""
    if len(pieces) < LEAST_PIECES_FOR_ENDS:
        return None
    best: tuple[ChangeKind, float, float, float] | None = None
    best_score = END_FINDING_SCORE
    pieces = np.sort(pieces, axis=1)
    kinds: tuple[tuple[ChangeKind, int, int], ...] = (
        ("top", -count_at_end(pieces.shape[1]), -count_at_end(len(incident))),
        ("bottom", count_at_end(pieces.shape[1]) - 1, count_at_end(len(incident)) - 1),
    )
    for kind, place, place_now in kinds:
        ends = pieces[:, place]
        before, after = float(np.median(ends)), float(incident[place_now])
        # An end that stands far out must move by as much to be another one.
        scale = max(float(np.abs(ends - before).max()), floor, 0.25 * abs(before - median))
        if abs(after - before) >= best_score * scale * ALMOST:
            best, best_score = (kind, before, after, scale), abs(after - before) / scale
    return best


def _quantile(ordered: FloatArray, share: float) -> float:
    """As np.quantile gives it, and forty times as fast on few samples: there may be tens of thousands of short-lived processes."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (ordered[high] - ordered[low]) * (place - low))


def _cut(values: FloatArray, n_wanted: int) -> FloatArray:
    """The baseline as windows of the incident's length, overlapping by half; shorter ones when it holds fewer than three.

    Shape: values (n,) -> (n_pieces, length)
    """
    length = max(1, min(n_wanted, len(values) // 2))
    n_pieces = min(MOST_PIECES, max(2, 2 * len(values) // length - 1))
    starts = np.linspace(0, len(values) - length, n_pieces).astype(np.intp)
    return np.stack([values[start : start + length] for start in starts])


def _floor(field: Field, values: FloatArray, median: float) -> float:
    """The smallest change of the field that can mean anything, given its sorted values."""
    step = 10.0**-field.decimals
    if field.kind is Kind.PERCENT:
        return max(step, PERCENT_FLOOR)
    sizes = np.abs(values[values != 0])
    if len(sizes) == 0:
        return step
    usual = float(np.median(sizes))
    return max(step, usual if median == 0 and 2 * len(sizes) < len(values) else LEVEL_FLOOR * usual)


def _impact(field: Field, before: float, after: float, floor: float, context: Context | None) -> float:
    """How much more or less of it there is, by the means: points of a percentage, else decades of the host's total."""
    presence = 1.0 if context is None else context.presence
    if field.kind is Kind.PERCENT:
        return presence * min(1.0, abs(after - before) / 100)
    usual = abs(before) if context is None else max(context.usual_total, abs(before))
    now = max(0.0, usual + abs(after) - abs(before))
    decades = abs(float(np.log10((now + floor) / (usual + floor))))
    return presence * UNBOUNDED_IMPACT * min(1.0, decades / DECADES)


def _ks_distance(left: FloatArray, right: FloatArray) -> float:
    """The greatest distance between the distribution functions of two sorted samples."""
    both = np.concatenate([left, right])
    shares = [np.searchsorted(side, both, side="right") / len(side) for side in (left, right)]
    return float(np.abs(shares[0] - shares[1]).max())


class _Totals:
    """What all instances of a stat have together, on each side, field by field."""

    def __init__(self, instances: Sequence[InstanceInput], n_fields: int) -> None:
        # Shape: (n_fields,); reports that have a value of the field for some instance.
        self.n_reports: dict[Side, npt.NDArray[np.int64]] = {
            "baseline": np.zeros(n_fields, np.int64),
            "incident": np.zeros(n_fields, np.int64),
        }
        self.sums: dict[Side, FloatArray] = {"baseline": np.zeros(n_fields), "incident": np.zeros(n_fields)}
        for instance in instances:
            sides: tuple[tuple[Side, FloatArray], ...] = (("baseline", instance.baseline), ("incident", instance.incident))
            for side, rows in sides:
                self.n_reports[side] = np.maximum(self.n_reports[side], np.count_nonzero(~np.isnan(rows), axis=0))
                self.sums[side] += np.nansum(np.abs(rows), axis=0)
        # Nothing of the field on one side: then nobody looked there, and nothing appeared or vanished.
        self.is_one_sided = (self.n_reports["baseline"] == 0) | (self.n_reports["incident"] == 0)

    def context(self, column: int, n_baseline: int, n_incident: int) -> Context:
        """What else there is of that field, for an instance with so many values; both sides have reports."""
        reports_baseline, reports_incident = int(self.n_reports["baseline"][column]), int(self.n_reports["incident"][column])
        presence = max(n_baseline / reports_baseline, n_incident / reports_incident)
        return Context(float(self.sums["baseline"][column]) / reports_baseline, presence)


def _to_one_sided(series: SeriesId, side: Side, values: FloatArray, totals: _Totals, column: int) -> OneSided:
    # What was there for a part of the reports only had nothing in the others.
    presence = len(values) / int(totals.n_reports[side][column])
    total = float(np.abs(values).sum())
    if series.field.kind is Kind.PERCENT:
        weight = min(1.0, presence * total / len(values) / 100)
    else:
        # A little less than a percentage of the same size, because how scarce it is nobody knows.
        weight = 0.9 * presence * total / (float(totals.sums[side][column]) or 1.0)
    return OneSided(series, side, summarise(np.sort(values)), weight)


def _known(column: FloatArray) -> FloatArray:
    is_known = ~np.isnan(column)
    return column if is_known.all() else column[is_known]


def _name(series: SeriesId) -> tuple[str, str, str]:
    return series.stat, series.instance, series.field.key
