"""The ledger: parts and remainder are the total, and who made a change is named, whatever else the host does."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.comparison.ledger.book import draw_lines, open_book
from normstat.comparison.ledger.readings import PairedSides, Reading
from normstat.comparison.ledger.windows import Amounts, cut
from normstat.comparison.ledger_model import LedgerLine
from normstat.scoring.summary import FloatArray
from normstat.window import Window
from tests.comparison.sides import START, make_side, stat_of

# Seconds of the baseline and of the incident; all stats report each second here.
N, M = 600, 60
N_CPUS = 2
Side = dict[tuple[str, str], FloatArray]
Host = dict[str, tuple[Side, Side]]


def ledger_of(host: Host, *, memory_kib: float = 0.0) -> dict[str, LedgerLine]:
    begin = START.timestamp()
    stats = {
        name: PairedSides(make_side(stat_of(name), before, begin), make_side(stat_of(name), now, begin + N))
        for name, (before, now) in host.items()
    }
    middle = START + timedelta(seconds=N)
    reading = Reading(stats, [Window(START, middle)], Window(middle, middle + timedelta(seconds=M)), memory_kib)
    return {line.resource: line for line in draw_lines(open_book("web1", reading, N_CPUS), reading, N_CPUS)}


def host_of(processes: Mapping[str, tuple[FloatArray, FloatArray]], *, unseen: tuple[float, float] = (0.0, 0.0)) -> Host:
    """CPU time of processes ("29206/dd") on both sides, in per cent of a CPU, and what nobody saw."""
    host: Host = {name: ({}, {}) for name in ("linux_cpu", "linux_command", "linux_process")}
    for side, n in ((0, N), (1, M)):
        used = np.full(n, unseen[side])
        for name, both in processes.items():
            values = both[side]
            command = name.partition("/")[2]
            # What uses nothing is not there.
            if values.any():
                host["linux_process"][side][name, "cpu_pct"] = values
                host["linux_process"][side][name, "ended_pct"] = np.zeros(n)
                own = host["linux_command"][side]
                own[command, "cpu_pct"] = own.get((command, "cpu_pct"), np.zeros(n)) + values
                own[command, "ended_pct"] = np.zeros(n)
            used += values
        for cpu in ("0", "1", "all"):
            host["linux_cpu"][side][cpu, "idle_pct"] = 100 - used / N_CPUS
            for key in ("iowait_pct", "irq_pct", "soft_pct", "steal_pct"):
                host["linux_cpu"][side][cpu, key] = np.zeros(n)
    return host


def steady(mean: float, n: int, *, seed: int = 1, share: float = 0.1) -> FloatArray:
    return np.clip(mean * (1 + share * np.random.default_rng(seed).standard_normal(n)), 0, None)


def busy_builds() -> dict[str, tuple[FloatArray, FloatArray]]:
    """A build that keeps a CPU busy with compilers of 20 to 40 seconds each: at any time some process is new."""
    rng = np.random.default_rng(5)
    found, at = {"1/make": (steady(5, N), steady(5, M, seed=2))}, 0
    while at < N + M:
        length = int(rng.integers(20, 40))
        whole = np.zeros(N + M)
        whole[at : at + length] = rng.uniform(60, 90)
        found[f"{1000 + at}/cc1"] = (whole[:N], whole[N:])
        at += length
    return found


CPU_TIME = st.floats(0, 60).map(lambda value: round(value, 2))
PROCESSES = st.dictionaries(
    st.tuples(st.integers(2, 30), st.sampled_from(("sh", "cc1", "java"))), st.tuples(CPU_TIME, CPU_TIME), max_size=12
)


@given(PROCESSES, st.tuples(CPU_TIME, CPU_TIME))
def test_parts_and_remainder_are_the_total(given: dict[tuple[int, str], tuple[float, float]], unseen: tuple[float, float]) -> None:
    processes = {f"{pid}/{command}": (np.full(N, before), np.full(M, now)) for (pid, command), (before, now) in given.items()}
    processes["1/init"] = np.full(N, 1.0), np.full(M, 1.0)
    line = ledger_of(host_of(processes, unseen=unseen))["cpu"]
    parts = [part for part in line.parts if part.unit == line.unit]
    assert line.remainder is not None
    for side in ("baseline", "incident", "change"):
        total = sum(getattr(part, side) for part in [*parts, line.remainder])
        assert total == pytest.approx(getattr(line, side), abs=1e-3)
    assert line.remainder.incident == pytest.approx(unseen[1], abs=1e-3)
    assert sum(part.share or 0 for part in parts if part.change > 0) <= 1 + 1e-6


def test_a_process_among_others_of_its_name_is_named_by_its_id() -> None:
    processes = {f"{pid}/python3": (steady(8, N, seed=pid), steady(8, M, seed=pid + 50)) for pid in range(10, 18)}
    processes["21866/python3"] = (np.zeros(N), steady(70, M))
    line = ledger_of(host_of(processes))["cpu"]
    assert line.certainty == "sure"
    assert line.sentence.startswith("python3 (21866), which is new, used 7")
    assert "of the rise; the CPUs were busy 6" in line.sentence
    assert (line.parts[0].kind, line.parts[0].pids, line.parts[0].instance) == ("process", [21866], "21866/python3")


def test_a_process_that_stands_for_itself_is_not_named_again_for_the_others_of_its_command() -> None:
    """Two more of its name, each too small to be told, are together more than nothing."""
    processes = {"1/init": (steady(5, N), steady(5, M, seed=2)), "77/yes": (np.zeros(N), steady(80, M))}
    processes |= {f"{pid}/yes": (np.zeros(N), np.full(M, 5.5)) for pid in (78, 79)}
    line = ledger_of(host_of(processes))["cpu"]
    assert [part.pids for part in line.parts if part.command == "yes"] == [[77], [78, 79]]
    assert sum(part.incident for part in line.parts if part.command == "yes") == pytest.approx(91, abs=3)
    assert line.sentence.count("yes (77)") == 1


def test_on_a_busy_host_a_new_process_among_new_processes_is_named() -> None:
    processes = busy_builds()
    assert ledger_of(host_of(processes))["cpu"].certainty == "nothing"
    processes["77/yes"] = (np.zeros(N), steady(85, M))
    line = ledger_of(host_of(processes))["cpu"]
    assert line.certainty == "sure"
    assert line.sentence.startswith("yes (77), which is new, used 8")


def test_a_total_at_its_capacity_is_told_by_its_split() -> None:
    processes = {"5/gzip": (np.full(N, 100.0), np.full(M, 60.0)), "6/java": (np.full(N, 100.0), np.full(M, 70.0))}
    processes["77/yes"] = (np.zeros(N), np.full(M, 70.0))
    line = ledger_of(host_of(processes))["cpu"]
    assert (line.is_full, line.outside, line.certainty) == (True, 0.0, "sure")
    assert line.sentence == (
        "yes (77), which is new, used 70 % of a CPU, taken from gzip (5) (-40 %) and java (6) (-30 %); "
        "the CPUs were busy 100 % of the time, as normal."
    )


def test_what_stops_is_told_as_gone() -> None:
    processes = {"5/gzip": (steady(60, N), np.zeros(M)), "6/java": (steady(20, N, seed=2), steady(20, M, seed=3))}
    line = ledger_of(host_of(processes))["cpu"]
    assert line.outside < 0
    assert line.sentence.startswith("gzip (5) is gone; it used 60 % of a CPU in the baseline; the CPUs were busy 1")


def test_a_little_less_that_nobody_made_is_no_news() -> None:
    processes = {"5/cc1": (np.full(N, 100.0), np.full(M, 100.0))}
    lines = [ledger_of(host_of(processes, unseen=(90.0, now)))["cpu"] for now in (75.0, 40.0)]
    assert [(line.outside, line.certainty) for line in lines] == [(-15.0, "nothing"), (-50.0, "sure")]


def test_a_busy_host_that_is_a_little_less_busy_is_no_news() -> None:
    """Whichever process did less: of a service that stalls its own series tell."""
    others = {"6/cc1": (steady(100, N, share=0.01), steady(100, M, seed=3, share=0.01))}
    lines = [
        ledger_of(host_of({"5/gzip": (steady(80, N, share=0.01), steady(now, M, seed=2, share=0.01)), **others}))["cpu"]
        for now in (68.0, 40.0)
    ]
    assert [line.certainty for line in lines] == ["nothing", "sure"]
    assert [part.name for part in lines[0].parts if part.is_outside] == ["gzip (5)"]


def test_two_processes_of_a_command_are_one_part() -> None:
    processes = {"6/java": (steady(20, N, seed=2), steady(20, M, seed=3))}
    processes |= {f"{pid}/yes": (np.zeros(N), steady(40, M, seed=pid)) for pid in (8, 9)}
    line = ledger_of(host_of(processes))["cpu"]
    assert line.sentence.startswith("yes (2 processes), which are new, used 79 % of a CPU, 100 % of the rise")
    assert sorted(line.parts[0].pids) == [8, 9]


def test_what_nobody_saw_is_the_remainder() -> None:
    line = ledger_of(host_of({"6/java": (steady(20, N), steady(20, M))}, unseen=(2.0, 90.0)))["cpu"]
    assert line.remainder is not None
    assert line.remainder.change == pytest.approx(88, abs=0.1)
    assert line.certainty == "sure"
    assert line.sentence.startswith("The CPUs were busy 5")


def memory_host(leak: FloatArray) -> Host:
    """A process that allocates in the incident (KiB), beside one that holds its memory and sleeps."""
    host: Host = {name: ({}, {}) for name in ("linux_memory", "linux_command", "linux_process")}
    for side, n in ((0, N), (1, M)):
        own = leak if side else np.zeros(n)
        host["linux_memory"][side]["", "total_kb"] = np.full(n, 24e6)
        host["linux_memory"][side]["", "used_kb"] = 3e6 + own
        host["linux_memory"][side]["", "shmem_kb"] = np.full(n, 1e6)
        host["linux_command"][side]["python3", "anon_kb"] = 1e6 + own
        # It sleeps: the process has a row in the first report only.
        host["linux_process"][side]["10/python3", "anon_kb"] = np.full(1, 1e6)
        if side:
            host["linux_process"][side]["21866/python3", "anon_kb"] = own
    return host


def test_a_leak_is_told_by_the_process_where_it_has_held_most() -> None:
    line = ledger_of(memory_host(np.linspace(0, 4e6, M)))["memory"]
    assert line.certainty == "sure"
    # The last quarter, not the mean.
    assert line.incident == pytest.approx(6.5e6, rel=0.01)
    assert line.sentence == (
        "python3 (21866), which is new, held 3.39 GiB, 100 % of the rise; 6.26 of 22.9 GiB of memory were used (normally 2.86 GiB)."
    )


def test_a_process_that_allocates_and_sleeps_holds_its_memory() -> None:
    host = memory_host(np.full(M, 6e6))
    # Its only row is that of the first report.
    host["linux_process"][1]["21866/python3", "anon_kb"] = np.full(1, 6e6)
    line = ledger_of(host)["memory"]
    assert line.sentence.startswith("python3 (21866), which is new, held 5.72 GiB, 100 % of the rise")


def test_who_takes_memory_is_named_also_where_more_was_freed_before() -> None:
    """2 GiB of a tmpfs were freed before the incident, in which a process takes 400 MiB."""
    host = memory_host(np.linspace(0, 4e5, M))
    freed = host["linux_memory"][1]
    freed["", "shmem_kb"] = np.zeros(M)
    freed["", "used_kb"] = freed["", "used_kb"] - 1e6
    line = ledger_of(host)["memory"]
    assert line.outside < 0
    assert line.sentence.startswith("python3 (21866), which is new, held 3")
    # Without it the answer is what was freed.
    host = memory_host(np.zeros(M))
    host["linux_memory"][1]["", "shmem_kb"] = np.zeros(M)
    host["linux_memory"][1]["", "used_kb"] = host["linux_memory"][1]["", "used_kb"] - 1e6
    assert ledger_of(host)["memory"].sentence.startswith("shared memory and tmpfs took 0 ")


def disk_host(*, requests: float, busy: float, blocked: float) -> Host:
    host: Host = {name: ({}, {}) for name in ("linux_disk", "linux_command", "linux_process")}
    for side, n in ((0, N), (1, M)):
        now = (requests, busy, blocked) if side else (60.0, 3.0, 0.0)
        for key, mean in (("w_per_s", now[0]), ("r_per_s", 5.0), ("util_pct", now[1]), ("wkb_per_s", 400.0), ("rkb_per_s", 9.0)):
            host["linux_disk"][side]["vda", key] = steady(mean, n, seed=len(key))
        for name, mean in (("postgres", 0.0), ("python3", now[2])):
            host["linux_command"][side][name, "blocked"] = np.full(n, mean)
            host["linux_process"][side][f"9/{name}", "blocked"] = np.full(n, mean)
    return host


def test_a_disk_is_told_by_its_requests_where_they_tell_more_than_its_time() -> None:
    """A loop of small writes, each flushed, on a disk that does not mind."""
    lines = ledger_of(disk_host(requests=3000, busy=5, blocked=0.7))
    assert lines["disk"].unit == "1/s"
    assert lines["disk"].sentence.startswith("python3 (9), which is new, waited for a disk 70 % of the time; vda served 2,9")


def test_a_busy_disk_is_told_by_its_time() -> None:
    lines = ledger_of(disk_host(requests=600, busy=90, blocked=0.9))
    assert (lines["disk"].unit, lines["disk"].certainty) == ("%", "sure")
    assert "; vda was busy 89 % of the time (normally 2.9 to 3.0 %)" in lines["disk"].sentence


def solaris_host(*, java: float, n_lwps: int, busy: float) -> Host:
    """Two CPUs without a sum of all, prstat -m with a java of many LWPs, a disk."""
    host: Host = {name: ({}, {}) for name in ("mpstat_solaris", "prstat_solaris_micro", "iostat_solaris")}
    for side, n in ((0, N), (1, M)):
        used = java if side else 10.0
        cpus, processes, disks = (host[name][side] for name in host)
        for cpu in ("0", "1"):
            cpus[cpu, "idl_pct"], cpus[cpu, "wt_pct"] = np.full(n, 95.0 - used / N_CPUS), np.zeros(n)
        for name, usr, lwps in (("815/java", used / n_lwps, n_lwps), ("3/fsflush", 1.0, 1)):
            processes[name, "usr_pct"], processes[name, "sys_pct"] = np.full(n, usr), np.zeros(n)
            processes[name, "trp_pct"], processes[name, "nlwp"] = np.zeros(n), np.full(n, float(lwps))
        disks["sd3", "b_pct"] = steady(busy if side else 4.0, n)
        for key in ("r_per_s", "w_per_s", "kr_per_s", "kw_per_s"):
            disks["sd3", key] = steady(20.0, n)
    return host


def test_a_solaris_host_is_told_by_microstates_and_mpstat() -> None:
    """The microstates of a process are means of its LWPs."""
    lines = ledger_of(solaris_host(java=80.0, n_lwps=20, busy=70.0))
    assert lines["cpu"].sentence == (
        "java (815) used 80 % of a CPU (normally 10 %), 100 % of the rise; the CPUs were busy 45 % of the time (normally 10 %)."
    )
    # What the CPUs were busy with beside the two: 10 % of one of them.
    assert lines["cpu"].remainder is not None
    assert lines["cpu"].remainder.incident == pytest.approx(9.0)
    assert lines["disk"].sentence.startswith("sd3 was busy 70 % of the time (normally 3.9 to 4.0 %)")
    assert lines["disk"].sentence.endswith("; no recorded tool shows which process it was.")


def test_memory_of_a_solaris_host_is_what_it_has_less_what_is_free() -> None:
    """prstat has resident memory in bytes, of the processes that it prints."""
    host: Host = {"vmstat_solaris": ({}, {}), "prstat_solaris_command": ({}, {}), "prstat_solaris_size": ({}, {})}
    for side, n, java in ((0, N, 2e6), (1, M, 6e6)):
        # Some reports do not have it.
        host["vmstat_solaris"][side]["", "memory_free"] = np.where(np.arange(n) % 7 == 3, np.nan, 12e6 - java)
        host["prstat_solaris_command"][side]["java", "rss"] = np.full(n, 1024 * java)
        host["prstat_solaris_size"][side]["815/java", "rss"] = np.full(n, 1024 * java)
    line = ledger_of(host, memory_kib=16e6)["memory"]
    assert line.sentence == (
        "java (815) held 5.72 GiB (normally 1.91 GiB), 100 % of the rise; 9.54 of 15.3 GiB of memory were used (normally 5.72 GiB)."
    )
    # Others may hold memory that prstat does not print.
    assert line.remainder is None
    assert "memory" not in ledger_of(host)


def test_a_host_with_an_exporter_is_told_as_far_as_it_sends() -> None:
    host: Host = {name: ({}, {}) for name in ("node_cpu", "node_memory", "node_disk", "node_network", "node_system")}
    for side, n, factor in ((0, N, 1.0), (1, M, 8.0)):
        for key, mean in (("idle_pct", 100 - 10 * factor), ("iowait_pct", 0.0), ("irq_pct", 0.0), ("softirq_pct", 5 * factor)):
            host["node_cpu"][side]["all", key] = np.full(n, mean)
        host["node_memory"][side]["", "memtotal_bytes"] = np.full(n, 16.0 * 2**30)
        host["node_memory"][side]["", "memavailable_bytes"] = np.full(n, (16.0 - factor) * 2**30)
        for key, mean in (("io_time_pct", 1.0), ("reads_completed_per_s", 9.0), ("writes_completed_per_s", 9.0)):
            host["node_disk"][side]["sda", key] = np.full(n, mean)
        host["node_disk"][side]["sda", "read_bytes_per_s"] = np.full(n, 2**21 * factor)
        host["node_disk"][side]["sda", "written_bytes_per_s"] = np.zeros(n)
        for key in ("receive_bytes_per_s", "transmit_bytes_per_s"):
            host["node_network"][side]["eth0", key] = np.full(n, 2**20 * factor)
        host["node_system"][side]["", "forks_per_s"] = np.full(n, 30 * factor)
    told = {resource: line.sentence for resource, line in ledger_of(host).items()}
    assert told.pop("cpu").startswith("interrupts took 80 % of a CPU (normally 10 %), 100 % of the rise; the CPUs were busy 80 %")
    assert told == {
        "memory": "8 of 16 GiB of memory were used (normally 1 GiB).",
        "disk": "sda moved 16 MiB/s (normally 2 MiB/s); no recorded tool shows which process it was.",
        "network": "eth0 carried 16 MiB/s (normally 2 MiB/s); no recorded tool shows whose traffic it was.",
        "processes": "240 processes began per second (normally 30).",
    }


def test_traffic_is_nobodys_and_that_is_said() -> None:
    sides: tuple[Side, Side] = ({}, {})
    for side, n, mean in zip(sides, (N, M), (2_000.0, 200_000.0), strict=True):
        side["eth0", "rxkb_per_s"], side["eth0", "txkb_per_s"] = steady(mean, n), np.full(n, 9.0)
    line = ledger_of({"linux_net": sides})["network"]
    assert (line.certainty, line.parts, line.remainder) == ("sure", [], None)
    assert line.sentence.startswith("eth0 carried 19")
    assert line.sentence.endswith("; no recorded tool shows whose traffic it was.")


@pytest.mark.parametrize("n_windows", [9, 24, 60])
def test_a_window_like_all_others_is_seldom_anything(n_windows: int) -> None:
    """One of 200 such windows is that far outside the range of the others."""
    n_wrong = 0
    for values in np.random.default_rng(1).normal(10, 1, (1000, 1, n_windows + 1)):
        amounts = Amounts(values[:, :-1], values[:, -1])
        n_wrong += abs(float(amounts.outside()[0])) >= 4 * max(amounts.noise(), 0.5)
    assert n_wrong <= 10, n_wrong


def test_one_window_of_an_incident_in_the_baseline_does_not_hide_the_next() -> None:
    windows = np.full((1, 12), 3.0)
    windows[0, -1] = 90.0
    amounts = Amounts(windows, np.array([90.0]))
    assert float(amounts.outside()[0]) == 87.0


@pytest.mark.parametrize(("length_s", "n_windows", "expected"), [(60, 10, 10), (600, 8, 8), (60, 2, 8)])
def test_a_baseline_is_cut_into_windows_as_long_as_the_incident_or_shorter(length_s: int, n_windows: int, expected: int) -> None:
    end = float(length_s * n_windows)
    spans = cut([(0.0, end)], length_s if n_windows >= 8 else 2 * length_s, np.arange(1.0, end + 1))
    assert len(spans.starts) == expected


def test_gaps_of_a_baseline_are_no_windows() -> None:
    times = np.concatenate([np.arange(1.0, 301), np.arange(421.0, 601)])
    spans = cut([(0.0, 600.0)], 60, times)
    assert spans.starts.tolist() == [0, 60, 120, 180, 240, 420, 480, 540]


def test_without_totals_there_is_no_ledger() -> None:
    assert ledger_of({"vmstat_solaris_paging": ({("", "free"): np.ones(N)}, {("", "free"): np.ones(M)})}) == {}


def test_a_line_is_drawn_as_what_its_sentence_says() -> None:
    """The total at each report: its mean is the number of the sentence, and it leaves the normal range when the burst begins."""
    burst = np.where(np.arange(M) >= 20, 150.0, 10.0)
    lines = ledger_of(host_of({"1/java": (steady(10, N), burst)}))
    cpu = lines["cpu"]
    assert cpu.drawn is not None
    assert cpu.drawn.incident.mean == pytest.approx(cpu.incident, rel=0.02)
    assert cpu.drawn.baseline.mean == pytest.approx(cpu.baseline, rel=0.02)
    # A report at the very start of a window tells of the time before it.
    assert (cpu.drawn.incident.n, cpu.drawn.baseline.n) == (M - 1, N - 1)
    assert cpu.drawn.onset_ms == pytest.approx(1000 * (START.timestamp() + N + 20), abs=2000)
    assert max(value for value in cpu.drawn.sparkline.high if value is not None) == pytest.approx(150, rel=0.02)
    assert cpu.drawn.sparkline.baseline is not None


def test_a_line_that_is_nothing_is_not_drawn() -> None:
    lines = ledger_of(host_of({"1/java": (steady(10, N), steady(10, M, seed=3))}))
    assert lines["cpu"].drawn is None


def with_units(host: Host, used: Mapping[str, tuple[float, float]], **fields: tuple[float, float]) -> Host:
    """Add units with their CPU time on both sides, and other fields of all of them."""
    sides: tuple[Side, Side] = ({}, {})
    for side, n in ((0, N), (1, M)):
        for unit, both in used.items():
            sides[side][unit, "cpu_pct"] = steady(both[side], n, seed=3 + side)
            for key, values in fields.items():
                sides[side][unit, key] = np.full(n, values[side])
    return {**host, "linux_unit": sides}


def test_a_unit_whose_processes_were_too_short_is_named() -> None:
    host = host_of({"7/java": (steady(20, N), steady(20, M, seed=2))}, unseen=(3.0, 95.0))
    line = ledger_of(with_units(host, {"java.service": (20, 20), "cron.service": (2, 94)}))["cpu"]
    assert line.certainty == "sure"
    assert line.sentence.startswith("cron.service used 93 % of a CPU (normally 2.0 %), 99 % of the rise; the CPUs were busy 58 %")
    assert [(unit.name, unit.kind, unit.command, unit.is_culprit) for unit in line.units] == [("cron.service", "unit", "", True)]


def test_a_process_that_did_it_is_named_rather_than_its_unit() -> None:
    host = host_of({"7/java": (steady(20, N), steady(20, M, seed=2)), "9/yes": (np.zeros(N), steady(98, M))})
    line = ledger_of(with_units(host, {"java.service": (20, 20), "cron.service": (0, 98)}))["cpu"]
    assert line.sentence.startswith("yes (9), which is new, used ")
    assert [unit.is_culprit for unit in line.units] == [False]


def test_a_unit_that_made_little_of_the_rise_is_not_named() -> None:
    host = host_of({"7/java": (steady(20, N), steady(20, M, seed=2))}, unseen=(3.0, 95.0))
    line = ledger_of(with_units(host, {"cron.service": (2, 20)}))["cpu"]
    assert [(unit.is_outside, unit.is_culprit) for unit in line.units] == [(True, False)]


def test_a_throttled_unit_is_a_line_with_its_limit() -> None:
    host = host_of({"7/java": (steady(20, N), steady(20, M, seed=2))})
    found = ledger_of(with_units(host, {"web": (20, 20)}, throttled_pct=(0.0, 34.0), cpu_limit_pct=(50.0, 50.0)))
    line = found["throttling"]
    assert (line.name, line.instance, line.certainty) == ("web", "web", "sure")
    assert line.sentence == "web was throttled 34 % of the time at its limit of 0.5 CPUs (normally 0 %); the host was 90 % idle."
    assert (line.limit, line.capacity) == (0.5, 100.0)
    assert line.drawn is not None
    assert found["cpu"].certainty == "nothing"


def test_a_unit_that_was_never_throttled_before_has_no_field_in_the_baseline() -> None:
    host = with_units(host_of({"7/java": (steady(20, N), steady(20, M, seed=2))}), {"web": (20, 20)})
    host["linux_unit"][1]["batch", "throttled_pct"] = np.full(M, 100.0)
    line = ledger_of(host)["throttling"]
    assert line.certainty == "sure"
    assert line.sentence == "batch was throttled 100 % of the time (normally 0 %); the host was 90 % idle."


def test_a_unit_at_its_memory_limit_is_a_line_with_its_limit() -> None:
    host = with_units(memory_host(np.zeros(M)), {"web": (20, 20), "db": (5, 5)})
    for side, n, times in ((0, N, 1.0), (1, M, 900.0)):
        host["linux_unit"][side]["web", "at_limit_per_s"] = np.full(n, times)
        host["linux_unit"][side]["web", "memory_limit_kb"] = np.full(n, 524288.0)
    line = ledger_of(host)["memory_limit"]
    assert (line.certainty, line.instance, line.limit, line.unit) == ("sure", "web", 524288.0, "1/s")
    assert line.sentence.startswith("web was at its limit of 512 MiB of memory 900 times per second (normally 1); the host had ")
    assert line.sentence.endswith(" of memory left.")
    assert line.drawn is not None


def test_one_killed_process_is_a_line() -> None:
    host = with_units(memory_host(np.zeros(M)), {"web": (20, 20)})
    host["linux_unit"][0]["web", "oom_kills_per_s"] = np.zeros(N)
    # The sampler looks every five seconds; here each second is one report.
    host["linux_unit"][1]["web", "oom_kills_per_s"] = np.where(np.arange(M) == 30, 1.0, 0.0)
    line = ledger_of(host)["memory_limit"]
    assert (line.certainty, line.unit, line.limit) == ("sure", "1/min", None)
    assert line.sentence.startswith(
        "The kernel killed 1 process of web per minute at its limit of memory (normally 0); the host had "
    )


def test_a_unit_is_named_by_what_it_wrote_to_the_disk_in_question() -> None:
    """What it wrote to another disk is no reason; and most reports have no row of the unit."""
    host = disk_host(requests=3000, busy=95, blocked=0)
    host.pop("linux_command")
    host.pop("linux_process", None)
    host = with_units(host, {"etl.service": (5, 5), "db.service": (5, 5)})
    disks: tuple[Side, Side] = ({}, {})
    for unit, disk, both in (("etl.service", "vda", (0.0, 90_000.0)), ("db.service", "vdb", (1000.0, 400_000.0))):
        for side, n in ((0, N), (1, M)):
            if both[side]:
                disks[side][f"{unit}/{disk}", "kb_wr_per_s"] = np.full(n, both[side])
    host["linux_unit_disk"] = disks
    line = ledger_of(host)["disk"]
    assert [(unit.name, unit.stat, unit.instance) for unit in line.units if unit.quantity == "written"] == [
        ("etl.service", "linux_unit_disk", "etl.service/vda")
    ]
    assert line.sentence.startswith("etl.service, which is new, wrote ")


def gpu_host(used: Mapping[str, tuple[float, float]], busy: Mapping[str, tuple[float, float]]) -> Host:
    """GPUs, and what processes ("7900/python/0") used of them; a process that uses nothing has no samples."""
    host: Host = {"nvidia_smi_query": ({}, {}), "nvidia_smi_process": ({}, {})}
    for side, n in ((0, N), (1, M)):
        for gpu, both in busy.items():
            host["nvidia_smi_query"][side][gpu, "utilization_gpu_pct"] = steady(both[side], n, seed=5 + side)
        for name, both in used.items():
            if both[side]:
                host["nvidia_smi_process"][side][name, "sm_pct"] = steady(both[side], n, seed=7 + side)
    return host


def test_a_gpu_is_told_by_the_process_that_keeps_it_busy() -> None:
    line = ledger_of(gpu_host({"7900/train.py/1": (0, 92), "12/Xorg/0": (1, 1)}, {"0": (3, 3), "1": (1, 95)}))["gpu"]
    assert (line.name, line.instance, line.certainty, line.capacity) == ("GPU 1", "1", "sure", 100.0)
    assert line.sentence.startswith(
        "train.py (7900), which is new, kept the GPU busy 91 % of the time, 100 % of the rise; GPU 1 was busy 96 %"
    )
    (part,) = (part for part in line.parts if part.is_culprit)
    assert (part.stat, part.instance, part.pids, part.quantity) == ("nvidia_smi_process", "7900/train.py/1", [7900], "gpu")
    assert line.drawn is not None


def test_a_full_gpu_is_told_by_who_took_it_from_whom() -> None:
    found = ledger_of(gpu_host({"7/train.py/0": (98, 40), "8/serve.py/0": (0, 58)}, {"0": (98, 98)}))
    assert found["gpu"].is_full
    assert found["gpu"].sentence.startswith("serve.py (8), which is new, kept the GPU busy 58 % of the time, taken from train.py")


def test_a_gpu_whose_processes_are_not_recorded_says_so() -> None:
    host = gpu_host({}, {"0": (2, 90)})
    host.pop("nvidia_smi_process")
    assert ledger_of(host)["gpu"].sentence.endswith("(normally 2.0 %); no recorded tool shows which process it was.")


def database_of(statement: tuple[float, float], blocked: tuple[float, float], *, sessions: float = 10) -> Host:
    """A PostgreSQL: sessions that a statement kept busy, and those that session 4711 blocked, on both sides."""
    host: Host = {name: ({}, {}) for name in ("postgresql_server", "postgresql_statement", "postgresql_blocker")}
    for side, n in ((0, N), (1, M)):
        rows = {"0x4f2a1b3c UPDATE orders": statement[side], "0x11223344 SELECT 1": 0.3}
        for name, mean in rows.items():
            host["postgresql_statement"][side][name, "sessions"] = steady(mean, n, seed=len(name))
        host["postgresql_blocker"][side]["0/none", "blocked"] = np.zeros(n)
        if blocked[side]:
            host["postgresql_blocker"][side]["4711/UPDATE orders", "blocked"] = np.full(n, blocked[side])
        active = steady(sum(rows.values()) + blocked[side], n, seed=3)
        host["postgresql_server"][side].update({("", "active"): active, ("", "connections"): np.full(n, sessions)})
    return host


def test_a_statement_that_keeps_more_sessions_busy_is_named() -> None:
    line = ledger_of(database_of((0.1, 5.0), (0, 0)))["database"]
    assert (line.certainty, line.capacity) == ("sure", 10.0)
    assert line.sentence.startswith("statement 0x4f2a1b3c: UPDATE orders kept 4.9")
    assert "of the rise; PostgreSQL had 5." in line.sentence
    assert [(part.kind, part.instance) for part in line.parts if part.is_culprit] == [("statement", "0x4f2a1b3c UPDATE orders")]


def test_a_session_that_blocks_others_is_named_before_the_statements_that_wait() -> None:
    line = ledger_of(database_of((0.1, 7.0), (0, 8.0), sessions=12))["database"]
    assert line.certainty == "sure"
    assert line.sentence.startswith(
        "session 4711 (UPDATE orders), which is new, blocked 8 sessions; statement 0x4f2a1b3c: UPDATE orders"
    )
    assert [(part.kind, part.pids) for part in line.parts if part.is_culprit] == [("session", [4711]), ("statement", [])]


def test_a_database_as_busy_as_always_is_normal() -> None:
    assert ledger_of(database_of((3.0, 3.0), (0, 0)))["database"].certainty == "nothing"


def test_the_statement_stands_beside_the_server_that_used_the_cpu() -> None:
    host = host_of({"15007/postgres": (steady(5, N), steady(90, M))}) | database_of((0.1, 5.0), (0, 0))
    line = ledger_of(host)["cpu"]
    assert line.note.startswith("in PostgreSQL, statement 0x4f2a1b3c: UPDATE orders kept 4.9")
    # What the database did is no reason for the CPU time of another program.
    other = host_of({"15007/gzip": (steady(5, N), steady(90, M))}) | database_of((0.1, 5.0), (0, 0))
    assert not ledger_of(other)["cpu"].note


def test_forced_checkpoints_stand_beside_what_the_server_wrote() -> None:
    host = database_of((0.1, 0.1), (0, 0))
    for side, n, wrote, forced in ((0, N, 1e3, 0.0), (1, M, 7e4, 0.5)):
        host["postgresql_server"][side]["", "checkpoints_requested_per_s"] = np.full(n, forced)
        disk = {"util_pct": wrote / 1e3, "r_per_s": 0, "w_per_s": wrote / 100, "rkb_per_s": 0, "wkb_per_s": wrote}
        host.setdefault("linux_disk", ({}, {}))[side].update({("vda", key): steady(value, n) for key, value in disk.items()})
        for stat, name in (("linux_command", "postgres"), ("linux_process", "15007/postgres")):
            own = host.setdefault(stat, ({}, {}))[side]
            own |= {
                (name, key): steady(wrote if key == "kb_wr_per_s" else 0, n) for key in ("kb_wr_per_s", "kb_rd_per_s", "blocked")
            }
    line = ledger_of(host)["disk"]
    assert line.note == "the size of the log of PostgreSQL forced 30 checkpoints a minute (normally 0)"
