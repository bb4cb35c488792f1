"""How fast the reader is: values per second, in bulk and line by line, for a large piece and for what a live agent sends.

Run: python bench/bench_reader.py [MiB]. Prints one line for each case; nothing is compared with a limit.
"""

import functools
import json
import random
import re
import sys
import time
from collections.abc import Callable

from bench.record import record
from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.readers.tabular import columns
from tests.golden_captures import GOLDEN

ROUNDS = 5


def solaris_mpstat(n_bytes: int) -> bytes:
    """mpstat -T u on 64 CPUs: 15 columns of whole numbers."""
    header = b"CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
    pick = random.Random(1).randrange
    lines: list[bytes] = []
    size = epoch = 0
    while size < n_bytes:
        lines += [b"%d\n" % (1_795_262_400 + epoch), header]
        for cpu in range(64):
            row = (cpu, pick(900), 0, pick(300), pick(3000), pick(300), pick(2000), pick(90), pick(90), pick(200), 0, pick(9000))
            lines.append(
                b"%3d %4d %3d %4d %5d %4d %4d %4d %4d %4d %4d %5d   " % row
                + b"%2d  %2d   0  %2d\n" % (pick(50), pick(30), pick(99))
            )
        epoch += 1
        size += 64 * 82
    return b"".join(lines)


def linux_mpstat(n_bytes: int, n_cpus: int = 2) -> bytes:
    """mpstat -P ALL: eleven columns, a blank line and a header for every report."""
    columns_text = b"%8s     CPU    %%usr   %%nice    %%sys %%iowait    %%irq   %%soft  %%steal  %%guest  %%gnice   %%idle\n"
    draw = random.Random(2)
    lines = [b"Linux 6.1.0-40-amd64 (web1) \t2026-11-21 \t_x86_64_\t(%d CPU)\n" % n_cpus]
    size = second = 0
    while size < n_bytes:
        clock = b"%02d:%02d:%02d" % (second // 3600 % 24, second // 60 % 60, second % 60)
        lines += [b"\n", columns_text % clock]
        second += 1
        clock = b"%02d:%02d:%02d" % (second // 3600 % 24, second // 60 % 60, second % 60)
        for cpu in range(-1, n_cpus):
            name = b"all" if cpu < 0 else b"%d" % cpu
            values = b"".join(b"%8.2f" % (draw.random() * 100) for _ in range(10))
            lines.append(b"%s    %4s%s\n" % (clock, name, values))
            size += 98
    return b"".join(lines)


def linux_vmstat(n_bytes: int) -> bytes:
    """vmstat -t: 17 columns and a time behind every row."""
    header = (
        b"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    )
    pick = random.Random(3).randrange
    lines: list[bytes] = []
    second = 0
    while second * 103 < n_bytes:
        if second % 21 == 0:
            lines.append(header)
        row = (
            pick(9),
            0,
            0,
            pick(10**7),
            pick(10**5),
            pick(10**6),
            0,
            0,
            pick(999),
            pick(999),
            pick(5000),
            pick(9000),
            pick(99),
            3,
        )
        clock = b"2026-11-21 %02d:%02d:%02d" % (second // 3600 % 24, second // 60 % 60, second % 60)
        lines.append(b"%2d %2d %6d %6d %6d %6d %4d %4d %5d %5d %4d %4d %2d %2d " % row + b"%2d  0  0 %s\n" % (pick(99), clock))
        second += 1
    return b"".join(lines)


def add_to(more: int, found: re.Match[str]) -> str:
    return str(int(found[0]) + more)


def linux_proc(n_seconds: int, n_cpus: int) -> bytes:
    """Snapshots of /proc as the sampler prints them each second: those of the capture, with counters that grow."""
    path = next(GOLDEN.glob("recorded/proc_linux/*--sampler.txt"))
    snapshot = path.read_text().partition("\n==> /proc/uptime <==\n")[2].partition("\n1795")[0]
    rest = snapshot.partition("\n")[2]
    cpus = "".join(f"cpu{cpu} 84168 72909 52400 964040 3337 0 15030 2938 0 0\n" for cpu in range(n_cpus))
    rest = re.sub(r"(?:cpu\d+ .*\n)+", cpus, rest)
    lines = []
    for second in range(n_seconds):
        grown = re.sub(r"(?<= )\d{3,}(?!\w)", functools.partial(add_to, second * 7), rest)
        lines.append(f"{1_795_305_600 + second}\n==> /proc/uptime <==\n{10_000 + second}.00 0.00\n{grown}\n")
    return "".join(lines).encode()


def linux_pids(n_snapshots: int, n_processes: int) -> bytes:
    """Snapshots of processes each five seconds; a tenth of them are busy."""
    line = "{0} (worker{1}) S 1 1 1 0 -1 4194304 {2} 0 12 0 {3} 210 0 0 20 0 1 0 {4} 4281211{0}2 9280 1 1 1 0 0 0 0\n"
    snapshots = []
    for number in range(n_snapshots):
        snapshots.append(f"{1_795_305_600 + 5 * number}\n==> /proc/uptime <==\n{90_000 + 5 * number}.00 0.00\n")
        for pid in range(300, 300 + n_processes):
            busy = number * (pid % 10 == 0)
            snapshots.append(line.format(pid, pid % 40, pid * 991 + busy * 100, pid * 37 + busy * 20, 100 + pid * 53))
    return "".join(snapshots).encode()


def proc_cases() -> None:
    """CPU time of reading an hour of a host, live: a request each five seconds, with the state through JSON between them."""
    cases = [
        ("mpstat -P ALL, 2 CPUs", "mpstat_linux", linux_mpstat(98 * 3 * 300), 60),
        ("mpstat -P ALL, 64 CPUs", "mpstat_linux", linux_mpstat(98 * 65 * 300, 64), 60),
        ("/proc, 2 CPUs", "proc_linux", linux_proc(300, 2), 60),
        ("/proc, 64 CPUs", "proc_linux", linux_proc(300, 64), 60),
        ("200 processes", "proc_pid_linux", linux_pids(60, 200), 60),
        ("2000 processes", "proc_pid_linux", linux_pids(60, 2000), 60),
    ]
    for title, spec_name, data, n_requests in cases:
        spec, size = require_spec(spec_name), len(data) // n_requests
        state: dict[str, object] = {}
        begin = n_values = offset = 0
        used_s = 0.0
        while begin < len(data):
            piece = data[offset : begin + size]
            started = time.process_time()
            result = read(spec, piece, state=state, offset=offset)
            state = json.loads(json.dumps(result.state))
            used_s += time.process_time() - started
            offset += result.n_taken
            begin += size
            n_values += sum(len(block) * len(block.fields) for block in result.blocks)
        kb = len(json.dumps(state)) / 1024
        hour_s = used_s * 12
        print(f"{title:24} {len(data) / used_s / 1e6:6.1f} MB/s {hour_s:6.2f} CPU s an hour {n_values * 12:9} values {kb:6.1f} kB")
        record("", f"read live, {title}", hour_s, "CPU s for an hour of a host")


def best_rate(spec_name: str, data: bytes, state: dict[str, object], n_rounds: int) -> tuple[float, float, int]:
    """Values a second and CPU seconds of the best of several rounds, and the number of values."""
    spec = require_spec(spec_name)
    best = float("inf")
    n_values = 0
    for _ in range(n_rounds):
        begin = time.process_time()
        result = read(spec, data, state=state, offset=0)
        best = min(best, time.process_time() - begin)
        n_values = sum(len(block) * len(block.fields) for block in (*result.blocks, *result.since_boot))
    return n_values / best, best, n_values


def main() -> None:
    n_bytes = int(float(sys.argv[1]) * (1 << 20)) if len(sys.argv) > 1 else 4 << 20
    cases: list[tuple[str, str, Callable[[int], bytes], int]] = [
        ("mpstat 64 CPUs", "mpstat_solaris", solaris_mpstat, n_bytes),
        ("mpstat 64 CPUs", "mpstat_linux", lambda size: linux_mpstat(size, 64), n_bytes),
        ("mpstat 2 CPUs", "mpstat_linux", linux_mpstat, n_bytes),
        ("vmstat -t", "vmstat_linux", linux_vmstat, n_bytes),
        ("5 s of mpstat 64 CPUs", "mpstat_linux", lambda _: linux_mpstat(98 * 65 * 5, 64), 0),
        ("5 s of mpstat 8 CPUs", "mpstat_linux", lambda _: linux_mpstat(98 * 9 * 5, 8), 0),
        ("5 s of mpstat 2 CPUs", "mpstat_linux", lambda _: linux_mpstat(98 * 3 * 5), 0),
        ("5 s of vmstat -t", "vmstat_linux", lambda _: linux_vmstat(103 * 5), 0),
    ]
    least = columns.MIN_BULK_BYTES
    for title, spec_name, make, size in cases:
        data = make(size)
        for path, limit in (("as set", least), ("bulk", 0), ("line by line", 1 << 60)):
            columns.MIN_BULK_BYTES = limit  # type: ignore[misc]
            rate, seconds, n_values = best_rate(spec_name, data, {}, ROUNDS if len(data) > 1 << 20 else 50)
            print(f"{title:22} {spec_name:15} {path:13} {n_values:8} values {seconds * 1000:9.2f} ms {rate / 1e6:6.2f} M values/s")
            record("", f"read, {title}, {path}", rate / 1e6, "million values/s")
    proc_cases()


if __name__ == "__main__":
    main()
