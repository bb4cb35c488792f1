"""Locks that others hold and statements that take too long: 503 within the limit, nothing taken, and all of it next time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.app import create_app
from normstat.ingest import transaction
from normstat.settings import Settings
from tests.failures.sender import Agent, make_agent_token
from tests.generated import vmstat_text, vmstat_times

DATA = vmstat_text(vmstat_times(50))


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(database_url=database_url, database_pool_size=4, page_dir=Path("/nonexistent"))
    app = create_app(settings)
    token = make_agent_token(database_url)
    headers = {"Authorization": f"Bearer {token}", "Normstat-Host": "host0"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", headers=headers) as client:
        yield client
    await app.state.normstat.close()


async def send(client: httpx.AsyncClient) -> httpx.Response:
    body = f"stream vmstat_linux vmstat_linux.host0.1-1 0 {len(DATA)} vmstat -n -t 1\n".encode() + DATA
    return await client.post("/api/v1/ingest", content=body)


def assert_away(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_away"), answer.text
    assert int(answer.headers["Retry-After"]) >= 5


async def assert_taken_once(client: httpx.AsyncClient, database_url: str) -> None:
    for _ in range(2):
        answer = await send(client)
        assert (answer.status_code, answer.text) == (200, f"vmstat_linux.host0.1-1 {len(DATA)}\n")
    agent = Agent(0, "", "host0", DATA, len(DATA), acked=len(DATA))
    await asyncio.to_thread(agent.assert_stored_once, database_url)


@pytest.mark.parametrize("table", ["hosts", "streams", "chunks"])
async def test_a_lock_that_somebody_holds(
    client: httpx.AsyncClient, database_url: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database_url) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        with monkeypatch.context() as hurried:
            hurried.setattr(transaction, "LOCK_TIMEOUT_S", 1)
            assert_away(await send(client))
        other.rollback()
        await assert_taken_once(client, database_url)


async def test_a_statement_that_takes_too_long(
    client: httpx.AsyncClient, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;"
            "CREATE TRIGGER wait BEFORE INSERT ON chunks FOR EACH ROW EXECUTE FUNCTION wait()"
        )
        with monkeypatch.context() as hurried:
            hurried.setattr(transaction, "STATEMENT_TIMEOUT_S", 1)
            assert_away(await send(client))
        other.execute("DROP TRIGGER wait ON chunks")
        await assert_taken_once(client, database_url)


async def test_a_connection_that_is_cut_in_the_middle(client: httpx.AsyncClient, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute(
            "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;"
            "CREATE TRIGGER cut BEFORE INSERT ON chunks FOR EACH ROW EXECUTE FUNCTION cut()"
        )
        assert_away(await send(client))
        other.execute("DROP TRIGGER cut ON chunks")
        await assert_taken_once(client, database_url)
