"""TLS: clients that never finish a handshake, cookies that only TLS carries, agents without a certificate, and a renewal."""

import contextlib
import gzip
import re
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX
from normstat.server.certificates import LOOK_EVERY_S
from tests.attack.clients import ATTACKER, MIB, NEWCOMER, ask, connect, holding, is_ended, read_reply
from tests.certificates import Authority, make_authority
from tests.e2e.product import Server, wait_until
from tests.failures.sender import make_agent_token
from tests.failures.test_workers import events

# The beginning of a TLS record that never ends.
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("tls") / "authority.pem")


class TlsServer(Server):
    """A server with a certificate of the test's authority for 127.0.0.1."""

    def __init__(
        self, database_url: str, folder: Path, authority: Authority, *, workers: int = 1, settings: dict[str, str] | None = None
    ) -> None:
        self.certificate = authority.issue(folder / "server.pem")
        tls = {"NORMSTAT_TLS_CERT": str(self.certificate)}
        super().__init__(database_url, folder / "log", workers=workers, settings=tls | (settings or {}))
        self.url = f"https://127.0.0.1:{self.port}"
        self.environment["NORMSTAT_PUBLIC_URL"] = self.url
        self.trusting = ssl.create_default_context(cafile=authority.path)

    def is_healthy(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log_path.read_text()[-3000:]
        return self.asks_from(ATTACKER) == 200

    def client(self, certificate: Path | None = None) -> httpx.Client:
        context = self.trusting
        if certificate is not None:
            context = ssl.create_default_context(cadata=None)
            context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(self.trusting.get_ca_certs(binary_form=True)[0]))
            context.load_cert_chain(certificate)
        return httpx.Client(base_url=self.url, verify=context, timeout=60)

    def asks_from(self, source: str) -> int:
        """The status of /health for a new connection from there; 0 when it was cut off."""
        try:
            with connect(self.port, source) as plain, self.trusting.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                return int((connection.recv(65536) or b"HTTP/1.1 0").split(b" ")[1])
        except OSError:
            return 0

    def serial_shown(self) -> object:
        with connect(self.port) as plain, self.trusting.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            return (connection.getpeercert() or {}).get("serialNumber")


@pytest.mark.parametrize(
    ("workers", "payload"),
    [pytest.param(1, HALF_A_HELLO, id="half a hello"), pytest.param(2, b"", id="silent", marks=pytest.mark.matrix)],
)
def test_handshakes_that_do_not_end(url: str, tmp_path: Path, authority: Authority, workers: int, payload: bytes) -> None:
    settings = {"NORMSTAT_MAX_CONNECTIONS": "60", "NORMSTAT_HEAD_TIMEOUT_S": "5"}
    with TlsServer(url, tmp_path, authority, workers=workers, settings=settings) as server:
        with holding(server.port, 300, payload) as held:
            for _ in range(5):
                assert server.asks_from(ATTACKER) == 200
                assert server.asks_from(NEWCOMER) == 200
            wait_until(lambda: all(is_ended(connection) for connection in held), "none is held for ever")
        # Garbage in every place where a handshake could go wrong.
        for garbage in (b"\x16" + bytes(5000), b"\x16\x03\x01\x00\x05hello", b"\x16" * 20_000):
            with connect(server.port) as connection, contextlib.suppress(ConnectionError):
                connection.sendall(garbage)
                assert read_reply(connection).status == 0
        assert server.asks_from(NEWCOMER) == 200
    ended = events(server, "connections_ended")
    assert any("n_failed_handshakes" in event for event in ended)
    assert not events(server, "request_failed")
    assert "Traceback" not in server.log_path.read_text()


def test_requests_without_tls_are_told(url: str, tmp_path: Path, authority: Authority) -> None:
    with TlsServer(url, tmp_path, authority) as server:
        reply = ask(server.port, "/login")
    assert reply.status == 400
    assert b"begins with https://" in reply.body


def test_cookies_come_by_tls_only_and_belong_to_this_host(url: str, tmp_path: Path, authority: Authority) -> None:
    with TlsServer(url, tmp_path, authority) as server:
        token = server.normstat("login-link").partition("#token=")[2]
        with server.client() as client:
            answer = client.post("/api/v1/auth/link", json={"token": token})
            assert answer.status_code == 200
            cookies = answer.headers.get_list("set-cookie")
            assert {cookie.partition("=")[0] for cookie in cookies} == {"__Host-normstat_session", "__Host-normstat_browser"}
            for cookie in cookies:
                assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
                assert "Domain" not in cookie
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
            assert client.get("/api/v1/auth/me").status_code == 200
            session = client.cookies["__Host-normstat_session"]
            gone = client.post("/api/v1/auth/logout", headers={"X-Normstat-Request": "1"})
            assert "Secure" in gone.headers["set-cookie"]
            assert client.cookies.get("__Host-normstat_session") is None
        # A session that somebody planted under the name of plain HTTP counts for nothing.
        with server.client() as client:
            assert client.get("/api/v1/auth/me", headers={"Cookie": f"normstat_session={session}"}).status_code == 401


def test_agents_show_a_certificate_where_the_server_wants_one(url: str, tmp_path: Path, authority: Authority) -> None:
    agents = make_authority(tmp_path / "agents.pem", "agents")
    own, foreign = agents.issue(tmp_path / "web1.pem", name="web1"), authority.issue(tmp_path / "foreign.pem", name="web1")
    headers = {
        "Authorization": f"Bearer {make_agent_token(url)}", "Normstat-Host": "web1", "Content-Encoding": "gzip",
        "Content-Type": "application/x-normstat-frames",
    }  # fmt: skip
    assert headers["Authorization"].startswith(f"Bearer {AGENT_TOKEN_PREFIX}")

    def post(client: httpx.Client) -> httpx.Response:
        return client.post("/api/v1/ingest", content=gzip.compress(b""), headers=headers)

    with TlsServer(url, tmp_path, authority, settings={"NORMSTAT_TLS_CLIENT_CA": str(agents.path)}) as server:
        with server.client() as client:
            refused = post(client)
            assert refused.status_code == 403
            assert "--client-cert" in refused.text
            assert client.get("/api/v1/health").status_code == 200, "browsers need none"
        with server.client(own) as client:
            assert "expected at least one frame" in post(client).text, "it is looked at"
        with server.client(foreign) as client, pytest.raises(httpx.TransportError):
            post(client)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(LOOK_EVERY_S / 20)


@pytest.mark.matrix
def test_a_renewal_needs_no_restart_and_cuts_nobody_off(url: str, tmp_path: Path, authority: Authority) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("page")
    (page / "large.bin").write_bytes(bytes(8 * MIB))
    with TlsServer(url, tmp_path, authority, settings={"NORMSTAT_PAGE_DIR": str(page)}) as server, server.client() as client:
        before = server.serial_shown()
        with client.stream("GET", "/large.bin") as answer:
            pieces = answer.iter_bytes(65536)
            n_read = len(next(pieces))
            authority.issue(tmp_path / "new.pem").replace(server.certificate)
            wait_for(lambda: server.serial_shown() != before)
            n_read += sum(len(piece) for piece in pieces)
        assert n_read == 8 * MIB
        found = re.search(r"^normstat_certificate_not_after_seconds (\S+)$", client.get("/metrics").text, re.MULTILINE)
        assert found is not None
        assert 29 < (float(found[1]) - time.time()) / 86400 <= 30
    assert len(events(server, "certificate_loaded")) == 1


def test_a_certificate_that_cannot_be_used_is_one_sentence(url: str, tmp_path: Path, authority: Authority) -> None:
    server = TlsServer(url, tmp_path, authority)
    server.environment["NORMSTAT_TLS_KEY"] = str(authority.path)
    server.launch()
    assert server.process is not None
    assert server.process.wait(60) == 1
    said = [line for line in server.log_path.read_text().splitlines() if line.startswith("normstat:")]
    assert said
    assert all("no private key in" in line for line in said)
    assert "Traceback" not in server.log_path.read_text()
