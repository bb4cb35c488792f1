"""Protects against cross-site request forgery.

A browser adds the session cookie to every request to us, also from pages of other sites. A page of another site cannot add a
custom header without our consent (CORS, which we never give), so a header that only our page sends distinguishes the two.
"""

from collections.abc import Mapping
from typing import Final

from normstat.errors import NotAllowed, shorten

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
HEADER: Final = "X-Normstat-Request"


def check_browser_request(method: str, headers: Mapping[str, str]) -> None:
    """Check that a request under cookie login does not come from another site's page.

    Raises: NotAllowed
    """
    if method in SAFE_METHODS:
        return
    if headers.get(HEADER.lower()) != "1":
        raise NotAllowed(f"Changes with a login cookie need the header `{HEADER}: 1`; scripts use an API token instead")
    check_origin(headers)


def check_origin(headers: Mapping[str, str]) -> None:
    """Check that the Origin header is absent or names the host that the request was sent to.

    Raises: NotAllowed
    """
    origin = headers.get("origin")
    if origin is None:
        return
    host = headers.get("host", "")
    # Not urlsplit, which raises on what only an attacker sends. A sandboxed page sends "null".
    named = origin.partition("://")[2]
    if not named or _without_default_port(named) != _without_default_port(host):
        raise NotAllowed(f"The request comes from a page of {shorten(origin)}, not of this server ({shorten(host)})")


def _without_default_port(netloc: str) -> str:
    # A proxy that terminates TLS may pass the port that the browser left out.
    return netloc.lower().removesuffix(":80").removesuffix(":443")
