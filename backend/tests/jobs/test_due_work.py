"""Workers are woken while there is something for them, each as often as it wants, and others are not."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from normstat.jobs.claims import BACKTESTS, REMOVALS, REPARSES, select_due
from normstat.jobs.due_work import MESSAGES_S, DueWork
from normstat.storage.alert_outbox import select_unsent
from normstat.storage.import_rows import select_open_imports
from tests.auth.test_throttle import Clock
from tests.databases import on_either_database

pytestmark = on_either_database
ADD_MESSAGE = """
    WITH channel AS (
        INSERT INTO alert_channels (name, kind, settings, secrets, is_enabled, created_by, updated_by)
        VALUES ('mail', 'mail', '{}', '{}', true, 'test', 'test') RETURNING id
    ), alert AS (
        INSERT INTO alerts (route, state, opened_at, start_at, due_at, silence_key)
        VALUES ('all', 'firing', now(), now(), now(), '') RETURNING id
    )
    INSERT INTO alert_messages (alert_id, channel_id, channel, kind, number, key, content, state, next_try_at)
    SELECT alert.id, channel.id, 'mail', 'firing', 1, 'k', '{}', %s, now() + %s * interval '1 second' FROM alert, channel
"""
ADD = "INSERT INTO jobs (kind, state, next_try_at) VALUES (%s, %s, now() + %s * interval '1 second')"


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Works in the background, and is stopped at the end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def settle(due: DueWork, probe: asyncio.Event) -> None:
    """Wait for two whole looks: `probe` is set by each."""
    for _ in range(2):
        probe.clear()
        await asyncio.wait_for(probe.wait(), 120)


async def test_each_is_woken_for_its_own_work(database_url: str) -> None:
    due = DueWork(database_url, look_s=0.01)
    reparses = due.watch(select_due(REPARSES), every_s=0)
    removals = due.watch(select_due(REMOVALS), every_s=0)
    imports = due.watch(select_open_imports(), every_s=0)
    messages = due.watch(select_unsent(), every_s=0)
    # Last: it is set when all others are.
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        async with running(due.run()):
            await settle(due, probe)
            assert [each.is_set() for each in (reparses, removals, imports, messages)] == [False] * 4
            connection.execute(ADD, ["retention", "queued", 3600])
            connection.execute(ADD, ["reparse", "failed", -1])
            await asyncio.wait_for(reparses.wait(), 120)
            await settle(due, probe)
            assert [each.is_set() for each in (removals, imports, messages)] == [False] * 3
            # A worker that was killed left it.
            connection.execute(ADD, ["deletion", "running", 3600])
            await asyncio.wait_for(removals.wait(), 120)
            connection.execute("DELETE FROM jobs WHERE kind <> 'backtest'")
            await settle(due, probe)
            reparses.clear()
            await settle(due, probe)
            assert not reparses.is_set()


async def test_a_message_that_is_to_be_sent_wakes_who_sends_it(database_url: str) -> None:
    due = DueWork(database_url, look_s=0.01)
    messages = due.watch(select_unsent(), every_s=0)
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        connection.execute(ADD_MESSAGE, ["queued", 3600])
        async with running(due.run()):
            await settle(due, probe)
            assert not messages.is_set(), "its time has not come"
            connection.execute("UPDATE alert_messages SET next_try_at = now()")
            await asyncio.wait_for(messages.wait(), 120)
            connection.execute("UPDATE alert_messages SET state = 'sending', next_try_at = now() + interval '1 hour'")
            messages.clear()
            await asyncio.wait_for(messages.wait(), 120)
            connection.execute("UPDATE alert_messages SET state = 'sent'")
            await settle(due, probe)
            messages.clear()
            await settle(due, probe)
            assert not messages.is_set()


async def test_a_worker_is_woken_no_more_often_than_it_wants(database_url: str) -> None:
    clock = Clock()
    due = DueWork(database_url, look_s=0.01, clock=clock)
    seldom = due.watch(select_due(REMOVALS), every_s=MESSAGES_S)
    probe = due.watch(select_due(BACKTESTS), every_s=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADD, ["backtest", "queued", -1])
        connection.execute(ADD, ["retention", "queued", -1])
        async with running(due.run()):
            await asyncio.wait_for(seldom.wait(), 120)
            seldom.clear()
            await settle(due, probe)
            assert not seldom.is_set()
            clock.now += MESSAGES_S
            await asyncio.wait_for(seldom.wait(), 120)
