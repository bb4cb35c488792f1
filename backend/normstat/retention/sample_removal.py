"""Deletes samples of one host, by pieces of time: each piece is a short transaction that holds up no others."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.hypertables import allow_large_changes, read_delete_step
from normstat.db.session import WriteSession, driver_of, open_write_session
from normstat.samples.sealed.sealed_rows import delete_before, wait_seal_lock
from normstat.samples.stat_tables import END_OF_TIME, table_of, time_bound
from normstat.window import EPOCH

# Runs in the transaction of the deletion, with the number of deleted rows.
NoteDeleted = Callable[[WriteSession, int], Awaitable[None]]

FIRST_TIME: Final = "SELECT min(time) FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < {end}"
DELETE_ROWS: Final = "DELETE FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < {end}"


async def delete_samples(
    sessions: async_sessionmaker[AsyncSession], stat: str, host_id: int, *, before: datetime | None, note: NoteDeleted
) -> None:
    """Delete the host's samples of the stat that are older than `before` (None: all), sealed or not."""
    is_more = True
    while is_more:
        async with open_write_session(sessions) as session:
            connection = await driver_of(session)
            await wait_seal_lock(connection, host_id)
            n_rows = await delete_before(connection, host_id, stat, before)
            is_more = n_rows is not None
            if n_rows:
                await note(session, n_rows)
    end = before or END_OF_TIME
    cursor: datetime | None = datetime.min.replace(tzinfo=UTC)
    while cursor is not None:
        async with open_write_session(sessions) as session:
            cursor = await _delete_piece(session, stat, host_id, start=cursor, end=end, note=note)


async def _delete_piece(
    session: WriteSession, stat: str, host_id: int, *, start: datetime, end: datetime, note: NoteDeleted
) -> datetime | None:
    """Delete the next piece that has rows; give where the one after it begins, or None behind the last."""
    connection = await driver_of(session)
    table = table_of(stat)
    places = {"host_id": host_id, "start": start}
    found = await (await connection.execute(sql.SQL(FIRST_TIME).format(table=table, end=time_bound(end)), places)).fetchone()
    first = None if found is None else found[0]
    if first is None:
        return None
    assert isinstance(first, datetime)
    step = await read_delete_step(session)
    floor = first - (first - EPOCH) % step
    piece_end = end if end - floor <= step else floor + step
    await allow_large_changes(session)
    done = await connection.execute(
        sql.SQL(DELETE_ROWS).format(table=table, end=time_bound(piece_end)), {"host_id": host_id, "start": first}
    )
    await note(session, done.rowcount)
    return None if piece_end == END_OF_TIME else piece_end
