"""Accounts, for administrators."""

from typing import Annotated

from fastapi import APIRouter, Path

from normstat.api.deps import Administrator, ReadSession, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, Empty, UserCreate, UserInfo, UserList, UserUpdate
from normstat.errors import Conflict, NormstatError, NotFound

router = APIRouter(prefix="/users", tags=["users"])
UserPath = Annotated[str, Path(description="name of the account", min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("", responses=guarded_answers())
async def list_users(principal: Administrator, session: ReadSession) -> UserList:
    """Lists all accounts by name."""
    raise NormstatError("not built yet")


@router.post("", status_code=201, responses=guarded_answers(Conflict))
async def create_user(body: UserCreate, principal: Administrator, session: WriteSession) -> UserInfo:
    """Makes an account."""
    raise NormstatError("not built yet")


@router.patch("/{name}", responses=guarded_answers(NotFound, Conflict))
async def update_user(name: UserPath, body: UserUpdate, principal: Administrator, session: WriteSession) -> UserInfo:
    """Changes role or password of an account, or disables it; a new password or disabling ends its sessions."""
    raise NormstatError("not built yet")


@router.delete("/{name}", responses=guarded_answers(NotFound, Conflict))
async def delete_user(name: UserPath, principal: Administrator, session: WriteSession) -> Empty:
    """Removes an account, its sessions and its API tokens; what it made stays."""
    raise NormstatError("not built yet")
