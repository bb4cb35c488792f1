"""Distinguish a Citus cluster from one database, and add what statements on distributed tables need.

Samples, rollups, sealed samples, pieces of profiles and raw bytes of a host are in shards on one worker, chosen by `host_id`. All
else is on the coordinator, and `stats` on all nodes (docs/adr/0030). A statement that names one host runs on its worker alone, and
only that one must be there. Chunks of one database have no column `host_id`: their stream determines the host.
"""

from typing import Final

import psycopg
from psycopg import sql
from sqlalchemy import ColumnElement, Integer, column, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.connecting import is_citus
from normstat.db.schema.models import Stream

# All distributed tables of samples are colocated with this one.
FIRST_TABLE: Final = "public.rollups"
HOST_ID: Final = "host_id"
DISTRIBUTE: Final = "SELECT create_distributed_table({table}, 'host_id', colocate_with => {with_table})"
# Changes of reference tables and of shards in one transaction must use the same connections.
ONE_BY_ONE: Final = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
# A worker that refuses, vanishes or restarts: the coordinator passes on what libpq said, or what the worker did.
WORKER_STATES: Final = ("08", "57P01", "57P02", "57P03")


async def distribute_samples(connection: psycopg.AsyncConnection, table: sql.Identifier) -> None:
    """Distribute a new, empty sample table by its hosts; does nothing on one database."""
    if not is_citus():
        return
    name = sql.Literal(table.as_string(connection))
    await connection.execute(sql.SQL(DISTRIBUTE).format(table=name, with_table=sql.Literal(FIRST_TABLE)))


async def find_owner(session: AsyncSession, stream_id: int) -> int | None:
    """Return the host of the stream. Missing: None on one database, and for an unknown stream"""
    if not is_citus():
        return None
    return await session.scalar(select(Stream.host_id).where(Stream.id == stream_id))


def on_shard(host_id: int | None) -> tuple[ColumnElement[bool], ...]:
    """Return the condition that leads a statement on chunks to the shard of their host; none on one database."""
    if not is_citus():
        return ()
    return (column(HOST_ID, Integer) == (0 if host_id is None else host_id),)


def is_worker_away(error: BaseException | None) -> bool:
    """Return whether a worker is away, while the coordinator answers: hosts on other workers are not concerned."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not is_citus() or not isinstance(cause, psycopg.Error):
        return False
    # Without a state the connection to the coordinator itself is lost.
    return cause.sqlstate is not None and cause.sqlstate.startswith(WORKER_STATES)
