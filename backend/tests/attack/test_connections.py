"""Connections that do nothing, or that do not read: whoever comes is served, and nothing is held for long."""

import contextlib
from pathlib import Path

import pytest

from tests.attack.clients import (
    ATTACKER,
    MIB,
    NEWCOMER,
    ask,
    ask_health,
    holding,
    is_ended,
    peak_bytes,
)
from tests.e2e.product import Server, wait_until
from tests.failures.sender import Fleet, log_in, make_agent_token
from tests.failures.test_workers import events, n_connections

SECOND_ATTACKER = "127.0.0.3"
N_FILE_BYTES = 64 * MIB


def assert_served(server: Server, *sources: str) -> None:
    for _ in range(5):
        for source in sources:
            assert ask_health(server.port, source).status == 200


@pytest.mark.parametrize(
    ("workers", "payload"),
    [
        pytest.param(1, b"GET / HTTP/1.1\r\nX: ", id="half a head"),
        pytest.param(2, b"", id="idle, two workers", marks=pytest.mark.matrix),
    ],
)
def test_more_idle_connections_than_there_is_room_for(url: str, tmp_path: Path, workers: int, payload: bytes) -> None:
    settings = {"NORMSTAT_MAX_CONNECTIONS": "60", "NORMSTAT_HEAD_TIMEOUT_S": "600"}
    with (
        Server(url, tmp_path / "log", workers=workers, settings=settings) as server,
        holding(server.port, 400, payload),
    ):
        assert_served(server, ATTACKER, NEWCOMER)
        with holding(server.port, 400, payload, SECOND_ATTACKER):
            assert_served(server, ATTACKER, SECOND_ATTACKER, NEWCOMER)
        # Who has a request keeps its place, however many come.
        token = make_agent_token(url)
        with log_in(server, url) as client, client.stream("GET", "/live") as live:
            assert live.status_code == 200
            with holding(server.port, 400, payload), Fleet(server.port, token, n_agents=4, n_rows=20, n_pieces=2) as fleet:
                fleet.wait_until(1.0)
            lines = live.iter_lines()
            assert any(line.startswith("data:") for line in lines)
        assert set(fleet.answers) <= {200, 503}
    dropped = events(server, "connections_ended")
    assert dropped
    assert all(isinstance(event["n_open"], int) and event["n_open"] <= 60 for event in dropped)


@pytest.mark.heavy
def test_four_thousand_idle_connections(url: str, tmp_path: Path) -> None:
    with Server(url, tmp_path / "log") as server:
        assert server.process is not None
        with holding(server.port, 4000) as held:
            assert_served(server, ATTACKER, NEWCOMER)
            wait_until(lambda: all(is_ended(connection) for connection in held), "none is held for ever")
        with holding(server.port, 4000, b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000):
            assert_served(server, ATTACKER, NEWCOMER)
        assert peak_bytes(server.process.pid) < 1000 * MIB


def test_answers_that_nobody_reads(url: str, tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("page")
    (page / "large.bin").write_bytes(bytes(N_FILE_BYTES))
    settings = {"NORMSTAT_STALL_TIMEOUT_S": "2", "NORMSTAT_PAGE_DIR": str(page)}
    request = b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with Server(url, tmp_path / "log", settings=settings) as server, contextlib.ExitStack() as stack:
        assert server.process is not None
        client = stack.enter_context(log_in(server, url))
        live = stack.enter_context(client.stream("GET", "/live", timeout=60))
        lines = live.iter_lines()
        assert next(lines)
        stack.enter_context(holding(server.port, 30, request))
        pid = server.process.pid
        wait_until(lambda: n_connections(pid, server.port) > 20, "all are served")
        assert_served(server, ATTACKER, NEWCOMER)
        wait_until(lambda: n_connections(pid, server.port) == 1, "only the live stream is left")
        # It had nothing to send for longer than that, and goes on.
        token = make_agent_token(url)
        with Fleet(server.port, token, n_agents=1, n_rows=2, n_pieces=1) as fleet:
            fleet.wait_until(1.0)
        assert any(line.startswith("data:") for line in lines)
        # Who reads gets all of it.
        assert len(ask(server.port, "/large.bin").body) == N_FILE_BYTES
