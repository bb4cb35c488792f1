"""What the tools of one host with 64 CPUs print in a year: the load of weekdays, nights and weekends, noise, backups, incidents.

Nothing comes round again: every number is drawn for its own report, so that what packing saves is what it would save on such a
host. A day is computed by itself, from its number.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.fleet_text import IOSTAT_COLUMNS, PIDSTAT_HEAD

Floats = npt.NDArray[np.float64]
DAY_S: Final = 86_400
N_DEVICES: Final = 4
N_PROCESSES: Final = 20
# The busy hours of a weekday, of a weekend's day in part; the nightly backup.
BUSY_HOURS: Final = (7.0, 20.0)
BACKUP_HOURS: Final = (2.0, 3.0)
INCIDENT_HOURS: Final = (14.0, 15.0)
VMSTAT_HEAD: Final = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
)
# How mpstat prints 0.00 to 100.00: a lookup is twenty times faster than to format each number.
PERCENTAGES: Final = np.array([b"%8.2f" % (number / 100) for number in range(10_001)])
REPORTS_AT_ONCE: Final = 1000
IOSTAT_ROW: Final = "%-12s" + "%9.2f" * len(IOSTAT_COLUMNS) + "\n"
PIDSTAT_ROW: Final = (
    "%s     1000 %9d %7.2f %7.2f    0.00    %4.2f %7.2f %5d %9.2f      %4.2f %7d %7d   %4.2f %9.2f %9.2f      0.00 %7d  %s\n"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a tool printed in a part of a day."""

    spec: str
    command: str
    text: bytes


@dataclass(frozen=True, slots=True)
class _Day:
    """What all tools of a day share. Shape: load, is_backup, is_incident (n_reports,); clocks one more: that before the first"""

    rng: np.random.Generator
    midnight: dt.datetime
    load: Floats
    is_backup: npt.NDArray[np.bool_]
    is_incident: npt.NDArray[np.bool_]
    clocks: list[str]


class YearHost:
    """The tools of the host, each with a report every `interval_s`; day 0 begins at `start` (midnight, UTC)."""

    def __init__(self, start: dt.datetime, *, n_cpus: int, interval_s: int, incident_days: frozenset[int], seed: int = 1) -> None:
        self.start = start
        self.n_cpus = n_cpus
        self.interval_s = interval_s
        self.incident_days = incident_days
        self._seed = seed
        rng = np.random.default_rng([seed, 0])
        # Some CPUs take interrupts, and work spreads unevenly.
        self._weights = rng.gamma(20, 1 / 20, n_cpus)
        self._process_weights = rng.gamma(1, 1, N_PROCESSES)

    def print_day(self, day: int, n_pieces: int) -> Iterator[list[Piece]]:
        """The text of a day, of all tools, in pieces of the same length."""
        rng = np.random.default_rng([self._seed, 1, day])
        n = DAY_S // self.interval_s
        midnight = self.start + dt.timedelta(days=day)
        hours = np.arange(1, n + 1) * self.interval_s / 3600
        own = _Day(
            rng,
            midnight,
            self._load(rng, hours, is_weekend=midnight.weekday() >= 5),
            is_backup=(hours > BACKUP_HOURS[0]) & (hours <= BACKUP_HOURS[1]),
            is_incident=(hours > INCIDENT_HOURS[0]) & (hours <= INCIDENT_HOURS[1]) & (day in self.incident_days),
            clocks=[f"{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}" for s in range(0, DAY_S + 1, self.interval_s)],
        )
        parts = (
            ("mpstat_linux", f"mpstat -P ALL {self.interval_s}", self._mpstat(own)),
            ("vmstat_linux", f"vmstat -t {self.interval_s}", self._vmstat(own)),
            ("iostat_linux", f"iostat -x -t {self.interval_s}", self._iostat(own)),
            ("pidstat_linux", f"pidstat -dru -h {self.interval_s}", self._pidstat(own)),
        )
        banner = f"Linux 6.1.0-40-amd64 (year) \t{midnight:%Y-%m-%d} \t_x86_64_\t({self.n_cpus} CPU)\n"
        for piece in range(n_pieces):
            begin, end = n * piece // n_pieces, n * (piece + 1) // n_pieces
            found = []
            for spec, command, reports in parts:
                text = "".join(islice(reports, end - begin))
                if day == 0 and piece == 0:
                    text = (VMSTAT_HEAD if spec == "vmstat_linux" else banner) + text
                found.append(Piece(spec, command, text.encode()))
            yield found

    def _load(self, rng: np.random.Generator, hours: Floats, *, is_weekend: bool) -> Floats:
        """Share of the CPUs that are busy, by report."""
        begin, end = BUSY_HOURS
        busy = np.clip(np.sin(np.pi * (hours - begin) / (end - begin)), 0, None) * ((hours >= begin) & (hours <= end))
        # Noise that lasts some minutes: steps of a sixth, smoothed.
        steps = rng.normal(0, 0.03, len(hours))
        kernel = np.exp(-np.arange(0, 900, self.interval_s) / 180)
        noise = np.convolve(steps, kernel)[: len(hours)]
        load: Floats = np.clip(0.06 + (0.12 if is_weekend else 0.38) * busy + noise, 0.01, 0.95)
        return load

    def _mpstat(self, own: _Day) -> Iterator[str]:
        rng, load, n, n_cpus = own.rng, own.load, len(own.load), self.n_cpus
        busy = np.clip(100 * load[:, None] * self._weights * rng.gamma(16, 1 / 16, (n, n_cpus)), 0, 96)
        # The incident: system time rises by half of what is idle, on every CPU.
        sys = busy * 0.2 * rng.gamma(25, 1 / 25, (n, n_cpus)) + own.is_incident[:, None] * (96 - busy) * 0.5
        waiting = rng.gamma(0.3, 0.4, (n, n_cpus))
        soft = np.where(np.arange(n_cpus) < 4, rng.gamma(2, 0.5, (n, n_cpus)), rng.gamma(0.2, 0.1, (n, n_cpus)))
        usr = np.clip(busy * 0.8, 0, 100 - sys - waiting - soft)
        zero = np.zeros((n, n_cpus))
        fields = [np.round(field, 2) for field in (usr, zero, sys, waiting, zero, soft, zero, zero, zero)]
        values = np.stack([*fields, np.clip(100 - sum(fields), 0, 100)], axis=2)
        values = np.concatenate([values.mean(axis=1, keepdims=True), values], axis=1)
        hundredths = np.rint(100 * values).astype(np.int16)
        names = ["all", *map(str, range(n_cpus))]
        head = "     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
        for first in range(0, n, REPORTS_AT_ONCE):
            rows = PERCENTAGES[hundredths[first : first + REPORTS_AT_ONCE]]
            n_reports, width = len(rows), rows.shape[2] * rows.itemsize
            printed = rows.tobytes().decode()
            for at in range(first, first + n_reports):
                own_rows = printed[(at - first) * len(names) * width : (at - first + 1) * len(names) * width]
                lines = [
                    f"{own.clocks[at + 1]}    {name:>4}{own_rows[row * width : (row + 1) * width]}\n"
                    for row, name in enumerate(names)
                ]
                yield f"\n{own.clocks[at]}{head}{''.join(lines)}"

    def _vmstat(self, own: _Day) -> Iterator[str]:
        rng, load, n = own.rng, own.load, len(own.load)
        us = np.round(80 * load).astype(int)
        sy = np.round(20 * load + 30 * own.is_incident).astype(int)
        free = 20_000_000 + np.cumsum(rng.integers(-9000, 9001, n))
        columns = zip(
            rng.poisson(load * self.n_cpus).tolist(),
            rng.poisson(0.1 + 6 * own.is_backup).tolist(),
            free.tolist(),
            (800_000 + np.arange(n) * 3).tolist(),
            (90_000_000 - free // 2).tolist(),
            rng.poisson(200 + 90_000 * own.is_backup).tolist(),
            rng.poisson(1500 * load).tolist(),
            rng.poisson(40_000 * load).tolist(),
            rng.poisson(60_000 * load * (1 + 4 * own.is_incident)).tolist(),
            us.tolist(),
            sy.tolist(),
            (100 - us - sy).tolist(),
            strict=True,
        )
        for at, row in enumerate(columns):
            time = own.midnight + dt.timedelta(seconds=(at + 1) * self.interval_s)
            text = "%2d %2d      0 %d %d %d    0    0 %5d %5d %4d %4d %2d %2d %2d  0  0" % row  # noqa: UP031
            yield f"{VMSTAT_HEAD if at and at % 20 == 0 else ''}{text} {time:%Y-%m-%d %H:%M:%S}\n"

    def _iostat(self, own: _Day) -> Iterator[str]:
        rng, load, n = own.rng, own.load, len(own.load)
        shape = (n, N_DEVICES)
        reads = rng.poisson(5 + 400 * load[:, None] + 3000 * own.is_backup[:, None], shape) / self.interval_s
        writes = rng.poisson(20 + 900 * load[:, None], shape) / self.interval_s
        by_column = dict.fromkeys(IOSTAT_COLUMNS, np.zeros(shape)) | {
            "r/s": reads,
            "rkB/s": reads * rng.gamma(30, 1, shape),
            "rrqm/s": reads * 0.02,
            "r_await": rng.gamma(9, 0.05, shape) + 2 * own.is_backup[:, None],
            "rareq-sz": rng.gamma(30, 1, shape),
            "w/s": writes,
            "wkB/s": writes * rng.gamma(20, 1, shape),
            "wrqm/s": writes * 0.3,
            "%wrqm": np.full(shape, 23.08),
            "w_await": rng.gamma(9, 0.1, shape),
            "wareq-sz": rng.gamma(20, 1, shape),
            "aqu-sz": (reads + writes) / 900,
            "%util": np.clip((reads + writes) / 9, 0, 100),
        }
        values = np.stack([by_column[column] for column in IOSTAT_COLUMNS], axis=2)
        head = f"{'Device':12}" + "".join(f"{column:>9}" for column in IOSTAT_COLUMNS) + "\n"
        for at, rows in enumerate(values):
            time = own.midnight + dt.timedelta(seconds=(at + 1) * self.interval_s)
            usr, kernel = 80 * load[at], 20 * load[at] + 30 * own.is_incident[at]
            cpu = "".join(f"{value:8.2f}" for value in (usr, 0, kernel, 0.25, 0, 99.75 - usr - kernel))
            lines = [IOSTAT_ROW % (f"nvme{device}n1", *row) for device, row in enumerate(rows.tolist())]
            clock = f"\n{time:%Y-%m-%dT%H:%M:%S}+0000\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n        "
            yield f"{clock}{cpu}\n\n{head}{''.join(lines)}\n"

    def _pidstat(self, own: _Day) -> Iterator[str]:
        rng, load, n = own.rng, own.load, len(own.load)
        shape = (n, N_PROCESSES)
        usr = 100 * load[:, None] * self._process_weights * rng.gamma(9, 1 / 9, shape)
        kernel = usr * 0.2 + rng.gamma(0.5, 0.5, shape)
        # One process is the incident's culprit.
        kernel[:, 7] += 1500 * own.is_incident * rng.gamma(50, 1 / 50, n)
        rss = 50_000 + 1000 * np.cumsum(rng.integers(-1, 2, shape), axis=0)
        reads = rng.gamma(0.4, 20, shape)
        reads[:, 3] += 90_000 * own.is_backup
        columns = np.stack(
            [
                usr,
                kernel,
                rng.gamma(0.3, 0.1, shape),
                usr + kernel,
                rng.integers(0, self.n_cpus, shape),
                rng.gamma(0.5, 30, shape),
                np.zeros(shape),
                np.full(shape, 900_000) + 1000 * np.arange(N_PROCESSES),
                np.clip(rss, 9000, None),
                np.full(shape, 0.4),
                reads,
                rng.gamma(0.6, 40, shape) * load[:, None],
                rng.poisson(0.2, shape),
            ],
            axis=2,
        )
        for at, rows in enumerate(columns):
            clock = own.clocks[at + 1]
            lines = [PIDSTAT_ROW % (clock, 900 + process, *row, f"worker{process}") for process, row in enumerate(rows.tolist())]
            yield f"{PIDSTAT_HEAD}{''.join(lines)}\n"
