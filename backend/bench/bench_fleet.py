"""A fleet of agents against a real `normstat serve` on a real PostgreSQL: how long a post takes, what it costs, that all arrives.

    python -m bench.bench_fleet [--agents 1000] [--seconds 60] [--interval 5] [--asked] [--workers N]
        [--database embedded|timescaledb|URL]
    python -m bench.bench_fleet --peak [--load mpstat64|mpstat64_solaris|mixed] [--connections 8] [--body-reports 160] [--bodies 24]
        [--victoria URL]

The fleet: every agent posts what vmstat, mpstat, iostat and pidstat printed in 5 s (some 400 values/s), on a new connection each
time, as the shell agent does; their first posts are not measured. The peak: each connection is a host that sends bodies, packed
before, as fast as they are taken; with --victoria the same samples go to a VictoriaMetrics that runs there. At the end the
samples in the database are counted: they must be those that were sent, each once.
"""

import argparse
import asyncio
import datetime as dt
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import psycopg

from bench.fleet_text import Body, build_bodies, fleet_tools, join_bodies, mpstat_tools, solaris_tools
from bench.http_load import Poster
from bench.record import record
from bench.rig import Rig, Usage, database, serving
from bench.victoria import PATHS, VictoriaBody, VictoriaServer, to_victoria
from normstat.ingest.post_intervals import CALM_S
from normstat.samples.stat_tables import table_of

N_VARIANTS = 8
# Tools, and so many reports that a body is about a MiB.
LOADS = {"mpstat64": (mpstat_tools(64), 160), "mpstat64_solaris": (solaris_tools(64), 190), "mixed": (fleet_tools(), 240)}
MIB = 1 << 20


@dataclass(slots=True)
class Tally:
    """What the generator saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    n_samples: Counter[str] = field(default_factory=Counter)
    n_values: int = 0
    n_packed: int = 0
    n_plain: int = 0
    n_late: int = 0


async def deliver(poster: Poster, body: Body, tally: Tally) -> float:
    """Sends the body until the server takes it, as an agent does, which waits between tries for as long as the server says.

    Returns the seconds that the server asks it to wait until the next post.
    """
    while True:
        answer = await poster.post(body.packed)
        tally.statuses[answer.status] += 1
        tally.seconds.append(answer.seconds)
        if answer.status == 200:
            break
        if answer.status not in {0, 429, 503}:
            raise RuntimeError(f"{poster.host}: {answer.status} {answer.body[:300]!r}")
        await asyncio.sleep(max(0.5, answer.retry_after_s))
    tally.n_samples.update(body.n_samples)
    tally.n_values += body.n_values
    tally.n_packed += len(body.packed)
    tally.n_plain += body.n_plain
    return answer.interval_s


class Rounds:
    """The posts of agents that bring the same samples: one for each interval, or joined into one for several."""

    def __init__(self, bodies: list[Body], interval_s: float, *, is_asked: bool) -> None:
        self.n_rounds = len(bodies)
        self.interval_s = interval_s
        self._bodies = bodies
        self._is_asked = is_asked
        self._joined: dict[tuple[int, int], Body] = {}

    def n_of(self, asked_s: float) -> int:
        """How many intervals the next post covers, after an answer that asked for this pause."""
        return max(1, round(asked_s / self.interval_s)) if self._is_asked else 1

    def body(self, first: int, end: int) -> Body:
        """What the intervals from `first` to before `end` bring."""
        if (first, end) not in self._joined:
            self._joined[first, end] = join_bodies(self._bodies[first:end])
        return self._joined[first, end]


async def run_agent(poster: Poster, rounds: Rounds, asked_s: float, begin: float, tally: Tally) -> None:
    """Posts as an agent that waits as long as the server asks, or that has an interval of its own."""
    first = 0
    while first < rounds.n_rounds:
        end = min(first + rounds.n_of(asked_s), rounds.n_rounds)
        pause = begin + (end - 1) * rounds.interval_s - time.perf_counter()
        if pause > 0:
            await asyncio.sleep(pause)
        else:
            tally.n_late += 1
        asked_s = await deliver(poster, rounds.body(first, end), tally)
        first = end


def fleet_host(number: int) -> str:
    return f"fleet{number:04}"


async def run_fleet(rig: Rig, variants: list[list[Body]], options: argparse.Namespace) -> tuple[Tally, list[int]]:
    token = rig.agent_token()
    tally = Tally()
    rng = random.Random(4)
    memory = [rig.rss()]
    rounds = [Rounds(bodies[1:], options.interval, is_asked=options.asked) for bodies in variants]
    # As agents that started at any time, not all together.
    n_first = rounds[0].n_of(CALM_S)
    start = time.perf_counter() + 0.5
    agents = [
        asyncio.create_task(
            run_agent(
                Poster(rig.port, token, fleet_host(number), keeps=False),
                rounds[number % len(rounds)],
                options.interval * rng.randint(1, n_first),
                start + rng.random() * options.interval,
                tally,
            )
        )
        for number in range(options.agents)
    ]

    async def watch_memory() -> None:
        while True:
            await asyncio.sleep(max(1.0, options.seconds / 20))
            memory.append(rig.rss())

    watcher = asyncio.create_task(watch_memory())
    await asyncio.gather(*agents)
    watcher.cancel()
    memory.append(rig.rss())
    return tally, memory


async def warm_up(rig: Rig, variants: list[list[Body]], n_agents: int) -> Tally:
    """The first post of each agent: what happens once in the life of a process, a host or a stream belongs to no other post."""
    token = rig.agent_token()
    tally = Tally()
    few = asyncio.Semaphore(8)

    async def send(number: int) -> None:
        async with few:
            await deliver(Poster(rig.port, token, fleet_host(number), keeps=False), variants[number % len(variants)][0], tally)

    await asyncio.gather(*(send(number) for number in range(n_agents)))
    return tally


async def run_peak(rig: Rig, variants: list[list[Body]], options: argparse.Namespace) -> Tally:
    token = rig.agent_token()
    tally = Tally()

    async def run(number: int) -> None:
        poster = Poster(rig.port, token, f"peak{number:04}", keeps=True)
        # The first body makes tables and streams; it is not part of the measure.
        for body in variants[number % len(variants)][1:]:
            await deliver(poster, body, tally)
        poster.close()

    await asyncio.gather(*(run(number) for number in range(options.connections)))
    return tally


async def send_first(rig: Rig, variants: list[list[Body]], options: argparse.Namespace) -> Tally:
    token = rig.agent_token()
    tally = Tally()
    for number in range(options.connections):
        poster = Poster(rig.port, token, f"peak{number:04}", keeps=False)
        await deliver(poster, variants[number % len(variants)][0], tally)
    return tally


def check_samples(database_url: str, sent: Counter[str]) -> str:
    """What the database has of what was sent. Raises: RuntimeError when it is not the same."""
    found: Counter[str] = Counter()
    with psycopg.connect(database_url) as connection:
        for name in sent:
            row = connection.execute(psycopg.sql.SQL("SELECT count(*) FROM {}").format(table_of(name))).fetchone()
            assert row is not None
            found[name] = row[0]
        row = connection.execute("SELECT coalesce(sum(n_rejected), 0), count(*) FROM streams").fetchone()
        assert row is not None
    if found != sent:
        raise RuntimeError(f"sent {dict(sent)}, found {dict(found)}")
    return f"{found.total():,} samples sent and found, {row[1]} streams, {row[0]} rejected lines"


def judged_hosts(database_url: str) -> str:
    """How many of the hosts rules judged in the last minute."""
    query = "SELECT count(*) FROM watched_hosts WHERE judged_at > now() - interval '60 s'"
    with psycopg.connect(database_url) as connection:
        row = connection.execute(query).fetchone()
        assert row is not None
    return f"rules judged {row[0]:,} hosts in the last minute"


def quantiles(seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    found = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return ", ".join(f"{name} {value * 1000:.0f} ms" for name, value in found.items())


def report(title: str, tally: Tally, wall: float, used: Usage) -> None:
    millions = tally.n_values / 1e6
    answers = ", ".join(f"{n} x {status or 'no answer'}" for status, n in sorted(tally.statuses.items()))
    print(f"{title}: {millions:.2f} million values in {wall:.1f} s = {millions / wall:.2f} million values/s; {answers}")
    print(f"  a post: {quantiles(tally.seconds)}; {tally.n_packed / MIB:.0f} MiB packed, {tally.n_plain / MIB:.0f} MiB plain")
    print(
        f"  CPU s: server {used.server:.1f}, database {used.database:.1f}, generator {used.generator:.1f}, all {used.total:.1f}"
        f" = {used.total / wall:.2f} cores, {(used.server + used.database) / wall:.2f} without the generator;"
        f" per million values: server {used.server / millions:.3f},"
        f" database {used.database / millions:.3f}, generator {used.generator / millions:.3f}, all {used.total / millions:.3f}",
        flush=True,
    )
    n_posts = tally.statuses[200]
    server, rules, database = (1000 * seconds / n_posts for seconds in (used.server, used.rules, used.database))
    print(f"  CPU ms of a post: server {server:.2f}, of it rules {rules:.2f}, database {database:.2f}", flush=True)
    case, _, kind = title.rpartition(", ")
    record(kind, f"ingest, {case}", millions / wall, "million values/s")
    for name, seconds in (("all", used.total), ("server", used.server), ("database", used.database)):
        record(kind, f"ingest, {case}: CPU {name}", seconds / millions, "s per million values")
    record(kind, f"ingest, {case}: p99 of a post", 1000 * statistics.quantiles(tally.seconds, n=100, method="inclusive")[98], "ms")


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC).replace(microsecond=0)


def measure_fleet(options: argparse.Namespace) -> None:
    n_bodies = 1 + max(2, round(options.seconds / options.interval))
    n_reports = round(options.interval)
    variants = [
        list(build_bodies(fleet_tools(), start=now(), n_reports=n_reports, n_bodies=n_bodies, seed=seed))
        for seed in range(N_VARIANTS)
    ]
    with database(options.database) as url, serving(url, options.workers) as rig:
        warm = asyncio.run(warm_up(rig, variants, options.agents))
        print("every agent has posted once", flush=True)
        before, began = rig.usage(), time.perf_counter()
        tally, memory = asyncio.run(run_fleet(rig, variants, options))
        wall, used = time.perf_counter() - began, rig.usage() - before
        pace = "as asked, " if options.asked else ""
        report(f"{options.agents} agents, {pace}{options.workers} workers, {options.database}", tally, wall, used)
        print(f"  {judged_hosts(url)}")
        named = {"idle": memory[0], "start": memory[1], "middle": memory[len(memory) // 2], "end": memory[-1], "most": max(memory)}
        print(f"  server RSS MiB: {', '.join(f'{name} {n / MIB:.0f}' for name, n in named.items())}; late posts {tally.n_late}")
        print(f"  {check_samples(url, tally.n_samples + warm.n_samples)}")


def measure_peak(options: argparse.Namespace) -> None:
    tools, usual_reports = LOADS[options.load]
    n_reports = options.body_reports or usual_reports
    print("packing ...", end=" ", flush=True)
    variants = [
        list(build_bodies(tools, start=now(), n_reports=n_reports, n_bodies=options.bodies + 1, seed=seed))
        for seed in range(min(2, options.connections))
    ]
    print(f"{options.bodies} bodies of {variants[0][1].n_plain / 1024:.0f} KiB, {len(variants[0][1].packed) / 1024:.0f} KiB packed")
    with database(options.database) as url, serving(url, options.workers) as rig:
        first = asyncio.run(send_first(rig, variants, options))
        before, began = rig.usage(), time.perf_counter()
        tally = asyncio.run(run_peak(rig, variants, options))
        wall, used = time.perf_counter() - began, rig.usage() - before
        title = f"peak {options.load}, {options.connections} connections, {options.workers} workers, {options.database}"
        report(title, tally, wall, used)
        print(f"  server RSS {rig.rss() / MIB:.0f} MiB; {check_samples(url, tally.n_samples + first.n_samples)}")


async def send_to_victoria(server: VictoriaServer, path: str, bodies: list[list[VictoriaBody]]) -> None:
    async def send(number: int) -> None:
        poster = Poster(server.port, "", f"peak{number:04}", keeps=True)
        for body in bodies[number]:
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: {len(body.packed)}\r\n\r\n"
            answer = await poster.post(body.packed, head.encode())
            if answer.status != 204:
                raise RuntimeError(f"{answer.status} {answer.body[:300]!r}")
        poster.close()

    await asyncio.gather(*(send(number) for number in range(len(bodies))))


def measure_victoria(options: argparse.Namespace) -> None:
    tools, usual_reports = LOADS[options.load]
    n_reports = options.body_reports or usual_reports
    server = VictoriaServer(options.victoria)
    for form, path in PATHS.items():
        print("packing ...", end=" ", flush=True)
        own = list(build_bodies(tools, start=now(), n_reports=n_reports, n_bodies=options.bodies + 1, seed=0))
        bodies = [list(to_victoria(own, f"{form}{now():%H%M%S}{number}", form)) for number in range(options.connections)]
        size = server.settle()
        # As for the other server, the first body of each is not part of the measure.
        asyncio.run(send_to_victoria(server, path, [one[:1] for one in bodies]))
        before, began = server.cpu_s(), time.perf_counter()
        asyncio.run(send_to_victoria(server, path, [one[1:] for one in bodies]))
        wall = time.perf_counter() - began
        # What it still holds in memory is written within seconds.
        time.sleep(8)
        millions = sum(body.n_values for one in bodies for body in one[1:]) / 1e6
        used = server.cpu_s() - before
        kept = (server.settle() - size) / sum(body.n_values for one in bodies for body in one)
        case = f"VictoriaMetrics, peak {options.load}, {form}, {options.connections} connections"
        print(f"{case}: {millions:.2f} million values in {wall:.1f} s = {millions / wall:.2f} million values/s;", end=" ")
        print(f"CPU s per million values {used / millions:.3f}, {kept:.2f} bytes a value", flush=True)
        record("beside", f"ingest, {case}", millions / wall, "million values/s")
        record("beside", f"ingest, {case}: CPU all", used / millions, "s per million values")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peak", action="store_true", help="as fast as possible")
    parser.add_argument("--database", default="embedded", help="embedded, timescaledb, or the URL of an empty database")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--interval", type=float, default=5)
    parser.add_argument("--asked", action="store_true", help="agents wait as long as the server asks, as by default")
    parser.add_argument("--load", choices=list(LOADS), default="mpstat64")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--body-reports", type=int, default=0, help="seconds of output in a body; 0: about a MiB")
    parser.add_argument("--bodies", type=int, default=24, help="bodies of each connection")
    parser.add_argument("--victoria", default="", help="with --peak: the URL of a VictoriaMetrics, which takes the same samples")
    options = parser.parse_args(sys.argv[1:])
    if options.victoria:
        measure_victoria(options)
    elif options.peak:
        measure_peak(options)
    else:
        measure_fleet(options)


if __name__ == "__main__":
    main()
