"""Long answers: sent in small parts, cut off where nobody reads, closed where the client is gone."""

import asyncio
import gzip
import random
from collections.abc import AsyncGenerator

import pytest
import zstandard
from starlette.types import Message

from normstat.api.http.streaming import PART_BYTES, PieceResponse, ReaderStalled
from normstat.api.routes.exports import pack
from normstat.errors import BadRequest

SCOPE = {"type": "http", "asgi": {"spec_version": "2.3"}}
LONG_S = 600.0


class Source:
    """Pieces, and whether they were closed."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self.is_closed = False
        self._pieces = pieces
        self._error = error

    async def pieces(self) -> AsyncGenerator[bytes]:
        try:
            for piece in self._pieces:
                yield piece
            if self._error is not None:
                raise self._error
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


async def test_an_error_before_the_first_piece_leaves_the_answer_open() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    source = Source(error=BadRequest("no"))
    with pytest.raises(BadRequest):
        await respond(source, LONG_S)(SCOPE, never, send)
    # Not even the status: the caller answers with the error's own.
    assert sent == []
    assert source.is_closed


@pytest.mark.parametrize("encoding", ["gzip", "zstd", None])
async def test_an_error_in_the_middle_never_ends_the_answer(encoding: str | None) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    # Random, so that it does not wait in the packer.
    piece = random.Random(1).randbytes(2 * PART_BYTES)
    source = Source(piece, piece, error=BadRequest("no"))
    response = PieceResponse(pack(source.pieces(), encoding), media_type="text/csv", headers={}, stall_s=LONG_S)
    with pytest.raises(BadRequest):
        await response(SCOPE, never, send)
    assert source.is_closed
    assert sent[0]["status"] == 200
    assert all(message["more_body"] for message in sent[1:])
    body = b"".join(message["body"] for message in sent[1:])
    if encoding == "gzip":
        with pytest.raises(EOFError):
            gzip.decompress(body)
    if encoding == "zstd":
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        unpacker.decompress(body)
        assert not unpacker.eof


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
