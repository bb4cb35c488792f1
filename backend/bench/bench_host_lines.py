"""How long one metric of many hosts takes in the server: the lines of the page Graph, its heatmap and its reductions.

    python -m bench.bench_host_lines [--hosts 50] [--interval 10] [--rounds 8] [--database embedded|timescaledb|URL]

Each host has a day and an hour of vmstat and of iostat (3 disks), a report every `interval` seconds, rolled up by the real job
but for the newest hours. Each case is a request to the real application within the process (login, route, JSON, compression,
without a network): p50 and lowest time, CPU of our process and of the database, bytes on the wire, and what answered. On a busy
machine the CPU is what counts. `sha` is that of the answer's lines: two checkouts that give the same lines print the same. A
database named by its URL that has hosts already is measured as it is.
"""

import argparse
import asyncio
import hashlib
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import numpy as np
import orjson
from sqlalchemy import text

from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.runtime.logs import configure_logging
from normstat.samples.rollups.rollup_job import roll_up
from normstat.settings import Settings
from normstat.window import to_us
from tests.api.people import People
from tests.databases import Sessions
from tests.query.filling import fill_values

END: Final = datetime(2026, 11, 21, 15, 40, tzinfo=UTC)
DISKS: Final = ("vda", "vdb", "vdc")
HOURS: Final = 25
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Case:
    """A request for all hosts."""

    name: str
    length: timedelta
    metric: str
    query: tuple[tuple[str, str], ...] = ()
    width: int = 1200


CASES: Final = (
    Case("CPU, a line a host, a day", DAY, "vmstat_linux.cpu_us"),
    Case("CPU, a line a host, an hour", timedelta(hours=1), "vmstat_linux.cpu_us"),
    Case("CPU, average of all, a day", DAY, "vmstat_linux.cpu_us", (("over", "avg"),)),
    Case("disks, each host's own, a day", DAY, "iostat_linux.util_pct"),
    Case("disks, a line each, a day", DAY, "iostat_linux.util_pct", (("across", "each"),)),
    Case("disks, p95 of all, a day", DAY, "iostat_linux.util_pct", (("over", "p95"),)),
)


def address_of(case: Case, n_hosts: int) -> str:
    """The request."""
    asked = httpx.QueryParams(
        {
            "metric": case.metric,
            "start": (END - case.length).isoformat(),
            "end": END.isoformat(),
            "width": case.width,
            **dict(case.query),
        }
    )
    for number in range(n_hosts):
        asked = asked.add("host", f"host{number:03}")
    return f"/api/v1/series/hosts?{asked}"


async def fill(sessions: Sessions, options: argparse.Namespace) -> None:
    n = HOURS * 3600 // options.interval
    for number in range(options.hosts):
        rng = np.random.default_rng(number)
        # No two hosts report at the same moment.
        times = to_us(END) - np.arange(n, 0, -1, dtype=np.int64) * options.interval * 1_000_000 + number * 1000
        await fill_values(
            sessions, f"host{number:03}", "vmstat_linux", time_us=times, instances=("",) * n,
            values={"cpu_us": rng.integers(0, 60, n), "cpu_id": rng.integers(0, 40, n)},
        )  # fmt: skip
        m = n * len(DISKS)
        await fill_values(
            sessions, f"host{number:03}", "iostat_linux", time_us=np.repeat(times, len(DISKS)), instances=DISKS * n,
            values={"util_pct": np.round(rng.gamma(4, 1.5, m), 2)},
        )  # fmt: skip
    await roll_up(sessions, now=END, budget_s=1e9)
    async with sessions() as session:
        await (await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})).execute(text("VACUUM ANALYZE"))


async def measure(options: argparse.Namespace, url: str) -> None:
    configure_logging("error")
    postmaster = postmaster_of(url)
    app = create_app(Settings(database_url=url, allowed_hosts=("*",)))
    state: AppState = app.state.normstat
    began = time.perf_counter()
    async with state.sessions() as session:
        n_there = (await session.execute(text("SELECT count(*) FROM hosts"))).scalar_one()
    if not n_there:
        await fill(state.sessions, options)
        print(f"{options.hosts} hosts filled and rolled up in {time.perf_counter() - began:.0f} s", flush=True)
    client = await People(app, state, timedelta(days=1)).enter(Role.VIEWER)
    print(f"{'':32} {'p50 ms':>8} {'least ms':>8} {'CPU ms':>8} {'of it DB':>8} {'bytes':>10}  {'lines':>5} {'samples':>10}  sha")
    for case in CASES:
        address = address_of(case, options.hosts)
        answer = await client.get(address)
        if answer.is_error:
            raise RuntimeError(answer.text)
        body = answer.json()
        ours, theirs = time.process_time(), cpu_seconds(postmaster)
        times, n_bytes = [], 0
        for _ in range(options.rounds):
            start = time.perf_counter()
            async with client.stream("GET", address) as response:
                n_bytes = len(b"".join([piece async for piece in response.aiter_raw()]))
            times.append(1000 * (time.perf_counter() - start))
        theirs = 1000 * (cpu_seconds(postmaster) - theirs) / options.rounds
        cpu = 1000 * (time.process_time() - ours) / options.rounds + theirs
        sha = hashlib.sha256(orjson.dumps([body["lines"], body["axes"], body["left_out"]])).hexdigest()[:10]
        print(
            f"{case.name:32} {np.median(times):8.0f} {min(times):8.0f} {cpu:8.0f} {theirs:8.0f} {n_bytes:10,}"
            f"  {len(body['lines']):5} {body['n_raw']:10,}  {sha}",
            flush=True,
        )
        record(options.database, f"{options.hosts} hosts, {case.name}: p50", float(np.median(times)), "ms")
        record(options.database, f"{options.hosts} hosts, {case.name}: CPU", cpu, "ms")
    await client.aclose()
    await state.engine.dispose()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--interval", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with database(options.database) as url:
        asyncio.run(measure(options, url))
    return 0


if __name__ == "__main__":
    sys.exit(main())
