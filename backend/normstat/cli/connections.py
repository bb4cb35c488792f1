"""The connections of one server process: how many there may be, from one address and in all, and which one goes for a newcomer.

A connection that waits for its client costs the server nothing but its place, and an attacker nothing at all. So no client is
turned away while there are such connections: the address with the most connections loses the one that has waited longest.

Time is counted in ticks that the server gives. When the process itself was stopped or busy, clients are not blamed for it.
"""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import structlog

from normstat.auth.client_address import TrustedProxies

log = structlog.get_logger()

# Refused connections stay this long, so that the client can read why; a reset would destroy the answer on its way.
LINGER_S: Final = 2.0
MAX_LINGERING: Final = 256
# Dropped and refused connections are logged together.
REPORT_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections there may be, and how long a client may keep the server waiting.

    `head_timeout_s` is for a complete head of a request; `stall_timeout_s` for a body that arrives, or an answer that is read, too
    slowly. Trusted proxies bring the connections of many clients, so `n_per_address` is not for them.
    """

    n_connections: int
    n_per_address: int
    head_timeout_s: float
    stall_timeout_s: float
    trusted_proxies: TrustedProxies = field(default_factory=TrustedProxies)


class Client(ABC):
    """A connection, as far as the book knows it; `address` is what `auth.client_address.group_of` returns."""

    address: str = ""

    @abstractmethod
    def look(self, now: float) -> None:
        """End the connection if its client kept the server waiting for too long."""

    @abstractmethod
    def progress(self) -> int | None:
        """Return how many bytes the client has sent or taken of what the server waits for; None when it is not its turn."""

    @abstractmethod
    def drop(self) -> None:
        """End the connection at once."""


class Book:
    """All connections of the process, by address."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.now = 0.0
        self._clients: dict[str, set[Client]] = {}
        # Connections without a request, the one that has waited longest first.
        self._idle: dict[str, dict[Client, None]] = {}
        self._n = 0
        self._lingering: dict[Client, float] = {}
        # No connection could be dropped at this instant: nobody looks again before the next tick.
        self._fruitless_at: dict[str, float] = {}
        self._unreported: Counter[str] = Counter()
        self._reported_at = float("-inf")

    def __len__(self) -> int:
        return self._n

    def count(self, address: str) -> int:
        """Return how many connections the address has."""
        return len(self._clients.get(address, ()))

    def admit(self, client: Client) -> bool:
        """Take a new connection, if need be in the place of another one; False when there is no place."""
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
        # Never at the cost of an address that has fewer.
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

    def _find_slowest(self, address: str) -> Client | None:
        """Return the connection whose client has done least of what the server waits for."""
        if self._fruitless_at.get(address) == self.now:
            return None
        waited_for = [(n, client) for client in self._clients.get(address, ()) if (n := client.progress()) is not None]
        if not waited_for:
            self._fruitless_at[address] = self.now
            return None
        return min(waited_for, key=lambda pair: pair[0])[1]

    def remove(self, client: Client) -> None:
        """Forget the connection, if it is in the book."""
        self._lingering.pop(client, None)
        clients = self._clients.get(client.address)
        if clients is None or client not in clients:
            return
        clients.discard(client)
        self._n -= 1
        self.set_busy(client)
        if not clients:
            del self._clients[client.address]

    def set_idle(self, client: Client) -> None:
        """Note that the connection has no request from now on."""
        if client in self._clients.get(client.address, ()):
            idle = self._idle.setdefault(client.address, {})
            idle.pop(client, None)
            idle[client] = None

    def set_busy(self, client: Client) -> None:
        """Note that the connection has a request."""
        idle = self._idle.get(client.address)
        if idle is not None:
            idle.pop(client, None)
            if not idle:
                del self._idle[client.address]

    def linger(self, client: Client) -> bool:
        """Keep a connection that is over a little longer, so that its client can read the answer; False when too many are kept."""
        if len(self._lingering) >= MAX_LINGERING:
            return False
        self._lingering[client] = self.now
        return True

    def tick(self, seconds: float) -> None:
        """Let the time go on, and end the connections whose clients are too slow."""
        self.now += seconds
        self._fruitless_at.clear()
        for client, since in list(self._lingering.items()):
            if self.now - since >= LINGER_S:
                del self._lingering[client]
                client.drop()
        for client in [client for clients in self._clients.values() for client in clients]:
            if client not in self._lingering:
                client.look(self.now)
        self._report()

    def note_slow(self) -> None:
        """Count a connection that was ended because of its client."""
        self._note("n_too_slow")

    def _note(self, what: str) -> None:
        self._unreported[what] += 1

    def report_rest(self) -> None:
        """Log what was not logged yet: the process ends."""
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
class Pace:
    """Whether something goes on at a rate of at least `min_rate` bytes/s, looked at over spans of `span_s`."""

    min_rate: int
    span_s: float
    since: float = 0.0
    n_bytes: int = 0

    def restart(self, now: float) -> None:
        """Begin a new span."""
        self.since, self.n_bytes = now, 0

    def is_too_slow(self, now: float) -> bool:
        """Return whether a span has ended with too few bytes; begin the next one otherwise."""
        if now - self.since < self.span_s:
            return False
        if self.n_bytes < self.min_rate * self.span_s:
            return True
        self.restart(now)
        return False
