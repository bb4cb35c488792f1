"""Clients of long answers: accounts for them, and readers that take what they asked for slowly or not at all."""

import socket
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.auth import account_rows
from normstat.auth.roles import Role
from normstat.auth.secret_tokens import new_secret
from normstat.db.session import open_write_session
from normstat.window import to_us
from tests.api.samples import START
from tests.databases import Sessions
from tests.query.filling import fill_values

# Every request of the page bears it.
PAGE: Final = {"X-Normstat-Request": "1"}
DAY: Final = {"start": "2026-11-21T00:00:00Z", "end": "2026-11-22T00:00:00Z"}

CPU_FIELDS: Final = (
    "usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "guest_pct", "gnice_pct", "idle_pct",
)  # fmt: skip


async def enter(sessions: Sessions, role: Role, name: str) -> dict[str, str]:
    """Make an account with a session; return its cookies."""
    secret = new_secret()
    async with open_write_session(sessions) as session:
        user = await account_rows.add_user(session, name=name, role=role, password_hash=None)
        assert user is not None
        await account_rows.add_session(
            session, user_id=user.id, password_hash=None, token_hash=secret.token_hash, lifetime=timedelta(days=1)
        )
    return {SESSION_COOKIE: secret.token}


async def fill_cpus(sessions: Sessions, *, n_reports: int, n_cpus: int, host: str = "web1") -> None:
    """Store mpstat of a host: as CSV about 75 bytes for each report and CPU."""
    n = n_reports * n_cpus
    rng = np.random.default_rng(3)
    await fill_values(
        sessions,
        host,
        "mpstat_linux",
        time_us=np.repeat(to_us(START) + np.arange(n_reports) * 1_000_000, n_cpus),
        instances=tuple(map(str, range(n_cpus))) * n_reports,
        values={key: np.round(rng.uniform(0, 100, n), 2) for key in CPU_FIELDS},
    )


class SilentReader:
    """A client that asks, and reads only when it is told to; by default its window is as small as the system lets it be."""

    def __init__(self, address: str, target: str, cookies: dict[str, str], *, window: int = 4096) -> None:
        url = urlsplit(address)
        assert url.hostname is not None
        assert url.port is not None
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self._socket.connect((url.hostname, url.port))
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self._socket.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {url.netloc}\r\nCookie: {cookie}\r\nX-Normstat-Request: 1\r\n\r\n".encode()
        )

    def read(self, n_bytes: int) -> bytes:
        """Return what has come by now, at most so much; waits for the first byte. Missing: empty at the end."""
        return self._socket.recv(n_bytes)

    def read_to_end(self) -> bytes:
        """Return all that is left, until the server closes the connection."""
        parts = []
        try:
            while part := self._socket.recv(1 << 16):
                parts.append(part)
        except ConnectionResetError:
            # Cut off hard, which is as good.
            pass
        return b"".join(parts)

    def close(self) -> None:
        """Go away."""
        self._socket.close()
