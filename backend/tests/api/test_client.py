"""The Python client: what it asks for is in the OpenAPI document, and a server over HTTP answers it."""

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
import pytest
import uvicorn
from fastapi import FastAPI
from normstat_client import Client, NormstatError
from normstat_client.client import OPERATIONS

from normstat.auth.roles import Role
from tests.api.people import People, body_of

CHECKOUT = Path(__file__).parents[3]

DOCUMENT: dict[str, Any] = json.loads((CHECKOUT / "frontend/openapi.json").read_text())


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
