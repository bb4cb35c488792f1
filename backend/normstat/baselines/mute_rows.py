"""Mutes: series hidden from findings."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import StringConstraints
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_versions import lock_baselines
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import MutedSeries
from normstat.db.schema.models import Host
from normstat.errors import Conflict, NotFound, shorten
from normstat.runtime.body import NO_NUL, Body, Name, Note
from normstat.samples.lookup import require_host

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


StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=100_000, pattern=NO_NUL)]


class MuteCreate(Body):
    """A series to hide from findings; without a host for all hosts, without an instance for all instances."""

    host: Name | None = None
    stat: StatName
    field: FieldKey
    instance: InstanceName | None = None
    reason: Note = ""


async def create_mute(session: AsyncSession, body: MuteCreate, *, by: str) -> MuteInfo:
    """Return the muted series. A stat or field without any samples may be muted, too.

    Raises: NotFound for an unknown host; Conflict when it is muted already
    """
    # Instance names may be longer than an index entry can be, so no constraint prevents duplicates.
    await lock_baselines(session)
    host_id = None if body.host is None else await require_host(session, body.host)
    same = select(MutedSeries.id).where(
        MutedSeries.host_id.is_not_distinct_from(host_id),
        MutedSeries.stat == body.stat,
        MutedSeries.field == body.field,
        MutedSeries.instance.is_not_distinct_from(body.instance),
    )
    known = await session.scalar(same.limit(1))
    if known is not None:
        raise Conflict(f"{shorten(body.field)} of {shorten(body.stat)} is already muted", {"mute": known})
    mute = MutedSeries(host_id=host_id, created_by=by, **body.model_dump(exclude={"host"}))
    session.add(mute)
    await session.flush()
    await session.refresh(mute)
    return to_record(MuteInfo, mute, host=body.host)


async def list_mutes(session: AsyncSession, host: str | None = None) -> list[MuteInfo]:
    """Return the muted series of a host (including those of all hosts), or all, newest first.

    Raises: NotFound for an unknown host
    """
    query = select(MutedSeries, Host.name).outerjoin(Host, Host.id == MutedSeries.host_id)
    if host is not None:
        query = query.where(or_(MutedSeries.host_id.is_(None), MutedSeries.host_id == await require_host(session, host)))
    query = query.order_by(MutedSeries.created_at.desc(), MutedSeries.id.desc()).limit(MAX_LISTED)
    return [to_record(MuteInfo, mute, host=name) for mute, name in await session.execute(query)]


async def delete_mute(session: AsyncSession, mute_id: int) -> None:
    """Unmute a series.

    Raises: NotFound
    """
    mute = await session.get(MutedSeries, mute_id, with_for_update=True)
    if mute is None:
        raise NotFound(f"There is no mute {mute_id}; GET /api/v1/mutes lists them", {"mute": mute_id})
    await session.delete(mute)
    await session.flush()
