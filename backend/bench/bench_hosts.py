"""The start page: a synthetic fleet in a database, and how long GET /fleet takes.

    python -m bench.bench_hosts [--hosts 1000] [--interval 10] [--minutes 70] [--database embedded|timescaledb|URL]

Each host has what vmstat, iostat (3 disks), and /proc (memory, 2 interfaces) give every `interval` seconds, and half an hour as its
baseline with a stored profile. Some hosts are written through the product's own store, one of them in trouble; the others are
copies of them, profiles too, made in the database. Measured over HTTP
against a real `normstat serve`: the first requests of a fresh process until the hour is read, then those of an open page (of
new minutes, and of a kept answer), and another moment.
"""

import argparse
import asyncio
import contextlib
import gzip
import sys
import time
from collections.abc import Sequence, Set
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import orjson
import psycopg

from bench.record import record
from bench.rig import Rig, database, serving
from normstat.auth.secret_tokens import API_TOKEN_PREFIX, new_secret
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.db.session import make_engine, make_sessions, open_write_session
from normstat.profiles.profile_job import run_profiles
from normstat.window import Window, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

DISKS = ("vda", "vdb", "vdc")
INTERFACES = ("lo", "eth0")
STATS = ("vmstat_linux", "iostat_linux", "linux_net", "linux_memory")
N_TEMPLATES = 20
TROUBLE = timedelta(minutes=20)
# The samples reach into the future, so that the fleet is live while it is measured.
AHEAD = timedelta(minutes=15)


def name_of(number: int) -> str:
    return f"host{number:04}"


async def fill_host(sessions: Sessions, number: int, times: np.ndarray, end_us: int) -> None:
    """One host's hour; a troubled one has a busy disk at the end."""
    rng = np.random.default_rng(number)
    n = len(times)
    is_late = (times > end_us - TROUBLE.total_seconds() * 1e6) & (number == 0)
    busy = rng.integers(2, 30) + rng.integers(0, 8, n)
    idle = np.where(is_late, 3, 100 - busy)
    await fill_values(
        sessions, name_of(number), "vmstat_linux", time_us=times, instances=("",) * n,
        values={
            "cpu_id": idle, "cpu_sy": rng.integers(0, 6, n), "cpu_wa": rng.integers(0, 3, n), "cpu_st": np.zeros(n, np.int64),
            "procs_r": rng.integers(0, 4, n) + 20 * is_late, "memory_free": rng.integers(10**6, 2 * 10**6, n),
            "swap_si": np.zeros(n, np.int64),
        },
    )  # fmt: skip
    for stat, names, values in (
        ("iostat_linux", DISKS, ("util_pct", "w_await_ms", "r_await_ms")),
        ("linux_net", INTERFACES, ("rxkb_per_s", "txkb_per_s")),
        ("linux_memory", ("",), ("available_kb",)),
    ):
        m = n * len(names)
        late = np.repeat(is_late, len(names))
        columns = {key: np.round(rng.gamma(4, 1.5, m) + 85.0 * late * (stat == "iostat_linux"), 2) for key in values}
        if stat == "linux_memory":
            columns = {key: rng.integers(4 * 10**6, 5 * 10**6, m).astype(np.float64) for key in values}
        await fill_values(
            sessions, name_of(number), stat, time_us=np.repeat(times, len(names)), instances=tuple(names) * n, values=columns
        )


async def fill(url: str, options: argparse.Namespace, end: datetime) -> None:
    engine = make_engine(url, pool_size=4)
    sessions = make_sessions(engine)
    n = options.minutes * 60 // options.interval
    times = to_us(end) - np.arange(n, 0, -1, dtype=np.int64) * options.interval * 1_000_000
    n_templates = min(N_TEMPLATES, options.hosts)
    for number in range(n_templates):
        await fill_host(sessions, number, times, to_us(end))
    window = Window(end - timedelta(minutes=options.minutes), end - timedelta(minutes=options.minutes - 30))
    async with open_write_session(sessions) as session:
        names = tuple(name_of(number) for number in range(n_templates))
        await create_baseline(session, BaselineDraft("quiet half hour", "", names, (window,), "bench"))
    await run_profiles(sessions, budget_s=3600, now=datetime.now(UTC) + timedelta(minutes=5))
    await engine.dispose()
    with psycopg.connect(url) as connection:
        copy_hosts(connection, n_templates, options.hosts)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def copy_hosts(connection: psycopg.Connection, n_templates: int, n_hosts: int, stats: Sequence[str] = STATS) -> None:
    """Copies the templates until there are so many hosts."""
    connection.execute(f"""
        CREATE TEMP TABLE pairs AS SELECT h.id AS old_id, 'host' || to_char(made.number, 'FM0000') AS name, 0::int8 AS new_id
        FROM generate_series({n_templates}, {n_hosts - 1}) AS made(number)
        JOIN hosts AS h ON h.name = 'host' || to_char(made.number % {n_templates}, 'FM0000')""")
    connection.execute("INSERT INTO hosts (name, os) SELECT name, 'Linux' FROM pairs")
    connection.execute("UPDATE pairs SET new_id = h.id FROM hosts AS h WHERE h.name = pairs.name")
    clone(connection, "streams", {"host_id": "p.new_id"}, "p.old_id = t.host_id", skipped={"id"})
    clone(connection, "instances", {"host_id": "p.new_id"}, "p.old_id = t.host_id", skipped={"id"})
    connection.execute("""
        CREATE TEMP TABLE places AS SELECT a.id AS old_id, b.id AS new_id, b.host_id
        FROM pairs AS p JOIN instances AS a ON a.host_id = p.old_id
        JOIN instances AS b ON b.host_id = p.new_id AND b.stat_id = a.stat_id AND b.name = a.name""")
    for stat in stats:
        own = {"host_id": "p.host_id", "instance_id": "p.new_id"}
        clone(connection, f"samples.{stat}", own, "p.old_id = t.instance_id", pairs="places")
    for table in ("baseline_hosts", "profiles"):
        clone(connection, table, {"host_id": "p.new_id"}, "p.old_id = t.host_id")


def clone(
    connection: psycopg.Connection,
    table: str,
    changed: dict[str, str],
    join: str,
    *,
    pairs: str = "pairs",
    skipped: Set[str] = frozenset(),
) -> None:
    """Copies rows of a table with other values in some columns."""
    description = connection.execute(f"SELECT * FROM {table} LIMIT 0").description
    names = [column.name for column in description or () if column.name not in skipped]
    values = ", ".join(changed.get(name, f't."{name}"') for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    connection.execute(f"INSERT INTO {table} ({columns}) SELECT {values} FROM {table} AS t JOIN {pairs} AS p ON {join}")


def api_token(url: str) -> str:
    """A viewer's token."""
    secret = new_secret(API_TOKEN_PREFIX)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO users (name, role) VALUES ('bench', 'viewer')")
        connection.execute(
            "INSERT INTO api_tokens (name, role, token_hash, created_by) VALUES ('bench', 'viewer', %s, 'bench')",
            [secret.token_hash],
        )
    return secret.token


def ask(client: httpx.Client, **query: str) -> tuple[float, dict[str, object], int]:
    """Seconds, the answer, and its packed bytes."""
    began = time.perf_counter()
    with client.stream("GET", "/api/v1/fleet", params=query, headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
    seconds = time.perf_counter() - began
    assert answer.status_code == 200, packed[:300]
    is_packed = answer.headers.get("content-encoding") == "gzip"
    return seconds, orjson.loads(gzip.decompress(packed) if is_packed else packed), len(packed)


def measure(rig: Rig, client: httpx.Client, end: datetime) -> dict[str, float]:
    found: dict[str, float] = {}
    first: list[float] = []
    while True:
        seconds, body, n_bytes = ask(client)
        first.append(seconds)
        if body["n_minutes_read"] == body["n_minutes"]:
            break
    found["first_s"], found["hour_read_s"], found["n_first"] = first[0], sum(first), len(first)
    again, kept = [], []
    for _ in range(8):
        time.sleep(5)
        again.append(ask(client)[0])
        kept.append(ask(client)[0])
    found["open_page_s"], found["kept_s"] = float(np.median(again)), float(np.median(kept))
    past = (end - timedelta(minutes=7)).isoformat()
    found["past_s"] = ask(client, at=past)[0]
    found["packed_kb"] = n_bytes / 1000
    hosts = body["hosts"]
    assert isinstance(hosts, list)
    found["n_hosts"] = len(hosts)
    found["n_unusual"] = sum(host["level"] > 0 for host in hosts)
    found["n_judged"] = sum(host["verdict"] == "judged" for host in hosts)
    found["server_mb"] = rig.rss() / 1e6
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--interval", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=85)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(database(options.database))
        end = datetime.now(UTC) + AHEAD
        began = time.perf_counter()
        asyncio.run(fill(url, options, end))
        print(f"filled {options.hosts} hosts in {time.perf_counter() - began:.0f} s")
        rig = stack.enter_context(serving(url, 1))
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{rig.port}", timeout=120))
        client.headers["Authorization"] = f"Bearer {api_token(url)}"
        found = measure(rig, client, datetime.now(UTC))
    for name, value in found.items():
        print(f"{name:12} {value:10.3f}")
        record(options.database, f"fleet page, {options.hosts} hosts: {name}", value, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
