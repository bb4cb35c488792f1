"""Long answers, sent piece by piece: they end when the client disconnects or stops reading."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import structlog
from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

log = structlog.get_logger()

Pieces = AsyncGenerator[bytes]
# Bytes sent at once. The server's buffer takes a whole part, and the next one once it has drained: small parts show whether the
# client reads, and an unread answer costs little memory.
PART_BYTES: Final = 64 * 1024


class ReaderStalled(Exception):
    """The client read nothing for too long; the connection is cut, so that a part never looks like a whole."""


class PieceResponse(StreamingResponse):
    """A stream that is closed when the client disconnects, or reads nothing for `stall_s` seconds.

    The status is sent with the first piece, so that an error found before it is an answer of its own. A later error cuts the
    connection: the client sees that the answer is incomplete.
    """

    def __init__(self, pieces: Pieces, *, media_type: str, headers: dict[str, str], stall_s: float) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._pieces = pieces
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces, and watch for the client's disconnect.

        Raises: ReaderStalled
        """
        # From 2.4 on Starlette would notice a disconnect only when it sends the next piece.
        asgi = {**scope.get("asgi", {}), "spec_version": "2.3"}
        await super().__call__({**scope, "asgi": asgi}, receive, send)

    async def stream_response(self, send: Send) -> None:
        """Send the pieces in small parts."""

        async def send_parts(message: Message) -> None:
            body = message.get("body", b"")
            parts = [body[at : at + PART_BYTES] for at in range(0, len(body), PART_BYTES)] or [body]
            for number, part in enumerate(parts, start=1):
                own = (
                    message
                    if len(parts) == 1
                    else {**message, "body": part, "more_body": number < len(parts) or message["more_body"]}
                )
                await self._send(send, own)

        async with aclosing(detach(self._pieces)) as pieces:
            first = await anext(pieces, b"")
            async with aclosing(_join(first, pieces)) as self.body_iterator:
                await super().stream_response(send_parts)

    async def _send(self, send: Send, message: Message) -> None:
        try:
            async with asyncio.timeout(self._stall_s):
                await send(message)
        except TimeoutError:
            log.warning("answer_stalled", stall_s=self._stall_s)
            raise ReaderStalled(f"The client read nothing for {self._stall_s:.0f} s; the answer was aborted") from None


async def _join(first: bytes, rest: Pieces) -> Pieces:
    yield first
    async for piece in rest:
        yield piece


async def detach(pieces: Pieces) -> Pieces:
    """Return the pieces, each produced in a task of its own, which is cancelled once.

    When the client is gone, anyio cancels the response's task again at every turn of the event loop, and so would interrupt what
    the driver does then: ask the server to cancel the statement, and wait until it has.
    """
    coming: asyncio.Task[bytes | None] | None = None
    try:
        while True:
            coming = asyncio.create_task(_take(pieces))
            piece = await asyncio.shield(coming)
            if piece is None:
                return
            yield piece
    finally:
        await asyncio.shield(asyncio.create_task(_end(pieces, coming)))


async def _take(pieces: Pieces) -> bytes | None:
    return await anext(pieces, None)


async def _end(pieces: Pieces, coming: asyncio.Task[bytes | None] | None) -> None:
    if coming is not None:
        coming.cancel()
        await asyncio.wait({coming})
        if not coming.cancelled():
            # The waiting request has seen the error, or none waits any more.
            coming.exception()
    await pieces.aclose()
