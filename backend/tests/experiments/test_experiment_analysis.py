"""What the runs of an experiment say, with the numbers of the seeds."""

import pytest

from normstat.artefacts.reading import read_artefact
from normstat.errors import BadRequest
from normstat.experiments.experiment_analysis import AnalysisRequest, RunFacts, analyse_runs
from normstat.experiments.measured_values import (
    level_of,
    parse_factors,
    parse_result_pattern,
    read_patterns,
    with_derived,
)
from normstat.experiments.run_groups import sort_runs
from normstat.experiments.runs_of_artefacts import results_of_parts, runs_of_parts
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
