"""Limits the connections of one server process, per address and in all, and chooses which to drop for a new one.

An idle connection costs the server only its slot, and an attacker nothing at all. So no client is turned away while there are idle
connections: the address with the most connections loses the one that has been idle longest.

Time is counted in ticks that the server provides. Clients are not blamed when the process itself was stopped or busy.
"""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import structlog

from normstat.auth.client_address import TrustedProxies, group_of

log = structlog.get_logger()

# Refused connections stay open this long, so that the client can read why; a reset would destroy the answer on its way.
LINGER_S: Final = 2.0
MAX_LINGERING: Final = 256
# Dropped and refused connections are logged together.
REPORT_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of connections: how many there may be, and how long a client may keep the server waiting.

    `head_timeout_s` applies to the complete head of a request; `stall_timeout_s` to a body that arrives, or an answer that is read,
    too slowly. Trusted proxies carry the connections of many clients, so `n_per_address` does not apply to them.
    """

    n_connections: int
    n_per_address: int
    head_timeout_s: float
    stall_timeout_s: float
    trusted_proxies: TrustedProxies = field(default_factory=TrustedProxies)


class ClientConnection(ABC):
    """A connection in the table; `address` is what `auth.client_address.group_of` returns."""

    address: str = ""

    @abstractmethod
    def check_deadlines(self, now: float) -> None:
        """Close the connection if its client has kept the server waiting too long."""

    @abstractmethod
    def progress(self) -> int | None:
        """Return the bytes that the client has sent or read of what the server waits for; None when the server is not waiting."""

    @abstractmethod
    def drop(self) -> None:
        """Close the connection at once."""


class ConnectionTable:
    """All connections of the process, by address."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.now = 0.0
        self._clients: dict[str, set[ClientConnection]] = {}
        # Idle connections, the longest idle first.
        self._idle: dict[str, dict[ClientConnection, None]] = {}
        self._n = 0
        self._lingering: dict[ClientConnection, float] = {}
        # No connection could be dropped at this instant; nothing changes before the next tick.
        self._fruitless_at: dict[str, float] = {}
        self._unreported: Counter[str] = Counter()
        self._reported_at = float("-inf")

    def __len__(self) -> int:
        return self._n

    def address_of(self, peer: str) -> str:
        """Return the address under which a peer is counted."""
        # A proxy by its own address, also for IPv6, so that the table can tell it from clients.
        return peer if self.limits.trusted_proxies.trusts(peer) else group_of(peer)

    def count(self, address: str) -> int:
        """Return the number of connections of the address."""
        return len(self._clients.get(address, ()))

    def admit(self, client: ClientConnection) -> bool:
        """Register a new connection, dropping another one if needed; return False when there is no room."""
        address = client.address
        if not self._make_room(address):
            self._note("n_refused")
            return False
        self._clients.setdefault(address, set()).add(client)
        self._n += 1
        self.set_idle(client)
        return True

    def _make_room(self, address: str) -> bool:
        if self.count(address) >= self.limits.n_per_address and not self.limits.trusted_proxies.trusts(address):
            return self._drop_one(address)
        if self._n < self.limits.n_connections:
            return True
        # Never at the expense of an address that has fewer.
        heavier = [other for other in self._clients if self.count(other) >= self.count(address)]
        idle = max((other for other in heavier if self._idle.get(other)), key=self.count, default=None)
        if idle is not None:
            return self._drop_one(idle)
        return bool(heavier) and self._drop_one(max(heavier, key=self.count))

    def _drop_one(self, address: str) -> bool:
        victim = next(iter(self._idle.get(address, ())), None) or self._find_slowest(address)
        if victim is None:
            return False
        self.remove(victim)
        self._note("n_dropped")
        victim.drop()
        return True

    def _find_slowest(self, address: str) -> ClientConnection | None:
        """Return the connection whose client has made least progress."""
        if self._fruitless_at.get(address) == self.now:
            return None
        waited_for = [(n, client) for client in self._clients.get(address, ()) if (n := client.progress()) is not None]
        if not waited_for:
            self._fruitless_at[address] = self.now
            return None
        return min(waited_for, key=lambda pair: pair[0])[1]

    def remove(self, client: ClientConnection) -> None:
        """Remove the connection, if registered."""
        self._lingering.pop(client, None)
        clients = self._clients.get(client.address)
        if clients is None or client not in clients:
            return
        clients.discard(client)
        self._n -= 1
        self.set_busy(client)
        if not clients:
            del self._clients[client.address]

    def set_idle(self, client: ClientConnection) -> None:
        """Mark the connection as idle: it has no request."""
        if client in self._clients.get(client.address, ()):
            idle = self._idle.setdefault(client.address, {})
            idle.pop(client, None)
            idle[client] = None

    def set_busy(self, client: ClientConnection) -> None:
        """Mark the connection as busy with a request."""
        idle = self._idle.get(client.address)
        if idle is not None:
            idle.pop(client, None)
            if not idle:
                del self._idle[client.address]

    def linger(self, client: ClientConnection) -> bool:
        """Keep a finished connection open a little longer, so that its client can read the answer; return False when too many are
        kept.
        """
        if len(self._lingering) >= MAX_LINGERING:
            return False
        self._lingering[client] = self.now
        return True

    def tick(self, seconds: float) -> None:
        """Advance the time, and close the connections whose clients are too slow."""
        self.now += seconds
        self._fruitless_at.clear()
        for client, since in list(self._lingering.items()):
            if self.now - since >= LINGER_S:
                del self._lingering[client]
                client.drop()
        for client in [client for clients in self._clients.values() for client in clients]:
            if client not in self._lingering:
                client.check_deadlines(self.now)
        self._report()

    def count_slow(self) -> None:
        """Count a connection that was closed because of its client."""
        self._note("n_too_slow")

    def count_failed_handshake(self) -> None:
        """Count a connection whose client and the server found no way to speak TLS."""
        self._note("n_failed_handshakes")

    def _note(self, what: str) -> None:
        self._unreported[what] += 1

    def report_rest(self) -> None:
        """Log the remaining counts when the process ends."""
        self._reported_at = float("-inf")
        self._report()

    def _report(self) -> None:
        if self._unreported and self.now - self._reported_at >= REPORT_EVERY_S:
            heaviest = max(self._clients, key=self.count, default="")
            log.warning(
                "connections_ended", **self._unreported, n_open=self._n, address_with_most=heaviest, n_of_it=self.count(heaviest)
            )
            self._unreported.clear()
            self._reported_at = self.now


@dataclass(slots=True)
class MinimumRate:
    """Checks a minimum rate of `min_rate` bytes/s over spans of `span_s`."""

    min_rate: int
    span_s: float
    since: float = 0.0
    n_bytes: int = 0

    def restart(self, now: float) -> None:
        """Begin a new span."""
        self.since, self.n_bytes = now, 0

    def is_too_slow(self, now: float) -> bool:
        """Return whether a span has ended with too few bytes; otherwise begin the next one."""
        if now - self.since < self.span_s:
            return False
        if self.n_bytes < self.min_rate * self.span_s:
            return True
        self.restart(now)
        return False
