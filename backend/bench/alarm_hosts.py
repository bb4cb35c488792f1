"""Made-up hosts that live for two weeks: their load by the hour and the day, their jobs by the clock, and faults put in.

A host has four CPUs, two disks and an interface, and prints vmstat, mpstat, iostat and sar -n DEV. Its load follows the hours of
its kind, with slower and faster noise, days that differ, short bursts, a cron job each hour and a backup each night; a batch host
works at night, and once a week for an hour more. Faults come in the second week, one a day, at times that are told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from normstat.window import Window, to_us

FloatArray = npt.NDArray[np.float64]
Kind = Literal["web", "database", "batch", "idle"]
KINDS: Final[tuple[Kind, ...]] = ("web", "database", "batch", "idle")
INTERVAL_S: Final = 60
DAY_S: Final = 86400
N_CPUS: Final = 4
MEMORY_KB: Final = 16 << 20
DISKS: Final = ("sda", "sdb")
# Busy percent of all CPUs at full load, by kind; how much of the load is left at weekends.
BUSY: Final[Mapping[Kind, float]] = {"web": 55.0, "database": 40.0, "batch": 60.0, "idle": 4.0}
WEEKEND: Final[Mapping[Kind, float]] = {"web": 0.45, "database": 0.6, "batch": 0.9, "idle": 1.0}


@dataclass(slots=True)
class AlarmHost:
    """What a host did, one number for each report. Shape: (n,), cpu (n, N_CPUS), the disk's and memory's (n,)"""

    kind: Kind
    start: datetime
    rng: np.random.Generator
    second: npt.NDArray[np.int64]
    load: FloatArray
    cpu_us: FloatArray = field(default_factory=lambda: np.empty(0))
    cpu_sy: FloatArray = field(default_factory=lambda: np.empty(0))
    switches: FloatArray = field(default_factory=lambda: np.empty(0))
    reads: FloatArray = field(default_factory=lambda: np.empty(0))
    writes: FloatArray = field(default_factory=lambda: np.empty(0))
    busy: FloatArray = field(default_factory=lambda: np.empty(0))
    await_ms: FloatArray = field(default_factory=lambda: np.empty(0))
    used_kb: FloatArray = field(default_factory=lambda: np.empty(0))
    swapped: FloatArray = field(default_factory=lambda: np.empty(0))
    packets: FloatArray = field(default_factory=lambda: np.empty(0))
    dropped: FloatArray = field(default_factory=lambda: np.empty(0))
    faults: list[tuple[str, Window]] = field(default_factory=list)

    def window(self, first: int, last: int) -> Window:
        """The time of these reports."""
        return Window(*(self.start + timedelta(seconds=int(self.second[0]) + INTERVAL_S * at) for at in (first, last)))


def make_host(kind: Kind, start: datetime, n_days: int, seed: int) -> AlarmHost:
    """A host without faults."""
    rng = np.random.default_rng((KINDS.index(kind), seed))
    second = np.arange(0, n_days * DAY_S, INTERVAL_S, dtype=np.int64)
    host = AlarmHost(kind, start, rng, second, _load(kind, start, second, rng))
    _work(host)
    return host


def _load(kind: Kind, start: datetime, second: npt.NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """The load, about 0..1."""
    of_day = (to_us(start) // 1_000_000 + second) % DAY_S / 3600
    day = (second // DAY_S).astype(np.int64)
    weekday = (start.weekday() + day) % 7
    shapes: dict[Kind, FloatArray] = {
        "web": 0.12 + 0.88 * np.exp(-0.5 * ((of_day - 13.5) / 4.2) ** 2),
        "database": 0.35 + 0.65 * np.exp(-0.5 * ((of_day - 11.5) / 5.0) ** 2),
        "batch": 0.08 + 0.92 * ((of_day >= 1) & (of_day < 3.5)),
        "idle": np.full(len(second), 0.5),
    }
    whole = np.where(weekday >= 5, WEEKEND[kind], 1.0) * np.exp(rng.normal(0, 0.08, day.max() + 1))[day]
    load = shapes[kind] * whole * np.exp(_slow_noise(rng, len(second), 900, 0.12) + rng.normal(0, 0.10, len(second)))
    for at in np.flatnonzero(rng.random(len(second)) < 8 * INTERVAL_S / DAY_S):
        load[at : at + 1 + int(rng.exponential(90) // INTERVAL_S)] *= rng.uniform(1.4, 2.4)
    return np.minimum(load, 1.6)


def _slow_noise(rng: np.random.Generator, n: int, length_s: float, size: float) -> FloatArray:
    """Noise that forgets itself after `length_s`."""
    keeps = float(np.exp(-INTERVAL_S / length_s))
    steps = rng.normal(0, size * np.sqrt(1 - keeps**2), n)
    found = np.empty(n)
    last = float(rng.normal(0, size))
    for at in range(n):
        last = found[at] = keeps * last + steps[at]
    return found


def _work(host: AlarmHost) -> None:
    """What the load does to CPUs, disks, memory and network, and the jobs by the clock."""
    rng, load, n = host.rng, host.load, len(host.second)
    of_day = (to_us(host.start) // 1_000_000 + host.second) % DAY_S

    def noise(size: float, *shape: int) -> FloatArray:
        return np.asarray(np.exp(rng.normal(0, size, shape or (n,))))

    share = noise(0.25, n, N_CPUS)
    share /= share.mean(axis=1, keepdims=True)
    host.cpu_us = 0.75 * BUSY[host.kind] * load[:, None] * share
    host.cpu_sy = 0.25 * BUSY[host.kind] * load[:, None] * share * noise(0.15, n, N_CPUS)
    cron = (of_day % 3600 >= 17 * 60) & (of_day % 3600 < 17 * 60 + 40)
    host.cpu_us[cron, 0] += 30
    host.switches = (300 + 9000 * load) * noise(0.12)
    host.reads = {"web": 8.0, "database": 180.0, "batch": 120.0, "idle": 0.5}[host.kind] * load * noise(0.35)
    host.writes = {"web": 30.0, "database": 140.0, "batch": 90.0, "idle": 3.0}[host.kind] * load * noise(0.35)
    host.busy = np.clip(0.18 * (host.reads + host.writes) * noise(0.2), 0, 99)
    host.await_ms = 1.2 / (1 - np.minimum(host.busy, 90) / 100) * noise(0.2)
    host.used_kb = MEMORY_KB * np.clip(0.55 + 0.12 * load + _slow_noise(rng, n, 4 * 3600, 0.02), 0.1, 0.93)
    host.swapped = np.zeros(n)
    host.packets = {"web": 9000.0, "database": 4000.0, "batch": 600.0, "idle": 30.0}[host.kind] * load * noise(0.15)
    host.dropped = np.zeros(n)
    for day in range(int(host.second[-1] // DAY_S) + 1):
        _backup(host, day * DAY_S + 2 * 3600 + int(rng.normal(0, 90)))
        if host.kind == "batch" and (host.start + timedelta(days=day)).weekday() == 6:
            _extra_hour(host, day * DAY_S + 5 * 3600)


def _backup(host: AlarmHost, second: int) -> None:
    """A backup: half an hour of reading."""
    at = slice(*np.searchsorted(host.second, (second, second + int(host.rng.normal(1600, 120)))))
    n = at.stop - at.start
    host.reads[at] += host.rng.normal(420, 40, n)
    host.busy[at] = np.clip(host.busy[at] + host.rng.normal(62, 5, n), 0, 99)
    host.await_ms[at] *= 2
    host.cpu_sy[at] += 4
    host.packets[at] += host.rng.normal(2500, 200, n)


def _extra_hour(host: AlarmHost, second: int) -> None:
    at = slice(*np.searchsorted(host.second, (second, second + 3000)))
    host.cpu_us[at] += 45
    host.writes[at] += 150
    host.busy[at] = np.clip(host.busy[at] + 35, 0, 99)


# --- faults ---


def _cpu_hog(host: AlarmHost, at: slice) -> None:
    host.cpu_us[at, 2] = 98


def _all_cpus(host: AlarmHost, at: slice) -> None:
    host.cpu_us[at] += 60


def _slow_disk(host: AlarmHost, at: slice) -> None:
    host.await_ms[at] *= 25
    host.busy[at] = np.clip(host.rng.normal(98, 1, at.stop - at.start), 0, 100)


def _leak(host: AlarmHost, at: slice) -> None:
    n = at.stop - at.start
    host.used_kb[at] = np.maximum(host.used_kb[at], np.linspace(host.used_kb[at.start], 0.985 * MEMORY_KB, n))
    host.swapped[at.start + 3 * n // 4 : at.stop] = host.rng.uniform(300, 3000, at.stop - at.start - 3 * n // 4)


def _flood(host: AlarmHost, at: slice) -> None:
    host.packets[at] = host.packets[at] * 10 + 20000
    host.dropped[at] = host.rng.uniform(20, 80, at.stop - at.start)
    host.cpu_sy[at] += 8


def _dead(host: AlarmHost, at: slice) -> None:
    for values in (host.cpu_us, host.cpu_sy, host.switches, host.reads, host.writes, host.busy, host.packets):
        values[at] *= 0.03


def _switch_storm(host: AlarmHost, at: slice) -> None:
    host.switches[at] = host.switches[at] * 8 + 40000
    host.cpu_sy[at] += 20


# How long each lasts, in minutes.
FAULTS: Final[Mapping[str, tuple[Callable[[AlarmHost, slice], None], int]]] = {
    "one CPU taken": (_cpu_hog, 20),
    "all CPUs taken": (_all_cpus, 15),
    "slow disk": (_slow_disk, 15),
    "memory leak": (_leak, 240),
    "packet flood": (_flood, 15),
    "service dead": (_dead, 30),
    "context switches": (_switch_storm, 15),
}


def put_faults(host: AlarmHost, from_day: int) -> None:
    """One fault on each day from that one on, by day in another order for each host; away from the nightly jobs."""
    n_days = int(host.second[-1] // DAY_S) + 1 - from_day
    names = host.rng.permutation(np.array(list(FAULTS))).tolist()
    for day in range(n_days):
        name = names[day % len(names)]
        fault, minutes = FAULTS[name]
        second = (from_day + day) * DAY_S + int(host.rng.uniform(8, 19) * 3600)
        first, last = np.searchsorted(host.second, (second, second + 60 * minutes)).tolist()
        fault(host, slice(first, last))
        host.faults.append((name, host.window(first, last)))


# --- what the tools print ---


def tables(host: AlarmHost) -> dict[str, tuple[tuple[str, ...], dict[str, FloatArray]]]:
    """What the tools print: by stat the instances, and by field a column for each of them. Shape: (n, n_instances)"""
    us, sy = np.clip(host.cpu_us, 0, 100), np.clip(host.cpu_sy, 0, 60)
    over = np.maximum(us + sy - 99.5, 0)
    us = us - over
    wait = np.clip(np.minimum(host.busy / 12, 99.5 - (us + sy).max(axis=1)), 0, None)[:, None] * np.ones(N_CPUS)
    with_all = [np.column_stack((own.mean(axis=1), own)).round(2) for own in (us, sy, wait)]
    n = len(host.second)
    busy_cpus = (us + sy).sum(axis=1) / 100
    disks = np.array([1.0, 0.03])
    free = np.maximum(MEMORY_KB - host.used_kb, 60000)

    def beside(*columns: FloatArray) -> FloatArray:
        return np.column_stack(columns)

    writes = host.writes[:, None] * disks
    reads = host.reads[:, None] * disks
    return {
        "mpstat_linux": (
            ("all", *map(str, range(N_CPUS))),
            {
                "usr_pct": with_all[0],
                "sys_pct": with_all[1],
                "iowait_pct": with_all[2],
                "soft_pct": np.full((n, 5), 0.3),
                "steal_pct": np.zeros((n, 5)),
                "idle_pct": (99.7 - sum(with_all)).clip(0).round(2),
            },
        ),
        "vmstat_linux": (
            ("",),
            {
                "procs_r": beside(host.rng.poisson(busy_cpus).astype(np.float64)),
                "procs_b": beside(host.rng.poisson(host.busy / 60).astype(np.float64)),
                "memory_swpd": np.zeros((n, 1)),
                "memory_free": beside((0.25 * free).round()),
                "memory_cache": beside((0.75 * free).round()),
                "swap_si": beside((host.swapped / 2).round()),
                "swap_so": beside(host.swapped.round()),
                "io_bi": beside((host.reads * 24).round()),
                "io_bo": beside((host.writes * 16).round()),
                "system_in": beside((200 + 0.6 * host.switches).round()),
                "system_cs": beside(host.switches.round()),
                "cpu_us": beside(with_all[0][:, 0].round()),
                "cpu_sy": beside(with_all[1][:, 0].round()),
                "cpu_id": beside((100 - with_all[0][:, 0].round() - with_all[1][:, 0].round()).clip(0)),
            },
        ),
        "iostat_linux": (
            DISKS,
            {
                "r_per_s": reads.round(2),
                "w_per_s": writes.round(2),
                "rkb_per_s": (reads * 24).round(2),
                "wkb_per_s": (writes * 16).round(2),
                "r_await_ms": (host.await_ms[:, None] * (reads > 0.01)).round(2),
                "w_await_ms": (host.await_ms[:, None] * 1.3 * (writes > 0.01)).round(2),
                "aqu_sz": ((reads + writes) * host.await_ms[:, None] / 1000).round(2),
                "util_pct": (host.busy[:, None] * disks).round(2),
            },
        ),
        "linux_net": (
            ("eth0",),
            {
                "rxpck_per_s": beside(host.packets.round(2)),
                "txpck_per_s": beside((0.9 * host.packets).round(2)),
                "rxkb_per_s": beside((0.4 * host.packets).round(2)),
                "txkb_per_s": beside((0.8 * host.packets).round(2)),
                "rxerr_per_s": np.zeros((n, 1)),
                "rxdrop_per_s": beside(host.dropped.round(2)),
                "txdrop_per_s": np.zeros((n, 1)),
            },
        ),
    }
