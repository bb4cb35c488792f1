"""Bodies of people's requests: bounded one by one, and all together, also of those who are not logged in."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from normstat.api.body_limit import BodyBudget, BodyLimitMiddleware
from normstat.api.handlers import install_handlers
from normstat.api.middleware import RequestContextMiddleware
from normstat.auth.client_address import TrustedProxies
from tests.api.test_access import assert_envelope

KIB = 1024


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
