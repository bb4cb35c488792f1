"""A real server process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.e2e.product import free_port, health_status

START_TIMEOUT_S: Final = 300.0


@contextmanager
def serving(database_url: str, log_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a real `normstat serve`; yield its address and the process."""
    port = free_port()
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "normstat", "serve", "--port", str(port)],
            env=os.environ | {"NORMSTAT_DATABASE_URL": database_url},
            stdout=log,
            stderr=log,
        )
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
