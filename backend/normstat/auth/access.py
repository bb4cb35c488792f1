"""Authenticates requests: the account of a session or an API token, the agent of an agent token."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.auth import account_rows, join_token_rows, session_rows
from normstat.auth.roles import Role, lower_role
from normstat.auth.secret_tokens import hash_token
from normstat.auth.security_log import log_after_commit
from normstat.db.schema.models import AgentToken, ApiToken, User
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import NotAuthenticated

# How long an agent token stays cached before its last use is recorded again.
REMEMBERED_S: Final = 60.0
MAX_REMEMBERED: Final = 100_000
Sessions = async_sessionmaker[AsyncSession]


class TokenRefused(NotAuthenticated):
    """A token is not accepted; `reason` and `token_id` (None for an unknown one) are for the log, not for the sender."""

    def __init__(self, message: str, *, kind: Literal["api", "agent", "join"], reason: str, token_id: int | None) -> None:
        super().__init__(message)
        self.kind = kind
        self.reason = reason
        self.token_id = token_id


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated account, with the rights of this request.

    `role` is the account's (`account_role`), or the lower one of the API token. `session_hash` is None for a request with an API
    token: such a request may not change how the account logs in. `is_limited`: it sees only the hosts of its host groups.
    """

    user_id: int
    name: str
    role: Role
    has_password: bool
    session_hash: bytes | None
    api_token_id: int | None = None
    has_second_factor: bool = False
    account_role: Role | None = None
    is_from_provider: bool = False
    is_limited: bool = False

    def lacks_second_factor(self, needed_from: str | None) -> bool:
        """Return whether the account must set up a second factor first: demanded from this role on (None: of no account)."""
        # Accounts of a login provider show their second factor there.
        if needed_from is None or self.has_second_factor or self.is_from_provider:
            return False
        return (self.account_role or self.role).reaches(Role(needed_from))


@dataclass(frozen=True, slots=True)
class AgentPrincipal:
    """An agent, authenticated by its token; `host_id` is None for a token that may send for any host.

    With `is_remembered` the token comes from the cache and has not been checked in the database. `is_rotation_due`: the agent
    is to take a new one.
    """

    token_id: int
    host_id: int | None
    is_remembered: bool = False
    is_rotation_due: bool = False


def to_principal(user: User, session_hash: bytes | None, *, has_second_factor: bool) -> Principal:
    """Return the account with its own rights."""
    return Principal(
        user.id,
        user.name,
        Role(user.role),
        has_password=user.password_hash is not None,
        session_hash=session_hash,
        has_second_factor=has_second_factor,
        is_from_provider=user.provider_subject is not None,
        is_limited=user.is_limited,
    )


async def authenticate_session(sessions: Sessions, cookie: str | None, address: str) -> Principal:
    """Return the account of the session that the cookie names, and note once a minute that it was used from the address.

    Raises: NotAuthenticated
    """
    if not cookie:
        raise NotAuthenticated("Not logged in; log in, or send `Authorization: Bearer <API token>`")
    session_hash = hash_token(cookie)
    async with open_read_session(sessions) as session:
        found = await session_rows.find_session(session, session_hash)
    if found is None:
        raise NotAuthenticated("This session has ended; log in again")
    if found.is_unnoted:
        async with open_write_session(sessions) as session:
            await session_rows.note_seen(session, session_hash, address)
    return to_principal(found.user, session_hash, has_second_factor=found.has_second_factor)


async def authenticate_api_token(sessions: Sessions, token: str) -> Principal:
    """Return the account of the token, with no more rights than the account itself has now.

    Raises: TokenRefused
    """
    async with open_write_session(sessions) as session:
        api_token, user = await account_rows.find_api_token(session, hash_token(token)) or (None, None)
        if api_token is None or user is None or api_token.revoked_at is not None or user.disabled_at is not None:
            raise _refuse_api_token(api_token, user)
        await account_rows.touch_token(session, ApiToken, api_token.id)
        has_second_factor = await session_rows.has_second_factor(session, user.id)
    role = lower_role(Role(api_token.role), Role(user.role))
    principal = to_principal(user, None, has_second_factor=has_second_factor)
    return replace(principal, role=role, account_role=principal.role, api_token_id=api_token.id)


def _refuse_api_token(token: ApiToken | None, user: User | None) -> TokenRefused:
    if token is None:
        reason = "unknown"
    elif token.revoked_at is not None:
        reason = "revoked"
    else:
        reason = "account_gone" if user is None else "account_disabled"
    # One message for all cases: a stranger learns nothing about the token.
    return TokenRefused(
        "This API token is unknown or revoked, or its account is disabled",
        kind="api",
        reason=reason,
        token_id=None if token is None else token.id,
    )


class AgentTokenCache:
    """Cache of recently used agent tokens, by hash: hundreds of agents send every second.

    A cached token is checked again while the request is stored (ingest/transaction.py), so that a revoked token stops working at
    once.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, max_age: timedelta | None = None) -> None:
        """`max_age`: the age from which a token of a host is to be rotated; None: never."""
        self._clock = clock
        self._max_age = max_age
        self._known: dict[bytes, tuple[AgentPrincipal, float]] = {}

    async def enter(self, sessions: Sessions, token: str) -> AgentPrincipal:
        """Return the agent of the token.

        Raises: TokenRefused
        """
        token_hash = hash_token(token)
        now = self._clock()
        known = self._known.get(token_hash)
        if known is not None and now < known[1]:
            return replace(known[0], is_remembered=True)
        principal = await authenticate_agent_token(sessions, token, max_age=self._max_age)
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        self._known[token_hash] = (principal, now + REMEMBERED_S)
        return principal

    def knows(self, token: str) -> bool:
        """Return whether the token was valid before, as far as this process remembers."""
        return hash_token(token) in self._known

    def forget(self, token_id: int) -> None:
        """Remove the token from the cache."""
        self._known = {key: known for key, known in self._known.items() if known[0].token_id != token_id}


async def authenticate_agent_token(sessions: Sessions, token: str, *, max_age: timedelta | None = None) -> AgentPrincipal:
    """Return the agent of the token. The first use of a replacement token revokes the old one.

    Raises: TokenRefused
    """
    async with open_write_session(sessions) as session:
        found = await account_rows.find_agent_token(session, hash_token(token))
        if found is None or not is_usable(found):
            raise _refuse_agent_token(found)
        if found.replaces_id is None or found.last_used_at is not None:
            await account_rows.touch_token(session, AgentToken, found.id)
        elif not await join_token_rows.take_over(session, found, found.replaces_id):
            raise _refuse_agent_token(None)
        else:
            log_after_commit(session, "agent_token_rotated", token_id=found.id, replaces=found.replaces_id)
    return AgentPrincipal(found.id, found.host_id, is_rotation_due=is_rotation_due(found, max_age))


def is_usable(token: AgentToken) -> bool:
    """Return whether the token is neither revoked nor expired."""
    return token.revoked_at is None and (token.expires_at is None or token.expires_at > datetime.now(UTC))


def is_rotation_due(token: AgentToken, max_age: timedelta | None) -> bool:
    """Return whether the agent is to take a new token: one bound to its host whose rotation was requested or that is old enough."""
    is_old = max_age is not None and token.created_at < datetime.now(UTC) - max_age
    return token.host_id is not None and (token.rotation_asked_at is not None or is_old)


def _refuse_agent_token(token: AgentToken | None) -> TokenRefused:
    reason = "unknown" if token is None else "expired" if token.revoked_at is None else "revoked"
    what = "expired" if reason == "expired" else "unknown or revoked"
    return TokenRefused(
        f"This agent token is {what}; create a new one under /agent-tokens",
        kind="agent",
        reason=reason,
        token_id=None if token is None else token.id,
    )
