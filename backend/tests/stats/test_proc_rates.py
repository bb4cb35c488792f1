"""Rates from counters in /proc: what a snapshot says, and what it does not say."""

import json
from collections.abc import Iterable

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.proc.counter_reader import CounterReader
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, Timing
from tests.golden_captures import captures
from tests.stats.proc_snapshots import EPOCH, SECOND_US, pids, rejected, rows, snapshot, stat_line
from tests.stats.reading import read_pieces

HOST = require_spec("proc_linux")
PIDS = require_spec("proc_pid_linux")


def cpu(*ticks: int, name: str = "cpu0") -> str:
    return f"{name} {' '.join(map(str, ticks))}"


# --- time ---


def test_rates_are_over_the_time_of_the_kernels_clock_and_dated_by_the_line_before() -> None:
    """The clock of the host is set a minute forward; half a second more has passed than was planned."""
    text = snapshot(0, {"stat": "ctxt 100"}) + snapshot(60, {"stat": "ctxt 400"}, uptime_s=1001.5)
    assert rows(text, "linux_kernel") == [(60, "", {"cswch_per_s": 200.0})]


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
        "established": 7, "totsck": 17, "tcpsck": 4, "orphans": 1, "tcp_tw": 3, "tcp_alloc": 5, "tcp_mem_pages": 2, "udpsck": 6,
        "ip_frag": 0,
    }  # fmt: skip
    rates = {
        "active_per_s": 2.0, "oseg_per_s": 200.0, "retrseg_per_s": 50.0, "retrans_pct": 25.0, "idgmerr_per_s": 1.0,
        "listen_drops_per_s": 9.0,
    }  # fmt: skip
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


# --- pieces, paths, state ---


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
