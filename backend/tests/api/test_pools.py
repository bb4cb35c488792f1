"""Connections to the database: who waits for one, and for how long; one that hangs is called by its name, and told of once."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import cast

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncConnection
from structlog.testing import capture_logs

from normstat.api.http.database_outage import DatabaseOutage
from normstat.api.http.state import AppState
from normstat.app import make_state
from normstat.auth.roles import Role
from normstat.db import leader, session
from normstat.db.leader import Leadership
from normstat.db.probe import DatabaseProbe
from normstat.errors import DatabaseAway, NotFound, Overloaded
from normstat.jobs.background import keep_running
from normstat.settings import Settings
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


class StuckProbe(DatabaseProbe):
    """A database that does not answer, and how often it was asked."""

    def __init__(self) -> None:
        self.n_asked = 0

    async def read_storage(self, max_wait_s: float) -> str:  # type: ignore[override]
        self.n_asked += 1
        raise DatabaseAway(f"The database did not answer within {max_wait_s:g} s")


async def test_waiting_for_a_database_that_hangs_is_no_overload(state: AppState) -> None:
    too_many = Overloaded("Too many agents send at once")
    # It answers: they are too many.
    assert await state.outage.explain(too_many) is too_many
    probe, moments = StuckProbe(), count(0.0, 0.6)
    outage = DatabaseOutage(probe, lambda: next(moments))
    with capture_logs() as logs:
        for _ in range(3):
            explained = await outage.explain(too_many)
            assert (type(explained), explained.status) == (DatabaseAway, 503)
            assert "The database does not answer" in explained.message
        missing = NotFound("nothing")
        assert await outage.explain(missing) is missing
        outage.end()
        outage.end()
    assert probe.n_asked < 3
    assert [(line["event"], line.get("n_requests")) for line in logs] == [("database_away", None), ("database_back", 3)]


class StuckConnection:
    """A connection whose database hangs."""

    async def scalar(self, _: object) -> object:
        return await asyncio.Event().wait()


async def test_a_leader_whose_database_hangs_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "ANSWER_S", 0.05)
    leadership = Leadership(cast("AsyncConnection", StuckConnection()), 1)
    with capture_logs() as logs:
        task = asyncio.create_task(keep_running("schedule", leadership.check, every_s=0.01))
        async with asyncio.timeout(60):
            while not logs:  # noqa: ASYNC110 - a list has no event
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert (logs[0]["event"], logs[0]["cause"]) == ("task_lost_database", "the database does not answer within 0.05 s")
    assert "exc_info" not in logs[0]
