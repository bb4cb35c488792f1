"""Models of scaling against published fits, and against data made by the models themselves."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normstat.experiments.experiment_analysis import MODELS
from normstat.experiments.repeat_statistics import divide, summarise, t_point
from normstat.experiments.scaling_fits import ModelName, ScalingFit, ScalingRefusal, choose_fit, fit_scaling, predict

# Two examples of Gunther's Guerrilla Capacity Planning, as the R package usl carries them.
SPECSDM91 = ([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
RAYTRACER = ([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310])


def made(model: ModelName, data: tuple[Sequence[float], Sequence[float]]) -> ScalingFit:
    fit = fit_scaling(model, *data)
    assert isinstance(fit, ScalingFit), fit
    return fit


def test_usl_of_specsdm91_is_that_of_r() -> None:
    fit = made("usl", SPECSDM91)
    # Coefficients and standard errors of usl's summary; 4 degrees of freedom.
    for name, value, error in (
        ("gamma", 89.9952330, 14.2134894),
        ("alpha", 0.0277285, 0.0091217),
        ("beta", 0.0001044, 0.0000199),
    ):
        [found] = [each for each in fit.parameters if each.name == name]
        assert found.value == pytest.approx(value, rel=1e-3)
        assert found.high is not None
        assert (found.high - found.value) / t_point(4) == pytest.approx(error, rel=3e-3)
    assert fit.peak_x == pytest.approx(96.52, abs=0.01)
    assert predict(fit, [fit.peak_x or 0])[0] == pytest.approx(1884, abs=1)
    assert fit.r2 == pytest.approx(0.98956, abs=1e-4)
    # Amdahl has no peak and cannot follow the decline.
    best = choose_fit([fit, made("amdahl", SPECSDM91), made("bottleneck", SPECSDM91)])
    assert best is not None
    assert best.model in {"usl", "bottleneck"}


def test_usl_of_the_raytracer_has_no_coherency_and_is_amdahl() -> None:
    usl, amdahl = made("usl", RAYTRACER), made("amdahl", RAYTRACER)
    assert (usl.parameter("beta"), usl.peak_x) == (0, None)
    for fit in (usl, amdahl):
        assert fit.parameter("gamma") == pytest.approx(21.848843, rel=1e-5)
        assert fit.parameter("alpha") == pytest.approx(0.057771, rel=1e-4)
    assert amdahl.max_speedup == pytest.approx(17.31, abs=0.01)
    assert choose_fit([usl, amdahl]) is amdahl


def test_two_cores_are_a_knee_at_two() -> None:
    data = ([1, 1, 1, 2, 2, 2, 4, 4, 4], [1, 1.02, 0.99, 1.96, 1.94, 1.99, 1.95, 1.99, 1.92])
    best = choose_fit([made("bottleneck", data), made("amdahl", data)])
    assert best is not None
    assert best.model == "bottleneck"
    [_, knee] = best.parameters
    assert knee.value == pytest.approx(1.952, abs=0.001)
    assert (knee.low or 0) < knee.value < 2 < (knee.high or 0)
    refused = fit_scaling("usl", *data)
    assert isinstance(refused, ScalingRefusal)
    assert refused.reason == "The Universal Scalability Law needs runs at 4 levels or more; there are 3"


def test_two_levels_or_a_zero_are_refused_with_the_reason() -> None:
    for model in MODELS:
        few = fit_scaling(model, [1, 1, 2, 2], [1, 1.1, 1.8, 1.9])
        assert isinstance(few, ScalingRefusal)
        assert "there are 2" in few.reason
        zero = fit_scaling(model, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5])
        assert isinstance(zero, ScalingRefusal)
        assert "1 run with a level or a result of zero" in zero.reason


@given(st.floats(0.1, 1e6), st.floats(0.001, 0.6), st.floats(1e-6, 1e-2))
@settings(max_examples=25, deadline=None)
def test_exact_data_give_back_their_parameters(gamma: float, alpha: float, beta: float) -> None:
    x = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    y = [gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1)) for n in x]
    fit = made("usl", (x, y))
    assert fit.parameter("gamma") == pytest.approx(gamma, rel=1e-3)
    assert fit.parameter("alpha") == pytest.approx(alpha, abs=2e-4)
    assert fit.parameter("beta") == pytest.approx(beta, abs=2e-5)
    assert predict(fit, x) == pytest.approx(y, rel=1e-3)


@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 8.0, 64.0]), st.floats(1e-6, 1e6)), min_size=5, max_size=20))
@settings(max_examples=25, deadline=None)
def test_any_runs_give_finite_numbers_inside_the_bounds(runs: list[tuple[float, float]]) -> None:
    x, y = [run[0] for run in runs], [run[1] for run in runs]
    for model in MODELS:
        fit = fit_scaling(model, x, y)
        if isinstance(fit, ScalingRefusal):
            continue
        for each in fit.parameters:
            assert math.isfinite(each.value)
            assert each.low is None or each.high is None or each.low <= each.value <= each.high
            assert each.name not in {"alpha", "beta"} or each.value >= 0
            assert each.name != "alpha" or each.value <= 1


def test_runtime_against_size_has_a_slope() -> None:
    # n log n from 1 to 64 GiB looks like a power a little over one.
    sizes = [2.0**n for n in range(30, 37)]
    fit = made("power", (sizes, [size * math.log(size) for size in sizes]))
    assert fit.parameter("slope") == pytest.approx(1.044, abs=0.001)
    quadratic = made("power", ([1, 2, 4, 8], [3, 12, 48, 192]))
    assert (quadratic.parameter("factor"), quadratic.parameter("slope")) == pytest.approx((3, 2))


def test_a_mean_has_an_interval_only_with_repeats() -> None:
    one = summarise([9.63])
    assert (one.mean, one.low, one.high, one.deviation) == (9.63, None, None, None)
    # Student's example: 10 values, t(9) = 2.2622.
    hours = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    found = summarise(hours)
    assert (found.mean, found.deviation) == pytest.approx((0.75, 1.789010), abs=1e-5)
    assert (found.low, found.high) == pytest.approx((-0.5297804, 2.0297804), abs=1e-4)


def test_ratios_carry_the_spread_of_both_sides() -> None:
    # 7m32.730s is 47 times the reference, which is half of the second attempt.
    single = divide(summarise([452.73]), summarise([9.632]))
    assert single is not None
    assert (round(single.value), single.low) == (47, None)
    both = divide(summarise([20.0, 20.4, 19.6]), summarise([10.0, 10.1, 9.9]))
    assert both is not None
    assert both.low is not None
    assert both.high is not None
    assert both.value == pytest.approx(2)
    assert both.low < 2 < both.high
    assert divide(summarise([0.0]), summarise([1.0])) is None
