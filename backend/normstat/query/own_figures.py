"""What normstat knows without samples: how long hosts have been silent, its jobs and its disk."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.storage.schema.job_models import Job, JobState
from normstat.storage.schema.models import Host
from normstat.storage.schema.retention_models import HostDeletionRow
from normstat.storage.storage_sizes import read_disk


@dataclass(frozen=True, slots=True)
class SeenHost:
    """A host whose agent has sent, and when it did last."""

    id: int
    name: str
    tags: tuple[str, ...]
    last_seen_at: datetime


async def list_seen_hosts(session: AsyncSession) -> list[SeenHost]:
    """Return the hosts that an agent has sent from, by id; those that were only imported are never silent."""
    query = select(Host.id, Host.name, Host.tags, Host.agent_tags, Host.last_seen_at).where(
        Host.last_seen_at.is_not(None), Host.id.not_in(select(HostDeletionRow.host_id))
    )
    rows = await session.execute(query.order_by(Host.id))
    return [SeenHost(id_, name, (*tags, *own), seen) for id_, name, tags, own, seen in rows if seen is not None]


async def read_server_figures(session: AsyncSession, database_url: str, folder: Path | None, now: datetime) -> dict[str, float]:
    """Return the figures of this server by the names that rules have for them. Missing: left out where it is not known"""
    oldest = await session.scalar(select(func.min(Job.next_try_at)).where(Job.state == JobState.QUEUED, Job.next_try_at <= now))
    figures = {"server.job_wait": 0.0 if oldest is None else (now - oldest).total_seconds()}
    disk = await read_disk(session, database_url, folder)
    if disk is not None and disk.total_bytes:
        figures["server.disk_free"] = 100.0 * disk.free_bytes / disk.total_bytes
    return figures
