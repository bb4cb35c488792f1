"""A real server process."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from tests.e2e.product import free_port, health_status
from tests.fork_server import ForkedProcess, start_forked

START_TIMEOUT_S: Final = 100.0


@contextmanager
def serving(database_url: str, log_path: Path) -> Iterator[tuple[str, ForkedProcess]]:
    """Run a real `normstat serve`; yield its address and the process."""
    port = free_port()
    with log_path.open("wb") as log:
        process = start_forked(["serve", "--port", str(port)], os.environ | {"NORMSTAT_DATABASE_URL": database_url}, log)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while health_status(port) != 200:
            assert process.poll() is None, log_path.read_text()
            assert time.monotonic() < deadline, f"the server does not answer: {log_path.read_text()}"
            time.sleep(0.05)
        yield address, process
    finally:
        process.kill()
        process.wait()


async def until_waiting(connection: psycopg.AsyncConnection, n_expected: int) -> None:
    """Wait until so many statements wait for a lock."""
    async with asyncio.timeout(60):
        while True:
            cursor = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if await cursor.fetchone() == (n_expected,):
                return
            await asyncio.sleep(0.02)
