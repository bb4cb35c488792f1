"""Every way to send: the same bytes, the token in no argument list, and https only to a server that proves its name."""

import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import require_program, under_every_shell
from tests.agent.fake_server import FakeServer
from tests.agent.host import Host
from tests.certificates import make_self_signed


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key in one file."""
    folder = tmp_path_factory.mktemp("tls")
    make_self_signed(folder / "pem", folder / "key")
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


@pytest.fixture
def strict_tls_server(certificate: Path) -> Iterator[FakeServer]:
    """A server that wants a certificate of its clients: here the same as its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    server = FakeServer(tls=context)
    server.start()
    yield server
    server.stop()


def deliver(host: Host, *options: str) -> None:
    """Bytes arrive through a failure, and the token is never seen."""
    host.server.fail_next("503 retry 2", "", "401")
    host.run(*options, "--tags", "prod,rack-7")
    seen: set[str] = set()

    def look() -> bool:
        seen.update(host.processes().values())
        return host.received("emit_linux") > 8_000 and host.log.count("accepts data again") == 2

    host.wait_for(look, "bytes")
    # Before the check, which is given no tags: its request may be the last one.
    headers = host.server.requests[-1].headers
    checked = host.command("check", *options)
    assert checked.returncode == 0, checked
    host.end_exactly()
    assert not any(host.server.token in line for line in seen)
    assert "the server does not know this token" in host.log
    assert (headers["normstat-host"], headers["normstat-tags"]) == ("web1", "prod,rack-7")
    assert re.fullmatch(r"Linux \S+ \S+", headers["normstat-os"])
    assert headers["normstat-time"].isdecimal()
    numbers = r"\d+\.\d+" if shutil.which("cksum", path=host.path) else ""
    assert re.fullmatch(numbers, headers.get("normstat-machine", ""))
    assert headers["content-type"] == "application/x-normstat-frames"
    assert headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("transport", ["curl", "wget", "perl"])
def test_http(host: Host, transport: str) -> None:
    require_program(transport)
    deliver(host, "--transport", transport)


def test_perl_says_once_why_there_is_no_connection(host: Host) -> None:
    require_program("perl")
    host.server.stop()
    checked = host.command("check", "--transport", "perl")
    assert checked.returncode == 1
    assert checked.stdout.count("Connection refused") == 1, checked


@pytest.mark.parametrize("transport", ["curl", "wget", "perl", "openssl"])
def test_https_with_both_sides_proven(host: Host, strict_tls_server: FakeServer, certificate: Path, transport: str) -> None:
    require_program(transport)
    if (
        transport == "perl"
        and subprocess.run(["perl", "-MIO::Socket::SSL", "-e", "1"], capture_output=True, check=False).returncode
    ):
        pytest.skip("perl has no IO::Socket::SSL here: https by perl is not tried")
    host.server.stop()
    host.server = strict_tls_server
    to_server = ("--transport", transport, "--ca-file", str(certificate))
    assert "CANNOT BE REACHED" in host.command("check", *to_server).stdout
    key = certificate.with_name("key")
    key.chmod(0o644)
    own = ("--client-cert", str(certificate.with_name("pem")), "--client-key", str(key))
    refused = host.command("check", *to_server, *own)
    assert (refused.returncode, "can be read by others: chmod 600" in refused.stderr) == (1, True), refused
    key.chmod(0o600)
    deliver(host, *to_server, *own)


@pytest.mark.parametrize("transport", ["curl", "wget", "openssl"])
def test_https_refuses_a_server_that_cannot_prove_its_name(host: Host, tls_server: FakeServer, transport: str) -> None:
    require_program(transport)
    host.server.stop()
    host.server = tls_server
    checked = host.command("check", "--transport", transport)
    assert checked.returncode == 1
    assert "CANNOT BE REACHED" in checked.stdout, checked
    assert not tls_server.requests


FEW_TOOLS: Final = ("cat", "cmp", "cp", "curl", "date", "dd", "id", "ls", "mkdir", "mv", "od", "rm", "sleep", "sort", "tr", "uname")


def use_only(host: Host, *tools: str) -> None:
    """Leaves the host these programs."""
    folder = host.root / "usr-bin"
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(require_program(tool))
    host.path = f"{host.bin}:{folder}"


@under_every_shell
def test_a_request_takes_as_few_processes_as_it_can(host: Host) -> None:
    """With perl: one listing, one perl, one gzip and one sleep, however many streams; the token is checked once a minute."""
    for tool in ("ls", "dd", "date", "gzip", "perl", "curl", "cat", "cp"):
        program = require_program(tool)
        host.tool(tool, f'#!/bin/sh\necho {tool} >>"$NORMSTAT_TEST_HOST/ran"\nexec {program} "$@"\n')
    host.stats(*(f"emit{n}_linux emit 0.2 4" for n in range(4)))
    host.run("--interval", "1")
    host.wait_for(lambda: len(host.server.requests) >= 3, "requests")
    begin, n_before = len((host.root / "ran").read_text().split()), len(host.server.requests)
    host.wait_for(lambda: len(host.server.requests) >= n_before + 8, "more requests")
    ran = (host.root / "ran").read_text().split()[begin:]
    n_requests = len(host.server.requests) - n_before + 1
    for tool in ("ls", "perl", "gzip"):
        assert ran.count(tool) <= n_requests + 3, ran
    assert len([tool for tool in ran if tool not in {"ls", "perl", "gzip"}]) <= 3, ran
    assert host.stop() == 0
    for n in range(4):
        assert host.received(f"emit{n}_linux")


@under_every_shell
def test_without_perl_the_shell_makes_the_requests(host: Host) -> None:
    # printf is a program in mksh.
    use_only(host, *FEW_TOOLS, "gzip", "printf", "ps")
    deliver(host)
    assert "by curl" in host.log


def test_a_request_that_perl_cannot_make_is_made_again(host: Host) -> None:
    """A gzip that fails, and a perl that does, for the transport that needs its help least."""
    gzip, perl = require_program("gzip"), require_program("perl")
    host.tool("gzip", f'#!/bin/sh\n[ ! -f "$NORMSTAT_TEST_HOST/bad" ] || exit 4\nexec {gzip} "$@"\n')
    host.tool("perl", f'#!/bin/sh\n[ ! -f "$NORMSTAT_TEST_HOST/worse" ] || exit 9\nexec {perl} "$@"\n')
    for options, name, said in (
        ((), "bad", "gzip ended with status 4"),
        (("--transport", "curl"), "bad", "gzip ended with status 4"),
        ((), "worse", "no answer from"),
        (("--transport", "curl"), "worse", "perl could not make the request"),
    ):
        n_before = host.log.count(said)
        host.run(*options)
        host.wait_for_bytes("emit_linux", host.received("emit_linux") + 1)
        (host.root / name).touch()
        host.wait_for(lambda n=n_before, text=said: host.log.count(text) > n, said)  # type: ignore[misc]
        (host.root / name).unlink()
        n_good = host.log.count("accepts data again")
        host.wait_for(lambda n=n_good: host.log.count("accepts data again") > n, "the good news")  # type: ignore[misc]
        host.end_exactly()


def test_an_answer_that_ends_early_is_none(host: Host) -> None:
    host.server.fail_next("raw HTTP/1.0 200 OK\r\nContent-Length: 4000\r\n\r\n{key} {end}\n")
    host.run()
    host.wait_for(lambda: "the answer ends early" in host.log, "word of it")
    host.wait_for(lambda: "accepts data again" in host.log, "the good news")
    host.end_exactly()


def test_without_gzip_and_ps_the_body_is_sent_as_it_is(host: Host) -> None:
    use_only(host, *FEW_TOOLS)
    host.run()
    host.wait_for_bytes("emit_linux", 5_000)
    assert host.command("run").returncode == 4
    host.end_exactly()
    assert host.server.requests[-1].headers["content-encoding"] == "identity"
