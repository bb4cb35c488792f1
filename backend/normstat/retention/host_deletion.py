"""Delete a host with all of its data: hidden at once, removed from the disk in the background.

The request renames the host's row, so that its name is free for a new host; it revokes the tokens that are bound to the host and
stops its jobs. The rest is deleted stat by stat and hour by hour, each in a short transaction. Every step may be repeated, so
that the next worker begins again after a process that died.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.orm import InstrumentedAttribute

from normstat.baselines.baseline_versions import forget_host, lock_baselines
from normstat.db.distribution import on_shard
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import ProfilePiece
from normstat.db.schema.job_models import OPEN_STATES, Job, JobKind, JobState
from normstat.db.schema.models import (
    AgentToken,
    Chunk,
    Host,
    Instance,
    PackedChunk,
    PackedInstances,
    PackedInstanceSlot,
    Rollup,
    RollupMark,
    StatTable,
    StoredRejectedLine,
    Stream,
)
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.db.schema.sealed_models import SealedBlockRow
from normstat.db.session import WriteSession, open_write_session
from normstat.errors import NotFound, shorten
from normstat.jobs.claims import Claim
from normstat.records.event_rows import forget_host_events
from normstat.retention.sample_removal import delete_samples
from normstat.runtime.field_docs import Documented

log = structlog.get_logger()

BATCH_ROWS: Final = 2000
MAX_LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class HostDeletion(Documented):
    """A host that is being deleted, or was."""

    job_id: int
    host: str
    state: JobState
    message: str
    n_samples: int
    """Deleted so far."""

    requested_by: str
    requested_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class HostDeletionList(Documented):
    """The newest deletions of hosts, newest first; at most 100."""

    deletions: list[HostDeletion]


async def request_deletion(session: AsyncSession, name: str, *, requested_by: str) -> HostDeletion:
    """Hide the host and queue the deletion of its data; return the deletion.

    Raises: NotFound
    """
    await lock_baselines(session)
    host = await session.scalar(select(Host).where(Host.name == name).with_for_update())
    if host is None:
        raise NotFound(f"There is no host {shorten(name)}", {"host": name})
    # No agent can send under a name with a blank.
    host.name = f"deleted {host.id}"
    await session.flush()
    # Without the host's id: the job outlives the host.
    job = Job(kind=JobKind.DELETION, target=name, unit="samples", asked_by=requested_by)
    session.add(HostDeletionRow(host_id=host.id, host=name, job=job))
    await session.execute(
        update(AgentToken).where(AgentToken.host_id == host.id, AgentToken.revoked_at.is_(None)).values(revoked_at=func.now())
    )
    await forget_host(session, host.id, name, made_by=requested_by)
    await forget_host_events(session, host.id)
    stopped = {"state": JobState.STOPPED, "message": "the host was deleted", "finished_at": func.now(), "next_try_at": None}
    await session.execute(update(Job).where(Job.host_id == host.id, Job.state.in_(OPEN_STATES)).values(stopped))
    await session.flush()
    log.info("host_deletion_requested", host=name, host_id=host.id, by=requested_by)
    return await read_deletion(session, job.id)


async def read_deletion(session: AsyncSession, job_id: int) -> HostDeletion:
    """Return the deletion of a job as it is now."""
    query = select(HostDeletionRow).where(HostDeletionRow.job_id == job_id)
    return _to_deletion((await session.scalars(query, execution_options={"populate_existing": True})).one())


async def list_deletions(session: AsyncSession) -> HostDeletionList:
    """Return the newest deletions."""
    query = select(HostDeletionRow).order_by(HostDeletionRow.job_id.desc()).limit(MAX_LISTED)
    return HostDeletionList([_to_deletion(row) for row in await session.scalars(query)])


async def delete_host(sessions: async_sessionmaker[AsyncSession], claim: Claim) -> None:
    """Delete all that is left of the host.

    Raises: JobStopped
    """
    async with open_write_session(sessions) as session:
        host_id = (await session.scalars(select(HostDeletionRow.host_id).where(HostDeletionRow.job_id == claim.id))).one()
        of_host = (
            select(Instance.stat_id)
            .where(Instance.host_id == host_id)
            .union(select(PackedInstances.stat_id).where(PackedInstances.host_id == host_id))
        )
        stats = (await session.execute(select(StatTable.id, StatTable.name).where(StatTable.id.in_(of_host)))).all()

    async def note(session: WriteSession, n_samples: int) -> None:
        await claim.report(session, n_done=Job.n_done + n_samples)

    for stat_id, name in stats:
        await delete_samples(sessions, name, host_id, before=None, note=note)
        # After the samples: as long as there are instances, readers look for samples of them.
        of_stat = (Instance.host_id == host_id) & (Instance.stat_id == stat_id)
        while await _delete_some(sessions, Instance.id, of_stat):
            pass
        async with open_write_session(sessions) as session:
            for model in (PackedInstances, PackedInstanceSlot):
                await session.execute(delete(model).where(model.host_id == host_id, model.stat_id == stat_id))
    for stream_id in await _stream_ids(sessions, host_id):
        for column, of_stream in (
            (Chunk.start_offset, and_(Chunk.stream_id == stream_id, *on_shard(host_id))),
            (PackedChunk.start_offset, and_(PackedChunk.stream_id == stream_id, *on_shard(host_id))),
            (StoredRejectedLine.id, StoredRejectedLine.stream_id == stream_id),
        ):
            while await _delete_some(sessions, column, of_stream):
                pass
        async with open_write_session(sessions) as session:
            await session.execute(delete(Stream).where(Stream.id == stream_id))
    async with open_write_session(sessions) as session:
        await session.execute(delete(Rollup).where(Rollup.host_id == host_id))
        await session.execute(delete(RollupMark).where(RollupMark.host_id == host_id))
        await session.execute(delete(SealedBlockRow).where(SealedBlockRow.host_id == host_id))
        # On a cluster no foreign key does it.
        await session.execute(delete(ProfilePiece).where(ProfilePiece.host_id == host_id))
        await session.execute(delete(Host).where(Host.id == host_id))
        await claim.finish(session)
        deletion = await read_deletion(session, claim.id)
    log.info("host_deleted", host=deletion.host, host_id=host_id, n_samples=deletion.n_samples)


async def _stream_ids(sessions: async_sessionmaker[AsyncSession], host_id: int) -> list[int]:
    async with open_write_session(sessions) as session:
        return list(await session.scalars(select(Stream.id).where(Stream.host_id == host_id).order_by(Stream.id)))


async def _delete_some(
    sessions: async_sessionmaker[AsyncSession], column: InstrumentedAttribute[int], condition: ColumnElement[bool]
) -> bool:
    """Delete a batch of the rows; whether there may be more. The column tells those apart that the condition holds for."""
    async with open_write_session(sessions) as session:
        # Named one by one: with a subquery in its place PostgreSQL takes one plan for all sizes, and a quadratic one.
        batch = list(await session.scalars(select(column).where(condition).limit(BATCH_ROWS)))
        await session.execute(delete(column.class_).where(condition, column.in_(batch)))
        return len(batch) == BATCH_ROWS


def _to_deletion(row: HostDeletionRow) -> HostDeletion:
    job = row.job
    return to_record(
        HostDeletion,
        row,
        state=JobState(job.state),
        message=job.message,
        n_samples=job.n_done,
        requested_by=job.asked_by,
        requested_at=job.queued_at,
        finished_at=job.finished_at,
    )
