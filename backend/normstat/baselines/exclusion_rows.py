"""Exclusions: incident windows that baselines leave out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_versions import ask_for_excluded, lock_baselines
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import Exclusion
from normstat.db.schema.models import Host
from normstat.errors import NotFound
from normstat.runtime.body import Body, Instant, Name, Note
from normstat.samples.lookup import require_host
from normstat.window import Window

MAX_LISTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class ExclusionInfo:
    """An incident window that baselines leave out; without a host, for all hosts."""

    id: int
    name: str
    note: str
    start: datetime
    end: datetime
    host: str | None
    created_by: str
    created_at: datetime


class ExclusionCreate(Body):
    """A window to exclude as an incident; without a host, for all hosts."""

    name: Name
    note: Note = ""
    start: Instant
    end: Instant
    host: Name | None = None


async def create_exclusion(session: AsyncSession, body: ExclusionCreate, *, by: str) -> tuple[ExclusionInfo, int]:
    """Return the new exclusion, and the number of baselines that it affects.

    Raises: BadRequest for an empty window; NotFound for an unknown host
    """
    window = Window(body.start, body.end)
    await lock_baselines(session)
    host_id = None if body.host is None else await require_host(session, body.host)
    exclusion = Exclusion(
        name=body.name,
        note=body.note,
        start_at=window.start,
        end_at=window.end,
        host_id=host_id,
        created_by=by,
    )
    session.add(exclusion)
    await session.flush()
    await session.refresh(exclusion)
    n_baselines = await ask_for_excluded(session, window, host_id)
    return _to_record(exclusion, body.host), n_baselines


async def list_exclusions(
    session: AsyncSession, *, host: str | None = None, window: Window | None = None
) -> list[ExclusionInfo]:  # fmt: skip
    """Return the exclusions that apply to the host (including those of all hosts) and overlap the window, newest first.

    Raises: NotFound for an unknown host
    """
    query = select(Exclusion, Host.name).outerjoin(Host, Host.id == Exclusion.host_id)
    if host is not None:
        host_id = await require_host(session, host)
        query = query.where(Exclusion.host_id.is_(None) | (Exclusion.host_id == host_id))
    if window is not None:
        query = query.where(Exclusion.start_at < window.end, Exclusion.end_at > window.start)
    query = query.order_by(Exclusion.start_at.desc(), Exclusion.id.desc()).limit(MAX_LISTED)
    return [_to_record(exclusion, name) for exclusion, name in await session.execute(query)]


async def delete_exclusion(session: AsyncSession, exclusion_id: int) -> int:
    """Delete the exclusion; return the number of baselines that include its window again.

    Raises: NotFound
    """
    await lock_baselines(session)
    exclusion = await session.get(Exclusion, exclusion_id, with_for_update=True)
    if exclusion is None:
        raise NotFound(f"There is no exclusion {exclusion_id}; GET /api/v1/exclusions lists them", {"exclusion": exclusion_id})
    window, host_id = Window(exclusion.start_at, exclusion.end_at), exclusion.host_id
    await session.delete(exclusion)
    await session.flush()
    return await ask_for_excluded(session, window, host_id)


def _to_record(exclusion: Exclusion, host: str | None) -> ExclusionInfo:
    return to_record(ExclusionInfo, exclusion, host=host, start=exclusion.start_at, end=exclusion.end_at)
