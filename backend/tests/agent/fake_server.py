"""A small normstat server: takes frames as docs/wire-format.md says, and fails in the ways that a test asks for."""

import contextlib
import gzip
import socketserver
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

MAX_PLAIN: Final = 4 << 20
TOKEN: Final = "agent-token_for.tests~1"


class BadFrameError(Exception):
    """The body is not frames."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as it came."""

    kind: str
    spec: str
    key: str
    offset: int
    length: int
    text: str
    body: bytes


@dataclass(slots=True)
class Stream:
    """What the server has of one stream; a gap is filled with zeroes and noted."""

    spec: str
    command: str
    data: bytearray = field(default_factory=bytearray)
    gaps: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Request:
    """One request that was answered, kept for assertions; `at` is when, on the monotonic clock."""

    at: float
    headers: dict[str, str]
    frames: list[Frame]
    n_plain: int
    status: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text of ask or put, as it came with what its address says."""

    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


Rule = Callable[[list[Frame], int], int | None]
"""Says with which status a request is refused, from its frames and its plain length; None: taken."""


def parse_frames(body: bytes) -> Iterator[Frame]:
    """Yields the frames of a plain body.

    Raises: BadFrameError, when a header is odd or the bytes it promises are not there.
    """
    at = 0
    while at < len(body):
        end = body.find(b"\n", at)
        if end < 0:
            raise BadFrameError(f"no newline after a header: {body[at : at + 80]!r}")
        words = body[at:end].decode("ascii").split(" ", 5)
        at = end + 1
        if len(words) != 6 or words[0] not in {"stream", "gap"} or not words[3].isdecimal() or not words[4].isdecimal():
            raise BadFrameError(f"odd header: {words!r}")
        length = int(words[4])
        taken = length if words[0] == "stream" else 0
        if at + taken > len(body):
            raise BadFrameError(f"{words!r} promises more than the {len(body) - at} bytes that are there")
        yield Frame(words[0], words[1], words[2], int(words[3]), length, words[5], body[at : at + taken])
        at += taken


class _Listener(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


class FakeServer:
    """Listens on a port of its own; `port` stays the same when it is stopped and started again."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.streams: dict[str, Stream] = {}
        self.requests: list[Request] = []
        self.texts: list[Text] = []
        self.text_failures: deque[int] = deque()
        self.errors: list[str] = []
        self.failures: deque[str] = deque()
        self.rule: Rule | None = None
        self.host: str | None = None
        self.hold: dict[str, int] = {}
        self.files: dict[str, Path] = {}
        self.token = TOKEN
        self.join_token = "join-token_for.tests~1"
        self.new_tokens: list[str] = []
        self.wants_rotation = False
        # The episodes that an answer names.
        self.begun = ""
        self.enrolled: list[str] = []
        self.token_failures: deque[str] = deque()
        self.port = 0
        self.acknowledge: Callable[[str, int], int] = lambda key, offset: offset
        self._tls = tls
        self._lock = threading.Lock()
        self._listener: _Listener | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begins to listen."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:  # named by http.server
                if self.path.startswith("/api/v1/ingest/artefacts?"):
                    server.take_text(self)
                elif self.path in {"/api/v1/ingest/enrol", "/api/v1/ingest/token"}:
                    server.give_token(self)
                else:
                    server.answer(self)

            def do_GET(self) -> None:  # named by http.server
                server.hand_out(self)

        self._listener = _Listener(("127.0.0.1", self.port), Handler)
        self.port = self._listener.server_address[1]
        if self._tls:
            self._listener.socket = self._tls.wrap_socket(self._listener.socket, server_side=True)
        threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """Refuses connections from now on; what was taken stays."""
        if self._listener:
            self._listener.shutdown()
            self._listener.server_close()
            self._listener = None

    def fail_next(self, *failures: str) -> None:
        """Answers the next requests with these: a status (`503`, `429 retry 3`), `slow`, `hang up`, `lose the answer`, `raw ...`.

        What follows `raw` is the whole answer, status line and all; `{key}` and `{end}` stand for the first frame's key and end.
        """
        self.failures.extend(failures)

    def data(self, spec: str) -> dict[str, bytes]:
        """The bytes of every stream of a spec."""
        with self._lock:
            return {key: bytes(stream.data) for key, stream in self.streams.items() if stream.spec == spec}

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answers one request, as the product does or as the next failure says."""
        with contextlib.suppress(OSError), self._lock:
            body = handler.rfile.read(int(handler.headers["Content-Length"]))
            failure = self.failures.popleft() if self.failures else ""
            if failure == "hang up":
                return
            if failure == "slow":
                time.sleep(2)
            if failure.startswith("raw "):
                self._answer_raw(handler, body, failure.removeprefix("raw "))
                return
            status, text = self._judge(handler, body, failure)
            if failure == "lose the answer":
                return
            handler.send_response(status)
            if failure.partition(" retry ")[2]:
                handler.send_header("Retry-After", failure.partition(" retry ")[2])
            if self.wants_rotation and status == 200:
                handler.send_header("Normstat-Token", "rotate")
            if self.begun and status == 200:
                handler.send_header("Normstat-Begun", self.begun)
            handler.send_header("Content-Type", "text/plain")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)

    def take_text(self, handler: BaseHTTPRequestHandler) -> None:
        """Take a text, once, or fail as `text_failures` says; its number is its place from 1 on."""
        with contextlib.suppress(OSError), self._lock:
            body = handler.rfile.read(int(handler.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in handler.headers.items()}
            text = Text(dict(parse_qsl(handler.path.partition("?")[2], strict_parsing=True)), headers, body)
            status = self.text_failures.popleft() if self.text_failures else 201
            if headers["authorization"] != f"Bearer {self.token}":
                status = 401
            if status == 201 and (text.query, body) not in [(known.query, known.body) for known in self.texts]:
                self.texts.append(text)
            answer = b'{"id":%d,"host":"web1"}' % len(self.texts) if status == 201 else b'{"error": {"message": "as asked"}}'
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(answer)))
            handler.end_headers()
            handler.wfile.write(answer)

    def give_token(self, handler: BaseHTTPRequestHandler) -> None:
        """Give a token for a join token or for the agent's own, or fail as `token_failures` says: a status, or a whole answer."""
        with contextlib.suppress(OSError), self._lock:
            handler.rfile.read(int(handler.headers["Content-Length"]))
            is_enrolment = handler.path.endswith("/enrol")
            failure = self.token_failures.popleft() if self.token_failures else ""
            is_right = handler.headers["Authorization"] == f"Bearer {self.join_token if is_enrolment else self.token}"
            status = int(failure) if failure.isdecimal() else 201 if is_right else 401
            answer = b'{"error": {"message": "as asked"}}'
            if status == 201 and not failure.startswith("{"):
                self.new_tokens.append(f"nsa_new-token_{len(self.new_tokens)}~for.tests")
                host = handler.headers["Normstat-Host"]
                answer = b'{"token":"%s","host":"%s"}' % (self.new_tokens[-1].encode(), host.encode())
                if is_enrolment:
                    self.token = self.new_tokens[-1]
                    self.enrolled.append(host)
            elif status == 201:
                answer = failure.encode()
            if failure == "lose the answer":
                return
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(answer)))
            handler.end_headers()
            handler.wfile.write(answer)

    @staticmethod
    def _answer_raw(handler: BaseHTTPRequestHandler, body: bytes, answer: str) -> None:
        frames = list(parse_frames(gzip.decompress(body) if handler.headers["Content-Encoding"] == "gzip" else body))
        answer = answer.replace("{key}", frames[0].key).replace("{end}", str(frames[0].offset + frames[0].length))
        handler.wfile.write(answer.encode("latin-1"))
        handler.close_connection = True

    def hand_out(self, handler: BaseHTTPRequestHandler) -> None:
        """Gives away the agent's files, as GET /api/v1/agent/<name> does."""
        path = self.files.get(handler.path.removeprefix("/api/v1/agent/"))
        text = path.read_bytes() if path else b"no such file"
        handler.send_response(200 if path else 404)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _judge(self, handler: BaseHTTPRequestHandler, body: bytes, failure: str) -> tuple[int, bytes]:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        frames: list[Frame] = []
        try:
            plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
            frames = list(parse_frames(plain))
        except (BadFrameError, EOFError, OSError, UnicodeDecodeError) as error:
            self.errors.append(f"bad frame: {error}")
            return self._record(headers, frames, 0, 400, b"bad frame")
        if len(plain) > MAX_PLAIN + 4096 * max(1, len(frames)):
            self.errors.append(f"a request of {len(plain)} bytes")
        if failure[:3].isdecimal():
            return self._record(headers, frames, len(plain), int(failure[:3]), b'{"error": {"code": "x", "message": "as asked"}}')
        sent = headers.get("authorization", "").removeprefix("Bearer ")
        if sent in self.new_tokens[-1:] and sent != self.token:
            # The first use of a new token ends the old one.
            self.token, self.wants_rotation = sent, False
        if sent != self.token:
            return self._record(headers, frames, len(plain), 401, b'{"error": {"code": "x", "message": "unknown token"}}')
        if self.host and headers.get("normstat-host") != self.host:
            return self._record(headers, frames, len(plain), 403, b'{"error": {"code": "x", "message": "another host"}}')
        refusal = self.rule(frames, len(plain)) if self.rule else None
        if refusal:
            return self._record(headers, frames, len(plain), refusal, b'{"error": {"code": "x", "message": "refused"}}')
        acknowledged = {frame.key: self._take(frame) for frame in frames}
        lines = "".join(f"{key} {self.acknowledge(key, offset)}\n" for key, offset in acknowledged.items())
        return self._record(headers, frames, len(plain), 200, lines.encode())

    def _record(self, headers: dict[str, str], frames: list[Frame], n_plain: int, status: int, text: bytes) -> tuple[int, bytes]:
        self.requests.append(Request(time.monotonic(), headers, frames, n_plain, status))
        return status, text

    def _take(self, frame: Frame) -> int:
        """Whole lines only; nothing of a frame from beyond what is acknowledged; an overlap is skipped."""
        stream = self.streams.setdefault(frame.key, Stream(frame.spec, frame.text if frame.kind == "stream" else ""))
        have = len(stream.data)
        end = frame.offset + frame.length
        if frame.offset > have or end <= have:
            return have
        if frame.kind == "gap":
            stream.gaps.append((have, end, frame.text))
            stream.data.extend(bytes(end - have))
        else:
            fresh = frame.body[have - frame.offset :]
            stream.data.extend(fresh[: fresh.rfind(b"\n") + 1])
            del stream.data[max(have, self.hold.get(frame.key, end)) :]
        return len(stream.data)
