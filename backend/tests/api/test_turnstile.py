"""Requests that are worked on are bounded; others wait for their turn, address by address."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from normstat.api import turnstile as module
from normstat.api.fair_queue import FairQueue
from normstat.api.turnstile import TurnstileMiddleware, make_turnstile
from tests.cli.connection_rig import settle

A, B = "192.0.2.1", "192.0.2.2"


async def test_addresses_take_turns() -> None:
    turnstile = make_turnstile(8)
    order: list[str] = []

    async def work(name: str, address: str, go: asyncio.Event) -> None:
        await turnstile.enter(address, max_wait_s=20)
        order.append(name)
        await go.wait()
        turnstile.leave(address)

    go = asyncio.Event()
    tasks = [asyncio.create_task(work(f"a{n}", A, go)) for n in range(12)]
    await settle()
    assert order == [f"a{n}" for n in range(5)]
    tasks += [asyncio.create_task(work(f"b{n}", B, go)) for n in range(4)]
    await settle()
    assert order[5:] == ["b0", "b1", "b2"]
    assert turnstile.n_held == 8
    go.set()
    await asyncio.gather(*tasks)
    assert order.index("b3") < order.index("a6")
    assert sorted(order[8:]) == sorted(["b3", *(f"a{n}" for n in range(5, 12))])
    assert turnstile.n_held == 0
    assert turnstile.n_waiting == 0
    assert turnstile.held_by(A) == turnstile.held_by(B) == 0


async def test_who_gives_up_leaves_the_queue() -> None:
    turnstile = make_turnstile(1)
    await turnstile.enter(A, max_wait_s=20)
    with pytest.raises(TimeoutError):
        await turnstile.enter(A, max_wait_s=0.01)
    cancelled = asyncio.create_task(turnstile.enter(B, max_wait_s=20))
    following = asyncio.create_task(turnstile.enter(B, max_wait_s=20))
    await settle()
    cancelled.cancel()
    await settle()
    turnstile.leave(A)
    await following
    # Its turn came, and it was cancelled before it noticed.
    late = asyncio.create_task(turnstile.enter(A, max_wait_s=20))
    await settle()
    turnstile.leave(B)
    late.cancel()
    await settle()
    assert turnstile.n_held == 0
    assert turnstile.n_waiting == 0


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Client:
    def __init__(self, app: TurnstileMiddleware, address: str = A, path: str = "/x") -> None:
        self.sent: list[dict[str, Any]] = []
        self.pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        scope = {"type": "http", "path": path, "client": (address, 1), "method": "POST", "headers": [], "state": {}}
        self.task = asyncio.create_task(app(scope, self.pieces.get, self.send))

    async def send(self, message: Any) -> None:
        self.sent.append(message)


@pytest.fixture
def turnstile() -> FairQueue[str]:
    return make_turnstile(1)


async def test_who_waits_for_its_client_or_has_answered_holds_no_place(
    turnstile: FairQueue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = asyncio.Event()

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["path"] == "/body":
            await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/stream":
            await goes_on.wait()
        if scope["path"] == "/breaks":
            raise ZeroDivisionError

    middleware = TurnstileMiddleware(app, turnstile=turnstile, open_paths=frozenset({"/health"}))  # type: ignore[arg-type]
    slow = [Client(middleware, path="/body") for _ in range(3)]
    streams = [Client(middleware, path="/stream") for _ in range(3)]
    await settle()
    assert all(stream.sent for stream in streams)
    assert turnstile.n_held == 0
    await turnstile.enter(B, max_wait_s=1)
    health = Client(middleware, path="/health")
    await health.task
    assert health.sent[0]["status"] == 200
    monkeypatch.setattr(module, "MAX_WAIT_S", 0.01)
    refused = Client(middleware)
    await refused.task
    assert refused.sent[0]["status"] == 503
    # A body that has come goes on: it was let in before.
    for client in slow:
        client.pieces.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    goes_on.set()
    await asyncio.gather(*(client.task for client in slow + streams))
    turnstile.leave(B)
    broken = Client(middleware, path="/breaks")
    with pytest.raises(ZeroDivisionError):
        await broken.task
    assert turnstile.n_held == 0
