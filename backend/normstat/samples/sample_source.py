"""The source of a stat's samples in a statement: the table itself, or its rows together with sealed ones.

Most readers take pages (samples/sample_pages.py). A statement that counts or looks up in the database gets the sealed rows of its
window as arrays, which it reads like rows; so it is for windows of some hours, or of some instances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import sql
from psycopg.abc import DumperKey
from psycopg.adapt import Buffer, Dumper, PyFormat
from psycopg.pq import Format

from normstat.codecs.packed_numbers import NumberArray
from normstat.codecs.sealed_codec import SealedRows, find_missing
from normstat.samples.binary_arrays import POSTGRES_EPOCH_US
from normstat.samples.samples import NULL_LENGTH
from normstat.samples.sealed.sealed_reader import SealedQuery, read_block
from normstat.samples.sealed.sealed_rows import find_blocks
from normstat.samples.stat_tables import SQL_TYPES, table_of
from normstat.samples.wide_columns import column_name, types_of
from normstat.stats.records import Int64Array
from normstat.stats.spec import Storage

# By type: its number in PostgreSQL, that of its array, and its form on the wire.
WIRE: Final[Mapping[str, tuple[int, int, str]]] = {
    "integer": (23, 1007, ">i4"),
    "bigint": (20, 1016, ">i8"),
    "real": (700, 1021, ">f4"),
    "double precision": (701, 1022, ">f8"),
    "timestamptz": (1184, 1185, ">i8"),
}


@dataclass(frozen=True, slots=True)
class SampleSource:
    """The SQL in place of a table in a statement, and its additional parameters."""

    table: sql.Composable
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class SqlArray:
    """An array parameter as PostgreSQL has it on the wire: numbers of one type, some of which may be missing."""

    type: str
    numbers: npt.NDArray[np.generic]
    missing: npt.NDArray[np.bool_] | None = None

    def to_wire(self) -> bytes:
        """Return the array in binary form."""
        element, _, wire_type = WIRE[self.type]
        n = len(self.numbers)
        has_missing = self.missing is not None and bool(self.missing.any())
        head = np.array([1, int(has_missing), element, n, 1] if n else [0, 0, element], ">i4").tobytes()
        rows = np.empty(n, np.dtype([("length", ">i4"), ("value", wire_type)]))
        rows["length"] = np.dtype(wire_type).itemsize
        rows["value"] = self.numbers
        if not has_missing:
            return head + rows.tobytes()
        rows["length"][self.missing] = NULL_LENGTH
        keep = np.ones((n, rows.dtype.itemsize), np.bool_)
        keep[self.missing, 4:] = False
        return head + rows.view(np.uint8).reshape(n, -1)[keep].tobytes()


class SqlArrayDumper(Dumper):
    """Tells PostgreSQL the type of each array."""

    format = Format.BINARY

    def get_key(self, obj: SqlArray, format: PyFormat) -> DumperKey:  # noqa: A002, ARG002 (psycopg names and passes it)
        """Return the key by which arrays of one type are recognised."""
        return (self.cls, obj.type)  # type: ignore[return-value]  # any hashable will do

    def upgrade(self, obj: SqlArray, format: PyFormat) -> Dumper:  # noqa: A002, ARG002 (as above)
        """Return the dumper of arrays of that type."""
        dumper = SqlArrayDumper(self.cls)
        dumper.oid = WIRE[obj.type][1]
        return dumper

    def dump(self, obj: SqlArray) -> Buffer:
        """Return the array in binary form."""
        return obj.to_wire()


async def open_source(connection: psycopg.AsyncConnection, query: SealedQuery) -> SampleSource:
    """Return the source of the stat's samples for a statement about the query's host, window and instances.

    The statement may use time, host_id, instance_id and the columns of the query's fields; with `has_lines` also stream_id and
    line_offset. It must give the table an alias.
    """
    parts: list[SealedRows] = []
    for block in await find_blocks(connection, query.host_id, query.stat, query.window):
        rows = await read_block(connection, query, block)
        if len(rows):
            parts.append(rows)
    return _source_of(connection, query, parts) if parts else SampleSource(table_of(query.stat), {})


def _source_of(connection: psycopg.AsyncConnection, query: SealedQuery, parts: Sequence[SealedRows]) -> SampleSource:
    connection.adapters.register_dumper(SqlArray, SqlArrayDumper)
    times = np.concatenate([rows.time_us for rows in parts]) - POSTGRES_EPOCH_US
    arrays: dict[str, SqlArray] = {
        "time": SqlArray("timestamptz", times),
        "host_id": SqlArray("integer", np.full(len(times), query.host_id)),
        "instance_id": SqlArray("integer", _joined([rows.instance_id for rows in parts])),
    }
    if query.has_lines:
        arrays["stream_id"] = SqlArray("integer", _joined([rows.stream_id for rows in parts]))
        arrays["line_offset"] = SqlArray("bigint", _joined([rows.line_offset for rows in parts]))
    empty: dict[str, Storage] = {}
    for field in query.fields:
        columns = [rows.columns.get(field.key) for rows in parts]
        name = column_name(field)
        if any(column is not None for column in columns):
            numbers, missing = _with_missing(columns, [len(rows) for rows in parts])
            arrays[name] = SqlArray(SQL_TYPES[field.storage], numbers, missing)
        # Rows have their value in one column of a widened field; these have it in the newest.
        empty |= {own: storage for own, storage in types_of(field).items() if own not in arrays}
    nulls = [sql.SQL("NULL::" + SQL_TYPES[storage]) for storage in empty.values()]
    names = [*arrays, *empty]
    table = sql.SQL("(SELECT {columns} FROM {table} UNION ALL SELECT {sealed} FROM unnest({arrays}) AS sealed ({names}))").format(
        columns=sql.SQL(", ").join(map(sql.Identifier, names)),
        table=table_of(query.stat),
        sealed=sql.SQL(", ").join([*map(sql.Identifier, arrays), *nulls]),
        arrays=sql.SQL(", ").join(
            sql.SQL("{}::{}[]").format(sql.Placeholder(f"sealed_{number}"), sql.SQL(array.type))
            for number, array in enumerate(arrays.values())
        ),
        names=sql.SQL(", ").join(map(sql.Identifier, arrays)),
    )
    return SampleSource(table, {f"sealed_{number}": array for number, array in enumerate(arrays.values())})


def _joined(parts: Sequence[Int64Array]) -> Int64Array:
    return np.concatenate(parts)


def _with_missing(
    columns: Sequence[NumberArray | None], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.bool_]]:
    dtype = next(column.dtype for column in columns if column is not None)
    parts = [np.zeros(n, dtype) if column is None else column for column, n in zip(columns, sizes, strict=True)]
    missing = [np.ones(n, np.bool_) if column is None else find_missing(column) for column, n in zip(columns, sizes, strict=True)]
    return np.concatenate(parts), np.concatenate(missing)
