"""Exports and bundles: packed as the client likes it, as Parquet, gone with their client; bundles there and back, as imports."""

import asyncio
import contextlib
import gzip
import io
from pathlib import Path

import httpx
import psycopg
import pyarrow.parquet as pq
import pytest
import zstandard

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.encodings import choose_encoding
from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.bundles.bundle_format import looks_like_bundle
from normstat.db.leader import LEADER_LOCK
from tests.api.people import People, body_of
from tests.api.samples import HOST, N_SAMPLES, VMSTAT, frames_of, send
from tests.api.server import serving
from tests.api.test_access import assert_envelope
from tests.lock_waits import until_waiting

WISH = {"host": HOST, "stat": "vmstat_linux", "start": "2026-11-21T10:00:00Z", "end": "2026-11-21T10:01:00Z"}
CSV, PARQUET = "/api/v1/export.csv", "/api/v1/export.parquet"

BUNDLE = "/api/v1/bundle"
BUNDLES = "/api/v1/bundles"
WINDOW = {"start": "2026-11-21T10:00:10Z", "end": "2026-11-21T10:00:40Z"}


@pytest.fixture
async def reader(people: People, agent: httpx.AsyncClient) -> httpx.AsyncClient:
    """A viewer, where one host has sent a minute of vmstat."""
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    return await people.enter(Role.VIEWER)


async def read_as_sent(reader: httpx.AsyncClient, accepted: str) -> tuple[str | None, bytes]:
    async with reader.stream("GET", CSV, params=WISH, headers={"Accept-Encoding": accepted}) as response:
        assert "Accept-Encoding" in response.headers["Vary"]
        return response.headers.get("Content-Encoding"), b"".join([part async for part in response.aiter_raw()])


async def test_a_csv_is_packed_as_the_client_likes_it(reader: httpx.AsyncClient) -> None:
    encoding, plain = await read_as_sent(reader, "identity")
    assert encoding is None
    assert plain.count(b"\r\n") == 1 + N_SAMPLES
    encoding, packed = await read_as_sent(reader, "gzip, deflate, br")
    assert (encoding, gzip.decompress(packed)) == ("gzip", plain)
    encoding, packed = await read_as_sent(reader, "gzip, deflate, br, zstd")
    assert (encoding, zstandard.ZstdDecompressor().decompressobj().decompress(packed)) == ("zstd", plain)


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("", None), ("br", None), ("gzip;q=0", None), ("GZIP", "gzip"), ("zstd;q=0.1, gzip;q=0.9", "gzip"), ("gzip, zstd", "zstd"),
        ("identity;q=1, gzip;q=0.5", None), ("*", None), ("x-gzip", None), (";;,=q", None),
    ],
)  # fmt: skip
def test_encodings_are_chosen_by_their_weights(accepted: str, encoding: str | None) -> None:
    assert choose_encoding(accepted) == encoding


async def test_parquet(reader: httpx.AsyncClient) -> None:
    response = await reader.get(PARQUET, params=WISH)
    assert response.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert 'filename="web1-vmstat_linux-20261121T100000Z-20261121T100100Z.parquet"' in response.headers["Content-Disposition"]
    table = pq.read_table(io.BytesIO(response.content))
    assert table.num_rows == N_SAMPLES
    assert table.column("memory_free").to_pylist() == [812000 + number for number in range(N_SAMPLES)]
    assert table.schema.field("memory_free").metadata[b"unit"] == b"KiB"
    assert_envelope(await reader.get(PARQUET, params=WISH | {"host": "nobody"}), 404, "not_found")
    without_stat = {key: value for key, value in WISH.items() if key != "stat"}
    assert_envelope(await reader.get(PARQUET, params=without_stat), 422, "invalid_request")


async def test_chosen_lines(reader: httpx.AsyncClient) -> None:
    response = await reader.get(CSV, params=WISH | {"line": ["memory_free:", "cpu_us:"]})
    assert response.text.splitlines()[0] == "time,epoch,instance,memory_free[KiB],cpu_us[%]"
    table = pq.read_table(io.BytesIO((await reader.get(PARQUET, params=WISH | {"field": "memory_free"})).content))
    assert table.column_names == ["time", "instance", "memory_free", "printed"]
    assert_envelope(await reader.get(CSV, params=WISH | {"line": "cpu_us:", "field": "cpu_us"}), 400, "bad_request")


@pytest.mark.slow
async def test_who_goes_away_leaves_no_statement_behind(reader: httpx.AsyncClient, database_url: str, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        # Another server leads: this one has no work of its own that reads samples.
        leader = stack.enter_context(psycopg.connect(database_url, autocommit=True))
        assert leader.execute("SELECT pg_try_advisory_lock(%s)", [LEADER_LOCK]).fetchone() == (True,)
        address, _ = stack.enter_context(serving(database_url, tmp_path / "log"))
        for path in (CSV, PARQUET):
            async with await psycopg.AsyncConnection.connect(database_url) as other:
                # Any statement that reads samples waits as long as this transaction lasts: longer than the client.
                await other.execute('LOCK TABLE samples."vmstat_linux" IN ACCESS EXCLUSIVE MODE')
                url = httpx.URL(address + path, params=WISH)
                _, writer = await asyncio.open_connection(url.host, url.port)
                cookie = f"{SESSION_COOKIE}={reader.cookies[SESSION_COOKIE]}"
                request = (
                    f"GET {url.raw_path.decode()} HTTP/1.1\r\nHost: {url.host}\r\nCookie: {cookie}\r\nX-Normstat-Request: 1\r\n\r\n"
                )
                writer.write(request.encode())
                await until_waiting(other, 1)
                writer.close()
                await until_waiting(other, 0)
        # No connection of the server is lost or stuck by that.
        async with httpx.AsyncClient(base_url=address, cookies=reader.cookies, headers={"X-Normstat-Request": "1"}) as client:
            answers = await asyncio.gather(*(client.get(CSV, params=WISH, timeout=60) for _ in range(20)))
        assert [answer.text.count("\n") for answer in answers] == [1 + N_SAMPLES] * 20


@pytest.fixture
async def operator(people: People, reader: httpx.AsyncClient) -> httpx.AsyncClient:
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
