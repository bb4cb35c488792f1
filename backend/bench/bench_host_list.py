"""The list of all hosts: how long GET /hosts takes for a large fleet.

    python -m bench.bench_host_list [--hosts 10000] [--streams 8] [--database embedded|timescaledb|URL]

The rows of hosts and streams are made in the database; half of the streams are of an earlier day. The list is first made in this
process: new, again, and after every host has sent. Then it is measured over HTTP against a real `normstat serve`, on a connection
that stays open: the first request, those while the list is kept, and one after it was not asked for. The CPU seconds of that server
include everything else that it does for these hosts.
"""

import argparse
import asyncio
import contextlib
import gzip
import sys
import time

import httpx
import numpy as np
import psycopg

from bench.bench_hosts import api_token
from bench.record import record
from bench.rig import Rig, cpu_seconds, database, postmaster_of, serving
from normstat.api.http.host_list_answers import WATCHED_S, HostListAnswers
from normstat.db.session import make_engine, make_sessions

N_TRIES = 8
# A list is not kept for longer, however slow it is to make here.
KEPT_S = 40.0


def fill(url: str, n_hosts: int, n_streams: int) -> None:
    """Hosts with as many streams each, and samples of half as many stats."""
    n_specs = n_streams // 2
    with psycopg.connect(url) as connection:
        connection.execute(
            f"""INSERT INTO hosts (name, os, agent_version, last_seen_at, tags)
            SELECT 'host' || to_char(n, 'FM00000'), 'Linux 6.1.0 x86_64', '0.1.0', now(), ARRAY['rack' || n % 40, 'prod']
            FROM generate_series(1, {n_hosts}) AS made(n)"""
        )
        connection.execute(
            f"""INSERT INTO streams
                (host_id, spec, key, command, created_at, last_received_at, first_sample_at, last_sample_at, stat_names)
            SELECT id, 'spec' || k % {n_specs}, 'key.' || k, 'vmstat 1', now() - interval '1 day' * (2 - k / {n_specs}),
                now() - interval '1 day' * (1 - k / {n_specs}), now() - interval '2 days', now(), ARRAY['stat' || k % {n_specs} + 1]
            FROM hosts, generate_series(0, {n_streams - 1}) AS made(k)"""
        )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def send_from_all(url: str) -> None:
    """What requests of all agents change of the list: each of its rows, and half of the streams."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE hosts SET last_seen_at = now(), clock_offset_s = random()")
        connection.execute(
            "UPDATE streams SET last_received_at = now(), last_sample_at = now() WHERE last_received_at > now() - interval '1 hour'"
        )
        connection.execute("VACUUM hosts, streams")


async def make_lists(url: str) -> dict[str, float]:
    """How long it takes to make the list, and CPU seconds of this process and of PostgreSQL; what is kept is too old each time."""
    engine = make_engine(url, pool_size=2)
    now_s, postmaster = 0.0, postmaster_of(url)
    answers = HostListAnswers(make_sessions(engine), lambda: now_s)
    found: dict[str, float] = {}
    try:
        for name in ("made", "made again", "made after all sent"):
            if name == "made after all sent":
                send_from_all(url)
            now_s += KEPT_S
            database_s, own_s, began = cpu_seconds(postmaster), time.process_time(), time.perf_counter()
            await answers.find()
            took_s, own_s = time.perf_counter() - began, time.process_time() - own_s
            database_s = cpu_seconds(postmaster) - database_s
            found |= {f"{name}: s": took_s, f"{name}: CPU s": own_s, f"{name}: CPU s of PostgreSQL": database_s}
    finally:
        await engine.dispose()
    return found


def ask(client: httpx.Client, rig: Rig) -> tuple[float, float, bytes]:
    """Wall and CPU seconds (server and PostgreSQL) of a request, and what is sent."""
    before, began = rig.usage(), time.perf_counter()
    with client.stream("GET", "/api/v1/hosts") as answer:
        packed = b"".join(answer.iter_raw())
    took_s = time.perf_counter() - began
    used = rig.usage() - before
    return took_s, used.server + used.database, packed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(database(options.database))
        fill(url, options.hosts, options.streams)
        found = asyncio.run(make_lists(url))
        rig = stack.enter_context(serving(url, 1))
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{rig.port}", timeout=120))
        client.headers["Authorization"] = f"Bearer {api_token(url)}"
        client.headers["Accept-Encoding"] = "gzip"
        first_s, first_cpu_s, packed = ask(client, rig)
        times = [ask(client, rig)[0] for _ in range(N_TRIES)]
        time.sleep(WATCHED_S + KEPT_S)
        send_from_all(url)
        after_pause_s, after_pause_cpu_s, _ = ask(client, rig)
    found |= {
        "first request: s": first_s,
        "first request: CPU s": first_cpu_s,
        "kept: s": float(np.median(times)),
        "after a pause: s": after_pause_s,
        "after a pause: CPU s": after_pause_cpu_s,
        "MB": len(gzip.decompress(packed)) / 1e6,
        "MB sent": len(packed) / 1e6,
    }
    for name, value in found.items():
        print(f"{name:40} {value:10.3f}", flush=True)
        record(options.database, f"list of {options.hosts} hosts: {name}", value, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
