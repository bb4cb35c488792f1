"""How fast sealed samples come back beside the same samples as rows, in one run: an hour of 64 CPUs, on both databases.

    python -m bench.bench_sealed [HOURS]      of data, 3 when it is not said

Two hosts have the same samples; those of one are sealed. Each case is asked of both in turn. With TimescaleDB's community edition,
which BENCH_DSN names, the rows are in its columnstore. Bytes are for made-up numbers, which
are noise and pack badly: what recorded ones take, bench_disk.py says.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
from sqlalchemy import text

from bench.bench_disk import run_columnstore_jobs
from bench.bench_query import KEYS, START, draw, export, fill_cpus
from bench.record import record
from normstat.compaction.seal_job import seal_next
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.samples.lookup import find_stat, require_host
from normstat.samples.sample_pages import PageQuery, read_pages
from normstat.window import LATEST, Window, to_us
from tests.databases import CommunityServer, PlainServer, Sessions, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable

N_CPUS: Final = 64
ROUNDS: Final = 7
HOUR: Final = Window(START + timedelta(hours=1), START + timedelta(hours=2))
SIZE: Final = "SELECT sum(n_values), sum(octet_length(head) + octet_length(body)) FROM sealed_blocks"


async def collect(sessions: Sessions, host: str) -> str:
    """All fields of all CPUs of the hour, as arrays."""
    async with open_read_session(sessions) as session:
        stat = await find_stat(session, "mpstat_linux")
        assert stat is not None
        fields = [field for field in stat.fields if field.key in KEYS]
        query = PageQuery(stat.name, await require_host(session, host), HOUR, fields)
        n_values = 0
        async for page in read_pages(session, query):
            n_values += len(page) * len(fields)
    return f"{n_values:,} values of {N_CPUS * len(KEYS)} series"


async def seal(sessions: Sessions, host: str) -> None:
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, host)
    began = time.process_time()
    n_rows = 0
    while (made := await seal_next(sessions, host_id, to_us(LATEST), datetime.now(UTC))) is not None:
        n_rows += made
    seconds = time.process_time() - began
    async with sessions() as session:
        n_values, n_bytes = (await session.execute(text(SIZE))).one()
    print(f"  sealed {n_rows:,} samples: {seconds:.1f} CPU s here, {n_bytes / n_values:.2f} bytes a value", flush=True)


async def measure(url: str, name: str, n_hours: int) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    for host in ("rows", "sealed"):
        await fill_cpus(sessions, host, N_CPUS, n_hours * 3600)
    if name == CommunityServer.name:
        with psycopg.connect(url, autocommit=True) as own:
            run_columnstore_jobs(own)
    async with engine.connect() as connection:
        await connection.exec_driver_sql('ANALYZE samples."mpstat_linux"')
        await connection.commit()
    await seal(sessions, "sealed")
    eight = tuple(str(8 * number) for number in range(8))
    cases: dict[str, Callable[[str], Awaitable[str]]] = {
        "draw, 8 of 64 CPUs": lambda host: draw(sessions, host=host, window=HOUR, fields=KEYS[:1], instances=eight),
        "draw, all CPUs": lambda host: draw(sessions, host=host, window=HOUR, fields=KEYS[:1]),
        "arrays of all series": lambda host: collect(sessions, host),
        "CSV": lambda host: export(engine, host, HOUR, "mpstat_linux"),
    }
    for case, call in cases.items():
        times: dict[str, list[float]] = {"rows": [], "sealed": []}
        said = ""
        for _ in range(ROUNDS):
            for host, own in times.items():
                began = time.perf_counter()
                said = await call(host)
                own.append(time.perf_counter() - began)
        rows, sealed = (1000 * statistics.median(own) for own in times.values())
        print(f"  {name:12} {case:22} rows {rows:7.0f} ms  sealed {sealed:7.0f} ms  x{rows / sealed:.1f}  {said}", flush=True)
        record(name, f"sealed, {case}", sealed, "ms")
    await engine.dispose()


def main() -> None:
    n_hours = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    servers: list[TestServer] = [PlainServer(), TimescaleServer()]
    if os.environ.get("BENCH_DSN"):
        servers.append(CommunityServer(os.environ["BENCH_DSN"]))
    for server in servers:
        try:
            server.start()
        except DatabaseUnavailable as error:
            print(f"{server.name}: left out: {error}")
            continue
        try:
            with server.fresh_database() as url:
                asyncio.run(measure(url, server.name, n_hours))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
