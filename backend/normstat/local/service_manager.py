"""Tells systemd that the server is ready, or is about to stop: sd_notify(3)."""

import contextlib
import socket
from typing import Final

READY: Final = b"READY=1"
STOPPING: Final = b"STOPPING=1"


def tell_service_manager(address: str | None, state: bytes) -> None:
    """Send the state to the socket that systemd named; does nothing without one, or where no process listens.

    `address`: the path of a socket; @ begins one of the abstract namespace
    """
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to:
        to.connect("\0" + address[1:] if address.startswith("@") else address)
        to.sendall(state)
