"""Every way to send: the same bytes, the token in no argument list, and https only to a server that proves its name."""

import re
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import require_program
from tests.agent.fake_server import FakeServer
from tests.agent.host import Host

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key in one file."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        f"{require_program('openssl')} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
        "-addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout key -out pem".split(),
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (folder / "both").write_bytes((folder / "pem").read_bytes() + (folder / "key").read_bytes())
    return folder / "both"


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[FakeServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = FakeServer(tls=context)
    server.start()
    yield server
    server.stop()


def deliver(host: Host, *options: str) -> None:
    """Bytes arrive through a failure, and the token is never seen."""
    host.server.fail_next("503 retry 2", "", "401")
    host.run(*options)
    seen: set[str] = set()

    def look() -> bool:
        seen.update(host.processes().values())
        return host.received("emit_linux") > 8_000 and host.log.count("accepts data again") == 2

    host.wait_for(look, "bytes")
    checked = host.command("check", *options)
    assert checked.returncode == 0, checked
    assert host.stop() == 0
    host.assert_exact()
    host.assert_nothing_left_behind()
    assert not any(host.server.token in line for line in seen)
    assert "the server does not know this token" in host.log
    headers = host.server.requests[-1].headers
    assert headers["normstat-host"] == "web1"
    assert re.fullmatch(r"Linux \S+ \S+", headers["normstat-os"])
    assert headers["normstat-time"].isdecimal()
    assert headers["content-type"] == "application/x-normstat-frames"
    assert headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("transport", ["curl", "wget", "perl"])
def test_http(host: Host, transport: str) -> None:
    require_program(transport)
    host.stats("emit_linux emit 0.2 10")
    deliver(host, "--transport", transport)


@pytest.mark.parametrize("transport", ["curl", "wget", "perl", "openssl"])
def test_https_with_a_proven_server(host: Host, tls_server: FakeServer, certificate: Path, transport: str) -> None:
    require_program(transport)
    if (
        transport == "perl"
        and subprocess.run(["perl", "-MIO::Socket::SSL", "-e", "1"], capture_output=True, check=False).returncode
    ):
        pytest.skip("perl has no IO::Socket::SSL here: https by perl is not tried")
    host.stats("emit_linux emit 0.2 10")
    host.server.stop()
    host.server = tls_server
    deliver(host, "--transport", transport, "--ca-file", str(certificate))


@pytest.mark.parametrize("transport", ["curl", "wget", "openssl"])
def test_https_refuses_a_server_that_cannot_prove_its_name(host: Host, tls_server: FakeServer, transport: str) -> None:
    require_program(transport)
    host.stats("emit_linux emit 0.2 10")
    host.server.stop()
    host.server = tls_server
    checked = host.command("check", "--transport", transport)
    assert checked.returncode == 1
    assert "CANNOT BE REACHED" in checked.stdout, checked
    assert not tls_server.requests


def test_without_gzip_and_ps_the_body_is_sent_as_it_is(host: Host) -> None:
    host.stats("emit_linux emit 0.2 10")
    tools = host.root / "usr-bin"
    tools.mkdir()
    for tool in ("cat", "cmp", "cp", "curl", "date", "dd", "id", "ls", "mkdir", "mv", "od", "rm", "sleep", "sort", "tr", "uname"):
        (tools / tool).symlink_to(require_program(tool))
    host.path = f"{host.bin}:{tools}"
    host.run()
    host.wait_for_bytes("emit_linux", 5_000)
    assert host.command("run").returncode == 4
    assert host.stop() == 0
    host.assert_exact()
    assert host.server.requests[-1].headers["content-encoding"] == "identity"
