"""How fast samples come back: lines for a graph, coverage, CSV; one day of 1 s samples of 2 and of 64 CPUs, on both databases.

Run: python -m bench.bench_query [seconds of data, 86400]. Prints the best of three for each case; nothing is compared with a limit.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_engine, make_sessions
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.query.report_coverage import read_coverage
from normstat.query.series_points import SeriesRequest, read_series
from normstat.window import Window, to_us
from tests.databases import PlainServer, Sessions, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable
from tests.query.filling import fill_values

START = datetime(2026, 11, 21, tzinfo=UTC)
KEYS = ("usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "guest_pct", "gnice_pct", "idle_pct")
ROUNDS = 3
SLICE_S = 3600


async def fill_cpus(sessions: Sessions, host: str, n_cpus: int, n_seconds: int) -> None:
    names = tuple(str(number) for number in range(n_cpus))
    rng = np.random.default_rng(n_cpus)
    for first in range(0, n_seconds, SLICE_S):
        seconds = np.arange(first, min(first + SLICE_S, n_seconds))
        n = len(seconds) * n_cpus
        await fill_values(
            sessions,
            host,
            "mpstat_linux",
            time_us=to_us(START) + np.repeat(seconds, n_cpus) * 1_000_000,
            instances=names * len(seconds),
            values={key: np.round(rng.gamma(2, 5, n), 2) for key in KEYS},
        )


async def best_of(call: Callable[[], Awaitable[str]]) -> str:
    best, said = float("inf"), ""
    for _ in range(ROUNDS):
        began = time.perf_counter()
        said = await call()
        best = min(best, time.perf_counter() - began)
    return f"{best:7.3f} s  {said}"


async def draw(sessions: Sessions, **wish: object) -> str:
    async with sessions() as session:
        block = await read_series(session, SeriesRequest(stat="mpstat_linux", width=1200, **wish))  # type: ignore[arg-type]
    return f"{block.n_raw} samples -> {block.n_points} points, {block.resolution}"


async def cover(sessions: Sessions, host: str, window: Window) -> str:
    async with sessions() as session:
        found = await read_coverage(session, host, window, 1200)
    return f"{found.stats[0].n_samples} samples"


async def export(engine: AsyncEngine, host: str, window: Window, stat: str | None) -> str:
    began = time.perf_counter()
    n_lines = n_bytes = 0
    async for piece in await stream_csv(engine, ExportRequest(host, window, stat)):
        n_bytes += len(piece)
        n_lines += piece.count(b"\n")
    seconds = time.perf_counter() - began
    return f"{n_lines} lines, {n_lines / seconds:,.0f} lines/s, {n_bytes / seconds / 2**20:.1f} MiB/s"


async def measure(url: str, name: str, n_seconds: int) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    day = Window(START, START + timedelta(seconds=n_seconds))
    part = Window(START, START + timedelta(seconds=max(60, n_seconds // 96)))
    for n_cpus in (2, 64):
        host = f"cpus{n_cpus}"
        await fill_cpus(sessions, host, n_cpus, n_seconds)
        async with engine.connect() as connection:
            await connection.exec_driver_sql('ANALYZE samples."mpstat_linux"')
            await connection.commit()
        cases: dict[str, Callable[[], Awaitable[str]]] = {
            "series, 1 field": lambda host=host: draw(sessions, host=host, window=day, fields=KEYS[:1]),  # type: ignore[misc]
            "series, 5 fields of one CPU": lambda host=host: draw(  # type: ignore[misc]
                sessions, host=host, window=day, fields=KEYS[:5], instances=("1",)
            ),
            "series, top 8 of the CPUs": lambda host=host: draw(sessions, host=host, window=day, fields=KEYS[:1], top=8),  # type: ignore[misc]
            "series, 15 minutes": lambda host=host: draw(sessions, host=host, window=part, fields=KEYS[:1]),  # type: ignore[misc]
            "coverage": lambda host=host: cover(sessions, host, day),  # type: ignore[misc]
            "CSV wide, 15 minutes": lambda host=host: export(engine, host, part, "mpstat_linux"),  # type: ignore[misc]
        }
        if n_cpus == 2:
            cases["CSV wide"] = lambda host=host: export(engine, host, day, "mpstat_linux")  # type: ignore[misc]
            cases["CSV long"] = lambda host=host: export(engine, host, day, None)  # type: ignore[misc]
        for case, call in cases.items():
            print(f"{name:12} {n_cpus:3} CPUs  {case:28} {await best_of(call)}", flush=True)
    await engine.dispose()


def main() -> None:
    n_seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 86_400
    servers: list[TestServer] = [PlainServer(), TimescaleServer()]
    for server in servers:
        try:
            server.start()
        except DatabaseUnavailable as error:
            print(f"{server.name}: left out: {error}")
            continue
        try:
            with server.fresh_database() as url:
                asyncio.run(measure(url, server.name, n_seconds))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
