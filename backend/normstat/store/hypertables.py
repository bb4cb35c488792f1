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
