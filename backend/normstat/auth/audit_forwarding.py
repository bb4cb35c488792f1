"""Sends the audit log to syslog, so that it outlives this server: each entry at least once, in order.

Receivers: `udp://HOST:514`, `tcp://HOST:601` (RFC 6587, messages with their length), `unix:/dev/log`. Entries that a receiver
was not there to take are sent when it is back; with UDP it is unknown whether they arrived.
"""

import asyncio
import contextlib
import socket
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import structlog

from normstat.auth.access import Sessions
from normstat.auth.audit_text import to_syslog
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest
from normstat.records import audit_rows

log = structlog.get_logger()

AT_ONCE: Final = 500
SEND_TIMEOUT_S: Final = 10.0
FORMS: Final = "udp://HOST:PORT, tcp://HOST:PORT or unix:/PATH"


def check_receiver(receiver: str) -> None:
    """Check the form of NORMSTAT_AUDIT_SYSLOG.

    Raises: BadRequest with the forms there are
    """
    parts = urlsplit(receiver)
    try:
        is_good = (parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc) or (
            parts.scheme in {"udp", "tcp"} and bool(parts.hostname) and parts.port is not None
        )
    except ValueError:
        is_good = False
    if not is_good:
        raise BadRequest(f"NORMSTAT_AUDIT_SYSLOG is {receiver!r}; expected {FORMS}")


async def forward_audit_log(sessions: Sessions, receiver: str) -> int:
    """Send what the receiver does not have yet, and return the number of entries. A recurring task of the leader."""
    n_sent = 0
    while True:
        async with open_read_session(sessions) as session:
            last_id = await audit_rows.find_sent(session, receiver)
            rows = await audit_rows.read_after(session, last_id or 0, AT_ONCE)
        if not rows:
            return n_sent
        messages = [to_syslog(row, socket.gethostname()) for row in rows]
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await _send(receiver, messages)
        except (OSError, TimeoutError) as error:
            log.warning("audit_receiver_away", receiver=receiver, cause=str(error) or type(error).__name__)
            return n_sent
        async with open_write_session(sessions) as session:
            await audit_rows.note_sent(session, receiver, rows[-1].id)
        n_sent += len(rows)


async def _send(receiver: str, messages: list[bytes]) -> None:
    parts = urlsplit(receiver)
    if parts.scheme == "tcp":
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(b"".join(b"%d %s" % (len(message), message) for message in messages))
            await writer.drain()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return
    await asyncio.to_thread(_send_datagrams, receiver, messages)


def _send_datagrams(receiver: str, messages: list[bytes]) -> None:
    parts = urlsplit(receiver)
    if parts.scheme == "unix":
        family, address = socket.AF_UNIX, parts.path
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.settimeout(SEND_TIMEOUT_S)
            sender.connect(address)
            for message in messages:
                sender.send(message)
        return
    found = socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_DGRAM)
    with socket.socket(found[0][0], socket.SOCK_DGRAM) as sender:
        sender.settimeout(SEND_TIMEOUT_S)
        for message in messages:
            sender.sendto(message, found[0][4])


async def forget_audit_entries(sessions: Sessions, days: int) -> None:
    """Delete entries older than the configured number of days. A nightly task."""
    async with open_write_session(sessions) as session:
        n = await audit_rows.delete_older(session, timedelta(days=days))
    if n:
        log.info("audit_entries_deleted", n=n, older_than_days=days)
