"""Keep the rollups of each host current, as if they had just been computed from its samples.

    pass_on      with the host locked, moves `rolled_until` on, marking the hours that it passes
    roll_day     processes the marks of a day of a stat: reads its samples, writes its blocks, deletes the marks, in one transaction

A marked hour is drawn from its samples, so graphs are correct before, during and after the rollup. Samples that
change meanwhile raise the mark's generation; then the mark stays, and the hour is done again. A kill leaves nothing half done.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.codecs.rollup_codec import Buckets, leave_out, merge, unpack
from normstat.db.connecting import is_citus
from normstat.db.schema.job_models import JobKind
from normstat.db.session import WriteSession, driver_of, open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.jobs.periodic import recorded
from normstat.samples.lookup import StatRef, list_host_stats, list_stats
from normstat.samples.rollups import rollup_rows
from normstat.samples.rollups.minutes_of_samples import read_minutes
from normstat.samples.rollups.rollup_rows import DAY_US, FRESH, HOUR_US, HOURS, MINUTES, Level, Place
from normstat.samples.sample_pages import PageQuery, find_first_row
from normstat.samples.sealed.sealed_rows import find_blocks
from normstat.window import Window, from_us, to_us

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# An hour is rolled up this long after its end: later samples cost a mark, and the hour is done again.
DELAY: Final = timedelta(minutes=10)
# Ingest waits for the host's row no longer than this for us.
LOCK_WAIT: Final = "SET LOCAL lock_timeout = '2s'"
HOSTS_TO_DO: Final = """
    SELECT h.id, h.name FROM hosts AS h
    WHERE NOT EXISTS (SELECT FROM host_deletions AS d WHERE d.host_id = h.id)
      AND (%(host)s::text IS NULL OR h.name = %(host)s::text)
      AND (h.rolled_until < %(limit)s
           OR h.rolled_until IS NULL
              AND (EXISTS (SELECT FROM instances AS i WHERE i.host_id = h.id AND i.first_sample_at < %(limit)s)
                   OR EXISTS (SELECT FROM packed_instances AS p WHERE p.host_id = h.id))
           OR EXISTS (SELECT FROM rollup_marks AS m WHERE m.host_id = h.id))
    ORDER BY h.id
"""
# On a cluster marks are on workers, and each statement is of one kind of table.
HOSTS_WITH_MARKS: Final = "SELECT DISTINCT host_id FROM rollup_marks"
HOSTS_OF_CLUSTER: Final = HOSTS_TO_DO.replace(
    "EXISTS (SELECT FROM rollup_marks AS m WHERE m.host_id = h.id)", "h.id = ANY(%(marked)s::int8[])"
)
LOCK_HOST: Final = """
    SELECT rolled_until, CASE WHEN rolled_until IS NULL THEN
        least((SELECT min(i.first_sample_at) FROM instances AS i WHERE i.host_id = h.id),
            (SELECT min(p.first_at) FROM packed_instances AS p WHERE p.host_id = h.id)) END
    FROM hosts AS h WHERE id = %(host_id)s FOR NO KEY UPDATE OF h
"""
READ_UNTIL: Final = "SELECT rolled_until FROM hosts WHERE id = %(host_id)s"
READ_LEFT_OUT_UNTIL: Final = "SELECT minutes_left_out_until FROM hosts WHERE id = %(host_id)s"
LEAVE_OUT_UNTIL: Final = "UPDATE hosts SET minutes_left_out_until = %(until)s WHERE id = %(host_id)s"
MOVE_ON: Final = "UPDATE hosts SET rolled_until = %(until)s WHERE id = %(host_id)s"


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a run. `is_all`: nothing is left that could be rolled up now; `n_failed` hosts wait for a retry."""

    n_hours: int
    is_all: bool
    n_failed: int = 0


def limit_at(now: datetime) -> int:
    """Return the latest end of rollups, microseconds."""
    return to_us(now.astimezone(UTC) - DELAY) // HOUR_US * HOUR_US


async def run_rollups(sessions: Sessions, *, budget_s: float, turns: Turns[int]) -> None:
    """Roll up what is due, for about this many seconds, and record the run as a job."""
    async with recorded(sessions, JobKind.ROLLUP, unit="hours") as outcome:
        done = await roll_up(sessions, now=datetime.now(UTC), budget_s=budget_s, turns=turns)
        outcome.n_done = done.n_hours
        outcome.message = turns.tell_failures("host")
    if done.n_hours:
        log.debug("rolled_up", n_hours=done.n_hours, is_all=done.is_all)


async def roll_up(
    sessions: Sessions, *, now: datetime, budget_s: float, host: str | None = None, turns: Turns[int] | None = None
) -> Done:
    """Roll up the hosts in turn, a day of a stat at a time, until nothing is left or the time is over.

    A failing host does not stop the others. `turns` keep the order of hosts from one run to the next.
    """
    turns = Turns("rollup_failed") if turns is None else turns
    limit_us = limit_at(now)
    ends_at = time.monotonic() + budget_s
    n_hours = 0
    while True:
        async with open_read_session(sessions) as session:
            names = await _find_hosts(await driver_of(session), {"limit": from_us(limit_us), "host": host})
        n_steps = 0
        for host_id in turns.order(list(names)):
            step = None
            with turns.turn(host_id, host=names[host_id]):
                step = await _step(sessions, host_id, limit_us)
            n_steps += step is not None
            n_hours += step or 0
            if time.monotonic() > ends_at:
                return Done(n_hours, is_all=False, n_failed=len(turns.failures))
        if n_steps == 0:
            return Done(n_hours, is_all=True, n_failed=len(turns.failures))


async def _find_hosts(connection: psycopg.AsyncConnection, asked: dict[str, object]) -> dict[int, str]:
    """Return the names of the hosts that have something to do, by id."""
    statement = HOSTS_TO_DO
    if is_citus():
        cursor = await connection.execute(HOSTS_WITH_MARKS)
        statement = HOSTS_OF_CLUSTER
        asked = {**asked, "marked": [int(str(host_id)) for (host_id,) in await cursor.fetchall()]}
    cursor = await connection.execute(statement, asked)
    return {int(str(host_id)): str(name) for host_id, name in await cursor.fetchall()}


async def _step(sessions: Sessions, host_id: int, limit_us: int) -> int | None:
    """Return the next piece of a host's work: hours done. Missing: None when there was nothing, or another process works on the
    host.
    """
    async with open_read_session(sessions) as session:
        connection = await driver_of(session)
        found = await rollup_rows.find_marked_day(connection, host_id)
        if found is None:
            stats = [stat.id for stat in await list_host_stats(session, host_id)]
            until = await _read_until(connection, host_id)
            found = await rollup_rows.find_left_over_day(connection, host_id, stats, _day_of(until)) if until is not None else None
    if found is not None:
        return await roll_day(sessions, Place(host_id, found[0]), _day_of(found[1]))
    return 0 if await pass_on(sessions, host_id, limit_us) else None


async def pass_on(sessions: Sessions, host_id: int, limit_us: int) -> bool:
    """Move `rolled_until` on by a day at most, marking the hours that may have samples; False when it is where it can be."""
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        if not await rollup_rows.try_lock(connection, host_id):
            return False
        await connection.execute(LOCK_WAIT)
        try:
            row = await (await connection.execute(LOCK_HOST, {"host_id": host_id})).fetchone()
        except psycopg.errors.LockNotAvailable:
            await session.rollback()
            return False
        until, first = row or (None, None)
        begin = until or first
        if not isinstance(begin, datetime):
            return False
        start_us = to_us(begin) // HOUR_US * HOUR_US
        if start_us >= limit_us:
            return False
        stats = await list_host_stats(session, host_id)
        firsts = {stat.id: start_us for stat in stats}
        if limit_us - start_us > HOUR_US:
            firsts = await _find_firsts(connection, host_id, stats, start_us, limit_us)
        end_us = min(limit_us, _day_of(min(firsts.values(), default=limit_us)) + DAY_US)
        own = {stat_id: first_us for stat_id, first_us in firsts.items() if first_us < end_us}
        if own:
            await rollup_rows.add_marks(connection, host_id, own, end_us)
        await connection.execute(MOVE_ON, {"host_id": host_id, "until": from_us(end_us)})
        return True


async def _find_firsts(
    connection: psycopg.AsyncConnection, host_id: int, stats: Sequence[StatRef], start_us: int, limit_us: int
) -> dict[int, int]:
    """Return the first hour from `start` on in which each stat has a sample; those without any are left out."""
    found = {}
    for stat in stats:
        row = await find_first_row(connection, stat.name, host_id, start=from_us(start_us), end=from_us(limit_us))
        firsts = [] if row is None else [to_us(row)]
        blocks = await find_blocks(connection, host_id, stat.name, Window(from_us(start_us), from_us(limit_us)))
        # Of a block that began earlier, the first sample may be before `start`: that hour is looked at for nothing.
        firsts += [max(start_us, block.first_us) for block in blocks[:1]]
        if firsts:
            found[stat.id] = min(firsts) // HOUR_US * HOUR_US
    return found


async def _read_until(connection: psycopg.AsyncConnection, host_id: int, statement: str = READ_UNTIL) -> int | None:
    row = await (await connection.execute(statement, {"host_id": host_id})).fetchone()
    return to_us(row[0]) if row is not None and isinstance(row[0], datetime) else None


async def roll_day(sessions: Sessions, place: Place, day_us: int) -> int | None:
    """Roll up the marked hours of a day: how many. Missing: None when another process works on the host."""
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        if not await rollup_rows.try_lock(connection, place.host_id):
            return None
        marks = await rollup_rows.read_marks(connection, place, day_us, day_us + DAY_US)
        until_us = await _read_until(connection, place.host_id)
        if until_us is None:
            # Nothing is rolled up, so nothing can be out of date.
            await rollup_rows.delete_marks(connection, place, marks)
            return 0
        stat = next((stat for stat in await list_stats(session) if stat.id == place.stat_id), None)
        made: dict[str, list[tuple[int, Buckets]]] = {}
        left_out_until_us = await _read_until(connection, place.host_id, READ_LEFT_OUT_UNTIL)
        is_left_out = left_out_until_us is not None and day_us < left_out_until_us
        # Where minutes of the day were left out, the stored body lacks them: all its hours are computed again.
        hours_us = range(day_us, day_us + DAY_US, HOUR_US) if is_left_out else sorted(marks)
        for hour_us in hours_us:
            for key, buckets in (await _read_hour(session, stat, place.host_id, hour_us) if stat else {}).items():
                made.setdefault(key, []).append((hour_us, buckets))
        decimals = {field.key: field.decimals for field in stat.fields} if stat else {}
        if day_us + DAY_US <= until_us:
            day = Day(day_us, frozenset(hours_us), is_left_out)
            await _write_day(connection, place, day, made=made, decimals=decimals)
        else:
            await rollup_rows.delete_bodies(connection, place, FRESH, marks)
            bodies = [
                (key, hour_us, rollup_rows.pack_block(FRESH, hour_us, buckets, decimals[key]))
                for key, hours in made.items()
                for hour_us, buckets in hours
            ]
            await rollup_rows.write_bodies(connection, place, FRESH, bodies)
        await rollup_rows.delete_marks(connection, place, marks)
        return len(marks)


async def _write_day(
    connection: psycopg.AsyncConnection,
    place: Place,
    day: "Day",
    *,
    made: Mapping[str, Sequence[tuple[int, Buckets]]],
    decimals: Mapping[str, int],
) -> None:
    """Write a whole day into the blocks of days and of 32 days: its existing hours, with these ones computed again."""
    day_us, day_end_us = day.start_us, day.start_us + DAY_US
    kept_fresh = await rollup_rows.read_bodies(connection, place, FRESH, day_us, day_end_us)
    kept_days = await rollup_rows.read_bodies(connection, place, MINUTES, day_us, day_us + 1)
    month_us = HOURS.block_of(day_us)
    months = await rollup_rows.read_bodies(connection, place, HOURS, month_us, month_us + 1)
    keys = sorted({*made, *kept_fresh, *kept_days})
    for key in keys:
        kept = [(MINUTES, *block) for block in kept_days.get(key, [])] + [(FRESH, *block) for block in kept_fresh.get(key, [])]
        new = [buckets for _, buckets in made.get(key, [])]
        month = months.get(key, [])
        minutes, hours = await anyio.to_thread.run_sync(day.pack, kept, new, month, decimals.get(key, 0))
        for level, block_us, body in ((MINUTES, day_us, minutes), (HOURS, month_us, hours)):
            if body is None:
                await rollup_rows.delete_bodies(connection, place, level, [block_us], [key])
            else:
                await rollup_rows.write_bodies(connection, place, level, [(key, block_us, body)])
    await rollup_rows.delete_bodies(connection, place, FRESH, range(day_us, day_end_us, HOUR_US))


@dataclass(frozen=True, slots=True)
class Day:
    """A complete day, some hours of which are computed again. `is_left_out`: all of them, and minutes that its samples tell are
    left to these.
    """

    start_us: int
    new_hours_us: frozenset[int]
    is_left_out: bool

    def pack(
        self, kept: Sequence[tuple[Level, int, bytes]], new: Sequence[Buckets], month: Sequence[tuple[int, bytes]], decimals: int
    ) -> tuple[bytes | None, bytes | None]:
        """Return the bodies of its minutes, and of the 32 days with its hours in them. Missing: None where nothing is left."""
        new_hours = np.array(sorted(self.new_hours_us), dtype=np.int64) // HOUR_US
        parts = []
        for level, block_us, body in [] if self.is_left_out else kept:
            old = unpack(body, first_bucket=block_us // level.bucket_us)
            parts.append(old.take(~np.isin(old.bucket // 60, new_hours)))
        minutes = merge([*parts, *new])
        first_hour = self.start_us // HOUR_US
        others = []
        for block_us, body in month:
            old = unpack(body, first_bucket=block_us // HOUR_US)
            others.append(old.take((old.bucket < first_hour) | (old.bucket >= first_hour + 24)))
        hours = merge([*others, merge([minutes], factor=60)])
        packed = rollup_rows.pack_block(MINUTES, self.start_us, minutes, decimals) if len(minutes) else None
        if packed is not None and self.is_left_out:
            packed = leave_out(packed) or packed
        return (
            packed,
            rollup_rows.pack_block(HOURS, HOURS.block_of(self.start_us), hours, decimals) if len(hours) else None,
        )


async def _read_hour(session: WriteSession, stat: StatRef, host_id: int, hour_us: int) -> dict[str, Buckets]:
    """Return the minutes of an hour, for each field that has a value in it."""
    query = PageQuery(stat.name, host_id, Window(from_us(hour_us), from_us(hour_us + HOUR_US)), stat.fields)
    return await read_minutes(session, query)


async def leave_out_next_day(sessions: Sessions, host_id: int, before_us: int) -> bool:
    """Leave the minutes of the host's next day to its samples where these are as few. Return False where none is left before then.

    For samples that are sealed: to read some instances out of rows takes as long as to read all.
    """
    async with open_write_session(sessions) as session:
        connection = await driver_of(session)
        if not await rollup_rows.try_lock(connection, host_id):
            return False
        stats = [stat.id for stat in await list_host_stats(session, host_id)]
        until_us = await _read_until(connection, host_id, READ_LEFT_OUT_UNTIL)
        day_us = await rollup_rows.find_day(connection, host_id, stats, until_us or 0, before_us)
        if day_us is None:
            return False
        for stat_id in stats:
            place = Place(host_id, stat_id)
            for key, [(_, body)] in (await rollup_rows.read_bodies(connection, place, MINUTES, day_us, day_us + 1)).items():
                left = await anyio.to_thread.run_sync(leave_out, body)
                if left is not None:
                    await rollup_rows.write_bodies(connection, place, MINUTES, [(key, day_us, left)])
        await connection.execute(LEAVE_OUT_UNTIL, {"host_id": host_id, "until": from_us(day_us + DAY_US)})
        return True


def _day_of(time_us: int) -> int:
    return time_us // DAY_US * DAY_US
