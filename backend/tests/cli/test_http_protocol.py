"""What one connection takes of its client, and how long it waits for it. Time goes on by ticks that the tests give."""

import pytest

from normstat.api.http.body_limit import BodyBudget
from normstat.server.http_protocol import MAX_FIELDS, MAX_HEAD_BYTES, MAX_PIPELINED, MAX_UNWANTED_BYTES, MIN_BYTES_PER_S
from tests.cli.connection_rig import CHUNKED, GET, HEAD_S, POST, STALL_S, Rig, assert_refused, feed, settle


async def test_no_head(rig: Rig) -> None:
    protocol, transport = rig.connect()
    rig.tick(HEAD_S - 1)
    assert transport.end == ""
    rig.tick(1)
    assert transport.end == "closed"
    protocol.connection_lost(None)
    assert len(rig.connection_table) == 0


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
    _, transport = await rig.ask(GET)
    rig.tick(1000)
    assert transport.end == ""
    rig.answers.set()
    await settle()
    assert b"200 OK" in transport.written


async def test_a_body_that_does_not_come(rig: Rig) -> None:
    _, transport = await rig.ask(POST + b"x")
    rig.tick(STALL_S)
    assert_refused(transport, 408, "too_slow")
    await settle()
    assert rig.messages[-1]["type"] == "http.disconnect"
    rig.answers.set()
    await settle()
    assert b"200 OK" not in transport.written, "one answer"


@pytest.mark.parametrize(("n_bytes", "is_kept"), [(MIN_BYTES_PER_S + 1, True), (MIN_BYTES_PER_S // 2, False)])
async def test_a_slow_body(rig: Rig, n_bytes: int, is_kept: bool) -> None:
    protocol, transport = await rig.ask(POST)
    for _ in range(60):
        protocol.data_received(b"x" * n_bytes)
        await settle()
        rig.tick(1)
    assert (transport.written == b"") is is_kept


async def test_the_overhead_of_chunks_is_no_progress(rig: Rig) -> None:
    protocol, transport = await rig.ask(CHUNKED)
    for _ in range(int(STALL_S)):
        protocol.data_received(b"1;" + b"e" * 5000 + b"\r\nx\r\n")
        await settle()
        rig.tick(1)
    assert_refused(transport, 408, "too_slow")


async def test_a_body_that_the_application_does_not_read_is_not_the_clients_fault(rig: Rig) -> None:
    rig.reads.clear()
    _, transport = await rig.ask(POST + b"x")
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
    _, transport = await rig.ask(POST.replace(b"Host", b"Expect: 100-continue\r\nHost"))
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
    protocol.data_received(b"x")
    # Nothing of it is kept; the client has time to read its answer.
    assert transport.end == ""
    rig.tick(2)
    assert transport.end
    assert transport.written.count(b"HTTP/1.1") == 1


async def test_an_answer_long_before_the_end_of_a_body_is_the_last_one_and_can_be_read(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = await rig.ask(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (MAX_UNWANTED_BYTES + 1))
    head, _, body = transport.written.partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert body == b"ok<EOF>"
    feed(protocol, [bytes(1 << 16)] * 5)
    assert (transport.is_paused, transport.end) == (False, "")
    rig.tick(3)
    assert transport.end


async def test_an_answer_shortly_before_the_end_of_a_body_keeps_the_connection(rig: Rig) -> None:
    rig.answers.set()
    protocol, transport = await rig.ask(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    protocol.data_received(b"123456789" + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await settle()
    assert transport.written.count(b"HTTP/1.1 200") == 2
    assert b"connection: close" not in transport.written


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
    _, transport = await rig.ask(GET)
    transport.n_unsent = 1 << 20
    transport.end = end
    rig.tick(STALL_S)
    assert transport.end == end
    rig.tick(1)
    assert transport.end == "aborted"


@pytest.mark.parametrize(("n_bytes", "is_kept"), [(MIN_BYTES_PER_S + 1, True), (MIN_BYTES_PER_S // 2, False)])
async def test_an_answer_that_is_read_slowly(rig: Rig, n_bytes: int, *, is_kept: bool) -> None:
    _, transport = await rig.ask(GET)
    transport.n_unsent = 1 << 20
    for _ in range(200):
        rig.tick(1)
        transport.n_unsent -= n_bytes
    assert (transport.end == "") is is_kept


async def test_an_answer_that_has_nothing_to_send_goes_on(rig: Rig) -> None:
    # As /live, between two events.
    _, transport = await rig.ask(GET)
    for _ in range(10):
        transport.n_unsent = 100
        rig.tick(1)
        transport.n_unsent = 0
        rig.tick(100)
    assert transport.end == ""


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
