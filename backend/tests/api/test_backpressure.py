"""What agents send is bounded before it is read: requests, bytes on their way, bytes unpacked."""

import asyncio
import gzip

import httpx
import pytest
from fastapi import FastAPI
from starlette.datastructures import Headers
from structlog.testing import capture_logs

from normstat.api import backpressure
from normstat.api.backpressure import Gate, Room, announced_size
from normstat.errors import BadFrame, Overloaded, TooLarge
from normstat.ingest.wire import parse_frames
from tests.api.people import People
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

KIB = 1024


def make_gate(
    *, n_requests: int = 10, n_bytes: int = 1000 * KIB, n_plain_bytes: int = 1000 * KIB, most_plain: int = 100 * KIB
) -> Gate:
    return Gate(n_requests=n_requests, n_bytes=n_bytes, n_plain_bytes=n_plain_bytes, most_plain=most_plain)


def test_requests_beyond_the_number_are_sent_away() -> None:
    gate = make_gate(n_requests=1)
    with gate.admit(0):
        with pytest.raises(Overloaded), gate.admit(0):
            pass
        assert gate.n_inside == 1
    with gate.admit(0):
        pass
    assert (gate.n_inside, gate.n_refused) == (0, 1)


def test_bytes_beyond_the_budget_are_sent_away_and_small_requests_are_not_free() -> None:
    gate = make_gate(n_bytes=100 * KIB)
    with gate.admit(70 * KIB):
        with pytest.raises(Overloaded), gate.admit(31 * KIB):
            pass
        with gate.admit(1), pytest.raises(Overloaded), gate.admit(1):
            pass
    with gate.admit(100 * KIB):
        pass


def test_a_burst_is_logged_once_with_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(n_requests=1)
    with capture_logs() as logs:
        with gate.admit(0):
            for _ in range(100):
                with pytest.raises(Overloaded), gate.admit(0):
                    pass
        monkeypatch.setattr(backpressure, "BURST_END_S", -1)
        with gate.admit(0):
            pass
    assert [(event["event"], event.get("n_refused")) for event in logs] == [
        ("ingest_overloaded", None),
        ("ingest_overload_ended", 100),
    ]


@pytest.mark.parametrize(
    ("headers", "size"),
    [({"content-length": "7"}, 7), ({}, 100), ({"content-length": "101"}, 100), ({"content-length": "-1"}, 100)],
)
def test_a_body_without_a_length_counts_as_the_largest(headers: dict[str, str], size: int) -> None:
    assert announced_size(Headers(headers), 100) == size


async def test_room_is_given_in_turn() -> None:
    room = Room(10)
    order: list[str] = []

    async def hold(name: str, n_bytes: int) -> None:
        async with room.share(n_bytes, 20):
            order.append(name)
            await asyncio.sleep(0)

    async with room.share(8, 20):
        tasks = [asyncio.create_task(hold(name, n)) for name, n in (("large", 9), ("small", 1), ("more than all", 99))]
        await asyncio.sleep(0)
        assert order == [], "small fits, and would overtake"
    await asyncio.gather(*tasks)
    assert order == ["large", "small", "more than all"]
    assert room.n_free == 10


async def test_who_gives_up_leaves_its_place() -> None:
    room = Room(10)
    async with room.share(8, 20):
        impatient = asyncio.create_task(anext(aiter(_shares(room, 5))))
        await asyncio.sleep(0)
        behind = asyncio.create_task(anext(aiter(_shares(room, 2))))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.wait({behind}, timeout=20)
        assert behind.done()
        with pytest.raises(TimeoutError):
            async with room.share(3, 0.01):
                pass
    assert room.n_free == 10


async def _shares(room: Room, n_bytes: int):  # type: ignore[no-untyped-def]
    async with room.share(n_bytes, 20):
        pass
    yield


async def test_unpacking_waits_for_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backpressure, "LONGEST_WAIT_S", 0.01)
    gate = make_gate(n_plain_bytes=300 * KIB)
    body = gzip.compress(frames_of(VMSTAT))
    async with gate._plain.share(300 * KIB, 1):
        with pytest.raises(Overloaded):
            async with gate.unpack(body, is_gzip=True):
                pass
    async with gate.unpack(body, is_gzip=True) as frames:
        assert frames == parse_frames(frames_of(VMSTAT))
        assert gate._plain.n_free < 300 * KIB
    assert gate._plain.n_free == 300 * KIB


async def test_a_gzip_body_that_says_less_than_it_holds_counts_as_the_largest() -> None:
    gate = make_gate(n_plain_bytes=300 * KIB)
    plain = frames_of(VMSTAT)
    # Of several members only the last one's size is in the end of the body.
    body = gzip.compress(plain[:100]) + gzip.compress(plain[100:])
    async with gate.unpack(body, is_gzip=True) as frames:
        assert frames == parse_frames(frames_of(VMSTAT))
        assert gate._plain.n_free == 0
    bomb = gzip.compress(b"x" * 200 * KIB)
    for large in (bomb, bomb + gzip.compress(b"x")):
        with pytest.raises(TooLarge):
            async with gate.unpack(large, is_gzip=True):
                pass
    for bad in (b"", b"no gzip", body[:-3], bomb[:-4] + (10).to_bytes(4, "little")):
        with pytest.raises(BadFrame):
            async with gate.unpack(bad, is_gzip=True):
                pass
    assert gate._plain.n_free == 300 * KIB


async def test_the_body_of_a_request_that_is_sent_away_is_not_read(app: FastAPI, people: People) -> None:
    n_read = 0

    async def body():  # type: ignore[no-untyped-def]
        nonlocal n_read
        n_read += 1
        yield b"x"

    app.state.normstat.ingest_gate._n_free_bytes = 1000
    async with await people.agent() as agent:
        answers = [await agent.post("/api/v1/ingest", content=body(), headers={"Normstat-Host": HOST}) for _ in range(12)]
        for answer in answers:
            assert_envelope(answer, 503, "overloaded")
        assert n_read == 0
        # Spread, so that those that were sent away together do not come back together.
        waits = {int(answer.headers["Retry-After"]) for answer in answers}
        assert len(waits) > 1
        assert min(waits) >= 5
        app.state.normstat.ingest_gate._n_free_bytes = 1000 * KIB
        assert (await send(agent, frames_of(VMSTAT))).status_code == 200


async def test_a_body_that_does_not_arrive_is_given_up(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backpressure, "LONGEST_READ_S", 0.05)

    async def body():  # type: ignore[no-untyped-def]
        yield b"x"
        await asyncio.sleep(20)

    async with await people.agent() as agent:
        answer: httpx.Response = await agent.post("/api/v1/ingest", content=body(), headers={"Normstat-Host": HOST})
        assert_envelope(answer, 408, "too_slow")
