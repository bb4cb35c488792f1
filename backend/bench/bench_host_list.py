"""The list of all hosts: how long GET /hosts takes for a large fleet.

    python -m bench.bench_host_list [--hosts 10000] [--streams 8] [--database embedded|timescaledb|URL]

The rows of hosts, streams and instances are made in the database; half of the streams are of an earlier day. Measured over HTTP
against a real `normstat serve`, on a connection that stays open.
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
from bench.rig import database, serving

N_TRIES = 9


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
        times = []
        for _ in range(N_TRIES):
            began = time.perf_counter()
            with client.stream("GET", "/api/v1/hosts") as answer:
                packed = b"".join(answer.iter_raw())
            times.append(time.perf_counter() - began)
        is_packed = answer.headers.get("content-encoding") == "gzip"
        n_bytes = len(gzip.decompress(packed)) if is_packed else len(packed)
    found = {"first_s": times[0], "median_s": float(np.median(times[1:])), "mb": n_bytes / 1e6, "sent_mb": len(packed) / 1e6}
    for name, value in found.items():
        print(f"{name:12} {value:10.3f}")
        record(options.database, f"list of {options.hosts} hosts: {name}", value, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
