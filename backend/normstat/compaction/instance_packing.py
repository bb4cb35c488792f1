"""Pack the instances of a host that ended, once all of their samples are sealed: adr/0043.

The names of a stat go into their slots first, where names without a pack do no harm; then, with the host locked, rows become packs,
some thousands in a transaction. A kill leaves one or the other. An instance that changed since it was read keeps its row until next
time.
"""

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.session import WriteSession, driver_of, open_read_session, open_write_session
from normstat.samples.instance_cache import LAST_STEP_US, forget_instances
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.samples.packed_instances import PackedInstance, add_names, add_packs
from normstat.samples.sample_pages import find_first_row
from normstat.samples.sealed.sealed_rows import try_seal_lock
from normstat.samples.stream_rows import lock_host_by_id
from normstat.window import EPOCH, from_us, to_us

Sessions = async_sessionmaker[AsyncSession]

# Fewer than these stay rows: most stats have some dozens of instances for ever.
MIN_PACKED: Final = 1000
# And fewer than this share of those that are packed: all slots are written again each time.
MIN_SHARE: Final = 1 / 16
# In one run; the others follow in the next one.
MAX_NAMED: Final = 500_000
# Ingest waits for about a tenth of a second while this many rows become packs.
MAX_AT_ONCE: Final = 20_000
COUNT_ENDED: Final = """
    SELECT (
        SELECT count(*) FROM instances
        WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND last_sample_at < %(before)s
    ), (
        SELECT coalesce(sum(n_instances), 0)::int8 FROM packed_instances WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s
    )
"""
READ_ENDED: Final = """
    SELECT id, name, first_sample_at, last_sample_at FROM instances
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND last_sample_at < %(before)s ORDER BY id LIMIT %(most)s
"""
DELETE_ROWS: Final = """
    DELETE FROM instances AS i
    USING unnest(%(ids)s::int8[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS ended (id, first, last)
    WHERE i.id = ended.id AND i.first_sample_at = ended.first AND i.last_sample_at = ended.last
    RETURNING i.id
"""


async def pack_instances(sessions: Sessions, host_id: int, limit_us: int, *, min_packed: int = MIN_PACKED) -> int:
    """Pack the instances of the host that ended before the limit, of stats with at least that many; return their number."""
    async with open_read_session(sessions) as session:
        stats = await list_host_stats(session, host_id)
    n_packed = 0
    for stat in stats:
        try:
            async with open_write_session(sessions) as session:
                ended = await _add_names(session, host_id, stat, limit_us, min_packed)
            for start in range(0, len(ended), MAX_AT_ONCE):
                async with open_write_session(sessions) as session:
                    n_packed += await _pack(session, stat.name, ended[start : start + MAX_AT_ONCE])
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable):
                raise
    return n_packed


async def _add_names(session: WriteSession, host_id: int, stat: StatRef, limit_us: int, min_packed: int) -> list[PackedInstance]:
    """Return the instances of a stat to pack, whose names are in their slots now. Missing: none where they are too few"""
    connection = await driver_of(session)
    key = host_id, stat.id
    before_us = await _read_limit(connection, host_id, stat.name, limit_us)
    asked = {"host_id": host_id, "stat_id": stat.id, "before": from_us(before_us), "most": MAX_NAMED}
    row = await (await connection.execute(COUNT_ENDED, asked)).fetchone()
    assert row is not None
    n_ended, n_packed = (int(str(n)) for n in row)
    if n_ended < max(min_packed, n_packed * MIN_SHARE) or not await try_seal_lock(connection, host_id):
        return []
    rows: list[tuple[Any, ...]] = await (await connection.execute(READ_ENDED, asked)).fetchall()
    ended = [PackedInstance(id_, *key, name, to_us(first), to_us(last)) for id_, name, first, last in rows]
    await add_names(connection, key, {own.id: own.name for own in ended})
    return ended


async def _pack(session: WriteSession, stat: str, ended: Sequence[PackedInstance]) -> int:
    """Make packs of the rows of instances that did not change meanwhile; return their number."""
    connection = await driver_of(session)
    host_id, stat_id = ended[0].host_id, ended[0].stat_id
    await connection.execute("SET LOCAL lock_timeout = '2s'")
    if not await try_seal_lock(connection, host_id) or await lock_host_by_id(session, host_id) is None:
        return 0
    last_us = max(own.last_us for own in ended)
    if await _read_limit(connection, host_id, stat, last_us + LAST_STEP_US + 1) <= last_us:
        # A late sample came, perhaps of one of these.
        return 0
    rows = {
        "ids": [own.id for own in ended],
        "firsts": [from_us(own.first_us) for own in ended],
        "lasts": [from_us(own.last_us) for own in ended],
    }
    gone = {int(str(id_)) for (id_,) in await (await connection.execute(DELETE_ROWS, rows)).fetchall()}
    await add_packs(connection, (host_id, stat_id), [own for own in ended if own.id in gone])
    await forget_instances(connection, host_id)
    return len(gone)


async def _read_limit(connection: psycopg.AsyncConnection, host_id: int, stat: str, limit_us: int) -> int:
    """Return before when the last sample of an instance must be for all of its samples to be sealed; its row may be behind."""
    first = await find_first_row(connection, stat, host_id, start=EPOCH, end=from_us(limit_us))
    return (limit_us if first is None else to_us(first)) - LAST_STEP_US
