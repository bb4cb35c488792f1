"""Logging in and out, and one's own account."""

from datetime import timedelta

from fastapi import APIRouter, Depends, Request, Response

from normstat.api.deps import SESSION_COOKIE, State, Viewer, WriteSession, check_origin
from normstat.api.handlers import error_answers, guarded_answers
from normstat.api.schemas import Empty, LinkRequest, LoginRequest, Me, PasswordChange
from normstat.auth import login
from normstat.errors import Conflict, NotAllowed, NotAuthenticated, TooManyRequests
from normstat.settings import Settings

router = APIRouter(prefix="/auth", tags=["auth"])


@router.post("/login", dependencies=[Depends(check_origin)], responses=error_answers(NotAuthenticated, NotAllowed, TooManyRequests))
async def log_in(body: LoginRequest, request: Request, response: Response, state: State) -> Me:
    """Logs in with name and password; sets the session cookie."""
    logged_in = await login.log_in(
        state.sessions,
        state.throttle,
        name=body.name,
        password=body.password,
        address=_address(request),
        lifetime=_lifetime(state.settings),
    )
    return _welcome(response, state.settings, logged_in)


@router.post(
    "/link",
    dependencies=[Depends(check_origin)],
    responses=error_answers(NotAuthenticated, NotAllowed, Conflict, TooManyRequests),
)
async def use_link(body: LinkRequest, request: Request, response: Response, state: State) -> Me:
    """Logs in with the token of a one-time link; sets the session cookie. 409 when the link was used or is too old."""
    logged_in = await login.use_link(
        state.sessions, state.throttle, token=body.token, address=_address(request), lifetime=_lifetime(state.settings)
    )
    return _welcome(response, state.settings, logged_in)


@router.post("/logout", responses=guarded_answers())
async def log_out(principal: Viewer, response: Response, session: WriteSession) -> Empty:
    """Ends this session."""
    await login.log_out(session, principal)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return Empty()


@router.get("/me", responses=guarded_answers())
async def get_me(principal: Viewer) -> Me:
    """Says who is logged in."""
    return Me.model_validate(principal)


@router.put("/password", responses=guarded_answers(TooManyRequests))
async def change_password(body: PasswordChange, principal: Viewer, request: Request, response: Response, state: State) -> Me:
    """Sets one's own password; ends all other sessions of the account."""
    logged_in = await login.change_password(
        state.sessions,
        state.throttle,
        principal,
        old=body.old_password,
        new=body.new_password,
        address=_address(request),
        lifetime=_lifetime(state.settings),
    )
    return _welcome(response, state.settings, logged_in)


def _lifetime(settings: Settings) -> timedelta:
    return timedelta(days=settings.session_days)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _welcome(response: Response, settings: Settings, logged_in: login.LoggedIn) -> Me:
    response.set_cookie(
        SESSION_COOKIE,
        logged_in.token,
        max_age=int(_lifetime(settings).total_seconds()),
        path="/",
        httponly=True,
        samesite="lax",
        secure=settings.cookie_secure,
    )
    return Me.model_validate(logged_in.principal)
