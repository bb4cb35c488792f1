"""How fast samples come out of the database as numpy arrays, instance by instance: what a comparison reads.

    python -m bench.bench_fetch [KIND ...]        embedded, timescaledb, or a URL

An hour of 1 s samples of about 1,300 series (64 CPUs, disks, processes, vmstat) and of 10,000 series (the processes of a large
host). Columns that the tool does not print are NULL, as on real hosts. Beside it, in the same run and as often: COPY BINARY of the
same columns by this process, bytes thrown away, and array_agg of each column by the page, as it was read before; neither of these
puts anything into arrays. Medians of ROUNDS; CPU seconds are those of this process and of the database.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.comparison.read_side import read_side
from normstat.db.session import driver_of, make_engine, make_sessions, open_read_session
from normstat.profiles.sketch_reader import is_profiled
from normstat.samples.lookup import StatRef, list_host_stats, require_host
from normstat.samples.stat_tables import table_of
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

START: Final = datetime(2026, 11, 21, tzinfo=UTC)
HOUR: Final = Window(START, START + timedelta(hours=1))
N_SECONDS: Final = 3600
STEP_S: Final = 300
ROUNDS: Final = 5
CPU_KEYS: Final = (
    "usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "guest_pct", "gnice_pct", "idle_pct",
)  # fmt: skip
DISK_KEYS: Final = (
    "r_per_s", "rkb_per_s", "rrqm_per_s", "rrqm_pct", "r_await_ms", "rareq_sz_kb", "w_per_s", "wkb_per_s", "wrqm_per_s", "wrqm_pct",
    "w_await_ms", "wareq_sz_kb", "d_per_s", "dkb_per_s", "drqm_per_s", "drqm_pct", "d_await_ms", "dareq_sz_kb", "f_per_s",
    "f_await_ms", "aqu_sz", "util_pct",
)  # fmt: skip
PROCESS_KEYS: Final = (
    "usr_pct", "system_pct", "guest_pct", "wait_pct", "cpu_pct", "minflt_per_s", "majflt_per_s", "vsz_kb", "rss_kb", "mem_pct",
    "kb_rd_per_s", "kb_wr_per_s", "kb_ccwr_per_s", "iodelay_ticks", "cswch_per_s", "nvcswch_per_s",
)  # fmt: skip
MEMORY_KEYS: Final = (
    "procs_r", "procs_b", "memory_swpd", "memory_free", "memory_buff", "memory_cache", "swap_si", "swap_so", "io_bi", "io_bo",
    "system_in", "system_cs", "cpu_us", "cpu_sy", "cpu_id", "cpu_wa", "cpu_st",
)  # fmt: skip
Tables = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
# Stat -> instances and fields.
HOSTS: Final[Mapping[str, Tables]] = {
    "1,300 series": {
        "mpstat_linux": (("all", *map(str, range(64))), CPU_KEYS),
        "iostat_linux": (tuple(f"sd{letter}" for letter in "abcdefghij"), DISK_KEYS),
        "pidstat_linux": (tuple(f"{1000 + number}/java" for number in range(26)), PROCESS_KEYS),
        "vmstat_linux": (("",), MEMORY_KEYS),
    },
    "10,000 series": {"pidstat_linux": (tuple(f"{1000 + number}/java" for number in range(625)), PROCESS_KEYS)},
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the clock, and CPU seconds of this process and of the database."""

    wall_s: float
    own_s: float
    database_s: float


async def cost_of(work: Callable[[], Awaitable[object]], postmaster: int) -> Cost:
    own, theirs, began = time.process_time(), cpu_seconds(postmaster), time.perf_counter()
    await work()
    return Cost(time.perf_counter() - began, time.process_time() - own, cpu_seconds(postmaster) - theirs)


async def fill(sessions: Sessions, host: str, tables: Tables, n_seconds: int = N_SECONDS) -> None:
    """Samples of those instances and fields, second by second, with the decimals that the tools print."""
    rng = np.random.default_rng(1)
    for stat, (names, keys) in tables.items():
        decimals = {field.key: field.decimals for field in load_catalogue().stats[stat][1].fields}
        for first in range(0, n_seconds, STEP_S):
            seconds = np.arange(first, min(first + STEP_S, n_seconds))
            n = len(seconds) * len(names)
            await fill_values(
                sessions,
                host,
                stat,
                time_us=to_us(START) + np.repeat(seconds, len(names)) * 1_000_000,
                instances=names * len(seconds),
                values={key: np.round(rng.gamma(2, 10, n), decimals[key]) for key in keys},
            )


async def fetch(session: AsyncSession, host_id: int, stats: Sequence[StatRef]) -> tuple[int, int]:
    """How many series and values there are in the arrays of a comparison."""
    n_series = n_values = 0
    for stat in stats:
        fields = [field for field in stat.fields if is_profiled(field)]
        side = await read_side(session, host_id, stat, (HOUR,), fields=fields, max_rows=None)
        for key in side.values:
            # As a comparison spreads them: a series by report.
            n_series += len(side.grid([(name, key) for name in side.names]))
        n_values += side.n_rows * len(side.values)
    return n_series, n_values


async def copy(session: AsyncSession, host_id: int, tables: Tables) -> None:
    """The same columns as COPY BINARY."""
    connection = await driver_of(session)
    for stat, (_, keys) in tables.items():
        statement = sql.SQL(
            "COPY (SELECT time, instance_id, {} FROM {} WHERE host_id = {} AND time >= {} AND time < {}) TO STDOUT (FORMAT BINARY)"
        ).format(sql.SQL(", ").join(map(sql.Identifier, keys)), table_of(stat), host_id, HOUR.start, HOUR.end)
        async with connection.cursor() as cursor, cursor.copy(statement) as rows:
            async for _ in rows:
                pass


async def aggregate(session: AsyncSession, host_id: int, tables: Tables) -> None:
    """The same columns as an array each, a minute at a time."""
    connection = await driver_of(session)
    for stat, (_, keys) in tables.items():
        columns = [sql.Identifier(key) for key in ("time", "instance_id", *keys)]
        arrays = [sql.SQL("array_agg({})").format(column) for column in columns]
        statement = sql.SQL(
            "SELECT {} FROM (SELECT {} FROM {} WHERE host_id = %s AND time >= %s AND time < %s ORDER BY time) AS page"
        )
        statement_of_stat = statement.format(sql.SQL(", ").join(arrays), sql.SQL(", ").join(columns), table_of(stat))
        for minute in range(0, N_SECONDS, 60):
            start = START + timedelta(seconds=minute)
            async with connection.cursor(binary=True) as cursor:
                await cursor.execute(statement_of_stat, [host_id, start, start + timedelta(minutes=1)], prepare=False)


async def measure(url: str, kind: str) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    postmaster = postmaster_of(url)
    for host, tables in HOSTS.items():
        await fill(sessions, host, tables)
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.exec_driver_sql("VACUUM ANALYZE")
        async with open_read_session(sessions) as session:
            host_id = await require_host(session, host)
            stats = await list_host_stats(session, host_id)
            n_series, n_values = await fetch(session, host_id, stats)
            ways: dict[str, Callable[[], Awaitable[object]]] = {
                "into arrays": lambda s=session, h=host_id, t=stats: fetch(s, h, t),  # type: ignore[misc]
                "COPY BINARY": lambda s=session, h=host_id, t=tables: copy(s, h, t),  # type: ignore[misc]
                "array_agg": lambda s=session, h=host_id, t=tables: aggregate(s, h, t),  # type: ignore[misc]
            }
            costs: dict[str, list[Cost]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, work in ways.items():
                    costs[way].append(await cost_of(work, postmaster))
        for way, found in costs.items():
            walls = sorted(cost.wall_s for cost in found)
            own, theirs = (statistics.median(getattr(cost, name) for cost in found) for name in ("own_s", "database_s"))
            print(
                f"{kind:12} {host:14} {way:12} {statistics.median(walls):6.2f} s ({walls[0]:.2f} to {walls[-1]:.2f}),"
                f" CPU here {own:.2f}, database {theirs:.2f}: {n_values / 1e6:.1f} million values of {n_series} series,"
                f" {1e9 * (own + theirs) / n_values:.0f} ns each",
                flush=True,
            )
            for seconds in walls:
                record(kind, f"fetch, {n_series} series of an hour, {way}", seconds, "s")
    await engine.dispose()


def main() -> None:
    for kind in sys.argv[1:] or ("embedded", "timescaledb"):
        with database(kind) as url:
            asyncio.run(measure(url, kind.split(":")[0]))


if __name__ == "__main__":
    main()
