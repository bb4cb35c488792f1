"""Connect to a receiver. Cloud metadata addresses, which serve credentials of this machine, are refused."""

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from normstat.alerts.senders.send_outcome import CONNECT_LIMIT_S

# Maximum number of addresses tried: a host may have many.
MAX_ADDRESSES: Final = 4
# Where clouds serve the credentials of the machine, besides link-local addresses: Alibaba, Azure, Oracle, AWS, Google, Scaleway.
METADATA: Final = tuple(
    map(ip_network, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254", "fd00:42::42"))
)
# Addresses of IPv6 that lead to one of IPv4, which is their last 32 bits: IPv4-mapped, -translated, -compatible, and NAT64.
ENDING_IN_IPV4: Final = tuple(map(ip_network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96")))
# The prefix of a network's own NAT64, which may be longer: RFC 6052 says where the IPv4 address is for each length. The bits 64
# to 71 are no part of it.
OWN_NAT64: Final = ip_network("64:ff9b:1::/48")
NAT64_LENGTHS: Final = (48, 56, 64)
# An ISATAP address has one of these before the IPv4 address.
ISATAP: Final = (0x00005EFE, 0x02005EFE)
MASK_32: Final = 0xFFFF_FFFF


class AddressRefused(OSError):
    """The receiver's address is one that messages are never sent to."""


def dial(host: str, port: int, timeout_s: float = CONNECT_LIMIT_S) -> socket.socket:
    """Return a connection to the first address of the host that answers.

    The address that was checked is the one that is used: a name server cannot answer differently in between. Those where clouds
    serve the credentials of the machine are refused. Loopback and private ones are allowed: an Alertmanager or a mail server is
    usually near.

    Raises: OSError
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    problem: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in found[:MAX_ADDRESSES]:
        if is_refused(str(address[0])):
            problem = AddressRefused(f"{host} has the address {address[0]}; messages are never sent there (docs/security.md)")
            continue
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(timeout_s)
        try:
            connection.connect(address)
        except OSError as error:
            connection.close()
            problem = error
            continue
        return connection
    raise problem


def is_refused(address: str) -> bool:
    """Return whether messages are never sent to an address, or to one of IPv4 that it leads to."""
    found = ip_address(address.partition("%")[0])
    return any(map(_is_refused, (found, *_embedded(found))))


def _is_refused(address: IPv4Address | IPv6Address) -> bool:
    is_special = address.is_link_local or address.is_multicast or address.is_unspecified
    return is_special or any(address in network for network in METADATA)


def _embedded(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address]:
    """Yield the addresses of IPv4 that a tunnel or a translator would send to."""
    if isinstance(address, IPv4Address):
        return
    bits = int(address)
    is_isatap = bits >> 32 & MASK_32 in ISATAP
    if is_isatap or address in OWN_NAT64 or any(address in network for network in ENDING_IN_IPV4):
        yield IPv4Address(bits & MASK_32)
    if address in OWN_NAT64:
        without_gap = bits >> 64 << 56 | bits & (1 << 56) - 1
        places = (without_gap >> 120 - length - 32 & MASK_32 for length in NAT64_LENGTHS)
        # A prefix of another length has zeros there.
        yield from (IPv4Address(found) for found in places if found)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
