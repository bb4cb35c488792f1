"""Login by an OpenID Connect provider: redirect to it, and handle its response."""

import base64
import binascii
import hmac
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.responses import RedirectResponse
from pydantic import ConfigDict, StringConstraints

from normstat.api.http import cookies
from normstat.api.http.deps import State
from normstat.api.http.handlers import error_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.auth import Login, LoginHandler
from normstat.auth import oidc_client, oidc_login
from normstat.auth.oidc_client import LoginState, OidcClient, ProviderSettings, check_provider_settings
from normstat.auth.oidc_login import GroupHosts, GroupRoles, OidcLogin
from normstat.errors import BadRequest, NotAllowed, NotAuthenticated, NotFound, ProviderAway, TooManyRequests, shorten
from normstat.runtime.body import Body
from normstat.settings import Settings

router = LazyRouter(tags=["auth"])

# What the browser keeps while it is at the provider; only this browser can end the login.
COOKIE: Final = "normstat_oidc"
LIFETIME: Final = timedelta(minutes=10)
MAX_COOKIE: Final = 4000
# Paths of this page: neither another site nor a scheme, in whatever way browsers read it.
NEXT: Final = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]{0,1500}")
START: Final = "/hosts"


class LoginMethods(Body):
    """How one can log in besides a password. `provider`: what the button is called; None where there is none."""

    provider: str | None


class CallbackQuery(Body):
    """What the login provider sends the browser back with. Providers may add more."""

    model_config = ConfigDict(extra="ignore")

    code: Annotated[str, StringConstraints(max_length=4096)] | None = None
    state: Annotated[str, StringConstraints(max_length=200)] | None = None
    iss: Annotated[str, StringConstraints(max_length=2000)] | None = None


def safe_next(path: str | None) -> str:
    """Return the path to open after the login. Missing: the page of hosts for anything that is not a path of this page."""
    return path if path is not None and NEXT.fullmatch(path) and not path.startswith("/login") else START


def encode_login(login: LoginState, next_path: str) -> str:
    """Return the cookie of a login that has begun."""
    return base64.urlsafe_b64encode(json.dumps([login.state, login.nonce, login.verifier, next_path]).encode()).decode()


def decode_login(cookie: str | None) -> tuple[LoginState, str] | None:
    """Return the login of the cookie, and where it leads. Missing: None for anything that we did not set."""
    if not cookie or len(cookie) > MAX_COOKIE:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cookie))
    except (binascii.Error, ValueError, RecursionError):
        return None
    if not isinstance(found, list) or len(found) != 4 or not all(isinstance(part, str) and part for part in found):
        return None
    return LoginState(found[0], found[1], found[2]), safe_next(found[3])


def _require(oidc: OidcLogin | None) -> OidcLogin:
    if oidc is None:
        raise NotFound("This server has no login provider; NORMSTAT_OIDC_ISSUER sets one")
    return oidc


def make_oidc_login(settings: Settings, prefix: str) -> OidcLogin | None:
    """Return the login provider of the settings; `prefix`: of our routes. Missing: None where there is none.

    Raises: BadRequest for settings that cannot work
    """
    if settings.oidc_issuer is None:
        return None
    if not settings.oidc_client_id:
        raise BadRequest("NORMSTAT_OIDC_ISSUER is set; set NORMSTAT_OIDC_CLIENT_ID too, and the secret that the provider gave")
    roles = GroupRoles(settings.oidc_admin_groups, settings.oidc_operator_groups, settings.oidc_viewer_groups)
    if not any((roles.administrator, roles.operator, roles.viewer)):
        raise BadRequest("NORMSTAT_OIDC_ISSUER is set, but no group has a role; NORMSTAT_OIDC_VIEWER_GROUPS=* admits every user")
    secret = settings.oidc_client_secret
    provider = ProviderSettings(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=None if secret is None else secret.get_secret_value(),
        scopes=settings.oidc_scopes,
        groups_claim=settings.oidc_groups_claim,
        redirect_uri=f"{settings.public_url.rstrip('/')}{prefix}/auth/oidc/callback",
        ca_file=settings.oidc_ca_file,
    )
    check_provider_settings(provider)
    lifetime = timedelta(hours=settings.oidc_session_hours)
    visible = GroupHosts(tuple(_to_pair(pair) for pair in settings.oidc_host_groups))
    return OidcLogin(OidcClient(provider), roles, visible, settings.oidc_name_claim, lifetime, settings.oidc_label)


def _to_pair(text: str) -> tuple[str, str]:
    group, separator, host_group = (part.strip() for part in text.partition("="))
    if not group or not separator or not host_group:
        raise BadRequest(f"NORMSTAT_OIDC_HOST_GROUPS has {shorten(text)}; expected GROUP=HOST GROUP, as in dba=databases")
    return group, host_group


def _to_login_page(problem: str) -> RedirectResponse:
    # A relative address: whatever the Host header says, the browser stays here.
    return RedirectResponse(f"/login?{urlencode({'problem': problem})}", status_code=303)


@router.get("/auth/methods", responses=error_answers())
async def get_login_methods(state: State) -> LoginMethods:
    """Return how one can log in besides a password."""
    return LoginMethods(provider=None if state.oidc is None else state.oidc.label)


@router.get("/auth/oidc/login", status_code=303, response_class=RedirectResponse, responses=error_answers(NotFound))
async def begin_provider_login(
    request: Request,
    login_handler: Login,
    state: State,
    next: Annotated[str | None, Query(max_length=2000)] = None,  # noqa: A002
) -> RedirectResponse:
    """Send the browser to the login provider; `next` is the path of this page to open after the login."""
    oidc = _require(state.oidc)
    login = oidc_client.new_login_state()
    try:
        answer = RedirectResponse(await oidc.client.authorization_url(login), status_code=303)
    except ProviderAway as error:
        login_handler.context.security_log.note(
            "login_failed", login_handler.visitor.address, reason="provider_away", detail=error.message
        )
        return _to_login_page("unavailable")
    # Lax: the way back from the provider is a navigation from another site.
    cookies.set_cookie(request, answer, COOKIE, encode_login(login, safe_next(next)), LIFETIME, samesite="lax")
    return answer


@router.get("/auth/oidc/callback", status_code=303, response_class=RedirectResponse, responses=error_answers(NotFound))
async def finish_provider_login(
    request: Request, login_handler: Login, state: State, asked: Annotated[CallbackQuery, Query()]
) -> RedirectResponse:
    """Come back from the login provider: set the session cookie and open the page, or the login page with what is wrong."""
    oidc = _require(state.oidc)
    began = decode_login(cookies.read_cookie(request, COOKIE))
    answer = await _finish(oidc, login_handler, began, asked)
    # Used up, whatever the result.
    cookies.delete_cookie(request, answer, COOKIE)
    return answer


async def _finish(
    oidc: OidcLogin, handler: LoginHandler, began: tuple[LoginState, str] | None, asked: CallbackQuery
) -> RedirectResponse:
    code, returned, issuer = asked.code, asked.state, asked.iss
    if began is None or returned is None or not hmac.compare_digest(returned.encode("utf-8", "replace"), began[0].state.encode()):
        # A login that another browser began, or that took too long: the request is ignored.
        return _to_login_page("expired")
    login, next_path = began
    if code is None:
        return _to_login_page("denied")
    if issuer is not None and issuer != oidc.client.settings.issuer:
        return _to_login_page("failed")
    try:
        logged_in = await oidc_login.finish_login(handler.context, handler.visitor, oidc, login, code)
    except NotAllowed as error:
        return _to_login_page("disabled" if error.details.get("reason") == "account_disabled" else "no_group")
    except NotAuthenticated:
        return _to_login_page("failed")
    except ProviderAway:
        return _to_login_page("unavailable")
    except TooManyRequests:
        return _to_login_page("busy")
    answer = RedirectResponse(next_path, status_code=303)
    lifetime = min(handler.context.lifetime, oidc.lifetime)
    replace(handler, response=answer, context=replace(handler.context, lifetime=lifetime)).set_cookies(logged_in)
    return answer
