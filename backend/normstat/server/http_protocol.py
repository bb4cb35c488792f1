"""uvicorn's HTTP protocol with bounds on what a client may send and how long it may take.

The parser (llhttp) buffers nothing, but httptools and uvicorn collect the head of a request without a limit; trailers of a chunked
body end up there, too. uvicorn's only deadline is that of a kept-alive connection.
"""

import asyncio
import uuid
from typing import TYPE_CHECKING, Final, Self, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from normstat.api.http.body_limit import BodyBudget
from normstat.api.http.handlers import error_response
from normstat.errors import BadRequest, HeadTooLarge, NormstatError, Overloaded, TooSlow
from normstat.server.connections import ClientConnection, ConnectionTable, MinimumRate

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

# Limit of a head, of the bytes between two chunks of a body, and of its trailers.
MAX_HEAD_BYTES: Final = 64 * 1024
# A field of four bytes takes forty times as much memory.
MAX_FIELDS: Final = 128
# Only malicious clients pipeline more requests before the first is answered; each takes several KB.
MAX_PIPELINED: Final = 8
# A client that was answered before its body had arrived may continue for a while, and reuse the connection.
MAX_UNWANTED_BYTES: Final = 256 * 1024
# Beginnings of bodies that the application has not requested yet; half of it for one address.
MAX_UNREAD_BYTES: Final = 128 << 20
# Minimum rate of bodies and answers while the client is due.
MIN_BYTES_PER_S: Final = 1024
OVERLOADED_RETRY_S: Final = 5


class GuardedState(ServerState):
    """State shared by all connections of a process."""

    def __init__(self, connection_table: ConnectionTable) -> None:
        super().__init__()
        self.connection_table = connection_table
        self.unread = BodyBudget(MAX_UNREAD_BYTES)


class _AnswerTransport:
    """What uvicorn writes an answer to. Closing it leaves the client the time to read what was written."""

    def __init__(self, protocol: "GuardedProtocol") -> None:
        self._protocol = protocol

    def write(self, data: bytes) -> None:
        self._protocol.transport.write(data)

    def is_closing(self) -> bool:
        return self._protocol.transport.is_closing()

    def close(self) -> None:
        self._protocol.close_after_answer()


class GuardedProtocol(HttpToolsProtocol, ClientConnection):
    """A connection that is closed when its client sends too much before a request, or keeps the server waiting."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(server_state, GuardedState)
        self.connection_table = server_state.connection_table
        self._unread = server_state.unread
        stall_s = self.connection_table.limits.stall_timeout_s
        # Bytes since the end of a request, or since the last byte of a body.
        self._n_head = 0
        self._in_head = True
        # Requests not answered yet.
        self._n_open = 0
        # Set while the connection has no request: since when it has been waiting for (the rest of) the next head.
        self._idle_since: float | None = self.connection_table.now
        # Input is discarded: the connection is about to close.
        self._is_deaf = False
        # The application has not requested the body yet.
        self._is_new_body = False
        self._n_unread = 0
        self._complaint: NormstatError | None = None
        self._receiving = MinimumRate(MIN_BYTES_PER_S, stall_s)
        self._n_received = 0
        self._n_unwanted = 0
        self._sending = MinimumRate(MIN_BYTES_PER_S, stall_s)
        self._n_sent = 0
        self._n_unsent = 0
        self._predecessor: ClientConnection | None = None

    # --- opening and closing ---

    def succeed(self, predecessor: ClientConnection) -> Self:
        """Take the place of `predecessor` in the connection table as soon as the connection is made."""
        self._predecessor = predecessor
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection, if there is room for it."""
        super().connection_made(cast("asyncio.Transport", transport))
        peer = self.client[0] if self.client else ""
        self.address = self.connection_table.address_of(peer)
        if self._predecessor is not None:
            self.connection_table.remove(self._predecessor)
        if transport.get_extra_info("peercert"):
            # The TLS handshake has checked it; what agents send may need it.
            self.app_state = {**self.app_state, "has_client_certificate": True}
        if not self.connection_table.admit(self):
            self.refuse(Overloaded("Too many connections are open; try again", {"retry_after_s": OVERLOADED_RETRY_S}))

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the table."""
        self.connection_table.remove(self)
        self._release()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once; unsent data is lost."""
        self._is_deaf = True
        if self.transport.get_write_buffer_size() or not self._is_idle():
            self.transport.abort()
        else:
            self.transport.close()

    def refuse(self, error: NormstatError) -> None:
        """Answer with the error, if no other answer is due, and close the connection."""
        if self._is_deaf or self.transport.is_closing():
            return
        self._is_deaf = True
        if not self._may_answer():
            self._end_after_answer()
            return
        if not self._is_idle():
            # Informs the application that the client is gone.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._write(error)
        self._linger()

    def close_after_answer(self) -> None:
        """End the connection after an answer that was the last one."""
        if self._in_head:
            self.transport.close()
        else:
            self._is_deaf = True
            self._linger()

    def _end_after_answer(self) -> None:
        if self._n_open:
            self.transport.abort()
        elif self.connection_table.linger(self):
            self.flow.pause_reading()
        else:
            self.transport.close()

    def _linger(self) -> None:
        """End our side, and throw away what the client still sends.

        A connection that is closed with unread bytes is reset, and the client loses the answer.
        """
        if not self.connection_table.linger(self):
            self.transport.close()
            return
        self.flow.resume_reading()
        # TLS has no end of one direction: the client knows the length of the answer.
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _may_answer(self) -> bool:
        """Return whether the next answer on this connection belongs to what the client is sending."""
        if self._in_head:
            return self._is_idle()
        return self._n_open == 1 and not self.cycle.response_started

    def _write(self, error: NormstatError) -> None:
        response = error_response(uuid.uuid4().hex, error)
        fields = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in fields)
        self.transport.write(STATUS_LINE[error.status] + head + b"\r\n" + bytes(response.body))

    # --- input from the client ---

    def data_received(self, data: bytes) -> None:
        """Parse the input, in pieces that stay within the limit of a head."""
        self._unset_keepalive_if_required()
        rest: bytes | memoryview = data
        while rest and not self._is_deaf:
            room = MAX_HEAD_BYTES - self._n_head
            piece = rest if len(rest) <= room else memoryview(rest)[:room]
            rest = b"" if len(rest) <= room else memoryview(rest)[room:]
            if self._n_head == 0 and self._idle_since is not None:
                self._idle_since = self.connection_table.now
            self._n_head += len(piece)
            self._parse(piece)
            if self._n_head >= MAX_HEAD_BYTES:
                self.refuse(self._too_large())
        if self._is_new_body and not self._is_deaf:
            self._is_new_body = False
            self._hold_body()

    def _hold_body(self) -> None:
        """Buffer the body received so far until the application requests it, and nothing more."""
        n_bytes = len(self.cycle.body)
        if self._unread.take(self.address, n_bytes):
            self._n_unread += n_bytes
            self.flow.pause_reading()
        else:
            self.refuse(Overloaded("The server is receiving too much at once; try again", {"retry_after_s": OVERLOADED_RETRY_S}))

    def _release(self) -> None:
        if self._n_unread:
            self._unread.give_back(self.address, self._n_unread)
            self._n_unread = 0

    def _parse(self, piece: bytes | memoryview) -> None:
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            # Answered as if it had not asked for an upgrade. Anything may follow.
            self._is_deaf = True
            self.cycle.keep_alive = False
        except httptools.HttpParserError:
            self.refuse(self._complaint or BadRequest("This is not a valid HTTP/1.1 request"))

    def _too_large(self) -> NormstatError:
        if self._in_head:
            return HeadTooLarge(f"The head of the request is larger than {MAX_HEAD_BYTES} bytes or {MAX_FIELDS} fields")
        return BadRequest(f"More than {MAX_HEAD_BYTES} bytes of chunk headers or trailers came in a row")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header field; trailers are discarded, because the request was read without them."""
        if not self._in_head:
            return
        if len(self.headers) >= MAX_FIELDS:
            self._complaint = self._too_large()
            raise self._complaint
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request."""
        if len(self.pipeline) >= MAX_PIPELINED:
            self._complaint = BadRequest(f"More than {MAX_PIPELINED} requests came before the first was answered")
            raise self._complaint
        super().on_headers_complete()
        self._guard_answer(self.cycle)
        self._n_open += 1
        self._in_head = False
        self._n_head = 0
        self._is_new_body = True
        self._n_received = self._n_unwanted = 0
        self._receiving.restart(self.connection_table.now)
        if self._idle_since is not None:
            self._idle_since = None
            self.connection_table.set_busy(self)

    def _guard_answer(self, cycle: RequestResponseCycle) -> None:
        """Say `Connection: close` in an answer that comes long before the end of the body, and let the client read it."""
        send = cycle.send

        async def send_guarded(message: "ASGISendEvent") -> None:
            if message["type"] == "http.response.start" and cycle is self.cycle and self._is_body_far_from_its_end():
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        cycle.send = send_guarded  # type: ignore[method-assign]
        cycle.transport = cast("asyncio.Transport", _AnswerTransport(self))

    def _is_body_far_from_its_end(self) -> bool:
        if self._in_head:
            return False
        length = next((value for name, value in self.headers if name == b"content-length"), b"")
        return not length.isdigit() or int(length) - self._n_received > MAX_UNWANTED_BYTES

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        self._n_head = 0
        self._receiving.n_bytes += len(body)
        self._n_received += len(body)
        if self.cycle.response_complete:
            self._n_unwanted += len(body)
            if self._n_unwanted > MAX_UNWANTED_BYTES:
                self._complaint = BadRequest("The request was answered before its body had arrived")
                raise self._complaint
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request's body."""
        super().on_message_complete()
        self._in_head = True
        self._n_head = 0
        self._is_new_body = False
        self._settle()

    def on_response_complete(self) -> None:
        """Continue with the next request, or wait for it."""
        super().on_response_complete()
        self._n_open -= 1
        self._release()
        self._settle()

    def _settle(self) -> None:
        if self._idle_since is None and self._is_idle():
            self._idle_since = self.connection_table.now
            self.connection_table.set_idle(self)

    def _is_idle(self) -> bool:
        return self._in_head and not self._n_open

    # --- deadlines ---

    def check_deadlines(self, now: float) -> None:
        """Close the connection if its client has kept the server waiting too long."""
        if self._is_stuck_sending(now):
            self.connection_table.count_slow()
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif self._idle_since is not None:
            if now - self._idle_since >= self.connection_table.limits.head_timeout_s:
                self._end_idle()
        elif not self._in_head:
            self._look_at_body(now)

    def _end_idle(self) -> None:
        if self._n_head:
            self.connection_table.count_slow()
            self.refuse(TooSlow(f"The head of the request did not arrive within {self.connection_table.limits.head_timeout_s:g} s"))
        else:
            self.transport.close()

    def _look_at_body(self, now: float) -> None:
        if not self.flow.read_paused:
            self._release()
        if not self._is_due():
            self._receiving.restart(now)
        elif self._receiving.is_too_slow(now):
            self.connection_table.count_slow()
            self.refuse(TooSlow(f"The body arrived at less than {MIN_BYTES_PER_S} bytes/s; nothing was stored; send it again"))

    def _is_due(self) -> bool:
        """Return whether the server waits for a part of the body."""
        return not self._in_head and not self.flow.read_paused and not self.cycle.waiting_for_100_continue

    def _is_stuck_sending(self, now: float) -> bool:
        before, self._n_unsent = self._n_unsent, self.transport.get_write_buffer_size()
        if not self._n_unsent:
            return False
        if not before:
            self._n_sent = 0
            self._sending.restart(now)
            return False
        n_taken = max(0, before - self._n_unsent)
        self._n_sent += n_taken
        self._sending.n_bytes += n_taken
        return self._sending.is_too_slow(now)

    def progress(self) -> int | None:
        """Return the bytes that the client has sent or read of what the server waits for; None when the server is not waiting."""
        if self.transport.get_write_buffer_size():
            return self._n_sent
        return self._n_received if self._is_due() else None
