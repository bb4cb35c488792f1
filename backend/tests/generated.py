"""Output of tools as they print it, generated: as much as a test or a benchmark wants, with known values."""

import datetime as dt
import random
from collections.abc import Sequence

START = dt.datetime(2026, 11, 21, 12, 0, 0, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)

VMSTAT_HEADER = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
)
# plockstat -A -e 10 -p PID
PLOCKSTAT = b"""Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
   78    69427 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x29c
   44    99867 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x36c
    1    10483 libc.so.1`libc_malloc_lock   libnsl.so.1`netconfig_free+0x10
"""
MPSTAT_COLUMNS = ("usr", "nice", "sys", "iowait", "irq", "soft", "steal", "guest", "gnice", "idle")


def vmstat_times(n_rows: int, start: dt.datetime = START) -> list[dt.datetime]:
    return [start + number * SECOND for number in range(n_rows)]


def vmstat_text(times: Sequence[dt.datetime], seed: int = 1) -> bytes:
    """`vmstat -n -t 1`: one header, then a row for each time; the first one is about the time since boot."""
    numbers = random.Random(seed)
    rows = []
    for time in times:
        values = [numbers.randrange(10 ** numbers.randrange(1, 7)) for _ in range(12)] + [numbers.randrange(100) for _ in range(5)]
        rows.append(" ".join(f"{value:2d}" for value in values) + f" {time:%Y-%m-%d %H:%M:%S}\n")
    return (VMSTAT_HEADER + "".join(rows)).encode()


def mpstat_text(n_reports: int, n_cpus: int, seed: int = 1, start: dt.datetime = START) -> bytes:
    """`mpstat -P ALL 1` with S_TIME_FORMAT=ISO: a banner with the date, then a table with its header for each report."""
    numbers = random.Random(seed)
    parts = [f"Linux 6.1.0-18-amd64 (host) \t{start:%Y-%m-%d} \t_x86_64_\t({n_cpus} CPU)\n"]
    for number in range(n_reports):
        # A header bears the time at which its interval began, the rows the time at which it ended.
        begin, clock = (f"{start + at * SECOND:%H:%M:%S}" for at in (number, number + 1))
        parts.append(f"\n{begin}     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n")
        for cpu in ("all", *map(str, range(n_cpus))):
            values = "".join(f" {numbers.randrange(10001) / 100:7.2f}" for _ in MPSTAT_COLUMNS)
            parts.append(f"{clock} {cpu:>7}{values}\n")
    return "".join(parts).encode()
