"""Bodies that are announced and do not come, or come by the byte: others are served, and the connections end."""

from pathlib import Path

import pytest

from tests.attack.clients import ATTACKER, MIB, NEWCOMER, Reply, ask, ask_health, holding, peak_bytes
from tests.e2e.product import Server
from tests.failures.sender import make_agent_token
from tests.generated import vmstat_text, vmstat_times

PATIENT = {"NORMSTAT_STALL_TIMEOUT_S": "600"}


def head_of(path: str, n_bytes: int, *fields: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {n_bytes}", *fields]
    return "\r\n".join([*lines, "", ""]).encode()


def ingest_head(token: str, n_bytes: int) -> bytes:
    return head_of("/api/v1/ingest", n_bytes, f"Authorization: Bearer {token}", "Normstat-Host: slow")


def send_rows(port: int, token: str, host: str) -> Reply:
    data = vmstat_text(vmstat_times(5))
    body = f"stream vmstat_linux vmstat_linux.{host}.1-1 0 {len(data)} vmstat -n -t 1\n".encode() + data
    head = f"Authorization: Bearer {token}\r\nNormstat-Host: {host}\r\n"
    return ask(port, "/api/v1/ingest", NEWCOMER, method="POST", head=head, body=body)


def test_announced_bytes_take_no_room_from_others(url: str, tmp_path: Path) -> None:
    slow, other = make_agent_token(url, "slow"), make_agent_token(url, "other")
    with (
        Server(url, tmp_path / "log", settings=PATIENT) as server,
        holding(server.port, 40, ingest_head(slow, 16 * MIB) + b"x"),
    ):
        for number in range(10):
            assert send_rows(server.port, other, f"host{number}").status == 200
            # Its own agents have a place, too.
            assert send_rows(server.port, slow, f"own{number}").status == 200
        assert ask_health(server.port).status == 200


def test_a_client_that_goes_away_in_the_middle_is_no_error(url: str, tmp_path: Path) -> None:
    token = make_agent_token(url)
    with Server(url, tmp_path / "log", settings=PATIENT) as server:
        for head in (ingest_head(token, 1000), head_of("/api/v1/auth/login", 1000)):
            with holding(server.port, 10, head + b"x"):
                assert ask_health(server.port).status == 200
        assert send_rows(server.port, token, "host1").status == 200
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "request_failed" not in log


@pytest.mark.parametrize(
    ("path", "n_bytes"), [("/api/v1/auth/login", MIB), ("/api/v1/specs/preview", 4 * MIB), ("/api/v1/imports?host=a&name=b", MIB)]
)
@pytest.mark.heavy
def test_many_bodies_that_are_almost_there(url: str, tmp_path: Path, path: str, n_bytes: int) -> None:
    """What is held of the bodies of strangers is bounded, all together."""
    fields = ["X-Normstat-Request: 1", "Cookie: normstat_session=abc"]
    payload = head_of(path, n_bytes, *fields) + b"[" * (n_bytes - 1000)
    with Server(url, tmp_path / "log", settings=PATIENT) as server:
        assert server.process is not None
        with holding(server.port, 600, head_of(path, n_bytes, *fields)) as held:
            for connection in held:
                # As much as it takes without waiting.
                try:
                    connection.send(payload[:n_bytes])
                except OSError:
                    continue
            assert ask_health(server.port, NEWCOMER).status == 200
            assert ask_health(server.port, ATTACKER).status == 200
        assert peak_bytes(server.process.pid) < 600 * MIB
