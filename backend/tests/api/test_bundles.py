"""Bundles over HTTP: downloaded as a file, uploaded, opened in the background as an import."""

import httpx
import pytest

from normstat.api.state import AppState
from normstat.auth.roles import Role
from normstat.bundles.bundle_format import looks_like_bundle
from tests.api.people import People, body_of
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

BUNDLE = "/api/v1/bundle"
BUNDLES = "/api/v1/bundles"
WINDOW = {"start": "2026-11-21T10:00:10Z", "end": "2026-11-21T10:00:40Z"}


@pytest.fixture
async def operator(people: People, agent: httpx.AsyncClient) -> httpx.AsyncClient:
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    return await people.enter(Role.OPERATOR)


async def test_there_and_back(operator: httpx.AsyncClient, state: AppState) -> None:
    response = await operator.get(BUNDLE, params={"host": HOST} | WINDOW)
    assert response.status_code == 200
    assert response.headers["content-disposition"].endswith('web1-20261121T100010Z-20261121T100040Z.normstat.zip"')
    assert looks_like_bundle(response.content)
    assert_envelope(await operator.post(BUNDLES, content=response.content), 409, "conflict")
    queued = body_of(await operator.post(BUNDLES, content=response.content, params={"as": "copy", "name": "x.normstat.zip"}), 202)
    await state.imports.run_all()
    done = (await operator.get(f"/api/v1/imports/{queued['id']}")).json()
    assert (done["state"], done["host"]) == ("done", "copy")
    [stream] = [file for file in done["files"] if file["spec"] == "vmstat_linux"]
    assert "from bundle" in stream["note"]
    texts = [
        (await operator.get("/api/v1/export.csv", params={"host": host, "stat": "vmstat_linux"} | WINDOW)).content
        for host in (HOST, "copy")
    ]
    assert texts[0] == texts[1]
    assert texts[0].count(b"\n") == 31


async def test_a_bundle_among_imports_is_recognised(operator: httpx.AsyncClient, state: AppState) -> None:
    body = (await operator.get(BUNDLE, params={"host": HOST} | WINDOW)).content
    queued = await operator.post("/api/v1/imports", content=body, params={"host": "dropped", "name": "x.zip"})
    await state.imports.run_all()
    done = (await operator.get(f"/api/v1/imports/{queued.json()['id']}")).json()
    assert (done["state"], [file["spec"] for file in done["files"]]) == ("done", ["vmstat_linux"])


async def test_refused_with_a_reason(operator: httpx.AsyncClient, state: AppState) -> None:
    assert_envelope(await operator.get(BUNDLE, params={"host": "nobody"} | WINDOW), 404, "not_found")
    assert_envelope(await operator.get(BUNDLE, params={"host": HOST, "baseline": "none"} | WINDOW), 404, "not_found")
    assert_envelope(await operator.post(BUNDLES, content=b"vmstat"), 400, "bad_request")
    body = (await operator.get(BUNDLE, params={"host": HOST} | WINDOW)).content
    assert_envelope(await operator.post(BUNDLES, content=body[:-10], params={"as": "x"}), 400, "bad_request")
    assert_envelope(await operator.post(BUNDLES, content=body, params={"as": "no good name"}), 400, "bad_request")
    # No upload stays behind; other tests may use the folder at the same time.
    folder = state.imports.new_file(0)
    folder.close()
    assert not [path for path in folder._path.parent.glob("*.file") if path.read_bytes().startswith(body[:-10])]
