"""Rules after Virtual Adrian and other masters, by the numbers at their limits."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from normstat.rules.rule_file import load_builtin_rules
from normstat.scoring.summary import FloatArray
from tests.rules.frames import colours_of, constant, run_over

RULES = load_builtin_rules()
MIB = 1024.0
N = 200


def worst_of(rule: str, stat: str, rows: Mapping[str, Sequence[float]], keys: Sequence[str], n: int = N) -> dict[str, str]:
    """Return the state of each instance after n reports, a second apart, of the same values."""
    run = run_over(RULES[rule], {stat: constant(rows, keys, n)})
    return {name: column[-1] for name, column in zip(run.instances, colours_of(run), strict=True)}


@pytest.mark.parametrize(
    ("rule", "stat", "keys", "cases"),
    [
        ("swap-space", "vmstat_solaris", ("memory_swap",), {
            # In KiB: the first row of the vmstat of the article, then 16 times the limits of 1995.
            (882244,): "green", (160 * MIB,): "green", (160 * MIB - 1,): "amber", (64 * MIB - 1,): "red", (16 * MIB - 1,): "black",
            (2048 * MIB,): "white",
        }),
        ("swapped-out", "vmstat_solaris", ("page_so",), {(0,): "white", (1,): "red"}),
        ("swapping-solaris", "vmstat_solaris_paging", ("api", "apo"), {
            (0, 0): "green", (0, 900): "green", (8, 0): "amber", (8, 8): "red",
        }),
        # In KiB/s: swap that is only written, or only read back, is no lack of memory.
        ("swapping", "vmstat_linux", ("swap_si", "swap_so"), {
            (0, 0): "white", (0, 90000): "green", (90000, 0): "green", (20, 21): "green", (21, 21): "amber", (10240, 21): "red",
        }),
        ("memory-left", "linux_memory", ("available_kb", "total_kb", "swap_free_kb", "swap_total_kb"), {
            (4.9, 100, 0, 0): "amber", (5, 100, 0, 0): "green", (1.9, 100, 0, 0): "red", (1.9, 100, 10, 10): "green",
            (1.9, 100, 1, 10): "red",
        }),
        ("oom-kill", "linux_memory", ("oom_kills_per_s",), {(0,): "white", (0.2,): "black"}),
        ("kernel-memory", "sar_solaris_kmem", ("sml_fail", "lg_fail", "ovsz_fail"), {
            (0, 0, 0): "white", (0, 1, 0): "amber", (50, 40, 10): "red",
        }),
        ("kernel-tables", "sar_solaris_table", ("proc_ov", "inod_ov", "file_ov"), {(0, 0, 0): "white", (1, 0, 0): "black"}),
        ("inode-cache", "sar_solaris_paging", ("ufs_ipf_pct",), {(0,): "green", (0.01,): "blue", (10,): "blue", (10.1,): "amber"}),
        ("listen-queue", "linux_tcp", ("listen_drops_per_s",), {(0,): "green", (0.09,): "green", (0.1,): "amber", (10,): "red"}),
        ("blocked", "vmstat_solaris", ("kthr_b", "kthr_r"), {
            (0, 0): "green", (4, 0): "green", (5, 4): "amber", (5, 5): "green", (20, 0): "red", (20, 30): "green",
        }),
        ("pressure-memory", "sar_linux_psi_mem", ("smem_pct", "fmem_pct"), {
            (0, 0): "white", (9.9, 0): "green", (10, 9.9): "amber", (30, 10): "red",
        }),
        # A copy that only reads and writes waits all the time: some alone says nothing.
        ("pressure-io", "sar_linux_psi_io", ("sio_pct", "fio_pct"), {
            (0, 0): "white", (99, 39): "green", (99, 40): "amber", (99, 80): "red",
        }),
        ("pressure-cpu", "sar_linux_psi_cpu", ("scpu_pct",), {(0,): "white", (89,): "green", (90,): "amber"}),
    ],
)  # fmt: skip
def test_host_rules_at_their_limits(rule: str, stat: str, keys: Sequence[str], cases: Mapping[tuple[float, ...], str]) -> None:
    found = {values: worst_of(rule, stat, {"": values}, keys)[""] for values in cases}
    assert found == dict(cases)


def test_pressure_is_read_of_its_own_resource() -> None:
    rows = {"cpu.some": (95,), "io.some": (50,), "io.full": (10,), "memory.some": (0,), "memory.full": (0,)}
    found = {rule: worst_of(rule, "linux_pressure", rows, ("stall_pct",)) for rule in RULES if rule.startswith("pressure-")}
    assert found == {"pressure-cpu": {"": "amber"}, "pressure-io": {"": "green"}, "pressure-memory": {"": "white"}}


def test_cross_call_storm_and_the_same_cpus_after_the_fix() -> None:
    before, after = (25734, 10373, 10363, 7072), (184, 169, 531, 153)
    for values, colour in ((before, "amber"), (after, "green")):
        rows = {str(cpu): (value,) for cpu, value in zip((0, 4, 8, 12), values, strict=True)}
        assert set(worst_of("cross-calls", "mpstat_solaris", rows, ("xcal",)).values()) == {colour}


def test_threads_that_compete_for_full_cpus() -> None:
    # icsw and idle of a machine under full load, then the same without load.
    full = {"96": (562, 0), "97": (591, 0), "98": (554, 0), "99": (706, 0), "100": (678, 0), "102": (533, 0), "103": (623, 0)}
    assert set(worst_of("forced-switches", "mpstat_solaris", full, ("icsw", "idl_pct")).values()) == {"amber"}
    quiet = {"0": (500, 0), "1": (706, 5), "2": (24, 95)}
    assert set(worst_of("forced-switches", "mpstat_solaris", quiet, ("icsw", "idl_pct")).values()) == {"green"}


def test_kernel_time_counts_only_on_a_busy_machine() -> None:
    def on(usr: float, sys: float) -> str:
        rows = {"0": (usr, sys), "1": (usr, sys), "all": (usr, sys)}
        return worst_of("kernel-time", "mpstat_linux", rows, ("usr_pct", "sys_pct"))[""]

    assert [on(17, 53), on(18, 52), on(17, 52), on(0.68, 12.41)] == ["amber", "green", "green", "green"]


def test_one_full_cpu_of_several() -> None:
    def on(*idle: float) -> str:
        return worst_of("cpu-imbalance", "mpstat_linux", {str(cpu): (value,) for cpu, value in enumerate(idle)}, ("idle_pct",))[""]

    assert [on(1, 90, 90, 90), on(6, 90, 90, 90), on(1, 40, 40, 40), on(1, 99)] == ["blue", "green", "green", "green"]


def test_links_by_the_share_of_damaged_packets() -> None:
    keys = ("rxerr_per_s", "txerr_per_s", "rxpck_per_s", "txpck_per_s")
    rows = {
        "bad": (0.3, 0.0, 1000, 100),
        "some": (0.2, 0.1, 5000, 6000),
        "few": (0.1, 0.05, 100, 100),
        "busy": (0.2, 0, 10_000, 0),
        "lo": (9, 9, 10, 10),
    }
    assert worst_of("network-errors", "linux_net", rows, keys) == {"bad": "red", "busy": "green", "few": "green", "some": "amber"}


def test_counters_since_boot_are_judged_by_what_is_new() -> None:
    # A million old errors, then 2 in each of the last seconds.
    counter = np.concatenate([np.full(60, 1e6), 1e6 + 2.0 * np.arange(1, 61)])
    packets = 100.0 * np.arange(120)
    values = {("net0", "ierrs"): counter, ("net0", "oerrs"): counter * 0, ("net0", "ipkts"): packets, ("net0", "opkts"): packets}
    column = colours_of(run_over(RULES["network-errors"], {"netstat_solaris_if": values}))[0]
    assert (column[61], column[-1]) == ("green", "red")
    assert column[0] == "?"


def test_a_counter_that_begins_again_is_not_known() -> None:
    errors = np.concatenate([np.full(30, 5.0), np.full(30, 0.0)])
    disk = {("sd0", key): errors for key in ("soft_errors", "transport_errors")} | {("sd0", "hard_errors"): errors * 0}
    column = colours_of(run_over(RULES["disk-errors"], {"iostat_e_solaris": disk}))[0]
    assert set(column[1:30]) == {"green"}
    assert column[30] == "?"
    assert set(column[31:]) == {"green"}


@pytest.mark.parametrize(("kind", "colour"), [("hard_errors", "black"), ("transport_errors", "red"), ("soft_errors", "amber")])
def test_new_disk_errors(kind: str, colour: str) -> None:
    zero = {("sd0", key): np.zeros(3) for key in ("soft_errors", "hard_errors", "transport_errors")}
    column = colours_of(run_over(RULES["disk-errors"], {"iostat_e_solaris": zero | {("sd0", kind): np.array([7.0, 7.0, 8.0])}}))[0]
    assert column[1:] == ["green", colour]


def test_nfs_servers_that_are_slow_and_networks_that_lose_calls() -> None:
    def on(calls: float, timeouts: float, badxids: float) -> str:
        seconds = np.arange(30.0)
        name = "client rpc connection oriented"
        values = {
            (name, "calls"): calls * seconds, (name, "timeouts"): timeouts * seconds, (name, "badxids"): badxids * seconds,
        }  # fmt: skip
        return colours_of(run_over(RULES["nfs-client"], {"nfsstat_solaris": values}))[0][-1]

    assert [on(100, 5, 5), on(100, 5, 0), on(100, 4.9, 0), on(0, 0, 0), on(1, 0.09, 0)] == [
        "amber",
        "red",
        "green",
        "white",
        "green",
    ]


def test_name_cache_by_hits_and_misses() -> None:
    def on(hits: float, misses: float) -> str:
        seconds = np.arange(120.0)
        values = {("unix:0:dnlcstats:hits", "value"): hits * seconds, ("unix:0:dnlcstats:misses", "value"): misses * seconds}
        return colours_of(run_over(RULES["dnlc"], {"kstat_solaris": values | {("zfs:0:arcstats:hits", "value"): seconds}}))[0][-1]

    assert [on(80, 20), on(79, 21), on(20, 70)] == ["green", "amber", "white"]


def test_retransmitted_bytes_of_a_solaris_host() -> None:
    def on(again: float, segments: float) -> str:
        seconds = np.arange(30.0)
        values = {
            ("", "retrans_bytes"): again * seconds,
            ("", "retrans_segs"): segments * seconds,
            ("", "out_data_bytes"): 1e6 * seconds,
        }
        return colours_of(run_over(RULES["retransmits-solaris"], {"netstat_s_solaris_tcp": values}))[0][-1]

    assert [on(14e4, 90), on(15e4, 90), on(25e4, 90), on(25e4, 2)] == ["green", "amber", "red", "green"]


def test_file_systems_that_fill_up_and_those_that_are_merely_full() -> None:
    # In KiB, of 100 GB: 96 % and still, 96 % and 2 MB/s more, 50 % and 2 MB/s more, 98 %, full, and an image.
    size, n = 1e8, 1200
    cases = {"/still": (96, 0.0), "/day": (96, 50.0), "/hour": (96, 2000.0), "/half": (50, 2000.0), "/98": (98, 0.0),
             "/full": (100, 0.0), "/snap/core": (100, 0.0)}  # fmt: skip
    values: dict[tuple[str, str], FloatArray] = {}
    for mount, (percent, pace) in cases.items():
        used = size * percent / 100 + pace * np.arange(n, dtype=np.float64)
        values[mount, "used"], values[mount, "avail"] = used, size - used
        values[mount, "used_pct"] = np.full(n, float(percent))
    run = run_over(RULES["filesystem-full"], {"df_linux": values})
    assert {name: column[-1] for name, column in zip(run.instances, colours_of(run), strict=True)} == {
        "/still": "green", "/day": "amber", "/hour": "red", "/half": "green", "/98": "amber", "/full": "black",
    }  # fmt: skip


def test_a_processor_that_was_too_hot_once_in_a_minute() -> None:
    times = np.zeros((90, 2))
    times[70, 1] = 3
    values = {(f"0/{core}/{core}", "core_thr"): times[:, core] for core in (0, 1)}
    run = run_over(RULES["throttled"], {"turbostat_linux": values})
    assert {name: column[-1] for name, column in zip(run.instances, colours_of(run), strict=True)} == {
        "0/0/0": "green",
        "0/1/1": "amber",
    }


def test_memory_modules_by_the_day() -> None:
    keys = ("corrected_24h", "uncorrected_24h")
    found = [
        worst_of("memory-errors", "mcelog_memory", {"DIMM0": (0, 0), "DIMM1": row}, keys)[""] for row in ((9, 0), (10, 0), (0, 1))
    ]
    assert found == ["green", "amber", "black"]
