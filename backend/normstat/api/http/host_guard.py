"""Refuse requests whose Host header is not one of our names (DNS rebinding; see auth/allowed_hosts.py)."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from normstat.api.http.handlers import error_response, request_id_of
from normstat.api.http.middleware import client_address
from normstat.api.http.state import AppState
from normstat.errors import UnknownHost, shorten


class HostGuard:
    """Answers 400 to requests for other hosts.

    Requests to `open_paths` pass: agents send there with a secret that no page of another site has, whatever name they know the
    server by, and a 400 would make them set their data aside.
    """

    def __init__(self, app: ASGIApp, open_paths: Collection[str]) -> None:
        self.app = app
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for requests to our own names."""
        if scope["type"] != "http" or scope["path"] in self._open_paths:
            await self.app(scope, receive, send)
            return
        state: AppState = scope["app"].state.normstat
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) <= 1 and all(state.allowed_hosts.allows(host) for host in hosts):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        named = shorten(", ".join(hosts))
        state.security_log.note("host_refused", client_address(request), host=named)
        error = UnknownHost(
            f"This server does not answer to the name {named}. If it should, add it to NORMSTAT_ALLOWED_HOSTS and restart the"
            " server again"
        )
        await error_response(request_id_of(request), error)(scope, receive, send)
