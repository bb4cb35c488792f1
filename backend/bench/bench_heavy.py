"""What a comparison of an hour with a stored profile costs: a host of 1,300 series at 1 s, and one of 10,000.

    python -m bench.bench_heavy [--kind embedded|timescaledb|URL] [--rounds 5] [--before CHECKOUT] [--hosts TEXT]

Each host has a baseline of three hours with its profile, an hour in which nothing happens, and an hour in which 2 % of the series
double, some instances come and some go. All values follow a load, more or less. The last hour is compared: reading both hours,
scoring, stories, sparklines, the JSON of the answer, and the rows of all series. Each round is a process of its own, whose peak of
resident memory (VmHWM) has Python and all modules in it. Its first comparison (`first_s`) also reads the specs; the others are the
medians of N_WARM after it, as a server has them. First the samples are rows, then sealed.

`--before` measures the code of another checkout in turns with this one, on the same database. `same ranking`: whether both give the
same significance for every series. A URL keeps its samples: a second run finds them there, sealed.
"""

import argparse
import asyncio
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
from sqlalchemy import text

from bench.bench_fetch import HOSTS, START, STEP_S, Tables
from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.comparison.saved_format import to_json
from normstat.comparison.service import BaselineChoice, ComparisonRequest, run_whole_comparison
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.errors import NotFound
from normstat.profiles.profile_job import run_profiles
from normstat.runtime.work_budget import MemoryPool, working
from normstat.samples.lookup import require_host
from normstat.settings import Settings
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values, seal_all

CHECKOUT: Final = Path(__file__).resolve().parents[2]
N_BASELINE_HOURS: Final = 3
HOUR: Final = timedelta(hours=1)
INCIDENT: Final = Window(START, START + HOUR)
BASELINE: Final = Window(START - (N_BASELINE_HOURS + 1) * HOUR, START - HOUR)
SHARE_CHANGED: Final = 0.02
N_COME_AND_GO: Final = 5
# Comparisons of a process after its first one.
N_WARM: Final = 3
FIGURES: Final = (
    ("first_s", "s"),
    ("first_own_s", "CPU s"),
    ("wall_s", "s"),
    ("own_s", "CPU s"),
    ("database_s", "CPU s"),
    ("peak_mb", "MB"),
    ("read_peak_mb", "MB"),
    ("read_s", "s"),
    ("score_s", "s"),
    ("json_s", "s"),
)


async def fill(sessions: Sessions, host: str, tables: Tables) -> None:
    """Store all hours, sample by sample."""
    rng = np.random.default_rng(2)
    span = (N_BASELINE_HOURS + 2) * 3600
    load = 1 + 0.5 * np.sin(np.arange(span) / 900) + np.cumsum(rng.normal(0, 0.01, span))
    for stat, (names, keys) in tables.items():
        decimals = {field.key: field.decimals for field in load_catalogue().stats[stat][1].fields}
        follows, size = rng.uniform(0, 1, (len(keys), len(names))), rng.choice([0.3, 3, 40], (len(keys), len(names)))
        changed = np.where(rng.uniform(0, 1, size.shape) < SHARE_CHANGED, 2, 1)
        come_and_go = names[-N_COME_AND_GO:] if len(names) > 4 * N_COME_AND_GO else ()
        for first in range(0, span, STEP_S):
            is_incident = first >= span - 3600
            own = [f"9{name}" if is_incident and name in come_and_go else name for name in names]
            seconds = np.arange(first, first + STEP_S)
            values = {}
            for number, key in enumerate(keys):
                level = size[number] * (changed[number] if is_incident else 1) * (1 + follows[number] * load[seconds][:, None])
                noise = rng.standard_gamma(2, (STEP_S, len(names)), dtype=np.float32)
                values[key] = np.round((level * noise).reshape(-1), decimals[key])
            await fill_values(
                sessions,
                host,
                stat,
                time_us=to_us(BASELINE.start) + np.repeat(seconds, len(names)) * 1_000_000,
                instances=own * STEP_S,
                values=values,
            )


async def prepare(url: str, host: str, tables: Tables) -> None:
    """Fill a host, and make the baseline with its profile, unless that was done before."""
    engine = make_engine(url, pool_size=3)
    sessions = make_sessions(engine)
    try:
        async with open_read_session(sessions) as session:
            await require_host(session, host)
    except NotFound:
        await fill(sessions, host, tables)
        async with open_write_session(sessions) as session:
            await create_baseline(session, BaselineDraft(host, "", (host,), (BASELINE,), "bench"))
        await run_profiles(sessions, budget_s=3600)
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.exec_driver_sql("VACUUM ANALYZE")
    await engine.dispose()


async def seal(url: str, host: str) -> None:
    """Seal all samples of a host."""
    engine = make_engine(url, pool_size=3)
    await seal_all(make_sessions(engine), host)
    async with engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.exec_driver_sql("VACUUM ANALYZE")
    await engine.dispose()


async def compare(url: str, host: str) -> dict[str, Any]:
    """Return what comparisons in this process cost, and what they found. The first one also reads the specs."""
    settings = Settings(database_url=url)
    engine = make_engine(url, pool_size=settings.database_pool_size)
    sessions = make_sessions(engine)
    postmaster = postmaster_of(url)
    async with open_read_session(sessions) as session:
        number = (await session.execute(text("SELECT id FROM baselines WHERE name = :name"), {"name": host})).scalar_one()
    request = ComparisonRequest([host], INCIDENT, BaselineChoice(baseline=number))
    costs: list[dict[str, float]] = []
    resting_mb = peak_mb()
    for _ in range(1 + N_WARM):
        read_at = read_mb = 0.0

        async def tell(done: int, total: int, what: str) -> None:  # noqa: ARG001 (the form of `Progress`)
            nonlocal read_at, read_mb
            if done == total - 1:
                read_at, read_mb = time.perf_counter(), peak_mb()

        own, theirs, began = time.process_time(), cpu_seconds(postmaster), time.perf_counter()
        with working(MemoryPool(settings.compare_max_bytes)):
            async with open_read_session(sessions) as session:
                whole = await run_whole_comparison(session, request, max_rows=settings.compare_max_rows, progress=tell)
            scored_at = time.perf_counter()
            body = to_json(whole.comparison)
        ended = time.perf_counter()
        costs.append(
            {
                "wall_s": ended - began,
                "own_s": time.process_time() - own,
                "database_s": cpu_seconds(postmaster) - theirs,
                "read_s": read_at - began,
                "score_s": scored_at - read_at,
                "json_s": ended - scored_at,
                "read_peak_mb": read_mb,
            }
        )
    await engine.dispose()
    rows = whole.rows[0]
    names = [
        (rows.fields[field].stat, rows.fields[field].field.key, rows.instances[instance])
        for field, instance in zip(rows.field.tolist(), rows.instance.tolist(), strict=True)
    ]
    scores = sorted(zip(names, rows.verdict.tolist(), rows.significance.tolist(), rows.change_ratio.tolist(), strict=True))
    found = json.loads(body)
    found.pop("elapsed_ms")
    return {
        **{figure: statistics.median(cost[figure] for cost in costs[1:]) for figure in costs[0]},
        "first_s": costs[0]["wall_s"],
        "first_own_s": costs[0]["own_s"],
        "read_peak_mb": costs[0]["read_peak_mb"],
        "peak_mb": peak_mb(),
        "resting_mb": resting_mb,
        "n_series": whole.comparison.n_series,
        "n_findings": whole.comparison.n_findings,
        "n_skipped": found["sides"]["incident"]["n_rows_skipped"],
        "body_mb": len(body) / 1e6,
        "scores": hashlib.sha256(repr(scores).encode()).hexdigest(),
        "answer": hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest(),
    }


def peak_mb() -> float:
    """Return the peak of this process's resident memory so far; ru_maxrss would include the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def run_child(checkout: Path, url: str, host: str) -> dict[str, Any]:
    """Return what one comparison costs in a process of its own, with the code of a checkout."""
    paths = os.pathsep.join([str(checkout / "backend"), str(CHECKOUT / "backend")])
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), "--child", url, "--hosts", host],
        env=os.environ | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(url: str, kind: str, checkouts: Mapping[str, Path], host: str, n_rounds: int) -> None:
    """Measure one host in turns, and print medians."""
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in checkouts}
    for _ in range(n_rounds):
        for name, checkout in checkouts.items():
            rounds[name].append(run_child(checkout, url, host))
    last = [found[-1] for found in rounds.values()]
    now = last[-1]
    print(
        f"{kind}, {host}: {now['n_series']:,} series, {now['n_findings']:,} findings, {now['body_mb']:.1f} MB of JSON,"
        f" {now['resting_mb']:.0f} MB at rest; rows left out: {[own['n_skipped'] for own in last]};"
        f" same ranking: {len({own['scores'] for own in last}) == 1}; same answer: {len({own['answer'] for own in last}) == 1}",
        flush=True,
    )
    for figure, unit in FIGURES:
        cells = []
        for name, found in rounds.items():
            values = [float(each[figure]) for each in found]
            for value in values:
                record(kind, f"heavy, {host}, {figure}" + (f", {name}" if name != "now" else ""), value, unit)
            cells.append(f"{name} {statistics.median(values):8.2f} ({min(values):.2f} - {max(values):.2f})")
        print(f"  {figure:12} {unit:6} " + "   ".join(cells), flush=True)


def main() -> None:
    """Measure, print and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="embedded")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--hosts", default="", help="only hosts with this in their names")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(asyncio.run(compare(options.child, options.hosts))))
        return
    checkouts = {} if options.before is None else {"before": options.before.resolve()}
    checkouts["now"] = CHECKOUT
    with database(options.kind) as url:
        for host, tables in HOSTS.items():
            if options.hosts in host:
                asyncio.run(prepare(url, host, tables))
                measure(url, "rows", checkouts, host, options.rounds)
                asyncio.run(seal(url, host))
                measure(url, "sealed", checkouts, host, options.rounds)


if __name__ == "__main__":
    main()
