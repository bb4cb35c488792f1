"""Requests that are worked on are bounded, others wait for their turn, address by address; so do expensive answers."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from normstat.api.http import turnstile as module
from normstat.api.http.fair_queue import FairQueue
from normstat.api.http.slots import MAX_WAITING, Slots
from normstat.api.http.turnstile import TurnstileMiddleware, make_turnstile
from normstat.errors import Overloaded
from tests.cli.connection_rig import settle

A, B = "192.0.2.1", "192.0.2.2"

LONG_S = 600.0


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


async def test_as_many_as_there_are_places_and_the_rest_in_turn() -> None:
    slots = Slots("exports", n_at_once=2, max_wait_s=LONG_S)
    order: list[str] = []
    doors = {name: asyncio.Event() for name in ("a", "b", "c", "d")}

    async def work(name: str) -> None:
        async with slots.hold(name):
            order.append(name)
            await doors[name].wait()

    tasks = {name: asyncio.create_task(work(name)) for name in doors}
    await settle()
    assert (order, slots.n_held) == (["a", "b"], 2)
    doors["b"].set()
    await settle()
    assert order == ["a", "b", "c"]
    for door in doors.values():
        door.set()
    await asyncio.gather(*tasks.values())
    assert (order, slots.n_held) == (["a", "b", "c", "d"], 0)


async def test_one_account_never_holds_all_places() -> None:
    slots = Slots("exports", n_at_once=3, max_wait_s=0)
    async with AsyncExitStack() as held:
        await held.enter_async_context(slots.hold("mallory"))
        await held.enter_async_context(slots.hold("mallory"))
        with pytest.raises(Overloaded, match=r"Exports running: 2 \(2 of them yours\)\. At most 3 run at once, 2 per account"):
            await held.enter_async_context(slots.hold("mallory"))
        await held.enter_async_context(slots.hold("alice"))
        with pytest.raises(Overloaded, match=r"Exports running: 3 \(0 of them yours\)") as found:
            await held.enter_async_context(slots.hold("bob"))
        assert found.value.details["retry_after_s"] == 10
    assert slots.n_held == 0


async def test_who_waits_behind_an_account_at_its_limit_is_let_past_it() -> None:
    slots = Slots("exports", n_at_once=3, max_wait_s=LONG_S)
    async with slots.hold("mallory"), slots.hold("mallory"):
        third = asyncio.create_task(slots.hold("mallory").__aenter__())
        await settle()
        async with slots.hold("alice"):
            assert slots.n_held == 3
        assert not third.done()
        third.cancel()
        await settle()
    assert slots.n_held == 0


async def test_who_gives_up_waiting_leaves_no_place_taken() -> None:
    slots = Slots("exports", n_at_once=1, max_wait_s=LONG_S)
    async with slots.hold("a"):
        waiting = [asyncio.create_task(slots.hold("b").__aenter__()) for _ in range(MAX_WAITING)]
        await settle()
        # The queue has an end, too.
        with pytest.raises(Overloaded):
            await slots.hold("c").__aenter__()
        for task in waiting:
            task.cancel()
        await settle()
    # Cancelled in the moment in which the place is given.
    async with slots.hold("a"):
        last = asyncio.create_task(slots.hold("b").__aenter__())
        await settle()
    last.cancel()
    await settle()
    assert slots.n_held == 0
    async with slots.hold("c"):
        assert slots.n_held == 1
