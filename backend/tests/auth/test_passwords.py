"""Which passwords are refused; the queue before the hashing is short, and nobody fills it alone."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.auth.password_rules import MAX_RATED_LENGTH, MIN_LENGTH, _is_hard_to_guess, require_good_password
from normstat.auth.passwords import MAX_WAITING, MAX_WAITING_OF_ONE, HashingLane
from normstat.errors import Overloaded, WeakPassword


@pytest.fixture
async def lane_and_gate() -> AsyncIterator[tuple[HashingLane, Callable[[], None]]]:
    """A lane, and the work for it, which ends when the test does."""
    gate = threading.Event()
    yield HashingLane(), lambda: assert_opens(gate)
    gate.set()


def assert_opens(gate: threading.Event) -> None:
    # A guard against hanging for ever, not a time that anything depends on.
    assert gate.wait(60)


async def crowd(lane: HashingLane, work: Callable[[], None], names: list[str]) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(lane.run(name, work)) for name in names]
    # Each has taken its place, or was refused, when the loop has gone round once.
    await asyncio.sleep(0)
    return tasks


def refused(tasks: list[asyncio.Task[None]]) -> int:
    return sum(task.done() and isinstance(task.exception(), Overloaded) for task in tasks)


async def test_a_flood_from_one_address_leaves_room_for_others(lane_and_gate: tuple[HashingLane, Callable[[], None]]) -> None:
    lane, work = lane_and_gate
    tasks = await crowd(lane, work, ["10.0.0.1"] * 100)
    assert refused(tasks) == 100 - MAX_WAITING_OF_ONE - 1
    assert refused(await crowd(lane, work, ["10.0.0.2"])) == 0


async def test_a_flood_from_everywhere_does_not_pile_up(lane_and_gate: tuple[HashingLane, Callable[[], None]]) -> None:
    lane, work = lane_and_gate
    tasks = await crowd(lane, work, [f"10.0.0.{n}" for n in range(200)])
    assert refused(tasks) == 200 - MAX_WAITING - 1
    # People who are known do not stand in that queue.
    assert await HashingLane().run("ann", lambda: "done") == "done"


async def test_places_are_free_again(lane_and_gate: tuple[HashingLane, Callable[[], None]]) -> None:
    lane, _ = lane_and_gate
    for _ in range(3 * MAX_WAITING):
        await lane.run("10.0.0.1", lambda: None)
    with pytest.raises(ZeroDivisionError):
        await lane.run("10.0.0.1", lambda: 1 // 0)
    assert not lane._n_of


def test_the_product_hashes_as_rfc_9106_recommends() -> None:
    # In a process of its own: the tests of this one hash with less.
    script = "from normstat.auth import passwords; print(passwords._HASHER.hash('seven yellow trams'))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


async def is_refused(password: str, *, name: str) -> bool:
    try:
        await require_good_password(password, name=name, who="test", member="password")
    except WeakPassword:
        return True
    return False


@pytest.mark.parametrize(
    "password",
    [
        "", " " * 8, " " * 40, "\t\n" * 10, "short", "  seven77  ", "password", "password12", "Password2024!", "P@ssw0rd123",
        "1234567890", "qwertyuiop12", "1q2w3e4r5t6y", "aaaaaaaaaaaa", "abcdefghijklm", "letmein12345", "welcome12345",
        "changeme123", "administrator1", "trustno1trustno1", "aliceaalicea", "ALICE in wonderland", "my normstat password",
        "normstat2024", "a" * 1000,
    ],
)  # fmt: skip
async def test_refused(password: str) -> None:
    assert await is_refused(password, name="alice")


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "vier gelbe Strassenbahnen",
        "zq8Kd02mXw",
        "ключ от склада",
        "長い合言葉を決めましょう",
        "x" * 40 + "zq8Kd02mXw7",
    ],
)
async def test_taken(password: str) -> None:
    assert not await is_refused(password, name="alice")


async def test_a_short_name_may_be_in_it_but_not_be_it() -> None:
    assert not await is_refused("a plan for the channel", name="ann")
    assert await is_refused("annannannann", name="ann")


@given(st.text(min_size=MIN_LENGTH, max_size=MAX_RATED_LENGTH), st.text(min_size=1, max_size=20))
def test_any_text_is_rated(password: str, name: str) -> None:
    assert _is_hard_to_guess(password, name) in {True, False}
