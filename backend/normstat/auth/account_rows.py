"""Rows of accounts, sessions, login links and tokens. Permissions are decided in auth."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import CursorResult, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.account_models import UserHostGroup
from normstat.db.schema.baseline_models import HostGroup
from normstat.db.schema.models import AgentToken, ApiToken, Host, KnownBrowser, LoginLink, Session, User
from normstat.errors import NotFound, shorten

# `last_used_at` is for people; writing it for every request of an agent would cost too much.
USED_AT_STEP: Final = timedelta(minutes=1)
# Per account; a login from one more browser removes the least recently used one.
MAX_KNOWN_BROWSERS: Final = 20
# A script that logs in and never out ends its own sessions, not those of others.
MAX_SESSIONS: Final = 1000


# --- accounts ---


async def list_users(session: AsyncSession) -> list[User]:
    """Return all accounts by name."""
    return list(await session.scalars(select(User).order_by(User.name)))


async def find_user(session: AsyncSession, name: str) -> User | None:
    """Return the account of that name, or None."""
    return await session.scalar(select(User).where(User.name == name))


async def require_user(session: AsyncSession, name: str) -> User:
    """Return the account of that name.

    Raises: NotFound
    """
    user = await find_user(session, name)
    if user is None:
        raise NotFound(f"There is no account {shorten(name)}")
    return user


async def find_user_by_id(session: AsyncSession, user_id: int) -> User:
    """Return the account, which must exist."""
    return await session.get_one(User, user_id)


async def lock_user(session: AsyncSession, name: str) -> User | None:
    """Return the current account of that name, locked until the end of the transaction, or None."""
    return await session.scalar(
        select(User).where(User.name == name).with_for_update(), execution_options={"populate_existing": True}
    )


async def lock_administrators(session: AsyncSession) -> list[User]:
    """Return the enabled administrators, oldest account first, locked so that two concurrent changes cannot remove the last two."""
    query = select(User).where(User.role == "administrator", User.disabled_at.is_(None)).order_by(User.id).with_for_update()
    return list(await session.scalars(query, execution_options={"populate_existing": True}))


async def add_user(
    session: AsyncSession,
    *,
    name: str,
    role: str,
    password_hash: str | None,
    provider_issuer: str | None = None,
    provider_subject: str | None = None,
) -> User | None:
    """Return the new account, or None when the name (or the provider's subject) is taken."""
    values = {"name": name, "role": role, "password_hash": password_hash}
    values |= {"provider_issuer": provider_issuer, "provider_subject": provider_subject}
    return await session.scalar(insert(User).values(values).on_conflict_do_nothing().returning(User))


async def lock_provider_user(session: AsyncSession, issuer: str, subject: str) -> User | None:
    """Return the account that the provider knows by this subject, locked until the end of the transaction, or None."""
    query = select(User).where(User.provider_issuer == issuer, User.provider_subject == subject)
    return await session.scalar(query.with_for_update(), execution_options={"populate_existing": True})


async def set_provider_state(session: AsyncSession, user_id: int, *, role: str, is_disabled: bool) -> None:
    """Set the role and host groups that follow from the provider's groups."""
    values = {"role": role, "disabled_at": func.now() if is_disabled else None, "is_disabled_by_provider": is_disabled}
    await session.execute(update(User).where(User.id == user_id).values(values))


async def update_user(
    session: AsyncSession,
    user_id: int,
    *,
    role: str | None = None,
    password_hash: str | None = None,
    is_disabled: bool | None = None,
) -> User:
    """Return the changed account; None leaves a member unchanged."""
    changes: dict[str, object] = {}
    if role is not None:
        changes["role"] = role
    if password_hash is not None:
        changes["password_hash"] = password_hash
    if is_disabled is not None:
        changes["disabled_at"] = func.coalesce(User.disabled_at, func.now()) if is_disabled else None
        changes["is_disabled_by_provider"] = False
    if changes:
        await session.execute(update(User).where(User.id == user_id).values(changes))
    return await session.get_one(User, user_id, populate_existing=True)


async def forget_password(session: AsyncSession, user_id: int) -> None:
    """Remove the account's password."""
    await session.execute(update(User).where(User.id == user_id).values(password_hash=None))


async def delete_user(session: AsyncSession, user_id: int) -> None:
    """Delete the account with its sessions and links."""
    await session.execute(delete(User).where(User.id == user_id))


async def limit_user(session: AsyncSession, user_id: int, groups: Sequence[str] | None) -> list[str]:
    """Limit the account to the hosts of these host groups, or lift its limit (None); return the names that no group has."""
    await session.execute(delete(UserHostGroup).where(UserHostGroup.user_id == user_id))
    await session.execute(update(User).where(User.id == user_id).values(is_limited=groups is not None))
    # Against a group that is deleted meanwhile.
    query = select(HostGroup.name, HostGroup.id).where(HostGroup.name.in_(groups or ())).with_for_update(read=True)
    found = {name: group_id for name, group_id in await session.execute(query)}  # noqa: C416 (rows are no pairs to the type checker)
    session.add_all(UserHostGroup(user_id=user_id, group_id=group_id) for group_id in found.values())
    await session.flush()
    return [name for name in groups or () if name not in found]


async def read_host_groups(session: AsyncSession, user_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the names of the host groups of limited accounts, by account. Missing: no entry for an account without groups"""
    query = select(UserHostGroup.user_id, HostGroup.name).join(HostGroup, HostGroup.id == UserHostGroup.group_id)
    groups: dict[int, list[str]] = {}
    for user_id, name in await session.execute(query.where(UserHostGroup.user_id.in_(user_ids)).order_by(HostGroup.name)):
        groups.setdefault(user_id, []).append(name)
    return groups


# --- sessions and links ---


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """Where a session was opened, by which browser (in words), and by which means."""

    address: str = ""
    browser: str = ""
    means: str = ""


async def add_session(
    session: AsyncSession,
    *,
    user_id: int,
    password_hash: str | None,
    token_hash: bytes,
    lifetime: timedelta,
    origin: SessionOrigin | None = None,
) -> User | None:
    """Return the account that is now logged in, or None if it was disabled or its password changed in the meantime.

    Its oldest sessions end where it has too many.
    """
    query = select(User).where(
        User.id == user_id, User.disabled_at.is_(None), User.password_hash.is_not_distinct_from(password_hash)
    )
    # The lock waits for a concurrent change of the account, and checks again after it.
    user = await session.scalar(query.with_for_update(read=True))
    if user is not None:
        values = {"token_hash": token_hash, "user_id": user_id, "expires_at": func.now() + lifetime}
        await session.execute(insert(Session).values(values | asdict(origin or SessionOrigin())))
        newest = select(Session.id).where(Session.user_id == user_id).order_by(Session.id.desc()).limit(MAX_SESSIONS)
        await session.execute(delete(Session).where(Session.user_id == user_id, Session.id.not_in(newest)))
    return user


async def delete_session(session: AsyncSession, token_hash: bytes) -> None:
    """End one session."""
    await session.execute(delete(Session).where(Session.token_hash == token_hash))


async def delete_sessions_of(session: AsyncSession, user_id: int) -> None:
    """End all sessions of an account, delete its links and forget its browsers."""
    await session.execute(delete(Session).where(Session.user_id == user_id))
    await session.execute(delete(LoginLink).where(LoginLink.user_id == user_id, LoginLink.used_at.is_(None)))
    await session.execute(delete(KnownBrowser).where(KnownBrowser.user_id == user_id))


async def add_link(session: AsyncSession, *, user_id: int, token_hash: bytes, lifetime: timedelta) -> None:
    """Store a new one-time link."""
    await session.execute(insert(LoginLink).values(token_hash=token_hash, user_id=user_id, expires_at=func.now() + lifetime))


async def spend_link(session: AsyncSession, token_hash: bytes) -> int | None:
    """Mark the link as used; return its account, or None when it does not exist, was used or has expired."""
    return await session.scalar(
        update(LoginLink)
        .where(LoginLink.token_hash == token_hash, LoginLink.used_at.is_(None), LoginLink.expires_at > func.now())
        .values(used_at=func.now())
        .returning(LoginLink.user_id)
    )


async def find_link(session: AsyncSession, token_hash: bytes) -> LoginLink | None:
    """Return the link, used or not, or None."""
    return await session.get(LoginLink, token_hash)


async def note_browser(session: AsyncSession, *, user_id: int, token_hash: bytes, address: str) -> None:
    """Remember the browser and its address for the account."""
    values = {"token_hash": token_hash, "user_id": user_id, "address": address}
    seen = {"address": address, "last_login_at": func.now()}
    await session.execute(
        insert(KnownBrowser).values(values).on_conflict_do_update(index_elements=["token_hash", "user_id"], set_=seen)
    )
    of_account = KnownBrowser.user_id == user_id
    kept = select(KnownBrowser.token_hash).where(of_account).order_by(KnownBrowser.last_login_at.desc()).limit(MAX_KNOWN_BROWSERS)
    await session.execute(delete(KnownBrowser).where(of_account, KnownBrowser.token_hash.not_in(kept)))


async def is_browser(session: AsyncSession, token_hash: bytes, name: str | None = None) -> bool:
    """Return whether the browser has logged in to the enabled account of that name, or (None) to any."""
    query = select(KnownBrowser.user_id).join(User, User.id == KnownBrowser.user_id).where(KnownBrowser.token_hash == token_hash)
    if name is not None:
        query = query.where(User.name == name, User.disabled_at.is_(None))
    return await session.scalar(query.limit(1)) is not None


async def is_address_of(session: AsyncSession, address: str, name: str) -> bool:
    """Return whether the account of that name was logged in to from the address."""
    query = select(KnownBrowser.user_id).join(User, User.id == KnownBrowser.user_id)
    return await session.scalar(query.where(User.name == name, KnownBrowser.address == address).limit(1)) is not None


async def delete_expired(session: AsyncSession, *, keep_links: timedelta, keep_browsers: timedelta) -> int:
    """Delete sessions, links and browsers some time after their end or last login; return their number.

    Until then a link can report that it was used.
    """
    ended = [
        delete(Session).where(Session.expires_at <= func.now()),
        delete(LoginLink).where(LoginLink.expires_at <= func.now() - keep_links),
        delete(KnownBrowser).where(KnownBrowser.last_login_at <= func.now() - keep_browsers),
    ]
    results = [await session.execute(statement) for statement in ended]
    return sum(cast("CursorResult[tuple[()]]", result).rowcount for result in results)


# --- tokens ---


async def add_api_token(session: AsyncSession, *, name: str, role: str, token_hash: bytes, created_by: str) -> ApiToken:
    """Store a new API token."""
    token = ApiToken(name=name, role=role, token_hash=token_hash, created_by=created_by)
    session.add(token)
    await session.flush()
    await session.refresh(token)
    return token


async def list_api_tokens(session: AsyncSession, created_by: str | None) -> list[ApiToken]:
    """Return the API tokens of one account, or (None) all, newest first."""
    query = select(ApiToken).order_by(ApiToken.id.desc())
    return list(await session.scalars(query if created_by is None else query.where(ApiToken.created_by == created_by)))


async def find_api_token(session: AsyncSession, token_hash: bytes) -> tuple[ApiToken, User | None] | None:
    """Return the token, revoked or not, and its account, disabled or not; None for an unknown token."""
    query = select(ApiToken, User).join(User, User.name == ApiToken.created_by, isouter=True)
    row = (await session.execute(query.where(ApiToken.token_hash == token_hash))).one_or_none()
    return None if row is None else (row[0], row[1])


async def revoke_api_token(session: AsyncSession, token_id: int, created_by: str | None) -> bool:
    """Revoke the token (of that account, unless None); return whether it exists."""
    query = update(ApiToken).where(ApiToken.id == token_id).values(revoked_at=func.coalesce(ApiToken.revoked_at, func.now()))
    if created_by is not None:
        query = query.where(ApiToken.created_by == created_by)
    return await session.scalar(query.returning(ApiToken.id)) is not None


async def revoke_api_tokens_of(session: AsyncSession, created_by: str) -> int:
    """Revoke all API tokens of an account; return their number."""
    of_account = update(ApiToken).where(ApiToken.created_by == created_by, ApiToken.revoked_at.is_(None))
    revoked = await session.scalars(of_account.values(revoked_at=func.now()).returning(ApiToken.id))
    return len(revoked.all())


async def add_agent_token(session: AsyncSession, *, name: str, host: str | None, token_hash: bytes, created_by: str) -> AgentToken:
    """Store a new agent token; a new host is created if needed."""
    host_id = None
    if host is not None:
        await session.execute(insert(Host).values(name=host).on_conflict_do_nothing())
        host_id = (await session.execute(select(Host.id).where(Host.name == host))).scalar_one()
    token = AgentToken(name=name, host_id=host_id, token_hash=token_hash, created_by=created_by)
    session.add(token)
    await session.flush()
    await session.refresh(token)
    return token


async def list_agent_tokens(session: AsyncSession) -> list[tuple[AgentToken, str | None]]:
    """Return all agent tokens with the name of their host, newest first."""
    query = select(AgentToken, Host.name).join(Host, Host.id == AgentToken.host_id, isouter=True).order_by(AgentToken.id.desc())
    return [(row[0], row[1]) for row in await session.execute(query)]


async def find_agent_token(session: AsyncSession, token_hash: bytes) -> AgentToken | None:
    """Return the token, revoked or not; None if unknown."""
    return await session.scalar(select(AgentToken).where(AgentToken.token_hash == token_hash))


async def revoke_agent_token(session: AsyncSession, token_id: int) -> bool:
    """Revoke the token, and an unused replacement of it; return whether it exists."""
    is_successor = and_(AgentToken.replaces_id == token_id, AgentToken.last_used_at.is_(None))
    values = {"revoked_at": func.coalesce(AgentToken.revoked_at, func.now())}
    await session.execute(update(AgentToken).where(is_successor).values(values))
    query = update(AgentToken).where(AgentToken.id == token_id).values(values)
    return await session.scalar(query.returning(AgentToken.id)) is not None


async def touch_token(session: AsyncSession, model: type[ApiToken | AgentToken], token_id: int) -> None:
    """Record the use of the token, at most once in USED_AT_STEP."""
    is_old = or_(model.last_used_at.is_(None), model.last_used_at < func.now() - USED_AT_STEP)
    await session.execute(update(model).where(model.id == token_id, is_old).values(last_used_at=func.now()))
