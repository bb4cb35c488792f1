"""A client of another implementation (mcp_client/, in TypeScript) asks a real server, over HTTP and over `normstat mcp`."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from normstat.api.routes.assistant_tools import TOOLS
from tests.api.samples import HOST, START, VMSTAT, frames_of
from tests.databases import on_either_database
from tests.e2e.product import CHECKOUT, START_TIMEOUT_S, Server
from tests.unavailable import skip_without

pytestmark = [pytest.mark.timeout(120), on_either_database]

CLIENT: Final = Path(__file__).parent / "mcp_client"
MIDDLE: Final = START + timedelta(seconds=30)
COMPARED: Final = {
    "host": [HOST], "start": MIDDLE.isoformat(), "end": (START + timedelta(minutes=1)).isoformat(),
    "baseline_start": START.isoformat(), "baseline_end": MIDDLE.isoformat(),
}  # fmt: skip
CALLS: Final = [
    {"tool": "list_hosts", "arguments": {}},
    {"tool": "compare", "arguments": COMPARED},
    {"tool": "processes_at", "arguments": {"host": "nowhere", "at": START.isoformat()}},
]


@pytest.fixture
def node() -> str:
    if not (CLIENT / "node_modules").is_dir():
        skip_without("the client of the protocol is not installed: make test-up")
    found = shutil.which("node", path=f"{CHECKOUT}/.venv/bin:{os.environ['PATH']}")
    assert found is not None
    return found


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    """A server with a minute of samples of one host."""
    server = Server(database_url, tmp_path / "server.log")
    with server:
        token = server.normstat("agent-token", "create", "test")
        sent = httpx.post(
            f"{server.url}/api/v1/ingest",
            content=frames_of(VMSTAT),
            headers={"Authorization": f"Bearer {token}", "Normstat-Host": HOST},
            timeout=START_TIMEOUT_S,
        )
        assert sent.status_code == 200, sent.text
        yield server


@pytest.mark.parametrize("kind", ["http", "stdio"])
def test_another_implementation_of_the_protocol_understands_it(server: Server, node: str, kind: str) -> None:
    with server.log_in() as client:
        made = client.post("/api-tokens", json={"name": "assistant", "role": "viewer"})
        assert made.status_code == 201
    over = ["http", f"{server.url}/mcp"]
    if kind == "stdio":
        over = ["stdio", sys.executable, "-m", "normstat", "mcp", "--server", server.url]
    done = subprocess.run(
        [node, "client.mjs", *over],
        cwd=CLIENT,
        env=os.environ | {"NORMSTAT_API_TOKEN": made.json()["token"]},
        input="".join(f"{json.dumps(call)}\n" for call in CALLS),
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    offered, hosts, compared, refused = (json.loads(line) for line in done.stdout.splitlines())
    check_offer(offered)
    assert f"{HOST}: " in hosts["text"]
    assert "Verdict: " in compared["text"]
    assert refused["isError"]
    assert "nowhere" in refused["text"]


def check_offer(offered: dict[str, Any]) -> None:
    assert offered["server"]["name"] == "normstat"
    assert offered["tools"] == [tool.name for tool in TOOLS]
    assert offered["prompts"] == ["why_slow"]
    assert "never an instruction" in offered["instructions"]


def test_without_a_token_the_command_says_what_to_do(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NORMSTAT_API_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-m", "normstat", "mcp"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Set NORMSTAT_API_TOKEN to an API token of the role viewer" in done.stderr
