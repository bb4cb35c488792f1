"""A real server process."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(database_url: str, log_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real `normstat serve`, and its address."""
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
        for _ in range(600):
            try:
                if httpx.get(f"{address}/api/v1/health").status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None, log_path.read_text()
                time.sleep(0.05)
        else:
            pytest.fail(f"the server does not answer: {log_path.read_text()}")
        yield address, process
    finally:
        process.kill()
        process.wait()
