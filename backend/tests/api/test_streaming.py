"""Long answers: sent in small parts, cut off where nobody reads, closed where the client is gone."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from normstat.api.streaming import PART_BYTES, PieceResponse, ReaderStalled

SCOPE = {"type": "http", "asgi": {"spec_version": "2.3"}}
LONG_S = 600.0


class Source:
    """Pieces, and whether they were closed."""

    def __init__(self, *pieces: bytes) -> None:
        self.is_closed = False
        self._pieces = pieces

    async def pieces(self) -> AsyncGenerator[bytes]:
        try:
            for piece in self._pieces:
                yield piece
        finally:
            self.is_closed = True


def respond(source: Source, stall_s: float) -> PieceResponse:
    return PieceResponse(source.pieces(), media_type="text/csv", headers={}, stall_s=stall_s)


async def never() -> Message:
    await asyncio.sleep(LONG_S)
    raise AssertionError


async def test_large_pieces_are_sent_in_small_parts() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    source = Source(b"x" * (2 * PART_BYTES + 1), b"yz")
    await respond(source, LONG_S)(SCOPE, never, send)
    bodies = [message["body"] for message in sent[1:]]
    assert [len(body) for body in bodies] == [PART_BYTES, PART_BYTES, 1, 2, 0]
    assert [message["more_body"] for message in sent[1:]] == [True, True, True, True, False]
    assert source.is_closed


async def test_a_reader_that_takes_nothing_is_cut_off() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 3:
            await asyncio.sleep(LONG_S)

    source = Source(b"1", b"2", b"3")
    with pytest.raises(ReaderStalled):
        await respond(source, 0.01)(SCOPE, never, send)
    assert source.is_closed
    # No end was sent, so that nobody takes the part for the whole.
    assert all(message.get("more_body", True) for message in sent)


async def test_a_client_that_goes_away_closes_the_source() -> None:
    gone = asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message.get("body"):
            gone.set()
            await asyncio.sleep(LONG_S)

    source = Source(b"1", b"2")
    await respond(source, LONG_S)(SCOPE, receive, send)
    assert source.is_closed
