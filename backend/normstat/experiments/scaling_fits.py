"""Models of scaling, fitted by least squares with bounds: Amdahl, the Universal Scalability Law, a bottleneck, a power law. Pure.

All but the power law are fitted to throughput X against the level N of a factor (threads, workers, disks):

    amdahl      X(N) = gamma N / (1 + alpha (N - 1))
                alpha is the serial share: it gets at most 1/alpha times faster
    usl         X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))
                alpha is contention, beta coherency; the peak is at sqrt((1 - alpha) / beta)
    bottleneck  X(N) = gamma min(N, knee)
                something is full from `knee` on
    power       y = factor x^slope, such as runtime against data size

Source: G. Amdahl 1967; N. Gunther, Guerrilla Capacity Planning, 2007; asymptotic bounds of operational analysis
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from normstat.experiments.repeat_statistics import t_point
from normstat.runtime.arrays import distinct_values
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import count_of

Floats = npt.NDArray[np.float64]
ModelName = Literal["amdahl", "usl", "bottleneck", "power"]
Curve = Callable[[Floats, Floats], Floats]
MAX_STEPS: Final = 300
# How many different levels a model needs: one more than it has parameters, or any curve would fit.
MIN_LEVELS: Final[dict[ModelName, int]] = {"amdahl": 3, "usl": 4, "bottleneck": 3, "power": 3}
TITLES: Final[dict[ModelName, str]] = {
    "amdahl": "Amdahl's law", "usl": "the Universal Scalability Law", "bottleneck": "a bottleneck", "power": "a power law",
}  # fmt: skip
N_KNEES: Final = 2001
# Knees times runs that are looked at in one step: a few MB.
MAX_CELLS: Final = 100_000


@dataclass(frozen=True, slots=True)
class FittedParameter(Documented):
    """A parameter of a model."""

    name: str
    value: float
    low: float | None
    """Lower end of the 95 % interval, inside the bounds of the parameter; null where the runs do not determine it."""

    high: float | None


@dataclass(frozen=True, slots=True)
class LevelResidual(Documented):
    """How far the mean at one level is from the model."""

    x: float
    residual_pct: float
    """Measured minus predicted, in percent of the prediction."""


@dataclass(frozen=True, slots=True)
class ScalingFit(Documented):
    """A model fitted to the runs."""

    model: ModelName
    parameters: list[FittedParameter]
    r2: float | None
    """Share of the variance that the model explains; null where all values are equal."""

    aicc: float | None
    """Corrected Akaike criterion: among models of the same runs the smallest one explains them best for its size. Null with too
    few runs.
    """

    n_runs: int
    residuals: list[LevelResidual]
    peak_x: float | None
    """The level of the highest throughput; null where the model has no peak, or none at a finite level."""

    max_speedup: float | None
    """How many times faster than at level 1 it can ever be; null where there is no limit."""

    def parameter(self, name: str) -> float:
        """Return the value of a parameter.

        Raises: KeyError
        """
        for each in self.parameters:
            if each.name == name:
                return each.value
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class ScalingRefusal(Documented):
    """Why a model was not fitted."""

    model: ModelName
    reason: str


@dataclass(frozen=True, slots=True)
class _Problem:
    """A curve to fit to y(x), and the bounds of its parameters."""

    curve: Curve
    x: Floats
    y: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class _Found:
    names: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    predicted: Floats
    jacobian: Floats


def fit_scaling(model: ModelName, x: Sequence[float], y: Sequence[float]) -> ScalingFit | ScalingRefusal:
    """Return the model fitted to throughputs y at the levels x (for "power" to any result), or why it was not."""
    levels, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n_levels = len(distinct_values(levels))
    needed = MIN_LEVELS[model]
    if n_levels < needed:
        return ScalingRefusal(model, f"{title_of(model)} needs runs at {needed} levels or more; there are {n_levels}")
    if (levels <= 0).any() or (values <= 0).any():
        n_bad = int(((levels <= 0) | (values <= 0)).sum())
        return ScalingRefusal(model, f"{count_of(n_bad, 'run')} with a level or a result of zero or below; all must be positive")
    if model == "power":
        return _fit_power(levels, values)
    scale = float(values.max())
    found = {"amdahl": _fit_amdahl, "usl": _fit_usl, "bottleneck": _fit_bottleneck}[model](levels, values / scale)
    return _to_fit(model, found, levels, values / scale, scale)


def predict(fit: ScalingFit, x: Sequence[float]) -> list[float]:
    """Return the throughputs (of "power": the results) that a model predicts at levels above zero."""
    levels = np.asarray(x, dtype=np.float64)
    values = np.array([each.value for each in fit.parameters])
    if fit.model == "power":
        return [float(value) for value in values[0] * levels ** values[1]]
    curve = {"amdahl": _amdahl, "usl": _usl, "bottleneck": _bottleneck}[fit.model]
    return [float(value) for value in curve(levels, values)]


def title_of(model: ModelName) -> str:
    """Return the name of a model, as a sentence begins with it."""
    return f"{TITLES[model][0].upper()}{TITLES[model][1:]}"


def choose_fit(fits: Sequence[ScalingFit | ScalingRefusal]) -> ScalingFit | None:
    """Return the fit of throughput that explains the runs best for its size. Missing: None where there is none.

    With too few runs for that, the better one of the models with the fewest parameters; the power law where throughput has no
    model.
    """
    made = [fit for fit in fits if isinstance(fit, ScalingFit) and fit.model != "power"]
    judged = [fit for fit in made if fit.aicc is not None]
    if judged:
        return min(judged, key=lambda fit: (fit.aicc or 0.0, len(fit.parameters)))
    power = next((fit for fit in fits if isinstance(fit, ScalingFit)), None)
    return min(made, key=lambda fit: (len(fit.parameters), -(fit.r2 or 0.0)), default=power)


def _amdahl(x: Floats, p: Floats) -> Floats:
    return np.asarray(p[0] * x / (1 + p[1] * (x - 1)))


def _usl(x: Floats, p: Floats) -> Floats:
    return np.asarray(p[0] * x / (1 + p[1] * (x - 1) + p[2] * x * (x - 1)))


def _bottleneck(x: Floats, p: Floats) -> Floats:
    return np.asarray(p[0] * np.minimum(x, p[1]))


def _fit_amdahl(x: Floats, y: Floats) -> _Found:
    slope = float((y / x).max())
    starts = [np.array([slope, share]) for share in (0.0, 0.03, 0.3, 0.9)]
    problem = _Problem(_amdahl, x, y, np.array([1e-12, 0.0]), np.array([np.inf, 1.0]))
    return _best(problem, ("gamma", "alpha"), starts)


def _fit_usl(x: Floats, y: Floats) -> _Found:
    slope = float((y / x).max())
    top = float(x.max())
    starts = [
        np.array([slope, alpha, beta / top**2]) for alpha in (0.0, 0.03, 0.3) for beta in (0.0, 0.1, 1.0, 10.0)
    ]  # fmt: skip
    problem = _Problem(_usl, x, y, np.array([1e-12, 0.0, 0.0]), np.array([np.inf, 1.0, 1.0]))
    return _best(problem, ("gamma", "alpha", "beta"), starts)


def _fit_bottleneck(x: Floats, y: Floats) -> _Found:
    """Return the best knee on a fine grid, then between its neighbours; gamma follows from it."""
    first, last = float(x.min()), float(x.max())

    def losses(knees: Floats) -> Floats:
        base = np.minimum(x, knees[:, None])
        gammas = (y * base).sum(axis=1) / (base * base).sum(axis=1)
        return np.stack([((y - gammas[:, None] * base) ** 2).sum(axis=1), gammas])

    low, high = first, last
    best, gamma = last, 0.0
    n_at_once = max(1, MAX_CELLS // len(x))
    for _ in range(3):
        # Of equal ones the highest knee.
        grid = np.linspace(high, low, N_KNEES)
        parts = [losses(grid[begin : begin + n_at_once]) for begin in range(0, N_KNEES, n_at_once)]
        loss, gammas = np.concatenate(parts, axis=1)
        at = int(loss.argmin())
        best, gamma = float(grid[at]), float(gammas[at])
        step = (high - low) / (N_KNEES - 1)
        low, high = max(first, best - step), min(last, best + step)
    values = np.array([gamma, best])
    jacobian = np.stack([np.minimum(x, best), gamma * (x > best)], axis=1)
    bounds = np.array([0.0, first]), np.array([np.inf, last])
    return _Found(("gamma", "knee"), values, *bounds, _bottleneck(x, values), jacobian)


def _fit_power(x: Floats, y: Floats) -> ScalingFit:
    log_x, log_y = np.log(x), np.log(y)
    design = np.stack([np.ones_like(log_x), log_x], axis=1)
    found = np.linalg.lstsq(design, log_y, rcond=None)[0]
    predicted = design @ found
    names = ("factor", "slope")
    bounds = np.full(2, -np.inf), np.full(2, np.inf)
    made = _Found(names, found, *bounds, predicted, design)
    intervals = _intervals(made, log_y)
    factor, slope = (
        FittedParameter(name, float(value), *interval) for name, value, interval in zip(names, found, intervals, strict=True)
    )
    # The factor was fitted as a logarithm.
    factor = FittedParameter("factor", _exp(factor.value) or 0.0, _exp(factor.low), _exp(factor.high))
    residuals = _residuals(x, y, np.exp(predicted))
    return ScalingFit("power", [factor, slope], _r2(log_y, predicted), _aicc(log_y, predicted, 2), len(x), residuals, None, None)


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(min(max(value, -700.0), 700.0))


def _to_fit(model: ModelName, found: _Found, x: Floats, y: Floats, scale: float) -> ScalingFit:
    intervals = _intervals(found, y)
    parameters = []
    for name, value, (low, high) in zip(found.names, found.values.tolist(), intervals, strict=True):
        factor = scale if name == "gamma" else 1.0
        ends = (None if low is None else low * factor, None if high is None else high * factor)
        parameters.append(FittedParameter(name, value * factor, *ends))
    peak, limit = _limits(model, found.values.tolist(), float(x.max()))
    return ScalingFit(
        model, parameters, _r2(y, found.predicted), _aicc(y, found.predicted, len(found.values)), len(x),
        _residuals(x, y, found.predicted), peak, limit,
    )  # fmt: skip


def _limits(model: ModelName, values: list[float], last: float) -> tuple[float | None, float | None]:
    """Return the level of the peak, and the highest speed-up against level 1. Missing: None where there is none."""
    if model == "amdahl":
        return None, 1 / values[1] if values[1] > 0 else None
    if model == "usl":
        alpha, beta = values[1], values[2]
        if beta <= 0:
            return None, 1 / alpha if alpha > 0 else None
        peak = max(1.0, math.sqrt((1 - alpha) / beta))
        return peak, float(_usl(np.array([peak]), np.array([1.0, alpha, beta]))[0])
    knee = values[1]
    # A knee at the last level was not seen: up to there it grows in proportion.
    return (knee, knee / min(1.0, knee)) if knee < last else (None, None)


def _best(problem: _Problem, names: tuple[str, ...], starts: Sequence[Floats]) -> _Found:
    found = min((_descend(problem, start) for start in starts), key=lambda pair: pair[0])[1]
    return _Found(names, found, problem.low, problem.high, problem.curve(problem.x, found), _jacobian(problem, found))


def _descend(problem: _Problem, start: Floats) -> tuple[float, Floats]:
    """Return the sum of squares and the parameters of a minimum: Levenberg and Marquardt, projected on the bounds."""
    low, high = problem.low, problem.high
    p = np.clip(start, low, high)
    damping = 1e-3
    residual = problem.y - problem.curve(problem.x, p)
    loss = float(residual @ residual)
    for _ in range(MAX_STEPS):
        jacobian = _jacobian(problem, p)
        gradient = jacobian.T @ residual
        # A parameter at its bound that wants to leave stays there.
        is_free = ~(((p <= low) & (gradient < 0)) | ((p >= high) & (gradient > 0)))
        step = np.zeros_like(p)
        part = jacobian[:, is_free]
        normal = part.T @ part
        try:
            step[is_free] = np.linalg.solve(normal + damping * np.diag(np.maximum(np.diag(normal), 1e-300)), gradient[is_free])
        except np.linalg.LinAlgError:
            damping *= 10
            continue
        trial = np.clip(p + step, low, high)
        residual_there = problem.y - problem.curve(problem.x, trial)
        loss_there = float(residual_there @ residual_there)
        if loss_there < loss:
            is_done = loss - loss_there <= 1e-15 * loss
            p, residual, loss, damping = trial, residual_there, loss_there, max(damping / 5, 1e-12)
        else:
            damping *= 4
            is_done = damping > 1e12 or not is_free.any()
        if is_done:
            break
    return loss, p


def _jacobian(problem: _Problem, p: Floats) -> Floats:
    columns = []
    for at in range(len(p)):
        step = max(abs(p[at]) * 1e-6, 1e-10)
        ahead, behind = p.copy(), p.copy()
        ahead[at], behind[at] = min(p[at] + step, problem.high[at]), max(p[at] - step, problem.low[at])
        columns.append((problem.curve(problem.x, ahead) - problem.curve(problem.x, behind)) / (ahead[at] - behind[at]))
    return np.stack(columns, axis=1)


def _intervals(found: _Found, y: Floats) -> list[tuple[float | None, float | None]]:
    freedom = len(y) - len(found.values)
    missing: list[tuple[float | None, float | None]] = [(None, None)] * len(found.values)
    if freedom < 1:
        return missing
    variance = float(((y - found.predicted) ** 2).sum()) / freedom
    try:
        covariance = np.linalg.inv(found.jacobian.T @ found.jacobian) * variance
    except np.linalg.LinAlgError:
        return missing
    spread = np.diag(covariance)
    if not np.isfinite(spread).all() or (spread < 0).any():
        return missing
    half = t_point(freedom) * np.sqrt(spread)
    low, high = np.maximum(found.values - half, found.low), np.minimum(found.values + half, found.high)
    # An interval from bound to bound says nothing about the parameter.
    is_known = (low > found.low) | (high < found.high)
    return [
        (begin, end) if known else (None, None)
        for begin, end, known in zip(low.tolist(), high.tolist(), is_known.tolist(), strict=True)
    ]


def _r2(y: Floats, predicted: Floats) -> float | None:
    total = float(((y - y.mean()) ** 2).sum())
    return None if total == 0 else 1 - float(((y - predicted) ** 2).sum()) / total


def _aicc(y: Floats, predicted: Floats, n_parameters: int) -> float | None:
    n, k = len(y), n_parameters + 1
    if n - k - 1 <= 0:
        return None
    # Runs without any spread fit several models exactly; noise of the arithmetic must not choose between them.
    loss = max(float(((y - predicted) ** 2).sum()), 1e-10 * float((y * y).sum()))
    return n * math.log(loss / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _residuals(x: Floats, y: Floats, predicted: Floats) -> list[LevelResidual]:
    found = []
    for level in distinct_values(x).tolist():
        here = x == level
        expected = float(predicted[here].mean())
        found.append(LevelResidual(level, 100 * (float(y[here].mean()) - expected) / expected))
    return found
