"""The wide tables in schema `samples`: one for each stat, created from its spec when its first sample arrives.

    samples."vmstat_linux"  time, line_offset, host_id, instance_id, stream_id, a column for each field, printed
    stat."vmstat_linux"     a view of it for people: with the names of host and instance, and numbers as the tool printed them

The columns of a table are ordered by width, so that no byte is lost to alignment. A dec4 column holds 12.34 as 1234;
the view divides. (stream_id, line_offset) is the line in the raw bytes that a row was read from. `printed` holds the words of
the row that its columns cannot reproduce digit for digit (storage/printed_words.py).

A column never changes its type or its decimals once it exists: its rows were stored with them. When a number comes that it cannot
hold, the field is widened: it gets a second, wider column (storage/wide_columns.py), which takes all rows from then on. That needs
no rewriting, whatever the size of the table, and works on a table that is in the columnstore.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from typing import Final

import numpy as np
import psycopg
import structlog
from psycopg import sql
from sqlalchemy import insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import SpecError
from normstat.stats.records import SampleBlock
from normstat.stats.spec import Field, Spec, Stat, Storage
from normstat.storage.distribution import ONE_BY_ONE, distribute_samples, is_citus
from normstat.storage.hypertables import make_hypertable
from normstat.storage.schema.models import StatField, StatTable
from normstat.storage.session import WriteSession, driver_of
from normstat.storage.wide_columns import LIMITS, column_name, find_wider, is_wider, merged_sql, types_of

log = structlog.get_logger()

SCHEMA: Final = "samples"
VIEW_SCHEMA: Final = "stat"
BASE_COLUMNS: Final = ("time", "host_id", "instance_id", "stream_id", "line_offset", "printed")
# Names that a column of the tool cannot have in the table or in its view.
RESERVED_KEYS: Final = frozenset({*BASE_COLUMNS, "host", "instance"})
SQL_TYPES: Final[Mapping[Storage, str]] = {
    Storage.INT4: "integer",
    Storage.INT8: "bigint",
    Storage.DEC4: "integer",
    Storage.FLOAT4: "real",
    Storage.FLOAT8: "double precision",
}
# Garbage may look like a header now and then, and a table has at most 1600 columns. Far more than any tool gained in twenty years,
# or any host has disks in one line of Solaris vmstat.
MAX_EXTRA_COLUMNS: Final = 200
# Columns that the spec describes but only the host names, such as one for each CPU, are limited only by the row: a row of
# PostgreSQL has 8 kB, a number up to 8 bytes.
MAX_COLUMNS: Final = 900
# PostgreSQL allows 1600 columns, dropped ones included; each widening adds one.
MAX_WIDE_COLUMNS: Final = 500
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
    """A column of an existing table: `storage` is its present type, `earlier` those that it had before it was widened."""

    key: str
    position: int
    storage: Storage
    decimals: int
    is_documented: bool
    earlier: tuple[Storage, ...] = ()

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


class TablePlan:
    """The columns that the blocks of a request need, and which of them must be created or widened first."""

    def __init__(self, specs: Iterable[Spec], stored: Mapping[str, StoredStat]) -> None:
        self._stored = stored
        self._wanted: dict[str, tuple[Spec, Stat, dict[str, Field]]] = {}
        self._wider: dict[str, dict[str, Storage]] = {}
        # Fields whose columns are all there or planned, by identity: the blocks of many streams share them.
        self._admitted: dict[int, tuple[Field, ...]] = {}
        # The places of the numbers that may not fit their columns, by the same identity. None: each number is looked at.
        self._tight: dict[int, tuple[int, ...] | None] = {}
        for spec in specs:
            for stat in spec.stats:
                self._wanted[stat.name] = (spec, stat, {field.key: field for field in stat.fields})

    def admit(self, block: SampleBlock) -> str | None:
        """Plan the block's columns; return why the table cannot have them, or None."""
        if id(block.fields) in self._admitted:
            return self._widen(block)
        _, stat, wanted = self._wanted[block.stat.name]
        stored = self._stored.get(stat.name)
        known = wanted.keys() | (stored.columns.keys() if stored else set())
        extra = {field.key: field for field in block.fields if field.key not in known}
        if not extra:
            self._admitted[id(block.fields)] = block.fields
            return self._widen(block)
        reserved = RESERVED_KEYS & extra.keys()
        if reserved:
            return f"a column unknown to the spec has a reserved name: {', '.join(sorted(reserved))}"
        planned = [*extra.values(), *wanted.values(), *(stored.columns.values() if stored else ())]
        if len({column.key for column in planned if not column.is_documented}) > MAX_EXTRA_COLUMNS:
            return f"more than {MAX_EXTRA_COLUMNS} columns unknown to the spec: not the text of this tool"
        if len(known) + len(extra) > MAX_COLUMNS:
            return f"more than {MAX_COLUMNS} columns, the maximum of a table"
        wanted |= extra
        return self._widen(block)

    def _widen(self, block: SampleBlock) -> str | None:
        """Plan the widening of columns that cannot hold a number of the block; return why the table cannot have it, or None."""
        name = block.stat.name
        _, _, wanted = self._wanted[name]
        stored = self._stored.get(name)
        wider = self._wider.setdefault(name, {})
        if not wider and self._fits(block, wanted, stored):
            return None
        for place, (field, values) in enumerate(zip(block.fields, block.values, strict=True)):
            made = None if stored is None else stored.columns.get(field.key)
            column: Column | Field = wanted[field.key] if made is None else made
            is_same = field.storage is Storage.DEC4 is column.storage and field.decimals == column.decimals
            if is_same and not block.printed:
                # A number too large for it is not canonical, and its row keeps its words.
                continue
            storage = wider.get(field.key, column.storage)
            found = find_wider(storage, column.decimals, values, block.missing[place] if block.missing else None)
            if found is None:
                continue
            if made is None:
                wanted[field.key] = replace(wanted[field.key], storage=found)
                self._tight.clear()
                continue
            wider[field.key] = found
            assert stored is not None
            if stored.n_widened + len(wider) > MAX_WIDE_COLUMNS:
                del wider[field.key]
                return f"a number in {field.key} too large for its column, and more than {MAX_WIDE_COLUMNS} are widened already"
        return None

    def _fits(self, block: SampleBlock, wanted: Mapping[str, Field], stored: StoredStat | None) -> bool:
        """Return whether every number of the block fits its column, as far as one look at all of them tells."""
        if block.printed:
            return False
        key = id(block.fields)
        if key not in self._tight or key not in self._admitted:
            self._tight[key] = _find_tight(block.fields, wanted, stored)
        tight = self._tight[key]
        if not tight:
            return tight is not None
        # A value where the tool printed its word for none is 0.
        values_of_all = np.stack([block.values[place] for place in tight])
        limit = LIMITS[Storage.INT4]
        return bool(values_of_all.max(initial=0) < limit and values_of_all.min(initial=0) > -limit)

    def lacking(self, names: Iterable[str]) -> list[RequiredTable]:
        """Return the tables of these stats that do not exist yet, or lack columns."""
        found = []
        for name in sorted(set(names)):
            spec, stat, wanted = self._wanted[name]
            stored = self._stored.get(name)
            wider = self._wider.get(name, {})
            if stored is None or stored.lacks(wanted.values()) or wider:
                found.append(RequiredTable(spec, stat, tuple(wanted.values()), dict(wider)))
        return found

    def require(self, name: str) -> StoredStat:
        """Return the table, which must exist."""
        return self._stored[name]


def _find_tight(fields: Sequence[Field], wanted: Mapping[str, Field], stored: StoredStat | None) -> tuple[int, ...] | None:
    """Return the places of the fields whose columns have fewer digits than they may have. Missing: None where one look at all of
    their numbers tells too little.
    """
    tight = []
    for place, field in enumerate(fields):
        made = None if stored is None else stored.columns.get(field.key)
        column: Column | Field = wanted[field.key] if made is None else made
        if field.storage is Storage.DEC4 is column.storage and field.decimals == column.decimals:
            continue
        if not field.storage.is_whole or not column.storage.is_whole:
            return None
        if column.storage is Storage.INT4:
            tight.append(place)
    return tuple(tight)


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
        select(StatTable.name, StatTable.id, StatField.key, StatField.position, StatField.definition, StatField.is_documented)
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
    """Return the column of a row of `stat_fields`: key, position, definition, is_documented."""
    key, position, definition, is_documented = row
    assert isinstance(definition, dict)
    return Column(
        key=str(key),
        position=int(str(position)),
        storage=Storage(str(definition["storage"])),
        decimals=int(str(definition["decimals"])),
        is_documented=bool(is_documented),
        earlier=earlier_types(definition),
    )


def earlier_types(definition: Mapping[str, object]) -> tuple[Storage, ...]:
    """Return the types that a column had before it was widened, from its stored definition."""
    # Columns created before this could happen say nothing.
    found = definition.get("earlier", ())
    return tuple(Storage(str(name)) for name in found) if isinstance(found, list) else ()


class StatTableCache:
    """Cache of the stat tables in one process. Tables only gain columns, so cached entries stay valid.

    That there is no table is remembered too: many specs have stats that few hosts print. Whoever needs it asks for it to be made,
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
    await session.execute(text("SET LOCAL lock_timeout = '5s'"))
    await session.execute(text("SET LOCAL statement_timeout = '60s'"))
    await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": TABLES_LOCK})
    if is_citus():
        await session.execute(text(ONE_BY_ONE))
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
    await _write_fields(session, stat_id, added, first=len(columns))
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


async def _write_fields(session: WriteSession, stat_id: int, fields: Sequence[Field], *, first: int) -> None:
    rows = [
        {
            "stat_id": stat_id,
            "key": field.key,
            "position": position,
            "definition": definition_of(field),
            "is_documented": field.is_documented,
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
        # Somebody's own view is built on it: samples matter more.
        log.warning("view_not_widened", view=f"{VIEW_SCHEMA}.{name}", error=str(error).splitlines()[0])
        return False
    return True
