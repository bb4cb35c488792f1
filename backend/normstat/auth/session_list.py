"""Sessions as their owner and administrators see them: listed, and ended before their time."""

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import account_rows, session_rows
from normstat.auth.access import Principal
from normstat.auth.accounts import require_right_over
from normstat.auth.security_log import log_after_commit, short_name
from normstat.db.schema.models import Session
from normstat.errors import NotAllowed, NotFound


async def list_own(session: AsyncSession, principal: Principal) -> list[Session]:
    """Return the sessions of the principal's account, the last used first."""
    return await session_rows.list_sessions(session, principal.user_id)


async def list_of(session: AsyncSession, name: str) -> list[Session]:
    """Return the sessions of the account, the last used first.

    Raises: NotFound
    """
    return await session_rows.list_sessions(session, (await account_rows.require_user(session, name)).id)


async def end_own(session: AsyncSession, principal: Principal, session_id: int) -> None:
    """End one session of the principal's account.

    Raises: NotFound, NotAllowed for an API token
    """
    _require_login(principal)
    await _end(session, principal.name, principal.user_id, session_id, by=principal.name)


async def end_others(session: AsyncSession, principal: Principal) -> int:
    """End all sessions of the principal's account but that of the request; return their number.

    Raises: NotAllowed for an API token
    """
    _require_login(principal)
    n_ended = await session_rows.end_sessions(session, principal.user_id, but=principal.session_hash)
    log_after_commit(session, "sessions_ended", account=short_name(principal.name), n=n_ended, by=short_name(principal.name))
    return n_ended


async def end_of(session: AsyncSession, by: Principal, name: str, session_id: int) -> None:
    """End one session of the account.

    Raises: NotFound, NotAllowed for an API token and an administrator
    """
    user = await account_rows.require_user(session, name)
    require_right_over(by, user)
    await _end(session, user.name, user.id, session_id, by=by.name)


async def end_all_of(session: AsyncSession, by: Principal, name: str) -> int:
    """End all sessions of the account; return their number.

    Raises: NotFound, NotAllowed for an API token and an administrator
    """
    user = await account_rows.require_user(session, name)
    require_right_over(by, user)
    n_ended = await session_rows.end_sessions(session, user.id)
    log_after_commit(session, "sessions_ended", account=short_name(name), n=n_ended, by=short_name(by.name))
    return n_ended


async def _end(session: AsyncSession, name: str, user_id: int, session_id: int, *, by: str) -> None:
    if not await session_rows.end_session(session, user_id, session_id):
        raise NotFound(f"{name} has no session {session_id}; it may have ended")
    log_after_commit(session, "sessions_ended", account=short_name(name), n=1, by=short_name(by))


def _require_login(principal: Principal) -> None:
    if principal.session_hash is None:
        raise NotAllowed("An API token cannot end the sessions of its account; log in")
