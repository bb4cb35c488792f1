"""Statements that wait for a lock in the database of a test."""

import asyncio
from typing import Final

import psycopg

# A transaction keeps the first list of sessions that it reads.
FORGET_SESSIONS: Final = "SELECT pg_stat_clear_snapshot()"
WAITING: Final = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def until_waiting(connection: psycopg.AsyncConnection, n_expected: int) -> None:
    """Return when exactly `n_expected` statements wait for a lock."""
    async with asyncio.timeout(60):
        while True:
            await connection.execute(FORGET_SESSIONS)
            if (await connection.execute(WAITING)).rowcount == n_expected:
                return
            await asyncio.sleep(0.02)
