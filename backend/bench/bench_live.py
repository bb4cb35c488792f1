"""From a line that a tool prints to the page: to the event that says that there is news, and to the answer that holds the point.

    python -m bench.bench_live [--interval 1] [--interval 5] [--seconds 60] [--workers N] [--database embedded|timescaledb|URL]

A tool prints a row of vmstat each second; the real agent ships its file every `interval` seconds; a reader follows `/api/v1/live`
and at each event asks for the series of the last minute, as the page does (which waits up to 0.4 s more, for others to come along).
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bench.bench_fleet import quantiles
from bench.record import record
from bench.rig import Rig, database, serving
from normstat.auth.secret_tokens import API_TOKEN_PREFIX, new_secret
from tests.e2e.product import running_agent

HOST = "live1"
# Prints rows, and writes down when it printed each: the row's second and the time.
TOOL = """#!{python}
import sys, time
print("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----")
print(" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC", flush=True)
with open({log!r}, "a", buffering=1) as log:
    number = 0
    while True:
        time.sleep(1 - time.time() % 1)
        now = time.time()
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now))
        print(f" 1  0      0 {{number}} 2 3    0    0     1     3   29   57  0  0 99  0  0 {{clock}}", flush=True)
        log.write(f"{{int(now)}} {{now}}\\n")
        number += 1
"""


def last_time(body: dict[str, Any]) -> float:
    """Seconds since the epoch of the newest point of a series answer."""
    newest = 0.0
    for axis in body["axes"]:
        if "deltas" in axis:
            at = axis["start_ms"] + sum(axis["deltas"])
        else:
            at = axis["start_ms"] + axis["step_ms"] * (axis["n"] - 1) + sum(ms for _, ms in axis["jumps"])
        newest = max(newest, at / 1000)
    return newest


class Reader:
    """A page: it hears of news, and then asks for the series. `heard` and `seen` are (until second, at what time)."""

    def __init__(self, rig: Rig, token: str) -> None:
        self.heard: list[tuple[int, float]] = []
        self.seen: list[tuple[int, float]] = []
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{rig.port}/api/v1", headers=headers, timeout=60)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._client.stream("GET", "/live", params={"host": HOST}) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    self._take(json.loads(line.removeprefix("data:")))

    def _take(self, event: dict[str, str]) -> None:
        self.heard.append((int(datetime.fromisoformat(event["last_sample_at"]).timestamp()), time.time()))
        end = datetime.now(UTC) + timedelta(seconds=1)
        window = {"start": (end - timedelta(minutes=1)).isoformat(), "end": end.isoformat()}
        answer = self._client.get(
            "/series", params={"host": HOST, "stat": "vmstat_linux", "width": 800, "field": ["cpu_us", "memory_free"], **window}
        )
        if answer.status_code == 200:
            self.seen.append((int(last_time(answer.json())), time.time()))


def delays(printed: dict[int, float], found: list[tuple[int, float]]) -> list[float]:
    """For each row that was printed and is found, the seconds until it first was."""
    taken = []
    newest = min(printed) - 1
    for until, at in found:
        taken += [at - printed[second] for second in range(newest + 1, until + 1) if second in printed]
        newest = max(newest, until)
    return taken


def make_api_token(database_url: str) -> str:
    secret = new_secret(API_TOKEN_PREFIX)
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO users (name, role) VALUES ('bench', 'viewer') ON CONFLICT DO NOTHING")
        query = "INSERT INTO api_tokens (name, role, created_by, token_hash) VALUES ('bench', 'viewer', 'bench', %s)"
        connection.execute(query, [secret.token_hash])
    return secret.token


def measure_interval(rig: Rig, interval_s: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="normstat-bench-") as folder:
        log = Path(folder, "printed")
        tool = Path(folder, "vmstat")
        tool.write_text(TOOL.format(python=sys.executable, log=str(log)))
        tool.chmod(0o755)
        reader = Reader(rig, make_api_token(rig.database_url))
        stats = f"vmstat_linux\t{tool}\n"
        options = ("--interval", str(interval_s))
        url = f"http://127.0.0.1:{rig.port}"
        with running_agent(url, rig.agent_token(), Path(folder, "agent"), stats, host=HOST, options=options):
            # The first seconds, in which the agent looks each second, do not count.
            time.sleep(20)
            n_printed, n_heard, n_seen = len(log.read_text().splitlines()), len(reader.heard), len(reader.seen)
            time.sleep(seconds)
            rows = [line.split() for line in log.read_text().splitlines()[n_printed:]]
            printed = {int(second): float(at) for second, at in rows}
            heard, seen = delays(printed, reader.heard[n_heard:]), delays(printed, reader.seen[n_seen:])
    print(f"shipper every {interval_s} s, {len(printed)} rows printed")
    print(f"  to the event:            {quantiles(heard)}")
    print(f"  to the series' answer:   {quantiles(seen)}", flush=True)
    p95 = statistics.quantiles(seen, n=20, method="inclusive")[18]
    record("embedded", f"live, shipper every {interval_s} s: p95 to the series", p95, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--interval", type=int, action="append", help="seconds between shipments")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--database", default="embedded", help="embedded, timescaledb, or the URL of an empty database")
    options = parser.parse_args(sys.argv[1:])
    with database(options.database) as url, serving(url, options.workers) as rig:
        for interval_s in options.interval or [1, 5]:
            measure_interval(rig, interval_s, options.seconds)


if __name__ == "__main__":
    main()
