"""What the runs of an experiment say, with the numbers of the seeds; models of scaling against published fits."""

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normstat.artefacts.reading import read_artefact
from normstat.errors import BadRequest
from normstat.experiments.experiment_analysis import MODELS, AnalysisRequest, RunFacts, analyse_runs
from normstat.experiments.measured_values import level_of, parse_factors, parse_result_pattern, read_patterns, with_derived
from normstat.experiments.repeat_statistics import divide, summarise, t_point
from normstat.experiments.run_groups import sort_runs
from normstat.experiments.runs_of_artefacts import results_of_parts, runs_of_parts
from normstat.experiments.scaling_fits import ModelName, ScalingFit, ScalingRefusal, choose_fit, fit_scaling, predict
from normstat.experiments.verdict_sentences import lead_of
from normstat.stats.measured_value import MeasuredValue

# The parameters of the IOzone runs of LKST's analysis.
MATRIX = """| パターンID | ファイルサイズ | 使用ディスク数 | スレッド使用 | lozoneコマンド数 | |
|--------|---------|---------|--------|-------------|-------|
| 1 | 8G | 1 | × | 1 | グループB |
| 2 | 8G | 1 | ○ | 1 | |
| 3 | 4G | 2 | × | 1 | グループA |
| 4 | 4G | 2 | ○ | 1 | |
| 5 | 4G | 2 | × | 2 | |
| 6 | 2731M | 3 | × | 1 | |
| 7 | 2731M | 3 | ○ | 1 | グループC |
| 8 | 2731M | 3 | × | 3 | |
| 9 | 2G | 4 | × | 1 | |
| 10 | 2G | 4 | ○ | 1 | グループC |
| 11 | 2G | 4 | × | 4 | |
""".encode()
ENCRYPTION = b"\nreal\t7m32.730s\nuser\t0m16.597s\nsys\t7m17.231s\n"

# Two examples of Gunther's Guerrilla Capacity Planning, as the R package usl carries them.
SPECSDM91 = ([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
RAYTRACER = ([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310])


def run(number: int, real: float, left_out: str = "", **factors: str) -> RunFacts:
    return RunFacts(number, factors, [MeasuredValue("real", real, "s")], left_out)


def test_the_first_attempt_takes_47_times_as_long_as_the_reference_and_the_second_twice() -> None:
    runs = [
        run(1, 9.632, version="reference", size="1G"),
        run(2, 452.73, version="first", size="1G"),
        run(3, 19.264, version="second", size="1G"),
    ]
    found = analyse_runs(runs, AnalysisRequest(factor="size", variant="version", base="reference"))
    times = {level.variant: level.times_base and round(level.times_base.value, 1) for level in found.levels}
    assert times == {"reference": 1.0, "first": 47.0, "second": 2.0}
    assert [(each.run, each.times and round(each.times)) for each in found.points] == [(1, 1), (2, 47), (3, 2)]


def test_time_is_a_run_that_spends_96_6_percent_in_the_kernel_on_one_cpu() -> None:
    [found] = runs_of_parts(read_artefact(ENCRYPTION).parts)
    values = {each.name: (round(each.value, 3), each.unit) for each in with_derived(found.results)}
    assert values == {
        "real": (452.73, "s"),
        "user": (16.597, "s"),
        "sys": (437.231, "s"),
        "cpus_used": (1.002, "CPUs"),
        "sys_share": (96.577, "%"),
    }
    assert found.seconds == 452.73


def test_the_matrix_of_iozone_is_eleven_runs() -> None:
    runs = runs_of_parts(read_artefact(MATRIX).parts)
    assert len(runs) == 11
    assert runs[0].factors == {"pattern": "1", "file_size": "8G", "disks": "1", "threads": "no", "processes": "1"}
    assert runs[7].factors == {"pattern": "8", "file_size": "2731M", "disks": "3", "threads": "no", "processes": "3"}
    assert {each.factors["file_size"] for each in runs} == {"8G", "4G", "2731M", "2G"}
    assert [each.note for each in runs if each.note] == ["グループB", "グループA", "グループC", "グループC"]
    # The same amount of data on all disks together, but for rounding.
    assert {round((level_of(each.factors["file_size"]) or 0) * int(each.factors["disks"]) / 2**30, 1) for each in runs} == {8.0}


def test_iozone_rows_are_runs_with_sizes_and_throughputs() -> None:
    text = b"""
              kB  reclen    write  rewrite    read    reread
          102400       4     1864     1901     6688     6710
          102400      16     5848     5961    14174    14197
"""
    parts = read_artefact(text, name="iozone.txt").parts
    first, second = runs_of_parts(parts)
    assert first.factors == {"file_size": "100M", "record_length": "4k"}
    assert second.results[0] == MeasuredValue("write", 5848, "KiB/s")
    assert results_of_parts(parts)[0] == MeasuredValue("write 100M 4k", 1864, "KiB/s")


def test_an_artefact_without_runs_says_what_to_do() -> None:
    with pytest.raises(BadRequest, match="Runs can be made of artefacts of IOzone and time"):
        runs_of_parts(read_artefact(b"nothing known\n").parts)


def test_groups_are_those_of_the_seed() -> None:
    # Throughput in MB/s, CPU use in %: A is the reference, B waits, C is busy and slow.
    assert sort_runs([(60, 80), (25, 20), (10, 90), (None, 50)]) == ["A", "B", "C", None]
    assert sort_runs([(60, 80), (25, 20)]) == [None, None]
    assert sort_runs([(60, 80)] * 3) == [None] * 3


def test_speed_up_efficiency_and_what_saturates() -> None:
    times = {"1": (8.0, 8.2, 7.9), "2": (4.1, 4.0, 4.05), "4": (4.05, 4.1, 4.0)}
    runs = [run(10 * int(n) + i, value, workers=n) for n, values in times.items() for i, value in enumerate(values)]
    found = analyse_runs(runs, AnalysisRequest())
    assert found.factor is not None
    assert (found.factor.name, found.factor.levels) == ("workers", ["1", "2", "4"])
    two = found.levels[1]
    assert two.speedup is not None
    assert two.efficiency is not None
    assert (two.speedup.value, two.efficiency.value) == pytest.approx((1.984, 0.992), abs=0.001)
    assert (two.speedup.low or 0) < 1.984 < (two.speedup.high or 0)
    [scaling] = found.scaling
    assert scaling.best == "bottleneck"
    [knee] = [each for each in scaling.curves if each.fit.model == "bottleneck"]
    assert knee.fit.peak_x == pytest.approx(1.984, abs=0.01)
    # The curve is in seconds and has the corner.
    assert knee.curve[0].value == pytest.approx(8.03, abs=0.02)
    assert knee.curve[-1].value == pytest.approx(4.05, abs=0.02)
    assert [each.model for each in scaling.refusals] == ["usl"]


def test_runs_that_differ_in_another_factor_are_no_repeats() -> None:
    seconds = {"reference": 9.632, "first": 452.73, "second": 19.264}
    sizes = {"1G": 1, "2G": 2, "4G": 4, "8G": 8}
    runs = [
        run(at, seconds[version] * sizes[size], version=version, size=size, disks=str(sizes[size]))
        for at, (version, size) in enumerate(itertools.product(seconds, sizes))
    ]
    found = analyse_runs(runs, AnalysisRequest(factor="size"))
    # The disks are as many as the size says: no line more.
    assert found.variant is not None
    assert (found.variant.name, found.variant.levels) == ("version", ["first", "reference", "second"])
    assert {(level.result.n, level.result.low) for level in found.levels} == {(1, None)}
    assert [lead_of(found, each)[0] for each in found.scaling] == [
        f"{version}: Grows with size to the power 1: twice as much costs 2.00 times as much." for version in found.variant.levels
    ]
    pooled = analyse_runs(runs, AnalysisRequest(factor="size", variant=""))
    assert pooled.variant is None
    assert {(level.result.n, level.result.low) for level in pooled.levels} == {(3, 0.0)}
    # Two factors that differ, and one that some runs lack.
    more = [*runs, run(20, 5.0, version="first", size="1G", disks="1", cache="on")]
    both = analyse_runs(more, AnalysisRequest(factor="size")).variant
    assert both is not None
    assert (both.name, both.levels[0]) == ("cache, version", "no cache, first")
    assert "on, first" in both.levels
    # Seeds of a random generator are too many for lines.
    seeds = [run(at, 1.0 + at, threads=str(1 + at % 2), seed=str(at)) for at in range(60)]
    assert analyse_runs(seeds, AnalysisRequest(factor="threads")).variant is None


def test_what_only_gets_slower_with_more_has_no_speed_up_to_describe() -> None:
    runs = [run(n, 8.0 + n, threads=str(n)) for n in (1, 2, 4, 8, 16)]
    [scaling] = analyse_runs(runs, AnalysisRequest()).scaling
    assert [curve.fit.model for curve in scaling.curves] == ["power"]
    assert scaling.refusals[0].reason == "No level is as fast as the smallest, '1': there is no gain to describe"
    throughput = [
        RunFacts(n, {"record": f"{n}k"}, [MeasuredValue("write", 1000.0 * n**0.5, "KiB/s")], "") for n in (4, 16, 64, 256)
    ]
    [by_size] = analyse_runs(throughput, AnalysisRequest()).scaling
    assert "The Universal Scalability Law is about a number of workers; '4k' is an amount" in [
        each.reason for each in by_size.refusals
    ]


def test_work_that_grows_with_the_workers_scales_where_the_time_stays() -> None:
    runs = [run(n, 5.0, threads=str(n)) for n in (1, 2, 4, 8)]
    fixed = analyse_runs(runs, AnalysisRequest())
    grows = analyse_runs(runs, AnalysisRequest(work="grows"))
    assert [each.speedup and each.speedup.value for each in fixed.levels] == [1, 1, 1, 1]
    assert [each.speedup and each.speedup.value for each in grows.levels] == [1, 2, 4, 8]
    assert [each.efficiency and each.efficiency.value for each in grows.levels] == [1, 1, 1, 1]
    assert grows.scaling[0].best == "amdahl"
    assert grows.scaling[0].curves[0].fit.parameter("alpha") == pytest.approx(0, abs=1e-9)


def test_runs_that_do_not_count_are_listed_with_the_reason() -> None:
    runs = [
        run(1, 1.0, threads="1"),
        run(2, 9.0, "it failed with exit status 1", threads="1"),
        run(3, 1.0),
        RunFacts(4, {"threads": "1"}, [], ""),
        RunFacts(5, {"threads": "1"}, [MeasuredValue("real", 1000, "ms")], ""),
    ]
    found = analyse_runs(runs, AnalysisRequest(factor="threads"))
    assert [(each.run, each.reason) for each in found.left_out] == [
        (2, "it failed with exit status 1"),
        (3, "it has no factor 'threads'"),
        (4, "it has no result 'real'"),
        (5, "its 'real' is in ms, not in s"),
    ]
    assert [(each.result.n, each.result.low) for each in found.levels] == [(1, None)]
    with pytest.raises(BadRequest, match="The runs have no factor 'disks'; they have 'threads'"):
        analyse_runs(runs, AnalysisRequest(factor="disks"))
    with pytest.raises(BadRequest, match="No run has the level '7'"):
        analyse_runs(runs, AnalysisRequest(factor="threads", reference="7"))
    assert analyse_runs([], AnalysisRequest()).result is None


def test_options_of_the_command_line() -> None:
    assert parse_factors(["threads=4", "cmd=a=b"]) == {"threads": "4", "cmd": "a=b"}
    for bad in (["threads"], ["threads="], ["=4"], ["a=1", "a=2"]):
        with pytest.raises(BadRequest):
            parse_factors(bad)
    for bad_pattern in ("tps", "tps=", "tps=(", "tps=[0-9]+"):
        with pytest.raises(BadRequest):
            parse_result_pattern(bad_pattern)
    options = ("tps:1/s=\\(([0-9.,]+) per sec", "p95:ms=95th percentile: +([\\d.]+)", "no=(x)y")
    asked = [parse_result_pattern(text) for text in options]
    text = "transactions: 10 (1.0 per sec.)\n transactions: 9000 (1,899.51 per sec.)\n 95th percentile:  2.30\n"
    found, problems = read_patterns(asked, text)
    assert found == [MeasuredValue("tps", 1899.51, "1/s"), MeasuredValue("p95", 2.3, "ms")]
    assert problems == ["result no: nothing that the command printed matches '(x)y'"]


def made(model: ModelName, data: tuple[Sequence[float], Sequence[float]]) -> ScalingFit:
    fit = fit_scaling(model, *data)
    assert isinstance(fit, ScalingFit), fit
    return fit


def test_usl_of_specsdm91_is_that_of_r() -> None:
    fit = made("usl", SPECSDM91)
    # Coefficients and standard errors of usl's summary; 4 degrees of freedom.
    for name, value, error in (("gamma", 89.9952330, 14.2134894), ("alpha", 0.0277285, 0.0091217), ("beta", 0.0001044, 0.0000199)):
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
            assert each.name not in {"alpha", "beta"} or each.value <= 1
            assert each.name not in {"alpha", "beta"} or (each.low, each.high) != (0, 1)


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


def test_from_a_run_on_results_are_higher_at_the_same_factors_and_the_order_of_levels_is_no_step() -> None:
    # Two levels in turn, the second three times as slow; from run 15 on all takes 8 % longer. Runs scatter by 1 %.
    scatter = itertools.cycle([1.0, 1.008, 0.995, 0.99, 1.004, 1.01, 0.997])
    times = [(10 if number % 2 else 30) * next(scatter) for number in range(1, 41)]
    runs = [
        run(number, time * (1.08 if number >= 15 else 1), threads="1" if number % 2 else "4")
        for number, time in enumerate(times, start=1)
    ]
    (step,) = analyse_runs(runs, AnalysisRequest()).steps
    assert (step.run, step.n_before, step.n_after, step.is_worse) == (15, 14, 26, True)
    assert step.times == pytest.approx(1.08, abs=0.02)
    assert step.sentence == "From run 15 on, real is 8 % higher at the same factors (26 runs, 14 before): worse."
    even = [run(number, time, threads="1" if number % 2 else "4") for number, time in enumerate(times, start=1)]
    assert analyse_runs(even, AnalysisRequest()).steps == []
    levels_in_turn = [run(number, 10 * (1 + number // 10), threads=str(1 + number // 10)) for number in range(40)]
    assert analyse_runs(levels_in_turn, AnalysisRequest()).steps == []
