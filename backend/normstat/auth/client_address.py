"""Determine a client's address, also behind proxies.

Any client can send an X-Forwarded-For header. It counts only when the connection comes from a proxy named in
NORMSTAT_TRUSTED_PROXIES, and then only as far as trusted proxies wrote it: each proxy appends the address that it saw, so the
right-most address that is not a trusted proxy is the client, and everything left of it may be made up by the client.

Log, throttle and every other limit use the address found here.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from normstat.errors import BadRequest, shorten

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# A home or a rented server usually gets a whole /64, so its single addresses mean nothing.
IPV6_PREFIX: Final = 64
MAX_ADDRESS_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The proxies whose forwarding headers are trusted; none by default."""

    networks: tuple[Network, ...] = ()

    def trusts(self, address: str) -> bool:
        """Return whether a trusted proxy has this address."""
        parsed = _parse(address)
        return parsed is not None and any(parsed in network for network in self.networks)

    def find_client(self, peer: str, forwarded_for: Iterable[str]) -> str:
        """Return the client's address, given the peer of the connection and the values of X-Forwarded-For.

        Missing: "" when the connection has no address. A proxy that names no address is the client itself.
        """
        client = peer
        hops = [hop for value in forwarded_for for hop in value.split(",")]
        while hops and self.trusts(client):
            hop = hops.pop()
            if _parse(hop) is None:
                break
            client = hop
        return _normalize(client)


def group_of(address: str) -> str:
    """Return the key that groups addresses of one client: an IPv4 address itself, the /64 of an IPv6 address."""
    return _group_of_short(address) if len(address) <= MAX_ADDRESS_LENGTH else _group_of_any(address)


# As _parse_short: to print an address takes longer than to look it up.
@lru_cache(maxsize=4096)
def _group_of_short(address: str) -> str:
    return _group_of_any(address)


def _group_of_any(address: str) -> str:
    parsed = _parse(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((parsed, IPV6_PREFIX), strict=False))
    return _normalize(address)


def is_loopback(address: str) -> bool:
    """Return whether the text is an address of this machine's own network, such as 127.0.0.1 or ::1."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def is_this_machine(host: str) -> bool:
    """Return whether the host of a URL is this machine: localhost, or a loopback address."""
    return host == "localhost" or is_loopback(host)


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks; a single address is a network of one.

    Raises: BadRequest that names the text
    """
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip()))
        except ValueError as error:
            raise BadRequest(
                f"NORMSTAT_TRUSTED_PROXIES: expected an address or a network such as 10.0.0.0/8, found {shorten(text)} ({error})"
            ) from None
    return tuple(networks)


def _normalize(address: str) -> str:
    parsed = _parse(address)
    return str(parsed) if parsed is not None else address[:MAX_ADDRESS_LENGTH]


def _parse(text: str) -> Address | None:
    # Any client can send longer texts; they are not cached.
    return _parse_short(text) if len(text) <= MAX_ADDRESS_LENGTH else _parse_any(text)


# An agent connects for each post, and its address is looked at several times for each.
@lru_cache(maxsize=4096)
def _parse_short(text: str) -> Address | None:
    return _parse_any(text)


def _parse_any(text: str) -> Address | None:
    text = text.strip()
    if text.startswith("["):
        # [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        # 192.0.2.1:443
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # The same client, seen by a dual-stack socket.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
