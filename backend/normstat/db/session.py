"""Connections to the database: the engine of a process and the sessions of its requests and tasks."""

import asyncio
import select as sockets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import NewType

import structlog
from psycopg import AsyncConnection, sql
from psycopg import Error as DatabaseError
from sqlalchemy import Dialect, Engine, PoolProxiedConnection, QueuePool, create_engine, event, func, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry
from sqlalchemy.util import greenlet_spawn

from normstat.db.connecting import connect_arguments, is_citus
from normstat.db.limited_session import LEADER_PID, LimitedSession
from normstat.runtime.metrics import COMMIT_SECONDS

log = structlog.get_logger()

# The session of a function that only reads; it is never committed.
ReadSession = NewType("ReadSession", AsyncSession)
# The session of a function that writes; the caller that opened it commits, never the function.
WriteSession = NewType("WriteSession", AsyncSession)

# libpq parses the URL and SQLAlchemy only learns the driver: so every form that psql accepts works here too.
DRIVER_URL = "postgresql+psycopg://"
# A request that gets no connection within this time is answered 503.
MAX_POOL_WAIT_S = 10.0


class ShrinkingPool(AsyncAdaptedQueuePool):
    """A pool that gives the connection that was used last, so that the others can be closed when they are not needed."""

    # Connections that were free all the time since the last `shrink`.
    _fewest_free = 0

    def _do_get(self) -> ConnectionPoolEntry:
        record = super()._do_get()
        self._fewest_free = min(self._fewest_free, self.checkedin())
        return record

    def shrink(self) -> None:
        """Close the connections that were idle since the last call."""
        records = [self._pool.get_nowait() for _ in range(self.checkedin())]
        n_kept = len(records) - min(self._fewest_free, len(records))
        # The newest came out first, and comes out first again.
        for record in reversed(records[:n_kept]):
            self._pool.put_nowait(record)
        self._fewest_free = n_kept
        for record in records[n_kept:]:
            record.close()
            self._dec_overflow()


async def shrink_pool(engine: AsyncEngine) -> None:
    """Close the connections of an engine of `make_engine` that were idle since the last call: each is a process of 5 MB."""
    pool = engine.pool
    assert isinstance(pool, ShrinkingPool)
    await greenlet_spawn(pool.shrink)


def make_engine(database_url: str, *, pool_size: int) -> AsyncEngine:
    """Return an engine for the event loop of one process; it connects on first use.

    A database that was restarted while a connection was idle fails no request: the connection is replaced when it is needed.
    """
    engine = create_async_engine(
        DRIVER_URL,
        connect_args=connect_arguments(database_url),
        poolclass=ShrinkingPool,
        pool_use_lifo=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=MAX_POOL_WAIT_S,
        # Errors end up in the log, and parameters include hashes of tokens and passwords.
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "checkout", partial(_require_open, engine.dialect))
    return engine


def _require_open(
    dialect: Dialect, dbapi_connection: DBAPIConnection, record: ConnectionPoolEntry, _: PoolProxiedConnection
) -> None:
    """Require that an idle connection still has its backend.

    A backend that ended has closed its side, which the socket shows; only a connection on which something has arrived is asked.
    SQLAlchemy's own `pool_pre_ping` asks each time, which was every thirteenth statement of an idle server.
    Raises: InvalidatePoolError, upon which the pool opens new ones
    """
    connection = record.driver_connection
    assert isinstance(connection, AsyncConnection)
    if not connection.closed:
        arrived = sockets.poll()
        arrived.register(connection.fileno(), sockets.POLLIN)
        if not arrived.poll(0):
            return
    try:
        dialect.do_ping(dbapi_connection)
    except DatabaseError as error:
        raise InvalidatePoolError from error


def make_probe_engine(database_url: str) -> AsyncEngine:
    """Return an engine for single queries: one connection, and one round trip for each of them.

    The first query after a restart of the database fails, and its connection with it.
    """
    return create_async_engine(
        DRIVER_URL,
        connect_args=connect_arguments(database_url),
        pool_size=1,
        max_overflow=0,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )


def make_sync_engine(database_url: str) -> Engine:
    """Return an engine for commands and migrations, which have no event loop."""
    return create_engine(DRIVER_URL, connect_args=connect_arguments(database_url))


def make_sessions(engine: AsyncEngine, leader_pid: int | None = None) -> async_sessionmaker[AsyncSession]:
    """Return the session factory of this engine. `leader_pid`: for what the leader alone may do (db/leader.py)."""
    return async_sessionmaker(
        engine,
        expire_on_commit=False,
        sync_session_class=LimitedSession,
        info={} if leader_pid is None else {LEADER_PID: leader_pid},
    )


def make_session(engine: AsyncEngine) -> AsyncSession:
    """Return a session of this engine. Sessions are made here alone: they see what the account of the request may see."""
    return AsyncSession(engine, expire_on_commit=False, sync_session_class=LimitedSession)


@asynccontextmanager
async def open_read_session(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[ReadSession]:
    """Provide a session that changes nothing, and sees the database as it was at its first statement.

    Samples are read in pages by several statements: none may show samples that a reparse replaced since the one before.
    It ends with a commit: monitoring takes a transaction that is rolled back for a failure.
    """
    async with sessions() as session:
        await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        yield ReadSession(session)
        await _end_reading(session)


async def _end_reading(session: AsyncSession) -> None:
    # Changes to the objects that were read are not written.
    session.expunge_all()
    await session.commit()


@asynccontextmanager
async def open_second_session(
    first: AsyncSession, connection: AsyncConnection[tuple[object, ...]]
) -> AsyncIterator[ReadSession | None]:
    """Provide a session that sees the same state of the database as one of `open_read_session`, whose driver's connection is given:
    that one may be busy. None where connections are scarce: half of the pool must be free, and the database must have one. None on
    a cluster, too, where an exported snapshot is the coordinator's alone.
    """
    engine = first.bind
    if is_citus() or not isinstance(engine, AsyncEngine) or not isinstance(engine.pool, QueuePool):
        yield None
        return
    if engine.pool.checkedout() >= engine.pool.size() // 2:
        yield None
        return
    async with make_session(engine) as second:
        try:
            await second.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        except (OperationalError, PoolTimeout) as error:
            log.info("no_second_connection", error=type(error).__name__)
            yield None
            return
        snapshot = await _export_snapshot(connection)
        await (await driver_of(second)).execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        yield ReadSession(second)
        await _end_reading(second)


async def _export_snapshot(connection: AsyncConnection[tuple[object, ...]]) -> str:
    """Return the name of the snapshot of the connection's transaction.

    A caller that is cancelled waits for the statement: cancelled at the server, it would abort the transaction that others read in.
    """
    statement = asyncio.create_task(connection.execute("SELECT pg_export_snapshot()"))
    try:
        cursor = await asyncio.shield(statement)
    except asyncio.CancelledError:
        await asyncio.wait({statement})
        raise
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0])


@asynccontextmanager
async def open_write_session(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[WriteSession]:
    """Provide a session that is committed at the end of the block, and rolled back when it raises."""
    async with sessions() as session:
        async with session.begin():
            yield WriteSession(session)
            began = time.perf_counter()
        COMMIT_SECONDS.observe(time.perf_counter() - began)


@asynccontextmanager
async def open_locked_sessions(database_url: str, lock: int | None) -> AsyncIterator[async_sessionmaker[AsyncSession] | None]:
    """Provide sessions that share one connection, which holds the advisory lock, if any; None when another process holds it.

    The lock and the connection's temporary tables go with the connection, at the end of the block or of the process.
    """
    engine = make_engine(database_url, pool_size=1)
    try:
        async with engine.connect() as connection:
            is_ours = lock is None or await connection.scalar(select(func.pg_try_advisory_lock(lock)))
            await connection.commit()
            yield async_sessionmaker(connection, expire_on_commit=False) if is_ours else None
    finally:
        await engine.dispose()


async def driver_of(session: AsyncSession) -> AsyncConnection[tuple[object, ...]]:
    """Return the psycopg connection of the session's transaction, for COPY and for statements composed from names."""
    raw = await (await session.connection()).get_raw_connection()
    connection = raw.driver_connection
    assert isinstance(connection, AsyncConnection)
    return connection
