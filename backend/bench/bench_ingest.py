"""How fast a request becomes committed rows: values a second, end to end, into both databases.

Generated `mpstat -P ALL 1` of 32 CPUs, in gzip requests of 4 MiB plain text as agents send them, one after another: unpacked, read,
copied and committed, with fsync on. Two sets of numbers: the whole on the wall, and the CPU seconds of this process alone.
"""

import asyncio
import gzip
import time

from normstat.db.session import make_engine
from normstat.ingest.batching import AgentIdentity, ingest_request
from normstat.ingest.protocol import Frame, FrameKind, format_frames, read_body
from tests.databases import PlainServer, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable
from tests.generated import MPSTAT_COLUMNS, mpstat_text

N_CPUS = 32
N_REPORTS = 3600
REQUEST_BYTES = 4 << 20
MIB = 1 << 20
ON_DISK = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "256MB", "max_wal_size": "2GB"}


async def send_all(url: str, text: bytes) -> tuple[float, float]:
    """Wall and CPU seconds until the whole text was acknowledged."""
    engine = make_engine(url, pool_size=2)
    acked = 0
    wall = cpu = 0.0
    while acked < len(text):
        data = text[acked : acked + REQUEST_BYTES]
        frame = Frame(FrameKind.STREAM, "mpstat_linux", "bench", acked, len(data), "mpstat -P ALL 1", data)
        body = gzip.compress(format_frames([frame]), 6)
        began, began_cpu = time.perf_counter(), time.process_time()
        (ack,) = await ingest_request(
            engine,
            agent=AgentIdentity(host_id=None, token_id=1),
            host_name="bench",
            os="Linux",
            agent_version="",
            host_time=None,
            frames=read_body(body, is_gzip=True, max_plain=64 * MIB),
        )
        wall += time.perf_counter() - began
        cpu += time.process_time() - began_cpu
        assert ack.offset > acked
        acked = ack.offset
    await engine.dispose()
    return wall, cpu


def measure(server: TestServer, text: bytes) -> None:
    n_values = N_REPORTS * (N_CPUS + 1) * len(MPSTAT_COLUMNS)
    server.start()
    try:
        with server.fresh_database() as url:
            wall, cpu = asyncio.run(send_all(url, text))
    finally:
        server.stop()
    print(
        f"{server.name:12} {n_values / wall / 1e6:6.2f} million values/s, {len(text) / wall / MIB:6.1f} MiB/s of text,"
        f" {cpu / n_values * 1e6:5.2f} CPU s per million values here ({n_values / 1e6:.2f} million values, {wall:.2f} s)"
    )


def main() -> None:
    text = mpstat_text(N_REPORTS, N_CPUS)
    for kind in (PlainServer, TimescaleServer):
        try:
            measure(kind(**ON_DISK), text)
        except DatabaseUnavailable as error:
            print(error)


if __name__ == "__main__":
    main()
