"""Connect to a receiver. Addresses that only this machine's surroundings answer to are refused."""

import socket
from ipaddress import ip_address
from typing import Final

from normstat.alerts.senders.send_outcome import CONNECT_LIMIT_S

# Of a try: a host may have many addresses.
MAX_ADDRESSES: Final = 4


class AddressRefused(OSError):
    """The receiver's address is one that messages are never sent to."""


def dial(host: str, port: int, timeout_s: float = CONNECT_LIMIT_S) -> socket.socket:
    """Return a connection to the first address of the host that answers.

    The address that was checked is the one that is used: a name server cannot answer differently in between. Link-local addresses
    are refused: clouds serve the credentials of the machine there. Loopback and private ones are allowed: an Alertmanager or a mail
    server is usually near.

    Raises: OSError
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    problem: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in found[:MAX_ADDRESSES]:
        if is_refused(str(address[0])):
            problem = AddressRefused(f"{host} has the link-local address {address[0]}; messages are never sent there")
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
    """Return whether messages are never sent to an address."""
    found = ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    plain = found if mapped is None else mapped
    return plain.is_link_local or plain.is_multicast or plain.is_unspecified
