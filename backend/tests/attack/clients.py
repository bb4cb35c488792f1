"""Clients that do not behave: connections by the thousand, endless heads, bodies that do not come. All go to 127.0.0.1."""

import contextlib
import os
import resource
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.databases import ServerPool
from tests.unavailable import require_plain

# Not 127.0.0.1: thousands of ports of that address would be taken, and one of them may be that of another test's server.
ATTACKER: Final = "127.0.0.9"
NEWCOMER: Final = "127.0.0.2"
MIB: Final = 1 << 20
# Guards against hanging only.
TIMEOUT_S: Final = 60.0


@contextlib.contextmanager
def plain_database(servers: ServerPool) -> Iterator[str]:
    """Give the URL of a fresh database of plain PostgreSQL; what these attacks touch does not depend on the kind."""
    with require_plain(servers).fresh_database() as url:
        yield url


def allow_files(n_files: int) -> None:
    """Let this process open as many files, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n_files if hard == resource.RLIM_INFINITY else min(n_files, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connect(port: int, source: str = ATTACKER) -> socket.socket:
    """Return a connection to the server from that address of this machine."""
    return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S, source_address=(source, 0))


@contextlib.contextmanager
def holding(port: int, n_connections: int, payload: bytes = b"", source: str = ATTACKER) -> Iterator[list[socket.socket]]:
    """Open connections that send `payload` and nothing more."""
    allow_files(n_connections + 1000)
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(n_connections):
            connection = stack.enter_context(connect(port, source))
            if payload:
                with contextlib.suppress(OSError):
                    connection.sendall(payload)
            connection.setblocking(False)
            held.append(connection)
        yield held


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered; status 0 when it ended the connection without a word."""

    status: int
    body: bytes


def read_reply(connection: socket.socket) -> Reply:
    """Read until the server ends the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(65536):
            received += data
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/") else 0
    return Reply(status, body)


def ask(port: int, path: str, source: str = ATTACKER, *, method: str = "GET", head: str = "", body: bytes = b"") -> Reply:
    """Send one request on a new connection."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    request = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{length}{head}\r\n".encode()
    try:
        with connect(port, source) as connection:
            connection.sendall(request + body)
            return read_reply(connection)
    except OSError:
        return Reply(0, b"")


def ask_health(port: int, source: str = ATTACKER) -> Reply:
    """Ask for /health on a new connection."""
    return ask(port, "/api/v1/health", source)


@dataclass(slots=True)
class Flood:
    """How much of something endless the server took, and what it said to it."""

    n_sent: int = 0
    reply: bytes = b""
    is_ended: bool = False
    connection: socket.socket | None = field(default=None, repr=False)


def pour(port: int, start: bytes, piece: bytes, max_bytes: int) -> Flood:
    """Send `start`, and then `piece` again and again until the server ends the connection or `max_bytes` are sent."""
    flood = Flood()
    with connect(port) as connection:
        connection.sendall(start)
        connection.setblocking(False)
        waiting = piece
        deadline = time.monotonic() + TIMEOUT_S
        while flood.n_sent < max_bytes and time.monotonic() < deadline:
            readable, writable, _ = select.select([connection], [connection], [], 1.0)
            try:
                if readable:
                    data = connection.recv(65536)
                    flood.reply += data
                    if not data:
                        flood.is_ended = True
                        return flood
                if writable:
                    n_sent = connection.send(waiting)
                    flood.n_sent += n_sent
                    waiting = waiting[n_sent:] or piece
            except ConnectionError:
                flood.is_ended = True
                return flood
    return flood


def rss_bytes(pid: int) -> int:
    """Return what the process holds resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes(pid: int) -> int:
    """Return the most that the process ever held resident."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


def cpu_seconds(pid: int) -> float:
    """Return what the process has used of processors so far."""
    found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


def is_ended(connection: socket.socket) -> bool:
    """Return whether the server has ended the connection, after an answer or without."""
    try:
        while data := connection.recv(65536):
            del data
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True
