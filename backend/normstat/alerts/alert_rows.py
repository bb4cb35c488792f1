"""Stored alerts: those that a step of routing reads, with their episodes; and acknowledgements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Integer, Select, delete, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from normstat.db.named_rows import require_row
from normstat.db.schema.alert_models import AlertEpisodeRow, AlertRouteRow, AlertRow
from normstat.db.schema.baseline_models import HostGroup, HostGroupHost
from normstat.db.schema.models import Host
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.db.schema.watch_models import EpisodeRow
from normstat.errors import BadRequest

OPEN_STATES: Final = ("waiting", "firing")
# Late samples may show that an episode that ended this long ago lasts: rules judge them for a day.
LOOK_BACK: Final = timedelta(hours=25)
MAX_PAST: Final = 20_000


@dataclass(frozen=True, slots=True)
class PlacedEpisode:
    """An episode with its host: name, tags and groups. `host`: None for this server"""

    row: EpisodeRow
    host: str | None
    tags: tuple[str, ...]
    groups: tuple[str, ...]


def select_routing() -> Select[int]:
    """Return a query that has a row when there is anything to route: a route is on, or an alert waits or fires."""
    routes = select(AlertRouteRow.id).where(AlertRouteRow.is_enabled).exists()
    return select(literal_column("1", Integer())).where(
        or_(routes, select(AlertRow.id).where(AlertRow.state.in_(OPEN_STATES)).exists())
    )


async def has_routing(session: AsyncSession) -> bool:
    """Return whether there is anything to route."""
    return await session.scalar(select_routing()) is not None


async def read_routed_alerts(session: AsyncSession, now: datetime) -> list[AlertRow]:
    """Return the alerts that are open; and of those that ended within the last day the ones of a rule and a host with an open
    episode: it may be the one reported as resolved. The oldest first.
    """
    lasting = aliased(EpisodeRow)
    has_lasting = (
        select(lasting.id)
        .where(
            lasting.ended_at.is_(None),
            lasting.source == EpisodeRow.source,
            lasting.host_id.is_not_distinct_from(EpisodeRow.host_id),
        )
        .exists()
    )
    again = (
        select(AlertEpisodeRow.alert_id)
        .join(EpisodeRow, EpisodeRow.id == AlertEpisodeRow.episode_id)
        .join(AlertRow, AlertRow.id == AlertEpisodeRow.alert_id)
        .where(AlertRow.resolved_at > now - LOOK_BACK, has_lasting)
    )
    query = select(AlertRow).where(or_(AlertRow.state.in_(OPEN_STATES), AlertRow.id.in_(again)))
    return list(await session.scalars(query.order_by(AlertRow.id), execution_options={"populate_existing": True}))


async def read_alert_episode_ids(session: AsyncSession, alert_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the episodes of these alerts, in the order of the episodes."""
    query = select(AlertEpisodeRow.alert_id, AlertEpisodeRow.episode_id).where(AlertEpisodeRow.alert_id.in_(alert_ids))
    found: dict[int, list[int]] = {}
    for alert_id, episode_id in await session.execute(query.order_by(AlertEpisodeRow.alert_id, AlertEpisodeRow.episode_id)):
        found.setdefault(alert_id, []).append(episode_id)
    return found


async def read_lasting_episodes(session: AsyncSession, also: Iterable[int]) -> list[PlacedEpisode]:
    """Return the episodes that last, of hosts that are not being deleted, and these."""
    is_wanted = or_(EpisodeRow.ended_at.is_(None), EpisodeRow.id.in_(list(also)))
    return await _place(session, is_wanted)


async def read_past_episodes(session: AsyncSession, start: datetime, end: datetime) -> list[PlacedEpisode]:
    """Return the episodes that began in a window.

    Raises: BadRequest for too many
    """
    in_window = (EpisodeRow.start_at >= start) & (EpisodeRow.start_at < end)
    n = await session.scalar(select(func.count()).select_from(EpisodeRow).where(in_window)) or 0
    if n > MAX_PAST:
        raise BadRequest(f"{n:,} episodes began in this window; at most {MAX_PAST:,} can be tried. Choose a shorter window")
    return await _place(session, in_window)


async def _place(session: AsyncSession, is_wanted: ColumnElement[bool]) -> list[PlacedEpisode]:
    query = select(EpisodeRow, Host.name, Host.tags, Host.agent_tags).outerjoin(Host, Host.id == EpisodeRow.host_id)
    query = query.where(
        is_wanted,
        or_(EpisodeRow.host_id.is_(None), EpisodeRow.host_id.not_in(select(HostDeletionRow.host_id))),
    )
    rows = (await session.execute(query.order_by(EpisodeRow.start_at, EpisodeRow.id))).all()
    ids = {row.host_id for row, *_ in rows if row.host_id is not None}
    groups: dict[int, list[str]] = {}
    of_hosts = select(HostGroupHost.host_id, HostGroup.name).join(HostGroup, HostGroup.id == HostGroupHost.group_id)
    for host_id, name in await session.execute(of_hosts.where(HostGroupHost.host_id.in_(ids))):
        groups.setdefault(host_id, []).append(name)
    return [
        PlacedEpisode(row, host, tuple(sorted({*(tags or ()), *(own or ())})), tuple(sorted(groups.get(row.host_id or 0, ()))))
        for row, host, tags, own in rows
    ]


async def add_alert(session: AsyncSession, row: AlertRow) -> int:
    """Return the id of a new alert."""
    session.add(row)
    await session.flush()
    return row.id


async def join_episodes(session: AsyncSession, alert_id: int, route_id: int, episode_ids: Sequence[int]) -> None:
    """Note that episodes belong to an alert. Raises: IntegrityError, when the route has them in another alert"""
    if episode_ids:
        rows = [{"alert_id": alert_id, "episode_id": each, "route_id": route_id} for each in episode_ids]
        await session.execute(insert(AlertEpisodeRow).values(rows))


async def require_alert(session: AsyncSession, alert_id: int, *, is_locked: bool = False) -> AlertRow:
    """Return an alert.

    Raises: NotFound
    """
    return await require_row(session, AlertRow, alert_id, what="alert", listed_at="/api/v1/alerts", is_locked=is_locked)


async def acknowledge_alert(session: AsyncSession, alert_id: int, *, by: str, note: str) -> list[int]:
    """Acknowledge an alert; return the ids of its episodes.

    Raises: NotFound
    """
    row = await require_alert(session, alert_id, is_locked=True)
    row.acknowledged_by, row.note = by, note
    row.acknowledged_at = await session.scalar(select(func.now()))
    await session.flush()
    return (await read_alert_episode_ids(session, [alert_id])).get(alert_id, [])


async def take_back_acknowledgement(session: AsyncSession, alert_id: int) -> list[int]:
    """Withdraw the acknowledgement of an alert; return the ids of its episodes.

    Raises: NotFound
    """
    row = await require_alert(session, alert_id, is_locked=True)
    row.acknowledged_at, row.acknowledged_by, row.note = None, "", ""
    await session.flush()
    return (await read_alert_episode_ids(session, [alert_id])).get(alert_id, [])


async def list_alert_places(session: AsyncSession, alert_id: int) -> list[tuple[str | None, str]]:
    """Return the hosts and rules of an alert, each pair once. Missing: None instead of a host for this server"""
    query = (
        select(Host.name, EpisodeRow.source)
        .select_from(AlertEpisodeRow)
        .join(EpisodeRow, EpisodeRow.id == AlertEpisodeRow.episode_id)
        .outerjoin(Host, Host.id == EpisodeRow.host_id)
        .where(AlertEpisodeRow.alert_id == alert_id)
        .distinct()
        .order_by(Host.name, EpisodeRow.source)
    )
    return [(host, source) for host, source in await session.execute(query)]


async def note_silenced(session: AsyncSession, row: AlertRow) -> None:
    """Note that the silence link of an alert was used."""
    row.silenced_at = await session.scalar(select(func.now()))
    await session.flush()


async def forget_old_alerts(session: AsyncSession, before: datetime) -> int:
    """Delete the alerts that ended before an instant, with their messages; return how many."""
    gone = delete(AlertRow).where(AlertRow.state.not_in(OPEN_STATES), AlertRow.resolved_at < before).returning(AlertRow.id)
    return len((await session.scalars(gone)).all())
