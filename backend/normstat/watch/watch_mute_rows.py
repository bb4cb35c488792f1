"""Watch mutes: times in which episodes of some hosts or rules are not notified."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.exclusion_rows import find_host
from normstat.db.named_rows import require_row
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import WatchMute

MAX_LISTED: Final = 1000


@dataclass(frozen=True, slots=True)
class WatchMuteDraft:
    """A mute to create; None: any host, tag, source or instance, and no end."""

    host: str | None
    tag: str | None
    source: str | None
    instance: str | None
    start: datetime
    end: datetime | None
    reason: str
    created_by: str


@dataclass(frozen=True, slots=True)
class WatchMuteRecord:
    """A time in which episodes are not notified; None: any host, tag, source or instance, and no end."""

    id: int
    host: str | None
    tag: str | None
    source: str | None
    instance: str | None
    start: datetime
    end: datetime | None
    reason: str
    created_by: str
    created_at: datetime

    def covers(self, source: str, host: str | None, tags: list[str], instance: str, at: datetime) -> bool:
        """Return whether an episode is muted at an instant."""
        return (
            self.start <= at
            and (self.end is None or at < self.end)
            and self.source in (None, source)
            and self.host in (None, host)
            and (self.tag is None or self.tag in tags)
            and self.instance in (None, instance)
        )


async def create_watch_mute(session: AsyncSession, draft: WatchMuteDraft) -> WatchMuteRecord:
    """Return the new mute.

    Raises: NotFound for an unknown host
    """
    host_id = None if draft.host is None else await find_host(session, draft.host)
    row = WatchMute(
        host_id=host_id,
        tag=draft.tag,
        source=draft.source,
        instance=draft.instance,
        from_at=draft.start,
        until_at=draft.end,
        reason=draft.reason,
        created_by=draft.created_by,
    )
    session.add(row)
    await session.flush()
    await session.refresh(row)
    return _to_record(row, draft.host)


async def list_watch_mutes(session: AsyncSession, *, ended_after: datetime) -> list[WatchMuteRecord]:
    """Return the mutes that last, that are to come, or that ended after an instant; the latest first."""
    is_open = or_(WatchMute.until_at.is_(None), WatchMute.until_at > ended_after)
    query = select(WatchMute, Host.name).outerjoin(Host, Host.id == WatchMute.host_id).where(is_open)
    rows = await session.execute(query.order_by(WatchMute.from_at.desc(), WatchMute.id.desc()).limit(MAX_LISTED))
    return [_to_record(row, host) for row, host in rows]


async def end_watch_mute(session: AsyncSession, mute_id: int) -> None:
    """End a mute now; one that has not begun is deleted.

    Raises: NotFound
    """
    row = await require_row(session, WatchMute, mute_id, what="watch mute", listed_at="/api/v1/watch/mutes", is_locked=True)
    now = await session.scalar(select(func.now()))
    assert now is not None
    if row.from_at >= now:
        await session.delete(row)
    elif row.until_at is None or row.until_at > now:
        row.until_at = now
    await session.flush()


def _to_record(row: WatchMute, host: str | None) -> WatchMuteRecord:
    return WatchMuteRecord(
        row.id, host, row.tag, row.source, row.instance, row.from_at, row.until_at, row.reason, row.created_by, row.created_at
    )
