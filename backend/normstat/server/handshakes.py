"""Connections before their TLS handshake has ended. They have a place and a deadline in the connection table like all others.

asyncio tells an application of a connection when the handshake is over; until then it would not be counted, and an attacker could
take all open files with clients that never say anything.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from normstat.server.certificates import ServerCertificate
from normstat.server.connections import ClientConnection, ConnectionTable

if TYPE_CHECKING:
    from normstat.server.http_protocol import GuardedProtocol

# The first byte of a TLS record with the beginning of a handshake; no request in plain HTTP begins with it.
HANDSHAKE: Final = b"\x16"
PLAIN_TEXT: Final = b"This port speaks HTTPS only: use an address that begins with https://\n"
PLAIN_ANSWER: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: "
    + str(len(PLAIN_TEXT)).encode()
    + b"\r\n\r\n"
    + PLAIN_TEXT
)
# Bytes without TLS that are read and discarded, so that the client can read the answer.
MAX_PLAIN_BYTES: Final = 64 * 1024


class PendingHandshake(ClientConnection):
    """A client that has connected and must now prove that it speaks TLS."""

    def __init__(self, connection: socket.socket, table: ConnectionTable) -> None:
        self._connection = connection
        self._table = table
        self._since = table.now
        self.is_dropped = False

    def check_deadlines(self, now: float) -> None:
        """Close the connection if the handshake takes too long."""
        if now - self._since >= self._table.limits.head_timeout_s:
            self._table.count_slow()
            self.drop()

    def progress(self) -> int | None:
        """Return 0: the server waits, and nothing that counts has come."""
        return 0

    def drop(self) -> None:
        """Close the connection at once; a waiting task notices."""
        self.is_dropped = True
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


class Handshakes:
    """Begins TLS on accepted sockets, then hands them to the HTTP protocol."""

    def __init__(
        self, certificate: ServerCertificate, table: ConnectionTable, make_protocol: "Callable[[], GuardedProtocol]"
    ) -> None:
        self._certificate = certificate
        self._table = table
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()

    async def serve(self, connection: socket.socket) -> None:
        """Make the connection one of HTTP over TLS, or close it.

        Raises: OSError when the client is gone
        """
        pending = PendingHandshake(connection, self._table)
        pending.address = self._table.address_of(connection.getpeername()[0])
        if not self._table.admit(pending):
            connection.close()
            return
        try:
            if await self._first_byte(connection) != HANDSHAKE:
                await self._refuse_plain(connection)
                return
            await self._loop.connect_accepted_socket(
                lambda: self._make_protocol().succeed(pending),
                connection,
                ssl=self._certificate.context,
                ssl_handshake_timeout=self._table.limits.head_timeout_s,
            )
        except (ssl.SSLError, ConnectionError):
            if not pending.is_dropped:
                self._table.count_failed_handshake()
            connection.close()
        finally:
            self._table.remove(pending)

    async def _first_byte(self, connection: socket.socket) -> bytes:
        """Return the first byte that the client sends, and leave it to be read; empty when it sends none."""
        readable = self._loop.create_future()
        self._loop.add_reader(connection.fileno(), _set_done, readable)
        try:
            await readable
        finally:
            self._loop.remove_reader(connection.fileno())
        return connection.recv(1, socket.MSG_PEEK)

    async def _refuse_plain(self, connection: socket.socket) -> None:
        """Tell a client that it sent something other than TLS, if it still reads."""
        try:
            with contextlib.suppress(BlockingIOError):
                if connection.recv(MAX_PLAIN_BYTES):
                    connection.send(PLAIN_ANSWER)
            connection.shutdown(socket.SHUT_WR)
        finally:
            connection.close()


def _set_done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
