"""What a value takes on disk: real 1 s output of four tools (recorded.py), loaded by `normstat import` into each kind of store.

    python -m bench.bench_disk [N]      N times a quarter of an hour of one host: 16 when it is not said, 96 is a day

Plain PostgreSQL, TimescaleDB's Apache edition, and the community edition that BENCH_DSN names, before and after the job that
moves chunks into the columnstore; then everything rolled up, packed and sealed by the product's own commands. Counted are values
that are not NULL; bytes are those of table, TOAST and indexes, as the catalogue has them, with half-filled pages and all else that
a table costs (PostgreSQL extends a growing table by half a megabyte at once, which shows in small ones). Raw chunks and instances
stand apart: chunks as `normstat import` makes them, large ones in which the recording repeats itself, and as an agent does that
sends every five seconds.
"""

import asyncio
import datetime as dt
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from bench.record import record
from bench.recorded import COMMANDS, LENGTH, repeated
from normstat.db.session import make_engine
from tests.databases import CommunityServer, PlainServer, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable
from tests.ingest.sending import Agent, stream

SCHEMA: Final = "samples"
N_TIMES: Final = 16
# Midnight, and long enough ago that the policy takes all of it.
START: Final = dt.datetime.combine(dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30), dt.time(), dt.UTC)
PLAIN_SIZE: Final = "SELECT pg_table_size(%(table)s::regclass), pg_indexes_size(%(table)s::regclass)"
HYPERTABLE_SIZE: Final = """
    SELECT sum(table_bytes + coalesce(toast_bytes, 0))::int8, sum(index_bytes)::int8
    FROM hypertable_detailed_size(%(table)s::regclass)
"""
JOBS: Final = """
    SELECT job_id FROM timescaledb_information.jobs
    WHERE hypertable_schema = 'samples' AND proc_name IN ('policy_compression', 'policy_columnstore')
"""
POST_EVERY_S: Final = 5
# All that samples of past days take.
PACKED_TABLES: Final = (
    "sealed_blocks", "chunks", "packed_chunks", "rollups", "instances", "packed_instances", "packed_instance_slots",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatSize:
    """What the table of a stat takes."""

    name: str
    n_rows: int
    n_values: int
    table_bytes: int
    index_bytes: int

    @property
    def bytes_per_value(self) -> float:
        """Table and indexes."""
        return (self.table_bytes + self.index_bytes) / self.n_values


def load(url: str, n_times: int) -> int:
    """Loads the recordings with the product's own command. Units: bytes of text."""
    n_bytes = 0
    with tempfile.TemporaryDirectory(prefix="normstat-bench-") as folder:
        for tool in COMMANDS:
            text = b"".join(repeated(tool, START, n_times))
            n_bytes += len(text)
            (Path(folder) / f"{tool}.txt").write_bytes(text)
        subprocess.run(
            [sys.executable, "-m", "normstat", "import", "--host", "bench", folder],
            env=os.environ | {"NORMSTAT_DATABASE_URL": url},
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return n_bytes


def sizes(connection: psycopg.Connection, *, is_hypertable: bool) -> list[StatSize]:
    """The tables of all stats, by name."""
    fields: dict[str, list[str]] = {}
    for name, key in connection.execute(
        "SELECT t.name, f.key FROM stats AS t JOIN stat_fields AS f ON f.stat_id = t.id ORDER BY t.name, f.position"
    ):
        fields.setdefault(name, []).append(key)
    found = []
    for name, keys in fields.items():
        count = sql.SQL("SELECT count(*), sum(num_nonnulls({})) FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, keys)), sql.Identifier(SCHEMA, name)
        )
        n_rows, n_values = connection.execute(count).fetchone() or (0, 0)
        table = {"table": f'{SCHEMA}."{name}"'}
        n_table, n_index = connection.execute(HYPERTABLE_SIZE if is_hypertable else PLAIN_SIZE, table).fetchone() or (0, 0)
        if n_rows:
            found.append(StatSize(name, n_rows, int(n_values), n_table, n_index))
    return found


def run_columnstore_jobs(connection: psycopg.Connection) -> int:
    """Does at once what the policies do by and by; the number of jobs."""
    jobs = [job for (job,) in connection.execute(JOBS).fetchall()]
    for job in jobs:
        connection.execute("CALL run_job(%s)", [job])
    return len(jobs)


async def send_as_agent(url: str) -> tuple[int, int]:
    """One recording as an agent sends it, all tools in each request. Units: bytes of the chunks, and of their packs."""
    texts = {tool: b"".join(repeated(tool, START, 1)) for tool in COMMANDS}
    engine = make_engine(url, pool_size=2)
    agent = Agent(engine, "agent")
    n_posts = int(LENGTH.total_seconds()) // POST_EVERY_S
    acked = dict.fromkeys(texts, 0)
    for number in range(1, n_posts + 1):
        frames = []
        for tool, text in texts.items():
            piece = text[acked[tool] : text.rfind(b"\n", 0, len(text) * number // n_posts) + 1]
            if piece:
                frames.append(stream(piece, f"{tool}_linux", tool, offset=acked[tool], command=COMMANDS[tool]))
        acked |= await agent.send(*frames)
    await engine.dispose()
    with psycopg.connect(url, autocommit=True) as connection:
        n_bytes = size_of(connection, "chunks")
        connection.execute("UPDATE chunks SET received_at = received_at - interval '10 days'")
        run_command(url, ["pack", "--days", "1"])
        return n_bytes, size_of(connection, "packed_chunks")


def size_of(connection: psycopg.Connection[tuple[object, ...]], table: str) -> int:
    """Table, TOAST and indexes. Units: bytes."""
    row = connection.execute("SELECT pg_total_relation_size(%s::regclass)", [table]).fetchone()
    assert row is not None
    return int(str(row[0]))


def show(title: str, found: list[StatSize]) -> None:
    """Prints a line for each stat, and one for all."""
    print(f"\n{title}\n  {'stat':24} {'rows':>10} {'values':>12} {'table':>8} {'index':>8} {'bytes/value':>12}")
    for size in [*found, total_of(found)]:
        print(
            f"  {size.name:24} {size.n_rows:10} {size.n_values:12} {size.table_bytes / size.n_values:8.2f}"
            f" {size.index_bytes / size.n_values:8.2f} {size.bytes_per_value:12.2f}"
        )
        kind, _, state = title.partition(", ")
        record(kind, f"disk, {size.name}, {state}", size.bytes_per_value, "bytes/value")


def measure_packed(url: str, connection: psycopg.Connection[tuple[object, ...]], storage: str, n_values: int) -> None:
    """Rolls up, packs and seals everything with the product's own commands; prints what all of it takes, and how fast that was."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # What was imported just now counts as old.
    connection.execute("UPDATE chunks SET received_at = received_at - interval '10 days'")
    for command in (["rollup", "rebuild"], ["pack", "--days", "1"], ["seal", "--after-days", "1"]):
        run_command(url, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Space of rows that are gone stays with a table, and is used again.
    for table in PACKED_TABLES:
        connection.execute(f"VACUUM FULL {table}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\n  packed in {cpu_s:.1f} CPU s of the commands, {time.monotonic() - began:.1f} s")
    total = 0
    for table in PACKED_TABLES:
        n_bytes = size_of(connection, table)
        total += n_bytes
        print(f"  {table:24} {n_bytes / 1e6:10.1f} MB, {n_bytes / n_values:.2f} bytes for each value")
        record(storage, f"disk, {table}, packed", n_bytes / n_values, "bytes/value")
    print(f"  {'all':24} {total / 1e6:10.1f} MB, {total / n_values:.2f} bytes for each value")
    record(storage, "disk, all, packed", total / n_values, "bytes/value")


def run_command(url: str, command: list[str]) -> None:
    """Runs a command of the product on that database."""
    own = os.environ | {"NORMSTAT_DATABASE_URL": url}
    subprocess.run([sys.executable, "-m", "normstat", *command], env=own, stdout=subprocess.DEVNULL, check=True)


def total_of(found: list[StatSize]) -> StatSize:
    """All stats together."""
    return StatSize(
        "all",
        sum(size.n_rows for size in found),
        sum(size.n_values for size in found),
        sum(size.table_bytes for size in found),
        sum(size.index_bytes for size in found),
    )


def measure_store(server: TestServer, n_times: int) -> None:
    """Loads and measures one kind of store."""
    with server.fresh_database() as url:
        n_text = load(url, n_times)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            found = sizes(connection, is_hypertable=server.storage != "postgresql")
            show(f"{server.storage}, as written", found)
            n_values = total_of(found).n_values
            for name, n_bytes in (
                ("text", n_text),
                ("raw chunks", size_of(connection, "chunks")),
                ("instances", size_of(connection, "instances")),
            ):
                print(f"  {name:24} {n_bytes / 1e6:10.1f} MB, {n_bytes / n_values:.2f} bytes for each value")
                record(server.storage, f"disk, {name}", n_bytes / n_values, "bytes/value")
            if server.storage == "timescaledb-community":
                run_columnstore_jobs(connection)
                show(f"{server.storage}, in the columnstore", sizes(connection, is_hypertable=True))
            measure_packed(url, connection, server.storage, n_values)
    with server.fresh_database() as url:
        n_bytes, n_packed = asyncio.run(send_as_agent(url))
        n_recorded = n_values / n_times
        for name, size in (("raw chunks of an agent", n_bytes), ("the same, packed", n_packed)):
            print(f"  {name:24} {size / 1e6:10.1f} MB, {size / n_recorded:.2f} bytes for each value")
            record(server.storage, f"disk, {name}", size / n_recorded, "bytes/value")


def main() -> None:
    n_times = int(sys.argv[1]) if len(sys.argv) > 1 else N_TIMES
    servers: list[TestServer] = [PlainServer(), TimescaleServer()]
    if os.environ.get("BENCH_DSN"):
        servers.append(CommunityServer(os.environ["BENCH_DSN"]))
    for server in servers:
        try:
            server.start()
        except DatabaseUnavailable as error:
            print(error)
            continue
        try:
            measure_store(server, n_times)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
