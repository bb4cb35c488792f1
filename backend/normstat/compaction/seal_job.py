"""Seal the samples of past days: rows of a stat of a host become one block, in one transaction.

A transaction sees one state of the database, and deletes what it read: rows that arrive meanwhile stay rows, and another
change of the same rows or block makes it start again later. So a kill leaves rows or a block, never both and never neither.
Late samples of a time that is sealed stay rows beside the block until their turn comes, when the block is made again.
"""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
import structlog
from psycopg import sql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.codecs.sealed_codec import SealedField, SealedRows
from normstat.compaction.instance_packing import pack_instances
from normstat.db.hypertables import EmptyParts, allow_large_changes, packs_by_itself, read_storage
from normstat.db.schema.job_models import JobKind
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.jobs.periodic import recorded
from normstat.samples.lookup import StatRef, find_stats, list_host_stats
from normstat.samples.rollups.rollup_job import leave_out_next_day
from normstat.samples.rollups.rollup_rows import MINUTE_US, try_lock
from normstat.samples.sample_pages import Page, PageQuery, find_first_row, read_hot_pages
from normstat.samples.sealed import sealed_rows
from normstat.samples.sealed.sealed_reader import joined
from normstat.samples.stat_tables import SCHEMA, table_of
from normstat.window import EPOCH, Window, begin_of_day, from_us, to_us

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# What is packed at once: some 100 MB of memory and about a second. A day of few samples is one block.
VALUES_PER_BLOCK: Final = 4_000_000
# The columns of a row besides its fields: time, instance and line.
OWN_COLUMNS: Final = 3
# Lengths of blocks, minutes: parts of a day.
LENGTHS: Final = (1440, 720, 480, 360, 240, 180, 120, 60, 30, 20, 15, 10, 5, 2, 1)
DEFAULT_DAYS: Final = 1
# A host without anything to seal is looked at again this late, for late samples.
LOOK_AGAIN_S: Final = 3600.0
# Maximum share of the time spent working: ingest and readers come first.
SHARE_WORKED: Final = 0.5
# Time until a host that another process works on is tried again.
LOCKED_S: Final = 0.1
HOSTS: Final = """
    SELECT h.id, h.name FROM hosts AS h
    WHERE NOT EXISTS (SELECT FROM host_deletions AS d WHERE d.host_id = h.id)
      AND (%(host)s::text IS NULL OR h.name = %(host)s::text)
    ORDER BY h.id
"""
HELD: Final = """
    SELECT start_at, end_at FROM sealed_blocks
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND held_until > %(now)s ORDER BY start_at
"""
COUNT_ROWS: Final = "SELECT count(*) FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s"
# The block in which an instant is, the end of the one before, and the begin of the one after.
NEIGHBOURS: Final = """
    SELECT start_at, end_at FROM sealed_blocks
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND start_at > %(at)s::timestamptz - interval '1 day'
      AND start_at < %(at)s::timestamptz + interval '1 day'
    ORDER BY start_at
"""
DELETE_ROWS: Final = "DELETE FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s"
# Another transaction changed the same rows first, or holds a lock.
RETRY: Final = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.UniqueViolation,
)


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a run did. `is_all`: nothing is left that could be sealed now; `n_failed` hosts wait for a retry."""

    n_rows: int
    is_all: bool
    n_failed: int = 0


def limit_at(now: datetime, after: timedelta) -> int:
    """Return up to when samples are sealed, microseconds: whole days (UTC) that ended at least this long ago."""
    return to_us(begin_of_day(now - after))


class Sealing:
    """Seals what is due of all hosts in turn. Remembers, in one process, which hosts have nothing left, and whose turn it is."""

    def __init__(self, sessions: Sessions, after_days: int | None) -> None:
        self._sessions = sessions
        self._is_asked = after_days is not None
        self._after = timedelta(days=DEFAULT_DAYS if after_days is None else after_days)
        self._turns: Turns[int] = Turns("sealing_failed")
        self._idle: dict[int, tuple[int, float]] = {}
        self._last: dict[int, str] = {}
        self._parts = EmptyParts()

    async def run(self, *, budget_s: float) -> None:
        """Seal what is due, for about this many seconds, and record the run as a job.

        Where TimescaleDB's columnstore packs samples, nothing is sealed unless a number of days was asked for.
        """
        if not self._is_asked:
            async with open_read_session(self._sessions) as session:
                if packs_by_itself(await read_storage(session)):
                    return
        async with recorded(self._sessions, JobKind.SEALING, unit="samples") as outcome:
            done = await self.seal(now=datetime.now(UTC), budget_s=budget_s)
            outcome.n_done = done.n_rows
            outcome.message = self._turns.tell_failures("host")
            await self._parts.drop(self._sessions, SCHEMA, before=from_us(limit_at(datetime.now(UTC), self._after)))
        if done.n_rows:
            log.debug("sealed", n_rows=done.n_rows, is_all=done.is_all)

    async def seal(self, *, now: datetime, budget_s: float, host: str | None = None, is_throttled: bool = True) -> Sealed:
        """Seal hosts in turn, a block at a time, until nothing is left or the time is over; a failing host stops no other."""
        limit_us = limit_at(now, self._after)
        ends_at = time.monotonic() + budget_s
        n_rows = 0
        async with open_read_session(self._sessions) as session:
            cursor = await (await driver_of(session)).execute(HOSTS, {"host": host})
            names = {int(str(host_id)): str(name) for host_id, name in await cursor.fetchall()}
        while True:
            n_blocks = 0
            for host_id in self._turns.order([host_id for host_id in names if not self._is_idle(host_id, limit_us)]):
                began = time.monotonic()
                made, is_left_out = None, False
                with self._turns.turn(host_id, host=names[host_id]):
                    made = await seal_next(self._sessions, host_id, limit_us, now, last=self._last)
                    if made is None:
                        is_left_out = await leave_out_next_day(self._sessions, host_id, limit_us)
                    if made is None and not is_left_out:
                        await pack_instances(self._sessions, host_id, limit_us)
                        self._idle[host_id] = (limit_us, time.monotonic())
                n_blocks += made is not None or is_left_out
                n_rows += made or 0
                if time.monotonic() > ends_at:
                    return Sealed(n_rows, is_all=False, n_failed=len(self._turns.failures))
                if made == 0:
                    await asyncio.sleep(LOCKED_S)
                elif is_throttled and (made or is_left_out):
                    await asyncio.sleep((time.monotonic() - began) * (1 / SHARE_WORKED - 1))
            if n_blocks == 0:
                return Sealed(n_rows, is_all=True, n_failed=len(self._turns.failures))

    def _is_idle(self, host_id: int, limit_us: int) -> bool:
        limit, at = self._idle.get(host_id, (0, 0.0))
        return limit == limit_us and time.monotonic() - at < LOOK_AGAIN_S


async def seal_next(
    sessions: Sessions, host_id: int, limit_us: int, now: datetime, *, last: dict[int, str] | None = None
) -> int | None:
    """Seal one block of the host, of samples before the limit; return its new rows. Missing: None when there is nothing to seal.

    0 where another process works on the host, or changed it meanwhile. `last`: the stat of each host's last block, kept by the
    caller from call to call; it is looked at first, because a stat mostly has several blocks to make.
    """
    known = {} if last is None else last
    found = None
    async with open_read_session(sessions) as session:
        connection = await driver_of(session)
        if host_id in known:
            stats = await find_stats(session, [known[host_id]])
            found, stat = await _find_due_of(connection, host_id, stats, limit_us, now)
        if found is None:
            found, stat = await _find_due_of(connection, host_id, await list_host_stats(session, host_id), limit_us, now)
    if found is None or stat is None:
        known.pop(host_id, None)
        return None
    known[host_id] = stat.name
    try:
        return await seal_block(sessions, host_id, stat, found)
    except DBAPIError as error:
        if isinstance(error.orig, RETRY):
            return 0
        raise
    except RETRY:
        return 0


async def _find_due_of(
    connection: psycopg.AsyncConnection, host_id: int, stats: Iterable[StatRef], limit_us: int, now: datetime
) -> tuple[Window | None, StatRef | None]:
    """Return the next block of the first of these stats that has one to make. Missing: None, twice, where none has"""
    for stat in stats:
        found = await _find_due(connection, host_id, stat, limit_us, now)
        if found is not None:
            return found, stat
    return None, None


async def _find_due(
    connection: psycopg.AsyncConnection, host_id: int, stat: StatRef, limit_us: int, now: datetime
) -> Window | None:
    """Return the span of the next block of the stat to make. Missing: None without a row that is due"""
    own = {"host_id": host_id, "stat_id": stat.id}
    held = await (await connection.execute(HELD, {**own, "now": now})).fetchall()
    at: datetime = EPOCH
    while True:
        first = await find_first_row(connection, stat.name, host_id, start=at, end=from_us(limit_us))
        if first is None:
            return None
        inside = next((end for start, end in held if isinstance(start, datetime) and start <= first < end), None)
        if inside is None:
            break
        assert isinstance(inside, datetime)
        at = inside
    return await _span_around(connection, host_id, stat, first)


async def _span_around(connection: psycopg.AsyncConnection, host_id: int, stat: StatRef, at: datetime) -> Window:
    """Return the span of the block in which that instant is, or of a new one that overlaps none."""
    own = {"host_id": host_id, "stat_id": stat.id}
    blocks = await (await connection.execute(NEIGHBOURS, {**own, "at": at})).fetchall()
    starts, ends = [], []
    for start, end in blocks:
        assert isinstance(start, datetime)
        assert isinstance(end, datetime)
        if start <= at < end:
            return Window(start, end)
        starts += [start] if start > at else []
        ends += [end] if end <= at else []
    # A whole day, or the longest part of it around the instant that is not too much; the day's samples may lie close together.
    length = LENGTHS[0]
    while True:
        start_us = to_us(at) // (length * MINUTE_US) * (length * MINUTE_US)
        span = Window(max([from_us(start_us), *ends]), min([from_us(start_us + length * MINUTE_US), *starts]))
        part = {"host_id": host_id, "start": span.start, "end": span.end}
        row = await (await connection.execute(sql.SQL(COUNT_ROWS).format(table=table_of(stat.name)), part)).fetchone()
        assert row is not None
        n_values = int(str(row[0])) * (len(stat.fields) + OWN_COLUMNS)
        if n_values <= VALUES_PER_BLOCK or length == LENGTHS[-1]:
            return span
        length = choose_length(n_values, length)


def choose_length(n_values: int, length: int) -> int:
    """Return a shorter length of blocks, minutes, where one of that length would have this many values."""
    shorter = LENGTHS[LENGTHS.index(length) + 1 :]
    return next((part for part in shorter if n_values * part <= VALUES_PER_BLOCK * length), LENGTHS[-1])


async def seal_block(sessions: Sessions, host_id: int, stat: StatRef, span: Window) -> int:
    """Make the rows of that span part of its block; return their number, 0 when another process works on the host."""
    async with open_write_session(sessions) as session:
        # One state from the first statement to the last: what is deleted is what was read.
        await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        connection = await driver_of(session)
        await connection.execute("SET LOCAL lock_timeout = '2s'")
        # Rollups read samples by several statements, each of which sees what is stored by then.
        if not (await sealed_rows.try_seal_lock(connection, host_id) and await try_lock(connection, host_id)):
            return 0
        # A column may have been widened since the caller looked.
        [stat] = await find_stats(session, [stat.name])
        query = PageQuery(stat.name, host_id, span, stat.fields, has_lines=True)
        fresh = [_to_rows(page, stat) async for page in read_hot_pages(session, query)]
        n_fresh = sum(len(rows) for rows in fresh)
        if not n_fresh:
            return 0
        start_us = span.start_us
        kept = await sealed_rows.read_whole(connection, host_id, stat.name, start_us)
        rows = joined([*fresh, *([] if kept is None else [kept])], stat.fields)
        await sealed_rows.write_block(connection, host_id, stat.name, start_us=start_us, end_us=span.end_us, rows=rows)
        await allow_large_changes(session)
        asked = {"host_id": host_id, "start": span.start, "end": span.end}
        deleted = await connection.execute(sql.SQL(DELETE_ROWS).format(table=table_of(stat.name)), asked)
        if deleted.rowcount != n_fresh:
            raise RuntimeError(f"{stat.name}: {n_fresh} samples sealed, but {deleted.rowcount} deleted as rows; nothing is changed")
        return n_fresh


def _to_rows(page: Page, stat: StatRef) -> SealedRows:
    fields = [SealedField(field.key, field.storage, field.decimals) for field in stat.fields]
    columns = {field.key: column for field, column in zip(fields, page.values, strict=True)}
    return SealedRows(page.time_us, page.instance_id, page.stream_id, page.line_offset, fields, columns, page.printed)
