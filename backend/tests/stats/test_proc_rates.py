"""Rates from counters in /proc: what a snapshot says, and what it does not say."""

import json
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.gap import state_after_gap
from normstat.stats.engine.proc.counter_reader import CounterReader
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING, LineKind, Timing
from tests.golden_captures import captures
from tests.stats.reading import Reading, Row, read_pieces

HOST = require_spec("proc_linux")
PIDS = require_spec("proc_pid_linux")
EPOCH = 1_795_305_600
SECOND_US = 1_000_000
Values = Mapping[str, float | None]
MALFORMED_REASON = "not a line of this file as Linux prints it"


def snapshot(at_s: float, files: Mapping[str, str], *, uptime_s: float | None = None) -> str:
    """A snapshot of files, at seconds after EPOCH; the host was booted 1000 seconds before."""
    uptime = 1000 + at_s if uptime_s is None else uptime_s
    files = {"uptime": f"{uptime:.2f} 0.00", **files}
    return f"{EPOCH + int(at_s)}\n" + "".join(f"==> /proc/{path} <==\n{text}\n\n" for path, text in files.items())


def rows(
    text: str | Iterable[str], stat: str, *, spec: str = "proc_linux", timing: Timing = NO_TIMING
) -> list[tuple[float, str, Values]]:
    """The rows of a stat: seconds after EPOCH, instance, values."""
    result = read(
        require_spec(spec),
        "".join(text).encode(),
        state={},
        offset=0,
        is_final=True,
        timing=timing,
    )
    assert result.rejected == (), result.rejected
    found: list[tuple[int, float, str, Values]] = []
    for block in result.blocks:
        if block.stat.name == stat:
            for at in range(len(block)):
                values = {
                    field.key: None if missing is not None and missing[at] else column[at].item()
                    for field, column, missing in zip(block.fields, block.values, block.missing, strict=True)
                }
                second = int(block.time_us[at]) / SECOND_US - EPOCH
                found.append((int(block.line_offset[at]), second, block.instances[at], values))
    return [row[1:] for row in sorted(found, key=lambda row: row[0])]


def rejected(text: str, spec: str = "proc_linux") -> list[tuple[int, str]]:
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)
    return [(line.line_no, line.reason) for line in result.rejected]


def cpu(*ticks: int, name: str = "cpu0") -> str:
    return f"{name} {' '.join(map(str, ticks))}"


# --- time ---


def test_rates_are_over_the_time_of_the_kernels_clock_and_dated_by_the_line_before() -> None:
    """The clock of the host is set a minute forward; half a second more has passed than was planned."""
    text = snapshot(0, {"stat": "ctxt 100"}) + snapshot(60, {"stat": "ctxt 400"}, uptime_s=1001.5)
    assert rows(text, "linux_kernel") == [(60, "", {"cswch_per_s": 200.0})]


def test_the_first_snapshot_has_instants_only() -> None:
    files = {
        "stat": "ctxt 100\nprocs_running 3\nprocs_blocked 1",
        "loadavg": "0.50 0.40 0.30 1/80 4711",
        "meminfo": "MemTotal: 1000 kB\nMemAvailable: 400 kB",
        "vmstat": "pgfault 77",
    }
    text = snapshot(0, files)
    instants = {"runq": 3, "blocked": 1, "load_1m": 0.5, "load_5m": 0.4, "load_15m": 0.3, "tasks": 80}
    assert rows(text, "linux_kernel") == [(0, "", instants)]
    assert rows(text, "linux_memory") == [(0, "", {"total_kb": 1000, "available_kb": 400, "used_kb": 600, "used_pct": 60.0})]


def test_a_file_that_is_not_in_every_snapshot_has_rates_since_it_was_there() -> None:
    text = (
        snapshot(0, {"stat": "ctxt 0", "vmstat": "pgfault 1000"})
        + snapshot(1, {"stat": "ctxt 10"})
        + snapshot(2, {"stat": "ctxt 30"})
        + snapshot(10, {"stat": "ctxt 110", "vmstat": "pgfault 6000"})
    )
    assert [values["cswch_per_s"] for _, _, values in rows(text, "linux_kernel")] == [10.0, 20.0, 10.0]
    assert rows(text, "linux_memory") == [(10, "", {"fault_per_s": 500.0})]


def test_after_a_boot_counters_start_again() -> None:
    text = (
        snapshot(0, {"stat": "ctxt 5000"})
        + snapshot(100, {"stat": "ctxt 6000"}, uptime_s=20)
        + snapshot(101, {"stat": "ctxt 6100"}, uptime_s=21)
    )
    assert rows(text, "linux_kernel") == [(101, "", {"cswch_per_s": 100.0})]


def test_without_times_a_recording_has_the_start_and_interval_that_are_known_of_it() -> None:
    text = "".join(snapshot(at, {"stat": f"ctxt {at * 50}"}).partition("\n")[2] for at in (0, 2, 4))
    timing = Timing(start_us=EPOCH * SECOND_US, interval_us=2 * SECOND_US)
    assert [(at, values["cswch_per_s"]) for at, _, values in rows(text, "linux_kernel", timing=timing)] == [(2, 50.0), (4, 50.0)]
    result = read(HOST, text.encode(), state={}, offset=0, is_final=True)
    assert {int(time) for block in result.blocks for time in block.time_us} == {NO_TIME}


def test_a_date_in_words_begins_a_snapshot_too() -> None:
    text = snapshot(0, {"stat": "ctxt 0"}) + snapshot(1, {"stat": "ctxt 7"}).replace(str(EPOCH + 1), "2026-11-22T00:00:01Z")
    [(_, _, values)] = rows(text, "linux_kernel")
    assert values == {"cswch_per_s": 7.0}


def test_after_lost_bytes_the_next_snapshot_is_like_a_first_one() -> None:
    first = read(HOST, snapshot(0, {"stat": "ctxt 0\nprocs_running 1"}).encode(), state={}, offset=0)
    rest = "ost\n" + snapshot(1, {"stat": "ctxt 7\nprocs_running 2"}) + snapshot(2, {"stat": "ctxt 9\nprocs_running 2"})
    result = read(HOST, rest.encode(), state=state_after_gap(first.state), offset=9000, is_final=True)
    keys = [[field.key for field in block.fields] for block in result.blocks]
    assert sorted(keys) == [["runq"], ["runq", "cswch_per_s"]]


# --- counters that go back ---


def test_a_counter_of_32_bits_may_wrap() -> None:
    disk = "254 0 vda {} 0 0 0 0 0 0 0 0 {} 0"
    text = snapshot(0, {"diskstats": disk.format(10, 2**32 - 100)}) + snapshot(1, {"diskstats": disk.format(20, 400)})
    [(_, name, values)] = rows(text, "linux_disk")
    assert (name, values["r_per_s"], values["util_pct"]) == ("vda", 10.0, 50.0)


@pytest.mark.parametrize(("before", "after"), [(500, 400), (2**40, 7), (2**31, 7)])
def test_a_counter_that_went_back_has_no_rate(before: int, after: int) -> None:
    text = snapshot(0, {"stat": f"ctxt {before}\nprocesses 1"}) + snapshot(1, {"stat": f"ctxt {after}\nprocesses 4"})
    [(_, _, values)] = rows(text, "linux_kernel")
    assert values == {"cswch_per_s": None, "forks_per_s": 3.0}


def test_a_disk_that_was_replugged_has_no_row_though_some_of_its_counters_are_higher() -> None:
    disk = "8 16 sdb {} 0 100 5 {} 0 100 5 0 9 9"
    text = "".join(snapshot(at, {"diskstats": disk.format(*reads)}) for at, reads in enumerate([(900, 1), (5, 50), (15, 60)]))
    assert [(at, values["r_per_s"], values["w_per_s"]) for at, _, values in rows(text, "linux_disk")] == [(2, 10.0, 10.0)]


def test_a_disk_that_was_away_begins_again() -> None:
    """It may be another one: its counters are not compared with those from before."""
    disk = "8 16 sdb {} 0 100 5 7 0 100 5 0 9 9"
    other = "8 0 sda 1 0 8 1 0 0 0 0 0 1 1"
    files = [f"{other}\n{disk.format(900)}", other, f"{other}\n{disk.format(5000)}", f"{other}\n{disk.format(5010)}"]
    found = rows((snapshot(at, {"diskstats": text}) for at, text in enumerate(files)), "linux_disk")
    assert [(at, values["r_per_s"]) for at, name, values in found if name == "sdb"] == [(3, 10.0)]


# --- CPUs ---


def test_shares_of_a_cpu_are_of_its_own_ticks_and_guests_are_no_user_time() -> None:
    first, second = cpu(100, 10, 50, 500, 20, 1, 2, 3, 40, 5), cpu(150, 20, 60, 540, 25, 2, 3, 4, 60, 10)
    text = snapshot(0, {"stat": first}) + snapshot(1, {"stat": second})
    [(_, name, values)] = rows(text, "linux_cpu")
    # 118 ticks passed, whatever the uptime says.
    ticks = {
        "usr_pct": 30, "nice_pct": 5, "sys_pct": 10, "iowait_pct": 5, "irq_pct": 1, "soft_pct": 1, "steal_pct": 1, "guest_pct": 20,
        "gnice_pct": 5, "idle_pct": 40,
    }  # fmt: skip
    assert name == "0"
    assert values == {key: round(number * 100 / 118, 2) for key, number in ticks.items()}


def test_iowait_and_idle_that_the_kernel_corrects_downwards_are_no_time() -> None:
    text = "".join(snapshot(at, {"stat": cpu(at * 50, 0, 0, 500, 90 - at)}) for at in range(3))
    assert [values["usr_pct"] for _, _, values in rows(text, "linux_cpu")] == [100.0, 100.0]
    assert [values["iowait_pct"] for _, _, values in rows(text, "linux_cpu")] == [0.0, 0.0]


def test_a_cpu_that_was_offline_begins_again() -> None:
    whole = cpu(0, 0, 0, 0, name="cpu")
    files = [f"{whole}\n{cpu(10, 0, 0, 10)}", whole, f"{whole}\n{cpu(900, 0, 0, 10)}", f"{whole}\n{cpu(950, 0, 0, 60)}"]
    found = rows((snapshot(at, {"stat": text}) for at, text in enumerate(files)), "linux_cpu")
    assert [(at, name, values["usr_pct"]) for at, name, values in found] == [(3, "0", 50.0)]


def test_an_old_kernel_has_fewer_columns() -> None:
    text = snapshot(0, {"stat": cpu(0, 0, 0, 0, name="cpu ")}) + snapshot(1, {"stat": cpu(1, 1, 1, 1, name="cpu ")})
    [(_, name, values)] = rows(text, "linux_cpu")
    assert (name, values) == ("all", {"usr_pct": 25.0, "nice_pct": 25.0, "sys_pct": 25.0, "idle_pct": 25.0})


# --- disks and interfaces ---

USED = "{} 0 80 10 {} 0 80 10 0 5 20"


def disks(names: Iterable[str], more: int = 0) -> str:
    return "\n".join(f"8 {number} {name} {USED.format(5 + more, 5 + more)}" for number, name in enumerate(names))


def test_partitions_hidden_paths_and_idle_devices_are_left_out() -> None:
    names = [
        "sda", "sda1", "sda12", "nvme0n1", "nvme0n1p1", "nvme0c0n1", "xvda1", "dm-1", "md0", "md0p1", "mmcblk0", "mmcblk0p2",
        "mmcblk0boot0", "loop3", "sr0",
    ]  # fmt: skip
    quiet = "7 1 loop1 0 0 0 0 0 0 0 0 0 0 0\n7 2 sdz 0 0 0 0 0 0 0 0 0 0 0\n"
    text = snapshot(0, {"diskstats": quiet + disks(names)}) + snapshot(1, {"diskstats": quiet + disks(names)})
    found = [name for _, name, _ in rows(text, "linux_disk")]
    assert found == ["sda", "nvme0n1", "xvda1", "dm-1", "md0", "mmcblk0", "mmcblk0boot0"]
    text = snapshot(0, {"diskstats": disks(["loop3", "sr0"])}) + snapshot(1, {"diskstats": disks(["loop3", "sr0"], 1)})
    assert [name for _, name, _ in rows(text, "linux_disk")] == ["loop3", "sr0"]


def test_a_disk_has_the_columns_of_iostat_and_a_mean_of_nothing_is_missing() -> None:
    before = "8 0 sda 100 10 800 200 50 5 400 100 0 900 2000 0 0 0 0 0 0"
    after = "8 0 sda 120 20 1440 240 50 5 400 100 3 1150 2500 0 0 0 0 4 2"
    text = snapshot(0, {"diskstats": before}) + snapshot(0.5, {"diskstats": after})
    [(_, name, values)] = rows(text, "linux_disk")
    read_part = {"r_per_s": 40.0, "rkb_per_s": 640.0, "rrqm_per_s": 20.0, "rrqm_pct": 33.33, "r_await_ms": 2.0, "rareq_sz_kb": 16.0}
    assert {key: values[key] for key in read_part} == read_part
    assert (values["w_per_s"], values["w_await_ms"], values["wareq_sz_kb"], values["wrqm_pct"]) == (0.0, None, None, None)
    assert (values["await_ms"], values["aqu_sz"], values["util_pct"]) == (2.0, 1.0, 50.0)
    assert (values["f_per_s"], values["f_await_ms"], values["d_await_ms"]) == (8.0, 0.5, None)
    assert name == "sda"


def test_an_interface_has_the_columns_of_sar() -> None:
    line = "  eth0:{} 40 1 2 3 4 5 6 {} 80 7 8 9 10 11 12"
    later = "  eth0: {} 42 2 4 6 8 10 12 {} 83 8 10 12 14 16 18"
    title = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n"
    idle = f"  ifb0: {' '.join('0' * 16)}\n"
    text = snapshot(0, {"net/dev": title + idle + line.format(1024, 0)}) + snapshot(
        2, {"net/dev": title + idle + later.format(5120, 2048)}
    )
    [(_, name, values)] = rows(text, "linux_net")
    assert name == "eth0"
    assert values == {
        "rxpck_per_s": 1.0, "txpck_per_s": 1.5, "rxkb_per_s": 2.0, "txkb_per_s": 1.0, "rxcmp_per_s": 2.5, "txcmp_per_s": 3.0,
        "rxmcst_per_s": 3.0, "rxerr_per_s": 0.5, "txerr_per_s": 0.5, "coll_per_s": 2.0, "rxdrop_per_s": 1.0, "txdrop_per_s": 1.0,
        "txcarr_per_s": 2.5, "rxfram_per_s": 2.0, "rxfifo_per_s": 1.5, "txfifo_per_s": 1.5,
    }  # fmt: skip


# --- one row of many lines ---


def test_tcp_is_read_by_its_names_wherever_they_stand() -> None:
    snmp = "Tcp: MaxConn ActiveOpens CurrEstab OutSegs RetransSegs\nTcp: -1 {} 7 {} {}\nUdp: InErrors\nUdp: {}"
    netstat = "TcpExt: New ListenDrops\nTcpExt: 5 {}\nMPTcpExt: Other\nMPTcpExt: 0"
    sockets = "sockets: used 17\nTCP: inuse 4 orphan 1 tw 3 alloc 5 mem 2\nUDP: inuse 6 mem 0\nFRAG: inuse 0 memory 0"
    first = {"net/snmp": snmp.format(1, 100, 0, 0), "net/netstat": netstat.format(0), "net/sockstat": sockets}
    second = {"net/snmp": snmp.format(3, 300, 50, 1), "net/netstat": netstat.format(9), "net/sockstat": sockets}
    instants = {
        "established": 7,
        "totsck": 17,
        "tcpsck": 4,
        "orphans": 1,
        "tcp_tw": 3,
        "tcp_alloc": 5,
        "tcp_mem_pages": 2,
        "udpsck": 6,
        "ip_frag": 0,
    }
    rates = {
        "active_per_s": 2.0,
        "oseg_per_s": 200.0,
        "retrseg_per_s": 50.0,
        "retrans_pct": 25.0,
        "idgmerr_per_s": 1.0,
        "listen_drops_per_s": 9.0,
    }
    found = rows(snapshot(0, first) + snapshot(1, second), "linux_tcp")
    assert found == [(0, "", instants), (1, "", {**instants, **rates})]


def test_counters_of_each_zone_are_added() -> None:
    names = "pgscan_kswapd_dma", "pgscan_kswapd_normal", "allocstall_movable", "pgsteal_kswapd"
    vmstat = "".join(f"{name} {{0}}\n" for name in names) + "pgscan_direct_throttle 99\npgscan_direct 0\npgsteal_direct 0"
    text = snapshot(0, {"vmstat": vmstat.format(0)}) + snapshot(1, {"vmstat": vmstat.format(10)})
    [(_, _, values)] = rows(text, "linux_memory")
    assert values == {
        "pgscank_per_s": 20.0, "allocstall_per_s": 10.0, "pgscand_per_s": 0.0, "pgstealk_per_s": 10.0, "pgsteald_per_s": 0.0,
        "vmeff_pct": 50.0,
    }  # fmt: skip


def test_pressure_is_the_share_of_the_interval_that_was_stalled() -> None:
    line = "some avg10=1.50 avg60=1.00 avg300=0.50 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0"
    files = [
        {"pressure/cpu": line.format(0), "pressure/io": line.format(0)},
        {"pressure/cpu": line.format(500_000), "pressure/io": line.format(1)},
    ]
    found = rows((snapshot(2 * at, part) for at, part in enumerate(files)), "linux_pressure")
    assert [(at, name, values) for at, name, values in found if name == "cpu.some"] == [
        (0, "cpu.some", {"avg10": 1.5}),
        (2, "cpu.some", {"stall_pct": 25.0, "avg10": 1.5}),
    ]
    assert {name for _, name, _ in found} == {"cpu.some", "io.some", "io.full"}


# --- lines that cannot be read ---


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("stat", "ctxt x"), ("stat", "cpu0 1 2"), ("stat", "cpux 1 2 3 4"), ("stat", "Cut"), ("loadavg", "0.1 0.2"),
        ("meminfo", "MemFree: 1.5 kB"), ("meminfo", "MemFree"), ("vmstat", "pgfault -1"), ("vmstat", "pgfault 1 2"),
        ("vmstat", "nr_what ever"), ("diskstats", "8 0 sda 1 2 3"), ("diskstats", "8 0 sda 1 2 3 x 5 6 7 8 9 10 11"),
        ("net/dev", "eth0: 1 2 3"), ("net/snmp", "Tcp: 1 2"), ("net/snmp", "Tcp: A A"), ("net/sockstat", "TCP: inuse"),
        ("pressure/io", "some total=5"), ("uptime", "5"), ("interrupts", "0: 5 timer"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_as_the_kernel_prints_it_is_rejected(path: str, line: str) -> None:
    text = snapshot(0, {path: line} if path != "uptime" else {}) + (f"==> /proc/uptime <==\n{line}\n" if path == "uptime" else "")
    assert [reason for _, reason in rejected(text)]
    assert sum(read(HOST, text.encode(), state={}, offset=0, is_final=True).accounts.n_bytes.values()) == len(text)


def test_a_line_that_comes_twice_in_a_snapshot_is_rejected() -> None:
    text = snapshot(0, {"stat": "ctxt 5\nctxt 6\nprocs_running 1\nprocs_running 2", "meminfo": "MemFree: 1 kB\nMemFree: 2 kB"})
    assert [reason for _, reason in rejected(text)] == ["appears twice in one snapshot"] * 3


def test_without_an_uptime_there_are_instants_and_a_reason_for_the_rest() -> None:
    text = f"{EPOCH}\n==> /proc/stat <==\nctxt 5\nprocs_running 2\n==> /proc/diskstats <==\n{disks(['sda'])}\n"
    assert [(line, reason.partition(":")[0]) for line, reason in rejected(text)] == [(3, "no rate"), (6, "no rate")]
    twice = snapshot(0, {"stat": "ctxt 5"}) + snapshot(0, {"stat": "ctxt 6"})
    assert [line for line, _ in rejected(twice)] == [13]


def test_a_line_under_no_heading_says_so() -> None:
    assert rejected("cpu 1 2 3 4\n") == [(1, "a line without the name of its file before it (==> /proc/... <==)")]


# --- processes ---


def stat_line(pid: int, command: str, **given: int | str) -> str:
    """A line of /proc/PID/stat."""
    values: dict[str, int | str] = {
        "state": "S", "flags": 4194304, "minflt": 0, "majflt": 0, "utime": 0, "stime": 0, "cutime": 0, "cstime": 0, "threads": 1,
        "parent": 1, "start": 100, "vsize": 4096, "rss": 10,
    }  # fmt: skip
    values.update(given)
    return (
        "{pid} ({command}) {state} {parent} 1 1 0 -1 {flags} {minflt} 0 {majflt} 0 {utime} {stime} {cutime} {cstime} 20 0 "
        "{threads} 0 {start} {vsize} {rss} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"
    ).format(pid=pid, command=command, **values)


def pids(at_s: float, *lines: str, io: Mapping[int, str] | None = None) -> str:
    return snapshot(
        at_s, {f"{line.partition(' ')[0]}/stat": line for line in lines} | {f"{pid}/io": text for pid, text in (io or {}).items()}
    )


def processes(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_process", spec="proc_pid_linux")


def commands(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_command", spec="proc_pid_linux")


def test_a_process_has_rates_of_its_counters() -> None:
    text = pids(0, stat_line(7, "java", utime=100, stime=10, minflt=50)) + pids(
        5, stat_line(7, "java", utime=350, stime=60, minflt=100, majflt=5, cutime=100, threads=9, rss=20)
    )
    first, second = processes(text)
    assert first == (0, "7/java", {"rss_kb": 40, "threads": 1, "running": 0, "blocked": 0})
    assert second == (
        5,
        "7/java",
        {
            "cpu_pct": 60.0, "usr_pct": 50.0, "system_pct": 10.0, "ended_pct": 20.0, "minflt_per_s": 10.0, "majflt_per_s": 1.0,
            "rss_kb": 80, "threads": 9, "running": 0, "blocked": 0,
        },
    )  # fmt: skip


def test_cpu_time_of_ended_children_is_counted_once() -> None:
    """gcc runs as, which no snapshot shows, and cc1; then both end at once. Then make has children that no snapshot shows."""
    text = [
        pids(0, stat_line(7, "make"), stat_line(8, "gcc", parent=7, utime=10), stat_line(9, "cc1", parent=8, utime=300)),
        # The 50 ticks of as are gcc's.
        pids(5, stat_line(7, "make"), stat_line(8, "gcc", parent=7, utime=10, cutime=50), stat_line(9, "cc1", parent=8, utime=700)),
        # gcc used 5 more, cc1 20: 785 in all, of which 760 were seen.
        pids(10, stat_line(7, "make", cutime=785)),
        pids(15, stat_line(7, "make", cutime=1000, cstime=35)),
    ]
    found = [
        (at, name, values["cpu_pct"], values["ended_pct"])
        for at, name, values in processes(text)
        if at and (values["cpu_pct"] or values["ended_pct"])
    ]
    assert found == [(5, "8/gcc", 0.0, 10.0), (5, "9/cc1", 80.0, 0.0), (10, "7/make", 0.0, 5.0), (15, "7/make", 0.0, 50.0)]
    assert [values["ended_pct"] for at, name, values in commands(text) if at and name == "make"] == [0.0, 5.0, 50.0]


# Whose turn it is, its ticks, those of a child that no snapshot shows, and whether it ends.
EVENTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99), st.integers(0, 99), st.booleans()), max_size=40)


@given(EVENTS)
def test_processes_and_their_ended_children_add_up_to_all_cpu_time(events: list[tuple[int, int, int, bool]]) -> None:
    """Processes start, use CPU time and end as they like, and are waited for."""
    # Of each living process: its parent, own ticks, ticks of the children that it waited for.
    alive: dict[int, list[int]] = {1: [0, 0, 0]}
    used, text = 0, [pids(0, stat_line(1, "init"))]
    for at, (pick, ticks, unseen, is_end) in enumerate(events, start=1):
        pid = sorted(alive)[pick % len(alive)]
        alive[pid][1] += ticks
        # A child that no snapshot shows.
        alive[pid][2] += unseen
        used += ticks + unseen
        if is_end and pid != 1:
            parent, own, waited = alive.pop(pid)
            alive[parent][2] += own + waited
            for child in alive.values():
                # Adopted: it is waited for by init.
                child[0] = 1 if child[0] == pid else child[0]
        else:
            alive[100 + at] = [pid, 0, 0]
        lines = [
            stat_line(pid, "sh", parent=parent, utime=own, cutime=waited, start=100 if pid == 1 else 100_000 + 100 * (pid - 100))
            for pid, (parent, own, waited) in sorted(alive.items())
        ]
        text.append(pids(at, *lines))
    rates = [values for at, _, values in processes(text) if at]
    assert sum((values["cpu_pct"] or 0) + (values["ended_pct"] or 0) for values in rates) == pytest.approx(used)


def test_a_circle_of_processes_that_ended_is_no_trouble() -> None:
    text = [
        pids(0, stat_line(7, "a", parent=8), stat_line(8, "b", parent=7), stat_line(9, "c")),
        pids(5, stat_line(9, "c", cutime=100)),
    ]
    assert [(name, values["ended_pct"]) for at, name, values in processes(text) if at] == [("9/c", 20.0)]


def test_a_process_without_a_change_has_no_row_unless_it_runs_or_is_blocked() -> None:
    lines = [stat_line(7, "idle"), stat_line(8, "busy", state="R"), stat_line(9, "stuck", state="D")]
    text = pids(0, *lines) + pids(5, *lines)
    assert [name for at, name, _ in processes(text) if at == 5] == ["8/busy", "9/stuck"]
    assert [(name, values["processes"], values["blocked"]) for at, name, values in commands(text) if at == 5] == [
        ("idle", 1, 0),
        ("busy", 1, 0),
        ("stuck", 1, 1),
    ]


def test_a_process_that_started_after_the_last_snapshot_did_all_in_this_interval() -> None:
    """At EPOCH the host was up for 1000 s: a start at 100100 is a second later."""
    text = pids(0, stat_line(7, "init")) + pids(5, stat_line(7, "init"), stat_line(80, "yes", utime=400, start=100_100))
    assert [(name, values.get("cpu_pct")) for at, name, values in processes(text) if at == 5] == [("80/yes", 80.0)]
    assert [(name, values["cpu_pct"], values["started_per_s"]) for at, name, values in commands(text) if at == 5] == [
        ("init", 0.0, 0.0),
        ("yes", 80.0, 0.2),
    ]


def test_a_process_that_started_earlier_and_was_not_seen_has_no_rates_at_first() -> None:
    text = pids(0, stat_line(7, "init")) + pids(5, stat_line(7, "init"), stat_line(80, "late", utime=400, start=500))
    assert [(name, "cpu_pct" in values) for at, name, values in processes(text) if at == 5] == [("80/late", False)]


def test_a_pid_that_is_used_again_is_another_process() -> None:
    text = pids(0, stat_line(7, "sh", utime=300)) + pids(5, stat_line(7, "sh", utime=400, start=100_250))
    assert [values["cpu_pct"] for at, _, values in processes(text) if at == 5] == [80.0]


def test_a_process_that_went_back_in_time_has_no_rates() -> None:
    text = pids(0, stat_line(7, "sh", utime=300)) + pids(5, stat_line(7, "sh", utime=200))
    assert [sorted(values) for at, _, values in processes(text) if at == 5] == [["blocked", "rss_kb", "running", "threads"]]


def test_a_command_is_the_sum_of_its_processes_and_ended_ones_are_gone() -> None:
    text = pids(0, *(stat_line(pid, "php-fpm", utime=100, threads=2) for pid in (7, 8, 9))) + pids(
        10, *(stat_line(pid, "php-fpm", utime=100 + 100 * pid, threads=2) for pid in (7, 8))
    )
    [first, second] = commands(text)
    assert first[2] == {"processes": 3, "rss_kb": 120, "threads": 6, "running": 0, "blocked": 0, "zombies": 0}
    assert (second[2]["processes"], second[2]["cpu_pct"], second[2]["rss_kb"]) == (2, 150.0, 80)


def test_names_with_blanks_and_parentheses_and_threads_of_the_kernel() -> None:
    kernel = 0x00200040
    lines = [
        stat_line(7, "tmux: server"), stat_line(8, "a) R (b"), stat_line(9, "kworker/0:1-events", flags=kernel),
        stat_line(10, "kworker/u8:3-wb", flags=kernel), stat_line(11, "kworker/mine"), stat_line(12, "ksoftirqd/1", flags=kernel),
    ]  # fmt: skip
    text = pids(0, *lines)
    assert [name for _, name, _ in commands(text)] == ["tmux: server", "a) R (b", "kworker", "kworker/mine", "ksoftirqd"]
    assert [name for _, name, _ in processes(text)][2:4] == ["9/kworker", "10/kworker"]


def test_pages_are_as_large_as_the_sizes_of_address_spaces_show() -> None:
    large = [stat_line(pid, "java", vsize=65536 * pid) for pid in range(1, 6)]
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large))] == [5 * 640]
    # Of two, chance could have made both a multiple of 64 kB.
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large[:2]))] == [None]
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large, stat_line(9, "java", vsize=4096 * 3)))] == [6 * 40]


IO = "rchar: {0}\nwchar: 0\nsyscr: 1\nsyscw: 1\nread_bytes: {0}\nwrite_bytes: {1}\ncancelled_write_bytes: 0"


@pytest.mark.parametrize("is_interleaved", [True, False])
def test_io_is_that_of_the_process_wherever_its_file_stands(is_interleaved: bool) -> None:
    def files(at_s: float, io: Mapping[int, tuple[int, int]]) -> str:
        lines = {pid: stat_line(pid, "dd" if pid < 9 else "cp") for pid in (7, 8, 9)}
        parts = {f"{pid}/stat": line for pid, line in lines.items()}
        texts = {f"{pid}/io": IO.format(*numbers) for pid, numbers in io.items()}
        merged = {key: value for pid in lines for key, value in [*parts.items(), *texts.items()] if key.startswith(f"{pid}/")}
        return snapshot(at_s, merged if is_interleaved else parts | texts)

    text = files(0, {7: (0, 0), 8: (1024, 0)}) + files(5, {7: (10240, 5120), 8: (6144, 0)})
    found = {name: values for at, name, values in processes(text) if at == 5}
    assert {name: (values["kb_rd_per_s"], values["kb_wr_per_s"], values["cpu_pct"]) for name, values in found.items()} == {
        "7/dd": (2.0, 1.0, 0.0),
        "8/dd": (1.0, 0.0, 0.0),
    }
    by_command = {name: values for at, name, values in commands(text) if at == 5}
    assert (by_command["dd"]["kb_rd_per_s"], by_command["dd"]["kb_wr_per_s"]) == (3.0, 1.0)
    # Nobody could read the I/O of cp.
    assert "kb_rd_per_s" not in by_command["cp"]


def test_the_agents_sampler_prints_few_headings_and_the_io_of_disks_only() -> None:
    io = "read_bytes: {}\nwrite_bytes: 0\ncancelled_write_bytes: 0"
    text = "".join(
        f"{EPOCH + at}\n==> /proc/uptime <==\n{1000 + at}.00 0.00\n{stat_line(7, 'dd', utime=at * 10)}\n"
        f"==> /proc/7/io <==\n{io.format(at * 1024)}\n"
        f"{stat_line(8, 'kworker/1:0', flags=0x200000, utime=at)}\n{stat_line(9, 'sh')}\n"
        for at in (0, 5)
    )
    found = {name: (values.get("cpu_pct"), values.get("kb_rd_per_s")) for at, name, values in processes(text) if at == 5}
    assert found == {"7/dd": (10.0, 1.0), "8/kworker": (1.0, None)}


def test_io_of_a_new_process_and_of_one_with_a_used_pid() -> None:
    new = stat_line(7, "dd", start=100_200), stat_line(8, "cp", start=100_300)
    io = {7: IO.format(4096, 0), 8: IO.format(8192, 0)}
    text = pids(0, stat_line(7, "dd"), io={7: IO.format(9000, 0)}) + pids(4, *new, io=io)
    assert {name: values["kb_rd_per_s"] for at, name, values in processes(text) if at == 4} == {"7/dd": 1.0, "8/cp": 2.0}


def test_lines_of_processes_need_no_heading() -> None:
    text = "".join(
        f"{EPOCH + at}\n{1000 + at}.00 0.00\n{stat_line(7, 'sh', utime=at * 100)}\n{stat_line(8, 'sh')}\n" for at in (0, 5)
    )
    assert [(name, values.get("cpu_pct")) for at, name, values in processes(text) if at == 5] == [("7/sh", 100.0)]


@pytest.mark.parametrize("line", ["7 (sh) S 1 2", "x (sh) S " + "1 " * 30, "7 sh S", "7 (sh) SS " + "1 " * 30])
def test_a_line_that_is_no_process_is_rejected(line: str) -> None:
    assert len(rejected(snapshot(0, {"7/stat": line}), "proc_pid_linux")) == 1


def test_what_is_said_of_a_process_is_no_sample_and_hides_none() -> None:
    """The next process has no heading."""
    status = "==> /proc/7/status <==\nUid:\t0\t0\t0\t0\nUser:\troot\nArgs:\tjava 8 (x) S 1 -jar \\x0a 1795305600\n"
    one, two = stat_line(7, "java"), stat_line(8, "sh")
    plain = f"{EPOCH}\n==> /proc/uptime <==\n1000.00 0.00\n{one}\n"
    told = processes(plain + status + two + "\n")
    assert [(at, instance) for at, instance, _ in told] == [(0, "7/java"), (0, "8/sh")]
    result = read(PIDS, (plain + status + two + "\n").encode(), state={}, offset=0, is_final=True)
    assert result.accounts.n_lines[LineKind.IGNORED] == 3
    assert rejected(plain + status + "not a line\n", "proc_pid_linux") == [(9, MALFORMED_REASON)]


# --- pieces, paths, state ---


def key_of(row: Row) -> tuple[str, int, str]:
    return row.stat, row.offset, row.instance


def sorted_rows(reading: Reading) -> list[Row]:
    return sorted(reading.rows, key=key_of)


@pytest.mark.parametrize("spec", [HOST, PIDS], ids=lambda spec: spec.name)
def test_lines_read_together_are_as_lines_read_alone(monkeypatch: pytest.MonkeyPatch, spec: object) -> None:
    name = spec.name  # type: ignore[attr-defined]
    data = b"".join(capture.data for capture in captures() if capture.spec == name)
    data = data.replace(b"procs_blocked", b"procs blocked").replace(b" R ", b" \xc3\xa9 ", 1) + b"garbage\n"
    some = data.replace(b"\xc3\xa9", b"R")
    together = read_pieces(require_spec(name), [some])
    monkeypatch.setattr(CounterReader, "take_many", lambda *_: None)
    alone = read_pieces(require_spec(name), [some])
    assert together == alone
    assert alone.rejected
    # A process whose name is not ASCII makes its piece be read line by line.
    assert sum(read_pieces(require_spec(name), [data]).n_bytes.values()) == len(data)


def many_pids(at_s: int, n: int) -> str:
    lines = [
        stat_line(
            300 + 7 * pid,
            f"worker{pid % 30}",
            utime=pid * 37 + at_s * (pid % 10 == 0),
            minflt=pid * 991,
            start=100 + pid * 53,
            rss=pid * 17,
        )
        for pid in range(n)
    ]
    return pids(at_s, *lines)


def test_the_state_stays_small_with_thousands_of_processes() -> None:
    """It is written to the database with each request. Snapshots are complete, and the last one is still open."""
    data = "".join(many_pids(at, 2000) for at in (0, 5, 10)).encode()
    result = read(PIDS, data, state={}, offset=0)
    assert len(json.dumps(result.state)) < 64_000
    assert len(result.blocks) > 0


def test_the_state_of_a_large_host_is_a_few_kilobytes() -> None:
    def files(at: int) -> dict[str, str]:
        cpus = [
            cpu(*(number * 7919 + at * 13 + column * 104_729 for column in range(10)), name=f"cpu{number}") for number in range(128)
        ]
        return {"stat": "\n".join(cpus), "diskstats": disks([f"sd{letter}" for letter in "abcdefghijklmnopqrstuvwx"], at)}

    result = read(HOST, "".join(snapshot(at, files(at)) for at in range(3)).encode(), state={}, offset=0)
    assert len(json.dumps(result.state)) < 12_000
    assert {len(block) for block in result.blocks if block.stat.name == "linux_cpu"} == {2 * 128}
