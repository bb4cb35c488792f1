"""How long a graph takes in the server: a host with 64 CPUs, samples every second, for a year.

A year of such samples would be two billion rows. What is stored is less, and drawn as if it were all:
- the last RAW_HOURS hours are samples, generated and stored through COPY; of them all but the last are rolled up by the real job;
- before that, there are no samples but their rollups: minutes for MINUTE_DAYS days, hours for a year. Their bodies are packed by
  the code of the store from generated minutes of one day and hours of one block, and the same bodies stand for every day and block.
So a year reads as many rollups, as large, as there would be; what a case reads of samples lies in the hours that there are.

Run: python -m bench.bench_draw [embedded|timescaledb|URL ...]. Each case is a request to the real application within the process
(login, route, JSON, gzip, without a network), ROUNDS times; p50 and p95 in ms, CPU of our process and of the database, bytes on the
wire, and what answered. On a busy machine the CPU is what counts. Nothing is compared with a limit.
"""

import asyncio
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import numpy as np
from sqlalchemy import text

from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.codecs.rollup_codec import Buckets
from normstat.db.session import driver_of, open_write_session
from normstat.runtime.logs import configure_logging
from normstat.samples.rollups.rollup_job import DELAY, roll_up
from normstat.samples.rollups.rollup_rows import DAY_US, HOUR_US, HOURS, MINUTES, Level, Place, pack_block, write_bodies
from normstat.settings import Settings
from normstat.window import from_us, to_us
from tests.api.people import People
from tests.databases import Sessions
from tests.query.filling import fill_values

HOST: Final = "cpus64"
STAT: Final = "mpstat_linux"
KEYS: Final = ("usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "idle_pct")
CPUS: Final = tuple(str(number) for number in range(64))
# In the middle between two runs of the job that roll up an hour.
END: Final = datetime(2026, 11, 21, 15, 40, tzinfo=UTC)
RAW_HOURS: Final = 26
MINUTE_DAYS: Final = 40
ROUNDS: Final = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A graph that ends `end_before` the last sample."""

    name: str
    length: timedelta
    fields: tuple[str, ...]
    instances: tuple[str, ...] = ()
    top: int | None = None
    width: int = 1200
    end_before: timedelta = timedelta(0)

    def address(self) -> str:
        end = END - self.end_before
        asked = httpx.QueryParams(
            {"host": HOST, "stat": STAT, "start": (end - self.length).isoformat(), "end": end.isoformat(), "width": self.width}
        )
        for field in self.fields:
            asked = asked.add("field", field)
        for name in self.instances:
            asked = asked.add("instance", name)
        return f"/api/v1/series?{asked.add('instances', f'top:{self.top}') if self.top else asked}"


HOUR, DAY = timedelta(hours=1), timedelta(days=1)
EIGHT: Final = CPUS[8:16]
CASES: Final = (
    Case("5 minutes, 8 CPUs", timedelta(minutes=5), KEYS[:1], EIGHT),
    Case("an hour raw, 8 CPUs", HOUR, KEYS[:1], EIGHT),
    Case("an hour raw, 8 CPUs, yesterday", HOUR, KEYS[:1], EIGHT, end_before=timedelta(hours=20.3)),
    Case("an hour raw, 8 fields of a CPU", HOUR, KEYS, CPUS[8:9]),
    Case("6 hours, 8 CPUs", timedelta(hours=6), KEYS[:1], EIGHT),
    Case("a day, 8 CPUs", DAY, KEYS[:1], EIGHT),
    Case("7 days, 8 CPUs", 7 * DAY, KEYS[:1], EIGHT),
    Case("7 days, 8 fields of a CPU", 7 * DAY, KEYS, CPUS[8:9]),
    Case("7 days, top 8", 7 * DAY, KEYS[:1], top=8),
    Case("7 days until 3 days ago, 8 CPUs", 7 * DAY, KEYS[:1], EIGHT, end_before=3 * DAY),
    Case("30 days, 8 CPUs, 8000 px", 30 * DAY, KEYS[:1], EIGHT, width=8000),
    Case("a year, 8 CPUs", 365 * DAY, KEYS[:1], EIGHT),
    Case("a year, 8 fields of a CPU", 365 * DAY, KEYS, CPUS[8:9]),
    Case("a year, top 8", 365 * DAY, KEYS[:1], top=8),
    Case("heatmap, 64 CPUs, a day", DAY, KEYS[:1]),
    Case("heatmap, 64 CPUs, a year", 365 * DAY, KEYS[:1]),
)


async def fill_samples(sessions: Sessions) -> None:
    rng = np.random.default_rng(1)
    start_us = to_us(END) - RAW_HOURS * HOUR_US
    n = 3600 * len(CPUS)
    for hour in range(RAW_HOURS):
        await fill_values(
            sessions,
            HOST,
            STAT,
            time_us=start_us + hour * HOUR_US + np.repeat(np.arange(3600), len(CPUS)) * 1_000_000,
            instances=CPUS * 3600,
            values={key: np.round(rng.gamma(2, 5, n), 2) for key in KEYS},
        )


def generate(level: Level, block_us: int, ids: np.ndarray, seed: int) -> Buckets:
    """A block without a hole, of all instances, with as many samples as there are seconds."""
    rng = np.random.default_rng(seed)
    n_buckets = level.block_us // level.bucket_us
    n = n_buckets * len(ids)
    low, first, last = (np.round(rng.gamma(2, 5, n), 2) for _ in range(3))
    low = np.minimum(np.minimum(first, last), low)
    high = np.maximum(np.maximum(first, last), np.round(rng.gamma(9, 9, n), 2))
    n_samples = np.full(n, level.bucket_us // 1_000_000)
    return Buckets(
        np.repeat(np.sort(ids), n_buckets),
        np.tile(np.arange(n_buckets), len(ids)) + block_us // level.bucket_us,
        n_samples,
        np.round((low + high) / 2, 2) * n_samples,
        low,
        high,
        first,
        last,
    )


async def fill_rollups(sessions: Sessions) -> None:
    """The rollups before the samples: put into the blocks that the job made where these reach into them."""
    async with open_write_session(sessions) as session:
        row = (await session.execute(text("SELECT host_id, stat_id FROM instances LIMIT 1"))).one()
        ids = np.array((await session.scalars(text("SELECT id FROM instances"))).all(), dtype=np.int64)
        place = Place(int(row[0]), int(row[1]))
        await session.execute(text("UPDATE instances SET first_sample_at = :first"), {"first": END - 366 * DAY})
        connection = await driver_of(session)
        first_us = (to_us(END) - RAW_HOURS * HOUR_US) // DAY_US * DAY_US
        for seed, key in enumerate(KEYS):
            minutes = pack_block(MINUTES, 0, generate(MINUTES, 0, ids, seed), 2)
            days = range(first_us - MINUTE_DAYS * DAY_US, first_us, DAY_US)
            await write_bodies(connection, place, MINUTES, [(key, day_us, minutes) for day_us in days])
            hours = pack_block(HOURS, 0, generate(HOURS, 0, ids, seed), 2)
            last_us = HOURS.block_of(first_us)
            blocks = range(last_us - 12 * HOURS.block_us, last_us + 1, HOURS.block_us)
            await write_bodies(connection, place, HOURS, [(key, block_us, hours) for block_us in blocks])
        sizes = await session.execute(
            text("SELECT level, count(*), sum(octet_length(body)) / count(*) FROM rollups GROUP BY 1 ORDER BY 1")
        )
        print(f"{'':12} rollups (level, rows, mean bytes of a row): {[tuple(map(int, size)) for size in sizes]}")
    async with sessions() as session:
        await (await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})).execute(text("VACUUM ANALYZE"))


async def draw(client: httpx.AsyncClient, case: Case) -> tuple[list[float], int, dict[str, object]]:
    """Times in ms, bytes of the compressed body, and the body."""
    times, n_bytes, body = [], 0, {}
    for _ in range(ROUNDS):
        began = time.perf_counter()
        async with client.stream("GET", case.address()) as response:
            packed = b"".join([piece async for piece in response.aiter_raw()])
        times.append(1000 * (time.perf_counter() - began))
        n_bytes = len(packed)
    body = (await client.get(case.address())).raise_for_status().json()
    return times, n_bytes, body


async def measure(url: str, name: str) -> None:
    configure_logging("error")
    postmaster = postmaster_of(url)
    app = create_app(Settings(database_url=url, allowed_hosts=("*",)))
    state: AppState = app.state.normstat
    began = time.perf_counter()
    await fill_samples(state.sessions)
    print(f"{name:12} {RAW_HOURS} hours of samples stored in {time.perf_counter() - began:.1f} s", flush=True)
    began, cpu = time.perf_counter(), time.process_time()
    done = await roll_up(state.sessions, now=END, budget_s=1e9)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(
        f"{name:12} {done.n_hours} hours rolled up, each in {seconds / done.n_hours:.2f} s, {cpu / done.n_hours:.2f} CPU s of ours"
    )
    print(f"{name:12} until {from_us(to_us(END - DELAY) // HOUR_US * HOUR_US):%H:%M} of {END:%H:%M}")
    await fill_rollups(state.sessions)
    client = await People(app, state, timedelta(days=1)).enter(Role.VIEWER)
    columns = f"{'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8} {'of it DB':>8} {'bytes':>9}"
    print(f"{'':12} {'':34} {columns}  {'source':14} {'points':>8} {'samples':>13}")
    for case in CASES:
        await client.get(case.address())
        ours, theirs = time.process_time(), cpu_seconds(postmaster)
        times, n_bytes, body = await draw(client, case)
        theirs = 1000 * (cpu_seconds(postmaster) - theirs) / (ROUNDS + 1)
        cpu = 1000 * (time.process_time() - ours) / (ROUNDS + 1) + theirs
        p50, p95 = np.percentile(times, [50, 95])
        print(
            f"{name:12} {case.name:34} {p50:8.1f} {p95:8.1f} {cpu:8.1f} {theirs:8.1f} {n_bytes:9,}"
            f"  {body['source']:14} {body['n_points']:8,} {body['n_raw']:13,}",
            flush=True,
        )
        record(name, f"draw, {case.name}: p95", float(p95), "ms")
        record(name, f"draw, {case.name}: CPU", cpu, "ms")
    await client.aclose()
    await state.engine.dispose()


def main() -> None:
    for kind in sys.argv[1:] or ["embedded", "timescaledb"]:
        with database(kind) as url:
            asyncio.run(measure(url, kind if "://" not in kind else "named"))


if __name__ == "__main__":
    main()
