"""Sealing on a disk that is really full: run by test_full_disk.py in a mount namespace, with a small tmpfs as the disk.

    python -m tests.compaction.full_disk FOLDER

A PostgreSQL of its own has its files there. A file takes all that is free but for some hundred kilobytes, more of it in each round:
at first no table can grow, then the WAL cannot, which ends PostgreSQL. Prints what happened in each round; exits with 1 if a sample
is missing or changed.
"""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from psycopg import Error
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.compaction.seal_job import Sealing
from normstat.db.migrations import upgrade
from normstat.db.session import make_engine, make_sessions
from normstat.server.embedded import EmbeddedPostgres
from normstat.window import to_us
from tests.databases import Sessions
from tests.ingest.rereading import export
from tests.query.filling import fill_values

START = datetime(2026, 11, 10, tzinfo=UTC)
LATER = START + timedelta(days=30)
N_DAYS, N_REPORTS, N_CPUS = 3, 4000, 4
KEYS = ("usr_pct", "sys_pct", "idle_pct")
# What is left free in each round.
LEFT_FREE = (0, 100_000, 300_000)
# PostgreSQL may end, replay its log and be started again meanwhile.
BACK_TIMEOUT_S = 120


async def fill(sessions: Sessions) -> None:
    rng = np.random.default_rng(0)
    second = np.repeat(np.arange(N_REPORTS) * 20, N_CPUS)
    for day in range(N_DAYS):
        await fill_values(
            sessions,
            "web1",
            "mpstat_linux",
            time_us=to_us(START + timedelta(days=day)) + second * 1_000_000,
            instances=[str(cpu) for cpu in range(N_CPUS)] * N_REPORTS,
            values={key: np.round(rng.gamma(2, 10, len(second)), 2) for key in KEYS},
            key=str(day),
        )


def take_all_but(n_bytes: int, ballast: Path) -> None:
    with ballast.open("ab") as file:
        while (left := _free(ballast.parent) - n_bytes) > 0:
            try:
                file.write(bytes(min(left, 1_000_000)))
                file.flush()
            except OSError:
                return


@contextlib.contextmanager
def kept_full(ballast: Path) -> Iterator[None]:
    """What the database frees meanwhile is taken, too; by a thread, which takes its turns while the event loop is busy."""
    is_over = threading.Event()

    def keep_full() -> None:
        while not is_over.wait(0.002):
            take_all_but(0, ballast)

    filling = threading.Thread(target=keep_full)
    filling.start()
    try:
        yield
    finally:
        is_over.set()
        filling.join()


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


async def read_again(engine: AsyncEngine, postgres: EmbeddedPostgres) -> bytes:
    """The samples, as soon as the database is back; started again as `normstat up` does, since a server whose recovery finds no
    space either has ended.
    """
    async with asyncio.timeout(BACK_TIMEOUT_S):
        while True:
            try:
                return await export(engine, "web1", "mpstat_linux")
            except (Error, DBAPIError):
                if postgres.poll() is not None and postgres.can_launch():
                    print("PostgreSQL ended and was started again", file=sys.stderr, flush=True)
                    postgres.launch()
                await asyncio.sleep(0.1)


async def work(postgres: EmbeddedPostgres, folder: Path) -> bool:
    engine = make_engine(postgres.url, pool_size=2)
    sessions = make_sessions(engine)
    await fill(sessions)
    expected = await export(engine, "web1", "mpstat_linux")
    is_same = True
    for n_bytes in LEFT_FREE:
        ballast = folder / "ballast"
        take_all_but(n_bytes, ballast)
        try:
            with kept_full(ballast) if n_bytes == 0 else contextlib.nullcontext():
                await Sealing(sessions, 1).seal(now=LATER, budget_s=60, is_throttled=False)
            outcome = "sealed"
        except (Error, DBAPIError) as error:
            outcome = str(error).splitlines()[0]
        ballast.unlink()
        is_same &= await read_again(engine, postgres) == expected
        print(f"{n_bytes} bytes free: {outcome}", flush=True)
    done = await Sealing(sessions, 1).seal(now=LATER, budget_s=60, is_throttled=False)
    is_same &= await read_again(engine, postgres) == expected
    print(f"all is sealed: {done.is_all and not done.n_failed}; the same samples: {is_same}", flush=True)
    await engine.dispose()
    return is_same


def main() -> int:
    folder = Path(sys.argv[1])
    postgres = EmbeddedPostgres(folder, say=lambda _: None)
    postgres.start()
    try:
        upgrade(postgres.url)
        return 0 if asyncio.run(work(postgres, folder)) else 1
    finally:
        postgres.stop()


if __name__ == "__main__":
    sys.exit(main())
