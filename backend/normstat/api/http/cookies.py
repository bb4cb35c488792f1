"""The cookies of a login. Over TLS their names begin with `__Host-`.

Browsers take such a cookie from this very host over TLS only, for all paths: neither another server of the domain nor an attacker
who changes unencrypted answers can plant one. Without TLS they refuse such names.
"""

from datetime import timedelta
from typing import Final, Literal

from fastapi import Response
from fastapi.security import APIKeyCookie
from starlette.requests import HTTPConnection

from normstat.api.http.middleware import came_by_tls
from normstat.api.http.state import AppState

SESSION_COOKIE: Final = "normstat_session"
# Marks browsers that have logged in to an account before, while its password is being guessed; it grants no access.
BROWSER_COOKIE: Final = "normstat_browser"
SECURE_PREFIX: Final = "__Host-"


def needs_tls(request: HTTPConnection) -> bool:
    """Return whether browsers reach the server by TLS, and only so."""
    state: AppState = request.app.state.normstat
    return state.settings.cookie_secure or came_by_tls(request)


def read_cookie(request: HTTPConnection, name: str) -> str | None:
    """Return the value of a cookie of ours. Missing: None, also when its name is the one for the other transport (TLS or plain)."""
    return request.cookies.get(_full_name(request, name))


def set_cookie(
    request: HTTPConnection, response: Response, name: str, value: str, lifetime: timedelta, *, samesite: Literal["lax", "strict"]
) -> None:
    """Make the browser keep a cookie of ours; scripts cannot read it."""
    response.set_cookie(
        _full_name(request, name),
        value,
        max_age=int(lifetime.total_seconds()),
        path="/",
        httponly=True,
        samesite=samesite,
        secure=needs_tls(request),
    )


def delete_cookie(request: HTTPConnection, response: Response, name: str) -> None:
    """Make the browser forget a cookie of ours."""
    response.delete_cookie(_full_name(request, name), path="/", httponly=True, samesite="lax", secure=needs_tls(request))


def _full_name(request: HTTPConnection, name: str) -> str:
    return SECURE_PREFIX + name if needs_tls(request) else name


class SessionCookie(APIKeyCookie):
    """The session of a request, as the API's document describes it."""

    def __init__(self) -> None:
        super().__init__(
            name=SESSION_COOKIE,
            scheme_name="session",
            description=f"set by login; over TLS its name is {SECURE_PREFIX}{SESSION_COOKIE}",
            auto_error=False,
        )

    async def __call__(self, request: HTTPConnection) -> str | None:
        """Return the token of the session. Missing: None."""
        return read_cookie(request, SESSION_COOKIE)
