"""The database fails as it does in practice: agents keep their data, the server recovers by itself, all is stored once."""

import contextlib
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.attack.clients import rss_bytes
from tests.debian_root import DatabaseUnavailable
from tests.e2e.product import Server, health_status, wait_until
from tests.failures.postgres import FragilePostgres, SmallDiskPostgres, running_postgres
from tests.failures.sender import Fleet, make_agent_token
from tests.unavailable import skip_without

# A database and servers start several times here, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)

MIB = 1 << 20


@pytest.fixture(scope="module")
def postgres() -> Iterator[FragilePostgres]:
    with running_postgres(max_connections="30") as postgres:
        yield postgres


@pytest.fixture
def emptied(postgres: FragilePostgres) -> str:
    """The URL of the database, without what another test left."""
    with psycopg.connect(postgres.url_of_tests) as connection:
        connection.execute("TRUNCATE hosts, agent_tokens, users CASCADE")
    return postgres.url_of_tests


def is_healthy(server: Server) -> bool:
    status = health_status(server.port)
    assert status in {200, 503}
    return status == 200


def _take_all(database_url: str, taken: list[psycopg.Connection]) -> None:
    while True:
        taken.append(psycopg.connect(database_url))


def assert_no_defect(server: Server) -> None:
    """What was not the server's fault is no error of it: neither a traceback nor an answer of 500."""
    log = server.log_path.read_text()
    assert "Traceback" not in log, log[log.index("Traceback") - 300 :][:3000]
    assert "request_failed" not in log
    assert "task_ended" not in log


@pytest.mark.matrix
def test_a_full_disk(tmp_path: Path) -> None:
    postgres = SmallDiskPostgres("160m", max_wal_size="48MB", min_wal_size="48MB")
    try:
        try:
            postgres.start()
            postgres.move_to_small_disk()
        except DatabaseUnavailable as error:
            skip_without(error)
        with psycopg.connect(postgres.admin_url("normstat"), autocommit=True) as connection:
            # The log's next segments are there already; a real disk gets full in the same order: tables first.
            for _ in range(3):
                connection.execute("SELECT pg_switch_wal()")
                connection.execute("CHECKPOINT")
        token = make_agent_token(postgres.url_of_tests)
        with Server(postgres.url_of_tests, tmp_path / "log") as server:
            with Fleet(server.port, token, n_agents=4, n_rows=3000, n_pieces=30) as fleet:
                fleet.wait_until(0.2)
                postgres.fill(n_left=256 * 1024)
                before = fleet.answers[503]
                wait_until(lambda: fleet.answers[503] >= before + 8, "503 because of the full disk")
                assert "No space left on device" in postgres.log_path.read_text()
                assert fleet.n_acked < fleet.n_bytes
                # It answers all the same: 503, or 200 to those who only read.
                is_healthy(server)
                postgres.make_room()
                postgres.start_again()
                fleet.wait_until(1.0)
            wait_until(lambda: is_healthy(server), "health")
            assert set(fleet.answers) <= {200, 503}, fleet.answers
            fleet.assert_stored_once(postgres.url_of_tests)
            assert_no_defect(server)
    finally:
        postgres.stop()


@pytest.mark.slow
def test_the_database_is_restarted(postgres: FragilePostgres, emptied: str, tmp_path: Path) -> None:
    token = make_agent_token(emptied)
    with Server(emptied, tmp_path / "log") as server:
        with Fleet(server.port, token, n_agents=4, n_rows=1500, n_pieces=30) as fleet:
            for part in (0.2, 0.5):
                fleet.wait_until(part)
                postgres.stop_at_once()
                before = fleet.answers[503]
                wait_until(lambda before=before: fleet.answers[503] > before, "503 while it is away")  # type: ignore[misc]
                assert not is_healthy(server)
                postgres.start_again()
            fleet.wait_until(1.0)
        wait_until(lambda: is_healthy(server), "health")
        assert set(fleet.answers) <= {200, 503}, fleet.answers
        fleet.assert_stored_once(emptied)
        assert_no_defect(server)


@pytest.mark.matrix
def test_no_connection_is_left(postgres: FragilePostgres, emptied: str, tmp_path: Path) -> None:
    token = make_agent_token(emptied)
    with Server(emptied, tmp_path / "log") as server, Fleet(server.port, token, n_agents=4, n_rows=1000, n_pieces=20) as fleet:
        fleet.wait_until(0.2)
        others: list[psycopg.Connection] = []
        # Others take every connection that there is, those of the server first.
        before = fleet.answers[503]
        with psycopg.connect(emptied, autocommit=True) as connection:
            deadline = time.monotonic() + 120
            while fleet.answers[503] < before + 4:
                assert time.monotonic() < deadline
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'normstat%'")
                with pytest.raises(psycopg.OperationalError, match=r"too many clients|remaining connection slots"):
                    _take_all(emptied, others)
            n_acked = fleet.n_acked
        assert n_acked < fleet.n_bytes
        for other in others:
            other.close()
        fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 503}, fleet.answers
        fleet.assert_stored_once(emptied)
        assert_no_defect(server)


@pytest.mark.matrix
def test_three_hundred_connections_at_once(postgres: FragilePostgres, emptied: str, tmp_path: Path) -> None:
    token = make_agent_token(emptied)
    with Server(emptied, tmp_path / "log", settings={"NORMSTAT_INGEST_MAX_REQUESTS": "100"}) as server:
        # Fewer connections to the database than that, and room for a third of the requests.
        with Fleet(server.port, token, n_agents=300, n_rows=20, n_pieces=1) as fleet:
            fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 503}, fleet.answers
        assert is_healthy(server)
        fleet.assert_stored_once(emptied)
        assert_no_defect(server)


@pytest.mark.slow
def test_bodies_that_never_end_take_no_memory(emptied: str, tmp_path: Path) -> None:
    token, other = make_agent_token(emptied), make_agent_token(emptied, "other")
    head = (
        f"POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nNormstat-Host: web1\r\n"
        f"Content-Length: {8 * MIB}\r\n\r\n"
    ).encode()
    settings = {"NORMSTAT_INGEST_MAX_BYTES": str(32 * MIB), "NORMSTAT_STALL_TIMEOUT_S": "600"}
    with Server(emptied, tmp_path / "log", settings=settings) as server:
        with contextlib.ExitStack() as stack:
            assert server.process is not None
            before = rss_bytes(server.process.pid)
            slow = []
            for _ in range(40):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                connection.sendall(head)
                connection.settimeout(0)
                slow.append(connection)
            refused: set[socket.socket] = set()

            def look() -> bool:
                for connection in slow:
                    with contextlib.suppress(BlockingIOError):
                        try:
                            answer = connection.recv(1000)
                        except ConnectionError:
                            answer = b""
                        if not answer or answer.startswith(b"HTTP/1.1 503"):
                            refused.add(connection)
                return len(refused) >= 38

            # What is only announced takes no room; of 32 MiB one token gets the half.
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.settimeout(0.2)
                    connection.sendall(bytes(7 * MIB))
            for connection in slow:
                connection.settimeout(0)
            wait_until(look, "all but two are sent away")
            assert rss_bytes(server.process.pid) - before < 80 * MIB, "320 MiB were announced"
            # Their token has no room left, and others do.
            own = Fleet(server.port, token, n_agents=1, n_rows=20, n_pieces=1)
            with own, Fleet(server.port, other, n_agents=1, n_rows=20, n_pieces=1) as fleet:
                fleet.wait_until(1.0)
                assert set(fleet.answers) == {200}
                stack.close()
                own.wait_until(1.0)
        assert server.log_path.read_text().count('"ingest_overloaded"') == 1, "once, not forty times"


@pytest.mark.matrix
def test_everything_is_killed_at_any_moment(postgres: FragilePostgres, emptied: str, tmp_path: Path) -> None:
    rng = random.Random(42)
    token = make_agent_token(emptied)
    with Server(emptied, tmp_path / "log") as server:
        with Fleet(server.port, token, n_agents=3, n_rows=3000, n_pieces=60) as fleet:
            rounds = [("server",), ("database",), ("database", "server"), ("database",)]
            for number, victims in enumerate(rng.sample(rounds, len(rounds)), 1):
                # A bit of work in every round, then the plug at a moment that nobody chose.
                fleet.wait_until(0.2 * number)
                time.sleep(rng.random() * 0.2)
                if "server" in victims:
                    server.kill()
                if "database" in victims:
                    postgres.crash()
                    time.sleep(rng.random() * 0.3)
                    postgres.start_again()
                if "server" in victims:
                    server.start()
            fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 503, 0}, fleet.answers
        fleet.assert_stored_once(emptied)
        assert_no_defect(server)
