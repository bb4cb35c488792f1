"""How long the profile of a baseline takes to make and to load: a host of 1,300 series at 1 s, and one of 10,000.

    python -m bench.bench_profile [KIND ...]      embedded, timescaledb, or a URL

The last hour is stored sample by sample, those before are copies of it in the database: for making pieces one hour is like another.
A baseline of N_HOURS; then an hour more, as a rule adds it; then loading, and comparing the last ten minutes with it.
CPU seconds are those of this process and of the database; the peak is what this process held resident, beside what it held before.
"""

import asyncio
import resource
import sys
import time
from datetime import timedelta
from typing import Final

from psycopg import sql
from sqlalchemy import text

from bench.bench_fetch import HOSTS, START, Cost, cost_of, fill
from bench.record import record
from bench.rig import database, postmaster_of
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft, create_baseline, update_baseline
from normstat.comparison.fingerprint import read_fingerprint
from normstat.comparison.service import BaselineChoice, ComparisonRequest, run_whole_comparison
from normstat.db.session import driver_of, make_engine, make_sessions, open_read_session, open_write_session
from normstat.profiles.profile_job import run_profiles
from normstat.profiles.stored_profile import load_profile
from normstat.samples.lookup import require_host
from normstat.samples.stat_tables import table_of
from normstat.window import Window
from tests.databases import Sessions

N_HOURS: Final = {"1,300 series": 24, "10,000 series": 3}
ROUNDS: Final = 5
MAX_ROWS: Final = 500_000


async def repeat(sessions: Sessions, host_id: int, stat: str, n_hours: int) -> None:
    """Copies the hour of a stat to those before it."""
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        columns = await connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
            [f"samples.{stat}"],
        )
        names = [str(name) for (name,) in await columns.fetchall()]
        picked = [sql.SQL("time - hour * interval '1 hour'") if name == "time" else sql.Identifier(name) for name in names]
        statement = sql.SQL(
            "INSERT INTO {table} ({names}) SELECT {picked} FROM {table}, generate_series(1, %s) AS hour"
            " WHERE host_id = %s AND time >= %s"
        ).format(table=table_of(stat), names=sql.SQL(", ").join(map(sql.Identifier, names)), picked=sql.SQL(", ").join(picked))
        await connection.execute(statement, [n_hours - 1, host_id, START])
        await session.execute(
            text("UPDATE instances SET first_sample_at = :first WHERE host_id = :host"),
            {"first": START - timedelta(hours=n_hours - 1), "host": host_id},
        )


async def measure(url: str, kind: str) -> None:
    engine = make_engine(url, pool_size=3)
    sessions = make_sessions(engine)
    postmaster = postmaster_of(url)
    for host, tables in HOSTS.items():
        n_hours = N_HOURS[host]
        await fill(sessions, host, tables)
        async with open_read_session(sessions) as session:
            host_id = await require_host(session, host)
        for stat in tables:
            await repeat(sessions, host_id, stat, n_hours + 1)
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.exec_driver_sql("VACUUM ANALYZE")
        window = Window(START - timedelta(hours=n_hours - 1), START + timedelta(hours=1))
        async with open_write_session(sessions) as session:
            draft = BaselineDraft(f"all of {host}", "", (host,), (window,), "bench")
            baseline_id = (await create_baseline(session, draft)).id
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        made = await cost_of(lambda: run_profiles(sessions, budget_s=3600), postmaster)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tell(kind, f"{host}, {n_hours} hours made", made)
        print(f"{'':12} peak {peak / 1024:.0f} MB, {before / 1024:.0f} MB before", flush=True)
        record(kind, f"profile, {host} of {n_hours} hours", made.own_s + made.database_s, "s")
        async with open_write_session(sessions) as session:
            longer = (Window(window.start - timedelta(hours=1), window.end),)
            await update_baseline(session, baseline_id, BaselineChange("bench", windows=longer))
        tell(kind, f"{host}, an hour more", await cost_of(lambda: run_profiles(sessions, budget_s=3600), postmaster))
        for _ in range(ROUNDS):
            began = time.perf_counter()
            async with open_read_session(sessions) as session:
                found = await load_profile(session, baseline_id, None, host_id)
            loading_s = time.perf_counter() - began
        assert found is not None
        async with open_read_session(sessions) as session:
            sizes = text("SELECT sum(length(body)) FROM profile_pieces WHERE host_id = :id")
            n_bytes = (await session.execute(sizes, {"id": host_id})).scalar_one()
        print(f"{kind:12} {len(found.series)} series loaded in {loading_s:.3f} s; pieces {n_bytes / 1e6:.0f} MB", flush=True)
        record(kind, f"profile, {host}, load", loading_s, "s")
        await measure_comparison(sessions, kind, host, baseline_id)
    await engine.dispose()


async def measure_comparison(sessions: Sessions, kind: str, host: str, baseline_id: int) -> None:
    """Measure the comparison of the last minutes with the profile, and how long it takes to know that nothing changed since."""
    incident = Window(START + timedelta(minutes=50), START + timedelta(hours=1))
    request = ComparisonRequest([host], incident, BaselineChoice(baseline=baseline_id))
    comparing_s, asking_s, n_series = 0.0, 0.0, 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        async with open_read_session(sessions) as session:
            whole = await run_whole_comparison(session, request, max_rows=MAX_ROWS)
        n_series, comparing_s = whole.comparison.n_series, time.perf_counter() - began
        began = time.perf_counter()
        async with open_read_session(sessions) as session:
            await read_fingerprint(session, request)
        asking_s = time.perf_counter() - began
    print(f"{kind:12} {n_series} series compared in {comparing_s:.3f} s; nothing changed: known in {asking_s:.3f} s", flush=True)
    record(kind, f"profile, {host}, compare", comparing_s, "s")
    record(kind, f"profile, {host}, nothing changed", asking_s, "s")


def tell(kind: str, what: str, cost: Cost) -> None:
    print(f"{kind:12} {what}: {cost.wall_s:.1f} s, CPU here {cost.own_s:.1f}, database {cost.database_s:.1f}", flush=True)


def main() -> None:
    for kind in sys.argv[1:] or ("embedded", "timescaledb"):
        with database(kind) as url:
            asyncio.run(measure(url, kind.split(":")[0]))


if __name__ == "__main__":
    main()
