"""The life of the data: how fast a backup, the next one, a restore and the deletion of a host are, and what they cost.

    python -m bench.bench_life [N] [KIND ...]      N quarters of an hour of two hosts (24); embedded, timescaledb, or a URL

Real 1 s output of four tools (recorded.py), loaded by `normstat import`. A row is a sample, values are
its fields that are not NULL. CPU seconds are those of this process and of the database, where that one runs on this machine.
"""

import asyncio
import contextlib
import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from bench.record import record
from bench.recorded import COMMANDS, LENGTH, repeated
from bench.rig import cpu_seconds, database, postmaster_of
from normstat.backup.dump import Progress, back_up
from normstat.backup.restore_tables import check_backup, restore
from normstat.db.session import make_engine, make_sessions, open_write_session
from normstat.retention import host_deletion
from normstat.retention.deletion_worker import work_off_removals

N_TIMES: Final = 24
HOSTS: Final = ("bench", "other")
START: Final = dt.datetime.combine(dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30), dt.time(), dt.UTC)
RESTORED: Final = "normstat_bench_restored"


@dataclass(frozen=True, slots=True)
class Figure:
    """What one step took."""

    step: str
    n_rows: int
    n_bytes: int
    wall_s: float
    own_cpu_s: float
    database_cpu_s: float


class Clock:
    """Times steps on one database server."""

    def __init__(self, url: str) -> None:
        self._postmaster: int | None = None
        with contextlib.suppress(OSError, IndexError, ValueError, psycopg.Error):
            self._postmaster = postmaster_of(url)
        self.figures: list[Figure] = []

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[dict[str, int]]:
        """Times the block, which may say how many rows and bytes it had."""
        counts = {"n_rows": 0, "n_bytes": 0}
        before = time.perf_counter(), time.process_time(), self._cpu()
        yield counts
        after = time.perf_counter(), time.process_time(), self._cpu()
        wall, own, base = (b - a for a, b in zip(before, after, strict=True))
        self.figures.append(Figure(name, counts["n_rows"], counts["n_bytes"], wall, own, base))
        show(self.figures[-1])

    def _cpu(self) -> float:
        return 0.0 if self._postmaster is None else cpu_seconds(self._postmaster)


def show(figure: Figure) -> None:
    record("", f"life, {figure.step}: CPU", figure.own_cpu_s + figure.database_cpu_s, "s")
    rate = f"{figure.n_rows / figure.wall_s / 1e6:6.2f} M rows/s" if figure.n_rows else " " * 15
    print(
        f"  {figure.step:28} {figure.wall_s:7.2f} s {rate} {figure.n_bytes / 1e6:8.1f} MB"
        f"   CPU {figure.own_cpu_s:6.2f} s here, {figure.database_cpu_s:6.2f} s database",
        flush=True,
    )


def load(url: str, host: str, n_times: int, start: dt.datetime) -> None:
    with tempfile.TemporaryDirectory(prefix="normstat-bench-") as folder:
        for tool in COMMANDS:
            (Path(folder) / f"{tool}.txt").write_bytes(b"".join(repeated(tool, start, n_times)))
        subprocess.run(
            [sys.executable, "-m", "normstat", "import", "--host", host, folder],
            env=os.environ | {"NORMSTAT_DATABASE_URL": url},
            stdout=subprocess.DEVNULL,
            check=True,
        )


def n_samples(url: str) -> tuple[int, int]:
    """Rows and values of all stats."""
    rows = values = 0
    with psycopg.connect(url) as connection:
        for name, keys in connection.execute(
            "SELECT t.name, array_agg(f.key) FROM stats AS t JOIN stat_fields AS f ON f.stat_id = t.id GROUP BY 1"
        ).fetchall():
            count = sql.SQL("SELECT count(*), coalesce(sum(num_nonnulls({})), 0) FROM {}").format(
                sql.SQL(", ").join(map(sql.Identifier, keys)), sql.Identifier("samples", name)
            )
            found = connection.execute(count).fetchone() or (0, 0)
            rows, values = rows + int(found[0]), values + int(found[1])
    return rows, values


@contextlib.contextmanager
def empty_database(url: str) -> Iterator[str]:
    """Another database of the same server."""
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(RESTORED))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(RESTORED)))
        try:
            yield urlsplit(url)._replace(path=f"/{RESTORED}").geturl()
        finally:
            connection.execute(drop)


def save(clock: Clock, name: str, url: str, folder: Path) -> None:
    seen = [Progress()]

    def watch(progress: Progress) -> None:
        seen[0] = progress

    with clock.step(name) as counts:
        manifest = back_up(url, folder, watch)
        counts["n_rows"], counts["n_bytes"] = manifest.n_rows, seen[0].n_bytes


async def delete(url: str, host: str) -> int:
    engine = make_engine(url, pool_size=2)
    try:
        async with open_write_session(make_sessions(engine)) as session:
            job_id = (await host_deletion.request_deletion(session, host, requested_by="bench")).job_id
        await work_off_removals(url)
        async with open_write_session(make_sessions(engine)) as session:
            return (await host_deletion.read_deletion(session, job_id)).n_samples
    finally:
        await engine.dispose()


def compress(url: str) -> None:
    """Puts all chunks of the community edition into the columnstore."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT current_setting('timescaledb.license', true)").fetchone() == ("timescale",):
            for (name,) in connection.execute("SELECT name FROM stats").fetchall():
                connection.execute("SELECT compress_chunk(c, true) FROM show_chunks(%s) AS c", [f"samples.{name}"])


def measure(url: str, n_times: int) -> list[Figure]:
    """All steps, in the order of a life."""
    for host in HOSTS:
        load(url, host, n_times, START)
    compress(url)
    rows, values = n_samples(url)
    print(f"  {rows / 1e6:.2f} M rows, {values / 1e6:.1f} M values of {len(HOSTS)} hosts")
    clock = Clock(url)
    folder = Path(tempfile.mkdtemp(prefix="normstat-bench-"))
    try:
        save(clock, "backup", url, folder)
        save(clock, "backup, nothing changed", url, folder)
        load(url, HOSTS[0], 1, START + n_times * LENGTH)
        save(clock, "backup, a quarter of an hour", url, folder)
        with empty_database(url) as target:
            with clock.step("files checked") as counts:
                manifest = check_backup(folder, lambda _: None)
                counts["n_rows"], counts["n_bytes"] = manifest.n_rows, sum(piece.n_bytes for piece in manifest.pieces)
            with clock.step("restore") as counts:
                restore(target, folder, manifest, lambda _: None)
                counts["n_rows"] = manifest.n_rows
            if n_samples(target) != n_samples(url):
                raise RuntimeError("what was restored is not what there was")
        with clock.step("a host deleted") as counts:
            counts["n_rows"] = asyncio.run(delete(url, HOSTS[1]))
    finally:
        shutil.rmtree(folder)
    return clock.figures


def main() -> None:
    n_times = int(sys.argv[1]) if len(sys.argv) > 1 else N_TIMES
    kinds = sys.argv[2:] or ["embedded", "timescaledb", *filter(None, [os.environ.get("BENCH_DSN")])]
    for kind in kinds:
        print(urlsplit(kind).path or kind)
        with database(kind) as url:
            measure(url, n_times)


if __name__ == "__main__":
    main()
