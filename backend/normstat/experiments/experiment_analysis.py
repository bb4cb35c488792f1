"""Analyse the runs of an experiment: means of repeats, ratios, speed-up and efficiency, and models of scaling. Pure."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import numpy as np

from normstat.errors import BadRequest, shorten
from normstat.experiments.measured_values import REAL, Better, better_of, level_of
from normstat.experiments.repeat_statistics import Ratio, RepeatedMean, divide, summarise
from normstat.experiments.run_groups import RunGroup, sort_runs
from normstat.experiments.scaling_fits import (
    MIN_LEVELS,
    ModelName,
    ScalingFit,
    ScalingRefusal,
    choose_fit,
    fit_scaling,
    predict,
    title_of,
)
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import count_of, format_percent
from normstat.scoring.normal_steps import StepOfRuns, find_steps_of_runs
from normstat.stats.measured_value import MeasuredValue

T = TypeVar("T")
Work = Literal["fixed", "grows"]
MODELS: Final[tuple[ModelName, ...]] = ("amdahl", "usl", "bottleneck", "power")
N_CURVE_POINTS: Final = 60
# A curve goes on this many times beyond the last level, so that the peak of a model is seen.
BEYOND: Final = 2.0
MAX_VARIANTS: Final = 50


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Data of a run for the analysis. `left_out`: why it does not count, "" where it does."""

    id: int
    factors: Mapping[str, str]
    results: Sequence[MeasuredValue]
    left_out: str


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """What to analyse. None: the usual choice.

    `variant`: the factor whose values are drawn as lines of their own; "" for one line of all runs. The usual choice is every
    factor but `factor` whose values differ (`usual_variant`). `reference`: the level of `factor` that speed-ups are relative to;
    `base`: the value of `variant` that the others are divided by. `work`: whether the same work is shared by more workers, or
    grows with their number. `cpu`: the result that says how busy the CPU was, for the groups.
    """

    result: str | None = None
    factor: str | None = None
    variant: str | None = None
    reference: str | None = None
    base: str | None = None
    better: Better | None = None
    work: Work = "fixed"
    cpu: str | None = None


@dataclass(frozen=True, slots=True)
class ExperimentFactor(Documented):
    """A factor of the runs."""

    name: str
    is_numeric: bool
    """Whether all of its values are numbers (8G and 512k are)."""

    levels: list[str]
    """Its values, smallest number first."""


@dataclass(frozen=True, slots=True)
class ExperimentResult(Documented):
    """A result that runs have."""

    name: str
    unit: str
    better: Better
    n_runs: int


@dataclass(frozen=True, slots=True)
class RunPoint(Documented):
    """One run in the chart."""

    run: int
    variant: str
    level: str
    x: float | None
    value: float
    times: float | None
    """The value divided by the mean of the reference level of the base variant; null where that is zero or missing."""

    group: RunGroup | None
    """A, B, C or D by throughput and CPU use; null without a result that says how busy the CPU was."""


@dataclass(frozen=True, slots=True)
class RunLevel(Documented):
    """The repeats of one level of one variant."""

    variant: str
    level: str
    x: float | None
    result: RepeatedMean
    times_reference: Ratio | None
    """The mean divided by that of the reference level, same variant."""

    times_base: Ratio | None
    """The mean divided by that of the base variant, same level."""

    speedup: Ratio | None
    """How many times faster than the reference level; for throughput how many times more of it."""

    efficiency: Ratio | None
    """Speed-up divided by how many times more of the factor; null where the levels are not positive numbers."""


@dataclass(frozen=True, slots=True)
class CurvePoint(Documented):
    """A point of a model's curve."""

    x: float
    value: float
    speedup: float | None
    efficiency: float | None


@dataclass(frozen=True, slots=True)
class ModelCurve(Documented):
    """A fitted model and its curve, in the unit of the result."""

    fit: ScalingFit
    curve: list[CurvePoint]


@dataclass(frozen=True, slots=True)
class VariantScaling(Documented):
    """The models of one variant."""

    variant: str
    reference: str
    curves: list[ModelCurve]
    refusals: list[ScalingRefusal]
    best: str | None
    """The model of throughput that explains the runs best for its size; the power law where throughput has none."""


@dataclass(frozen=True, slots=True)
class RunStep(Documented):
    """From a run on, results differ from those of the runs before it at the same factors: the machine or the program changed."""

    run: int
    times: float
    """Median of the results from then on, as a multiple of the median before."""

    n_before: int
    n_after: int
    is_worse: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class RunLeftOut(Documented):
    """A run that does not count, and why."""

    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class ExperimentAnalysis(Documented):
    """The analysis of one result of an experiment."""

    result: ExperimentResult | None
    """Null where no run has a result."""

    factor: ExperimentFactor | None
    variant: ExperimentFactor | None
    work: Work
    base: str
    """The variant that others are divided by; empty without variants."""

    results: list[ExperimentResult]
    factors: list[ExperimentFactor]
    points: list[RunPoint]
    levels: list[RunLevel]
    scaling: list[VariantScaling]
    steps: list[RunStep]
    """In the order of the runs."""

    left_out: list[RunLeftOut]


@dataclass(frozen=True, slots=True)
class _Point:
    run: int
    variant: str
    level: str
    value: float


def analyse_runs(runs: Sequence[RunFacts], asked: AnalysisRequest) -> ExperimentAnalysis:
    """Analyse one result of the runs, by one factor and variant.

    Raises: BadRequest for an unknown result, factor, level or variant
    """
    counted = [run for run in runs if not run.left_out]
    left_out = [RunLeftOut(run.id, run.left_out) for run in runs if run.left_out]
    results, factors = results_of(counted or runs, asked.better), factors_of(counted or runs)
    result = _choose("result", asked.result, {each.name: each for each in results}, _usual_result(results))
    factor = _choose("factor", asked.factor, {each.name: each for each in factors}, _usual_factor(factors))
    others = [each for each in factors if factor is None or each.name != factor.name]
    variant = _choose("variant", asked.variant, {each.name: each for each in others}, None)
    if variant is not None and len(variant.levels) > MAX_VARIANTS:
        raise BadRequest(f"{shorten(variant.name)} has {len(variant.levels)} values; at most {MAX_VARIANTS} can be lines")
    lines = {run.id: "" if variant is None else run.factors.get(variant.name) for run in counted}
    if asked.variant is None:
        variant, lines = usual_variant(counted, factor, others)
    empty = ExperimentAnalysis(result, factor, variant, asked.work, "", results, factors, [], [], [], [], left_out)
    if result is None:
        return empty
    points = []
    for run in counted:
        found = [each for each in run.results if each.name == result.name]
        level = "" if factor is None else run.factors.get(factor.name)
        line = lines[run.id]
        if not found:
            left_out.append(RunLeftOut(run.id, f"it has no result {shorten(result.name)}"))
        elif found[0].unit != result.unit:
            left_out.append(
                RunLeftOut(run.id, f"its {shorten(result.name)} is in {found[0].unit or 'no unit'}, not in {result.unit}")
            )
        elif level is None or line is None:
            missing = factor if level is None else variant
            left_out.append(RunLeftOut(run.id, f"it has no factor {shorten('' if missing is None else missing.name)}"))
        else:
            points.append(_Point(run.id, line, level, found[0].value))
    return _analyse(points, counted, empty, asked)


def usual_variant(
    runs: Sequence[RunFacts], factor: ExperimentFactor | None, others: Sequence[ExperimentFactor]
) -> tuple[ExperimentFactor | None, dict[int, str | None]]:
    """Return the factors that make lines unless one was asked for, as one factor, and the line of each run.

    Runs that differ in another factor are no repeats of each other, so each combination of the other factors is a line. A factor
    with a value for each level and a level for each value (8G on one disk, 4G on two) says what `factor` says, and makes no lines;
    nor do those with the most values (numbers of runs, seeds) where there would be more than MAX_VARIANTS lines.

    Missing: None where no other factor differs; then all runs are of the line ""
    """
    chosen = sorted((each for each in others if _makes_lines(runs, factor, each)), key=lambda each: len(each.levels))
    while chosen:
        numbers = {each.name: {value: at for at, value in enumerate(each.levels)} for each in chosen}
        keys = {run.id: tuple(run.factors.get(each.name) for each in chosen) for run in runs}

        def place(key: tuple[str | None, ...], numbers: Mapping[str, Mapping[str, int]] = numbers) -> list[int]:
            return [-1 if value is None else at[value] for value, at in zip(key, numbers.values(), strict=True)]

        ordered = sorted(set(keys.values()), key=place)
        if len(ordered) <= MAX_VARIANTS:
            said = {
                key: ", ".join(f"no {name}" if value is None else value for name, value in zip(numbers, key, strict=True))
                for key in ordered
            }
            is_numeric = len(chosen) == 1 and chosen[0].is_numeric and len(ordered) == len(chosen[0].levels)
            variant = ExperimentFactor(", ".join(numbers), is_numeric, list(dict.fromkeys(said.values())))
            return variant, {run: said[key] for run, key in keys.items()}
        chosen.pop()
    return None, {run.id: "" for run in runs}


def _makes_lines(runs: Sequence[RunFacts], factor: ExperimentFactor | None, other: ExperimentFactor) -> bool:
    pairs = {("" if factor is None else run.factors.get(factor.name), run.factors.get(other.name)) for run in runs}
    n_levels, n_values = (len({pair[at] for pair in pairs}) for at in (0, 1))
    return n_values > 1 and not len(pairs) == n_levels == n_values


def factors_of(runs: Iterable[RunFacts]) -> list[ExperimentFactor]:
    """Return the factors of the runs, by name, each with its values in order."""
    levels: dict[str, set[str]] = {}
    for run in runs:
        for name, value in run.factors.items():
            levels.setdefault(name, set()).add(value)
    found = []
    for name, values in sorted(levels.items()):
        numbers = {value: level_of(value) for value in values}
        is_numeric = all(number is not None for number in numbers.values())
        ordered = sorted(values, key=lambda value: (numbers[value] or 0.0, value)) if is_numeric else sorted(values)
        found.append(ExperimentFactor(name, is_numeric, ordered))
    return found


def results_of(runs: Iterable[RunFacts], better: Better | None = None) -> list[ExperimentResult]:
    """Return the results of the runs: those that most runs have first, real time before others."""
    counts: dict[str, int] = {}
    units: dict[str, str] = {}
    for run in runs:
        for each in run.results:
            counts[each.name] = counts.get(each.name, 0) + 1
            units.setdefault(each.name, each.unit)
    found = [ExperimentResult(name, units[name], better or better_of(units[name]), n) for name, n in counts.items()]
    return sorted(found, key=lambda each: -each.n_runs)


def _usual_result(results: Sequence[ExperimentResult]) -> ExperimentResult | None:
    return next((each for each in results if each.name == REAL), results[0] if results else None)


def _usual_factor(factors: Sequence[ExperimentFactor]) -> ExperimentFactor | None:
    """Return the factor with the most levels, numbers first."""
    return max(factors, key=lambda each: (len(each.levels) > 1, each.is_numeric, len(each.levels)), default=None)


def _choose(what: str, name: str | None, known: Mapping[str, T], usual: T | None) -> T | None:
    if not name:
        return usual
    if name not in known:
        listed = ", ".join(shorten(each, 40) for each in known) or "none"
        raise BadRequest(f"The runs have no {what} {shorten(name)}; they have {listed}", {what: name})
    return known[name]


Means = Mapping[tuple[str, str], RepeatedMean]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How values of a result are read: which are better, whether the work grows with the level, and whether levels are numbers."""

    better: Better
    work: Work
    is_numeric: bool

    def more(self, level: str, reference: str) -> float | None:
        """Return how many times the reference a level is. Missing: None where one of them is no positive number."""
        x, first = (level_of(level), level_of(reference)) if self.is_numeric else (None, None)
        return x / first if x is not None and first is not None and x > 0 and first > 0 else None

    def to_throughput(self, x: float, value: float) -> float:
        """Return a result as throughput; what is zero or negative stays."""
        if self.better == "higher" or value <= 0:
            return value
        return x / value if self.work == "grows" else 1 / value

    def to_value(self, x: float, throughput: float) -> float:
        """Return a throughput as the result."""
        if self.better == "higher":
            return throughput
        return x / throughput if self.work == "grows" else 1 / throughput


def _analyse(
    points: Sequence[_Point], runs: Sequence[RunFacts], empty: ExperimentAnalysis, asked: AnalysisRequest
) -> ExperimentAnalysis:
    result, factor, variant = empty.result, empty.factor, empty.variant
    if result is None:
        return empty
    levels = [""] if factor is None else factor.levels
    variants = [""] if variant is None else variant.levels
    rule = _Rule(result.better, asked.work, factor is not None and factor.is_numeric)
    if asked.reference and asked.reference not in levels:
        listed = ", ".join(shorten(each, 40) for each in levels)
        raise BadRequest(
            f"No run has the level {shorten(asked.reference)}; the levels are {listed}", {"reference": asked.reference}
        )
    values: dict[tuple[str, str], list[float]] = {}
    for point in points:
        values.setdefault((point.variant, point.level), []).append(point.value)
    keys = [(line, level) for line in variants for level in levels if (line, level) in values]
    means = {key: summarise(values[key]) for key in keys}
    used = list(dict.fromkeys(line for line, _ in keys))
    base = asked.base if asked.base in used else next(iter(used), "")
    references = {line: _reference_of(means, line, levels, asked.reference) for line in used}
    base_mean = means.get((base, references.get(base, "")))
    groups = _groups(runs, points, result, asked.cpu)
    found_points = [
        RunPoint(
            point.run, point.variant, point.level, level_of(point.level) if rule.is_numeric else None, point.value,
            point.value / base_mean.mean if base_mean is not None and base_mean.mean > 0 else None,
            groups.get(point.run),
        )
        for point in points
    ]  # fmt: skip
    scaling = [
        _scale(rule, [point for point in points if point.variant == line], references[line], means[line, references[line]])
        for line in (used if rule.is_numeric else [])
    ]
    return dataclasses.replace(
        empty,
        base=base,
        points=found_points,
        levels=[_to_level(means, key, references[key[0]], base, rule) for key in keys],
        scaling=scaling,
        steps=find_run_steps([(point.run, (point.variant, point.level), point.value) for point in points], result),
        left_out=sorted(empty.left_out, key=lambda each: each.run),
    )


def find_run_steps(points: Sequence[tuple[int, tuple[str, str], float]], result: ExperimentResult) -> list[RunStep]:
    """Return the runs from which on a result differs from that of the runs before. `points`: run, what its repeats share, value, in
    order

    Each result is divided by the median of its repeats, so that the order in which levels were tried is no step.
    """
    repeats: dict[tuple[str, str], list[float]] = {}
    for _, key, value in points:
        repeats.setdefault(key, []).append(value)
    usual = {key: float(np.median(values)) for key, values in repeats.items() if len(values) > 1}
    told = [(run, value / usual[key]) for run, key, value in points if usual.get(key, 0) > 0 and value > 0]
    found = find_steps_of_runs(np.array([ratio for _, ratio in told]))
    return [_to_run_step(told[own.place][0], own, result) for own in found]


def _to_run_step(run: int, own: StepOfRuns, result: ExperimentResult) -> RunStep:
    is_worse = (own.times > 1) == (result.better == "lower")
    sentence = (
        f"From run {run} on, {result.name} is {format_percent(100 * abs(own.times - 1), 2)} "
        f"{'higher' if own.times > 1 else 'lower'} at the same factors ({count_of(own.n_after, 'run')}, {own.n_before:,} before): "
        f"{'worse' if is_worse else 'better'}."
    )
    return RunStep(run, own.times, own.n_before, own.n_after, is_worse, sentence)


def _reference_of(means: Means, line: str, levels: Sequence[str], asked: str | None) -> str:
    """Return the level asked for where the line has it, else its first one."""
    if asked and (line, asked) in means:
        return asked
    return next(level for level in levels if (line, level) in means)


def _to_level(means: Means, key: tuple[str, str], reference: str, base: str, rule: _Rule) -> RunLevel:
    line, level = key
    mean, at_reference = means[key], means[line, reference]
    at_base = means.get((base, level))
    more = rule.more(level, reference)
    speedup = divide(at_reference, mean) if rule.better == "lower" else divide(mean, at_reference)
    if rule.better == "lower" and rule.work == "grows":
        # The same time for N times the work is N times as fast.
        speedup = None if speedup is None or more is None else _multiply(speedup, more)
    return RunLevel(
        line, level, level_of(level) if rule.is_numeric else None, mean, divide(mean, at_reference),
        None if at_base is None else divide(mean, at_base), speedup,
        None if speedup is None or more is None else _multiply(speedup, 1 / more),
    )  # fmt: skip


def _multiply(ratio: Ratio, factor: float) -> Ratio:
    ends = (None if end is None else end * factor for end in (ratio.low, ratio.high))
    return Ratio(ratio.value * factor, *ends)


def _scale(rule: _Rule, points: Sequence[_Point], reference: str, at_reference: RepeatedMean) -> VariantScaling:
    xs = [level_of(point.level) or 0.0 for point in points]
    values = [point.value for point in points]
    throughputs = [rule.to_throughput(x, value) for x, value in zip(xs, values, strict=True)]
    first = level_of(reference) or 0.0
    curves, refusals = [], []
    for model in MODELS:
        reason = _why_not(model, points, throughputs)
        found = ScalingRefusal(model, reason) if reason else fit_scaling(model, xs, values if model == "power" else throughputs)
        if isinstance(found, ScalingFit):
            curves.append(ModelCurve(found, _curve(rule, found, xs, first, rule.to_throughput(first, at_reference.mean))))
        else:
            refusals.append(found)
    best = choose_fit([each.fit for each in curves])
    return VariantScaling(points[0].variant, reference, curves, refusals, None if best is None else best.model)


def _why_not(model: ModelName, points: Sequence[_Point], throughputs: Sequence[float]) -> str:
    """Return why a model does not apply to such levels, if there are enough of them. Missing: "" where it does."""
    by_level: dict[str, list[float]] = {}
    for point, throughput in zip(points, throughputs, strict=True):
        by_level.setdefault(point.level, []).append(throughput)
    if model == "power" or len(by_level) < MIN_LEVELS[model]:
        return ""
    amount = next((level for level in by_level if not _is_count(level)), None)
    if amount is not None and model in {"amdahl", "usl"}:
        return f"{title_of(model)} is about a number of workers; {shorten(amount)} is an amount"
    means = {level: float(np.mean(found)) for level, found in by_level.items()}
    smallest = min(means, key=lambda level: level_of(level) or 0.0)
    if any(mean >= means[smallest] for level, mean in means.items() if level != smallest):
        return ""
    return f"No level is as fast as the smallest, {shorten(smallest)}: there is no gain to describe"


def _is_count(level: str) -> bool:
    try:
        return math.isfinite(float(level))
    except ValueError:
        return False


def _curve(rule: _Rule, fit: ScalingFit, xs: Sequence[float], first: float, reference: float) -> list[CurvePoint]:
    """Return the points of a model from the first level to beyond the last; `reference` is the throughput at the level `first`."""
    low, high = min(xs), max(xs) * BEYOND
    # A knee is a corner of the curve: a point of its own.
    corners = [fit.peak_x] if fit.peak_x is not None and low < fit.peak_x < high else []
    grid = sorted({*np.geomspace(low, high, N_CURVE_POINTS).tolist(), *corners})
    points = []
    for x, predicted in zip(grid, predict(fit, grid), strict=True):
        value = predicted if fit.model == "power" else rule.to_value(x, predicted)
        speedup = rule.to_throughput(x, value) / reference if reference > 0 else None
        efficiency = speedup / (x / first) if speedup is not None and first > 0 else None
        points.append(CurvePoint(x, value, speedup, efficiency))
    return points


def _groups(
    runs: Sequence[RunFacts], points: Sequence[_Point], result: ExperimentResult, cpu: str | None
) -> dict[int, RunGroup | None]:
    if not cpu:
        return {}
    busy = {run.id: next((each.value for each in run.results if each.name == cpu), None) for run in runs}
    # A short time is a high throughput.
    pairs = [
        (point.value if result.better == "higher" else (1 / point.value if point.value > 0 else None), busy.get(point.run))
        for point in points
    ]
    return dict(zip((point.run for point in points), sort_runs(pairs), strict=True))
