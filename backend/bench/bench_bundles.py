"""What a bundle of a host weighs, and how long it takes to make and to open: seven streams of 1 s, an hour and a day.

    python -m bench.bench_bundles [N...]      N times a quarter of an hour: 4 and 96 when they are not said

The streams are what four tools really printed (recorded.py); three of them come twice, as of a second agent, five seconds later.
The store is plain PostgreSQL. Opened is into an empty database of the same server.
"""

import asyncio
import datetime as dt
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.record import record
from bench.recorded import COMMANDS, LENGTH, repeated
from normstat.bundles.bundle_service import BundleRequest, OpenRequest, open_bundle, stream_bundle
from normstat.db.session import make_engine
from normstat.ingest.import_rows import ImportedFile
from normstat.window import Window
from tests.databases import PlainServer
from tests.ingest.sending import Agent, stream

HOST: Final = "bundled"
START: Final = dt.datetime.combine(dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30), dt.time(), dt.UTC)
TWICE: Final = ("vmstat", "mpstat", "iostat")
MIB: Final = 1 << 20


async def fill(url: str, n_times: int) -> int:
    """Sends all streams, a quarter of an hour a request; returns the bytes of text."""
    engine = make_engine(url, pool_size=2)
    agent = Agent(engine, HOST)
    n_bytes = 0
    for tool, copy in [*((tool, 1) for tool in COMMANDS), *((tool, 2) for tool in TWICE)]:
        key, offset = f"{tool}{copy}", 0
        for part in repeated(tool, START + dt.timedelta(seconds=5 * (copy - 1)), n_times):
            acked = await agent.send(stream(part, f"{tool}_linux", key, offset=offset, command=COMMANDS[tool]))
            offset += len(part)
            assert acked[key] == offset
        n_bytes += offset
    await engine.dispose()
    return n_bytes


async def make(url: str, path: Path, window: Window) -> float:
    """Writes the bundle. Units: seconds."""
    engine = make_engine(url, pool_size=2)
    began = time.monotonic()
    with path.open("wb") as file:
        async for piece in await stream_bundle(engine, BundleRequest(HOST, window, "bench")):
            file.write(piece)
    taken = time.monotonic() - began
    await engine.dispose()
    return taken


async def open_again(url: str, path: Path) -> tuple[float, int]:
    """Loads the bundle; the seconds that it took, and how many samples are new."""
    engine = make_engine(url, pool_size=4)
    began = time.monotonic()
    told: list[ImportedFile] = []

    async def moved(_done: int, _all: int) -> None:
        return

    await open_bundle(engine, OpenRequest(path, "bench"), told=told.append, moved=moved)
    taken = time.monotonic() - began
    await engine.dispose()
    return taken, sum(each.n_samples_new for each in told)


def measure(server: PlainServer, n_times: int) -> None:
    """Makes and opens one bundle, and prints a line."""
    length = n_times * LENGTH
    window = Window(START, START + length)
    with server.fresh_database() as here, server.fresh_database() as there, tempfile.TemporaryDirectory() as folder:
        n_text = asyncio.run(fill(here, n_times))
        path = Path(folder, "b.zip")
        made_s, n_bytes = asyncio.run(make(here, path, window)), path.stat().st_size
        opened_s, n_samples = asyncio.run(open_again(there, path))
        print(
            f"{length.total_seconds() / 3600:5.1f} h: {n_text / MIB:.1f} MiB of text, {n_samples:,} samples; bundle"
            f" {n_bytes / MIB:.1f} MiB ({100 * n_bytes / n_text:.1f} %); made in {made_s:.1f} s, opened in {opened_s:.1f} s",
            flush=True,
        )
        for name, value, unit in (("size", n_bytes / MIB, "MiB"), ("made", made_s, "s"), ("opened", opened_s, "s")):
            record("postgresql", f"bundle of {n_times} quarters of an hour, {name}", value, unit)


def main() -> None:
    """Measures each length that is asked for."""
    server = PlainServer()
    server.start()
    try:
        for n_times in [int(word) for word in sys.argv[1:]] or [4, 96]:
            measure(server, n_times)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
