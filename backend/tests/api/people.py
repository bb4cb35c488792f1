"""People and agents that send requests in tests."""

from datetime import timedelta
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import CursorResult, text

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.state import AppState
from normstat.auth import account_rows
from normstat.auth.access import Principal
from normstat.auth.accounts import create_agent_token
from normstat.auth.roles import Role
from normstat.auth.secret_tokens import new_secret
from normstat.db.session import open_write_session

# Whoever makes what a test needs: an administrator with a session.
ROOT = Principal(0, "root", Role.ADMINISTRATOR, has_password=False, session_hash=b"")
PASSWORD = "correct horse battery"


def body_of(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    """The body of an answer that must have this status."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def run_sql(state: AppState, statement: str) -> list[Any]:
    """Runs a statement beside the server; the rows that it gives."""
    async with open_write_session(state.sessions) as session:
        found = await session.execute(text(statement))
        return list(found) if isinstance(found, CursorResult) and found.returns_rows else []


class People:
    """Makes accounts with a session, as a login would, but without the time that a password takes."""

    def __init__(self, app: FastAPI, state: AppState, lifetime: timedelta) -> None:
        self._app = app
        self._state = state
        self._lifetime = lifetime

    def client(self, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        """A client without a login."""
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self._app, client=(address, 4711)),
            base_url="http://normstat.test",
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    async def enter(self, role: Role, name: str | None = None) -> httpx.AsyncClient:
        """A browser with the page open, logged in."""
        secret = new_secret()
        async with open_write_session(self._state.sessions) as session:
            user = await account_rows.find_user(session, name or role) or await account_rows.add_user(
                session, name=name or role, role=role, password_hash=None
            )
            assert user is not None
            await account_rows.add_session(
                session, user_id=user.id, password_hash=user.password_hash, token_hash=secret.token_hash, lifetime=self._lifetime
            )
        client = self.client(x_normstat_request="1")
        client.cookies.set(SESSION_COOKIE, secret.token)
        return client

    async def agent(self, host: str | None = None) -> httpx.AsyncClient:
        """An agent with its token."""
        async with open_write_session(self._state.sessions) as session:
            token, _ = await create_agent_token(session, name="test", host=host, created_by="test")
        return self.client(authorization=f"Bearer {token}")
