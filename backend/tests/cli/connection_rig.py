"""A server without sockets: connections whose transport only remembers what was written, and time that tests let go on."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import uvicorn

from normstat.server.connections import ConnectionLimits, ConnectionTable
from normstat.server.http_protocol import GuardedProtocol, GuardedState

HEAD_S, STALL_S = 10.0, 20.0
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class FakeTransport(asyncio.Transport):
    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1234), "sockname": ("127.0.0.1", 80)})
        self.written = b""
        self.n_unsent = 0
        self.end = ""
        self.is_paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.n_unsent

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return bool(self.end)

    def close(self) -> None:
        self.end = self.end or "closed"

    def abort(self) -> None:
        self.end = "aborted"

    def write_eof(self) -> None:
        self.written += b"<EOF>"

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class Rig:
    """A server without sockets. The application answers when `answers` is set, and notes what it was sent."""

    def __init__(self, n_connections: int = 10) -> None:
        self.connection_table = ConnectionTable(ConnectionLimits(n_connections, n_connections, HEAD_S, STALL_S))
        self.state = GuardedState(self.connection_table)
        self.answers = asyncio.Event()
        self.reads = asyncio.Event()
        self.scopes: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.config = uvicorn.Config(self.app, http=GuardedProtocol, ws="none", interface="asgi3", log_config=None)

    async def app(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.scopes.append(scope)
        await self.reads.wait()
        while scope["method"] == "POST" and not self.answers.is_set():
            message = await receive()
            self.messages.append(message)
            if message["type"] == "http.disconnect" or not message["more_body"]:
                break
        await self.answers.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    def connect(self, address: str = "192.0.2.1") -> tuple[GuardedProtocol, FakeTransport]:
        protocol = GuardedProtocol(self.config, self.state, {})
        transport = FakeTransport(address)
        protocol.connection_made(transport)
        return protocol, transport

    async def ask(self, data: bytes) -> tuple[GuardedProtocol, FakeTransport]:
        """A connection on which that came and was worked at."""
        protocol, transport = self.connect()
        protocol.data_received(data)
        await settle()
        return protocol, transport

    async def close(self) -> None:
        """Ends the requests that no test answered. Left alone they die with a log line whenever the collector comes by."""
        requests = list(self.state.tasks)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    def tick(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.connection_table.tick(1)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def assert_refused(transport: FakeTransport, status: int, code: str) -> None:
    head, _, body = transport.written.rpartition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), transport.written
    assert b"connection: close" in head
    assert body.endswith(b"<EOF>"), "the client has time to read"
    assert json.loads(body.removesuffix(b"<EOF>"))["error"]["code"] == code


def feed(protocol: GuardedProtocol, pieces: Iterable[bytes]) -> int:
    n_fed = 0
    for piece in pieces:
        protocol.data_received(piece)
        n_fed += len(piece)
    return n_fed
