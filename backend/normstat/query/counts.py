"""How many samples there are, before they are read."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.pages import load_sql
from normstat.stats.spec import Field
from normstat.store.session import driver_of
from normstat.store.stat_tables import table_of
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class SampleCount:
    """Rows of a window, and the fields that have a value in one of them at least, in the order asked for."""

    n_rows: int
    fields: tuple[Field, ...]


async def count_samples(
    session: AsyncSession, table: str, host_id: int, window: Window, fields: Sequence[Field] = ()
) -> SampleCount:
    """Counts the samples of a host in a window, and finds the columns that this host's tool prints at all."""
    counts = [sql.SQL("count(*)"), *(sql.SQL("count({})").format(sql.Identifier(field.key)) for field in fields)]
    statement = load_sql("count_samples").format(counts=sql.SQL(", ").join(counts), table=table_of(table))
    connection = await driver_of(session)
    cursor = await connection.execute(statement, {"host_id": host_id, "start": window.start, "end": window.end}, prepare=False)
    row = await cursor.fetchone()
    assert row is not None
    n_rows, *n_values = (int(str(number)) for number in row)
    return SampleCount(n_rows, tuple(field for field, n in zip(fields, n_values, strict=True) if n))
