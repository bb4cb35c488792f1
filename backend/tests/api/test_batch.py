"""Batches of reads: each is answered as it is alone, with its rights, its errors and its limits."""

import gzip

import httpx
import orjson
import pytest
import zstandard
from fastapi import FastAPI
from fastapi.datastructures import DefaultPlaceholder
from fastapi.routing import APIRoute

from normstat.api.http.application import Application
from normstat.api.routes.batch import MAX_READS
from tests.api.people import body_of
from tests.api.samples import VMSTAT, deliver, frames_of
from tests.api.test_access import assert_envelope

SERIES = "/series?host=db1&stat=vmstat_linux&field=cpu_us&start=2026-11-21T10:00:00Z&end=2026-11-21T10:01:00Z&width=1000"
BATCH = "/api/v1/batch"


async def ask(client: httpx.AsyncClient, *addresses: str) -> list[tuple[int, object]]:
    """Return status and body of each read, in the order of the addresses."""
    answer = await client.post(BATCH, json={"get": addresses})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [orjson.loads(line) for line in answer.text.splitlines()]
    assert sorted(line["index"] for line in lines) == list(range(len(addresses)))
    return [(line["status"], line["body"]) for line in sorted(lines, key=lambda line: int(line["index"]))]


async def test_each_read_has_the_answer_of_its_route(agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    await deliver(agent, frames_of(VMSTAT), **{"Normstat-Host": "db1"})
    addresses = [SERIES, "/hosts/db1", "/stats?host=db1", "/baselines?host=db1", "/auth/me", SERIES.replace("cpu_us", "cpu_sy")]
    alone = [await operator.get(f"/api/v1{address}") for address in addresses]
    assert await ask(operator, *addresses) == [(200, body_of(each)) for each in alone]


async def test_a_read_that_fails_does_not_fail_the_others(operator: httpx.AsyncClient) -> None:
    (good, _), (missing, none), (empty, bad), (unknown, path), (shape, wrong) = await ask(
        operator, "/hosts", "/hosts/gone", SERIES.replace("10:01", "10:00"), "/nothing/here", "/series"
    )
    assert (good, missing, empty, unknown, shape) == (200, 404, 400, 404, 422)
    codes = [orjson.loads(orjson.dumps(each))["error"]["code"] for each in (none, bad, path, wrong)]
    assert codes == ["not_found", "bad_request", "not_found", "invalid_request"]


async def test_rights_are_those_of_each_read(viewer: httpx.AsyncClient, client: httpx.AsyncClient) -> None:
    (allowed, _), (refused, body) = await ask(viewer, "/hosts", "/users")
    assert (allowed, refused) == (200, 403)
    assert orjson.loads(orjson.dumps(body))["error"]["code"] == "not_allowed"
    stranger = await client.post(BATCH, json={"get": ["/hosts"]}, headers={"X-Normstat-Request": "1"})
    assert_envelope(stranger, 401, "not_authenticated")


async def test_the_limits_of_a_batch(operator: httpx.AsyncClient) -> None:
    for addresses in ([], ["/hosts"] * (MAX_READS + 1), ["hosts"], ["/hosts with blanks"], ["//" + "x" * 100_000]):
        assert_envelope(await operator.post(BATCH, json={"get": addresses}), 422, "invalid_request")


async def test_only_what_answers_with_json(operator: httpx.AsyncClient, app: FastAPI) -> None:
    """A batch is held in memory until its reads are there: no exports, and nothing that never ends."""
    assert isinstance(app, Application)
    others = [
        route.path.removeprefix("/api/v1")
        for route in app.routes
        if isinstance(route, APIRoute) and "GET" in route.methods and not isinstance(route.response_class, DefaultPlaceholder)
    ]
    assert {"/live", "/export.csv", "/comparison/stream"} <= set(others)
    addresses = [path.replace("{id}", "1").replace("{", "").replace("}", "") for path in others if "/auth/" not in path]
    for start in range(0, len(addresses), MAX_READS):
        answers = await ask(operator, *addresses[start : start + MAX_READS])
        assert {status for status, _ in answers} == {400}


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_the_answers_are_compressed_as_they_come(operator: httpx.AsyncClient, encoding: str) -> None:
    request = operator.build_request("POST", BATCH, json={"get": ["/hosts", "/views"]}, headers={"Accept-Encoding": encoding})
    answer = await operator.send(request, stream=True)
    raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == encoding
    text = gzip.decompress(raw) if encoding == "gzip" else zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    assert {orjson.loads(line)["index"] for line in text.splitlines()} == {0, 1}
