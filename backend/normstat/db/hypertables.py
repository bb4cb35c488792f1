"""TimescaleDB features, with fallbacks for plain PostgreSQL: the only module that tells the two apart.

Three cases, one schema: TimescaleDB community edition (hypertables and the columnstore), TimescaleDB Apache edition (only
hypertables; what Debian packages), and plain PostgreSQL (ordinary tables).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import psycopg
import structlog
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.cluster_sizes import read_shard_sizes
from normstat.db.connecting import is_citus
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.db.turns import Failures
from normstat.window import Window

log = structlog.get_logger()

Storage = Literal["timescaledb-community", "timescaledb-apache", "postgresql", "unknown"]

CHUNK_INTERVAL: Final = "1 day"
# Measured on recorded 1 s output (bench/bench_disk.py): batches of a host's rows by instance and time take 1.4 bytes per value of
# pidstat; batches of one instance each, which most processes do not fill, take 11, more than no columnstore at all. For lasting
# instances, such as CPUs, both take the same, and one instance is read as fast: batches store the minimum and maximum of their
# ordering columns.
SEGMENT_BY: Final = "host_id"
ORDER_BY: Final = "instance_id, time"
# A day after its end, a day gets few late bytes. They are stored as rows, and the next run of the job compresses them, too.
COLUMNSTORE_AFTER: Final = "1 day"
COLUMNSTORE_EVERY: Final = "1 hour"

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
    """Return which of the three cases this database is; "unknown" for a newer edition of TimescaleDB."""
    return _storage_of(list(await session.scalars(text(EDITION))))


def packs_by_itself(storage: Storage) -> bool:
    """Return whether the database packs samples of past days itself, in a columnstore."""
    return storage == "timescaledb-community"


async def make_hypertable(connection: psycopg.AsyncConnection, table: sql.Identifier) -> None:
    """Turn a new, empty table with a column `time` into a hypertable; does nothing with plain PostgreSQL."""
    storage = _storage_of([edition for (edition,) in await (await connection.execute(EDITION)).fetchall()])
    if storage == "postgresql":
        return
    await connection.execute(
        sql.SQL(
            "SELECT create_hypertable({table}::regclass, 'time', chunk_time_interval => {interval}::interval,"
            " create_default_indexes => false)"
        ).format(table=sql.Literal(table.as_string(connection)), interval=CHUNK_INTERVAL)
    )
    if packs_by_itself(storage):
        await _add_columnstore(connection, table)


async def make_chunks_for(session: AsyncSession, table: sql.Identifier, staged: sql.Identifier) -> None:
    """Create the chunks that the rows of the staged table will need; does nothing with plain PostgreSQL.

    A transaction locks a chunk that it creates until its end, for all hosts: so a short one creates them, by rows that it deletes
    again.
    """
    if await read_storage(session) == "postgresql":
        return
    connection = await driver_of(session)
    # No host has the id 0.
    insert = """
        INSERT INTO {table} (time, host_id, instance_id, stream_id, line_offset)
        SELECT min(time), 0, 0, 0, 0 FROM {staged} GROUP BY floor(extract(epoch FROM time) / 86400)
        RETURNING time
    """
    made = await (await connection.execute(sql.SQL(insert).format(table=table, staged=staged))).fetchall()
    if made:
        delete = sql.SQL("DELETE FROM {table} WHERE host_id = 0 AND time BETWEEN %s AND %s").format(table=table)
        await connection.execute(delete, [min(made)[0], max(made)[0]])


async def allow_large_changes(session: AsyncSession) -> None:
    """Lift TimescaleDB's limit on the compressed rows that this transaction may change; does nothing with plain PostgreSQL."""
    name = "timescaledb.max_tuples_decompressed_per_dml_transaction"
    if await session.scalar(text("SELECT current_setting(:name, true)"), {"name": name}) is not None:
        await session.execute(text("SELECT set_config(:name, '0', true)"), {"name": name})


# TimescaleDB's names since 2.18, and before.
COLUMNSTORE: Final = """
    ALTER TABLE {table} SET (
        timescaledb.enable_columnstore, timescaledb.segmentby = {segment_by}, timescaledb.orderby = {order_by}
    )
"""
COLUMNSTORE_BEFORE: Final = """
    ALTER TABLE {table} SET (
        timescaledb.compress, timescaledb.compress_segmentby = {segment_by}, timescaledb.compress_orderby = {order_by}
    )
"""
# Not at once: the first rows of a new table may belong to a long recording that is still being loaded.
POLICY: Final = """
    CALL add_columnstore_policy(
        {name}::regclass, {after}::interval, schedule_interval => {every}::interval, initial_start => now() + {every}::interval
    )
"""
POLICY_BEFORE: Final = """
    SELECT add_compression_policy(
        {name}::regclass, {after}::interval, schedule_interval => {every}::interval, initial_start => now() + {every}::interval
    )
"""
REMOVE_POLICY: Final = "CALL remove_columnstore_policy({name}::regclass, if_exists => true)"
REMOVE_POLICY_BEFORE: Final = "SELECT remove_compression_policy({name}::regclass, if_exists => true)"
# Tables created by an edition without it, or with other settings.
LACKING: Final = text("""
    SELECT h.hypertable_name
    FROM timescaledb_information.hypertables AS h
    LEFT JOIN timescaledb_information.compression_settings AS s
        ON s.hypertable_schema = h.hypertable_schema AND s.hypertable_name = h.hypertable_name
    WHERE h.hypertable_schema = :schema
    GROUP BY h.hypertable_name
    HAVING array_agg(s.attname::text ORDER BY s.attname) FILTER (WHERE s.segmentby_column_index IS NOT NULL)
            IS DISTINCT FROM ARRAY['host_id']
        OR array_agg(s.attname::text ORDER BY s.orderby_column_index) FILTER (WHERE s.orderby_column_index IS NOT NULL)
            IS DISTINCT FROM ARRAY['instance_id', 'time']
    ORDER BY h.hypertable_name
""")
HAS_COLUMNSTORE: Final = "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'add_columnstore_policy')"


async def _add_columnstore(connection: psycopg.AsyncConnection, table: sql.Identifier) -> None:
    parts = {
        "table": table,
        "name": sql.Literal(table.as_string(connection)),
        "segment_by": sql.Literal(SEGMENT_BY),
        "order_by": sql.Literal(ORDER_BY),
        "after": sql.Literal(COLUMNSTORE_AFTER),
        "every": sql.Literal(COLUMNSTORE_EVERY),
    }
    has_columnstore = await (await connection.execute(HAS_COLUMNSTORE)).fetchone() == (True,)
    try:
        # In a savepoint: the columnstore saves space, but a table without it is just as correct.
        async with connection.transaction():
            await connection.execute(sql.SQL(COLUMNSTORE if has_columnstore else COLUMNSTORE_BEFORE).format(**parts))
            await connection.execute(sql.SQL(REMOVE_POLICY if has_columnstore else REMOVE_POLICY_BEFORE).format(**parts))
            await connection.execute(sql.SQL(POLICY if has_columnstore else POLICY_BEFORE).format(**parts))
    except psycopg.DatabaseError as error:
        log.warning("columnstore_refused", table=table.as_string(connection), error=str(error).splitlines()[0])


async def keep_columnstores(sessions: async_sessionmaker[AsyncSession], schema: str) -> None:
    """Give all tables of the schema the columnstore settings of new ones, where the edition has a columnstore. An hourly job.

    Data already compressed stays as it is until it is compressed again.
    """
    async with open_read_session(sessions) as session:
        is_wanted = packs_by_itself(await read_storage(session))
        names = list(await session.scalars(LACKING, {"schema": schema})) if is_wanted else []
    failures = Failures("columnstore_failed")
    for name in names:
        with failures.keep(name):
            async with open_write_session(sessions) as session:
                # The table is locked for a moment: ingest must not wait behind a reader for it.
                await session.execute(text("SET LOCAL lock_timeout = '2s'"))
                await _add_columnstore(await driver_of(session), sql.Identifier(schema, name))


# --- removing, measuring and copying data ---


@dataclass(frozen=True, slots=True)
class TableSize:
    """Disk usage of a table with all its chunks; `n_rows` is an estimate of the catalogue."""

    name: str
    table_bytes: int
    index_bytes: int
    n_rows: int


OLDEST_PART: Final = text("""
    SELECT range_start, range_end
    FROM timescaledb_information.chunks
    WHERE hypertable_schema = :schema AND hypertable_name = :name AND range_end <= :before
    ORDER BY range_start
    LIMIT 1
""")
PLAIN_SIZES: Final = text("""
    SELECT c.relname AS name, pg_table_size(c.oid) AS table_bytes, pg_indexes_size(c.oid) AS index_bytes,
        CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE greatest(s.n_live_tup, 0) END::int8 AS n_rows
    FROM pg_class AS c LEFT JOIN pg_stat_all_tables AS s ON s.relid = c.oid
    WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :schema) AND c.relkind = 'r'
    ORDER BY c.relname
""")
# A chunk not written to since it was analyzed is as large as the catalogue says; asking the file system for the sizes of all files
# of some thousand chunks takes seconds. Compressed data has the size recorded when it was compressed. Rows of tables not analyzed
# yet are those counted by the statistics collector.
HYPERTABLE_SIZES: Final = text("""
    WITH parts AS (
        SELECT p.hypertable_name AS name, c.oid, c.reltoastrelid, c.reltuples, p.is_compressed,
            p.is_compressed OR pg_stat_get_mod_since_analyze(c.oid) > 0 AS is_changed
        FROM timescaledb_information.chunks AS p
        JOIN pg_class AS c ON c.relname = p.chunk_name AND c.relnamespace = p.chunk_schema::text::regnamespace
        WHERE p.hypertable_schema = :schema
    ), files AS (
        SELECT name, oid, is_changed, false AS is_index FROM parts
        UNION ALL
        SELECT name, reltoastrelid, is_changed, false FROM parts
        UNION ALL
        SELECT name, indexrelid, is_changed, true FROM parts JOIN pg_index ON indrelid = parts.oid
        UNION ALL
        SELECT name, indexrelid, is_changed, false FROM parts JOIN pg_index ON indrelid = parts.reltoastrelid
    ), sizes AS (
        SELECT f.name, f.is_index,
            sum(CASE WHEN f.is_changed OR c.relpages = 0 THEN pg_relation_size(c.oid)
                ELSE c.relpages * current_setting('block_size')::int8 END) AS n_bytes
        FROM files AS f JOIN pg_class AS c ON c.oid = f.oid
        GROUP BY f.name, f.is_index
    ), packed AS (
        SELECT h.table_name AS name, sum(s.compressed_heap_size + s.compressed_toast_size) AS table_bytes,
            sum(s.compressed_index_size) AS index_bytes, sum(s.numrows_pre_compression) AS n_rows
        FROM _timescaledb_catalog.compression_chunk_size AS s
        JOIN _timescaledb_catalog.chunk AS c ON c.id = s.chunk_id
        JOIN _timescaledb_catalog.hypertable AS h ON h.id = c.hypertable_id
        WHERE h.schema_name = :schema
        GROUP BY h.table_name
    ), loose AS (
        SELECT name, sum(
            CASE WHEN is_compressed OR reltuples > 0 THEN greatest(reltuples, 0) ELSE pg_stat_get_live_tuples(oid) END
        ) AS n_rows
        FROM parts GROUP BY name
    )
    SELECT h.table_name AS name,
        (coalesce(heap.n_bytes, 0) + coalesce(packed.table_bytes, 0))::int8 AS table_bytes,
        (coalesce(index.n_bytes, 0) + coalesce(packed.index_bytes, 0))::int8 AS index_bytes,
        (coalesce(loose.n_rows, 0) + coalesce(packed.n_rows, 0))::int8 AS n_rows
    FROM _timescaledb_catalog.hypertable AS h
    LEFT JOIN sizes AS heap ON heap.name = h.table_name AND NOT heap.is_index
    LEFT JOIN sizes AS index ON index.name = h.table_name AND index.is_index
    LEFT JOIN packed ON packed.name = h.table_name
    LEFT JOIN loose ON loose.name = h.table_name
    WHERE h.schema_name = :schema
    ORDER BY 1
""")
PLAIN_FILES: Final = """
    SELECT oid::int8, relfilenode::int8, false, NULL, NULL
    FROM pg_class
    WHERE relname = %(name)s AND relnamespace = %(schema)s::text::regnamespace
"""
# The chunk of the last day that datetime can hold ends on one that it cannot.
HYPERTABLE_FILES: Final = """
    SELECT c.oid::int8, c.relfilenode::int8, part.is_compressed, part.range_start,
        least(part.range_end, '9999-12-31T23:59:59.999999Z'::timestamptz)
    FROM timescaledb_information.chunks AS part
    JOIN pg_class AS c ON c.relname = part.chunk_name AND c.relnamespace = part.chunk_schema::text::regnamespace
    WHERE part.hypertable_schema = %(schema)s AND part.hypertable_name = %(name)s
"""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with rows of a table, and their time range; another file has other rows, whatever a snapshot says."""

    oid: int
    file: int
    is_compressed: bool
    start: datetime | None
    end: datetime | None

    def reaches(self, start: datetime, end: datetime) -> bool:
        """Return whether it may have rows of that time."""
        return (self.start is None or self.start < end) and (self.end is None or self.end > start)


async def drop_oldest_part(session: AsyncSession, schema: str, name: str, before: datetime) -> int | None:
    """Drop the oldest chunk of the hypertable that ends at `before` or earlier; return its number of rows.

    Missing: None when there is no such chunk, as always with plain PostgreSQL, where rows are deleted.
    """
    if await read_storage(session) == "postgresql":
        return None
    part = (await session.execute(OLDEST_PART, {"schema": schema, "name": name, "before": before})).one_or_none()
    if part is None:
        return None
    connection = await driver_of(session)
    table = sql.Identifier(schema, name)
    counted = await connection.execute(
        sql.SQL("SELECT count(*) FROM {table} WHERE time >= %s AND time < %s").format(table=table), part
    )
    row = await counted.fetchone()
    await connection.execute(
        sql.SQL("SELECT drop_chunks({table}::regclass, older_than => %s::timestamptz)").format(
            table=sql.Literal(table.as_string(connection))
        ),
        [part.range_end],
    )
    return 0 if row is None else int(str(row[0]))


PARTS_BEFORE: Final = text("""
    SELECT hypertable_name, chunk_schema, chunk_name, range_start, range_end
    FROM timescaledb_information.chunks
    WHERE hypertable_schema = :schema AND range_end <= :before
    ORDER BY range_start, hypertable_name
""")
OLDEST_SNAPSHOT: Final = text("""
    SELECT clock_timestamp(), coalesce(min(coalesce(xact_start, query_start)), clock_timestamp())
    FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
""")
DROP_PART: Final = """
    SELECT drop_chunks({table}::regclass, older_than => %(end)s::timestamptz, newer_than => %(start)s::timestamptz)
"""


class EmptyParts:
    """Drops chunks of hypertables whose rows have all been deleted. Remembers, in one process, since when each is empty.

    A chunk is dropped once no transaction is left that could still see its rows: dropping does not wait for those. There is nothing
    to do with plain PostgreSQL, which reuses the space of deleted rows.
    """

    def __init__(self) -> None:
        self._empty_since: dict[str, datetime] = {}

    async def drop(self, sessions: async_sessionmaker[AsyncSession], schema: str, *, before: datetime) -> int:
        """Drop the empty chunks that end at `before` or earlier and were empty when last looked at; return their number."""
        async with open_read_session(sessions) as session:
            if await read_storage(session) == "postgresql":
                return 0
            parts = (await session.execute(PARTS_BEFORE, {"schema": schema, "before": before})).all()
        n_dropped = 0
        known, self._empty_since = self._empty_since, {}
        for name, chunk_schema, chunk, start, end in parts:
            place = {"table": sql.Identifier(schema, name), "chunk": sql.Identifier(chunk_schema, chunk)}
            async with open_write_session(sessions) as session:
                is_dropped, seen_at = await self._drop_one(session, place, Window(start, end), known.get(chunk))
            n_dropped += is_dropped
            if seen_at is not None:
                self._empty_since[chunk] = seen_at
        return n_dropped

    async def _drop_one(
        self, session: AsyncSession, place: Mapping[str, sql.Identifier], span: Window, empty_since: datetime | None
    ) -> tuple[bool, datetime | None]:
        """Return whether the chunk is dropped now, and since when it is empty if it is not."""
        connection = await driver_of(session)
        is_empty = sql.SQL("SELECT NOT EXISTS (SELECT FROM {chunk})").format(**place)
        now, oldest = (await session.execute(OLDEST_SNAPSHOT)).one()
        if await (await connection.execute(is_empty)).fetchone() != (True,):
            return False, None
        if empty_since is None or oldest <= empty_since:
            return False, empty_since or now
        try:
            async with connection.transaction():
                await connection.execute("SET LOCAL lock_timeout = '1s'")
                # No transaction writes to it any more, and it is still empty.
                await connection.execute(sql.SQL("LOCK TABLE {chunk} IN ACCESS EXCLUSIVE MODE").format(**place))
                if await (await connection.execute(is_empty)).fetchone() != (True,):
                    return False, None
                statement = sql.SQL(DROP_PART).format(table=sql.Literal(place["table"].as_string(connection)))
                await connection.execute(statement, {"start": span.start, "end": span.end})
        except psycopg.errors.LockNotAvailable:
            return False, empty_since
        return True, None


async def read_delete_step(session: AsyncSession) -> timedelta:
    """Return the length of the time steps in which rows of a host are best deleted.

    In the columnstore whole batches are deleted without decompression when a full day goes; elsewhere an hour is a short
    transaction.
    """
    return timedelta(days=1) if packs_by_itself(await read_storage(session)) else timedelta(hours=1)


async def read_table_sizes(session: AsyncSession, schema: str) -> list[TableSize]:
    """Return the sizes of all sample tables, from the catalogue: nothing is counted."""
    if is_citus():
        sizes = await read_shard_sizes(session)
        return [TableSize(name, one.table_bytes, one.index_bytes, one.n_rows) for (of, name), one in sizes.items() if of == schema]
    statement = PLAIN_SIZES if await read_storage(session) == "postgresql" else HYPERTABLE_SIZES
    rows = await session.execute(statement, {"schema": schema})
    return [TableSize(row.name, int(row.table_bytes), int(row.index_bytes), int(row.n_rows or 0)) for row in rows]


def read_edition(connection: psycopg.Connection[tuple[object, ...]]) -> Storage:
    """Return which of the three cases the database of this connection is."""
    return _storage_of([None if edition is None else str(edition) for (edition,) in connection.execute(EDITION).fetchall()])


def read_files(connection: psycopg.Connection[tuple[object, ...]], schema: str, name: str) -> frozenset[TableFile]:
    """Return the files that hold the table's rows, as the connection's snapshot sees the catalogue.

    Dropping, truncating and compressing a chunk do not wait for older snapshots, which then see it empty: the file has changed.
    """
    statement = PLAIN_FILES if read_edition(connection) == "postgresql" else HYPERTABLE_FILES
    rows = connection.execute(statement, {"schema": schema, "name": name}).fetchall()
    return frozenset(
        TableFile(
            oid=int(str(oid)),
            file=int(str(file)),
            is_compressed=bool(is_compressed),
            start=start if isinstance(start, datetime) else None,
            end=end if isinstance(end, datetime) else None,
        )
        for oid, file, is_compressed, start, end in rows
    )
