"""Rules over a fleet: what it costs to judge a host each minute.

    python -m bench.bench_watch [--hosts 60] [--minutes 26] [--rounds 4] [--database embedded|timescaledb|URL]

Each host has what vmstat, mpstat of 16 CPUs, iostat of 5 disks and pidstat print each second (some 400 values/s), and memory,
pressure and interfaces of /proc every 5 s. A first run judges all of it; the measured ones follow a minute apart, each with a
minute of new samples of every host. CPU milliseconds of this process and of the database for a host, and the hosts that a quarter
of a core judges in a minute.
"""

import argparse
import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg

from bench.bench_hosts import copy_hosts, name_of
from bench.bench_scores import cpu_s
from bench.record import record
from bench.rig import database
from normstat.db.session import make_engine, make_sessions
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Kind, Semantics
from normstat.watch.watcher import Watcher
from normstat.window import to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

N_TEMPLATES = 4
SHARE_OF_A_CORE = 0.25
# Instances and seconds between reports.
STATS = {
    "vmstat_linux": (("",), 1),
    "mpstat_linux": (("all", *(str(cpu) for cpu in range(16))), 1),
    "iostat_linux": (tuple(f"nvme{disk}n1" for disk in range(5)), 1),
    "pidstat_linux": (tuple(f"{900 + process}/worker{process}" for process in range(6)), 1),
    "linux_memory": (("",), 5),
    "linux_pressure": (("cpu", "memory", "io"), 5),
    "linux_net": (("lo", "eth0"), 5),
}


def calm_values(field: Field, rng: np.random.Generator, n: int) -> np.ndarray:
    """Values by which no rule is amber: idle CPUs, free memory, no errors, little of all else."""
    if any(word in field.key for word in ("err", "fifo", "coll", "drop", "kill")):
        return np.zeros(n)
    if "id" in field.key.split("_") or "idle" in field.key:
        return 92 + rng.integers(0, 6, n).astype(np.float64)
    if field.unit in {"KiB", "kB"}:
        return 4e6 + rng.integers(0, 1000, n).astype(np.float64)
    return rng.gamma(4, 0.5 if field.kind is Kind.PERCENT else 0.2, n)


async def fill_host(sessions: Sessions, number: int, start: datetime, seconds: int) -> None:
    """Stores one host's samples."""
    rng = np.random.default_rng(number)
    for stat, (names, interval_s) in STATS.items():
        times = to_us(start) + np.arange(0, seconds, interval_s, dtype=np.int64) * 1_000_000
        fields = [field for field in load_catalogue().stats[stat][1].fields if field.semantics is not Semantics.COUNTER]
        n = len(times) * len(names)
        values = {field.key: np.round(calm_values(field, rng, n), field.decimals) for field in fields}
        await fill_values(
            sessions, name_of(number), stat, time_us=np.repeat(times, len(names)), instances=names * len(times), values=values
        )


async def fill(url: str, options: argparse.Namespace, start: datetime) -> None:
    engine = make_engine(url, pool_size=4)
    sessions = make_sessions(engine)
    for number in range(N_TEMPLATES):
        await fill_host(sessions, number, start, options.minutes * 60)
    await engine.dispose()
    with psycopg.connect(url) as connection:
        for stat in STATS:
            spec = load_catalogue().stats[stat][0].name
            connection.execute("UPDATE streams SET stat_names = ARRAY[%s], acked_offset = 1 WHERE spec = %s", [stat, spec])
        copy_hosts(connection, N_TEMPLATES, options.hosts, tuple(STATS))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


async def measure(url: str, connection: psycopg.Connection, first: datetime, options: argparse.Namespace) -> dict[str, float]:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    watcher = Watcher(sessions, budget_s=3600)
    spent: list[tuple[float, float, float]] = []
    for minute in range(options.rounds + 1):
        with psycopg.connect(url) as other:
            # Posts came in that minute.
            other.execute("UPDATE streams SET acked_offset = acked_offset + 1")
        before, began = cpu_s(connection), time.perf_counter()
        n_judged = 0
        # A run may leave some hosts to the next one.
        while n_judged < options.hosts:
            n_judged += await watcher.run(first + timedelta(minutes=minute))
        after, wall = cpu_s(connection), time.perf_counter() - began
        if minute:
            spent.append((after[0] - before[0], after[1] - before[1], wall))
    await engine.dispose()
    row = connection.execute("SELECT count(*), (SELECT count(*) FROM episodes) FROM watched_states").fetchone()
    assert row is not None
    own, database_s, wall = (min(found) for found in zip(*spent, strict=True))
    cost_ms = 1000 * (own + database_s) / options.hosts
    return {
        "CPU ms a host, here": 1000 * own / options.hosts,
        "CPU ms a host, database": 1000 * database_s / options.hosts,
        "hosts a minute on a quarter of a core": 60_000 * SHARE_OF_A_CORE / cost_ms,
        "seconds of a round": wall,
        "states and episodes": float(sum(row)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--minutes", type=int, default=26)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(database(options.database))
        # The newest samples are of the last round.
        end = datetime.now(UTC).replace(second=0, microsecond=0)
        asyncio.run(fill(url, options, end - timedelta(minutes=options.minutes)))
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        found = asyncio.run(measure(url, connection, end - timedelta(minutes=options.rounds + 2), options))
    for name, value in found.items():
        print(f"{name:40} {value:10.2f}")
        record("watch", f"rules, {options.hosts} hosts: {name}", value, "")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
