"""Rows of join tokens, of the hosts that enrol with them, and of agent tokens that take the place of others.

auth/enrolment.py and auth/rotation.py decide what is allowed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import ColumnElement

from normstat.db.row_records import to_record
from normstat.db.schema.account_models import JoinToken
from normstat.db.schema.models import AgentToken, Host
from normstat.records.host_tag_rows import MAX_TAGS, sort_tags
from normstat.runtime.field_docs import Documented

# --- join tokens ---


@dataclass(frozen=True, slots=True)
class EnrolledHostInfo(Documented):
    """A host that enrolled, and when; `is_active` is false when its token was revoked since."""

    host: str
    agent_token_id: int
    at: datetime
    is_active: bool


@dataclass(frozen=True, slots=True)
class JoinTokenInfo(Documented):
    """A join token without its secret, and the hosts that enrolled with it, the latest first."""

    id: int
    name: str
    host_pattern: str
    tags: list[str]
    allows_takeover: bool
    max_uses: int
    n_uses: int
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    hosts: list[EnrolledHostInfo]


async def add_join_token(session: AsyncSession, token: JoinToken, *, lifetime: timedelta) -> JoinToken:
    """Store a new join token."""
    token.expires_at = (await session.scalars(select(func.now() + lifetime))).one()
    session.add(token)
    await session.flush()
    await session.refresh(token)
    return token


async def count_usable(session: AsyncSession) -> int:
    """Return how many join tokens a host could enrol with."""
    return (await session.scalars(select(func.count()).select_from(JoinToken).where(*_is_usable()))).one()


def _is_usable() -> tuple[ColumnElement[bool], ...]:
    return JoinToken.revoked_at.is_(None), JoinToken.expires_at > func.now(), JoinToken.n_uses < JoinToken.max_uses


async def list_join_tokens(session: AsyncSession, *, limit: int) -> list[JoinToken]:
    """Return join tokens, the newest first."""
    return list(await session.scalars(select(JoinToken).order_by(JoinToken.id.desc()).limit(limit)))


async def list_enrolled(session: AsyncSession, ids: Iterable[int], *, limit: int) -> dict[int, list[EnrolledHostInfo]]:
    """Return the hosts that enrolled with these join tokens, by token, the latest first. Missing: tokens without one"""
    # Tokens that took the place of others name the join token, too.
    query = (
        select(
            AgentToken.join_token_id,
            Host.name,
            func.max(AgentToken.id),
            func.min(AgentToken.created_at),
            func.bool_or(AgentToken.revoked_at.is_(None)),
        )
        .join(Host, Host.id == AgentToken.host_id)
        .where(AgentToken.join_token_id.in_(list(ids)))
        .group_by(AgentToken.join_token_id, Host.name)
        .order_by(func.min(AgentToken.id).desc())
        .limit(limit)
    )
    found: dict[int, list[EnrolledHostInfo]] = {}
    for token_id, *enrolled in await session.execute(query):
        found.setdefault(token_id, []).append(EnrolledHostInfo(*enrolled))
    return found


async def show_join_tokens(session: AsyncSession, *, limit: int, max_hosts: int) -> list[JoinTokenInfo]:
    """Return join tokens as people see them, the newest first, with the latest hosts that enrolled."""
    tokens = await list_join_tokens(session, limit=limit)
    hosts = await list_enrolled(session, [token.id for token in tokens], limit=max_hosts)
    return [to_record(JoinTokenInfo, token, hosts=hosts.get(token.id, [])) for token in tokens]


async def lock_join_token(session: AsyncSession, token_hash: bytes) -> tuple[JoinToken, bool] | None:
    """Return the join token, locked until the end of the transaction, and whether its time is over. Missing: None, unknown."""
    query = select(JoinToken, JoinToken.expires_at <= func.now()).where(JoinToken.token_hash == token_hash)
    row = (await session.execute(query.with_for_update(), execution_options={"populate_existing": True})).one_or_none()
    return None if row is None else (row[0], row[1])


async def count_use(session: AsyncSession, token_id: int) -> None:
    """Count one more host; the token is locked."""
    await session.execute(update(JoinToken).where(JoinToken.id == token_id).values(n_uses=JoinToken.n_uses + 1))


async def revoke_join_token(session: AsyncSession, token_id: int) -> bool:
    """Revoke the token; return whether it exists. Hosts that enrolled keep their own tokens."""
    query = update(JoinToken).where(JoinToken.id == token_id).values(revoked_at=func.coalesce(JoinToken.revoked_at, func.now()))
    return await session.scalar(query.returning(JoinToken.id)) is not None


async def delete_old(session: AsyncSession, *, keep: timedelta) -> None:
    """Delete join tokens that ended, and agent tokens that were replaced, at least this long ago."""
    ended = or_(JoinToken.revoked_at <= func.now() - keep, JoinToken.expires_at <= func.now() - keep)
    await session.execute(delete(JoinToken).where(ended))
    successor = aliased(AgentToken)
    is_replaced = exists().where(successor.replaces_id == AgentToken.id, successor.last_used_at.is_not(None))
    await session.execute(delete(AgentToken).where(AgentToken.revoked_at <= func.now() - keep, is_replaced))


# --- hosts that enrol ---


@dataclass(frozen=True, slots=True)
class LockedHost:
    """A host, locked until the end of the transaction; `has_sent`: an agent has sent for it."""

    id: int
    is_new: bool
    has_sent: bool
    tags: tuple[str, ...]


async def count_hosts(session: AsyncSession) -> int:
    """Return how many hosts there are."""
    return (await session.scalars(select(func.count()).select_from(Host))).one()


async def lock_host(session: AsyncSession, name: str) -> LockedHost:
    """Return the host of that name, created if needed, locked until the end of the transaction."""
    made = await session.scalar(insert(Host).values(name=name).on_conflict_do_nothing().returning(Host.id))
    query = select(Host.id, Host.last_seen_at, Host.tags).where(Host.name == name)
    host_id, last_seen_at, tags = (await session.execute(query.with_for_update(key_share=True))).one()
    return LockedHost(host_id, is_new=made is not None, has_sent=last_seen_at is not None, tags=tuple(tags))


async def add_tags(session: AsyncSession, host: LockedHost, tags: Sequence[str]) -> None:
    """Give the host these tags besides its own."""
    values = {"tags": sort_tags({*host.tags, *tags})[:MAX_TAGS]}
    await session.execute(update(Host).where(Host.id == host.id).values(values))


async def list_live_tokens(session: AsyncSession, host_id: int) -> list[AgentToken]:
    """Return the tokens that an agent of the host could send with, the newest first."""
    is_live = or_(AgentToken.expires_at.is_(None), AgentToken.expires_at > func.now())
    query = select(AgentToken).where(AgentToken.host_id == host_id, AgentToken.revoked_at.is_(None), is_live)
    return list(await session.scalars(query.order_by(AgentToken.id.desc()), execution_options={"populate_existing": True}))


async def add_enrolled_token(
    session: AsyncSession, *, name: str, host_id: int, token_hash: bytes, created_by: str, join_token_id: int
) -> int:
    """Store the token of a host that enrolled, and return its number."""
    token = AgentToken(name=name, host_id=host_id, token_hash=token_hash, created_by=created_by, join_token_id=join_token_id)
    session.add(token)
    await session.flush()
    return token.id


async def replace_unused(session: AsyncSession, token_id: int, token_hash: bytes) -> None:
    """Give a token that was never used another secret."""
    values = {"token_hash": token_hash, "created_at": func.now()}
    await session.execute(update(AgentToken).where(AgentToken.id == token_id).values(values))


async def revoke_agent_tokens(session: AsyncSession, ids: Sequence[int]) -> None:
    """Revoke these agent tokens."""
    await session.execute(
        update(AgentToken).where(AgentToken.id.in_(ids), AgentToken.revoked_at.is_(None)).values(revoked_at=func.now())
    )


# --- rotation ---


async def lock_agent_token(session: AsyncSession, token_id: int) -> tuple[AgentToken, str | None] | None:
    """Return the token, locked until the end of the transaction, and the name of its host. Missing: None, unknown."""
    query = select(AgentToken, Host.name).join(Host, Host.id == AgentToken.host_id, isouter=True).where(AgentToken.id == token_id)
    row = (await session.execute(query.with_for_update(of=AgentToken), execution_options={"populate_existing": True})).one_or_none()
    return None if row is None else (row[0], row[1])


async def ask_rotation(session: AsyncSession, token_id: int, *, within: timedelta | None) -> None:
    """Request a rotation of the token; with `within`, the old one expires after that time in any case."""
    values: dict[str, object] = {"rotation_asked_at": func.now()}
    if within is not None:
        values["expires_at"] = func.now() + within
    await session.execute(update(AgentToken).where(AgentToken.id == token_id).values(values))


async def find_successor(session: AsyncSession, token_id: int) -> AgentToken | None:
    """Return the token that was made in place of this one and was not used yet, or None."""
    query = select(AgentToken).where(
        AgentToken.replaces_id == token_id, AgentToken.last_used_at.is_(None), AgentToken.revoked_at.is_(None)
    )
    return await session.scalar(query.order_by(AgentToken.id.desc()).limit(1))


async def add_successor(session: AsyncSession, old: AgentToken, token_hash: bytes) -> int:
    """Store a token that takes the place of the old one when it is used first, and return its number."""
    token = AgentToken(
        name=old.name,
        host_id=old.host_id,
        token_hash=token_hash,
        created_by=old.created_by,
        join_token_id=old.join_token_id,
        replaces_id=old.id,
    )
    session.add(token)
    await session.flush()
    return token.id


async def take_over(session: AsyncSession, token: AgentToken, old_id: int) -> bool:
    """Revoke the old token, since its successor is used; return False if the successor has another secret by now."""
    # In the same order as where a successor is created: the old one first.
    await session.execute(select(AgentToken.id).where(AgentToken.id == old_id).with_for_update())
    used = update(AgentToken).where(AgentToken.id == token.id, AgentToken.token_hash == token.token_hash)
    if await session.scalar(used.values(last_used_at=func.now()).returning(AgentToken.id)) is None:
        return False
    await revoke_agent_tokens(session, [old_id])
    return True
