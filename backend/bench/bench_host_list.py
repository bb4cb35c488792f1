"""The list of all hosts: how long GET /hosts takes for a large fleet.

    python -m bench.bench_host_list [--hosts 10000] [--streams 8] [--database embedded|timescaledb|URL]

The rows of hosts, streams and instances are made in the database; half of the streams are of an earlier day. Measured over HTTP
against a real `normstat serve`, on a connection that stays open: the first request, those while the list is kept, and one after it
was not asked for; CPU seconds are those of server and PostgreSQL.
"""

import argparse
import contextlib
import gzip
import sys
import time

import httpx
import numpy as np
import psycopg

from bench.bench_hosts import api_token
from bench.record import record
from bench.rig import Rig, database, serving
from normstat.api.http.host_list_answers import FRESH_S, WATCHED_S

N_TRIES = 8


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
        connection.execute(
            f"INSERT INTO stats (name, spec, spec_version) SELECT 'stat' || n, 'x', 1 FROM generate_series(1, {n_specs}) AS made(n)"
        )
        connection.execute(
            """INSERT INTO instances (host_id, stat_id, name, first_sample_at, last_sample_at)
            SELECT h.id, s.id, '', now() - interval '2 days', now() FROM hosts AS h CROSS JOIN stats AS s"""
        )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


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
        rig = stack.enter_context(serving(url, 1))
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{rig.port}", timeout=120))
        client.headers["Authorization"] = f"Bearer {api_token(url)}"
        client.headers["Accept-Encoding"] = "gzip"
        first_s, first_cpu_s, packed = ask(client, rig)
        times = [ask(client, rig)[0] for _ in range(N_TRIES)]
        # The list is not kept for longer.
        time.sleep(WATCHED_S + 2 * FRESH_S)
        time.sleep(2 * WATCHED_S + 2 * FRESH_S)
        after_pause_s, after_pause_cpu_s, _ = ask(client, rig)
    found = {
        "first_s": first_s,
        "first_cpu_s": first_cpu_s,
        "median_s": float(np.median(times)),
        "after_pause_s": after_pause_s,
        "after_pause_cpu_s": after_pause_cpu_s,
        "mb": len(gzip.decompress(packed)) / 1e6,
        "sent_mb": len(packed) / 1e6,
    }
    for name, value in found.items():
        print(f"{name:12} {value:10.3f}")
        record(options.database, f"list of {options.hosts} hosts: {name}", value, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
