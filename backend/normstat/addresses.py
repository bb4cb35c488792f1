"""What counts as one address where clients are counted."""

import ipaddress
from typing import Final

# One customer of a provider has a /64, and may use any address in it.
IPV6_PREFIX: Final = 64


def group(address: str | None) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 of an IPv6 address; "" when there is none."""
    if not address:
        return ""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))
