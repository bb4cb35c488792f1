"""Watch mutes: times in which episodes of some hosts or rules are not notified."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import StringConstraints
from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import require_row
from normstat.db.row_records import to_record
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import WatchMute
from normstat.errors import BadRequest
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Note, Tag
from normstat.samples.lookup import require_host

MAX_LISTED: Final = 1000


class WatchMuteCreate(Body):
    """A time in which episodes are not notified; a member left out matches any host, tag, rule or instance.

    Without `start` it begins now.
    """

    host: Name | None = None
    tag: Tag | None = None
    source: Name | None = None
    instance: Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)] | None = None
    start: Instant | None = None
    end: Instant | None = None
    reason: Note = ""


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


async def create_watch_mute(session: AsyncSession, body: WatchMuteCreate, *, by: str) -> WatchMuteRecord:
    """Return the new mute.

    Raises: BadRequest for an end before the start; NotFound for an unknown host
    """
    start = body.start or datetime.now(UTC)
    if body.end is not None and body.end <= start:
        raise BadRequest(f"end {body.end.isoformat()} is not after start {start.isoformat()}")
    host_id = None if body.host is None else await require_host(session, body.host)
    given = body.model_dump(include={"tag", "source", "instance", "reason"})
    row = WatchMute(host_id=host_id, from_at=start, until_at=body.end, created_by=by, **given)
    session.add(row)
    await session.flush()
    await session.refresh(row)
    return _to_record(row, body.host)


async def list_watch_mutes(session: AsyncSession, *, ended_after: datetime) -> list[WatchMuteRecord]:
    """Return the mutes that are active, that will begin, or that ended after an instant; the latest first."""
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
    return to_record(WatchMuteRecord, row, host=host, start=row.from_at, end=row.until_at)
