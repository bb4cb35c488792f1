"""Mutes: series hidden from findings."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_versions import lock_baselines
from normstat.baselines.exclusion_rows import find_host
from normstat.db.schema.baseline_models import MutedSeries
from normstat.db.schema.models import Host
from normstat.errors import Conflict, NotFound, shorten

MAX_LISTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class MuteInfo:
    """A muted series; without a host for all hosts, without an instance for all instances."""

    id: int
    host: str | None
    stat: str
    field: str
    instance: str | None
    reason: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MuteDraft:
    """A series to mute."""

    host: str | None
    stat: str
    field: str
    instance: str | None
    reason: str
    created_by: str


async def create_mute(session: AsyncSession, draft: MuteDraft) -> MuteInfo:
    """Return the muted series. A stat or field without any samples may be muted, too.

    Raises: NotFound for an unknown host; Conflict when it is muted already
    """
    # Instance names may be longer than an index entry can be, so no constraint prevents duplicates.
    await lock_baselines(session)
    host_id = None if draft.host is None else await find_host(session, draft.host)
    same = select(MutedSeries.id).where(
        MutedSeries.host_id.is_not_distinct_from(host_id),
        MutedSeries.stat == draft.stat,
        MutedSeries.field == draft.field,
        MutedSeries.instance.is_not_distinct_from(draft.instance),
    )
    known = await session.scalar(same.limit(1))
    if known is not None:
        raise Conflict(f"{shorten(draft.field)} of {shorten(draft.stat)} is already muted", {"mute": known})
    mute = MutedSeries(
        host_id=host_id,
        stat=draft.stat,
        field=draft.field,
        instance=draft.instance,
        reason=draft.reason,
        created_by=draft.created_by,
    )
    session.add(mute)
    await session.flush()
    await session.refresh(mute)
    return _to_record(mute, draft.host)


async def list_mutes(session: AsyncSession, host: str | None = None) -> list[MuteInfo]:
    """Return the muted series of a host (including those of all hosts), or all, newest first.

    Raises: NotFound for an unknown host
    """
    query = select(MutedSeries, Host.name).outerjoin(Host, Host.id == MutedSeries.host_id)
    if host is not None:
        query = query.where(or_(MutedSeries.host_id.is_(None), MutedSeries.host_id == await find_host(session, host)))
    query = query.order_by(MutedSeries.created_at.desc(), MutedSeries.id.desc()).limit(MAX_LISTED)
    return [_to_record(mute, name) for mute, name in await session.execute(query)]


async def delete_mute(session: AsyncSession, mute_id: int) -> None:
    """Unmute a series.

    Raises: NotFound
    """
    mute = await session.get(MutedSeries, mute_id, with_for_update=True)
    if mute is None:
        raise NotFound(f"There is no mute {mute_id}; GET /api/v1/mutes lists them", {"mute": mute_id})
    await session.delete(mute)
    await session.flush()


def _to_record(mute: MutedSeries, host: str | None) -> MuteInfo:
    return MuteInfo(mute.id, host, mute.stat, mute.field, mute.instance, mute.reason, mute.created_by, mute.created_at)
