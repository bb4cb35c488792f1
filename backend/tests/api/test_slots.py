"""Places for expensive answers: how many there are, who gets the next one, and what those hear who wait in vain."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from normstat.api.slots import MAX_WAITING, Slots
from normstat.errors import Overloaded
from tests.cli.connection_rig import settle

LONG_S = 600.0


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
        with pytest.raises(Overloaded, match=r"Exports running: 2 \(2 of them yours\)\. At most 3 run at once, 2 of one account"):
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
