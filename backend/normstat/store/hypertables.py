"""What TimescaleDB does better than plain PostgreSQL, where it is there: the only file that knows the two apart.

Three situations, one schema: TimescaleDB community edition (hypertables and the columnstore), TimescaleDB Apache edition (only
hypertables; what Debian packages), and plain PostgreSQL (ordinary tables).
"""

from typing import Final, Literal

import psycopg
import structlog
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.store.session import driver_of

log = structlog.get_logger()

Storage = Literal["timescaledb-community", "timescaledb-apache", "postgresql", "unknown"]

CHUNK_INTERVAL: Final = "1 day"
# A day's chunk is compressed when late bytes for it have become unlikely; later ones are still taken, only more slowly.
COMPRESS_AFTER: Final = "7 days"

EDITION: Final = """
    SELECT current_setting('timescaledb.license', true)
    FROM pg_extension
    WHERE extname = 'timescaledb'
"""


def _storage_of(found: list[str | None]) -> Storage:
    match found:
        case []:
            return "postgresql"
        case ["timescale"]:
            return "timescaledb-community"
        case ["apache"]:
            return "timescaledb-apache"
        case _:
            return "unknown"


async def read_storage(session: AsyncSession) -> Storage:
    """Which of the three situations this database is; "unknown" for an edition of TimescaleDB that did not exist yet."""
    return _storage_of(list(await session.scalars(text(EDITION))))


async def make_hypertable(connection: psycopg.AsyncConnection, table: sql.Identifier) -> None:
    """Turns a new, empty table with a column `time` into what this database stores best; plain PostgreSQL leaves it as it is."""
    storage = _storage_of([edition for (edition,) in await (await connection.execute(EDITION)).fetchall()])
    if storage == "postgresql":
        return
    await connection.execute(
        sql.SQL(
            "SELECT create_hypertable({table}::regclass, 'time', chunk_time_interval => {interval}::interval,"
            " create_default_indexes => false)"
        ).format(table=sql.Literal(table.as_string(connection)), interval=CHUNK_INTERVAL)
    )
    if storage == "timescaledb-community":
        await _add_columnstore(connection, table)


async def make_chunks_for(session: AsyncSession, table: sql.Identifier, staged: sql.Identifier) -> None:
    """Makes the chunks that the rows of the staged table will need; plain PostgreSQL has none.

    A chunk that a transaction makes is locked until its end, for all hosts: so a short one makes them, by rows that it deletes.
    """
    if await read_storage(session) == "postgresql":
        return
    connection = await driver_of(session)
    # No host has the number 0.
    insert = """
        INSERT INTO {table} (time, host_id, instance_id, stream_id, line_offset)
        SELECT min(time), 0, 0, 0, 0 FROM {staged} GROUP BY floor(extract(epoch FROM time) / 86400)
    """
    await connection.execute(sql.SQL(insert).format(table=table, staged=staged))
    await connection.execute(sql.SQL("DELETE FROM {table} WHERE host_id = 0").format(table=table))


async def allow_large_changes(session: AsyncSession) -> None:
    """Lifts TimescaleDB's limit on how many compressed rows this transaction may change; plain PostgreSQL has none."""
    name = "timescaledb.max_tuples_decompressed_per_dml_transaction"
    if await session.scalar(text("SELECT current_setting(:name, true)"), {"name": name}) is not None:
        await session.execute(text("SELECT set_config(:name, '0', true)"), {"name": name})


async def _add_columnstore(connection: psycopg.AsyncConnection, table: sql.Identifier) -> None:
    try:
        # A savepoint: the columnstore saves space, and a table without it is as right as one with it.
        async with connection.transaction():
            await connection.execute(
                sql.SQL(
                    "ALTER TABLE {table} SET (timescaledb.compress, timescaledb.compress_segmentby = 'host_id, instance_id',"
                    " timescaledb.compress_orderby = 'time')"
                ).format(table=table)
            )
            await connection.execute(
                sql.SQL("SELECT add_compression_policy({table}::regclass, {after}::interval)").format(
                    table=sql.Literal(table.as_string(connection)), after=COMPRESS_AFTER
                )
            )
    except psycopg.DatabaseError as error:
        log.warning("columnstore_refused", table=table.as_string(connection), error=str(error).splitlines()[0])
