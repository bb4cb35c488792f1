"""A server that means harm, or is none: it gets the token of nobody else, fills nothing, stops nothing, runs nothing."""

import itertools
import signal
import ssl
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from _pytest.mark.structures import ParameterSet

from tests.agent.conftest import host, require_program, shell, under_every_shell
from tests.agent.fake_server import TOKEN, Frame
from tests.agent.host import AGENT, AGENTS, PATIENCE_S, Host, send_signal
from tests.agent.rogue_server import Answer, RogueServer
from tests.agent.test_transports import use_only
from tests.certificates import make_self_signed
from tests.vanishing import files_below

# The fixtures, which pytest finds by their names here.
__all__ = ["host", "shell"]

TRANSPORTS: Final = ("curl", "wget", "perl")
# Far more than an answer can be, far less than what the server sends.
MAX_KEPT: Final = 1 << 20
MAX_MEMORY_KB: Final = 64 * 1024
INSTALLER: Final = AGENTS / "install" / "install.sh"


@dataclass(frozen=True, slots=True)
class Authority:
    """A server's side of TLS with a self-signed certificate for 127.0.0.1, and the file of that certificate."""

    context: ssl.SSLContext
    path: Path


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    folder = tmp_path_factory.mktemp("authority")
    make_self_signed(folder / "pem", folder / "key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pem", folder / "key")
    return Authority(context, folder / "pem")


class Rogues:
    """Makes rogue servers and stops them in the end."""

    def __init__(self) -> None:
        self.servers: list[RogueServer] = []

    def __call__(self, answer: Answer, *, port: int = 0, tls: ssl.SSLContext | None = None) -> RogueServer:
        self.servers.append(RogueServer(answer, port=port, tls=tls))
        return self.servers[-1]


@pytest.fixture
def rogue() -> Iterator[Rogues]:
    rogues = Rogues()
    yield rogues
    for server in rogues.servers:
        server.stop()


def say(text: str) -> Answer:
    return lambda: iter([text.encode("latin-1")])


# --- where the token goes -------------------------------------------------------------------------------------------------


def one_and_in_the_matrix(first: str, *others: str) -> list[str | ParameterSet]:
    """Parameters of a test: the first in every run, the others in that of the matrix."""
    return [first, *(pytest.param(other, marks=pytest.mark.matrix) for other in others)]


@pytest.mark.parametrize("status", one_and_in_the_matrix("302", "301", "303", "307", "308"))
@pytest.mark.parametrize("transport", [*TRANSPORTS, "openssl"])
def test_no_redirect_is_followed(host: Host, rogue: Rogues, authority: Authority, transport: str, status: str) -> None:
    require_program(transport)
    elsewhere = rogue(say("HTTP/1.1 200 OK\r\n\r\n"))
    redirect = f"HTTP/1.1 {status} Go\r\nLocation: {elsewhere.url}/api/v1/ingest\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    first = rogue(say(redirect), tls=authority.context if transport == "openssl" else None)
    checked = host.command("check", "--transport", transport, "--server", first.url, "--ca-file", str(authority.path))
    assert checked.returncode == 1
    assert f"answered {status}" in checked.stdout
    assert len(first.heads) == 1
    assert not elsewhere.heads


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_redirect_of_data_is_not_followed_and_said(host: Host, rogue: Rogues, transport: str) -> None:
    require_program(transport)
    elsewhere = rogue(say("HTTP/1.1 200 OK\r\n\r\n"))
    redirect = f"HTTP/1.1 307 Go\r\nLocation: {elsewhere.url}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    first = rogue(say(redirect))
    host.run("--transport", transport, "--server", first.url)
    host.wait_for(lambda: "answers with a redirect (307), which is never followed" in host.log, "a clear word")
    assert host.stop() == 0
    assert not elsewhere.heads
    assert host.raw_sizes()


@pytest.mark.parametrize("version", ["GNU Wget 1.10.2", "GNU Wget2 2.1.0", "BusyBox v1.35.0"])
def test_a_wget_that_may_follow_redirects_is_not_used(host: Host, version: str) -> None:
    is_old = "1.10" in version
    refuse = "case $* in *max-redirect*) echo 'unrecognized option' >&2; exit 2 ;; esac" if is_old else ""
    host.tool("wget", f"#!/bin/sh\n{refuse}\ncase $* in *--version*) echo '{version}'; exit 0 ;; esac\ntouch {host.root}/used\n")
    asked = host.command("run", "--transport", "wget")
    assert asked.returncode == 1
    assert "install curl" in asked.stderr
    assert not (host.root / "used").exists()


PROXY_NAMES: Final = ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_proxy_and_no_setting_is_taken_from_the_surroundings(host: Host, rogue: Rogues, transport: str) -> None:
    require_program(transport)
    proxy = rogue(say("HTTP/1.1 200 OK\r\n\r\n"))
    wgetrc = f"use_proxy = on\nhttp_proxy = {proxy.url}\n"
    (host.root / ".curlrc").write_text(f"proxy = {proxy.url}\nlocation\n")
    (host.root / ".wgetrc").write_text(wgetrc)
    (host.root / "wgetrc").write_text(wgetrc)
    (host.root / ".netrc").write_text("default login x password y\n")
    host.extra = dict.fromkeys(PROXY_NAMES, proxy.url)
    host.extra |= {"WGETRC": str(host.root / "wgetrc"), "SYSTEM_WGETRC": str(host.root / "wgetrc"), "CURL_HOME": str(host.root)}
    host.run("--transport", transport)
    host.wait_for_bytes("emit_linux", 2_000)
    host.end_exactly()
    assert not proxy.heads
    assert "the proxy from the environment is ignored" in host.log
    assert host.server.requests[-1].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("transport", ["curl", "wget"])
def test_a_proxy_that_is_configured_is_used(host: Host, transport: str) -> None:
    """The server's name does not resolve, so that what arrives came by the proxy; its password is in no argument list."""
    require_program(transport)
    seen: set[str] = set()

    def look() -> bool:
        seen.update(host.processes().values())
        return host.received("emit_linux") > 2_000

    proxy = host.server.url.replace("http://", "http://me:proxy-password@")
    (host.root / "agent.conf").write_text(f"proxy={proxy}\n")
    options = ("--transport", transport, "--server", "http://normstat.invalid", "--config", str(host.root / "agent.conf"))
    host.run(*options)
    host.wait_for(look, "bytes by way of the proxy")
    host.end_exactly()
    assert not any("proxy-password" in line for line in seen)
    assert "perl cannot use a proxy" in host.command("check", *options, "--transport", "perl").stderr


@pytest.mark.parametrize("transport", ["wget", "curl"])
def test_certificates_are_checked_whatever_a_file_of_settings_says(
    host: Host, rogue: Rogues, authority: Authority, transport: str
) -> None:
    require_program(transport)
    (host.root / "wgetrc").write_text("check_certificate = off\n")
    (host.root / ".curlrc").write_text("insecure\n")
    host.extra = {"SYSTEM_WGETRC": str(host.root / "wgetrc"), "WGETRC": str(host.root / "wgetrc")}
    server = rogue(say("HTTP/1.1 200 OK\r\n\r\n"), tls=authority.context)
    checked = host.command("check", "--transport", transport, "--server", server.url)
    assert "CANNOT BE REACHED" in checked.stdout, checked
    assert not server.heads


def test_an_address_with_a_password_is_refused(host: Host) -> None:
    done = host.command("run", "--server", "http://me:secret@127.0.0.1")
    assert done.returncode == 2
    assert "must not contain a user name" in done.stderr


def environments(host: Host) -> dict[int, str]:
    found = {}
    for pid in host.processes():
        try:
            found[pid] = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
    return found


@under_every_shell
def test_the_token_is_in_no_environment(host: Host) -> None:
    """Not even where a variable of the agent's own names came with the environment, and so would be handed on."""
    host.stats("emit_linux emit 0.2 10", "loop_linux @1 sleep 0.3")
    host.extra = {"token": "old", "rh_before": "old", "header": "old", "NORMSTAT_TOKEN": "from-the-environment"}
    host.server.fail_next("slow", "slow")
    host.run()
    seen: dict[int, str] = {}

    def look() -> bool:
        seen.update(environments(host))
        return host.received("emit_linux") > 4_000

    host.wait_for(look, "bytes")
    assert host.agent is not None
    tools = {pid: text for pid, text in seen.items() if pid != host.agent.pid}
    assert len(tools) >= 3
    assert not any(TOKEN in text for text in seen.values())
    # The agent's own first environment is what its starter gave it; nobody else gets it.
    exec_of_tools = [text for pid, text in tools.items() if pid in host.tool_processes("emit")]
    assert exec_of_tools
    assert not any("from-the-environment" in text for text in exec_of_tools)
    host.end_exactly()


# --- answers without end --------------------------------------------------------------------------------------------------


def repeat(head: str, piece: bytes) -> Answer:
    return lambda: itertools.chain([head.encode()], itertools.repeat(piece))


PIECE: Final = b"x" * 65_536
ENDLESS: Final[dict[str, Answer]] = {
    "body": repeat("HTTP/1.1 200 OK\r\n\r\n", PIECE),
    "body of many lines": repeat("HTTP/1.1 200 OK\r\n\r\n", b"a 1\n" * 16_384),
    "chunked body": repeat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + PIECE + b"\r\n"),
    "announced body": repeat("HTTP/1.1 503 No\r\nContent-Length: 9000000000000000\r\n\r\n", PIECE),
    "header line": repeat("HTTP/1.1 200 OK\r\nX: ", PIECE),
    "header lines": repeat("HTTP/1.1 200 OK\r\n", b"X-Odd: y\r\n" * 6_000),
    "status line": repeat("HTTP/1.1 ", PIECE),
    "preliminary answers": repeat("", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000),
}


def widest(host: Host) -> int:
    """The longest file of the agent's own in the spool, its scratch files included."""
    own = (file for path, file in files_below(host.spool) if stat.S_ISREG(file.st_mode) and path.suffix not in {".raw", ".log"})
    return max((file.st_size for file in own), default=0)


def memory_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def assert_flat_under(
    host: Host, rogue: Rogues, answer: Answer, *options: str, tls: ssl.SSLContext | None = None, seconds: float = PATIENCE_S
) -> None:
    """Two such answers leave small files and a small agent that ends when it is told to, and nothing is lost."""
    host.server.stop()
    server = rogue(answer, port=host.server.port, tls=tls)
    host.run(*options)
    assert host.agent is not None
    biggest = 0

    def look() -> bool:
        nonlocal biggest
        biggest = max(biggest, widest(host))
        assert biggest < MAX_KEPT, f"a scratch file of {biggest} bytes"
        return len(server.n_sent) >= 2 and "cannot ship" in host.log

    host.wait_for(look, "two answers", seconds)
    assert memory_kb(host.agent.pid) < MAX_MEMORY_KB
    assert host.stop() == 0
    host.assert_nothing_left_behind()
    assert widest(host) < MAX_KEPT
    assert "accepts data again" not in host.log
    server.stop()
    rogue.servers.remove(server)


# Each kind by one transport; all pairs are in `make test-all`.
CUT_OFF_BY: Final = {
    "body": "wget", "body of many lines": "curl", "chunked body": "curl", "announced body": "wget",
    "header line": "curl", "header lines": "wget", "status line": "curl", "preliminary answers": "perl",
}  # fmt: skip


# wget reads preliminary answers until its limit of 30 s of CPU time, or the agent's of 60 s, ends it.
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("transport", "kind"),
    [
        pytest.param(transport, kind, marks=[] if CUT_OFF_BY[kind] == transport else [pytest.mark.matrix])
        for kind in ENDLESS
        for transport in TRANSPORTS
    ],
)
def test_an_endless_answer_is_cut_off(host: Host, rogue: Rogues, transport: str, kind: str) -> None:
    require_program(transport)
    assert_flat_under(host, rogue, ENDLESS[kind], "--transport", transport, seconds=200)
    # Nothing was taken for an answer: all of it is still there and goes to the true server.
    host.server.start()
    host.run("--transport", transport)
    host.wait_for_bytes("emit_linux", 2_000)
    host.end_exactly()


@pytest.mark.parametrize("kind", one_and_in_the_matrix("header lines", "body", "body of many lines"))
def test_an_endless_answer_by_openssl_is_cut_off(host: Host, rogue: Rogues, authority: Authority, kind: str) -> None:
    options = ("--transport", "openssl", "--ca-file", str(authority.path), "--server", f"https://127.0.0.1:{host.server.port}")
    assert_flat_under(host, rogue, ENDLESS[kind], *options, tls=authority.context)


@under_every_shell
@pytest.mark.parametrize("kind", one_and_in_the_matrix("body of many lines", "body", "header lines"))
def test_an_endless_answer_makes_no_shell_grow(host: Host, rogue: Rogues, kind: str) -> None:
    assert_flat_under(host, rogue, ENDLESS[kind])
    assert "is longer than 65536 bytes" in host.log


@under_every_shell
@pytest.mark.parametrize("transport", ["curl", "wget"])
def test_a_transfer_that_never_ends_does_not_keep_the_agent(host: Host, rogue: Rogues, transport: str) -> None:
    """A byte now and then keeps every time-out for silence away; the agent ends all the same, and the transfer with it."""
    pause = threading.Event()

    def drip() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while not pause.wait(0.2):
            yield b"x"

    host.server.stop()
    server = rogue(drip, port=host.server.port)
    host.run("--transport", transport)
    host.wait_for(lambda: server.n_sent and server.n_sent[0] > 30, "a transfer under way")
    began = time.monotonic()
    assert host.stop() == 0
    # The whole of a transfer may take 60 s: far below that, with room for a busy machine.
    assert time.monotonic() - began < 30
    host.assert_nothing_left_behind()
    pause.set()


# --- odd answers ----------------------------------------------------------------------------------------------------------

OK: Final = "raw HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
NO: Final = "raw HTTP/1.1 503 No\r\nConnection: close\r\n"
ODD_LINES: Final = (
    "", " ", "nobody_linux.1.1-1 5", "../../etc/passwd 5", "{key}", "{key} -1", "{key} +1", "{key} 0x10", "{key} 0010", "{key} 1e3",
    "{key} 99999999999999999999999999999999", "{key} 9223372036854775808", "{key} 18446744073709551617",
    "{key} a[$(touch pwned)]", "{key} $(touch pwned)", "{key} `touch pwned`", "{key}/0 1", "* 1", "? 1", "[a-z]* 1",
    "$(touch pwned) 1", "{key} \x001", "\x1b[31m 1", "{key}\t\x7f", "{key} 1;touch pwned", "a" * 3_000 + " 1",
    "{key} " + "0" * 30_000, "\xff\xfe 1", "1 1", "0 0", "stream 1", "- -",
)  # fmt: skip
ODD_ANSWERS: Final = (
    OK + "\n".join(ODD_LINES) + "\n",
    OK + "\n" * 60_000,
    OK + "x 1\n" * 15_000,
    OK + "{key} 0\n" * 2_000,
    OK + "{key} {end}",
    OK + "\0" * 10_000,
    NO + "Retry-After: 31536000\r\n\r\n",
    NO + "Retry-After: a[$(touch pwned)]\r\n\r\n",
    NO + "Retry-After: 1;touch pwned\r\n\r\n$(touch pwned) `touch pwned`\n",
    "raw HTTP/1.1 500 \x1b[31mred\r\nConnection: close\r\n\r\n\x1b]0;title\x07 and more\n",
    'raw HTTP/1.1 500 No\r\nConnection: close\r\n\r\n{"error": {"message": "\x1b[2J$(touch pwned)' + "a" * 50_000 + '"}}\n',
    "raw HTTP/1.1 200a[$(touch pwned)] Odd\r\nConnection: close\r\n\r\n{key} {end}\n",
    "raw \r\n\r\n\r\n",
)


def assert_unharmed(host: Host, *options: str) -> None:
    # A good answer after each odd one, or the pauses would grow to a minute.
    host.server.fail_next("", *(failure for odd in ODD_ANSWERS for failure in (odd, "")))
    host.run(*options)
    assert host.agent is not None
    host.wait_for(
        lambda: not host.server.failures or (host.agent and host.agent.poll() is not None), "the end of the odd answers", 110
    )
    assert host.agent.poll() is None, host.log
    n_bytes = host.received("emit_linux")
    host.wait_for(lambda: host.received("emit_linux") > n_bytes, "bytes after that")
    assert not list(host.root.rglob("pwned"))
    assert all(line.isprintable() for line in host.log.splitlines()), host.log
    assert host.command("status", *options).stdout.replace("\n", "").isprintable()
    assert "refused" not in {path.name for path in host.spool.iterdir()}
    assert max(map(len, host.log.splitlines())) < 1_000
    host.end_exactly()
    assert len(host.raw_files()) <= 1


# 13 odd answers and as many good ones between them, one a second.
@pytest.mark.slow
@pytest.mark.timeout(120)
@under_every_shell
def test_odd_answers_do_no_harm(host: Host) -> None:
    """By perl, the default. What the shell makes of such answers is in agents/tests/functions.sh, for every shell."""
    assert_unharmed(host)


@pytest.mark.matrix
@pytest.mark.timeout(120)
@pytest.mark.parametrize("transport", ["wget", "curl"])
def test_odd_answers_do_no_harm_by_other_ways(host: Host, transport: str) -> None:
    require_program(transport)
    assert_unharmed(host, "--transport", transport)


def spool_bytes(host: Host) -> int:
    """Without the reserve for a full file system, which is as large whatever comes."""
    return sum(file.st_size for path, file in files_below(host.spool) if stat.S_ISREG(file.st_mode) and path.name != "reserve")


@pytest.mark.parametrize("claim", ["refuses", "claims more"])
def test_what_a_server_refuses_does_not_fill_the_disk(host: Host, claim: str) -> None:
    """What is set aside counts as part of the spool, and goes first when the spool is full."""
    host.stats("emit_linux emit 0.1 60")

    def refuse(frames: list[Frame], n_plain: int) -> int | None:
        return 400 if any(frame.kind == "stream" for frame in frames) else None

    if claim == "refuses":
        host.server.rule = refuse
    else:
        host.server.acknowledge = lambda key, offset: 99_999_999_999
    host.run("--max-file", "30K", "--spool-limit", "100K", "--max-body", "16K")
    most = 0

    def look() -> bool:
        nonlocal most
        most = max(most, spool_bytes(host))
        assert most < 500_000, most
        return host.log.count("files of refused bytes") >= 3

    host.wait_for(look, "refused bytes that are given up")
    assert "refused_chunks=0" not in (host.spool / "agent.state").read_text()
    host.calm()
    assert host.stop() == 0


def test_a_server_that_takes_a_few_bytes_at_a_time_does_not_keep_the_agent_from_its_tools(host: Host) -> None:
    """There is always progress and always more to send at once."""
    host.stats("emit_linux emit 60 3000")
    host.server.stop()
    host.run("--max-body", "4K")
    host.wait_for(lambda: max(host.raw_sizes(), default=0) > 200_000, "a backlog")
    taken: dict[str, int] = {}

    def take_little(key: str, offset: int) -> int:
        taken[key] = taken.get(key, 0) + 20
        return taken[key]

    host.server.acknowledge = take_little
    host.server.start()
    host.wait_for(lambda: len(host.server.requests) > 20, "answers")
    for pid in host.tool_processes("emit"):
        send_signal(pid, signal.SIGTERM)
    host.wait_for(lambda: "ended by signal TERM" in host.log, "word of the tool's end")
    # The backlog is 10,000 such requests; the tools are looked at after 100.
    assert len(host.server.requests) < 1_000
    assert host.stop() == 0
    host.assert_nothing_left_behind()


# --- the installer -------------------------------------------------------------------------------------------------------

INSTALLER_TOOLS: Final = (
    "cat", "chmod", "cmp", "cp", "date", "dd", "expr", "id", "ls", "mkdir",
    "mv", "od", "ps", "rm", "sed", "sleep", "sort", "tr", "uname",
)  # fmt: skip
PAGE: Final = "<html>\n<p>Please log in to use this network.</p>\n</html>\n" * 20


@pytest.mark.parametrize("kind", ["redirect", "page", "endless", "endless header", "half"])
@pytest.mark.parametrize("transport", one_and_in_the_matrix("wget", "curl", "perl"))
def test_only_an_agent_is_installed(host: Host, rogue: Rogues, transport: str, kind: str) -> None:
    use_only(host, transport, *INSTALLER_TOOLS)
    script = AGENT.read_bytes()
    elsewhere = rogue(lambda: iter([b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", script]))
    answers: dict[str, Answer] = {
        "redirect": say(
            f"HTTP/1.1 302 Go\r\nLocation: {elsewhere.url}/x\r\nContent-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n{PAGE}"
        ),
        "page": say(f"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{PAGE}"),
        "endless": repeat("HTTP/1.1 200 OK\r\n\r\n#!/bin/sh\n# normstat-agent - ", PIECE),
        "endless header": repeat("HTTP/1.1 200 OK\r\nX: ", PIECE),
        "half": lambda: iter([f"HTTP/1.1 200 OK\r\nContent-Length: {len(script)}\r\n\r\n".encode(), script[:20_000]]),
    }
    server = rogue(answers[kind])
    folder = host.root / "here"
    to_here = ("--server", server.url, "--dir", folder, "--token", TOKEN, "--no-start")
    done = host.execute(host.shell.program, INSTALLER, *to_here)
    assert done.returncode == 1, done
    assert "install.sh: " in done.stderr
    assert not elsewhere.heads
    assert not (folder / "normstat-agent").exists()
    assert not (folder / "token").exists()
    assert all(path.stat().st_size <= 4 << 20 for path in folder.iterdir())
    assert not any(TOKEN.encode() in head for head in server.heads)
