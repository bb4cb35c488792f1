"""Heads without an end, at a real server: the connection is closed, and memory stays as it is (all of them: tests/cli)."""

from collections.abc import Iterator

import pytest

from tests.attack.clients import MIB, NEWCOMER, ask, ask_health, plain_database, pour, rss_bytes
from tests.databases import ServerPool
from tests.e2e.product import Server

CHUNKED = (
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)
# Much more than lies in buffers of the network on its way.
MAX_SENT = 64 * MIB
MAX_GROWTH = 60 * MIB


@pytest.fixture(scope="module")
def server(servers: ServerPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with plain_database(servers) as url, Server(url, tmp_path_factory.mktemp("server") / "log") as server:
        # What a process takes once, such as 64 MiB for the hash of a password, is no growth by an attack.
        for number in range(12):
            login = f'{{"name": "nobody{number}", "password": "wrong"}}'.encode()
            ask(server.port, "/api/v1/auth/login", method="POST", head="Content-Type: application/json\r\n", body=login)
        yield server


def memory(server: Server) -> int:
    assert server.process is not None
    return rss_bytes(server.process.pid)


@pytest.mark.parametrize(
    ("start", "piece", "statuses"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"a" * 65536, {431}),
        (b"GET / HTTP/1.1\r\n", b"a:\r\n" * 10_000, {431}),
        (CHUNKED + b"0\r\n", b"a:\r\n" * 10_000, {400, 422}),
    ],
    ids=["value", "fields", "trailers"],
)
def test_a_head_without_an_end(server: Server, start: bytes, piece: bytes, statuses: set[int]) -> None:
    before = memory(server)
    flood = pour(server.port, start, piece, MAX_SENT)
    assert flood.is_ended, f"{flood.n_sent} bytes were taken"
    if flood.reply:
        assert int(flood.reply.split(b" ", 2)[1]) in statuses
    assert memory(server) - before < MAX_GROWTH
    assert ask_health(server.port, NEWCOMER).status == 200
