"""One of several server processes does the jobs: the one that holds an advisory lock of the database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

# Any number does, as long as it never changes and no other advisory lock of the store has it.
LEADER_LOCK: Final = 0x6E6F726D_00000010


class Leadership:
    """The held lock; it lasts exactly as long as its connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def check(self) -> None:
        """Nothing, when the lock is still held; an error of the database otherwise."""
        await self._connection.scalar(select(1))


@asynccontextmanager
async def try_lead(engine: AsyncEngine, lock: int = LEADER_LOCK) -> AsyncIterator[Leadership | None]:
    """Provide the lock for as long as the block runs, or None when another process holds it."""
    async with engine.connect() as plain:
        # Without a transaction: it would stand open for hours and keep PostgreSQL from cleaning up.
        connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
        if not await connection.scalar(select(func.pg_try_advisory_lock(lock))):
            yield None
            return
        try:
            yield Leadership(connection)
        finally:
            # Closed for good, not handed back to the pool: with the connection goes the lock.
            await connection.invalidate()
