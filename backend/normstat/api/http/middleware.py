"""Adds to every request an id and the client's address, and to every answer the security headers."""

import logging
import re
import time
import uuid
from collections.abc import Sequence
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normstat.api.http import audit_notes
from normstat.auth.client_address import TrustedProxies
from normstat.db.host_limits import limit_hosts
from normstat.runtime.metrics import count_request

log = structlog.get_logger()
PLAIN_LOG: Final = logging.getLogger(__name__)

REQUEST_ID_HEADER: Final = "X-Request-Id"
# A proxy's own request id is kept if it is valid: it ends up in logs.
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


def make_content_policy(script_hashes: Sequence[str] = ()) -> str:
    """Return the Content-Security-Policy of a page with these inline scripts, each given by its hash: `sha256-...`."""
    own_scripts = "".join(f" '{each}'" for each in script_hashes)
    return "; ".join((
        "default-src 'self'",
        f"script-src 'self'{own_scripts}",
        # Plotly sets style attributes and draws images of a figure from data: and blob: addresses.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ))  # fmt: skip


SECURITY_HEADERS: Final = {
    "Content-Security-Policy": make_content_policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with that, browsers send `Origin: null` with forms, even to ourselves.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# A browser that came by TLS once uses TLS only, for a year. Browsers ignore this header without TLS.
STRICT_TRANSPORT_SECURITY: Final = "max-age=31536000"


def client_address(request: Request) -> str:
    """Return the client's address, also behind trusted proxies; the only source of it in the API."""
    return str(request.scope.get("state", {}).get("client_address", ""))


def came_by_tls(request: HTTPConnection) -> bool:
    """Return whether the client's connection was encrypted, as far as a trusted proxy reports it."""
    return bool(request.scope.get("state", {}).get("came_by_tls", False))


def _route_of(scope: Scope) -> str | None:
    """Return the template of the request's path, such as /api/v1/hosts/{host}. Missing: None when no route of ours answered."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def _note_in_audit_log(scope: Scope, status: int) -> None:
    """Note an answered request that is not in the audit log yet: exports, and changes that are made after the answer."""
    state = scope.get("state", {})
    if status >= 400 or state.get("is_audited") or "principal" not in state:
        return
    action = audit_notes.note_of(scope)
    entry = action and audit_notes.entry_of(scope, action=action)
    if entry:
        scope["app"].state.normstat.audit_trail.put(entry)


class RequestContextMiddleware:
    """Gives the request its id and its client's address, binds both for the log, and sets the headers of every answer.

    `is_behind_tls`: the settings say that browsers come by TLS.
    """

    def __init__(self, app: ASGIApp, proxies: TrustedProxies, *, is_behind_tls: bool) -> None:
        self.app = app
        self._proxies = proxies
        self._is_behind_tls = is_behind_tls
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given_headers = Headers(scope=scope)
        given = given_headers.get(REQUEST_ID_HEADER, "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        address, is_tls = self._look_behind_proxies(scope, given_headers)
        scope.setdefault("state", {}).update(request_id=request_id, client_address=address, came_by_tls=is_tls)
        # Until the guard of a route says otherwise: a task may serve several requests.
        limit_hosts(None)
        status = 0
        began = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if is_tls or self._is_behind_tls:
                    headers.setdefault("Strict-Transport-Security", STRICT_TRANSPORT_SECURITY)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id, address=address):
            try:
                await self.app(scope, receive, send_with_headers)
                _note_in_audit_log(scope, status)
            finally:
                count_request(_route_of(scope), scope["method"], status, time.perf_counter() - began)
            # structlog makes a logger before it finds that the level is off: that takes longer than all else here.
            if PLAIN_LOG.isEnabledFor(logging.DEBUG):
                # The path only: the query may be private.
                log.debug("request_done", method=scope["method"], path=scope["path"], status=status)

    def _look_behind_proxies(self, scope: Scope, headers: Headers) -> tuple[str, bool]:
        """Return the client's address, and whether it came by TLS."""
        client = scope.get("client")
        peer = client[0] if client else ""
        forwarded_for = headers.getlist("x-forwarded-for")
        is_trusted = self._proxies.trusts(peer)
        if forwarded_for and not is_trusted and not self._has_warned:
            # Log once: anyone can send this header. Behind an unnamed proxy, all clients share its address.
            self._has_warned = True
            log.warning("forwarded_header_ignored", peer=peer, setting="NORMSTAT_TRUSTED_PROXIES")
        said = headers.getlist("x-forwarded-proto")
        is_tls = scope.get("scheme") == "https" or (
            is_trusted and bool(said) and said[-1].rpartition(",")[2].strip().lower() == "https"
        )
        return self._proxies.find_client(peer, forwarded_for), is_tls
