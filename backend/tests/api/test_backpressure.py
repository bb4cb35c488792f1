"""What agents and others send is bounded before it is read: requests, bytes on their way, bytes unpacked."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from normstat.api.http import backpressure
from normstat.api.http.backpressure import Gate, GateLimits, Lobby
from normstat.api.http.body_limit import BodyBudget, BodyLimitMiddleware
from normstat.api.http.fair_queue import FairQueue
from normstat.api.http.handlers import install_handlers
from normstat.api.http.middleware import RequestContextMiddleware
from normstat.auth.client_address import TrustedProxies
from normstat.errors import BadFrame, Overloaded, TooLarge
from normstat.ingest.protocol import parse_frames
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

KIB = 1024


TOKEN = 7
OTHER_TOKEN = 8


def make_gate(*, n_requests: int = 10, n_bytes: int = 1000 * KIB, n_plain_bytes: int = 1000 * KIB, token_share: float = 1) -> Gate:
    limits = GateLimits(
        n_requests=n_requests,
        n_bytes=n_bytes,
        n_plain_bytes=n_plain_bytes,
        max_body_bytes=50 * KIB,
        max_plain_bytes=100 * KIB,
        token_share=token_share,
    )
    return Gate(limits)


def test_requests_beyond_the_number_are_sent_away() -> None:
    gate = make_gate(n_requests=1)
    with gate.admit(TOKEN):
        with pytest.raises(Overloaded), gate.admit(OTHER_TOKEN):
            pass
        assert gate.n_inside == 1
    with gate.admit(TOKEN):
        pass
    assert (gate.n_inside, gate.n_bytes_inside, gate.n_refused) == (0, 0, 1)


def test_bytes_count_as_they_arrive_and_those_beyond_the_budget_are_sent_away() -> None:
    gate = make_gate(n_bytes=100 * KIB)
    with gate.admit(TOKEN) as first, gate.admit(OTHER_TOKEN) as second:
        # Each of them counts 16 KiB from the start.
        first.count(50 * KIB)
        with pytest.raises(Overloaded):
            second.count(19 * KIB)
        second.count(18 * KIB)
        with pytest.raises(Overloaded), gate.admit(OTHER_TOKEN):
            pass
        assert gate.n_bytes_inside == 100 * KIB
    assert gate.n_bytes_inside == 0
    with gate.admit(TOKEN) as alone:
        alone.count(84 * KIB)


def test_one_token_leaves_room_for_the_others() -> None:
    gate = make_gate(n_requests=8, n_bytes=200 * KIB, token_share=0.5)
    with contextlib.ExitStack() as stack:
        tickets = [stack.enter_context(gate.admit(TOKEN)) for _ in range(4)]
        with pytest.raises(Overloaded), gate.admit(TOKEN):
            pass
        tickets[0].count(36 * KIB)
        with pytest.raises(Overloaded):
            tickets[1].count(1)
        other = stack.enter_context(gate.admit(OTHER_TOKEN))
        other.count(50 * KIB)
    assert (gate.n_inside, gate.n_bytes_inside) == (0, 0)
    with gate.admit(TOKEN):
        pass


def test_the_largest_body_always_fits() -> None:
    gate = make_gate(n_bytes=KIB, token_share=0.01)
    with gate.admit(TOKEN) as ticket:
        ticket.count(50 * KIB)
        assert gate.n_bytes_inside >= 50 * KIB
    assert (gate.n_bytes_inside, gate.n_refused) == (0, 0)


async def test_unknown_tokens_wait_in_the_lobby(monkeypatch: pytest.MonkeyPatch) -> None:
    lobby = Lobby(n_at_once=1, n_waiting=1)
    inside = asyncio.Event()
    leave = asyncio.Event()

    async def look_up() -> None:
        async with lobby.wait():
            inside.set()
            await leave.wait()

    first = asyncio.create_task(look_up())
    await inside.wait()
    second = asyncio.create_task(look_up())
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await look_up()
    monkeypatch.setattr(backpressure, "MAX_LOOKUP_WAIT_S", 0)
    second.cancel()
    await asyncio.wait({second})
    with pytest.raises(Overloaded):
        await look_up()
    monkeypatch.undo()
    third = asyncio.create_task(look_up())
    await asyncio.sleep(0)
    leave.set()
    # The place goes on to the next one.
    await asyncio.gather(first, third)
    await look_up()


def test_a_burst_is_logged_once_with_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(n_requests=1)
    with capture_logs() as logs:
        with gate.admit(TOKEN):
            for _ in range(100):
                with pytest.raises(Overloaded), gate.admit(TOKEN):
                    pass
        monkeypatch.setattr(backpressure, "BURST_END_S", -1)
        with gate.admit(TOKEN):
            pass
    assert [(event["event"], event.get("n_refused")) for event in logs] == [
        ("ingest_overloaded", None),
        ("ingest_overload_ended", 100),
    ]


async def test_room_is_given_in_turn() -> None:
    room: FairQueue[int] = FairQueue(10)
    order: list[str] = []

    async def hold(name: str, n_bytes: int) -> None:
        async with room.hold(TOKEN, n_bytes, max_wait_s=20):
            order.append(name)
            await asyncio.sleep(0)

    async with room.hold(TOKEN, 8, max_wait_s=20):
        tasks = [asyncio.create_task(hold(name, n)) for name, n in (("large", 9), ("small", 1), ("more than all", 99))]
        await asyncio.sleep(0)
        assert order == [], "small fits, and would overtake"
    await asyncio.gather(*tasks)
    assert order == ["large", "small", "more than all"]
    assert room.n_held == 0


async def test_unpacking_waits_for_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backpressure, "MAX_WAIT_S", 0.01)
    gate = make_gate(n_plain_bytes=300 * KIB)
    body = gzip.compress(frames_of(VMSTAT))
    async with gate._plain.hold(TOKEN, 300 * KIB, max_wait_s=1):
        with pytest.raises(Overloaded):
            async with gate.unpack(body, is_gzip=True):
                pass
    async with gate.unpack(body, is_gzip=True) as frames:
        assert frames == parse_frames(frames_of(VMSTAT))
        assert gate._plain.n_held > 0
    assert gate._plain.n_held == 0


async def test_a_gzip_body_that_says_less_than_it_holds_counts_as_the_largest() -> None:
    gate = make_gate(n_plain_bytes=300 * KIB)
    plain = frames_of(VMSTAT)
    # Of several members only the last one's size is in the end of the body.
    body = gzip.compress(plain[:100]) + gzip.compress(plain[100:])
    async with gate.unpack(body, is_gzip=True) as frames:
        assert frames == parse_frames(frames_of(VMSTAT))
        assert gate._plain.n_held == gate._plain.capacity
    bomb = gzip.compress(b"x" * 200 * KIB)
    for large in (bomb, bomb + gzip.compress(b"x")):
        with pytest.raises(TooLarge):
            async with gate.unpack(large, is_gzip=True):
                pass
    for bad in (b"", b"no gzip", body[:-3], bomb[:-4] + (10).to_bytes(4, "little")):
        with pytest.raises(BadFrame):
            async with gate.unpack(bad, is_gzip=True):
                pass
    assert gate._plain.n_held == 0


async def test_the_body_of_a_request_that_is_sent_away_is_not_read(app: FastAPI, agent: httpx.AsyncClient) -> None:
    n_read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal n_read
        n_read += 1
        yield b"x"

    gate = app.state.normstat.ingest_gate
    gate._n_bytes = KIB
    answers = [await agent.post("/api/v1/ingest", content=body(), headers={"Normstat-Host": HOST}) for _ in range(12)]
    for answer in answers:
        assert_envelope(answer, 503, "overloaded")
    assert n_read == 0
    # Spread out, so that clients that were rejected together do not retry together.
    waits = {int(answer.headers["Retry-After"]) for answer in answers}
    assert len(waits) > 1
    assert min(waits) >= 5
    gate._n_bytes = 1000 * KIB
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200


async def test_a_body_is_read_no_further_than_there_is_room(app: FastAPI, agent: httpx.AsyncClient) -> None:
    n_read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal n_read
        for _ in range(100):
            n_read += 1
            yield bytes(10 * KIB)

    gate = app.state.normstat.ingest_gate
    gate._n_bytes_of_token = 100 * KIB
    headers = {"Normstat-Host": HOST, "Content-Length": str(1000 * KIB)}
    assert_envelope(await agent.post("/api/v1/ingest", content=body(), headers=headers), 503, "overloaded")
    assert n_read == 9
    assert (gate.n_inside, gate.n_bytes_inside) == (0, 0)
    # What is announced and does not come takes nothing from others.
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200


async def test_a_body_that_does_not_arrive_is_given_up(agent: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backpressure, "MAX_READ_S", 0.05)

    async def body() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.sleep(20)

    answer: httpx.Response = await agent.post("/api/v1/ingest", content=body(), headers={"Normstat-Host": HOST})
    assert_envelope(answer, 408, "too_slow")


def test_half_of_the_budget_for_one_address() -> None:
    budget = BodyBudget(100)
    assert budget.take("a", 50)
    assert not budget.take("a", 1)
    assert budget.take("b", 50)
    assert not budget.take("c", 1)
    budget.give_back("a", 50)
    assert budget.take("c", 50)
    budget.give_back("b", 50)
    budget.give_back("c", 50)
    assert budget.n_held == 0
    assert budget._held == {}


@pytest.fixture
def budget() -> BodyBudget:
    return BodyBudget(200 * KIB)


@pytest.fixture
def held() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def arrived() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
async def client(budget: BodyBudget, held: asyncio.Event, arrived: asyncio.Event):  # type: ignore[no-untyped-def]
    app = FastAPI()

    @app.post("/api/read")
    async def read(body: dict[str, str]) -> int:
        arrived.set()
        await held.wait()
        return len(body)

    @app.post("/api/stream")
    async def stream() -> int:
        return 0

    install_handlers(app)
    app.add_middleware(
        BodyLimitMiddleware, limit=90 * KIB, limits_by_path={}, limits_of_streams={"/api/stream": 1 << 30}, budget=budget
    )
    app.add_middleware(RequestContextMiddleware, proxies=TrustedProxies(), is_behind_tls=False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        yield client


async def test_bodies_count_until_they_are_answered(
    client: httpx.AsyncClient, budget: BodyBudget, held: asyncio.Event, arrived: asyncio.Event
) -> None:
    body = {"x": "y" * 80 * KIB}
    first = asyncio.create_task(client.post("/api/read", json=body))
    await arrived.wait()
    refused = await client.post("/api/read", json=body)
    assert_envelope(refused, 503, "overloaded")
    assert int(refused.headers["Retry-After"]) >= 1
    assert_envelope(await client.post("/api/read", json={"x": "y" * 91 * KIB}), 413, "too_large")
    held.set()
    assert (await first).status_code == 200
    assert budget.n_held == 0
    assert (await client.post("/api/read", json=body)).status_code == 200
    assert (await client.post("/api/stream", content=bytes(500 * KIB))).status_code == 200
    assert budget.n_held == 0


async def test_a_body_that_breaks_off_is_given_back(client: httpx.AsyncClient, budget: BodyBudget) -> None:
    n_held = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal n_held
        yield bytes(10 * KIB)
        n_held = budget.n_held
        yield bytes(1)
        raise ConnectionError

    answer = await client.post("/api/read", content=body(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert n_held == 10 * KIB
    assert budget.n_held == 0
