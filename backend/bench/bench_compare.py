"""How fast a comparison is: one hour of baseline against ten minutes of incident, 1 s samples, about 600 series, on both databases.

Run: python -m bench.bench_compare. Says what reading costs and what the arithmetic alone costs.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from normstat.baseline.compare import InstanceInput, StatInput, compare_stat
from normstat.baseline.run import ComparisonRequest, run_comparison
from normstat.stats.catalogue import load_catalogue
from normstat.store.session import make_engine, make_sessions
from normstat.window import Window, to_us
from tests.databases import DatabaseUnavailable, PlainServer, TestServer, TimescaleServer
from tests.query.filling import Sessions, fill_values

START = datetime(2026, 11, 21, tzinfo=UTC)
BASELINE_S, INCIDENT_S = 3600, 600
# Stat, instances, fields: 32 CPUs, 10 disks, 20 processes, and one row of vmstat.
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mpstat_linux": (
        ("all", *(str(number) for number in range(32))),
        ("usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "guest_pct", "gnice_pct", "idle_pct"),
    ),
    "iostat_linux": (
        tuple(f"sd{letter}" for letter in "abcdefghij"),
        ("r_per_s", "w_per_s", "rkb_per_s", "wkb_per_s", "r_await_ms", "w_await_ms", "aqu_sz", "util_pct"),
    ),
    "pidstat_linux": (
        tuple(f"{1000 + number}/java" for number in range(20)),
        ("usr_pct", "system_pct", "cpu_pct", "minflt_per_s", "rss_kb", "mem_pct", "kb_rd_per_s", "kb_wr_per_s"),
    ),
    "vmstat_linux": (
        ("",),
        (
            "procs_r",
            "procs_b",
            "memory_free",
            "memory_cache",
            "io_bi",
            "io_bo",
            "system_in",
            "system_cs",
            "cpu_us",
            "cpu_sy",
            "cpu_id",
        ),
    ),
}


async def fill_host(sessions: Sessions) -> None:
    rng = np.random.default_rng(1)
    n_seconds = BASELINE_S + INCIDENT_S
    for stat, (names, keys) in TABLES.items():
        n = n_seconds * len(names)
        decimals = {field.key: field.decimals for field in load_catalogue().stats[stat][1].fields}
        await fill_values(
            sessions,
            "bench",
            stat,
            time_us=to_us(START) + np.repeat(np.arange(n_seconds), len(names)) * 1_000_000,
            instances=names * n_seconds,
            values={key: np.round(rng.gamma(2, 10, n), decimals[key]) for key in keys},
        )


async def measure(url: str, name: str) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    await fill_host(sessions)
    middle = START + timedelta(seconds=BASELINE_S)
    request = ComparisonRequest("bench", Window(START, middle), Window(middle, middle + timedelta(seconds=INCIDENT_S)))
    for _ in range(3):
        async with sessions() as session:
            found = await run_comparison(session, request, max_rows=2_000_000)
        print(
            f"{name:12} {found.elapsed_ms:6} ms: {found.n_series} series, {found.baseline.n_samples} and {found.incident.n_samples}"
            f" samples, {found.n_findings} findings",
            flush=True,
        )
    await engine.dispose()


def measure_arithmetic() -> None:
    rng = np.random.default_rng(1)
    _, stat = load_catalogue().stats["mpstat_linux"]
    fields = [field for field in stat.fields if field.unit == "%"]
    instances = [
        InstanceInput(str(number), rng.gamma(2, 10, (BASELINE_S, len(fields))), rng.gamma(2, 10, (INCIDENT_S, len(fields))))
        for number in range(60)
    ]
    began = time.perf_counter()
    outcome = compare_stat(StatInput(stat.name, fields, instances))
    seconds = time.perf_counter() - began
    print(
        f"arithmetic alone: {1000 * seconds:.0f} ms for {outcome.n_series} series, {1e6 * seconds / outcome.n_series:.0f} us each"
    )


def main() -> None:
    measure_arithmetic()
    servers: list[TestServer] = [PlainServer(), TimescaleServer()]
    for server in servers:
        try:
            server.start()
        except DatabaseUnavailable as error:
            print(f"{server.name}: left out: {error}")
            continue
        try:
            with server.fresh_database() as url:
                asyncio.run(measure(url, server.name))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
