"""Removes samples and raw bytes that the rules of retention do not keep any longer, with all that rests on them.

Samples go chunk by chunk of a hypertable, or hour by hour of a host where rows are deleted; raw bytes some hundred chunks of a
stream at a time. Each piece is a short transaction; what it removed is counted in it. After a process died, the next one
begins again, and finds the rest.
"""

from datetime import datetime, timedelta
from typing import Final

import psycopg
import structlog
from psycopg import sql
from sqlalchemy import and_, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.hypertables import drop_oldest_part
from normstat.db.schema.models import Instance, PackedInstances, StatTable, Stream
from normstat.db.schema.retention_models import RetentionMark
from normstat.db.session import WriteSession, driver_of, open_write_session
from normstat.db.turns import Failures
from normstat.jobs.claims import Claim
from normstat.retention import retention_rules
from normstat.retention.chunk_removal import remove_chunks
from normstat.retention.result_removal import remove_results
from normstat.retention.retention_rules import Removed, RetentionRun, Rules
from normstat.retention.sample_removal import delete_samples
from normstat.samples.instance_cache import LAST_STEP, forget_instances
from normstat.samples.packed_instances import remove_ended
from normstat.samples.profile_marks import forget_profiles_before
from normstat.samples.rollups import rollup_rows
from normstat.samples.rollups.rollup_rows import Place
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.samples.sealed.sealed_rows import wait_seal_lock
from normstat.samples.stat_tables import SCHEMA, table_of
from normstat.samples.stream_rows import lock_host_by_id, set_time_limits
from normstat.window import Window

log = structlog.get_logger()
Sessions = async_sessionmaker[AsyncSession]

LOCK_TIMEOUT_S: Final = 10
# Failures that the message of a run names; the log has them all.
MAX_NAMED: Final = 20
STATEMENT_TIMEOUT_S: Final = 600
# Where the first sample that is left of an instance is looked for: most have one at once, the others tomorrow.
LOOK_AHEAD: Final = (timedelta(minutes=10), timedelta(hours=3), timedelta(days=1))
FIRST_SAMPLES: Final = """
    SELECT instance_id, min(time)
    FROM {table} AS t
    WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s AND instance_id = ANY(%(ids)s::int8[])
    GROUP BY instance_id
"""
SET_FIRST: Final = """
    UPDATE instances SET first_sample_at = seen.first
    FROM unnest(%(ids)s::int8[], %(firsts)s::timestamptz[]) AS seen(id, first)
    WHERE instances.id = seen.id
"""
FIRST_OF_STREAMS: Final = """
    SELECT stream_id, min(time)
    FROM {table} AS t
    WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s AND stream_id = ANY(%(ids)s::int8[])
    GROUP BY stream_id
"""


async def apply_rules(sessions: Sessions, claim: Claim, *, now: datetime) -> RetentionRun:
    """Remove what the rules no longer keep at `now`. A stat that fails stops none of the others.

    Raises: JobStopped
    """
    async with open_write_session(sessions) as session:
        run_id = await retention_rules.find_run(session, claim.id)
        rules = Rules(await retention_rules.read_rules(session), now)
        stats = (await session.execute(select(StatTable.id, StatTable.name).order_by(StatTable.name))).all()
    failures = Failures("retention_failed")
    starts: dict[str, datetime] = {}
    for number, (stat_id, name) in enumerate(stats):
        async with open_write_session(sessions) as session:
            await claim.report(session, n_done=number, n_total=len(stats))
        before = rules.samples_from(name)
        if before is None:
            continue
        n_before = len(failures.lines)
        with failures.keep(name):
            await _Removal(sessions, run_id, stat_id, name, before).work(failures)
        if len(failures.lines) == n_before:
            # Where old samples are left, streams must not look as if there were none: backups go by that.
            starts[name] = before
    with failures.keep("streams"):
        await _narrow_streams(sessions, starts, failures)
    with failures.keep("raw bytes"):
        await remove_chunks(sessions, run_id, rules, failures)
    with failures.keep("results"):
        await remove_results(sessions, run_id, rules, failures)
    async with open_write_session(sessions) as session:
        n_more = len(failures.lines) - MAX_NAMED
        message = "; ".join(failures.lines[:MAX_NAMED]) + (f"; and {n_more} more" if n_more > 0 else "")
        await claim.report(session, n_done=len(stats), n_total=len(stats))
        await (claim.fail(session, message) if message else claim.finish(session))
        record = await retention_rules.read_run(session, run_id)
    log.info(
        "retention_ended",
        run=run_id,
        state=record.state,
        n_samples=record.n_samples,
        n_instances=record.n_instances,
        n_chunks=record.n_chunks,
        n_chunk_bytes=record.n_chunk_bytes,
        n_results=record.n_results,
    )
    return record


class _Removal:
    """The samples of one stat that are older than `before`, with instances and rollups."""

    def __init__(self, sessions: Sessions, run_id: int, stat_id: int, name: str, before: datetime) -> None:
        self._sessions = sessions
        self._run_id = run_id
        self._stat_id = stat_id
        self._name = name
        self._before = before

    async def work(self, failures: Failures) -> None:
        """Remove them. A host that fails stops none of the others, and keep its samples until the next run."""
        while await self._drop_part():
            pass
        async with open_write_session(self._sessions) as session:
            old = select(Instance.host_id).where(Instance.stat_id == self._stat_id, Instance.first_sample_at < self._before)
            of_packs = PackedInstances.stat_id == self._stat_id, PackedInstances.first_at < self._before
            host_ids = sorted(await session.scalars(old.union(select(PackedInstances.host_id).where(*of_packs))))
        for host_id in host_ids:
            with failures.keep(f"{self._name} of host {host_id}"):
                await delete_samples(self._sessions, self._name, host_id, before=self._before, note=self._note)
                async with open_write_session(self._sessions) as session:
                    await self._settle(session, host_id)
        if host_ids:
            async with open_write_session(self._sessions) as session:
                values = {"kept_from": self._before, "marked_at": func.now()}
                put = insert(RetentionMark).values(stat=self._name, **values)
                await session.execute(put.on_conflict_do_update(index_elements=["stat"], set_=values))

    async def _drop_part(self) -> bool:
        async with open_write_session(self._sessions) as session:
            await set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
            n_rows = await drop_oldest_part(session, SCHEMA, self._name, self._before)
            if n_rows is not None:
                await self._note(session, n_rows)
            return n_rows is not None

    async def _note(self, session: WriteSession, n_rows: int) -> None:
        await retention_rules.note_removed(session, self._run_id, Removed(n_samples=n_rows))

    async def _settle(self, session: WriteSession, host_id: int) -> None:
        """Make instances and rollups fit what is left. Ingest waits meanwhile: it notes new samples in the same rows."""
        await set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
        await wait_seal_lock(await driver_of(session), host_id)
        await rollup_rows.wait_lock(session, host_id)
        if await lock_host_by_id(session, host_id) is None:
            return
        connection = await driver_of(session)
        await forget_profiles_before(connection, host_id, self._stat_id, self._before)
        # What came since then, for a time that long ago, goes tomorrow, and so do instances and rollups.
        late = sql.SQL("SELECT FROM {table} WHERE host_id = %s AND time < %s LIMIT 1").format(table=table_of(self._name))
        if await (await connection.execute(late, [host_id, self._before])).fetchone() is not None:
            return
        of_stat = (Instance.host_id == host_id) & (Instance.stat_id == self._stat_id)
        # What is stored of the last sample may be behind.
        ended = Instance.last_sample_at < self._before - LAST_STEP
        n_packed = await remove_ended(
            connection, (host_id, self._stat_id), before=self._before, ended_before=self._before - LAST_STEP
        )
        gone = await session.scalars(delete(Instance).where(of_stat, ended).returning(Instance.id))
        await forget_instances(connection, host_id)
        await retention_rules.note_removed(session, self._run_id, Removed(n_instances=n_packed + len(gone.all())))
        await self._narrow_instances(session, connection, host_id)
        await rollup_rows.forget_rollups_before(session, Place(host_id, self._stat_id), self._before)

    async def _narrow_instances(self, session: WriteSession, connection: psycopg.AsyncConnection, host_id: int) -> None:
        of_stat = (Instance.host_id == host_id) & (Instance.stat_id == self._stat_id)
        ids = list(await session.scalars(select(Instance.id).where(of_stat, Instance.first_sample_at < self._before)))
        firsts = await _find_firsts(connection, FIRST_SAMPLES, self._name, host_id, ids=ids, start=self._before)
        if firsts:
            await connection.execute(SET_FIRST, {"ids": list(firsts), "firsts": list(firsts.values())})


async def _find_firsts(
    connection: psycopg.AsyncConnection, statement: str, stat: str, host_id: int, *, ids: list[int], start: datetime
) -> dict[int, datetime]:
    """Return the first sample from `start` on of each of those that have one soon. Needs the seal lock."""
    found: dict[int, datetime] = {}
    for ahead in LOOK_AHEAD:
        left = [id_ for id_ in ids if id_ not in found]
        if not left:
            break
        source = await open_source(connection, SealedQuery(host_id, stat, Window(start, start + ahead), has_lines=True))
        places = {"host_id": host_id, "start": start, "end": start + ahead, "ids": left, **source.parameters}
        cursor = await connection.execute(sql.SQL(statement).format(table=source.table), places)
        for id_, first in await cursor.fetchall():
            assert isinstance(first, datetime)
            found[int(str(id_))] = first
    return found


async def _narrow_streams(sessions: Sessions, starts: dict[str, datetime], failures: Failures) -> None:
    """Make the streams' first samples fit what is left; `starts` are the instants before which samples of stats went."""
    if not starts:
        return
    async with open_write_session(sessions) as session:
        # For streams without recorded stats, from very old versions, it is unknown what may have been removed.
        is_known = func.cardinality(Stream.stat_names) > 0
        has_old = and_(is_known, Stream.stat_names.contained_by(list(starts)), Stream.first_sample_at < max(starts.values()))
        host_ids = list(await session.scalars(select(Stream.host_id).where(has_old).distinct().order_by(Stream.host_id)))
    for host_id in host_ids:
        with failures.keep(f"streams of host {host_id}"):
            async with open_write_session(sessions) as session:
                await set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
                await wait_seal_lock(await driver_of(session), host_id)
                if await lock_host_by_id(session, host_id) is not None:
                    streams = await session.scalars(select(Stream).where(Stream.host_id == host_id, has_old))
                    await _narrow_streams_of(session, host_id, list(streams), starts)


async def _narrow_streams_of(session: WriteSession, host_id: int, streams: list[Stream], starts: dict[str, datetime]) -> None:
    connection = await driver_of(session)
    firsts: dict[str, dict[int, datetime]] = {}
    for name in sorted({name for stream in streams for name in stream.stat_names}):
        ids = [stream.id for stream in streams if name in stream.stat_names]
        firsts[name] = await _find_firsts(connection, FIRST_OF_STREAMS, name, host_id, ids=ids, start=starts[name])
    for stream in streams:
        oldest = min(starts[name] for name in stream.stat_names)
        if stream.last_sample_at is not None and stream.last_sample_at < oldest:
            stream.first_sample_at = stream.last_sample_at = None
            stream.stat_names = []
            continue
        found = [firsts[name][stream.id] for name in stream.stat_names if stream.id in firsts[name]]
        # Of a stat without a sample so far the first one may come right behind.
        unseen = [starts[name] + LOOK_AHEAD[-1] for name in stream.stat_names if stream.id not in firsts[name]]
        if found and min(found) <= min(unseen, default=min(found)):
            stream.first_sample_at = min(found)
