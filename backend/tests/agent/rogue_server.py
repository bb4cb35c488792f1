"""A server that answers with whatever a test wants, byte for byte, to see what an agent makes of it."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Final

# An attack ends by itself: no answer is longer, whatever the agent takes.
MAX_SENT: Final = 256 << 20

Answer = Callable[[], Iterator[bytes]]


class RogueServer:
    """Reads a request, then sends the pieces of `answer` until they end or the agent hangs up."""

    def __init__(self, answer: Answer, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self.n_sent: list[int] = []
        self.ended = threading.Event()
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Closes the port and ends what is being answered."""
        self.ended.set()
        # A thread in accept() keeps the port until it returns.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
            pass
        self._thread.join(30)
        self._listener.close()

    def _accept(self) -> None:
        while not self.ended.is_set():
            connection, _ = self._listener.accept()
            if self.ended.is_set():
                connection.close()
            else:
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.settimeout(60)
            stream = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            with stream:
                self._read_request(stream)
                self.n_sent.append(0)
                at = len(self.n_sent) - 1
                for piece in self.answer():
                    if self.ended.is_set() or self.n_sent[at] > MAX_SENT:
                        return
                    stream.sendall(piece)
                    self.n_sent[at] += len(piece)

    def _read_request(self, stream: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            piece = stream.recv(65536)
            if not piece:
                raise ConnectionError("no whole head")
            request += piece
        head, _, body = request.partition(b"\r\n\r\n")
        self.heads.append(head)
        lengths = [line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        left = int(lengths[0]) - len(body) if lengths else 0
        while left > 0:
            piece = stream.recv(65536)
            if not piece:
                raise ConnectionError("no whole body")
            left -= len(piece)
