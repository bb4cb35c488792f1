"""What procps 4.0 and sysstat 12.6 print on a Linux host, from numbers of each report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.demo.day import PROCESSES_EVERY, Day, Values

KERNEL: Final = "6.1.0-28-amd64"
VMSTAT_HEADER: Final = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
)
MPSTAT_COLUMNS: Final = "     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
IOSTAT_COLUMNS: Final = (
    "r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz", "w/s", "wkB/s", "wrqm/s", "%wrqm", "w_await", "wareq-sz",
    "d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz", "f/s", "f_await", "aqu-sz", "%util",
)  # fmt: skip
IOSTAT_HEADER: Final = f"{'Device':12}" + " ".join(f"{column:>8}" for column in IOSTAT_COLUMNS) + "\n"
PIDSTAT_HEADER: Final = (
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM"
    "   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
)
# Lines between two headers of vmstat.
VMSTAT_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class LinuxDisk:
    """A disk. Shape: each (n,) float64; rates a second, times in ms."""

    name: str
    reads: Values
    read_kb: Values
    read_ms: Values
    writes: Values
    write_kb: Values
    write_ms: Values
    util_pct: Values


@dataclass(frozen=True, slots=True)
class LinuxProcess:
    """A process. Shape: each (n,) float64. `is_there`: (n,) bool."""

    pid: int
    uid: int
    command: str
    usr_pct: Values
    system_pct: Values
    wait_pct: Values
    rss_kb: Values
    read_kb: Values
    write_kb: Values
    is_there: np.ndarray


@dataclass(frozen=True, slots=True)
class LinuxHost:
    """A host. Shape: each (n,) float64; CPU in per cent of all CPUs."""

    name: str
    n_cpus: int
    memory_kb: int
    usr_pct: Values
    sys_pct: Values
    wait_pct: Values
    runnable: Values
    blocked: Values
    cache_kb: Values
    interrupts: Values
    switches: Values
    disks: Sequence[LinuxDisk]
    processes: Sequence[LinuxProcess]


def write_vmstat(day: Day, host: LinuxHost) -> str:
    """Return the output of `vmstat -t INTERVAL`; its first line is since boot."""
    bi = sum((disk.read_kb for disk in host.disks), np.zeros(day.n))
    bo = sum((disk.write_kb for disk in host.disks), np.zeros(day.n))
    used = sum((np.where(one.is_there, one.rss_kb, 0) for one in host.processes), np.zeros(day.n))
    free = np.maximum(180_000, host.memory_kb - host.cache_kb - used - 260_000)
    idle = np.clip(100 - np.round(host.usr_pct) - np.round(host.sys_pct) - np.round(host.wait_pct), 0, None)
    columns = (
        host.runnable, host.blocked, np.zeros(day.n), free, np.full(day.n, 214_000), host.cache_kb, np.zeros(day.n),
        np.zeros(day.n), bi, bo, host.interrupts, host.switches, host.usr_pct, host.sys_pct, idle, host.wait_pct, np.zeros(day.n),
    )  # fmt: skip
    rows = np.round(np.stack(columns, axis=1)).astype(int).tolist()
    line = "%2d %2d %6d %6d %6d %6d %4d %4d %5d %5d %4d %4d %2d %2d %2d %2d %2d"
    out: list[str] = []
    for number, (at, row) in enumerate(zip(day.times, rows, strict=True)):
        if number % VMSTAT_LINES == 0:
            out.append(VMSTAT_HEADER)
        out.append(f"{line % tuple(row)} {at:%Y-%m-%d %H:%M:%S}\n")
    return "".join(out)


def write_mpstat(day: Day, host: LinuxHost, rng: np.random.Generator) -> str:
    """Return the output of `mpstat -P ALL INTERVAL`: the CPUs share the work unevenly, as a scheduler leaves it."""
    shares = np.clip(rng.normal(1, 0.12, (day.n, host.n_cpus)), 0.4, 1.6)
    shares /= shares.mean(axis=1, keepdims=True)
    parts = np.zeros((day.n, host.n_cpus, 10))
    parts[:, :, 0] = host.usr_pct[:, None] * shares
    parts[:, :, 2] = host.sys_pct[:, None] * shares
    waiting = np.clip(rng.normal(1, 0.5, (day.n, host.n_cpus)), 0, None)
    parts[:, :, 3] = host.wait_pct[:, None] * waiting / np.maximum(waiting.mean(axis=1, keepdims=True), 0.1)
    parts[:, :, 5] = np.abs(rng.normal(0.4, 0.2, (day.n, host.n_cpus)))
    total = parts.sum(axis=2, keepdims=True)
    parts *= np.where(total > 100, 100 / np.maximum(total, 1), 1)
    parts[:, :, 9] = np.clip(100 - parts.sum(axis=2), 0, None)
    rows = np.concatenate((parts.mean(axis=1, keepdims=True), parts), axis=1).tolist()
    names = ("all", *map(str, range(host.n_cpus)))
    line = "  ".join(["%6.2f"] * 10)
    out = [_banner(day, host)]
    before = f"{day.start:%H:%M:%S}"
    for at, report in zip(day.times, rows, strict=True):
        now = f"{at:%H:%M:%S}"
        out.append(before + MPSTAT_COLUMNS)
        out += [f"{now}     {name:>3}  {line % tuple(row)}\n" for name, row in zip(names, report, strict=True)]
        out.append("\n")
        before = now
    return "".join(out)


def write_iostat(day: Day, host: LinuxHost) -> str:
    """Return the output of `iostat -x -t INTERVAL`."""
    zero = np.zeros(day.n)
    disks = []
    for disk in host.disks:
        queue = (disk.reads * disk.read_ms + disk.writes * disk.write_ms) / 1000
        columns = (
            disk.reads, disk.read_kb, zero, zero, disk.read_ms, disk.read_kb / np.maximum(disk.reads, 0.01), disk.writes,
            disk.write_kb, disk.writes / 3, np.full(day.n, 25.0), disk.write_ms, disk.write_kb / np.maximum(disk.writes, 0.01),
            zero, zero, zero, zero, zero, zero, disk.writes / 20, disk.write_ms / 2, queue, disk.util_pct,
        )  # fmt: skip
        disks.append((f"{disk.name:12}", np.stack(columns, axis=1).tolist()))
    cpu = np.stack((host.usr_pct, zero, host.sys_pct, host.wait_pct, zero), axis=1)
    cpu = np.concatenate((cpu, np.clip(100 - cpu.sum(axis=1, keepdims=True), 0, None)), axis=1).tolist()
    line = " ".join(["%8.2f"] * len(IOSTAT_COLUMNS)) + "\n"
    cpu_line = " " * 8 + "  ".join(["%6.2f"] * 6) + "\n\n"
    out = [_banner(day, host)]
    for number, at in enumerate(day.times):
        out.append(f"{at:%Y-%m-%dT%H:%M:%S}+0000\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n")
        out.append(cpu_line % tuple(cpu[number]))
        out.append(IOSTAT_HEADER)
        out += [name + line % tuple(rows[number]) for name, rows in disks]
        out.append("\n")
    return "".join(out)


def write_pidstat(day: Day, host: LinuxHost, rng: np.random.Generator) -> str:
    """Return the output of `pidstat -dru -h INTERVAL`."""
    line = "     %4d %9d %7.2f %7.2f    0.00 %7.2f %7.2f %5d %9.2f      0.00 %7d %7d %6.2f %9.2f %9.2f      0.00 %7d  %s\n"
    table = []
    for one in host.processes:
        columns = (
            one.usr_pct, one.system_pct, one.wait_pct, one.usr_pct + one.system_pct, rng.integers(0, host.n_cpus, day.n),
            np.abs(rng.normal(14, 6, day.n)), one.rss_kb * 3, one.rss_kb,
            one.rss_kb / host.memory_kb * 100, one.read_kb, one.write_kb,
            one.read_kb / 2600 * day.process_interval_s,
        )  # fmt: skip
        table.append((one, np.stack(columns, axis=1).tolist()))
    out = [_banner(day, host)]
    for number in range(0, day.n, PROCESSES_EVERY):
        out.append(PIDSTAT_HEADER)
        now = f"{day.times[number]:%H:%M:%S}"
        out += [now + line % (one.uid, one.pid, *rows[number], one.command) for one, rows in table if one.is_there[number]]
        out.append("\n")
    return "".join(out)


def write_facts(day: Day, host: LinuxHost) -> str:
    """Return what an agent says of the host when it starts."""
    lines = [
        str(day.epochs[0]), "os\tLinux", "system\tDebian GNU/Linux 12 (bookworm)", f"kernel_release\t{KERNEL}",
        "cpu_model\tAMD EPYC 7443P", f"cpus\t{host.n_cpus}", "cpu_mhz\t2850", f"memory_kb\t{host.memory_kb}",
        f"boot_time\t{day.epochs[0] - 41 * 86_400}", "mount /\text4 /dev/sda1", "mount /var\txfs /dev/sdb1",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _banner(day: Day, host: LinuxHost) -> str:
    return f"Linux {KERNEL} ({host.name}) \t{day.start:%Y-%m-%d} \t_x86_64_\t({host.n_cpus} CPU)\n\n"
