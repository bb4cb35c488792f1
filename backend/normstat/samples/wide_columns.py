"""Widened columns: a second column for a field whose first one turned out too narrow for a number that its tool printed.

    kb_rd_s          integer           12.34 as 1234, up to 21 474 836.47
    kb_rd_s:float8   double precision  every row since the first number beyond that

A row has its value in one of them, NULL in the others. Reading takes the one that is there, in the type of the widest, so that
graphs, comparisons and exports see one column. To change a column's type, PostgreSQL would rewrite the table, with all readers
and writers locked out, and TimescaleDB refuses it for data in the columnstore. A new column is only an entry of the catalogue.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from psycopg import sql

from normstat.stats.records import ValueArray
from normstat.stats.spec import Storage

# PostgreSQL cuts longer identifiers.
MAX_IDENTIFIER_BYTES: Final = 63
# Numbers from here on do not fit; negative ones of the same size do not either: the least one stands for "no value" on the wire.
LIMITS: Final = {Storage.INT4: 2.0**31, Storage.INT8: 2.0**63, Storage.DEC4: 2.0**31}
# Whole numbers beyond this are rounded in a float8.
EXACT_INT8: Final = 2**53
WIDTHS: Final = (Storage.DEC4, Storage.INT4, Storage.FLOAT4, Storage.INT8, Storage.FLOAT8)


class Widened(Protocol):
    """A column or a field, as far as its place in the table is concerned."""

    @property
    def key(self) -> str:
        """The name of its first column."""
        ...

    @property
    def storage(self) -> Storage:
        """Its present type."""
        ...

    @property
    def decimals(self) -> int:
        """The digits after the point."""
        ...

    @property
    def earlier(self) -> Sequence[Storage]:
        """The types that it had before."""
        ...


def column_name(column: Widened) -> str:
    """Return the name of the column that takes the field's new rows."""
    return _name(column.key, column.storage) if column.earlier else column.key


def types_of(column: Widened) -> dict[str, Storage]:
    """Return the types of all columns of the table that hold rows of the field, by their names."""
    found = {_name(column.key, storage) if at else column.key: storage for at, storage in enumerate(column.earlier)}
    return found | {column_name(column): column.storage}


def _name(key: str, storage: Storage) -> str:
    ending = f":{storage.value}"
    return key.encode()[: MAX_IDENTIFIER_BYTES - len(ending)].decode(errors="ignore") + ending


def is_wider(storage: Storage, than: Storage) -> bool:
    """Return whether a column of the one type holds numbers that one of the other does not."""
    return WIDTHS.index(storage) > WIDTHS.index(than)


def find_wider(storage: Storage, decimals: int, values: ValueArray, missing: npt.NDArray[np.bool_] | None = None) -> Storage | None:
    """Return the narrowest type that holds the values of a column of this type. Missing: None when it holds them itself."""
    if storage not in LIMITS or (storage is Storage.INT8 and values.dtype.kind == "i"):
        return None
    known = values if missing is None else values[~missing]
    if not len(known):
        return None
    # The negative of the least whole number of 64 bits is none of them.
    largest = max(-float(known.min()), float(known.max()))
    if storage is Storage.DEC4:
        # Rounded as it is stored.
        return Storage.FLOAT8 if np.rint(largest * 10.0**decimals) >= LIMITS[storage] else None
    if values.dtype.kind == "f" and (largest >= LIMITS[Storage.INT8] or (known != np.floor(known)).any()):
        return Storage.FLOAT8
    return Storage.INT8 if largest >= LIMITS[storage] else None


def merged_sql(column: Widened, table: str) -> sql.Composable:
    """Return the field's value in SQL: as stored in a table of this alias, or, for dec4 of a view and widened ones, as printed."""
    if not column.earlier:
        own = sql.Identifier(table, column.key)
        return _scaled(own, column.decimals) if column.storage is Storage.DEC4 else own
    return _coalesced(column, table)


def stored_sql(column: Widened, table: str) -> sql.Composable:
    """Return the field's value in SQL, of its present type; a dec4 as the integer that it is stored as."""
    return _coalesced(column, table) if column.earlier else sql.Identifier(table, column.key)


def printed_sql(columns: Sequence[Widened], table: str) -> sql.Composable:
    """Return the words of a row that its columns cannot reproduce, in SQL; NULL when there are none.

    A whole number of eight bytes may have more digits than the float8 that its column became: such a number is its own word.
    """
    odd = [
        sql.SQL("CASE WHEN {column} NOT BETWEEN -{limit} AND {limit} THEN {key} || '=' || {column} END").format(
            column=sql.Identifier(table, column.key if storage is column.earlier[0] else _name(column.key, storage)),
            limit=sql.Literal(EXACT_INT8),
            key=sql.Literal(column.key),
        )
        for column in columns
        if column.storage is Storage.FLOAT8
        for storage in column.earlier
        if storage is Storage.INT8
    ]
    # In tables of older versions, `printed` is NULL when empty. Its own words come last: they count.
    own = sql.SQL("NULLIF({}, '')").format(sql.Identifier(table, "printed"))
    return sql.SQL("NULLIF(concat_ws(' ', {}), '')").format(sql.SQL(", ").join([*odd, own])) if odd else own


def _coalesced(column: Widened, table: str) -> sql.Composed:
    """Return the one column that has a value, newest first, in the newest type."""
    parts: list[sql.Composable] = [sql.Identifier(table, column_name(column))]
    for at in reversed(range(len(column.earlier))):
        storage = column.earlier[at]
        own = sql.Identifier(table, _name(column.key, storage) if at else column.key)
        parts.append(_cast(own, storage, column))
    return sql.SQL("COALESCE({})").format(sql.SQL(", ").join(parts))


def _cast(own: sql.Identifier, storage: Storage, column: Widened) -> sql.Composed:
    if storage is Storage.DEC4:
        return _scaled(own, column.decimals)
    return sql.SQL("{}::" + column.storage.value).format(own)


def _scaled(own: sql.Identifier, decimals: int) -> sql.Composed:
    return sql.SQL("{} / {}::float8").format(own, sql.Literal(10**decimals))
