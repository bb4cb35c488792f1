"""The least client that can post: little CPU of its own, so that what is measured is the server."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

HEAD_END: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status 0: no answer, the connection was refused or cut."""

    status: int
    body: bytes
    retry_after_s: float
    seconds: float
    # How long the server would like the agent to wait until the next post; 0: it did not say.
    interval_s: float = 0.0


class _Client(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self.is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        self._received += data
        head_end = self._received.find(HEAD_END)
        if head_end < 0 or self._answer is None or self._answer.done():
            return
        head = bytes(self._received[:head_end]).lower()
        begin = head.find(b"content-length:")
        length = int(head[begin + 15 :].split(b"\r\n", 1)[0]) if begin >= 0 else 0
        if len(self._received) >= head_end + 4 + length:
            self._answer.set_result(bytes(self._received))
            self._received.clear()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.is_open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(b"")

    async def exchange(self, head: bytes, body: bytes) -> bytes:
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(head)
        self._transport.write(body)
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


@dataclass(slots=True)
class Poster:
    """Posts of one agent; `keeps` its connection from one to the next, or makes a new one for each as the shell agent does."""

    port: int
    token: str
    host: str
    keeps: bool
    _client: _Client | None = field(default=None, init=False)

    async def post(self, packed: bytes, head: bytes = b"") -> Answer:
        """Sends one body, and waits for its answer. `head` is that of a server of another kind."""
        began = time.perf_counter()
        try:
            if self._client is None or not self._client.is_open:
                _, self._client = await asyncio.get_running_loop().create_connection(_Client, "127.0.0.1", self.port)
            raw = await self._client.exchange(head or self._head(len(packed)), packed)
        except OSError:
            raw = b""
        if not self.keeps:
            self.close()
        return _parse(raw, time.perf_counter() - began)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _head(self, n_bytes: int) -> bytes:
        return (
            f"POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/x-normstat-frames\r\nContent-Encoding: gzip\r\nContent-Length: {n_bytes}\r\n"
            f"Normstat-Host: {self.host}\r\nNormstat-Os: Linux 6.1.0 x86_64\r\nNormstat-Agent: 0.1.0\r\n"
            f"Normstat-Time: {int(time.time())}\r\n\r\n"
        ).encode()


def _parse(raw: bytes, seconds: float) -> Answer:
    if not raw:
        return Answer(0, b"", 0.0, seconds)
    head, _, body = raw.partition(HEAD_END)
    said = {b"retry-after": 0.0, b"normstat-interval": 0.0}
    for line in head.split(b"\r\n"):
        name, _, text = line.partition(b":")
        if name.lower() in said:
            said[name.lower()] = float(text)
    return Answer(int(head.split(b" ", 2)[1]), body, said[b"retry-after"], seconds, said[b"normstat-interval"])
