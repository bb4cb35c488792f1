"""Receivers of messages: a mail server and an HTTP server, in threads of the test, that remember what arrived."""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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


class HttpReceiver:
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
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def wait_for(self, n: int) -> None:
        """Wait until so many requests have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.received) >= n, timeout=120), f"{len(self.received)} of {n} arrived"

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


class MailReceiver:
    """Talks SMTP. `refuse`: what it answers to a command (its first word) instead of accepting it."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.envelopes: list[tuple[str, list[str]]] = []
        self.logins: list[str] = []
        self.refuse: dict[str, str] = {}
        self.hold_after_data: threading.Event | None = None
        self.arrived = threading.Condition()
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

            def handle(self) -> None:
                try:
                    self.talk()
                except OSError:
                    return

            def talk(self) -> None:
                sender, recipients = "", list[str]()
                self.say("220 test")
                while line := self.rfile.readline().decode("utf-8", "replace").strip():
                    word = line.split()[0].upper()
                    if (refusal := receiver.refuse.get(word)) is not None:
                        self.say(refusal)
                    elif word == "EHLO":
                        self.say("250-test")
                        self.say("250 AUTH PLAIN")
                    elif word == "AUTH":
                        receiver.logins.append(line)
                        self.say("235 ok")
                    elif word == "MAIL":
                        sender = line
                        self.say("250 ok")
                    elif word == "RCPT":
                        recipients.append(line)
                        self.say("250 ok")
                    elif word == "DATA":
                        self.say("354 go on")
                        self.take(sender, recipients)
                    elif word == "QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("250 ok")

            def take(self, sender: str, recipients: list[str]) -> None:
                lines = []
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
                with receiver.arrived:
                    receiver.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))  # type: ignore[arg-type]
                    receiver.envelopes.append((sender, recipients))
                    receiver.arrived.notify_all()
                if receiver.hold_after_data is not None:
                    receiver.hold_after_data.wait()
                self.say("250 accepted as 4711")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def wait_for(self, n: int) -> None:
        """Wait until so many mails have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.mails) >= n, timeout=120), f"{len(self.mails)} of {n} arrived"

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def refused_port() -> Iterator[int]:
    """Yield a port that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
