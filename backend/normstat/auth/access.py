"""Who sent a request."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.auth.roles import Role
from normstat.errors import NotAuthenticated


@dataclass(frozen=True, slots=True)
class Principal:
    """An account, as far as this request may use it.

    `role` is the account's, or the lower one of the API token. `session_hash` is None for a request that came with an API token:
    such a request may not change how the account is entered.
    """

    user_id: int
    name: str
    role: Role
    has_password: bool
    session_hash: bytes | None


@dataclass(frozen=True, slots=True)
class AgentPrincipal:
    """An agent, by its token; `host` is None for a token that may send for any host."""

    token_id: int
    token_name: str
    host: str | None


async def enter_with_session(sessions: async_sessionmaker[AsyncSession], cookie: str | None) -> Principal:
    """The account whose session the cookie names."""
    raise NotAuthenticated("not built yet")


async def enter_with_api_token(sessions: async_sessionmaker[AsyncSession], token: str) -> Principal:
    """The account for which the token acts."""
    raise NotAuthenticated("not built yet")


async def enter_with_agent_token(sessions: async_sessionmaker[AsyncSession], token: str) -> AgentPrincipal:
    """The agent that the token stands for."""
    raise NotAuthenticated("not built yet")
