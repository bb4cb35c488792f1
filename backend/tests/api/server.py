"""A real server process."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

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
