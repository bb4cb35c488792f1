"""The names that this server answers to.

A page of another site can point a name of its own at this server's address (DNS rebinding): the victim's browser then takes the
server for a part of that site and lets the page read its answers. The header Host still carries the foreign name, so a name that
nobody told us is refused. Literal addresses are no names and cannot be rebound.
"""

import ipaddress
import socket
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

ANY: Final = "*"
LOCAL: Final = "localhost"


class AllowedHosts:
    """The names that were configured, and those that the machine has of its own."""

    def __init__(self, public_url: str, added: Iterable[str]) -> None:
        self._names = {LOCAL}
        self._suffixes = {f".{LOCAL}"}
        self._is_any = False
        self.add(urlsplit(public_url).hostname or "")
        for name in added:
            self.add(name)
        self._add_machine(socket.gethostname())

    def add(self, name: str) -> None:
        """Allow a name; `*.example.org` allows every name below, `*` any name."""
        name = name.strip().lower().rstrip(".")
        if name == ANY:
            self._is_any = True
        elif name.startswith("*."):
            self._suffixes.add(name[1:])
        elif name:
            self._names.add(_without_port(name))

    def add_full_name(self) -> None:
        """Allow the machine's name with its domain; may ask a name server, so do not call it in the event loop."""
        self._add_machine(socket.getfqdn())

    def _add_machine(self, name: str) -> None:
        self.add(name)
        if "." not in name:
            # As multicast DNS calls it in the local network.
            self.add(f"{name}.local")

    def allows(self, host: str) -> bool:
        """Return whether a request with this header Host is for us; one without a name is (HTTP/1.0, no browser sends it)."""
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
