"""`normstat demo` as a stranger starts it: a link, the incident behind it, no changes, and nothing left after Ctrl-C."""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest

from tests.databases import on_either_database
from tests.e2e.product import free_port, log_in, wait_until

# A database is made and filled; that takes 20 CPU seconds, three times as long on a busy machine.
pytestmark = [pytest.mark.matrix, pytest.mark.timeout(600), on_either_database]

LINK: Final = re.compile(r"http://\S+/login#token=\S+")


def test_the_demo_opens_and_leaves_nothing() -> None:
    command = [sys.executable, "-m", "normstat", "demo", "--port", str(free_port())]
    folders = set(Path(tempfile.gettempdir()).glob("normstat-demo-*"))
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        def said() -> str:
            output.seek(0)
            return output.read().decode()

        try:
            wait_until(lambda: LINK.search(said()) is not None or process.poll() is not None, "the demo prints its link", 500)
            link = LINK.search(said())
            assert link is not None, said()
            with log_in(link[0]) as client:
                assert client.get("/auth/me").json()["is_read_only"] is True
                hosts = client.get("/fleet").json()["hosts"]
                assert {host["name"]: host["level"] for host in hosts}["shop-db1"] == 3
                assert client.post("/views", json={}).json()["error"]["code"] == "read_only"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        assert "Ctrl-C stops the demo." in said()
    assert set(Path(tempfile.gettempdir()).glob("normstat-demo-*")) == folders


def test_a_folder_that_exists_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "normstat", "demo", "--data", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "the demo needs a new folder" in done.stderr
