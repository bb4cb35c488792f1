"""Logging in and out, and one's own account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from normstat.api.deps import State, Viewer, WriteSession, check_origin
from normstat.api.handlers import error_answers, guarded_answers
from normstat.api.schemas import Empty, LinkRequest, LoginRequest, Me, PasswordChange
from normstat.errors import Conflict, NormstatError, NotAllowed, NotAuthenticated, TooManyRequests

router = APIRouter(prefix="/auth", tags=["auth"])


@router.post("/login", dependencies=[Depends(check_origin)], responses=error_answers(NotAuthenticated, NotAllowed, TooManyRequests))
async def log_in(body: LoginRequest, request: Request, response: Response, state: State, session: WriteSession) -> Me:
    """Logs in with name and password; sets the session cookie."""
    raise NormstatError("not built yet")


@router.post(
    "/link",
    dependencies=[Depends(check_origin)],
    responses=error_answers(NotAuthenticated, NotAllowed, Conflict, TooManyRequests),
)
async def use_link(body: LinkRequest, request: Request, response: Response, state: State, session: WriteSession) -> Me:
    """Logs in with the token of a one-time link; sets the session cookie. 409 when the link was used or is too old."""
    raise NormstatError("not built yet")


@router.post("/logout", responses=guarded_answers())
async def log_out(principal: Viewer, response: Response, session: WriteSession) -> Empty:
    """Ends this session."""
    raise NormstatError("not built yet")


@router.get("/me", responses=guarded_answers())
async def get_me(principal: Viewer) -> Me:
    """Says who is logged in."""
    raise NormstatError("not built yet")


@router.put("/password", responses=guarded_answers(TooManyRequests))
async def change_password(
    body: PasswordChange, principal: Viewer, request: Request, response: Response, state: State, session: WriteSession
) -> Me:
    """Sets one's own password; ends all other sessions of the account."""
    raise NormstatError("not built yet")
