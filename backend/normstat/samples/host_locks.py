"""Advisory locks of one host, held until the transaction ends."""

from typing import Final

import psycopg

TRY_LOCK: Final = "SELECT pg_try_advisory_xact_lock(%(key)s, %(host_id)s::int4)"
WAIT_LOCK: Final = "SELECT pg_advisory_xact_lock(%(key)s, %(host_id)s::int4)"


async def try_host_lock(connection: psycopg.AsyncConnection, key: int, host_id: int) -> bool:
    """Take the lock of that key; return False when another process holds it."""
    row = await (await connection.execute(TRY_LOCK, {"key": key, "host_id": host_id})).fetchone()
    return row is not None and row[0] is True


async def wait_host_lock(connection: psycopg.AsyncConnection, key: int, host_id: int) -> None:
    """Wait for the lock of that key."""
    await connection.execute(WAIT_LOCK, {"key": key, "host_id": host_id})
