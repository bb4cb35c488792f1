"""The rows of `rollups`, and which hours of a host are rolled up. rollup_codec.py defines their bodies, rollup_job.py makes them.

level 0   the minutes of an hour: hours of days that are not whole yet
level 1   the minutes of a day   } made of level 0 when the day is whole, in one transaction, so that each hour of a stat is
level 2   the hours of 32 days   } either in level 0, or in both of these
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import psycopg

from normstat.codecs.rollup_codec import Buckets, pack, unpack
from normstat.db.session import WriteSession, driver_of
from normstat.samples.host_locks import try_host_lock, wait_host_lock
from normstat.window import from_us

MINUTE_US: Final = 60_000_000
HOUR_US: Final = 60 * MINUTE_US
DAY_US: Final = 24 * HOUR_US


@dataclass(frozen=True, slots=True)
class Level:
    """Buckets of one length in blocks of one length."""

    number: int
    bucket_us: int
    block_us: int

    def block_of(self, time_us: int) -> int:
        """Return where the block of that instant begins, microseconds."""
        return time_us // self.block_us * self.block_us


FRESH: Final = Level(0, MINUTE_US, HOUR_US)
MINUTES: Final = Level(1, MINUTE_US, DAY_US)
HOURS: Final = Level(2, HOUR_US, 32 * DAY_US)

# Anything that works on the rollups of a host holds it; combined with the host's id.
ROLLUP_LOCK: Final = 0x6E6F0011
READ_BODIES: Final = """
    SELECT field_key, block_at, body FROM rollups
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND level = %(level)s AND block_at >= %(start)s AND block_at < %(end)s
    ORDER BY block_at
"""
DELETE_BODIES: Final = """
    DELETE FROM rollups
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND level = %(level)s AND block_at = ANY(%(blocks)s)
      AND (%(keys)s::text[] IS NULL OR field_key = ANY(%(keys)s::text[]))
"""
WRITE_BODY: Final = """
    INSERT INTO rollups (host_id, stat_id, level, field_key, block_at, body)
    VALUES (%(host_id)s, %(stat_id)s, %(level)s, %(key)s, %(block_at)s, %(body)s)
    ON CONFLICT (host_id, stat_id, level, field_key, block_at) DO UPDATE SET body = excluded.body
"""
READ_MARKS: Final = """
    SELECT hour_at, generation FROM rollup_marks
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND hour_at >= %(start)s AND hour_at < %(end)s
    ORDER BY hour_at
"""
LOCK_MARKS: Final = f"{READ_MARKS} FOR UPDATE"
DELETE_MARKS: Final = """
    DELETE FROM rollup_marks AS m USING unnest(%(hours)s::timestamptz[], %(generations)s::int8[]) AS done(hour_at, generation)
    WHERE m.host_id = %(host_id)s AND m.stat_id = %(stat_id)s AND m.hour_at = done.hour_at AND m.generation = done.generation
"""
ADD_MARKS: Final = """
    INSERT INTO rollup_marks (host_id, stat_id, hour_at)
    SELECT %(host_id)s, stat_id, hour_at
    FROM unnest(%(stat_ids)s::int4[], %(firsts)s::timestamptz[]) AS stat(stat_id, first_at),
      generate_series(first_at, %(end)s::timestamptz - interval '1 hour', interval '1 hour') AS passed(hour_at)
    ON CONFLICT (host_id, stat_id, hour_at) DO UPDATE SET generation = rollup_marks.generation + 1
"""
NEXT_DAY: Final = """
    SELECT stat_id, hour_at FROM rollup_marks WHERE host_id = %(host_id)s ORDER BY hour_at DESC, stat_id LIMIT 1
"""
# Hours of whole days that were not marked when the day ended: the host had stopped.
LEFT_OVER: Final = """
    SELECT stat_id, min(block_at) FROM rollups
    WHERE host_id = %(host_id)s AND stat_id = ANY(%(stat_ids)s) AND level = 0 AND block_at < %(before)s
    GROUP BY stat_id LIMIT 1
"""
# The first day of minutes in [start, before).
NEXT_MINUTES: Final = """
    SELECT min(block_at) FROM rollups
    WHERE host_id = %(host_id)s AND stat_id = ANY(%(stat_ids)s) AND level = 1 AND block_at >= %(start)s AND block_at < %(before)s
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A stat of a host: whose rollups."""

    host_id: int
    stat_id: int

    def parameters(self, **others: object) -> dict[str, object]:
        """Return the parameters of the statements."""
        return {"host_id": self.host_id, "stat_id": self.stat_id, **others}


async def try_lock(connection: psycopg.AsyncConnection, host_id: int) -> bool:
    """Lock the host's rollups until the transaction ends; return False when another process holds the lock."""
    return await try_host_lock(connection, ROLLUP_LOCK, host_id)


async def read_marks(
    connection: psycopg.AsyncConnection, place: Place, start_us: int, end_us: int, *, for_update: bool = False
) -> dict[int, int]:
    """Return generations of the marked hours in [start, end), by the hour's begin."""
    span = place.parameters(start=from_us(start_us), end=from_us(end_us))
    cursor = await connection.execute(LOCK_MARKS if for_update else READ_MARKS, span)
    return {_to_us(hour_at): int(str(generation)) for hour_at, generation in await cursor.fetchall()}


async def delete_marks(connection: psycopg.AsyncConnection, place: Place, done: Mapping[int, int]) -> None:
    """Delete the marks of these hours that were not set again, that is, whose generation is unchanged.

    The last statement of a transaction, because ingest waits for it.
    """
    if not done:
        return
    # In the lock order of the code that sets them.
    await read_marks(connection, place, min(done), max(done) + 1, for_update=True)
    values = {"hours": [from_us(hour) for hour in done], "generations": list(done.values())}
    await connection.execute(DELETE_MARKS, place.parameters(**values))


async def read_bodies(
    connection: psycopg.AsyncConnection, place: Place, level: Level, start_us: int, end_us: int
) -> dict[str, list[tuple[int, bytes]]]:
    """Return the bodies of the blocks that begin in [start, end): by field, where each begins and what it holds."""
    span = place.parameters(level=level.number, start=from_us(start_us), end=from_us(end_us))
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(READ_BODIES, span)
        bodies: dict[str, list[tuple[int, bytes]]] = {}
        async for key, block_at, body in cursor:
            assert isinstance(body, bytes)
            bodies.setdefault(str(key), []).append((_to_us(block_at), body))
    return bodies


async def delete_bodies(
    connection: psycopg.AsyncConnection, place: Place, level: Level, blocks_us: Iterable[int], keys: Sequence[str] | None = None
) -> None:
    """Delete the blocks that begin there, of these fields or of all."""
    blocks = [from_us(block) for block in blocks_us]
    await connection.execute(DELETE_BODIES, place.parameters(level=level.number, blocks=blocks, keys=keys))


async def write_bodies(
    connection: psycopg.AsyncConnection, place: Place, level: Level, bodies: Iterable[tuple[str, int, bytes]]
) -> None:
    """Write field, start and body of blocks, replacing existing ones."""
    rows = [place.parameters(level=level.number, key=key, block_at=from_us(block_us), body=body) for key, block_us, body in bodies]
    if rows:
        async with connection.cursor() as cursor:
            await cursor.executemany(WRITE_BODY, rows)


def pack_block(level: Level, block_us: int, buckets: Buckets, decimals: int) -> bytes:
    """Return the body of a block of that level."""
    return pack(buckets, first_bucket=block_us // level.bucket_us, decimals=decimals)


async def find_marked_day(connection: psycopg.AsyncConnection, host_id: int) -> tuple[int, int] | None:
    """Return the stat and a moment of its newest day with a mark. Missing: None without marks."""
    row = await (await connection.execute(NEXT_DAY, {"host_id": host_id})).fetchone()
    return None if row is None else (int(str(row[0])), _to_us(row[1]))


async def find_left_over_day(
    connection: psycopg.AsyncConnection, host_id: int, stat_ids: Sequence[int], before_us: int
) -> tuple[int, int] | None:
    """Return a stat and a moment of a whole day that is still in hours' blocks. Missing: None without one."""
    values = {"host_id": host_id, "stat_ids": list(stat_ids), "before": from_us(before_us)}
    row = await (await connection.execute(LEFT_OVER, values)).fetchone()
    return None if row is None else (int(str(row[0])), _to_us(row[1]))


async def find_day(
    connection: psycopg.AsyncConnection, host_id: int, stat_ids: Sequence[int], start_us: int, before_us: int
) -> int | None:
    """Return the first day from `start` on, and before another instant, with blocks of minutes. Missing: None without one."""
    values = {"host_id": host_id, "stat_ids": list(stat_ids), "start": from_us(start_us), "before": from_us(before_us)}
    row = await (await connection.execute(NEXT_MINUTES, values)).fetchone()
    return None if row is None or row[0] is None else _to_us(row[0])


async def add_marks(connection: psycopg.AsyncConnection, host_id: int, firsts_us: Mapping[int, int], end_us: int) -> None:
    """Mark the hours up to `end`, for each stat from its first one on."""
    values = {
        "host_id": host_id,
        "stat_ids": list(firsts_us),
        "firsts": [from_us(first) for first in firsts_us.values()],
        "end": from_us(end_us),
    }
    await connection.execute(ADD_MARKS, values)


FORGET: Final = (
    "DELETE FROM rollups WHERE host_id = %(host_id)s",
    "DELETE FROM rollup_marks WHERE host_id = %(host_id)s",
    "UPDATE hosts SET rolled_until = NULL WHERE id = %(host_id)s AND rolled_until IS NOT NULL",
)
FORGET_BEFORE: Final = """
    DELETE FROM rollups WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND level = %(level)s AND block_at < %(before)s
"""
READ_DECIMALS: Final = "SELECT (definition ->> 'decimals')::int4 FROM stat_fields WHERE stat_id = %(stat_id)s AND key = %(key)s"
FORGET_MARKS_BEFORE: Final = """
    DELETE FROM rollup_marks WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND hour_at < %(before)s
"""


async def wait_lock(session: WriteSession, host_id: int) -> None:
    """Wait for the lock of the host's rollups, held until the transaction ends. Take it before the lock on its row."""
    await wait_host_lock(await driver_of(session), ROLLUP_LOCK, host_id)


async def forget_rollups(session: WriteSession, host_id: int) -> None:
    """Drop all rollups of the host; the job rebuilds them. Until then everything is drawn from the samples."""
    connection = await driver_of(session)
    await wait_lock(session, host_id)
    await connection.execute("SELECT 1 FROM hosts WHERE id = %(host_id)s FOR NO KEY UPDATE", {"host_id": host_id})
    for statement in FORGET:
        await connection.execute(statement, {"host_id": host_id})


async def forget_rollups_before(session: WriteSession, place: Place, before: datetime) -> None:
    """Drop what is older than `before`, the begin of a day (UTC), of a stat whose older samples are gone; needs `wait_lock`."""
    connection = await driver_of(session)
    before_us = _to_us(before)
    for level in (FRESH, MINUTES):
        await connection.execute(FORGET_BEFORE, place.parameters(level=level.number, before=before))
    # The block that the day is in holds younger hours, too.
    block_us = HOURS.block_of(before_us)
    await connection.execute(FORGET_BEFORE, place.parameters(level=HOURS.number, before=from_us(block_us)))
    for key, blocks in (await read_bodies(connection, place, HOURS, block_us, block_us + 1)).items():
        buckets = unpack(blocks[0][1], first_bucket=block_us // HOUR_US)
        left = buckets.take(buckets.bucket >= before_us // HOUR_US)
        if not len(left):
            await delete_bodies(connection, place, HOURS, [block_us], [key])
        elif len(left) < len(buckets):
            body = pack_block(HOURS, block_us, left, await _read_decimals(connection, place, key))
            await write_bodies(connection, place, HOURS, [(key, block_us, body)])
    await connection.execute(FORGET_MARKS_BEFORE, place.parameters(before=before))


async def _read_decimals(connection: psycopg.AsyncConnection, place: Place, key: str) -> int:
    row = await (await connection.execute(READ_DECIMALS, {"stat_id": place.stat_id, "key": key})).fetchone()
    return 0 if row is None else int(str(row[0]))


def _to_us(value: object) -> int:
    assert isinstance(value, datetime)
    return round(value.timestamp()) * 1_000_000
