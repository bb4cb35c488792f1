"""Connections to the database: what people ask for takes none from agents and /health, and nobody waits for one for long."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from normstat.api.state import AppState
from normstat.app import make_state
from normstat.auth.roles import Role
from normstat.settings import Settings
from normstat.storage import session
from tests.api.people import People
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope
from tests.lock_waits import until_waiting

N_CONNECTIONS = 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"database_pool_size": N_CONNECTIONS})


@pytest.fixture
async def viewer(people: People) -> AsyncIterator[httpx.AsyncClient]:
    async with await people.enter(Role.VIEWER) as viewer:
        yield viewer


async def test_reads_that_hang_keep_nobody_else_from_the_database(
    app: FastAPI, agent: httpx.AsyncClient, viewer: httpx.AsyncClient, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_POOL_WAIT_S", 0.5)
    await app.state.normstat.close()
    state: AppState = make_state(app.state.normstat.settings)
    app.state.normstat = state
    with psycopg.connect(database_url) as other:
        other.execute("LOCK TABLE baselines IN ACCESS EXCLUSIVE MODE")
        hanging = [asyncio.create_task(viewer.get("/api/v1/baselines")) for _ in range(N_CONNECTIONS)]
        # They hold connections before, too, to look up who asks.
        async with await psycopg.AsyncConnection.connect(database_url) as looker:
            await until_waiting(looker, N_CONNECTIONS)
        assert_envelope(await viewer.get("/api/v1/hosts"), 503, "database_away")
        for _ in range(5):
            assert (await viewer.get("/api/v1/health")).status_code == 200
        assert (await send(agent, frames_of(VMSTAT))).status_code == 200
        other.rollback()
    assert [answer.status_code for answer in await asyncio.gather(*hanging)] == [200] * N_CONNECTIONS
    assert (await viewer.get("/api/v1/hosts")).status_code == 200
    await state.close()
