"""Sentences: both values, in the unit and digits that the tool prints; groups; what is divided."""

from typing import get_args

import numpy as np
import pytest

from normstat.comparison.divisor import Divisor, Rate, divide, divide_field, parse_divisor
from normstat.comparison.findings.wording import (
    WORDS,
    Change,
    describe_change,
    describe_insufficient_data,
    describe_kind,
    describe_unmatched,
    name_group,
    name_series,
    to_text,
)
from normstat.comparison.model import FindingGroup, FindingKind
from normstat.comparison.side_values import SideValues
from normstat.errors import BadRequest
from normstat.scoring.summary import FloatArray
from normstat.stats.summaries import is_summary
from tests.comparison.sides import compare_values, field_of, make_side, stat_of

READS = field_of("iostat_linux", "r_per_s")
RUNNING = field_of("vmstat_linux", "procs_r")
USR = field_of("mpstat_linux", "usr_pct")


def side(values: FloatArray) -> SideValues:
    p5, median, p95, p99 = np.quantile(values, [0.05, 0.5, 0.95, 0.99]).tolist()
    spread = np.quantile(values, np.linspace(0, 1, 33)).tolist()
    return SideValues(len(values), float(values.mean()), median, p5, p95, p99, float(values.min()), float(values.max()), spread)


BASELINE, HIGH, WIDE = side(np.linspace(2, 9, 300)), side(np.linspace(20, 29, 60)), side(np.linspace(1, 20, 60))
ZERO, STALLED, FLAT = side(np.zeros(300)), side(np.array([0.0] * 8 + [5.0] * 52)), side(np.full(60, 5.0))


@pytest.mark.parametrize(
    ("kind", "baseline", "incident", "change", "words"),
    [
        ("level", BASELINE, HIGH, 19, "rose from 5.50 /s to 24.50 /s, outside the range of the baseline (2.00 to 9.00 /s)"),
        (
            "level",
            BASELINE,
            side(np.full(9, 8.9)),
            3.4,
            "rose from 5.50 /s to 8.90 /s, outside the band of the baseline (2.35 to 8.65 /s)",
        ),
        ("level", HIGH, BASELINE, -19, "fell from 24.50 /s to 5.50 /s, outside"),
        ("level", FLAT, STALLED, -0.67, "fell on average from 5.00 /s to 4.33 /s"),
        ("top", WIDE, FLAT, -9, "no longer reaches 19.81 /s: at most 5.00 /s (median from 10.50 /s to 5.00 /s)"),
        ("bottom", BASELINE, STALLED, -2, "falls to 0.00 /s, in the baseline to 2.00 /s (median from 5.50 /s to 5.00 /s)"),
        ("bottom", STALLED, BASELINE, 2, "no longer falls below 2.00 /s, in the baseline down to 0.00 /s (median"),
        (
            "stall",
            BASELINE,
            STALLED,
            -2,
            "falls to 0.00 /s in about 12 % of its samples; 95 % of the baseline is above",
        ),
        ("spikes", BASELINE, WIDE, 9, "has spikes up to 20.00 /s, in the baseline up to 9.00 /s (99 % of the baseline is"),
        ("movement", BASELINE, WIDE, 1, "moves more from sample to sample (median from 5.50 /s to 10.50 /s)"),
        ("movement", BASELINE, WIDE, -1, "moves less from sample to sample"),
        ("frozen", BASELINE, FLAT, 0.9, "is frozen at 5.00 /s"),
        ("saturated", BASELINE, HIGH, 9, "is at a limit: often exactly 29.00 /s, never more (median from 5.50 /s to 24.50 /s)"),
        ("trend", BASELINE, WIDE, -4, "falls within the incident: later it is 4.00 /s lower than at the start (median"),
        ("missing", BASELINE, WIDE, 0.4, "is missing from 40 more of 100 reports than in the baseline"),
        ("missing", BASELINE, WIDE, -0.001, "is missing from slightly fewer reports (less than 1 %) than in the baseline"),
        ("appeared", ZERO, WIDE, 1, "appeared: 10.50 /s (median)"),
        ("zero", ZERO, WIDE, 1, "was always zero and no longer is: 10.50 /s on average, at most 20.00 /s"),
        ("zero", STALLED, WIDE, 1, "was nearly always zero (at most 5.00 /s) and no longer is: 10.50 /s on average"),
    ],
)
def test_each_kind_says_what_happened(
    kind: FindingKind, baseline: SideValues, incident: SideValues, change: float, words: str
) -> None:
    assert describe_kind(Change(READS, kind, baseline, incident, change)).startswith(words)


def test_there_are_words_for_each_kind() -> None:
    assert set(WORDS) == set(get_args(FindingKind))


def test_a_sentence_is_whole() -> None:
    change = Change(READS, "level", BASELINE, HIGH, 19)
    assert describe_change("device sda r/s (iostat)", change, 1234.5, by_load=False) == (
        "device sda r/s (iostat) rose from 5.50 /s to 24.50 /s, outside the range of the baseline (2.00 to 9.00 /s);"
        " more than 1,000x its normal variation (300 and 60 samples)."
    )
    told = describe_change("x", Change(READS, "level", BASELINE, side(np.array([6.0])), 0.5), 4.26, by_load=True)
    assert told == (
        "x rose from 5.50 /s to 6.00 /s, which the load of the host does not explain; 4.3x its normal variation (300 and 1 sample)."
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        (READS, 1.5, "1.50 /s"),
        (READS, 1234567.891, "1,234,567.89 /s"),
        (USR, 0, "0.00 %"),
        (USR, 0.001, "0.001 %"),
        (RUNNING, 1, "1 process"),
        (RUNNING, 2, "2 processes"),
        (RUNNING, 2.5, "2.5 processes"),
        (RUNNING, 0, "0 processes"),
        (field_of("pidstat_linux", "pid"), 7, "7"),
        (READS, None, "no value"),
        (field_of("iostat_linux", "wkb_per_s"), 1_894_930.0, "1.81 GiB/s"),
    ],
)
def test_values_read_as_people_write_them(field: object, value: float | None, text: str) -> None:
    assert to_text(field, value) == text  # type: ignore[arg-type]


def test_names_of_series_and_groups() -> None:
    assert name_series("old_tool", "x", READS) == "x r/s (old_tool)"
    assert name_series("old_tool", "", READS) == "r/s (old_tool)"
    assert name_series("vmstat_linux", "", RUNNING) == "vmstat procs r"
    assert name_group("mpstat_linux", USR, 61, 64) == "%usr of 61 of 64 CPUs (mpstat)"
    assert name_group("pidstat_linux", USR, 3, 3) == "%usr of all 3 processes (pidstat)"
    assert name_group("iostat_linux", READS, 2, 2) == "r/s of both devices (iostat)"
    # Of an instance with several parts there is no plural.
    assert name_group("bcc_biotop", READS, 2, 5).startswith("r/s of 2 of 5 instances")


def test_the_summary_of_all_cpus_is_no_cpu() -> None:
    rng = np.random.default_rng(6)
    names = ("all", "0", "1")

    def change(**levels: float) -> list[FindingGroup]:
        baseline = {(name, "usr_pct"): np.round(rng.normal(20, 1, 600), 2) for name in names}
        incident = {(name, "usr_pct"): np.round(rng.normal(levels.get(name, 20), 1, 120), 2) for name in names}
        return list(compare_values({"mpstat_linux": (baseline, incident)}).groups)

    (both,) = change(**{"all": 60.0, "0": 60.0, "1": 60.0})
    assert both.sentence.startswith("%usr of both CPUs (mpstat) changed together: CPU ")
    assert (both.n_members, both.n_instances, sorted(both.instances)) == (2, 2, ["0", "1", "all"])
    (one,) = change(**{"all": 40.0, "0": 60.0})
    assert one.sentence.startswith("%usr of 1 of 2 CPUs (mpstat) changed together: CPU 0 ")
    assert (one.n_members, one.n_instances) == (1, 2)
    (alone,) = change(all=60.0)
    assert alone.sentence.startswith("CPU all %usr (mpstat) ")
    assert (alone.n_members, alone.n_instances) == (1, 1)


@pytest.mark.parametrize(
    ("stat", "instance", "expected"),
    [
        ("mpstat_linux", "all", True),
        ("mpstat_linux_node", "all", True),
        ("mpstat_aix", "ALL", True),
        ("proc_stat_cpu", "cpu", True),
        ("proc_stat_cpu", "cpu0", False),
        ("top_linux_cpu", "Cpu(s)", True),
        ("sar_linux_cpu", "all", True),
        ("sar_linux_intr", "sum", True),
        ("vmstat_i", "Total", True),
        ("sar_linux_net_dev", "all", False),
        ("iostat_linux", "sum", False),
        ("pidstat_linux", "sum", False),
        ("vmstat_linux", "", False),
        ("old_tool", "all", False),
    ],
)
def test_which_instances_sum_up_the_others(stat: str, instance: str, expected: bool) -> None:
    assert is_summary(stat, instance) is expected


def test_what_stands_apart_says_why() -> None:
    seven = side(np.array([7.0]))
    told = describe_unmatched("iostat_linux", "sda", READS, "incident", seven)
    assert (
        told == "device sda r/s (iostat) appeared: median 7.00 /s, highest 7.00 /s, 1 sample in the incident, none in the baseline."
    )
    assert "disappeared: median 7.00 /s" in describe_unmatched("iostat_linux", "sda", READS, "baseline", seven)
    assert describe_insufficient_data("iostat_linux", 9, 60, 10, 3) == "9 samples in the baseline; at least 10 are needed"
    assert describe_insufficient_data("iostat_linux", 300, 1, 10, 3) == "1 sample in the incident; at least 3 are needed"
    assert describe_insufficient_data("iostat_linux", 300, 0, 10, 3) == "the incident has no sample of this field of iostat_linux"


def test_one_that_stands_far_out_and_other_directions_are_groups_of_their_own() -> None:
    rng = np.random.default_rng(6)
    cpus = [str(number) for number in range(24)]
    baseline = {(name, "usr_pct"): np.round(rng.normal(20, 1, 600), 2) for name in cpus}
    level = dict.fromkeys(cpus, 26.0) | {"7": 95.0, "11": 2.0, "12": 2.0}
    incident = {(name, "usr_pct"): np.round(rng.normal(level[name], 1, 120), 2) for name in cpus}
    found = compare_values({"mpstat_linux": (baseline, incident)})
    groups = {(group.direction, group.n_members): group for group in found.groups}
    assert set(groups) == {("up", 1), ("up", 21), ("down", 2)}
    assert found.groups[0].instances == ["7"]
    many = groups["up", 21]
    assert many.sentence.startswith("%usr of 21 of 24 CPUs (mpstat) changed together: CPU ")
    assert (many.n_instances, len(many.members), len(many.instances)) == (24, 20, 21)
    assert all(member.sentence.startswith(f"CPU {member.instance} %usr") for member in many.members)


@pytest.mark.parametrize("text", ["", ".", "a", "a.", ".b", "a.b@", "@x", "a@b.c"])
def test_divisors_that_are_none(text: str) -> None:
    with pytest.raises(BadRequest, match="is not of the form"):
        parse_divisor(text)


def test_divisors() -> None:
    assert parse_divisor("vmstat_linux.system_cs") == ("vmstat_linux", "system_cs", None)
    assert parse_divisor("s.f@a.b@c") == ("s", "f", "a.b@c")


def test_each_report_is_divided_by_the_nearest_value() -> None:
    stat = stat_of("vmstat_linux")
    side_of = make_side(stat, {("", "cpu_us"): np.array([10.0, 20.0, 30.0, 40.0, 50.0])}, 100)
    # At 100.4 and 102.4 s; a report without load is left out, and one far away from any load too.
    rate = Rate(np.array([100.4, 101.4, 102.4]), np.array([2.0, 0.0, 5.0]))
    np.testing.assert_allclose(divide(side_of, rate).values["cpu_us"], [5.0, 6.0, 8.0, 10.0])
    late = make_side(stat, {("", "cpu_us"): np.array([10.0])}, 200)
    assert divide(late, rate).n_rows == 0
    divided = divide_field(USR, Divisor("s.f", Rate(np.arange(3.0), np.full(3, 4000.0)), rate))
    assert (divided.unit, divided.decimals, divided.kind.value) == ("% / s.f", 6, "gauge")
