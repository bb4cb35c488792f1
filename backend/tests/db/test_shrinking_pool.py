"""Connections that nobody needed are closed, those that somebody needs are not; a busy pool has as many as before."""

import asyncio
import contextlib

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_engine, shrink_pool
from tests.databases import on_one_database

pytestmark = on_one_database

N_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
POOL_SIZE = 4


async def use(engine: AsyncEngine, n: int) -> set[int]:
    """Use so many connections at the same time; return their backends."""
    async with contextlib.AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(engine.connect()) for _ in range(n)]
        return {await connection.scalar(text("SELECT pg_backend_pid()")) or 0 for connection in connections}


async def wait_for_connections(url: str, n: int) -> None:
    """Wait until the database has so many of the pool: a backend ends a moment after its connection was closed."""
    with psycopg.connect(url, autocommit=True) as looker:
        async with asyncio.timeout(120):
            while looker.execute(N_OTHERS).fetchone() != (n,):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_what_was_not_needed_is_closed(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=POOL_SIZE)
    busy = await use(engine, POOL_SIZE)
    # All of them were needed since the pool was made.
    await shrink_pool(engine)
    await wait_for_connections(database_url, POOL_SIZE)
    few = await use(engine, 1) | await use(engine, 2)
    assert few < busy
    await shrink_pool(engine)
    await wait_for_connections(database_url, 2)
    assert await use(engine, 2) == few, "those that were used last stay"
    # Then one after the other: one is enough.
    await shrink_pool(engine)
    for _ in range(5):
        await use(engine, 1)
    await shrink_pool(engine)
    await wait_for_connections(database_url, 1)
    assert len(await use(engine, POOL_SIZE)) == POOL_SIZE
    await engine.dispose()


async def test_one_that_is_in_use_stays(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=POOL_SIZE)
    await use(engine, POOL_SIZE)
    await shrink_pool(engine)
    async with engine.connect() as held:
        for _ in range(3):
            await shrink_pool(engine)
        await wait_for_connections(database_url, 1)
        assert await held.scalar(text("SELECT 1")) == 1
        # Nobody waits for room that only closed ones would have.
        assert len(await asyncio.wait_for(use(engine, POOL_SIZE - 1), 120)) == POOL_SIZE - 1
    await engine.dispose()


async def test_a_connection_whose_backend_is_gone_is_replaced(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=POOL_SIZE)
    gone = await use(engine, 2)
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid, 60000) FROM unnest(%s::int4[]) AS gone(pid)", [list(gone)])
    assert not gone & await use(engine, 2)
    await engine.dispose()


async def test_a_connection_in_order_is_not_asked_before_it_is_used(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=1)
    await use(engine, 1)
    with psycopg.connect(database_url, autocommit=True) as looker:
        last = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        before = looker.execute(last).fetchall()
        async with engine.connect():
            assert looker.execute(last).fetchall() == before
    await engine.dispose()
