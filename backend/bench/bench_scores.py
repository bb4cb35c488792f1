"""The continuous comparison: what a minute of a large fleet costs.

    python -m bench.bench_scores [--hosts 500] [--interval 10] [--minutes 75] [--database embedded|timescaledb|URL]

Each host has about 400 series (8 CPUs, 8 disks, 4 interfaces, vmstat), half an hour of them with a stored profile as its baseline.
The first run of a process reads the last half hour; the others follow a minute apart. CPU seconds of this process and of the
database, each as a share of one CPU when a run comes each minute.
"""

import argparse
import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg

from bench.bench_hosts import copy_hosts, name_of
from bench.record import record
from bench.rig import cpu_seconds, database
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.profiles.profile_job import run_profiles
from normstat.records.score_rows import read_sending_hosts
from normstat.scheduled_tasks import SCORES_MAX_BYTES
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Kind, Semantics
from normstat.watch.fleet.minute_store import MinuteStore
from normstat.watch.scores.host_scoring import ScoreMemory
from normstat.watch.scores.score_job import ContinuousComparison
from normstat.window import Window, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

N_TEMPLATES = 5
BASELINE_MINUTES = 30
N_RUNS = 5
INSTANCES = {
    "vmstat_linux": ("",),
    "mpstat_linux": ("all", *(str(cpu) for cpu in range(8))),
    "iostat_linux": tuple(f"vd{letter}" for letter in "abcdefgh"),
    "linux_net": ("lo", "eth0", "eth1", "eth2"),
}


async def fill_host(sessions: Sessions, number: int, times: np.ndarray) -> int:
    """Stores one host's samples; returns the number of its series."""
    rng = np.random.default_rng(number)
    n_series = 0
    for stat, names in INSTANCES.items():
        fields = [field for field in load_catalogue().stats[stat][1].fields if field.semantics is not Semantics.COUNTER]
        n = len(times) * len(names)
        values = {
            field.key: np.round(rng.gamma(4, 3 if field.kind is Kind.PERCENT else 300, n), field.decimals) for field in fields
        }
        await fill_values(
            sessions, name_of(number), stat, time_us=np.repeat(times, len(names)), instances=names * len(times), values=values
        )
        n_series += len(fields) * len(names)
    return n_series


async def fill(url: str, options: argparse.Namespace, start: datetime) -> int:
    engine = make_engine(url, pool_size=4)
    sessions = make_sessions(engine)
    n = options.minutes * 60 // options.interval
    times = to_us(start) + np.arange(n, dtype=np.int64) * options.interval * 1_000_000
    n_series = 0
    for number in range(N_TEMPLATES):
        n_series = await fill_host(sessions, number, times)
    names = tuple(name_of(number) for number in range(N_TEMPLATES))
    window = Window(start, start + timedelta(minutes=BASELINE_MINUTES))
    async with open_write_session(sessions) as session:
        await create_baseline(session, BaselineDraft("quiet half hour", "", names, (window,), "bench"))
    await run_profiles(sessions, budget_s=3600, now=start + timedelta(days=1))
    await engine.dispose()
    with psycopg.connect(url) as connection:
        copy_hosts(connection, N_TEMPLATES, options.hosts, tuple(INSTANCES))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return n_series


def cpu_s(connection: psycopg.Connection) -> tuple[float, float]:
    """CPU seconds so far of this process, and of the other backends of the database, which the pool keeps."""
    pids = connection.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    database_s = sum(cpu_seconds(int(pid)) for (pid,) in pids.fetchall())
    return time.process_time(), database_s


async def measure(url: str, connection: psycopg.Connection, start: datetime, n_minutes: int) -> dict[str, float]:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    continuous = ContinuousComparison(ScoreMemory(MinuteStore(SCORES_MAX_BYTES, time.monotonic)))
    found: dict[str, float] = {}
    own: list[float] = []
    database_s: list[float] = []
    wall: list[float] = []
    for run in range(N_RUNS + 1):
        now = start + timedelta(minutes=n_minutes - N_RUNS + run, seconds=20)
        before, began = cpu_s(connection), time.perf_counter()
        n_written = await continuous.run(sessions, now=now)
        after = cpu_s(connection)
        spent = [after[0] - before[0], after[1] - before[1], time.perf_counter() - began]
        if run == 0:
            found["first_s"], found["first_cpu_s"] = spent[2], spent[0] + spent[1]
            continue
        for values, value in zip((own, database_s, wall), spent, strict=True):
            values.append(value)
        found["n_written"] = n_written
    found["run_s"] = float(np.median(wall))
    found["run_cpu_s"], found["run_database_cpu_s"] = float(np.median(own)), float(np.median(database_s))
    found["share_of_a_cpu"] = (found["run_cpu_s"] + found["run_database_cpu_s"]) / 60
    async with open_read_session(sessions) as session:
        found["n_hosts"] = len(await read_sending_hosts(session, start))
    found["memory_mb"] = continuous.memory.minutes.n_bytes / 1e6
    await engine.dispose()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--interval", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=75)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(database(options.database))
        start = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=options.minutes + 10)
        n_series = asyncio.run(fill(url, options, start))
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        found = asyncio.run(measure(url, connection, start, options.minutes)) | {"n_series": float(n_series)}
    for name, value in found.items():
        print(f"{name:22} {value:10.2f}")
    for name in ("run_s", "share_of_a_cpu"):
        record("", f"scores {options.hosts} hosts {name}", found[name], "s" if name == "run_s" else "CPUs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
