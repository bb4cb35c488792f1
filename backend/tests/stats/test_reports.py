"""Facts that published reports of whole runs state, against what is read from them: sums, tops, checks of one table by another."""

import math
from collections.abc import Mapping

from normstat.stats.catalogue import require_spec
from normstat.stats.histogram import split_bucket
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, ReadResult, Timing
from tests.golden_captures import capture_path


def result_of(capture: str) -> ReadResult:
    path = capture_path(capture)
    return read(require_spec(path.parent.name), path.read_bytes(), state={}, offset=0, is_final=True)


def rows_of(capture: str, stat: str) -> list[tuple[str, Mapping[str, float]]]:
    """Instance and values of each row, in the order of the lines; NaN for no value."""
    rows = []
    for block in result_of(capture).blocks:
        if block.stat.name == stat:
            for row, instance in enumerate(block.instances):
                values = {
                    field.key: math.nan if mask is not None and mask[row] else column[row].item()
                    for field, column, mask in zip(block.fields, block.values, block.missing, strict=True)
                }
                rows.append((int(block.line_offset[row]), instance, values))
    return [(instance, values) for _, instance, values in sorted(rows, key=lambda row: row[0])]


def test_a_process_with_libumem_waits_569898_ns_for_its_locks() -> None:
    rows = rows_of("plockstat/solaris-10--after-libumem", "plockstat")
    assert sum(values["total_ns"] for _, values in rows) == 569_898
    assert round(569_898 / 15_126_580 * 100, 3) == 3.768


def test_lockstat_names_the_lock_that_costs_most() -> None:
    rows = rows_of("lockstat/solaris-2.6--contention", "lockstat")
    assert rows[0][0] == "Adaptive mutex spin: flock_lock cleanlocks+0x10"
    assert (rows[0][1]["count"], rows[0][1]["indv_pct"]) == (601, 18)
    assert max(rows, key=lambda row: row[1].get("nsec", 0))[0] == "Adaptive mutex block: 0xf5c46910 cleanlocks+0x50"
    sections = dict(rows_of("lockstat/solaris-2.6--contention", "lockstat_section"))
    assert [values["events"] for values in sections.values()] == [3318, 24, 254, 3]


def test_a_report_in_one_line_is_the_same_report() -> None:
    squeezed, plain = (rows_of(f"lockstat/solaris-2.6--{name}", "lockstat") for name in ("in-one-line", "contention"))
    assert sorted(map(str, squeezed)) == sorted(map(str, plain))


def test_truss_lets_12337_calls_a_second_through() -> None:
    totals = dict(rows_of("truss_c/solaris-2.6--oltp", "truss_totals"))
    calls, elapsed = totals["sys totals"]["calls"], totals["elapsed"]["seconds"]
    assert calls == 80_316
    assert elapsed == 6.51
    assert round(calls / elapsed) == 12_337
    rows = rows_of("truss_c/solaris-2.6--oltp", "truss_syscalls")
    assert sum(values["calls"] for _, values in rows) == calls
    assert round(sum(values["seconds"] for _, values in rows), 2) == totals["sys totals"]["seconds"] == 2.09


def test_strace_sums_up_its_rows() -> None:
    for name in ("chosen-columns", "name-first"):
        rows = rows_of(f"strace_c/strace-6.1--{name}", "strace_syscalls")
        ((_, total),) = rows_of(f"strace_c/strace-6.1--{name}", "strace_totals")
        assert sum(values["calls"] for _, values in rows) == total["calls"]
        assert sum(values["errors"] for _, values in rows if not math.isnan(values["errors"])) == total["errors"]


def test_three_places_take_all_the_busy_waiting() -> None:
    rows = rows_of("lkst/miracle-v3--statistics", "lkst_statistics")
    assert round(sum(values["share_pct"] for _, values in rows[:3]), 1) == 99.8
    by_count = max(rows, key=lambda row: row[1]["count"])
    assert by_count[1]["share_pct"] == 0.0142, "ranking by count points at the wrong row"
    assert [values["avg_ns"] for _, values in rows] == [377_700_000, 29_840_000, 3_786_000_000, 180, 179]


def test_the_buckets_of_a_row_sum_up_to_its_count() -> None:
    counts = {instance: values["count"] for instance, values in rows_of("lkst/miracle-v3--statistics", "lkst_statistics")}
    sums: dict[str, float] = {}
    for instance, values in rows_of("lkst/miracle-v3--distribution", "lkst_distribution"):
        key, _ = split_bucket(instance)
        sums[key] = sums.get(key, 0) + values["count"]
    assert sums == {"0xc019f83e": 85, "0xc01977d1": 1028, "0xc018ad07": 4}
    assert all(counts[key] == total for key, total in sums.items())
    buckets = [values for _, values in rows_of("lkst/miracle-v3--distribution", "lkst_distribution")[:9]]
    assert [values["low"] for values in buckets] == [0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10]
    assert math.isnan(buckets[-1]["high"])


def test_a_lock_log_keeps_its_nanoseconds() -> None:
    rows = rows_of("lkst/miracle-v3--log", "lkst_log")
    times = [values["ns_of_day"] for _, values in rows]
    assert times[0] == ((10 * 60 + 59) * 60 + 59) * 10**9 + 109_884_679
    assert round((times[2] - times[1]) / 1e9, 3) == 16.434
    assert [instance for instance, _ in rows[2:4]] == ["iozone unlock schedule()", "crond lock permission()"]


def test_half_of_the_profile_is_locks() -> None:
    rows = rows_of("opreport_tables/miracle-v3--locks", "opreport_functions")
    assert [values["samples"] for _, values in rows[:2]] == [10_310, 8_257]
    assert rows[1][1]["cum_pct"] == 51.76
    idle = dict(rows_of("opreport_tables/miracle-v3--idle", "opreport_functions"))["default_idle"]["samples"]
    halt = dict(rows_of("opreport_tables/miracle-v3--idle", "opreport_instructions"))["default_idle 0xc0109268 hlt"]
    assert (halt["samples"], idle, halt["share_pct"]) == (1945, 1993, 97.59)


def test_a_run_of_seven_minutes_is_in_the_kernel_nearly_all_the_time() -> None:
    ((_, run),) = rows_of("time/bash--kernel-share", "time")
    real, user, kernel = run["real_s"], run["user_s"], run["sys_s"]
    assert (real, user, kernel) == (452.73, 16.597, 437.231)
    assert round(kernel / real * 100, 1) == 96.6
    assert round((user + kernel) / real, 3) == 1.002


def test_intervals_of_perf_are_counted_from_the_start() -> None:
    text = (
        b"     0.500544593;168;;context-switches;1001459104;100.00;167.755;/sec\n     1.001588143;109;;context-switches;1;1.00;;\n"
    )
    start_us = 1_795_262_400_000_000
    result = read(require_spec("perf_stat"), text, state={}, offset=0, timing=Timing(start_us=start_us))
    (block,) = (block for block in result.blocks if block.stat.name == "perf_stat")
    assert block.time_us.tolist() == [start_us + 500_545, start_us + 1_001_588]
    again = read(require_spec("perf_stat"), text + text, state={}, offset=0, timing=Timing(start_us=start_us))
    (block,) = (block for block in again.blocks if block.stat.name == "perf_stat")
    assert block.time_us.tolist()[2:] == [NO_TIME, NO_TIME], "a second run began, and nothing says when"


def test_reports_that_print_no_time_are_an_interval_apart() -> None:
    text = capture_path("lockstat/illumos--interrupts").read_bytes()
    timing = Timing(start_us=0, interval_us=60_000_000)
    result = read(require_spec("lockstat"), text, state={}, offset=0, timing=timing)
    (block,) = (block for block in result.blocks if block.stat.name == "lockstat_section")
    assert block.time_us.tolist() == [0, 60_000_000], "the same section once more is the next report"


def test_what_a_recorder_calls_anew_is_a_new_report() -> None:
    text = capture_path("plockstat/solaris-10--after-libumem").read_bytes()
    stamp = b"zzz ***Sat Nov 21 12:00:%02d UTC 2026\n"
    result = read(require_spec("plockstat"), stamp % 10 + text + stamp % 40 + text, state={}, offset=0)
    (block,) = result.blocks
    half = len(block) // 2
    assert list(block.instances[:half]) == list(block.instances[half:]), "names are numbered within one report"
    assert {block.time_us[0].item() + 30_000_000} == set(block.time_us[half:].tolist())
