"""What raw bytes take once they are packed, how fast they are packed, and how fast they are read back.

    python -m bench.bench_chunks [N]      N hosts (4 when it is not said) that send a quarter of an hour every five seconds

First the form alone: frames of the recorded text (recorded.py), compressed in several ways. A dictionary is trained on the first
half of a recording and used for the second; its own bytes are not counted. Then a database: bytes are those of tables, TOAST and
indexes; sums by command, which are derived, are no values here. A quarter of an hour a host, not more: a longer recording repeats
itself, and packing would find that.
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
import zstandard
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from bench.bench_disk import POST_EVERY_S, START, size_of
from bench.record import record
from bench.recorded import COMMANDS, LENGTH, recording, repeated
from normstat.codecs.pack_codec import FRAME_BYTES, pack_frame, unpack_frame
from normstat.compaction.packing_run import pack_chunks
from normstat.db.schema.models import Stream
from normstat.db.session import make_engine, make_sessions
from normstat.query.context import read_context
from normstat.samples.chunks import read_batch
from tests.databases import PlainServer, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable
from tests.ingest.sending import Agent, stream

Sessions = async_sessionmaker[AsyncSession]
N_HOSTS: Final = 4
N_READS: Final = 200
DICTIONARY_BYTES: Final = 110 << 10
# Values of a recording, as bench_disk counts them.
N_VALUES: Final = {"vmstat": 15_300, "mpstat": 27_000, "iostat": 25_200, "pidstat": 226_695}


def cut(text: bytes, n_bytes: int) -> list[bytes]:
    """The text in frames of whole lines."""
    frames, start = [], 0
    while start < len(text):
        end = len(text) if start + n_bytes >= len(text) else text.rindex(b"\n", start, start + n_bytes) + 1
        frames.append(text[start:end])
        start = end
    return frames


def with_zstd(text: bytes, level: int, n_bytes: int) -> int:
    """Bytes of frames without a dictionary."""
    return sum(len(zstandard.ZstdCompressor(level=level).compress(frame)) for frame in cut(text, n_bytes))


def with_first_frame(text: bytes, level: int, n_bytes: int) -> int:
    """Bytes of frames with the stream's first one as their dictionary."""
    first, *others = cut(text, n_bytes)
    dictionary = zstandard.ZstdCompressionDict(first, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    parameters = zstandard.ZstdCompressionParameters.from_level(level)
    compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=dictionary)
    return with_zstd(first, level, n_bytes) + sum(len(compressor.compress(frame)) for frame in others)


def with_trained(text: bytes, level: int, n_bytes: int) -> int:
    """Bytes of frames with a dictionary of the spec: twice those of the second half."""
    half = text.rindex(b"\n", 0, len(text) // 2) + 1
    samples: list[bytes | bytearray | memoryview[int]] = [*cut(text[:half], 4096)]
    dictionary = zstandard.train_dictionary(min(DICTIONARY_BYTES, half // 4), samples, level=level)
    compressor = zstandard.ZstdCompressor(level=level, dict_data=dictionary)
    return 2 * sum(len(compressor.compress(frame)) for frame in cut(text[half:], n_bytes))


def with_words(text: bytes, n_bytes: int) -> int:
    """Bytes of frames in columns of words: what is stored."""
    return sum(len(pack_frame(frame)) for frame in cut(text, n_bytes))


def measure_forms() -> None:
    """Prints bytes a value of each form, and the CPU time of it."""
    forms: list[tuple[str, Callable[[bytes], int]]] = [
        (f"zstd {level}, frames of {n >> 10} KiB", lambda text, level=level, n=n: with_zstd(text, level, n))  # type: ignore[misc]
        for level, n in ((9, FRAME_BYTES), (15, FRAME_BYTES), (19, FRAME_BYTES), (19, FRAME_BYTES // 4))
    ]
    forms += [
        ("zstd 19, 64 KiB, first frame as dictionary", lambda text: with_first_frame(text, 19, FRAME_BYTES // 4)),
        ("zstd 19, 256 KiB, first frame as dictionary", lambda text: with_first_frame(text, 19, FRAME_BYTES)),
        ("zstd 19, 64 KiB, trained dictionary", lambda text: with_trained(text, 19, FRAME_BYTES // 4)),
        ("zstd 19, 256 KiB, trained dictionary", lambda text: with_trained(text, 19, FRAME_BYTES)),
        ("words, 64 KiB", lambda text: with_words(text, FRAME_BYTES // 4)),
        ("words, 128 KiB", lambda text: with_words(text, FRAME_BYTES // 2)),
        ("words, 256 KiB", lambda text: with_words(text, FRAME_BYTES)),
        ("words, 512 KiB", lambda text: with_words(text, FRAME_BYTES * 2)),
    ]
    texts = {tool: recording(tool) for tool in COMMANDS}
    print(f"{'bytes a value':44}{''.join(f'{tool:>9}' for tool in texts)}{'all':>9}{'MB/s':>8}")
    for name, form in forms:
        began = time.process_time()
        found = {tool: form(text) for tool, text in texts.items()}
        cpu_s = time.process_time() - began
        shares = "".join(f"{n / N_VALUES[tool]:9.3f}" for tool, n in found.items())
        whole = sum(found.values()) / sum(N_VALUES.values())
        speed = sum(map(len, texts.values())) / cpu_s / 1e6
        print(f"{name:44}{shares}{whole:9.3f}{speed:8.1f}", flush=True)
        record("", f"raw text, {name}", whole, "bytes/value")
    frames = [(pack_frame(frame), len(frame)) for text in texts.values() for frame in cut(text, FRAME_BYTES)]
    began = time.process_time()
    for body, n_bytes in frames:
        unpack_frame(body, n_bytes)
    cpu_s = time.process_time() - began
    speed = sum(n for _, n in frames) / cpu_s / 1e6
    print(f"words, 256 KiB, unpacked at {speed:.1f} MB/s, {cpu_s / len(frames) * 1e3:.1f} ms a frame")


async def send(url: str, n_hosts: int) -> int:
    """The recording of each host, as an agent sends it; every value once. Units: bytes of text."""
    texts = {tool: b"".join(repeated(tool, START, 1)) for tool in COMMANDS}
    n_posts = int(LENGTH.total_seconds()) // POST_EVERY_S
    engine = make_engine(url, pool_size=2)
    for host in range(n_hosts):
        agent = Agent(engine, f"host{host}")
        acked = dict.fromkeys(texts, 0)
        for number in range(1, n_posts + 1):
            ends = {tool: text.rfind(b"\n", 0, len(text) * number // n_posts) + 1 for tool, text in texts.items()}
            frames = [
                stream(text[acked[tool] : ends[tool]], f"{tool}_linux", tool, offset=acked[tool], command=COMMANDS[tool])
                for tool, text in texts.items()
                if ends[tool] > acked[tool]
            ]
            acked |= await agent.send(*frames)
    await engine.dispose()
    return n_hosts * sum(map(len, texts.values()))


async def measure_reading(sessions: Sessions) -> tuple[list[float], float]:
    """How long the lines around a place take, in random order; and how fast all bytes are read. Units: seconds, bytes a second."""
    async with sessions() as session:
        streams = (await session.execute(select(Stream.id, Stream.acked_offset))).all()
    chance = random.Random(7)
    times = []
    for _ in range(N_READS):
        row = chance.choice(streams)
        offset = chance.randrange(row.acked_offset)
        began = time.perf_counter()
        async with sessions() as session:
            await read_context(session, row.id, offset, before=50, after=50)
        times.append(time.perf_counter() - began)
    n_bytes, began = 0, time.perf_counter()
    for row in streams:
        start = 0
        async with sessions() as session:
            while batch := await read_batch(session, row.id, start=start, most_bytes=4 << 20):
                start = batch[-1].end
                n_bytes += sum(len(chunk.data) for chunk in batch)
    return times, n_bytes / (time.perf_counter() - began)


def show_reading(kind: str, state: str, times: Sequence[float], speed: float) -> None:
    """Prints and notes it."""
    p50, p95 = (statistics.quantiles(times, n=20)[place] * 1e3 for place in (9, 18))
    print(f"  {state:10} 101 lines in {p50:.1f} ms (p95 {p95:.1f}); all bytes at {speed / 1e6:.0f} MB/s")
    record(kind, f"lines of raw text, {state}", p50, "ms")


def measure_store(server: TestServer, n_hosts: int) -> None:
    """Sends, packs and reads on one kind of store."""
    with server.fresh_database() as url, psycopg.connect(url, autocommit=True) as connection:
        n_text = asyncio.run(send(url, n_hosts))
        connection.execute("VACUUM ANALYZE")
        n_values = n_hosts * sum(N_VALUES.values())
        hot_bytes = size_of(connection, "chunks")
        print(f"\n{server.storage}: {n_hosts} hosts, {n_values} values, {n_text / 1e6:.1f} MB of text")
        asyncio.run(_pack_and_read(url, connection, server.storage))
        connection.execute("VACUUM chunks")
        packed_bytes, left_bytes = size_of(connection, "packed_chunks"), size_of(connection, "chunks")
        connection.execute("VACUUM FULL chunks")
        print(
            f"  chunks {hot_bytes / n_values:.2f} bytes a value before; packed {packed_bytes / n_values:.3f}, all in; the table of"
            f" chunks keeps {left_bytes / n_values:.2f} for those that come (VACUUM FULL: {size_of(connection, 'chunks')} bytes)"
        )
        record(server.storage, "disk, chunks as they come", hot_bytes / n_values, "bytes/value")
        record(server.storage, "disk, packed chunks", packed_bytes / n_values, "bytes/value")


async def _pack_and_read(url: str, connection: psycopg.Connection[tuple[object, ...]], kind: str) -> None:
    engine = make_engine(url, pool_size=2)
    sessions = make_sessions(engine)
    show_reading(kind, "as it came", *await measure_reading(sessions))
    began, cpu_began = time.perf_counter(), time.process_time()
    done = await pack_chunks(sessions, before=datetime.now(UTC) + timedelta(days=2), budget_s=3600)
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu_began
    print(
        f"  packed {done.n_bytes / 1e6:.1f} MB into {done.n_packed_bytes / 1e6:.2f} MB in {wall_s:.1f} s,"
        f" {cpu_s:.1f} CPU s of this process, {done.n_bytes / wall_s / 1e6:.1f} MB/s"
    )
    record(kind, "packing", done.n_bytes / wall_s / 1e6, "MB/s")
    connection.execute("VACUUM ANALYZE packed_chunks")
    show_reading(kind, "packed", *await measure_reading(sessions))
    await engine.dispose()


def main() -> None:
    n_hosts = int(sys.argv[1]) if len(sys.argv) > 1 else N_HOSTS
    measure_forms()
    for server in (PlainServer(), TimescaleServer()):
        try:
            server.start()
        except DatabaseUnavailable as error:
            print(error)
            continue
        try:
            measure_store(server, n_hosts)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
