"""What vmstat, mpstat, iostat and prstat print on a Solaris 10 host, from numbers of each report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.demo.day import PROCESSES_EVERY, Day, Values

VMSTAT_HEADER: Final = (
    " kthr      memory            page            disk          faults      cpu\n"
    " r b w   swap  free  re  mf pi po fr de sr s0 s1 -- --   in   sy   cs us sy id\n"
)
MPSTAT_HEADER: Final = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
IOSTAT_HEADER: Final = (
    "                    extended device statistics              \n"
    "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
)
PRSTAT_HEADER: Final = "   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/NLWP  \n"
LINES_OF_A_SCREEN: Final = 20


@dataclass(frozen=True, slots=True)
class SolarisDisk:
    """A disk. Shape: each (n,) float64; rates a second, times in ms."""

    name: str
    reads: Values
    read_kb: Values
    writes: Values
    write_kb: Values
    service_ms: Values
    wait_ms: Values
    busy_pct: Values


@dataclass(frozen=True, slots=True)
class SolarisProcess:
    """A process by its microstates, in per cent of one CPU for each LWP. Shape: each (n,) float64. `is_there`: (n,) bool."""

    pid: int
    user: str
    command: str
    n_lwps: int
    usr_pct: Values
    sys_pct: Values
    lock_pct: Values
    latency_pct: Values
    switches: Values
    system_calls: Values
    is_there: np.ndarray


@dataclass(frozen=True, slots=True)
class SolarisHost:
    """A host. Shape: each (n,) float64; CPU in per cent of all CPUs, rates of all CPUs a second."""

    name: str
    n_cpus: int
    memory_kb: int
    usr_pct: Values
    sys_pct: Values
    runnable: Values
    blocked: Values
    free_kb: Values
    scan_rate: Values
    cross_calls: Values
    mutex_spins: Values
    interrupts: Values
    switches: Values
    system_calls: Values
    disks: Sequence[SolarisDisk]
    processes: Sequence[SolarisProcess]


def write_vmstat(day: Day, host: SolarisHost) -> str:
    """Return the output of `vmstat -T u INTERVAL`; its first line is since boot."""
    zero = np.zeros(day.n)
    idle = np.clip(100 - np.round(host.usr_pct) - np.round(host.sys_pct), 0, None)
    page_in = host.disks[-1].read_kb
    columns = (
        host.runnable, host.blocked, zero, host.free_kb + 18_400_000, host.free_kb, zero + 38, zero + 420, page_in, zero + 4,
        zero + 4, zero, host.scan_rate, *(disk.reads + disk.writes for disk in host.disks[:2]), zero, zero, host.interrupts,
        host.system_calls, host.switches, host.usr_pct, host.sys_pct, idle,
    )  # fmt: skip
    rows = np.round(np.stack(columns, axis=1)).astype(int).tolist()
    line = " %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n"
    out: list[str] = []
    for number, (epoch, row) in enumerate(zip(day.epochs, rows, strict=True)):
        out.append(f"{epoch}\n")
        if number % LINES_OF_A_SCREEN == 0:
            out.append(VMSTAT_HEADER)
        out.append(line % tuple(row))
    return "".join(out)


def write_mpstat(day: Day, host: SolarisHost, rng: np.random.Generator) -> str:
    """Return the output of `mpstat -T u INTERVAL`; its first report is since boot. The first CPU takes most interrupts."""
    shape = (day.n, host.n_cpus)
    shares = np.clip(rng.normal(1, 0.14, shape), 0.4, 1.6)
    shares /= shares.mean(axis=1, keepdims=True)

    def spread(total: Values, *, each: bool = False) -> Values:
        return total[:, None] * shares * rng.normal(1, 0.05, shape) / (1 if each else host.n_cpus)

    interrupts = spread(host.interrupts)
    interrupts[:, 0] *= 2.4
    usr = np.clip(spread(host.usr_pct, each=True), 0, 97)
    sys = np.clip(spread(host.sys_pct, each=True), 0, 99 - usr)
    zero = np.zeros(shape)
    number = np.broadcast_to(np.arange(host.n_cpus), shape)
    columns = (
        number, 52 * shares, zero, spread(host.cross_calls), interrupts, interrupts * 0.4, spread(host.switches),
        spread(host.switches) * 0.06, spread(host.switches) * 0.05, spread(host.mutex_spins), zero, spread(host.system_calls), usr,
        sys, zero, 100 - np.round(usr) - np.round(sys),
    )  # fmt: skip
    rows = np.clip(np.round(np.stack(columns, axis=2)), 0, None).astype(int).tolist()
    line = "%3d %4d %3d %4d %5d %4d %4d %4d %4d %4d %4d %5d %4d %3d %3d %3d\n"
    out: list[str] = []
    for epoch, report in zip(day.epochs, rows, strict=True):
        out += [f"{epoch}\n", MPSTAT_HEADER, *(line % tuple(row) for row in report)]
    return "".join(out)


def write_iostat(day: Day, host: SolarisHost) -> str:
    """Return the output of `iostat -xn -T u INTERVAL`; its first report is since boot."""
    disks = []
    for disk in host.disks:
        per_second = disk.reads + disk.writes
        active = per_second * disk.service_ms / 1000
        waiting = per_second * disk.wait_ms / 1000
        columns = (
            disk.reads, disk.writes, disk.read_kb, disk.write_kb, waiting, active, disk.wait_ms, disk.service_ms,
            np.clip(np.round(waiting * 10), 0, 100), np.round(disk.busy_pct),
        )  # fmt: skip
        disks.append((disk.name, np.stack(columns, axis=1).tolist()))
    line = " %6.1f %6.1f %6.1f %6.1f %4.1f %4.1f %6.1f %6.1f %3d %3d %s\n"
    out: list[str] = []
    for number, epoch in enumerate(day.epochs):
        out += [f"{epoch}\n", IOSTAT_HEADER]
        out += [line % (*rows[number], name) for name, rows in disks]
    return "".join(out)


def write_prstat(day: Day, host: SolarisHost) -> str:
    """Return the output of `prstat -c -m -d u INTERVAL`."""
    table = []
    for one in host.processes:
        sleeping = np.clip(100 - one.usr_pct - one.sys_pct - one.lock_pct - one.latency_pct, 0, 100)
        columns = (one.usr_pct, one.sys_pct, one.lock_pct, sleeping, one.latency_pct, one.switches, one.system_calls)
        table.append((one, np.stack(columns, axis=1).tolist()))
    n_lwps = sum(one.n_lwps for one in host.processes)
    load = np.convolve(host.runnable + (host.usr_pct + host.sys_pct) / 100 * host.n_cpus, np.ones(4) / 4, mode="same")
    out: list[str] = []
    for number in range(0, day.n, PROCESSES_EVERY):
        out += [f"{day.epochs[number]}\n", PRSTAT_HEADER]
        there = [(one, rows[number]) for one, rows in table if one.is_there[number]]
        there.sort(key=lambda each: -(each[1][0] + each[1][1]))
        for one, (usr, sys, lock, sleep, latency, switches, calls) in there:
            states = " ".join(map(_percent, (usr, sys, 0, 0, 0, lock, sleep, latency)))
            counts = (
                f"{_count(switches * day.process_interval_s)} {_count(switches * 0.7)} {_count(calls * day.process_interval_s)}   0"
            )
            out.append(f" {one.pid:>5} {one.user:<8} {states} {counts} {one.command}/{one.n_lwps}\n")
        loads = ", ".join([f"{load[number]:.2f}"] * 3)
        out.append(f"Total: {len(there)} processes, {n_lwps} lwps, load averages: {loads}\n")
    return "".join(out)


def _percent(value: float) -> str:
    """Return a percentage as prstat -m prints it, in three columns: 0.0, 9.9, 42, 100."""
    return f"{value:3.1f}" if value < 9.95 else f"{value:3.0f}"


def _count(value: float) -> str:
    """Return a count in three columns: 999, 12K, .1M."""
    if value < 1000:
        return f"{value:3.0f}"
    if value < 99_500:
        return f"{value / 1000:2.0f}K"
    return f".{min(9, max(1, round(value / 100_000)))}M" if value < 950_000 else f"{value / 1e6:2.0f}M"


def write_facts(day: Day, host: SolarisHost) -> str:
    """Return what an agent says of the host when it starts."""
    lines = [
        str(day.epochs[0]), "os\tSunOS", "system\tOracle Solaris 10 1/13 s10s_u11wos_24a SPARC",
        "kernel_release\tGeneric_150400-65", "cpu_model\tSPARC-T4", f"cpus\t{host.n_cpus}", "cpu_mhz\t2848",
        f"memory_kb\t{host.memory_kb}", f"boot_time\t{day.epochs[0] - 203 * 86_400}", "mount /\tzfs rpool/ROOT/s10",
        "mount /export/www\tufs /dev/dsk/c1t1d0s0",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
