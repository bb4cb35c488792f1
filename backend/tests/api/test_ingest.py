"""What agents send: limits, encodings, tokens; the answer means committed."""

import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.db.session import open_read_session
from normstat.ingest.batching import set_limits
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.runtime.input_limits import IngestLimits
from normstat.settings import Settings
from tests.api.people import People, run_sql
from tests.api.samples import HOST, KEY, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope


async def acked_offset(state: AppState) -> int | None:
    async with open_read_session(state.sessions) as session:
        return (await session.execute(text("SELECT acked_offset FROM streams"))).scalar_one_or_none()


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip", "identity", None])
async def test_the_answer_is_what_is_committed(agent: httpx.AsyncClient, state: AppState, encoding: str | None) -> None:
    body = frames_of(VMSTAT)
    packed = gzip.compress(body) if "gzip" in (encoding or "").lower() else body
    response = await send(agent, packed, **({} if encoding is None else {"Content-Encoding": encoding}))
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text == f"{KEY} {len(VMSTAT)}\n"
    assert await acked_offset(state) == len(VMSTAT)
    assert (await send(agent, body)).text == f"{KEY} {len(VMSTAT)}\n"
    beyond = format_frames([Frame(FrameKind.STREAM, "vmstat_linux", KEY, len(VMSTAT) + 5, 2, "", b"x\n")])
    assert (await send(agent, beyond)).text == f"{KEY} {len(VMSTAT)}\n"


async def test_bad_bodies_take_nothing(agent: httpx.AsyncClient, state: AppState) -> None:
    body = frames_of(VMSTAT)
    for wrong, headers in [
        (gzip.compress(body)[:-9], {"Content-Encoding": "gzip"}),
        (body, {"Content-Encoding": "gzip"}),
        (gzip.compress(body), {}),
        (body[:-1], {}),
        (body + b"stream", {}),
        (b"", {}),
    ]:
        assert_envelope(await send(agent, wrong, **headers), 400, "bad_frame")
    assert_envelope(await send(agent, body, **{"Normstat-Host": "no name"}), 400, "bad_request")
    assert_envelope(await send(agent, body, **{"Content-Encoding": "br"}), 415, "unsupported_media_type")
    assert await acked_offset(state) is None


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"ingest_max_body_bytes": 100_000, "ingest_max_plain_bytes": 200_000})


async def test_bodies_above_their_limit_are_413(agent: httpx.AsyncClient, state: AppState) -> None:
    assert_envelope(await send(agent, b"x" * 100_001), 413, "too_large")
    n_read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal n_read
        while True:
            n_read += 10_000
            yield b"x" * 10_000

    # Without Content-Length: the end of patience, not of the body.
    assert_envelope(await send(agent, endless()), 413, "too_large")
    assert n_read <= 120_000
    bomb = gzip.compress(b"x" * 200_001)
    assert len(bomb) < 100_000
    assert_envelope(await send(agent, bomb, **{"Content-Encoding": "gzip"}), 413, "too_large")


async def test_a_token_of_one_host_sends_for_no_other(people: People, state: AppState) -> None:
    async with await people.agent(HOST) as agent:
        assert (await send(agent, frames_of(VMSTAT))).status_code == 200
        assert_envelope(await send(agent, frames_of(VMSTAT), **{"Normstat-Host": "other"}), 403, "not_allowed")
    assert await run_sql(state, "SELECT name FROM hosts") == [(HOST,)]


async def test_a_second_machine_with_the_same_name_and_token_is_refused(agent: httpx.AsyncClient, state: AppState) -> None:
    async def status(machine: str) -> int:
        return (await send(agent, frames_of(VMSTAT), **({"Normstat-Machine": machine} if machine else {}))).status_code

    async def wait(minutes: int) -> None:
        await run_sql(state, f"UPDATE hosts SET machine_at = machine_at - interval '{minutes} min'")

    machines = {"": 200, "11.1": 200, "22.5": 403, "11.2": 403}
    for machine in ("", "11.1", "", "11.1", "22.5", "11.2", "11.1"):
        assert await status(machine) == machines[machine]
    assert await run_sql(state, "SELECT machine, other_machine_at > now() - interval '1 min' FROM hosts") == [("11.1", True)]
    await wait(2)
    # A machine that was started again goes on; a second one has to wait until the first is gone.
    assert [await status(machine) for machine in ("22.5", "11.2", "11.1")] == [403, 200, 403]
    await wait(11)
    assert [await status(machine) for machine in ("22.5", "11.2")] == [200, 403]


@pytest.mark.parametrize(("said", "is_known"), [("1000", True), ("", False), ("soon", False), ("nan", False), ("1e999", False)])
async def test_a_host_that_cannot_tell_the_time_may_send(
    agent: httpx.AsyncClient, state: AppState, said: str, is_known: bool
) -> None:
    assert (await send(agent, frames_of(VMSTAT), **{"Normstat-Time": said})).status_code == 200
    [(offset_s,)] = await run_sql(state, "SELECT clock_offset_s FROM hosts")
    assert (offset_s is not None) is is_known


async def test_too_many_at_once_are_sent_away(
    app: FastAPI, agent: httpx.AsyncClient, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr("normstat.api.routes.ingest.MAX_WAIT_S", 0.01)
        full.setattr("normstat.ingest.batching.BATCHES_AT_ONCE", 0)
        response = await send(agent, frames_of(VMSTAT))
    assert_envelope(response, 503, "overloaded")
    assert int(response.headers["Retry-After"]) >= 1
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200


async def test_agent_files_are_open_to_everybody(client: httpx.AsyncClient, settings: Settings) -> None:
    script = await client.get("/api/v1/agent/normstat-agent")
    assert script.status_code == 200
    assert script.text.startswith("#!/bin/sh\n")
    assert script.headers["Content-Type"] == "text/plain; charset=utf-8"
    for name in ("stats.conf.linux", "stats.conf.sunos"):
        assert (await client.get(f"/api/v1/agent/{name}")).status_code == 200


async def test_agent_files_come_from_the_folder_that_is_set(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("agents")
    (folder / "normstat-agent").write_bytes(b"#!/bin/sh\n# \xff\n")
    app = create_app(settings.model_copy(update={"agents_dir": folder}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        assert (await client.get("/api/v1/agent/normstat-agent")).content == b"#!/bin/sh\n# \xff\n"
        assert_envelope(await client.get("/api/v1/agent/stats.conf.linux"), 404, "not_found")
    await app.state.normstat.engine.dispose()


async def test_too_many_new_streams_are_429_with_a_time_to_come_back(agent: httpx.AsyncClient, state: AppState) -> None:
    # The queue sets the limits of the settings when it is made.
    assert state.ingest_queue.n_waiting == 0
    set_limits(state.ingest_engine, IngestLimits(new_streams=1))
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    other = format_frames([Frame(FrameKind.STREAM, "vmstat_linux", "other.1", 0, len(VMSTAT), "vmstat", VMSTAT)])
    response = await send(agent, other)
    assert_envelope(response, 429, "too_many_requests")
    assert response.headers["Retry-After"] == "300"
    again = format_frames([Frame(FrameKind.STREAM, "mpstat_linux", KEY, 0, len(VMSTAT), "mpstat", VMSTAT)])
    assert_envelope(await send(agent, again), 400, "bad_request")
    assert await acked_offset(state) == len(VMSTAT)
