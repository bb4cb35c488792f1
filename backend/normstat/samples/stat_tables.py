"""The wide tables in schema `samples`: one for each stat, created from its spec when its first sample arrives.

    samples."vmstat_linux"  time, line_offset, host_id, instance_id, stream_id, a column for each field, printed
    stat."vmstat_linux"     a view of it for people: with the names of host and instance, and numbers as the tool printed them

The columns of a table are ordered by width, so that no byte is lost to alignment. A dec4 column holds 12.34 as 1234;
the view divides. (stream_id, line_offset) is the line in the raw bytes that a row was read from. `printed` holds the words of
the row that its columns cannot reproduce digit for digit (samples/printed_words.py).

A column never changes its type or its decimals once it exists: its rows were stored with them. When a number comes that it cannot
hold, the field is widened: it gets a second, wider column (samples/wide_columns.py), which takes all rows from then on. That needs
no rewriting, whatever the size of the table, and works on a table that is in the columnstore.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from typing import Final

import psycopg
import structlog
from psycopg import sql
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.connecting import is_citus
from normstat.db.distribution import ONE_BY_ONE, distribute_samples
from normstat.db.hypertables import make_hypertable
from normstat.db.schema.models import StatField, StatTable
from normstat.db.session import WriteSession, driver_of
from normstat.errors import Conflict, SpecError
from normstat.samples.wide_columns import column_name, is_wider, merged_sql, types_of
from normstat.stats.spec import Field, Spec, Stat, Storage

log = structlog.get_logger()

SCHEMA: Final = "samples"
VIEW_SCHEMA: Final = "stat"
BASE_COLUMNS: Final = ("time", "host_id", "instance_id", "stream_id", "line_offset", "printed")
# Names that a column of the tool cannot have in the table or in its view.
RESERVED_KEYS: Final = frozenset({*BASE_COLUMNS, "host", "instance"})
# Names of columns of every CSV file, besides those; a spec of earlier versions may have them.
CSV_COLUMNS: Final = frozenset({"epoch"})
SQL_TYPES: Final[Mapping[Storage, str]] = {
    Storage.INT4: "integer",
    Storage.INT8: "bigint",
    Storage.DEC4: "integer",
    Storage.FLOAT4: "real",
    Storage.FLOAT8: "double precision",
}
EIGHT_BYTES: Final = frozenset({Storage.INT8, Storage.FLOAT8})
# With the prefix and suffix of an index's name it must fit in the 63 bytes of an identifier.
MAX_NAME_LENGTH: Final = 40
# No end at all: tables of older versions may have rows of the year 9999, and a day more is beyond what datetime can hold.
END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
# The statements that give a view the privileges that it has now.
GRANTS: Final = """
    SELECT format('GRANT %%s ON %%s TO %%s%%s', a.privilege_type, c.oid::regclass,
        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
    WHERE c.oid = %(view)s::regclass AND a.grantee <> c.relowner
"""
# Any number that no other advisory lock uses.
TABLES_LOCK: Final = 0x6E6F726D_00000002


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an existing table: `storage` is its present type, `earlier` those that it had before it was widened.

    `host_id` is the host that first sent it, of a column unknown to the spec. Missing: None for the others.
    """

    key: str
    position: int
    storage: Storage
    decimals: int
    is_documented: bool
    earlier: tuple[Storage, ...] = ()
    host_id: int | None = None

    @property
    def name(self) -> str:
        """The name of the column that takes new rows."""
        return column_name(self)

    @property
    def types(self) -> Mapping[str, Storage]:
        """The types of all columns of the table that hold rows of this one, by their names."""
        return types_of(self)


@dataclass(frozen=True, slots=True)
class StoredStat:
    """An existing wide table: `columns` by key, in the order in which they were created."""

    id: int
    name: str
    columns: Mapping[str, Column]

    @property
    def table(self) -> sql.Identifier:
        """The table's qualified name."""
        return table_of(self.name)

    @property
    def n_widened(self) -> int:
        """The number of columns that it has beside the first one of each field."""
        return sum(len(column.earlier) for column in self.columns.values())

    def lacks(self, fields: Iterable[Field]) -> list[Field]:
        """Return the fields that have no column yet."""
        return [field for field in fields if field.key not in self.columns]

    def narrower(self, wanted: Mapping[str, Storage]) -> list[Column]:
        """Return the columns that must be widened to be of at least these types, as they will be."""
        return [
            replace(column, storage=storage, earlier=(*column.earlier, column.storage))
            for key, storage in wanted.items()
            if (column := self.columns.get(key)) is not None and is_wider(storage, column.storage)
        ]


@dataclass(frozen=True, slots=True)
class RequiredTable:
    """A wide table that must exist, with at least these columns; those in `wider` must be at least of that type."""

    spec: Spec
    stat: Stat
    fields: tuple[Field, ...]
    wider: Mapping[str, Storage] = dataclass_field(default_factory=dict)
    # The hosts that brought the columns unknown to the spec, by their keys.
    brought_by: Mapping[str, int] = dataclass_field(default_factory=dict)


def keys_without_decimals(stored: StoredStat, fields: Iterable[Field]) -> list[str]:
    """Return the keys of those fields that have decimals, but whose columns were made for whole numbers."""
    columns = stored.columns
    return [
        field.key for field in fields if not field.storage.is_whole and field.key in columns and columns[field.key].storage.is_whole
    ]


def table_of(name: str) -> sql.Identifier:
    """Return the qualified name of a stat's table."""
    return sql.Identifier(SCHEMA, name)


def time_bound(end: datetime) -> sql.Composable:
    """Return the end of a half-open time span in SQL; END_OF_TIME excludes nothing."""
    return sql.SQL("'infinity'::timestamptz") if end >= END_OF_TIME else sql.Literal(end)


async def read_stored_stats(session: AsyncSession, names: Iterable[str]) -> dict[str, StoredStat]:
    """Return the existing tables of these stats, by name."""
    rows = await session.execute(
        select(
            StatTable.name,
            StatTable.id,
            StatField.key,
            StatField.position,
            StatField.definition,
            StatField.is_documented,
            StatField.host_id,
        )
        .join(StatField, StatField.stat_id == StatTable.id)
        .where(StatTable.name.in_(list(names)))
        .order_by(StatTable.id, StatField.position)
    )
    ids: dict[str, int] = {}
    columns: dict[str, dict[str, Column]] = {}
    for name, stat_id, *row in rows:
        ids[name] = stat_id
        column = to_column(row)
        columns.setdefault(name, {})[column.key] = column
    return {name: StoredStat(ids[name], name, columns[name]) for name in ids}


def to_column(row: Sequence[object]) -> Column:
    """Return the column of a row of `stat_fields`: key, position, definition, is_documented, host_id."""
    key, position, definition, is_documented, host_id = row
    assert isinstance(definition, dict)
    assert host_id is None or isinstance(host_id, int)
    return Column(
        key=str(key),
        position=int(str(position)),
        storage=Storage(str(definition["storage"])),
        decimals=int(str(definition["decimals"])),
        is_documented=bool(is_documented),
        earlier=earlier_types(definition),
        host_id=host_id,
    )


def earlier_types(definition: Mapping[str, object]) -> tuple[Storage, ...]:
    """Return the types that a column had before it was widened, from its stored definition."""
    # Columns created before this was possible have no such entry.
    found = definition.get("earlier", ())
    return tuple(Storage(str(name)) for name in found) if isinstance(found, list) else ()


class StatTableCache:
    """Cache of the stat tables in one process. Tables only gain columns, so cached entries stay valid.

    A missing table is remembered too: many specs have stats that few hosts print. A caller that needs it has it created,
    and clears the cache.
    """

    def __init__(self) -> None:
        self._stats: dict[str, StoredStat | None] = {}

    def clear(self) -> None:
        """Clear the cache, to see new columns."""
        self._stats.clear()

    async def read(self, session: AsyncSession, names: Iterable[str]) -> dict[str, StoredStat]:
        """Return the existing tables of these stats, by name."""
        wanted = set(names)
        unknown = wanted - self._stats.keys()
        if unknown:
            self._stats |= dict.fromkeys(unknown) | await read_stored_stats(session, unknown)
        return {name: stored for name in wanted if (stored := self._stats[name]) is not None}


async def make_stat_tables(session: WriteSession, wanted: Sequence[RequiredTable]) -> None:
    """Create the missing tables and columns, and widen columns; concurrent callers wait for each other.

    Call it in a short transaction of its own that holds no other lock: a new column waits for all who read or write the table.
    Raises: SpecError for a name that cannot be a table's or a column's
    """
    connection = await driver_of(session)
    await _lock_tables(session)
    stored = await read_stored_stats(session, [want.stat.name for want in wanted])
    for want in wanted:
        _require_names(want.spec, want.stat, want.fields)
        await _make_columns(session, connection, want, stored.get(want.stat.name))


async def _make_columns(
    session: WriteSession, connection: psycopg.AsyncConnection, want: RequiredTable, found: StoredStat | None
) -> None:
    name = want.stat.name
    added = list(want.fields) if found is None else found.lacks(want.fields)
    widened = [] if found is None else found.narrower(want.wider)
    if not added and not widened:
        return
    if found is None:
        stat_id, columns = await _make_table(session, connection, want), {}
    else:
        stat_id, columns = found.id, {**found.columns, **{column.key: column for column in widened}}
        await _add_columns(connection, name, [*added, *widened])
    first = max((column.position for column in columns.values()), default=-1) + 1
    await _write_fields(session, stat_id, added, first=first, brought_by=want.brought_by)
    for column in widened:
        await _write_types(session, stat_id, column)
        log.info("column_widened", stat=name, key=column.key, storage=column.storage.value)
    if await _make_view(connection, name, [*columns.values(), *added]):
        await _comment_all(session, connection, name, stat_id)
    else:
        await _comment_columns(connection, name, added)


def require_names(spec: Spec) -> None:
    """Check that all stats and fields of the spec can have tables and columns.

    Raises: SpecError
    """
    for stat in spec.stats:
        _require_names(spec, stat, stat.fields)


def _require_names(spec: Spec, stat: Stat, fields: Iterable[Field]) -> None:
    if len(stat.name) > MAX_NAME_LENGTH:
        raise SpecError(f"The stat {stat.name!r} of {spec.name} has a name longer than {MAX_NAME_LENGTH} characters")
    for field in fields:
        if field.key in RESERVED_KEYS:
            raise SpecError(f"The key {field.key!r} of {stat.name} is one of the columns that every table has; choose another")


async def make_missing_tables(session: WriteSession) -> None:
    """Create the missing tables and views of all known stats: a restore brings their rows next."""
    connection = await driver_of(session)
    await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": TABLES_LOCK})
    if is_citus():
        await session.execute(text(ONE_BY_ONE))
    there = text("SELECT tablename FROM pg_tables WHERE schemaname = :schema")
    names = set(await session.scalars(there, {"schema": SCHEMA}))
    stored = await read_stored_stats(session, await session.scalars(select(StatTable.name).where(StatTable.name.not_in(names))))
    for name, stat in stored.items():
        columns = list(stat.columns.values())
        await _create_table(connection, name, columns)
        await _make_view(connection, name, columns)
        await _comment_all(session, connection, name, stat.id)


async def _make_table(session: WriteSession, connection: psycopg.AsyncConnection, want: RequiredTable) -> int:
    name = want.stat.name
    await _create_table(connection, name, want.fields)
    await _comment(connection, sql.SQL("TABLE {}").format(table_of(name)), f"{want.stat.title} (spec {want.spec.name})")
    values = {"name": name, "spec": want.spec.name, "spec_version": want.spec.version}
    return (await session.execute(insert(StatTable).values(values).returning(StatTable.id))).scalar_one()


async def _create_table(connection: psycopg.AsyncConnection, name: str, fields: Sequence[Column | Field]) -> None:
    parts: list[sql.Composable] = [sql.SQL("time timestamptz NOT NULL, line_offset int8 NOT NULL")]
    types = {name: storage for field in fields for name, storage in _types_of(field).items()}
    parts += [_column_sql(key, storage) for key, storage in types.items() if storage in EIGHT_BYTES]
    parts += [sql.SQL("host_id int4 NOT NULL, instance_id int4 NOT NULL, stream_id int4 NOT NULL")]
    parts += [_column_sql(key, storage) for key, storage in types.items() if storage not in EIGHT_BYTES]
    # Empty, not NULL: a row without a NULL needs no bitmap, which would be eight bytes.
    parts += [sql.SQL("printed text NOT NULL DEFAULT ''")]
    create = sql.SQL("CREATE TABLE {table} ({parts})").format(table=table_of(name), parts=sql.SQL(", ").join(parts))
    await connection.execute(create)
    await make_hypertable(connection, table_of(name))
    await distribute_samples(connection, table_of(name))
    # One index only. A second one, by instance, cost as much of ingest as everything else, and each instance of each host would
    # keep a page of it in memory; a report's rows lie side by side, so skipping the other instances costs little.
    await connection.execute(
        sql.SQL("CREATE INDEX {index} ON {table} (host_id, time) WITH (fillfactor = 100)").format(
            index=sql.Identifier(f"ix_{name}__host_time"), table=table_of(name)
        )
    )


def _types_of(column: Column | Field) -> Mapping[str, Storage]:
    return column.types if isinstance(column, Column) else {column.key: column.storage}


def _column_sql(name: str, storage: Storage) -> sql.Composed:
    return sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(SQL_TYPES[storage]))


async def _add_columns(connection: psycopg.AsyncConnection, name: str, columns: Sequence[Column | Field]) -> None:
    """Add the columns that take new rows; that of a widened one is beside those that it had."""
    added = sql.SQL(", ").join(
        sql.SQL("ADD COLUMN {}").format(_column_sql(column_name(column), column.storage)) for column in columns
    )
    await connection.execute(sql.SQL("ALTER TABLE {} {}").format(table_of(name), added))


async def drop_column(session: WriteSession, stored: StoredStat, column: Column) -> None:
    """Remove a column with its numbers from the table, from its view and from what is known of the stat.

    Call it in a short transaction of its own, as `make_stat_tables`. Other processes notice when they write to the column.
    Raises: Conflict when a view of the user's own shows it
    """
    connection = await driver_of(session)
    await _lock_tables(session)
    await session.execute(delete(StatField).where(StatField.stat_id == stored.id, StatField.key == column.key))
    left = [other for other in stored.columns.values() if other.key != column.key]
    names = sql.SQL(", ").join(sql.SQL("DROP COLUMN {}").format(sql.Identifier(name)) for name in column.types)
    await _make_view(connection, stored.name, left)
    try:
        await connection.execute(sql.SQL("ALTER TABLE {} {}").format(stored.table, names))
    except psycopg.errors.DependentObjectsStillExist as error:
        raise Conflict(f"Another view shows {column.key} of {stored.name}: drop that view first") from error
    await _comment_all(session, connection, stored.name, stored.id)


async def _lock_tables(session: WriteSession) -> None:
    """Wait for all who make tables and columns, but not for ever for those who read and write the tables."""
    await session.execute(text("SET LOCAL lock_timeout = '5s'"))
    await session.execute(text("SET LOCAL statement_timeout = '60s'"))
    await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": TABLES_LOCK})
    if is_citus():
        await session.execute(text(ONE_BY_ONE))


async def _comment_all(session: WriteSession, connection: psycopg.AsyncConnection, name: str, stat_id: int) -> None:
    texts = select(StatField.key, StatField.definition).where(StatField.stat_id == stat_id)
    for key, definition in await session.execute(texts):
        await _comment_column(connection, name, key, help_=str(definition["help"]), unit=str(definition["unit"]))


async def _comment_columns(connection: psycopg.AsyncConnection, name: str, fields: Sequence[Field]) -> None:
    for field in fields:
        await _comment_column(connection, name, field.key, help_=field.help, unit=field.unit)


async def _comment_column(connection: psycopg.AsyncConnection, name: str, key: str, *, help_: str, unit: str) -> None:
    target = sql.SQL("COLUMN {}").format(sql.Identifier(VIEW_SCHEMA, name, key))
    await _comment(connection, target, f"{help_} [{unit}]" if unit else help_)


async def _comment(connection: psycopg.AsyncConnection, target: sql.Composed, comment: str) -> None:
    await connection.execute(sql.SQL("COMMENT ON {} IS {}").format(target, sql.Literal(comment)))


async def _write_fields(
    session: WriteSession, stat_id: int, fields: Sequence[Field], *, first: int, brought_by: Mapping[str, int]
) -> None:
    rows = [
        {
            "stat_id": stat_id,
            "key": field.key,
            "position": position,
            "definition": definition_of(field),
            "is_documented": field.is_documented,
            "host_id": brought_by.get(field.key),
        }
        for position, field in enumerate(fields, start=first)
    ]
    if rows:
        await session.execute(insert(StatField), rows)


async def _write_types(session: WriteSession, stat_id: int, column: Column) -> None:
    """Write the present and the earlier types of a widened column."""
    of_column = (StatField.stat_id == stat_id) & (StatField.key == column.key)
    definition = (await session.execute(select(StatField.definition).where(of_column))).scalar_one()
    types = {"storage": column.storage.value, "earlier": [storage.value for storage in column.earlier]}
    await session.execute(update(StatField).where(of_column).values(definition={**definition, **types}))


def definition_of(field: Field) -> dict[str, object]:
    """Return all of a field as JSON values; `Field(**definition)` with its enums restored is the field."""
    return asdict(field)


async def _make_view(connection: psycopg.AsyncConnection, name: str, columns: Sequence[Column | Field]) -> bool:
    """Create the view for people, or add the newest columns to it; return whether it was made again, without its comments.

    A view cannot change the type of a column: it is dropped first, and those who could read it may read the new one.
    """
    view = sql.Identifier(VIEW_SCHEMA, name)
    shown = sql.SQL(", ").join(
        sql.SQL("{} AS {}").format(merged_sql(column, "s"), sql.Identifier(column.key)) for column in columns
    )
    create = sql.SQL(
        "CREATE OR REPLACE VIEW {view} AS SELECT s.time, h.name AS host, i.name AS instance, s.host_id, s.instance_id,"
        " s.stream_id, s.line_offset, NULLIF(s.printed, '') AS printed, {shown}"
        " FROM {table} AS s JOIN public.hosts AS h ON h.id = s.host_id JOIN public.instances AS i ON i.id = s.instance_id"
    ).format(view=view, shown=shown, table=table_of(name))
    try:
        async with connection.transaction():
            await connection.execute(create)
    except psycopg.errors.InvalidTableDefinition:
        pass
    else:
        return False
    grants = await (await connection.execute(GRANTS, {"view": view.as_string(connection)})).fetchall()
    try:
        async with connection.transaction():
            await connection.execute(sql.SQL("DROP VIEW {}").format(view))
            await connection.execute(create)
            for (grant,) in grants:
                await connection.execute(str(grant))
    except psycopg.errors.DependentObjectsStillExist as error:
        # A view of the user's own is built on it: samples matter more.
        log.warning("view_not_widened", view=f"{VIEW_SCHEMA}.{name}", error=str(error).splitlines()[0])
        return False
    return True
