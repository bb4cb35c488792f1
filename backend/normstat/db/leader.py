"""One of several server processes does the jobs: the one that holds an advisory lock of the database.

A leader that hangs is cut off (db/heartbeats.py) and loses the lock with its connection. When it goes on, tasks of it may be
in the middle of their work. So each of their transactions begins with a check that the connection still holds the lock:
the new leader has ended all transactions that passed it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from sqlalchemy import Connection, event, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import Session, SessionTransaction

from normstat.db.limited_session import LEADER_PID, LimitedSession
from normstat.db.session import make_sessions

# Any number does, as long as it never changes and no other advisory lock of the store has it.
LEADER_LOCK: Final = 0x6E6F726D_00000010
# As pg_locks shows a bigint lock.
LEADER_LOCK_HALVES: Final = {"high": LEADER_LOCK >> 32, "low": LEADER_LOCK & 0xFFFFFFFF}


# A leader that gets no answer from the database for this long stops: another process may hold the lock.
ANSWER_S: Final = 20.0
HOLDS_LOCK: Final = text("""
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND pid = :pid AND objsubid = 1 AND classid = :high AND objid = :low
    )
""")


class NotLeading(psycopg.OperationalError):
    """This process is no longer the leader: it hung, and another one took over and does its work."""


class Leadership:
    """The held lock; it lasts exactly as long as its connection."""

    def __init__(self, connection: AsyncConnection, pid: int) -> None:
        self._connection = connection
        self._pid = pid

    def make_sessions(self, engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
        """Return sessions whose transactions raise NotLeading from the moment on in which the lock is lost."""
        return make_sessions(engine, self._pid)

    async def check(self) -> None:
        """Require that the lock is still held.

        Raises: what the database raises; psycopg.OperationalError where it does not answer
        """
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._connection.scalar(select(1))
        except TimeoutError:
            raise psycopg.OperationalError(f"the database does not answer within {ANSWER_S:g} s") from None


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
            yield Leadership(connection, int(await connection.scalar(select(func.pg_backend_pid())) or 0))
        finally:
            # Closed, not returned to the pool: closing the connection releases the lock.
            await connection.invalidate()


@event.listens_for(LimitedSession, "after_begin")
def _require_lead(session: Session, _: SessionTransaction, connection: Connection) -> None:
    pid = session.info.get(LEADER_PID)
    if pid is None:
        return
    if not connection.scalar(HOLDS_LOCK, {"pid": pid, **LEADER_LOCK_HALVES}):
        raise NotLeading("this process is no longer the leader")
