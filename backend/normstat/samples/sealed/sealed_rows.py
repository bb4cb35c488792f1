"""The rows of `sealed_blocks`: which blocks there are, parts of them, and changes of whole blocks.

Code that moves samples between rows and blocks, or removes samples of either, holds the seal lock of the host. Readers need none:
they see one state of the database.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg

from normstat.codecs.sealed_codec import DAMAGE, Directory, Part, SealedRows, pack, read_head, unpack
from normstat.db.connecting import is_citus
from normstat.db.unreadable import UNREADABLE
from normstat.errors import DamagedSamples
from normstat.runtime.metrics import DAMAGED_BLOCKS
from normstat.samples.host_locks import try_host_lock, wait_host_lock
from normstat.stats.records import Int64Array
from normstat.window import Window, from_us, to_us

# With the number of the host.
SEAL_LOCK: Final = 0x6E6F0012
# No block is longer than a day.
FIND: Final = """
    SELECT b.start_at, b.end_at, b.n_rows, b.first_at, b.last_at
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = %(host_id)s AND s.name = %(stat)s
      AND b.start_at > %(start)s::timestamptz - interval '1 day' AND b.start_at < %(end)s
      AND b.last_at >= %(start)s AND b.first_at < %(end)s AND b.n_rows > 0
    ORDER BY b.start_at
"""
# One lookup in the key for each host, however many blocks there are.
SEALED_HOSTS: Final = """
    SELECT h.id FROM unnest(%(host_ids)s::int4[]) AS h (id) CROSS JOIN (SELECT id FROM stats WHERE name = %(stat)s) AS s
    WHERE EXISTS (
        SELECT FROM sealed_blocks AS b
        WHERE b.host_id = h.id AND b.stat_id = s.id
          AND b.start_at > %(start)s::timestamptz - interval '1 day' AND b.start_at < %(end)s
          AND b.last_at >= %(start)s AND b.first_at < %(end)s AND b.n_rows > 0
    )
"""
# On a cluster, where a subquery cannot refer to what a function returns.
SEALED_HOSTS_OF_CLUSTER: Final = """
    SELECT DISTINCT b.host_id FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = ANY (%(host_ids)s::int4[]) AND s.name = %(stat)s
      AND b.start_at > %(start)s::timestamptz - interval '1 day' AND b.start_at < %(end)s
      AND b.last_at >= %(start)s AND b.first_at < %(end)s AND b.n_rows > 0
"""
# Not for a cluster, as above.
SEALED_WINDOWS: Final = """
    SELECT w.number::int4
    FROM unnest(%(host_ids)s::int4[], %(stats)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
        WITH ORDINALITY AS w (host_id, stat, start_at, end_at, number)
    JOIN stats AS s ON s.name = w.stat
    WHERE EXISTS (
        SELECT FROM sealed_blocks AS b
        WHERE b.host_id = w.host_id AND b.stat_id = s.id
          AND b.start_at > w.start_at - interval '1 day' AND b.start_at < w.end_at
          AND b.last_at >= w.start_at AND b.first_at < w.end_at AND b.n_rows > 0
    )
"""
# The blocks of many hosts at once, with the bodies of small ones.
READ_OF_HOSTS: Final = """
    SELECT b.host_id, b.start_at, b.end_at, b.n_rows, b.first_at, b.last_at, b.head,
        CASE WHEN octet_length(b.body) <= %(n_bytes)s THEN b.body END
    FROM sealed_blocks AS b
    WHERE b.host_id = ANY (%(host_ids)s::int4[]) AND b.stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
      AND b.start_at > %(start)s::timestamptz - interval '1 day' AND b.start_at < %(end)s
      AND b.last_at >= %(start)s AND b.first_at < %(end)s AND b.n_rows > 0
    ORDER BY b.host_id, b.start_at
"""
READ: Final = """
    SELECT b.head, CASE WHEN octet_length(b.body) <= %(n_bytes)s THEN b.body END
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = %(host_id)s AND s.name = %(stat)s AND b.start_at = %(start)s
"""
READ_PARTS: Final = """
    SELECT substring(b.body FROM p.first FOR p.size)
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    CROSS JOIN unnest(%(firsts)s::int4[], %(sizes)s::int4[]) WITH ORDINALITY AS p (first, size, number)
    WHERE b.host_id = %(host_id)s AND s.name = %(stat)s AND b.start_at = %(start)s
    ORDER BY p.number
"""
READ_BEGINNINGS: Final = """
    SELECT b.head, substring(b.body FROM 1 FOR %(n_bytes)s)
    FROM sealed_blocks AS b
    WHERE b.host_id = %(host_id)s AND b.stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
      AND b.start_at = ANY (%(starts)s::timestamptz[])
    ORDER BY b.start_at
"""
WRITE: Final = """
    INSERT INTO sealed_blocks (
        host_id, stat_id, start_at, end_at, n_rows, n_values, first_at, last_at, stream_ids, made_at, held_until, head, body
    )
    SELECT %(host_id)s, id, %(start)s, %(end)s, %(n_rows)s, %(n_values)s, %(first)s, %(last)s, %(stream_ids)s::int4[],
        clock_timestamp(), NULL, %(head)s, %(body)s
    FROM stats WHERE name = %(stat)s
    ON CONFLICT (host_id, stat_id, start_at) DO UPDATE SET
        end_at = excluded.end_at, n_rows = excluded.n_rows, n_values = excluded.n_values, first_at = excluded.first_at,
        last_at = excluded.last_at, stream_ids = excluded.stream_ids, made_at = excluded.made_at, held_until = NULL,
        head = excluded.head, body = excluded.body
"""
HOLD: Final = """
    UPDATE sealed_blocks SET
        n_rows = 0, n_values = 0, stream_ids = '{}', made_at = clock_timestamp(), held_until = %(until)s, head = '', body = ''
    WHERE host_id = %(host_id)s AND start_at = %(start)s AND stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
"""
# Citus takes no volatile function in an update; the time of the transaction tells blocks apart as well.
HOLD_ON_CLUSTER: Final = HOLD.replace("clock_timestamp()", "now()")
DELETE: Final = """
    DELETE FROM sealed_blocks
    WHERE host_id = %(host_id)s AND start_at = %(start)s AND stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
"""
OF_STREAM: Final = """
    SELECT s.name, b.start_at, b.end_at
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = %(host_id)s AND b.stream_ids @> ARRAY[%(stream_id)s::int4]
    ORDER BY s.name, b.start_at
"""
NAMED: Final = """
    SELECT h.name, b.end_at, b.n_rows
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id JOIN hosts AS h ON h.id = b.host_id
    WHERE b.host_id = %(host_id)s AND s.name = %(stat)s AND b.start_at = %(start)s
"""
LEAVE: Final = """
    UPDATE sealed_blocks SET stream_ids = array_remove(stream_ids, %(stream_id)s::int4)
    WHERE host_id = %(host_id)s AND start_at = %(start)s AND stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
"""
DELETE_LEFT: Final = """
    DELETE FROM sealed_blocks
    WHERE host_id = %(host_id)s AND start_at = %(start)s AND stat_id = (SELECT id FROM stats WHERE name = %(stat)s)
      AND stream_ids = '{}'
"""
OLDEST: Final = """
    SELECT b.start_at, b.end_at, b.n_rows
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE b.host_id = %(host_id)s AND s.name = %(stat)s
      AND (%(before)s::timestamptz IS NULL OR b.end_at <= %(before)s::timestamptz
           OR b.n_rows > 0 AND b.first_at < %(before)s::timestamptz)
    ORDER BY b.start_at LIMIT 1
"""
# Bodies up to this size are read whole: one round trip instead of two.
WHOLE_UP_TO: Final = 128 * 1024
# The first part of a body, which says when its rows are, is rarely longer: some hundred bytes where reports come at regular times.
BEGINNING_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """A block with samples: its span, [start, end), and those of its rows."""

    start_us: int
    end_us: int
    n_rows: int
    first_us: int
    last_us: int


async def try_seal_lock(connection: psycopg.AsyncConnection, host_id: int) -> bool:
    """Take the seal lock of the host until the transaction ends; return False when another process holds the lock."""
    return await try_host_lock(connection, SEAL_LOCK, host_id)


async def wait_seal_lock(connection: psycopg.AsyncConnection, host_id: int) -> None:
    """Wait for the seal lock of the host, held until the transaction ends."""
    await wait_host_lock(connection, SEAL_LOCK, host_id)


async def find_blocks(connection: psycopg.AsyncConnection, host_id: int, stat: str, window: Window) -> list[BlockSpan]:
    """Return the blocks with samples in the window, in the order of time."""
    asked = {"host_id": host_id, "stat": stat, "start": window.start, "end": window.end}
    cursor = await connection.execute(FIND, asked, prepare=False)
    return [
        BlockSpan(_us(start), _us(end), int(str(n_rows)), _us(first), _us(last))
        for start, end, n_rows, first, last in await cursor.fetchall()
    ]


async def list_sealed_hosts(connection: psycopg.AsyncConnection, host_ids: Iterable[int], stat: str, window: Window) -> set[int]:
    """Return those of the hosts that have sealed samples of the stat in the window."""
    asked = {"host_ids": list(host_ids), "stat": stat, "start": window.start, "end": window.end}
    # A lookup in the key for each host, whatever the window: to plan it again for each stat takes fifteen times as long.
    cursor = await connection.execute(SEALED_HOSTS_OF_CLUSTER if is_citus() else SEALED_HOSTS, asked, prepare=not is_citus())
    return {int(str(host_id)) for (host_id,) in await cursor.fetchall()}


async def find_sealed_windows(connection: psycopg.AsyncConnection, windows: Sequence[tuple[int, str, Window]]) -> set[int]:
    """Return the positions of windows, each of a host's id and a stat, that have sealed samples. Not on a cluster."""
    asked = {
        "host_ids": [host_id for host_id, _, _ in windows],
        "stats": [stat for _, stat, _ in windows],
        "starts": [window.start for _, _, window in windows],
        "ends": [window.end for _, _, window in windows],
    }
    # Prepared, it would be dropped with the end of the transaction, by one more statement.
    cursor = await connection.execute(SEALED_WINDOWS, asked, prepare=False)
    return {int(str(number)) - 1 for (number,) in await cursor.fetchall()}


@asynccontextmanager
async def reading_block(connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int) -> AsyncIterator[None]:
    """Name the block of samples in errors of reading it within the `with` block.

    Raises: DamagedSamples
    """
    try:
        yield
    except UNREADABLE as error:
        # Its transaction is over: nothing more can be asked.
        DAMAGED_BLOCKS.inc()
        raise DamagedSamples(
            f"Sealed samples of host number {host_id}, {stat}, from {from_us(start_us):%Y-%m-%dT%H:%M:%SZ} cannot be read:"
            f" {str(error).splitlines()[0]}. normstat storage check lists all damage, and how to repair it",
            {"stat": stat, "start": f"{from_us(start_us):%Y-%m-%dT%H:%M:%SZ}"},
        ) from error
    except DAMAGE as error:
        asked = {"host_id": host_id, "stat": stat, "start": from_us(start_us)}
        row = await (await connection.execute(NAMED, asked)).fetchone()
        host, end, n_rows = ("?", from_us(start_us), 0) if row is None else row
        DAMAGED_BLOCKS.inc()
        raise DamagedSamples(
            f"{n_rows:,} sealed samples of {host}, {stat}, from {from_us(start_us):%Y-%m-%dT%H:%M:%SZ} to {end:%Y-%m-%dT%H:%M:%SZ}"
            f" cannot be read: {error}. Make them again from the raw text: normstat reparse --host {host}. Or restore a backup",
            {"host": str(host), "stat": stat, "start": f"{from_us(start_us):%Y-%m-%dT%H:%M:%SZ}", "n_samples": int(str(n_rows))},
        ) from error


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block with samples that was read already: its head, and its body where that is small."""

    span: BlockSpan
    head: bytes
    body: bytes | None


async def read_blocks_of_hosts(
    connection: psycopg.AsyncConnection, host_ids: Sequence[int], stat: str, window: Window
) -> dict[int, list[FoundBlock]]:
    """Return the blocks with samples of the stat in the window, by host, in the order of time: one query."""
    asked = {"host_ids": list(host_ids), "stat": stat, "start": window.start, "end": window.end, "n_bytes": WHOLE_UP_TO}
    found: dict[int, list[FoundBlock]] = {}
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(READ_OF_HOSTS, asked, prepare=False)
        for host_id, start, end, n_rows, first, last, head, body in await cursor.fetchall():
            span = BlockSpan(_us(start), _us(end), int(str(n_rows)), _us(first), _us(last))
            found.setdefault(int(str(host_id)), []).append(FoundBlock(span, head, body))
    return found


async def read_directory(
    connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int
) -> tuple[Directory, bytes | None]:
    """Return the directory of a block, and its body where that is small."""
    asked = {"host_id": host_id, "stat": stat, "start": from_us(start_us), "n_bytes": WHOLE_UP_TO}
    async with connection.cursor(binary=True) as cursor:
        row = await (await cursor.execute(READ, asked)).fetchone()
    assert row is not None
    head, body = row
    assert isinstance(head, bytes)
    return read_head(head), body if isinstance(body, bytes) else None


async def read_beginnings(
    connection: psycopg.AsyncConnection, host_id: int, stat: str, starts_us: Sequence[int]
) -> list[tuple[bytes, bytes]]:
    """Return the heads of blocks, in the order of time, and the first BEGINNING_BYTES of their bodies: one query."""
    asked = {"host_id": host_id, "stat": stat, "starts": [from_us(start) for start in starts_us], "n_bytes": BEGINNING_BYTES}
    async with connection.cursor(binary=True) as cursor:
        rows = await (await cursor.execute(READ_BEGINNINGS, asked)).fetchall()
    return [(head, body) for head, body in rows if isinstance(head, bytes) and isinstance(body, bytes)]


async def read_parts(
    connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int, parts: Sequence[Part]
) -> list[bytes]:
    """Return parts of a body, neighbours of which are read together."""
    runs: list[Part] = []
    for part in sorted({part for part in parts if part.start < part.end}, key=lambda part: part.start):
        if runs and runs[-1].end == part.start:
            runs[-1] = Part(runs[-1].start, part.end)
        else:
            runs.append(part)
    asked = {
        "host_id": host_id,
        "stat": stat,
        "start": from_us(start_us),
        "firsts": [run.start + 1 for run in runs],
        "sizes": [run.end - run.start for run in runs],
    }
    async with connection.cursor(binary=True) as cursor:
        cells = await (await cursor.execute(READ_PARTS, asked)).fetchall() if runs else []
    found = dict(zip(runs, (cell for (cell,) in cells), strict=True))
    return [_cut(found, part) for part in parts]


def _cut(runs: dict[Part, object], part: Part) -> bytes:
    for run, data in runs.items():
        if run.start <= part.start and part.end <= run.end:
            assert isinstance(data, bytes)
            return data[part.start - run.start : part.end - run.start]
    return b""


async def read_whole(connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int) -> SealedRows | None:
    """Return all rows of a block. Missing: None where there is none, or an unsealed one

    Raises: DamagedSamples
    """
    asked = {"host_id": host_id, "stat": stat, "start": from_us(start_us), "n_bytes": 2**31 - 1}
    async with connection.cursor(binary=True) as cursor:
        row = await (await cursor.execute(READ, asked)).fetchone()
    if row is None or not row[0]:
        return None
    head, body = row
    assert isinstance(head, bytes)
    assert isinstance(body, bytes)
    async with reading_block(connection, host_id, stat, start_us):
        return await anyio.to_thread.run_sync(unpack, head, body)


async def write_block(
    connection: psycopg.AsyncConnection, host_id: int, stat: str, *, start_us: int, end_us: int, rows: SealedRows
) -> None:
    """Write the block of that span, in place of one that begins there; deletes it where no row is left."""
    if not len(rows):
        await delete_block(connection, host_id, stat, start_us)
        return
    head, body = await anyio.to_thread.run_sync(pack, rows)
    values = {
        "host_id": host_id,
        "stat": stat,
        "start": from_us(start_us),
        "end": from_us(end_us),
        "n_rows": len(rows),
        "n_values": sum(read_head(head).n_values),
        "first": from_us(int(rows.time_us.min())),
        "last": from_us(int(rows.time_us.max())),
        "stream_ids": sorted(set(rows.stream_id.tolist())),
        "head": head,
        "body": body,
    }
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(WRITE, values)


async def hold_block(connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int, until: datetime) -> None:
    """Empty a block whose samples are rows again, and keep them rows until then."""
    statement = HOLD_ON_CLUSTER if is_citus() else HOLD
    await connection.execute(statement, {"host_id": host_id, "stat": stat, "start": from_us(start_us), "until": until})


async def delete_block(connection: psycopg.AsyncConnection, host_id: int, stat: str, start_us: int) -> None:
    """Delete the block that begins there, if any."""
    await connection.execute(DELETE, {"host_id": host_id, "stat": stat, "start": from_us(start_us)})


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """Samples that are gone from a block. Shape: instance_id, time_us (n,) int64

    `span`: that of a damaged block, whose samples are otherwise unknown
    """

    stat: str
    instance_id: Int64Array
    time_us: Int64Array
    span: Window | None = None


async def delete_stream(connection: psycopg.AsyncConnection, host_id: int, stream_id: int) -> list[RemovedRows]:
    """Delete the sealed samples of a stream, block by block. Needs the seal lock.

    A damaged block goes with the last of its streams: until then, reading it raises an error.
    """
    cursor = await connection.execute(OF_STREAM, {"host_id": host_id, "stream_id": stream_id})
    removed = []
    for name, start, end in await cursor.fetchall():
        stat, start_us = str(name), _us(start)
        try:
            rows = await read_whole(connection, host_id, stat, start_us)
        except DamagedSamples:
            asked = {"host_id": host_id, "stat": stat, "start": start, "stream_id": stream_id}
            await connection.execute(LEAVE, asked)
            await connection.execute(DELETE_LEFT, asked)
            nothing = np.empty(0, np.int64)
            removed.append(RemovedRows(stat, nothing, nothing, Window(from_us(start_us), from_us(_us(end)))))
            continue
        if rows is None:
            continue
        is_gone = rows.stream_id == stream_id
        removed.append(RemovedRows(stat, rows.instance_id[is_gone], rows.time_us[is_gone]))
        await write_block(connection, host_id, stat, start_us=start_us, end_us=_us(end), rows=rows.take(~is_gone))
    return removed


async def delete_before(connection: psycopg.AsyncConnection, host_id: int, stat: str, before: datetime | None) -> int | None:
    """Delete the samples of the oldest block that has some before that instant (None: of the oldest block); return how many.

    Needs the seal lock. Missing: None when no block has any
    """
    asked = {"host_id": host_id, "stat": stat, "before": before}
    row = await (await connection.execute(OLDEST, asked)).fetchone()
    if row is None:
        return None
    start_us, end_us, n_rows = _us(row[0]), _us(row[1]), int(str(row[2]))
    if before is None or end_us <= to_us(before):
        await delete_block(connection, host_id, stat, start_us)
        return n_rows
    rows = await read_whole(connection, host_id, stat, start_us)
    assert rows is not None
    is_kept = rows.time_us >= to_us(before)
    await write_block(connection, host_id, stat, start_us=start_us, end_us=end_us, rows=rows.take(is_kept))
    return int(len(rows) - is_kept.sum())


def _us(value: object) -> int:
    assert isinstance(value, datetime)
    return to_us(value)
