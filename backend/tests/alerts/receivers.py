"""Receivers of messages: a mail server and an HTTP server, in threads of the test, that remember what arrived."""

import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Answer:
    """What an HTTP receiver answers. `hold`: set when it may answer; None: at once"""

    status: int = 200
    body: str = "ok"
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


@dataclass
class Received:
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: Any


class _Receiver:
    """A server of a test, in a thread of its own."""

    _server: socketserver.BaseServer

    def start(self) -> None:
        """Serve until `close`."""
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def use_tls(self, context: ssl.SSLContext) -> None:
        """Talk TLS from the first byte on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


class HttpReceiver(_Receiver):
    """Answers POSTs by `answer`, and remembers them in the order in which they arrived."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answer: Callable[[Received], Answer] = lambda _: Answer()
        self.arrived = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Received(self.path, dict(self.headers.items()), json.loads(body))
                with receiver.arrived:
                    receiver.received.append(request)
                    receiver.arrived.notify_all()
                answer = receiver.answer(request)
                if answer.hold is not None:
                    answer.hold.wait()
                try:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(answer.body)))
                    self.end_headers()
                    self.wfile.write(answer.body.encode())
                except OSError:
                    return

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.start()

    def wait_for(self, n: int) -> None:
        """Wait until so many requests have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.received) >= n, timeout=60), f"{len(self.received)} of {n} arrived"


@pytest.fixture
def http() -> Iterator[HttpReceiver]:
    """An HTTP server that remembers what arrived."""
    receiver = HttpReceiver()
    yield receiver
    receiver.close()


class _Talk(socketserver.StreamRequestHandler):
    """One connection of a mail client."""

    receiver: "MailReceiver"

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def handle(self) -> None:
        self._sender, self._recipients = "", list[str]()
        try:
            self.say("220 test")
            while line := self.rfile.readline().decode("utf-8", "replace").strip():
                if not self.answer(line, line.split()[0].upper()):
                    return
        except OSError:
            return

    def answer(self, line: str, word: str) -> bool:
        """Answer a command; return whether the talk goes on."""
        refusal = self.receiver.refuse.get(word)
        if refusal is not None:
            self.say(refusal)
            return True
        match word:
            case "EHLO":
                self.say("250-test")
                self.say("250 AUTH PLAIN")
            case "AUTH":
                self.receiver.logins.append(line)
                self.say("235 ok")
            case "DATA":
                self.say("354 go on")
                self.take()
            case "QUIT":
                self.say("221 bye")
                return False
            case _:
                self._sender = line if word == "MAIL" else self._sender
                self._recipients += [line] if word == "RCPT" else []
                self.say("250 ok")
        return True

    def take(self) -> None:
        """Take the mail, and say so when the test lets it."""
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        with self.receiver.arrived:
            self.receiver.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))
            self.receiver.envelopes.append((self._sender, self._recipients))
            self.receiver.arrived.notify_all()
        if self.receiver.hold_after_data is not None:
            self.receiver.hold_after_data.wait()
        self.say("250 accepted as 4711")


class _MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no failure of the test."""


class MailReceiver(_Receiver):
    """Talks SMTP. `refuse`: what it answers to a command (its first word) instead of accepting it."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.envelopes: list[tuple[str, list[str]]] = []
        self.logins: list[str] = []
        self.refuse: dict[str, str] = {}
        self.hold_after_data: threading.Event | None = None
        self.arrived = threading.Condition()
        self._server = _MailServer(("127.0.0.1", 0), type("Talk", (_Talk,), {"receiver": self}))
        self.port = int(self._server.server_address[1])
        self.start()

    def wait_for(self, n: int) -> None:
        """Wait until so many mails have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.mails) >= n, timeout=60), f"{len(self.mails)} of {n} arrived"


@contextmanager
def refused_port() -> Iterator[int]:
    """Yield a port that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
