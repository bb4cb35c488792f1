"""The Python client: what it asks for is in the OpenAPI document, a server over HTTP answers it; its frames and its notebook."""

import ast
import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import generate_models
import httpx
import normstat_client
import pandas as pd
import pytest
import uvicorn
from fastapi import FastAPI
from normstat_client import Client, NormstatError
from normstat_client.client import OPERATIONS
from normstat_client.table import Table, read_csv

from normstat.auth.roles import Role
from tests.api.people import People, body_of

CHECKOUT = Path(__file__).parents[3]

DOCUMENT: dict[str, Any] = json.loads((CHECKOUT / "frontend/openapi.json").read_text())

NOTEBOOK = Path(__file__).parents[2] / "client/example.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_what_the_client_asks_for_exists(name: str) -> None:
    method, path, parameters = OPERATIONS[name]
    operation = DOCUMENT["paths"][f"/api/v1{path}"][method.lower()]
    assert operation["operationId"] == name
    known = {each["name"] for each in operation.get("parameters", [])}
    body = operation.get("requestBody")
    if body is not None:
        schema = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        known |= set(DOCUMENT["components"]["schemas"][schema]["properties"])
    assert set(parameters) <= known
    needed = {each["name"] for each in operation.get("parameters", []) if each["required"] and each["in"] == "query"}
    assert needed <= set(parameters)


def test_the_types_are_those_of_the_document() -> None:
    written = (CHECKOUT / "backend/client/normstat_client/models.py").read_text()
    assert written == generate_models.make_models(DOCUMENT, set(OPERATIONS)), "run backend/client/generate_models.py"


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The address of the application, served over HTTP."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


async def test_a_server_answers_the_client(app: FastAPI, people: People) -> None:
    admin: httpx.AsyncClient = await people.enter(Role.ADMINISTRATOR, "root")
    token = (await admin.post("/api/v1/api-tokens", json={"name": "client", "role": "operator"})).json()["token"]
    agent = (await admin.post("/api/v1/agent-tokens", json={"name": "import"})).json()["token"]
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=2)
    at_ms = int(begin.timestamp() * 1000)
    lines = [{"name": "host.name", "n": n, "value": value} for n, value in enumerate((0.5, 0.25, 8.0))]
    points = [{"timeUnixNano": str((at_ms + 1000 * line["n"]) * 1_000_000), "asDouble": line["value"]} for line in lines]  # type: ignore[operator]
    otlp = {"resourceMetrics": [{
        "resource": {"attributes": [{"key": "host.name", "value": {"stringValue": "web1"}}]},
        "scopeMetrics": [{"metrics": [{"name": "node_load1", "gauge": {"dataPoints": points}}]}],
    }]}  # fmt: skip
    body_of(await admin.post("/api/v1/otlp/v1/metrics", json=otlp, headers={"Authorization": f"Bearer {agent}"}))

    def ask(url: str) -> None:
        client = Client(url, token)
        assert [host["name"] for host in client.hosts()] == ["web1"]
        assert "node_system" in [stat["name"] for stat in client.stats("web1")]
        end = begin + timedelta(seconds=10)
        table = client.samples("web1", "node_system", begin, end)
        [column] = [name for name in table.columns if name.startswith("load1")]
        # The last row waits for its other columns.
        assert table.columns[column][:2] == [0.5, 0.25]
        assert len(table) == len(table.columns["time"])
        text = client.export_csv("web1", begin, end, stat="node_system")
        assert len(list(csv.reader(io.StringIO(text)))) == len(table) + 1
        event = client.create_event("release 7", kind="deployment", hosts=["web1"], tags=["prod"])
        assert [each["id"] for each in client.events(["web1"], search="release")] == [event["id"]]
        made = client.create_baseline("quiet", ["web1"], [(begin, end)])
        assert client.baselines("web1")[0]["name"] == "quiet"
        found = client.findings("web1", begin, end, baseline_window=(begin, end))
        assert list(found.columns)[:3] == ["stat", "instance", "field"]
        client.delete_baseline(made["id"])
        with pytest.raises(NormstatError, match="not_found") as caught:
            client.delete_baseline(made["id"])
        assert caught.value.request_id
        with pytest.raises(NormstatError, match="not_authenticated"):
            Client(url, "wrong").hosts()
        with pytest.raises(ValueError, match="no time zone"):
            client.samples("web1", "node_system", datetime(2026, 1, 1), end)  # noqa: DTZ001 (a mistake of the user)

    async with served(app) as url:
        await asyncio.to_thread(ask, url)


def test_a_table_becomes_a_frame_by_time_with_units_and_nan() -> None:
    text = (
        "time,epoch,device,io_time_pct[%],write_await_ms[ms],reads[]\r\n"
        "2026-11-28T12:00:00Z,1795867200,sda,98.5,3.25,1\r\n"
        "2026-11-28T12:00:01.5Z,1795867201.5,0,,4,2\r\n"
    )
    frame = read_csv(text).to_pandas()
    assert list(frame.columns) == ["device", "io_time_pct", "write_await_ms", "reads"]
    assert frame.index.tolist() == [pd.Timestamp("2026-11-28T12:00:00Z"), pd.Timestamp("2026-11-28T12:00:01.5Z")]
    assert str(frame.index.tz) == "UTC"
    assert frame.attrs["units"] == {"io_time_pct": "%", "write_await_ms": "ms", "reads": ""}
    assert frame["device"].tolist() == ["sda", "0"]
    assert frame["io_time_pct"].isna().tolist() == [False, True]
    assert frame["io_time_pct"].mean() == 98.5
    assert str(frame["write_await_ms"].dtype) == "float64"


def test_a_table_without_a_time_or_rows_is_a_frame_too() -> None:
    changes = Table({"stat": ["linux_disk"], "change_ratio": [None]}).to_pandas()
    assert changes.loc[0, "stat"] == "linux_disk"
    assert changes["change_ratio"].isna().all()
    empty = read_csv("time,epoch,usr_pct[%]\r\n").to_pandas()
    assert empty.empty
    assert empty.attrs["units"] == {"usr_pct": "%"}


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_cell_of_the_notebook_compiles_and_calls_what_the_client_has(number: int) -> None:
    cell = CELLS[number]
    assert cell["outputs"] == []
    assert cell["execution_count"] is None
    tree = ast.parse("".join(cell["source"]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "client":
            assert hasattr(normstat_client.Client, node.attr), f"client.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "normstat_client":
            assert all(hasattr(normstat_client, name.name) for name in node.names)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    for call in calls:
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "client":
            method = getattr(normstat_client.Client, call.func.attr)
            names = method.__code__.co_varnames[: method.__code__.co_argcount + method.__code__.co_kwonlyargcount]
            takes_more = bool(method.__code__.co_flags & 0x08)
            assert takes_more or {keyword.arg for keyword in call.keywords} <= set(names)
