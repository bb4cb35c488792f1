"""A real server process."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

START_TIMEOUT_S: Final = 120.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/v1/health").status_code == 200
    except httpx.TransportError:
        return False


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
        while not _is_up(address):
            assert process.poll() is None, log_path.read_text()
            assert time.monotonic() < deadline, f"the server does not answer: {log_path.read_text()}"
            time.sleep(0.05)
        yield address, process
    finally:
        process.kill()
        process.wait()
