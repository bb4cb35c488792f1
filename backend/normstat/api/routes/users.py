"""Accounts, for administrators."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Path
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import UserCreate, UserInfo, UserList
from normstat.auth import accounts
from normstat.auth.account_rows import list_users as list_user_rows
from normstat.auth.account_rows import read_host_groups
from normstat.auth.accounts import UserUpdate
from normstat.auth.roles import Role
from normstat.auth.second_factor_rows import list_factor_owners
from normstat.db.schema.models import User
from normstat.errors import BadRequest, Conflict, NotFound, Overloaded, WeakPassword
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/users", tags=["users"], dependencies=[NEEDS_ADMINISTRATOR])
UserPath = Annotated[str, Path(description="name of the account", min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("", responses=guarded_answers())
async def list_users(session: ReadSession) -> UserList:
    """List all accounts by name."""
    return UserList(users=await _to_infos(session, await list_user_rows(session)))


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict, WeakPassword, Overloaded))
async def create_user(body: UserCreate, principal: Administrator, session: WriteSession) -> UserInfo:
    """Create an account. With `host_groups` it sees only their hosts, and what belongs to them; an administrator sees all hosts.

    An API token cannot create an administrator.
    """
    user = await accounts.create_account(
        session, principal, name=body.name, role=body.role, password=body.password, host_groups=body.host_groups
    )
    [info] = await _to_infos(session, [user])
    return info


@router.patch("/{name}", responses=guarded_answers(BadRequest, NotFound, Conflict, WeakPassword, Overloaded))
async def update_user(name: UserPath, body: UserUpdate, principal: Administrator, session: WriteSession) -> UserInfo:
    """Change role, password or host groups of an account, or disable it; a new password or disabling ends its sessions.

    A new password also revokes the account's API tokens, unless `revoke_api_tokens` is false. An API token can neither change an
    administrator nor create one.
    """
    [info] = await _to_infos(session, [await accounts.change_account(session, principal, name, body)])
    return info


@router.delete("/{name}", responses=guarded_answers(NotFound, Conflict))
async def delete_user(name: UserPath, principal: Administrator, session: WriteSession) -> Empty:
    """Delete an account, its sessions and its API tokens; what it created stays. An API token cannot delete an administrator."""
    await accounts.delete_account(session, principal, name)
    return Empty()


async def _to_infos(session: AsyncSession, users: Sequence[User]) -> list[UserInfo]:
    owners = await list_factor_owners(session)
    groups = await read_host_groups(session, [user.id for user in users])
    return [
        UserInfo(
            name=user.name,
            role=Role(user.role),
            has_password=user.password_hash is not None,
            has_second_factor=user.id in owners,
            is_disabled=user.disabled_at is not None,
            host_groups=groups.get(user.id, []) if user.is_limited else None,
            created_at=user.created_at,
        )
        for user in users
    ]
