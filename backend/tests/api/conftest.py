"""Fixtures of the API's tests: the application on a fresh database, and people of each role in it.

What differs between PostgreSQL and TimescaleDB is tested in store and query; here one of them is enough, for the sake of time.
"""

import functools
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.state import AppState
from normstat.api.routes import health
from normstat.app import create_app, make_state
from normstat.auth.accounts import create_account
from normstat.auth.roles import Role
from normstat.auth.throttle import Throttle
from normstat.db.schema.models import Base
from normstat.db.session import open_write_session
from normstat.settings import Settings
from tests.alerts.receivers import http as http  # noqa: PLC0414 (a fixture)
from tests.api.people import PASSWORD, ROOT, People
from tests.auth.test_throttle import Clock
from tests.databases import ServerPool, TestServer
from tests.unavailable import require_plain


@pytest.fixture(scope="session")
def server(servers: ServerPool) -> TestServer:
    return require_plain(servers)


@pytest.fixture(scope="session")
def database_url(server: TestServer) -> Iterator[str]:
    """One database for all tests of the API; `app` empties it."""
    with server.fresh_database() as url:
        yield url


def make_settings(database_url: str) -> Settings:
    return Settings(
        database_url=database_url, database_pool_size=4, public_url="http://normstat.test", page_dir=Path("/nonexistent")
    )


@pytest.fixture
def settings(database_url: str) -> Settings:
    return make_settings(database_url)


@pytest.fixture(autouse=True)
def _patient_health(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let /health wait for the database: on a busy machine 0.8 s may pass before an idle one answers."""
    monkeypatch.setattr(health, "MAX_WAIT_S", 120.0)


# These and all that name their rows.
EMPTIED = (
    "login_attempts", "users", "sessions", "login_links", "api_tokens", "agent_tokens", "hosts", "baselines", "user_specs",
    "host_groups", "comparisons", "watch_rules", "watch_rule_changes", "watch_limits", "backtests", "episodes", "watch_mutes",
    "jobs", "alert_channels", "alert_routes", "alerts", "experiments", "join_tokens", "webhooks", "reports",
)  # fmt: skip


@functools.cache
def emptied_tables() -> list[str]:
    """The tables, those first whose rows name others."""
    found = set(EMPTIED)
    for table in Base.metadata.sorted_tables:
        if any(key.column.table.name in found for key in table.foreign_keys):
            found.add(table.name)
    return [table.name for table in reversed(Base.metadata.sorted_tables) if table.name in found]


async def empty_tables(session: AsyncSession) -> None:
    """Delete what the last test left. TRUNCATE of all these tables takes five times as long, whatever is in them."""
    tables = emptied_tables()
    looks = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables)
    filled = set(await session.scalars(text(looks)))
    for table in tables:
        if table in filled:
            await session.execute(text(f"DELETE FROM {table}"))


@pytest.fixture(scope="module")
async def shared_state(database_url: str) -> AsyncIterator[AppState]:
    """The state of one application on an empty database, for all tests of a file."""
    state = make_state(make_settings(database_url))
    async with open_write_session(state.sessions) as session:
        await empty_tables(session)
    yield state
    await state.close()


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    """The application without its background tasks, with a fresh state, on an empty database."""
    app = create_app(settings)
    state: AppState = app.state.normstat
    async with open_write_session(state.sessions) as session:
        await empty_tables(session)
    yield app
    await state.close()


@pytest.fixture
def state(app: FastAPI) -> AppState:
    state: AppState = app.state.normstat
    return state


@pytest.fixture
def clock(app: FastAPI, state: AppState) -> Clock:
    """Return the clock of the login throttle, which stands still until a test moves it."""
    clock = Clock()
    app.state.normstat = replace(state, throttle=Throttle(state.sessions, clock))
    return clock


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Nobody: no cookie, no token."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://normstat.test") as client:
        yield client


@pytest.fixture
def people(app: FastAPI, state: AppState) -> People:
    return People(app, state, timedelta(days=1))


@pytest.fixture
async def agent(people: People) -> httpx.AsyncClient:
    return await people.agent()


@pytest.fixture
async def viewer(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.VIEWER)


@pytest.fixture
async def operator(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.OPERATOR)


@pytest.fixture
async def anna(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.OPERATOR, "anna")


@pytest.fixture
async def admin(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.ADMINISTRATOR)


@pytest.fixture
async def ann(state: AppState) -> str:
    """An operator with a password."""
    async with open_write_session(state.sessions) as session:
        await create_account(session, ROOT, name="ann", role=Role.OPERATOR, password=PASSWORD)
    return "ann"
