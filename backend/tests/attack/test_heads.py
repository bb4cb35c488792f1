"""Heads without an end: 64 KiB are read, then the connection is closed; memory stays as it is."""

from collections.abc import Iterator

import pytest

from tests.attack.clients import ATTACKER, MIB, NEWCOMER, ask, ask_health, holding, plain_database, pour, rss_bytes
from tests.databases import ServerPool
from tests.e2e.product import Server
from tests.failures.test_workers import events

CHUNKED = (
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)
# Much more than lies in buffers of the network on its way.
MAX_SENT = 64 * MIB
MAX_GROWTH = 60 * MIB


@pytest.fixture(scope="module", params=[1, 2], ids=["one process", "two workers"])
def server(request: pytest.FixtureRequest, servers: ServerPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with (
        plain_database(servers) as url,
        Server(url, tmp_path_factory.mktemp("server") / "log", workers=request.param) as server,
    ):
        # What a process takes once, such as 64 MiB for the hash of a password, is no growth by an attack.
        for number in range(12):
            login = f'{{"name": "nobody{number}", "password": "wrong"}}'.encode()
            ask(server.port, "/api/v1/auth/login", method="POST", head="Content-Type: application/json\r\n", body=login)
        yield server


def pids(server: Server) -> list[int]:
    assert server.process is not None
    return [server.process.pid] + [int(str(event["pid"])) for event in events(server, "worker_ready")]


def memory(server: Server) -> int:
    return sum(rss_bytes(pid) for pid in pids(server))


@pytest.mark.parametrize(
    ("start", "piece", "statuses"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"a" * 65536, {431}),
        (b"GET /", b"a" * 65536, {431}),
        (b"GET / HTTP/1.1\r\n", b"a" * 65536, {431}),
        (b"GET / HTTP/1.1\r\n", b"a:\r\n" * 10_000, {431}),
        (b"", b"\r\n" * 30_000, {431}),
        (b"", b"A" * 65536, {400}),
        (CHUNKED + b"1;", b"a" * 65536, {400}),
        (CHUNKED + b"1;a=", b"a" * 65536, {400}),
        (CHUNKED + b"0\r\n", b"a:\r\n" * 10_000, {400, 422}),
        (CHUNKED + b"0\r\nX: ", b"a" * 65536, {400, 422}),
        (CHUNKED, b"0" * 65536, {400}),
        (b"", b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2000, set()),
    ],
    ids=[
        "value", "address", "name", "fields", "blank lines", "method", "extension", "value of an extension", "trailers",
        "value of a trailer", "size of a chunk", "pipelined",
    ],
)  # fmt: skip
def test_a_head_without_an_end(server: Server, start: bytes, piece: bytes, statuses: set[int]) -> None:
    before = memory(server)
    for _ in range(3):
        flood = pour(server.port, start, piece, MAX_SENT)
        assert flood.is_ended, f"{flood.n_sent} bytes were taken"
        if flood.reply and statuses:
            assert int(flood.reply.split(b" ", 2)[1]) in statuses
    assert memory(server) - before < MAX_GROWTH
    assert ask_health(server.port, NEWCOMER).status == 200


def test_a_large_head_is_refused_with_the_reason(server: Server) -> None:
    assert ask(server.port, "/api/v1/health", head=f"X: {'a' * 60_000}\r\n").status == 200
    refused = ask(server.port, "/api/v1/health", head=f"X: {'a' * 70_000}\r\n")
    assert refused.status == 431
    assert b'"head_too_large"' in refused.body


def test_fields_of_trailers_are_no_fields_of_a_request(server: Server) -> None:
    # Neither of its own request nor of the next one.
    body = b"0\r\nAuthorization: Basic x\r\n\r\n"
    request = "Transfer-Encoding: chunked\r\n"
    answer = ask(server.port, "/api/v1/hosts", method="GET", head=request + "\r\n" + body.decode())
    assert b"Not logged in" in answer.body


@pytest.mark.parametrize("payload", [b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 15_000], ids=["fields"])
def test_many_small_fields_take_no_more_than_they_are(server: Server, payload: bytes) -> None:
    before = memory(server)
    with holding(server.port, 200, payload, ATTACKER):
        assert ask_health(server.port, NEWCOMER).status == 200
        assert memory(server) - before < MAX_GROWTH
