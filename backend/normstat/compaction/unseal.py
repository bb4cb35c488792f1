"""Turn sealed samples of a window back into rows, for people's own SQL, or before a downgrade."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
import numpy.typing as npt
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.codecs.sealed_codec import SealedRows, find_missing
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.runtime.arrays import distinct_values
from normstat.samples.binary_arrays import POSTGRES_EPOCH_US
from normstat.samples.lookup import find_stats
from normstat.samples.packed_instances import restore_instances
from normstat.samples.rollups.rollup_rows import wait_lock
from normstat.samples.samples import WIRE_TYPES, copy_rows, encode_wire
from normstat.samples.sealed import sealed_rows
from normstat.samples.sealed.sealed_reader import joined
from normstat.samples.stat_tables import StoredStat, read_stored_stats
from normstat.samples.stream_rows import lock_host_by_id
from normstat.stats.spec import Field
from normstat.window import Window, to_us

Sessions = async_sessionmaker[AsyncSession]
OF_HOST = """
    SELECT s.name, b.start_at FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = %(host_id)s AND b.n_rows > 0 AND (%(stats)s::text[] IS NULL OR s.name = ANY(%(stats)s::text[]))
      AND (%(start)s::timestamptz IS NULL OR b.last_at >= %(start)s::timestamptz)
      AND (%(end)s::timestamptz IS NULL OR b.first_at < %(end)s::timestamptz)
    ORDER BY s.name, b.start_at
"""
RELEASE: Final = """
    UPDATE sealed_blocks SET held_until = NULL
    WHERE held_until IS NOT NULL AND (%(host_id)s::int4 IS NULL OR host_id = %(host_id)s::int4)
"""


@dataclass(frozen=True, slots=True)
class Unsealed:
    """What was unsealed."""

    n_blocks: int
    n_rows: int


async def unseal(
    sessions: Sessions,
    host_id: int,
    *,
    window: Window | None = None,
    stats: Sequence[str] | None = None,
    until: datetime,
) -> Unsealed:
    """Make the sealed samples of a host in the window (None: all) rows again, until then; whole blocks, one transaction each.

    `stats`: None for all
    """
    asked = {
        "host_id": host_id,
        "stats": None if stats is None else list(stats),
        "start": None if window is None else window.start,
        "end": None if window is None else window.end,
    }
    async with open_read_session(sessions) as session:
        found = await (await (await driver_of(session)).execute(OF_HOST, asked)).fetchall()
    n_rows = 0
    for name, start in found:
        assert isinstance(start, datetime)
        n_rows += await _unseal_block(sessions, host_id, str(name), start, until)
    return Unsealed(len(found), n_rows)


async def list_host_ids(session: AsyncSession) -> list[int]:
    """Return the hosts with sealed samples."""
    cursor = await (await driver_of(session)).execute("SELECT DISTINCT host_id FROM sealed_blocks WHERE n_rows > 0 ORDER BY 1")
    return [int(str(host_id)) for (host_id,) in await cursor.fetchall()]


async def release(sessions: Sessions, host_id: int | None) -> int:
    """Let what was unsealed be sealed again from now on, of one host or of all; return how many blocks."""
    async with open_write_session(sessions) as session:
        cursor = await (await driver_of(session)).execute(RELEASE, {"host_id": host_id})
        return cursor.rowcount


async def _unseal_block(sessions: Sessions, host_id: int, stat: str, start: datetime, until: datetime) -> int:
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        await sealed_rows.wait_seal_lock(connection, host_id)
        await wait_lock(session, host_id)
        start_us = to_us(start)
        rows = await sealed_rows.read_whole(connection, host_id, stat, start_us)
        if rows is None:
            return 0
        stored = (await read_stored_stats(session, [stat]))[stat]
        [ref] = await find_stats(session, [stat])
        await copy_sealed(connection, stored, ref.fields, host_id, rows)
        await sealed_rows.hold_block(connection, host_id, stat, start_us, until)
        # Last, because ingest waits for the host's row.
        await lock_host_by_id(session, host_id)
        await restore_instances(connection, distinct_values(rows.instance_id).tolist())
        return len(rows)


ROWS_AT_ONCE: Final = 50_000


async def copy_sealed(
    connection: psycopg.AsyncConnection, stored: StoredStat, fields: Sequence[Field], host_id: int, rows: SealedRows
) -> None:
    """Write the rows to the stat's table, in the columns that its fields have by now."""
    whole = await anyio.to_thread.run_sync(joined, [rows], fields)
    for start in range(0, len(whole), ROWS_AT_ONCE):
        part = whole.take(np.arange(start, min(len(whole), start + ROWS_AT_ONCE)))
        data = await anyio.to_thread.run_sync(_encode, part, fields, host_id)
        await copy_rows(connection, stored.table, [stored.columns[field.key].name for field in fields], [data])


def _encode(rows: SealedRows, fields: Sequence[Field], host_id: int) -> bytes | memoryview:
    columns: list[tuple[str, npt.NDArray[np.generic] | int]] = [
        (">i8", rows.time_us - POSTGRES_EPOCH_US),
        (">i4", host_id),
        (">i4", rows.instance_id),
        (">i4", rows.stream_id),
        (">i8", rows.line_offset),
        *((WIRE_TYPES[field.storage], rows.columns[field.key]) for field in fields),
    ]
    missing = [find_missing(rows.columns[field.key]) for field in fields]
    return encode_wire(len(rows), columns, missing, rows.printed)
