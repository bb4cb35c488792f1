"""Rows of sessions: listed, noted as used, and ended. Permissions are decided in auth."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from normstat.db.schema.account_models import SecondFactor
from normstat.db.schema.models import Session, User

# `last_seen_at` is for people; writing it for every request would cost too much.
SEEN_STEP: Final = timedelta(minutes=1)
MAX_LISTED: Final = 500


@dataclass(frozen=True, slots=True)
class FoundSession:
    """The account of a session, whether its use is to be noted, and whether the account has a second factor."""

    user: User
    is_unnoted: bool
    has_second_factor: bool


def _factor_of(user_id: int | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    return exists().where(SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None))


async def has_second_factor(session: AsyncSession, user_id: int) -> bool:
    """Return whether the account has a second factor that a code has confirmed."""
    return await session.scalar(select(_factor_of(user_id))) is True


async def find_session(session: AsyncSession, token_hash: bytes) -> FoundSession | None:
    """Return the enabled account of this session, None if the session has ended."""
    is_unnoted = Session.last_seen_at < func.now() - SEEN_STEP
    row = (
        await session.execute(
            select(User, is_unnoted, _factor_of(User.id))
            .join(Session, Session.user_id == User.id)
            .where(Session.token_hash == token_hash, Session.expires_at > func.now(), User.disabled_at.is_(None))
        )
    ).one_or_none()
    return None if row is None else FoundSession(row[0], row[1], row[2])


async def note_seen(session: AsyncSession, token_hash: bytes, address: str) -> None:
    """Note that the session was used just now, from this address."""
    is_unnoted = Session.last_seen_at < func.now() - SEEN_STEP
    values = {"last_seen_at": func.now(), "address": address}
    await session.execute(update(Session).where(Session.token_hash == token_hash, is_unnoted).values(values))


async def list_sessions(session: AsyncSession, user_id: int) -> list[Session]:
    """Return the sessions of an account that have not ended, the last used first, MAX_LISTED at most."""
    query = select(Session).where(Session.user_id == user_id, Session.expires_at > func.now())
    return list(await session.scalars(query.order_by(Session.last_seen_at.desc(), Session.id.desc()).limit(MAX_LISTED)))


async def list_all_sessions(session: AsyncSession) -> list[tuple[Session, str]]:
    """Return the sessions of all accounts with the name of each account, the last used first."""
    query = select(Session, User.name).join(User, User.id == Session.user_id).where(Session.expires_at > func.now())
    rows = await session.execute(query.order_by(Session.last_seen_at.desc(), Session.id.desc()).limit(MAX_LISTED))
    return [(row[0], row[1]) for row in rows]


async def end_session(session: AsyncSession, user_id: int, session_id: int) -> bool:
    """End one session of the account; return whether there was one."""
    query = delete(Session).where(Session.user_id == user_id, Session.id == session_id).returning(Session.id)
    return await session.scalar(query) is not None


async def end_sessions(session: AsyncSession, user_id: int, *, but: bytes | None = None) -> int:
    """End all sessions of the account, but for one; return their number."""
    query = delete(Session).where(Session.user_id == user_id)
    if but is not None:
        query = query.where(Session.token_hash != but)
    return len((await session.scalars(query.returning(Session.id))).all())
