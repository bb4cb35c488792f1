"""The verdict of an experiment in one sentence: as the page leads with it (frontend/src/logic/experiment.ts). Pure."""

from collections.abc import Sequence

from normstat.experiments.experiment_analysis import ExperimentAnalysis, RunLevel, VariantScaling
from normstat.experiments.scaling_fits import FittedParameter, ScalingFit
from normstat.runtime.readable import count_of, format_digits, format_times


def lead_of(analysis: ExperimentAnalysis, scaling: VariantScaling) -> tuple[str, str]:
    """Return the sentence of the best model of a variant, or why there is none; and how sure it is, or ""."""
    prefix = f"{scaling.variant}: " if scaling.variant else ""
    best = next((each.fit for each in scaling.curves if each.fit.model == scaling.best), None)
    if best is None:
        return (f"{prefix}{scaling.refusals[0].reason}", "") if scaling.refusals else ("", "")
    levels = [level for level in analysis.levels if level.variant == scaling.variant]
    sentence, detail = describe_fit(best, "" if analysis.factor is None else analysis.factor.name, levels)
    quality = "" if best.r2 is None else f"R² {format_digits(best.r2)}, {count_of(best.n_runs, 'run')}."
    return f"{prefix}{sentence}", " ".join(part for part in (detail, quality) if part)


def describe_fit(fit: ScalingFit, factor: str, levels: Sequence[RunLevel]) -> tuple[str, str]:
    """Return the sentence of a fitted model, and the intervals of its parameters."""
    found = {each.name: each for each in fit.parameters}
    last = format_digits(max(each.x for each in fit.residuals))
    most = None if fit.max_speedup is None else format_times(fit.max_speedup)
    match fit.model:
        case "bottleneck":
            if fit.peak_x is None:
                return f"Nothing is full up to {factor}={last}: it grows in proportion.", ""
            # The first level that was measured at the knee or beyond it.
            full = next((level for level in levels if level.x is not None and level.x >= fit.peak_x * 0.95), None)
            gain = most or "" if full is None or full.speedup is None else format_times(full.speedup.value)
            level = format_digits(fit.peak_x) if full is None else full.level
            said = f"Full at {factor}={level}: {gain} times as fast as the reference; more adds nothing."
            return said, f"Knee at {format_digits(found['knee'].value)} (95 % interval {_interval(found['knee'])})."
        case "amdahl":
            serial = found["alpha"]
            interval = f"95 % interval {_interval(serial, 100, ' %')}."
            if serial.low is None or serial.high is None:
                return f"Too few runs up to {factor}={last} to tell the serial share.", interval
            if most is None or not serial.low:
                return (
                    f"No limit seen up to {factor}={last}: the serial share is below {format_digits(100 * serial.high)} %.",
                    interval,
                )
            return f"{format_digits(100 * serial.value)} % serial: at most {most} times as fast.", interval
        case "usl":
            alpha, beta = (format_digits(100 * found[name].value) for name in ("alpha", "beta"))
            detail = f"Contention {alpha} %, coherency {beta} %."
            if fit.peak_x is None:
                return f"No peak: at most {most or '∞'} times as fast.", detail
            return (
                f"Fastest with {factor}={format_times(fit.peak_x)} ({most or ''} times as fast as 1); more makes it slower.",
                detail,
            )
        case "power":
            slope = found["slope"]
            doubled = format_times(2**slope.value)
            power = f"with {factor} to the power {format_digits(slope.value)}"
            said = (
                f"Falls {power}: twice as much leaves {doubled} of it." if slope.value < 0
                else f"Grows {power}: twice as much costs {doubled} times as much."
            )  # fmt: skip
            return said, f"95 % interval {_interval(slope)}."


def extreme_of(analysis: ExperimentAnalysis) -> str:
    """Return the largest difference between levels of a factor that is no number. Missing: "" without one."""
    if analysis.result is None or analysis.factor is None or analysis.factor.is_numeric or len(analysis.levels) < 2:
        return ""
    ordered = sorted(analysis.levels, key=lambda level: level.result.mean)
    low, high = ordered[0], ordered[-1]
    if low.result.mean <= 0:
        return ""
    times = format_times(high.result.mean / low.result.mean)
    return f"{analysis.result.name} of {_named(high)} is {times} times that of {_named(low)}."


def _interval(found: FittedParameter, factor: float = 1, unit: str = "") -> str:
    if found.low is None or found.high is None:
        return "unknown: too few runs"
    return f"{format_digits(factor * found.low)} – {format_digits(factor * found.high)}{unit}"


def _named(level: RunLevel) -> str:
    return level.level if not level.variant else f"{level.variant}, {level.level}"
