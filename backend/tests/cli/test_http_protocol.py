"""What one connection takes of its client: heads, trailers, requests before the first is answered."""

import pytest

from normstat.cli.http_protocol import MAX_FIELDS, MAX_HEAD_BYTES, MAX_PIPELINED
from tests.cli.connection_rig import CHUNKED, GET, Rig, assert_refused, feed, settle


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
        _, transport = await rig.ask(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * n_fields + b"\r\n")
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
    protocol, transport = await rig.ask(CHUNKED + b"1\r\nx\r\n0\r\nAuthorization: Bearer stolen\r\nX: y\r\n\r\n" + GET)
    assert [dict(scope["headers"]).keys() for scope in rig.scopes] == [{b"host", b"transfer-encoding"}, {b"host"}]
    protocol.data_received(CHUNKED + b"0\r\n")
    await settle()
    feed(protocol, [b"a:\r\n" * 1000] * 20)
    assert transport.written.endswith(b"<EOF>"), "the answer was given before; what comes is thrown away"
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
