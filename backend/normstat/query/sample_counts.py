"""Sample counts and printed fields of a window, known before the samples are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from psycopg import sql
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, RollupMark
from normstat.db.session import driver_of
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.rollup_rows import FRESH, MINUTES
from normstat.samples.sample_pages import load_sql
from normstat.samples.sealed.sealed_reader import SealedQuery, count_in_block
from normstat.samples.sealed.sealed_rows import find_blocks
from normstat.samples.stat_tables import table_of
from normstat.samples.wide_columns import stored_sql
from normstat.stats.spec import Field
from normstat.window import Window

# Maximum number of rows searched for fields (about 0.2 s).
ROWS_LOOKED_AT: Final = 300_000
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SampleCount:
    """Number of rows in a window, and the fields with at least one value, in the order requested."""

    n_rows: int
    fields: tuple[Field, ...]


async def count_samples(
    session: AsyncSession, table: str, host_id: int, window: Window, fields: Sequence[Field] = ()
) -> SampleCount:
    """Return the number of samples of a host in a window, and the columns that this host's tool prints at all."""
    counts = [sql.SQL("count(*)"), *(sql.SQL("count({})").format(stored_sql(field, "t")) for field in fields)]
    statement = load_sql("count_samples").format(counts=sql.SQL(", ").join(counts), table=table_of(table))
    connection = await driver_of(session)
    cursor = await connection.execute(statement, {"host_id": host_id, "start": window.start, "end": window.end}, prepare=False)
    row = await cursor.fetchone()
    assert row is not None
    n_rows, *n_values = (int(str(number)) for number in row)
    printed = {field.key for field, n in zip(fields, n_values, strict=True) if n}
    for block in await find_blocks(connection, host_id, table, window):
        n_sealed, keys = await count_in_block(connection, SealedQuery(host_id, table, window, fields), block)
        n_rows += n_sealed
        printed |= keys
    return SampleCount(n_rows, tuple(field for field in fields if field.key in printed))


async def find_printed_fields(session: AsyncSession, host_id: int, stat: StatRef, window: Window) -> Sequence[Field]:
    """Return the fields that have a value in the window, in catalogue order; exact for small windows.

    With more than ROWS_LOOKED_AT rows, rollups answer for the hours that they cover (their value may lie outside the window, on the
    same day), and the other hours are searched; if these have as many rows again, all fields of the stat are returned. So a
    returned field may have no value, but no field with a value is left out.
    """
    found = await _search_rows(session, host_id, stat, [window])
    if found is not None:
        return found
    rolled_until = await session.scalar(select(Host.rolled_until).where(Host.id == host_id))
    if rolled_until is None or rolled_until <= window.start:
        return stat.fields
    marked = await session.scalars(
        select(RollupMark.hour_at)
        .where(
            RollupMark.host_id == host_id,
            RollupMark.stat_id == stat.id,
            RollupMark.hour_at > window.start - HOUR,
            RollupMark.hour_at < min(window.end, rolled_until),
        )
        .order_by(RollupMark.hour_at)
    )
    parts: list[Window] = []
    for start, end in [*((hour, hour + HOUR) for hour in marked), (rolled_until, window.end)]:
        if parts and start == parts[-1].end:
            parts[-1] = Window(parts[-1].start, min(window.end, end))
        elif start < window.end:
            parts.append(Window(max(window.start, start), min(window.end, end)))
    raw = await _search_rows(session, host_id, stat, parts)
    if raw is None:
        return stat.fields
    connection = await driver_of(session)
    cursor = await connection.execute(
        load_sql("rolled_fields"),
        {
            "host_id": host_id,
            "stat_id": stat.id,
            "keys": [field.key for field in stat.fields],
            "start": window.start,
            "end": min(window.end, rolled_until),
            "levels": [FRESH.number, MINUTES.number],
            "lengths": [timedelta(microseconds=FRESH.block_us), timedelta(microseconds=MINUTES.block_us)],
        },
        prepare=False,
    )
    known = {field.key for field in raw} | {str(key) for (key,) in await cursor.fetchall()}
    return [field for field in stat.fields if field.key in known]


async def _search_rows(session: AsyncSession, host_id: int, stat: StatRef, windows: Sequence[Window]) -> list[Field] | None:
    """Return the fields with a value in the windows. Missing: None where there are too many rows to search."""
    connection = await driver_of(session)
    n_left = ROWS_LOOKED_AT
    found: set[str] = set()
    keys = [sql.Identifier(field.key) for field in stat.fields]
    shown = [sql.SQL("{} AS {}").format(stored_sql(field, "t"), key) for field, key in zip(stat.fields, keys, strict=True)]
    counts = [sql.SQL("count(*)"), *(sql.SQL("count({})").format(key) for key in keys)]
    statement = load_sql("printed_fields").format(
        counts=sql.SQL(", ").join(counts), columns=sql.SQL(", ").join([sql.SQL("time"), *shown]), table=table_of(stat.name)
    )
    for window in windows:
        bounds = {"host_id": host_id, "start": window.start, "end": window.end, "n_rows": n_left}
        cursor = await connection.execute(statement, bounds, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        n_rows, *n_values = (int(str(number)) for number in row)
        found |= {field.key for field, n in zip(stat.fields, n_values, strict=True) if n}
        n_left -= n_rows
        for block in await find_blocks(connection, host_id, stat.name, window) if n_left > 0 else ():
            n_sealed, own = await count_in_block(connection, SealedQuery(host_id, stat.name, window, stat.fields), block)
            found |= own
            n_left -= n_sealed
            if n_left <= 0:
                break
        if n_left <= 0:
            return None
    return [field for field in stat.fields if field.key in found]
