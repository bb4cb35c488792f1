"""What a post of a small agent costs, without HTTP: CPU milliseconds of this process and of PostgreSQL, by the size of a batch.

    python -m bench.bench_posts [--hosts 200] [--rounds 6] [--batches 1,8,32] [--database embedded|timescaledb|URL]

Each host has posted twice before the measurement, so that tables, streams and instances exist. Then all hosts post in turns what
vmstat, mpstat, iostat and pidstat print in 5 s, packed; a batch is unpacked, read and committed as the server does it. CPU seconds
depend less on what else runs on the machine than times do; the lowest of the rounds depends on it least.
"""

import argparse
import asyncio
import logging
import sys
import time
from collections import Counter

import structlog

from bench.bench_fleet import N_VARIANTS, check_samples, now
from bench.fleet_text import Body, build_bodies, fleet_tools
from bench.record import record
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.db.session import make_engine
from normstat.ingest.batching import AgentIdentity, IngestRequest, ingest_batch
from normstat.ingest.protocol import read_body
from normstat.ingest.transaction import IngestCache

REPORTS = 5
MAX_PLAIN = 1 << 20


def request_of(host: int, body: Body) -> IngestRequest:
    return IngestRequest(
        AgentIdentity(host_id=None, token_id=1),
        f"posts{host:04}",
        "Linux 6.1.0 x86_64",
        "0.1.0",
        time.time(),
        read_body(body.packed, is_gzip=True, max_plain=MAX_PLAIN),
    )


async def measure(url: str, variants: list[list[Body]], options: argparse.Namespace) -> Counter[str]:
    """Print the costs by size of batch; return the samples sent."""
    engine = make_engine(url, pool_size=2)
    memory = IngestCache()
    postmaster = postmaster_of(url)
    sent: Counter[str] = Counter()

    async def post(number: int, size: int) -> tuple[float, float]:
        began, began_database = time.process_time(), cpu_seconds(postmaster)
        for first in range(0, options.hosts, size):
            hosts = range(first, min(first + size, options.hosts))
            jobs = [request_of(host, variants[host % N_VARIANTS][number]) for host in hosts]
            await ingest_batch(engine, memory, jobs)
            failed = [job.error for job in jobs if job.error is not None]
            if failed:
                raise failed[0]
        used = time.process_time() - began, cpu_seconds(postmaster) - began_database
        for host in range(options.hosts):
            sent.update(variants[host % N_VARIANTS][number].n_samples)
        return used

    for number in range(2):
        await post(number, 32)
    print(f"{options.hosts} hosts have their streams", flush=True)
    number = 2
    for size in options.sizes:
        costs = []
        for _ in range(options.rounds):
            costs.append(await post(number, size))
            number += 1
        own, theirs = (1000 / options.hosts * min(found) for found in zip(*costs, strict=True))
        print(
            f"batches of {size:3}: {own:6.3f} ms here, {theirs:6.3f} ms of PostgreSQL, {own + theirs:6.3f} ms for a post",
            flush=True,
        )
        record("posts", f"ingest, batches of {size}: CPU here", own, "ms for a post")
        record("posts", f"ingest, batches of {size}: CPU database", theirs, "ms for a post")
    await engine.dispose()
    return sent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="embedded", help="embedded, timescaledb, or the URL of an empty database")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--batches", default="1,8,32")
    options = parser.parse_args(sys.argv[1:])
    # 800 streams are no news here.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    options.sizes = [int(size) for size in options.batches.split(",")]
    n_bodies = 2 + options.rounds * len(options.sizes)
    variants = [
        list(build_bodies(fleet_tools(), start=now(), n_reports=REPORTS, n_bodies=n_bodies, seed=seed))
        for seed in range(N_VARIANTS)
    ]
    with database(options.database) as url:
        sent = asyncio.run(measure(url, variants, options))
        print(check_samples(url, sent))


if __name__ == "__main__":
    main()
