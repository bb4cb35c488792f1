"""Whether the database answers: one question at once, nobody waits for it for long, and a restart is not a failure."""

import asyncio
import socket
from collections.abc import AsyncIterator

import psycopg
import pytest

from normstat.db import probe
from normstat.db.probe import DatabaseProbe
from normstat.errors import DatabaseAway


@pytest.fixture
async def asked(database_url: str) -> AsyncIterator[DatabaseProbe]:
    asked = DatabaseProbe(database_url)
    yield asked
    await asked.close()


async def test_all_who_ask_at_once_share_a_question(asked: DatabaseProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    n_asked = 0
    ask = asked._ask_once

    async def count():  # type: ignore[no-untyped-def]
        nonlocal n_asked
        n_asked += 1
        return await ask()

    monkeypatch.setattr(asked, "_ask_once", count)
    answers = await asyncio.gather(*(asked.read_storage(60) for _ in range(100)))
    assert len(set(answers)) == 1
    assert n_asked == 1
    await asked.read_storage(60)
    assert n_asked == 2


async def test_a_connection_that_was_cut_is_replaced(asked: DatabaseProbe, database_url: str) -> None:
    storage = await asked.read_storage(60)
    with psycopg.connect(database_url, autocommit=True) as other:
        cut = other.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
        ).fetchall()
    assert cut == [(True,)]
    assert await asked.read_storage(60) == storage


async def test_a_database_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "QUESTION_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = DatabaseProbe(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x")
        with pytest.raises(DatabaseAway, match=r"within 0\.01 s"):
            await asked.read_storage(0.01)
        # Whoever waits for longer hears of the end of the question.
        with pytest.raises(DatabaseAway, match=r"within 0\.2 s"):
            await asked.read_storage(60)
        await asked.close()
