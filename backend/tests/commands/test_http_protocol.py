"""One connection, with a transport that only remembers what was written. Time goes on by ticks that the tests give."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
import uvicorn

from normstat.api.body_limit import BodyBudget
from normstat.commands.connections import Book, Limits
from normstat.commands.http_protocol import (
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_PIPELINED,
    MAX_UNWANTED_BYTES,
    MIN_BYTES_PER_S,
    GuardedProtocol,
    GuardedState,
)

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
        self.book = Book(Limits(n_connections, n_connections, HEAD_S, STALL_S))
        self.state = GuardedState(self.book)
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

    def tick(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.book.tick(1)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
async def rig() -> Rig:
    rig = Rig()
    rig.reads.set()
    return rig


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


@pytest.mark.parametrize("size", [1, 1000, 200_000])
@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"a"),
        (b"GET /", b"a"),
        (b"GET / HTTP/1.1\r\n", b"a:\r\n"),
        (b"", b"\r\n"),
        (b"GET / HTTP/1.1\r\nX: y\r\n", b" folded\r\n"),
    ],
    ids=["value", "address", "fields", "blank lines", "folded"],
)
async def test_a_head_without_an_end(rig: Rig, start: bytes, piece: bytes, size: int) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(start)
    pieces = piece * max(1, size // len(piece))
    for _ in range(2 * MAX_HEAD_BYTES // len(pieces) + 2):
        protocol.data_received(pieces)
    assert transport.written.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    # Nothing more is kept, or answered.
    n_written = len(transport.written)
    feed(protocol, [pieces] * 10)
    await settle()
    assert len(transport.written) == n_written
    assert rig.scopes == []
    rig.tick(3)
    assert transport.end


async def test_the_largest_head_that_is_taken(rig: Rig) -> None:
    rig.answers.set()
    start = b"GET / HTTP/1.1\r\nX: "
    for n_bytes, status in ((MAX_HEAD_BYTES, b"200"), (MAX_HEAD_BYTES + 1, b"431"), (50 << 20, b"431")):
        protocol, transport = rig.connect()
        head = start + b"a" * (n_bytes - len(start) - 4) + b"\r\n\r\n"
        protocol.data_received(head)
        await settle()
        assert transport.written.split(b" ")[1] == status


async def test_the_most_fields_that_are_taken(rig: Rig) -> None:
    rig.answers.set()
    for n_fields, status in ((MAX_FIELDS, b"200"), (MAX_FIELDS + 1, b"431")):
        protocol, transport = rig.connect()
        protocol.data_received(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * n_fields + b"\r\n")
        await settle()
        assert transport.written.split(b" ")[1] == status


@pytest.mark.parametrize("piece", [b"5;" + b"e" * 1000, b"5;e=" + b'"q"' * 300], ids=["name", "value"])
async def test_a_chunk_extension_without_an_end(rig: Rig, piece: bytes) -> None:
    protocol, transport = rig.connect()
    feed(protocol, [CHUNKED, piece])
    await settle()
    feed(protocol, [b"e" * 1000] * 70)
    assert_refused(transport, 400, "bad_request")
    await settle()
    assert rig.messages[-1]["type"] == "http.disconnect"


async def test_trailers_are_bounded_and_no_part_of_the_head(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = rig.connect()
    protocol.data_received(CHUNKED + b"1\r\nx\r\n0\r\nAuthorization: Bearer stolen\r\nX: y\r\n\r\n" + GET)
    await settle()
    assert [dict(scope["headers"]).keys() for scope in rig.scopes] == [{b"host", b"transfer-encoding"}, {b"host"}]
    protocol.data_received(CHUNKED + b"0\r\n")
    await settle()
    feed(protocol, [b"a:\r\n" * 1000] * 20)
    assert transport.is_paused, "nothing more is read: the answer was given before"
    rig.tick(3)
    assert transport.end
    assert len(rig.scopes[-1]["headers"]) == 2


async def test_requests_before_the_first_is_answered_are_bounded(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(GET * (MAX_PIPELINED + 1))
    assert transport.end == ""
    protocol.data_received(GET * 100_000)
    assert transport.end == "aborted"
    assert len(protocol.pipeline) <= MAX_PIPELINED
    protocol, transport = rig.connect()
    protocol.data_received(GET * (MAX_PIPELINED + 1))
    rig.answers.set()
    for _ in range(MAX_PIPELINED + 1):
        await settle()
    assert transport.written.count(b"200 OK") == MAX_PIPELINED + 1


async def test_no_head(rig: Rig) -> None:
    protocol, transport = rig.connect()
    rig.tick(HEAD_S - 1)
    assert transport.end == ""
    rig.tick(1)
    assert transport.end == "closed"
    protocol.connection_lost(None)
    assert len(rig.book) == 0


async def test_a_head_that_trickles_in_ends_in_time(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(b"GET / HTTP/1.1\r\n")
    for _ in range(int(HEAD_S)):
        assert transport.written == b""
        protocol.data_received(b"a:b\r\n")
        rig.tick(1)
    assert_refused(transport, 408, "too_slow")


async def test_a_connection_that_is_kept_open_has_the_same_time_for_each_head(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = rig.connect()
    for _ in range(5):
        rig.tick(HEAD_S - 1)
        protocol.data_received(GET)
        await settle()
    assert transport.written.count(b"200 OK") == 5
    assert transport.end == ""
    for _ in range(int(HEAD_S)):
        # Blank lines before a request are no request.
        protocol.data_received(b"\r\n")
        rig.tick(1)
    assert b" 408 " in transport.written


async def test_a_request_that_takes_long_is_not_the_clients_fault(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(GET)
    await settle()
    rig.tick(1000)
    assert transport.end == ""
    rig.answers.set()
    await settle()
    assert b"200 OK" in transport.written


async def test_a_body_that_does_not_come(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(POST + b"x")
    await settle()
    rig.tick(STALL_S)
    assert_refused(transport, 408, "too_slow")
    await settle()
    assert rig.messages[-1]["type"] == "http.disconnect"
    rig.answers.set()
    await settle()
    assert b"200 OK" not in transport.written, "one answer"


@pytest.mark.parametrize(("n_bytes", "is_kept"), [(MIN_BYTES_PER_S + 1, True), (MIN_BYTES_PER_S // 2, False)])
async def test_a_slow_body(rig: Rig, n_bytes: int, is_kept: bool) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(POST)
    await settle()
    for _ in range(60):
        protocol.data_received(b"x" * n_bytes)
        await settle()
        rig.tick(1)
    assert (transport.written == b"") is is_kept


async def test_the_overhead_of_chunks_is_no_progress(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(CHUNKED)
    await settle()
    for _ in range(int(STALL_S)):
        protocol.data_received(b"1;" + b"e" * 5000 + b"\r\nx\r\n")
        await settle()
        rig.tick(1)
    assert_refused(transport, 408, "too_slow")


async def test_a_body_that_the_application_does_not_read_is_not_the_clients_fault(rig: Rig) -> None:
    rig.reads.clear()
    protocol, transport = rig.connect()
    protocol.data_received(POST + b"x")
    await settle()
    assert transport.is_paused, "nothing more is held than came with the head"
    rig.tick(1000)
    assert transport.end == ""
    rig.reads.set()
    await settle()
    assert not transport.is_paused
    rig.tick(STALL_S - 1)
    assert transport.written == b""
    rig.tick(1)
    assert_refused(transport, 408, "too_slow")


async def test_a_client_that_waits_for_100_continue_is_not_late(rig: Rig) -> None:
    rig.reads.clear()
    protocol, transport = rig.connect()
    protocol.data_received(POST.replace(b"Host", b"Expect: 100-continue\r\nHost"))
    await settle()
    rig.tick(1000)
    assert transport.end == ""
    rig.reads.set()
    await settle()
    assert transport.written == b"HTTP/1.1 100 Continue\r\n\r\n"
    rig.tick(STALL_S)
    assert b" 408 " in transport.written


async def test_a_body_after_its_answer_is_thrown_away_up_to_a_limit(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = rig.connect()
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (1 << 40)
    protocol.data_received(head)
    await settle()
    assert b"200 OK" in transport.written
    feed(protocol, [bytes(1 << 16)] * (MAX_UNWANTED_BYTES >> 16))
    assert not transport.is_paused
    protocol.data_received(b"x")
    # Nothing more is read; the client has time to read its answer.
    assert (transport.is_paused, transport.end) == (True, "")
    rig.tick(2)
    assert transport.end
    assert transport.written.count(b"HTTP/1.1") == 1


async def test_beginnings_of_bodies_are_bounded_together(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.reads.clear()
    rig.state.unread = BodyBudget(200_000)
    transports = []
    for _ in range(3):
        protocol, transport = rig.connect()
        protocol.data_received(POST + bytes(50_000))
        transports.append(transport)
    assert [transport.is_paused for transport in transports] == [True, True, False]
    assert_refused(transports[2], 503, "overloaded")
    # Another address has room yet.
    _, transport = rig.connect("192.0.2.2")
    protocol, transport = rig.connect("192.0.2.2")
    protocol.data_received(POST + bytes(50_000))
    assert transport.is_paused
    rig.reads.set()
    await settle()
    rig.tick(1)
    assert rig.state.unread.n_held == 0


@pytest.mark.parametrize("end", ["", "closed"], ids=["under way", "closing"])
async def test_an_answer_that_nobody_reads(rig: Rig, end: str) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(GET)
    await settle()
    transport.n_unsent = 1 << 20
    transport.end = end
    rig.tick(STALL_S)
    assert transport.end == end
    rig.tick(1)
    assert transport.end == "aborted"


@pytest.mark.parametrize(("n_bytes", "is_kept"), [(MIN_BYTES_PER_S + 1, True), (MIN_BYTES_PER_S // 2, False)])
async def test_an_answer_that_is_read_slowly(rig: Rig, n_bytes: int, *, is_kept: bool) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(GET)
    await settle()
    transport.n_unsent = 1 << 20
    for _ in range(200):
        rig.tick(1)
        transport.n_unsent -= n_bytes
    assert (transport.end == "") is is_kept


async def test_an_answer_that_has_nothing_to_send_goes_on(rig: Rig) -> None:
    # As /live, between two events.
    protocol, transport = rig.connect()
    protocol.data_received(GET)
    await settle()
    for _ in range(10):
        transport.n_unsent = 100
        rig.tick(1)
        transport.n_unsent = 0
        rig.tick(100)
    assert transport.end == ""


async def test_an_upgrade_is_answered_as_if_it_were_none(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = rig.connect()
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + GET)
    protocol.data_received(GET)
    await settle()
    assert transport.written.count(b"200 OK") == 1
    assert transport.end == "closed"


async def test_what_is_no_http_is_refused(rig: Rig) -> None:
    protocol, transport = rig.connect()
    protocol.data_received(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    assert_refused(transport, 400, "bad_request")


async def test_a_newcomer_takes_the_place_of_an_idle_connection() -> None:
    rig = Rig(n_connections=2)
    busy, busy_transport = rig.connect()
    busy.data_received(GET)
    await settle()
    _, idle_transport = rig.connect()
    newcomer, newcomer_transport = rig.connect("192.0.2.2")
    assert idle_transport.end == "closed"
    newcomer.data_received(GET)
    await settle()
    # Both have requests now.
    _, refused = rig.connect("192.0.2.3")
    assert_refused(refused, 503, "overloaded")
    assert b"retry-after" in refused.written.lower()
    rig.reads.set()
    rig.answers.set()
    await settle()
    assert b"200 OK" in busy_transport.written
    assert b"200 OK" in newcomer_transport.written
