"""The host names that this server answers to.

A page of another site can point its own name at this server's address (DNS rebinding): the victim's browser then treats the server
as part of that site and lets the page read its answers. The Host header still carries the foreign name, so unknown names are
refused. Literal addresses are not names and cannot be rebound.
"""

import ipaddress
import socket
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

ANY: Final = "*"
LOCAL: Final = "localhost"


class AllowedHosts:
    """The configured names, and the machine's own."""

    def __init__(self, public_url: str, added: Iterable[str]) -> None:
        self._names = {LOCAL}
        self._suffixes = {f".{LOCAL}"}
        self._is_any = False
        self.add(urlsplit(public_url).hostname or "")
        for name in added:
            self.add(name)
        self._add_machine(socket.gethostname())

    def add(self, name: str) -> None:
        """Allow a name; `*.example.org` allows every subdomain, `*` any name."""
        name = name.strip().lower().rstrip(".")
        if name == ANY:
            self._is_any = True
        elif name.startswith("*."):
            self._suffixes.add(name[1:])
        elif name:
            self._names.add(_without_port(name))

    def add_full_name(self) -> None:
        """Allow the machine's fully qualified name; may query DNS, so do not call it on the event loop."""
        self._add_machine(socket.getfqdn())

    def _add_machine(self, name: str) -> None:
        self.add(name)
        if "." not in name:
            # Its multicast DNS name on the local network.
            self.add(f"{name}.local")

    def allows(self, host: str) -> bool:
        """Return whether a request with this Host header is for us; a request without one is (HTTP/1.0, which no browser sends)."""
        name = _without_port(host.strip().lower()).rstrip(".")
        if self._is_any or not name or name in self._names or name.endswith(tuple(self._suffixes)):
            return True
        try:
            ipaddress.ip_address(name.strip("[]").partition("%")[0])
        except ValueError:
            return False
        return True


def _without_port(netloc: str) -> str:
    if netloc.startswith("["):
        return netloc.partition("]")[0] + "]"
    return netloc if netloc.count(":") > 1 else netloc.partition(":")[0]
