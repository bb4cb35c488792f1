"""Login, logout, and the user's own account."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from fastapi import Depends, Request, Response

from normstat.api.http import cookies
from normstat.api.http.deps import State, ViewerInSetup, WriteSession, check_origin
from normstat.api.http.handlers import error_answers, guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.middleware import client_address
from normstat.api.routes.schemas import LinkRequest, LoggedOut, LoginRequest, Me, PasswordChange
from normstat.auth import login
from normstat.auth.access import Principal
from normstat.auth.login_expiry import KEEP_BROWSERS
from normstat.errors import Conflict, NotAllowed, NotAuthenticated, Overloaded, SecondFactorNeeded, TooManyRequests, WeakPassword
from normstat.settings import Settings

router = LazyRouter(prefix="/auth", tags=["auth"])

MAX_BROWSER_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class LoginHandler:
    """The login of one request: who is asking, and the response that gets the cookies."""

    context: login.LoginContext
    visitor: login.Visitor
    request: Request
    response: Response
    settings: Settings

    def set_cookies(self, logged_in: login.NewSession) -> Me:
        """Set the session and browser cookies; return who is logged in."""
        to = self.request, self.response
        cookies.set_cookie(*to, cookies.SESSION_COOKIE, logged_in.token, self.context.lifetime, samesite="lax")
        cookies.set_cookie(*to, cookies.BROWSER_COOKIE, logged_in.browser, KEEP_BROWSERS, samesite="strict")
        return to_me(logged_in.principal, self.settings)


def to_me(principal: Principal, settings: Settings) -> Me:
    """Return who is logged in, as the page needs it."""
    return Me(
        name=principal.name,
        role=principal.role,
        has_password=principal.has_password,
        has_second_factor=principal.has_second_factor,
        must_set_second_factor=principal.lacks_second_factor(settings.second_factor_role),
        is_from_provider=principal.is_from_provider,
        is_limited=principal.is_limited,
        is_read_only=settings.read_only,
    )


async def get_login_handler(request: Request, response: Response, state: State) -> LoginHandler:
    """Return the login of this request."""
    lifetime = timedelta(days=state.settings.session_days)
    key = state.settings.secret_key
    browser = cookies.read_cookie(request, cookies.BROWSER_COOKIE) or ""
    return LoginHandler(
        login.LoginContext(
            state.sessions, state.throttle, state.security_log, lifetime, None if key is None else key.get_secret_value()
        ),
        login.Visitor(
            client_address(request),
            browser if 0 < len(browser) <= MAX_BROWSER_LENGTH else None,
            request.headers.get("user-agent", ""),
        ),
        request,
        response,
        settings=state.settings,
    )


Login = Annotated[LoginHandler, Depends(get_login_handler)]


@router.post(
    "/login",
    dependencies=[Depends(check_origin)],
    responses=error_answers(NotAuthenticated, SecondFactorNeeded, NotAllowed, TooManyRequests, Overloaded),
)
async def log_in(body: LoginRequest, login_handler: Login) -> Me:
    """Log in with name and password; set the session cookie. 401 `second_factor_needed` when the account also asks for a code."""
    logged_in = await login.log_in(
        login_handler.context, login_handler.visitor, name=body.name, password=body.password, code=body.code
    )
    return login_handler.set_cookies(logged_in)


@router.post(
    "/link",
    dependencies=[Depends(check_origin)],
    responses=error_answers(NotAuthenticated, NotAllowed, Conflict, TooManyRequests),
)
async def use_link(body: LinkRequest, login_handler: Login) -> Me:
    """Log in with the token of a one-time link; set the session cookie. 409 when the link was used or has expired."""
    logged_in = await login.use_link(login_handler.context, login_handler.visitor, token=body.token)
    return login_handler.set_cookies(logged_in)


@router.post("/logout", responses=guarded_answers())
@open_to_limited()
async def log_out(principal: ViewerInSetup, request: Request, response: Response, session: WriteSession, state: State) -> LoggedOut:
    """Log out: end this session."""
    url = None
    if principal.is_from_provider and state.oidc is not None:
        # Before the first statement, so that no connection waits for the provider.
        url = await state.oidc.client.end_session_url(f"{state.settings.public_url.rstrip('/')}/login")
    await login.log_out(session, principal)
    cookies.delete_cookie(request, response, cookies.SESSION_COOKIE)
    return LoggedOut(provider_logout_url=url)


@router.get("/me", responses=guarded_answers())
@open_to_limited()
async def get_me(principal: ViewerInSetup, state: State) -> Me:
    """Return who is logged in."""
    return to_me(principal, state.settings)


@router.put("/password", responses=guarded_answers(WeakPassword, TooManyRequests, Overloaded))
@open_to_limited()
async def change_password(body: PasswordChange, principal: ViewerInSetup, login_handler: Login) -> Me:
    """Set one's own password; end all other sessions of the account and, by default, revoke its API tokens."""
    logged_in = await login.change_password(
        login_handler.context,
        login_handler.visitor,
        principal,
        old=body.old_password,
        new=body.new_password,
        must_revoke_tokens=body.revoke_api_tokens,
    )
    return login_handler.set_cookies(logged_in)
