"""The built-in rules, by the numbers of those who found them, and at their limits."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from normstat.comparison.next_questions.question_rules import PLACE_HOLDERS
from normstat.scoring.summary import FloatArray
from normstat.watch.rules.rule_file import COLOURS, STREAM, FieldPlace, WatchInput, WatchRule, load_builtin_rules
from normstat.watch.rules.rule_frame import choose_inputs, find_sources, name_sources
from tests.comparison.sides import Values
from tests.watch.rules.frames import colours_of, constant, run_over

RULES = load_builtin_rules()
MPSTAT_KEYS = ("smtx", "usr_pct", "sys_pct", "ithr")
# One report of a machine with nine CPUs in a saturation test of its network: smtx, usr, sys and ithr of each.
SATURATED = {
    "0": (312, 1, 11, 0),
    "1": (531, 1, 21, 0),
    "8": (364, 1, 15, 3),
    "9": (373, 1, 16, 213),
    "12": (253, 0, 11, 1),
    "13": (552, 0, 22, 3),
    "16": (2470, 0, 0, 2901),
    "20": (531, 0, 20, 0),
    "21": (1, 0, 0, 2),
}
MIB = 1024.0
N = 200


def test_mutex_rule_judges_each_cpu_by_its_own_numbers() -> None:
    run = run_over(RULES["mutex"], {"mpstat_solaris": constant(SATURATED, MPSTAT_KEYS)})
    expected = ["green", "red", "green", "green", "green", "red", "green", "green", "green"]
    assert run.instances == tuple(SATURATED)
    assert colours_of(run) == [[colour] for colour in expected]
    assert COLOURS[run.host_colours()[0]] == "red"
    # The average of all CPUs, which the rule before went by, would call each of them red.
    assert np.mean([row[0] for row in SATURATED.values()]) == pytest.approx(598.6, abs=0.05)
    before = RULES["mutex-average"]
    assert colours_of(run_over(before, {"mpstat_solaris": constant(SATURATED, MPSTAT_KEYS)})) == [["red"]]
    assert [rule.name for rule in RULES.values() if not rule.is_on] == [before.name], "it watches only where somebody enables it"


@pytest.mark.parametrize(
    ("smtx", "usr", "sys", "colour"),
    [
        (500, 0, 90, "green"),
        (501, 0, 20, "green"),
        (501, 20, 20.1, "red"),
        (501, 30, 30, "red"),
        (501, 31, 30, "amber"),
        (0, 0, 90, "white"),
        (1, 0, 0, "green"),
    ],
)
def test_mutex_rule_at_its_borders(smtx: float, usr: float, sys: float, colour: str) -> None:
    run = run_over(RULES["mutex"], {"mpstat_solaris": constant({"0": (smtx, usr, sys)}, MPSTAT_KEYS[:3])})
    assert colours_of(run) == [[colour]]


def test_hidden_interrupts_are_told_of_the_cpu_that_has_them() -> None:
    run = run_over(RULES["hidden-interrupts"], {"mpstat_solaris": constant(SATURATED, MPSTAT_KEYS, n=12)})
    states = dict(zip(run.instances, colours_of(run), strict=True))
    # Not before ten seconds of it are known.
    assert states["16"] == ["?"] * 9 + ["amber"] * 3
    assert {state for name, column in states.items() if name != "16" for state in column} == {"green"}


def test_one_thread_is_found_although_no_cpu_stands_out() -> None:
    # 12.5 % of eight CPUs, in turn on each.
    n = 200
    idle = {(str(cpu), "idle_pct"): np.where(np.arange(n) % 8 == cpu, 0.0, 99.5) for cpu in range(8)}
    assert colours_of(run_over(RULES["one-cpu"], {"mpstat_linux": idle}))[0][-1] == "blue"
    two = {(str(cpu), "idle_pct"): np.where(np.isin(np.arange(n) % 8, (cpu, (cpu + 4) % 8)), 0.0, 99.5) for cpu in range(8)}
    assert colours_of(run_over(RULES["one-cpu"], {"mpstat_linux": two}))[0][-1] == "green"


def test_scanning_that_goes_on_is_a_warning_and_a_single_report_is_none() -> None:
    once = np.zeros(120)
    once[60] = 36
    assert set(colours_of(run_over(RULES["memory-scan"], {"vmstat_solaris": {("", "page_sr"): once}}))[0][61:]) == {"white"}
    # Two reports are a warning at once, however low the rate; five minutes are critical.
    lasting = np.where(np.arange(400) >= 60, 3.0, 0.0)
    column = colours_of(run_over(RULES["memory-scan"], {"vmstat_solaris": {("", "page_sr"): lasting}}))[0]
    assert (column[59], column[60], column[61], column[358], column[359]) == ("white", "green", "amber", "amber", "red")


def test_run_queue_is_divided_by_the_cpus_of_another_tool() -> None:
    cpus = {(str(cpu), "usr_pct"): np.full(60, 10.0) for cpu in range(4)} | {("all", "usr_pct"): np.full(60, 10.0)}
    queue = {("", "procs_r"): np.where(np.arange(60) < 20, 3.0, 24.0)}
    column = colours_of(run_over(RULES["run-queue-linux"], {"mpstat_linux": cpus, "vmstat_linux": queue}))[0]
    # Four CPUs: three tasks run, then twenty wait; `all` is no CPU.
    assert (column[29], column[48], column[49]) == ("green", "green", "red")
    _, missing = choose_inputs(RULES["run-queue-linux"], ["vmstat_linux"])
    assert [each.name for each in missing] == ["cpus"], "a row of vmstat is not the one CPU of the host"


@pytest.mark.parametrize(
    ("cpus", "counts"),
    [({}, {"cpus": 4}), ({"proc_stat_cpu": {(f"cpu{cpu}", "user"): np.arange(60.0) for cpu in range(4)}}, {})],
)
def test_run_queue_is_divided_by_the_cpus_of_facts_and_counters(cpus: Mapping[str, Values], counts: Mapping[str, int]) -> None:
    queue: Values = {("", "procs_r"): np.where(np.arange(60) < 20, 15.0, 16.0)}
    column = colours_of(run_over(RULES["run-queue-linux"], {"vmstat_linux": queue, **cpus}, counts))[0]
    assert (column[19], column[59]) == ("green", "amber")


def test_a_slow_disk_must_be_busy_too() -> None:
    disks = {"sda": (80, 5, 60), "sdb": (80, 5, 9), "sdc": (3, 100, 100), "sdd": (40, 35, 1)}
    run = run_over(RULES["disk-slow"], {"iostat_linux": constant(disks, ("util_pct", "r_await_ms", "w_await_ms"), n=12)})
    assert {name: column[-1] for name, column in zip(run.instances, colours_of(run), strict=True)} == {
        "sda": "red",
        "sdb": "green",
        "sdc": "blue",
        "sdd": "amber",
    }


def test_a_disk_that_only_writes_may_be_slow() -> None:
    # The sampler has no time of reads where there were none.
    log = {
        ("sda", "util_pct"): np.full(12, 80.0),
        ("sda", "w_await_ms"): np.full(12, 90.0),
        ("sda", "r_await_ms"): np.full(12, np.nan),
    }
    other = {("sdb", key[1]): np.full(12, 1.0) for key in log}
    assert colours_of(run_over(RULES["disk-slow"], {"linux_disk": {**log, **other}}))[0][-1] == "red"


@pytest.mark.parametrize(
    ("rule", "stat", "keys", "rows"),
    [
        ("container-memory", "docker_stats", ("mem_pct",), {"web": (89.9, "green"), "db": (90, "amber"), "job": (98, "red")}),
        ("container-throttled", "below_cgroup", ("throttled_pct",), {"web": (24, "green"), "db": (25, "amber")}),
        (
            "database-blocked",
            "postgresql_blocker",
            ("blocked",),
            {
                "4711/UPDATE orders": (0.9, "green"),
                "4712/UPDATE orders": (1, "amber"),
                "4713/LOCK orders": (10, "red"),
            },
        ),
        (
            "haproxy-servers",
            "haproxy_stat",
            ("responses_5xx_per_s", "requests_per_s", "queued"),
            {
                "web/FRONTEND": (0.9, 20, 0, "green"),
                "app/BACKEND": (1, 20, 0, "red"),
                "app/app1": (0, 20, 1, "amber"),
                "app/app2": (0.9, 0.9, 0, "green"),
            },
        ),
        ("gpu-throttled", "nvidia_smi", ("pviol_pct", "tviol"), {"0": (10, 0, "green"), "1": (11, 0, "amber"), "2": (0, 1, "red")}),
    ],
)
def test_limits_of_containers_and_gpus(
    rule: str, stat: str, keys: tuple[str, ...], rows: Mapping[str, tuple[float | str, ...]]
) -> None:
    values = {name: [float(value) for value in row[:-1]] for name, row in rows.items()}
    assert worst_of(rule, stat, values, keys) == {name: row[-1] for name, row in rows.items()}


def test_only_new_memory_errors_of_a_gpu_count() -> None:
    # One GPU had errors before, one has its first that was corrected, one that was not.
    n = np.arange(20)
    sums: dict[tuple[str, str], np.ndarray | int] = {
        ("0", "sbecc"): 7,
        ("0", "dbecc"): 2,
        ("1", "sbecc"): n // 10,
        ("1", "dbecc"): 0,
        ("2", "sbecc"): 0,
        ("2", "dbecc"): n // 10,
    }
    run = run_over(RULES["gpu-errors"], {"nvidia_smi": {key: np.zeros(20) + value for key, value in sums.items()}})
    states = dict(zip(run.instances, colours_of(run), strict=True))
    assert {name: sorted(set(column[1:])) for name, column in states.items()} == {
        "0": ["green"],
        "1": ["amber", "green"],
        "2": ["green", "red"],
    }


STALLS = (5, 38)


@pytest.mark.parametrize(
    ("calm", "stalled", "rhythm", "colour"),
    [
        pytest.param((3, 5, 0, 6), (100, 500, 0, 200), STALLS, "red", id="a T2000 whose /var is flushed"),
        pytest.param((3, 5, 0, 6), (100, 500, 0, 200), (2, 60), "amber", id="less than a tenth of the time"),
        pytest.param((40, 6, 90, 9), (100, 0, 0, 0), STALLS, "red", id="nothing is answered"),
        pytest.param((40, 6, 90, 9), (100, 90, 900, 9), STALLS, "green", id="bursts of a busy disk"),
        pytest.param((3, 5, 0, 6), (100, 500, 0, 200), (5, 150), "green", id="twice in five minutes"),
        pytest.param((100, 500, 0, 200), (100, 500, 0, 200), STALLS, "green", id="always slow: the rule disk-slow"),
        pytest.param((0, 0, 0, 0), (3, 900, 1, 0), STALLS, "green", id="a disk that wakes up"),
    ],
)
def test_stalls_that_come_again_and_again(
    calm: tuple[float, ...], stalled: tuple[float, ...], rhythm: tuple[int, int], colour: str
) -> None:
    """Values are busy, latency, reads and writes; a rhythm is how long a stall lasts, and how often it comes."""
    length, period = rhythm
    is_stalled = np.arange(900) % period >= period - length
    keys = ("b_pct", "asvc_t_ms", "r_per_s", "w_per_s")
    values = {("sd3", key): np.where(is_stalled, stalled[at], calm[at]) for at, key in enumerate(keys)}
    states = colours_of(run_over(RULES["disk-stalls"], {"iostat_solaris": values}))[0]
    assert set(states[:299]) == {"?"}, "it looks back on five minutes"
    assert set(states[340:]) == {colour}


def test_stalls_of_a_sampler_that_has_no_latency_without_requests() -> None:
    is_stalled = np.arange(900) % 38 >= 33
    stuck = {"util_pct": np.where(is_stalled, 100.0, 8.0), "await_ms": np.where(is_stalled, np.nan, 4.0)}
    rates = {key: np.where(is_stalled, 0.0, 20.0) for key in ("r_per_s", "w_per_s")}
    values = {("vda", key): column for key, column in {**stuck, **rates}.items()}
    assert colours_of(run_over(RULES["disk-stalls"], {"linux_disk": values}))[0][-1] == "red"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_built_in_rules_are_whole(rule: WatchRule) -> None:
    assert rule.of in {*PLACE_HOLDERS, STREAM}
    for wanted in rule.inputs:
        sources = name_sources(wanted)
        assert sources or wanted.own, wanted.name
    # The worst ones are tried first.
    places = [COLOURS.index(state.colour) for state in rule.states]
    bad = [place for place in places if place >= COLOURS.index("amber")]
    assert places[: len(bad)] == sorted(bad, reverse=True)


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
        ("database-connections", "mysql_server", ("connections_pct",), {(79,): "green", (80,): "amber", (95,): "red"}),
        ("database-transaction", "postgresql_server", ("oldest_transaction_s",), {
            (899,): "green", (900,): "amber", (14400,): "red",
        }),
        ("postgresql-wraparound", "postgresql_server", ("xid_age",), {(2e8,): "green", (5e8,): "amber", (15e8,): "red"}),
        ("redis-memory", "redis_info", ("memory_of_limit_pct", "evicted_per_s"), {
            (94, 0): "green", (95, 0): "amber", (99, 1): "red",
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
    # One thread in the kernel, moved over the eight CPUs; and the same of a program that works.
    for usr, sys, colour in ((0.68, 12.41, "amber"), (4.0, 9.1, "green")):
        rows = {str(cpu): (usr, sys) for cpu in range(8)} | {"all": (usr, sys)}
        assert worst_of("kernel-time", "mpstat_linux", rows, ("usr_pct", "sys_pct"))[""] == colour


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


def test_inputs_are_rates_only_where_a_rule_says_so() -> None:
    counters = WatchInput("errors", "", (FieldPlace("iostat_e_solaris", "soft_errors"),), "1", is_each=True)
    assert find_sources(counters, ["iostat_e_solaris"]) == []
    rates = WatchInput("errors", "", (FieldPlace("iostat_e_solaris", "soft_errors", is_rate=True),), "1/s", is_each=True)
    assert [str(source) for source in find_sources(rates, ["iostat_e_solaris"])] == ["rate(iostat_e_solaris.soft_errors)"]
    # What is a rate already has none, and a field of one instance gives nothing for each.
    place = FieldPlace("iostat_linux", "r_per_s", is_rate=True)
    assert find_sources(WatchInput("reads", "", (place,), "1/s", is_each=True), ["iostat_linux"]) == []
    place = FieldPlace("linux_pressure", "stall_pct", "cpu.some")
    assert find_sources(WatchInput("some", "", (place,), "%", is_each=True), ["linux_pressure"]) == []


def test_a_recorded_stat_without_the_wanted_instance_gives_no_input() -> None:
    seconds = np.arange(10.0)
    run = run_over(RULES["dnlc"], {"kstat_solaris": {("zfs:0:arcstats:hits", "value"): seconds}})
    assert set(colours_of(run)[0]) == {"?"}
