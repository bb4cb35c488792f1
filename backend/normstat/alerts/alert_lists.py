"""Alerts as people see them: with their messages, whether those arrived, and their episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts.alert_rows import OPEN_STATES
from normstat.db.row_records import to_record
from normstat.db.schema.alert_models import AlertEpisodeRow, AlertMessageRow, AlertRow
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import EpisodeRow
from normstat.errors import NotFound
from normstat.runtime.field_docs import Documented
from normstat.watch.watch_lists import EpisodeEvidence, EpisodeInfo, read_evidence, to_episode_info
from normstat.window import Window

# Maximum number of episodes per alert: the page of the host has the others.
MAX_EPISODES: Final = 20


@dataclass(frozen=True, slots=True)
class AlertMessageInfo(Documented):
    """A message of an alert to a channel."""

    id: int
    channel_id: int | None
    """Null: the channel was deleted."""
    channel: str
    kind: str
    """fired, worse, escalated, repeated, renewed (to an Alertmanager only) or resolved."""
    number: int
    """Its place among the messages of the alert; several channels get the same message."""
    state: str
    """queued, sending, sent, failed or dropped."""
    subject: str
    n_tries: int
    answer: str
    """What the receiver said last, or why it was not reached, or why the message was dropped."""
    created_at: datetime
    next_try_at: datetime | None
    """Null, unless it is queued."""
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class AlertInfo(Documented):
    """Episodes that belong together, as grouped by a route."""

    id: int
    route_id: int | None
    """Null: the route was deleted."""
    route: str
    state: str
    """waiting (for its first message), firing, resolved, or dropped (over before its first message)."""
    colour: str
    """The worst state of its episodes: amber, red or black."""
    title: str
    """The title of the worst episode."""
    hosts: list[str]
    """By name; empty for an alert about this server."""
    start: datetime
    """The start of the first episode."""
    opened_at: datetime
    """When the route saw it first."""
    due_at: datetime
    """When the first message is due, or was."""
    fired_at: datetime | None
    resolved_at: datetime | None
    level: int
    """Number of escalations sent."""
    acknowledged_at: datetime | None
    acknowledged_by: str
    note: str
    silenced_at: datetime | None
    """When its silence link was used."""
    n_episodes: int
    episodes: list[EpisodeInfo]
    """Open ones first, then the worst; at most 20."""
    messages: list[AlertMessageInfo]
    """In the order in which they became due."""


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts: of a state, of a host, of a route, opened in a window, with a message that failed. None: any."""

    state: str | None = None
    is_open: bool | None = None
    host: str | None = None
    route: str | None = None
    window: Window | None = None
    has_failed: bool | None = None


async def list_alerts(session: AsyncSession, wanted: AlertFilter, *, limit: int, offset: int = 0) -> list[AlertInfo]:
    """Return alerts, the latest first."""
    query = select(AlertRow).where(_condition(wanted)).order_by(AlertRow.opened_at.desc(), AlertRow.id.desc())
    rows = list(await session.scalars(query.limit(limit).offset(offset), execution_options={"populate_existing": True}))
    return await _to_infos(session, rows)


async def count_alerts(session: AsyncSession, wanted: AlertFilter) -> int:
    """Return the number of alerts."""
    return await session.scalar(select(func.count()).select_from(AlertRow).where(_condition(wanted))) or 0


async def read_alert(session: AsyncSession, alert_id: int) -> AlertInfo:
    """Return an alert.

    Raises: NotFound
    """
    row = await session.get(AlertRow, alert_id, populate_existing=True)
    if row is None:
        raise NotFound(f"There is no alert {alert_id}; GET /api/v1/alerts lists them", {"id": alert_id})
    [info] = await _to_infos(session, [row])
    return info


def _condition(wanted: AlertFilter) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [AlertRow.id > 0]
    if wanted.state is not None:
        parts.append(AlertRow.state == wanted.state)
    if wanted.is_open is not None:
        parts.append(AlertRow.state.in_(OPEN_STATES) if wanted.is_open else AlertRow.state.not_in(OPEN_STATES))
    if wanted.host is not None:
        of_host = (
            select(AlertEpisodeRow.alert_id)
            .join(EpisodeRow, EpisodeRow.id == AlertEpisodeRow.episode_id)
            .join(Host, Host.id == EpisodeRow.host_id)
            .where(Host.name == wanted.host)
        )
        parts.append(AlertRow.id.in_(of_host))
    if wanted.route is not None:
        parts.append(AlertRow.route == wanted.route)
    if wanted.window is not None:
        parts += [
            AlertRow.opened_at < wanted.window.end,
            or_(AlertRow.resolved_at.is_(None), AlertRow.resolved_at >= wanted.window.start),
        ]
    if wanted.has_failed is not None:
        failed = AlertRow.id.in_(select(AlertMessageRow.alert_id).where(AlertMessageRow.state == "failed"))
        parts.append(failed if wanted.has_failed else ~failed)
    return and_(*parts)


async def _to_infos(session: AsyncSession, rows: Sequence[AlertRow]) -> list[AlertInfo]:
    ids = [row.id for row in rows]
    episodes: dict[int, list[tuple[EpisodeRow, str | None]]] = {}
    found = (
        select(AlertEpisodeRow.alert_id, EpisodeRow, Host.name)
        .join(EpisodeRow, EpisodeRow.id == AlertEpisodeRow.episode_id)
        .outerjoin(Host, Host.id == EpisodeRow.host_id)
        .where(AlertEpisodeRow.alert_id.in_(ids))
        .execution_options(populate_existing=True)
    )
    for alert_id, episode, host in await session.execute(found):
        episodes.setdefault(alert_id, []).append((episode, host))
    messages: dict[int, list[AlertMessageRow]] = {}
    of_alerts = select(AlertMessageRow).where(AlertMessageRow.alert_id.in_(ids)).execution_options(populate_existing=True)
    for message in await session.scalars(of_alerts.order_by(AlertMessageRow.number, AlertMessageRow.id)):
        messages.setdefault(message.alert_id, []).append(message)
    evidence = await read_evidence(session, [episode.id for some in episodes.values() for episode, _ in some])
    return [_to_info(row, episodes.get(row.id, []), messages.get(row.id, []), evidence) for row in rows]


SEVERITY: Final = ("white", "blue", "green", "amber", "red", "black")


def _to_info(
    row: AlertRow,
    episodes: Sequence[tuple[EpisodeRow, str | None]],
    messages: Sequence[AlertMessageRow],
    evidence: Mapping[int, Sequence[EpisodeEvidence]],
) -> AlertInfo:
    ordered = sorted(
        episodes,
        key=lambda each: (each[0].ended_at is not None, -SEVERITY.index(each[0].colour), each[0].start_at, each[0].id),
    )
    worst = max(episodes, key=lambda each: SEVERITY.index(each[0].colour))[0] if episodes else None
    return to_record(
        AlertInfo,
        row,
        colour=worst.colour if worst is not None else row.told_colour,
        title=worst.title if worst is not None else "",
        hosts=sorted({host for _, host in episodes if host is not None}),
        start=row.start_at,
        n_episodes=len(episodes),
        episodes=[to_episode_info(episode, host, evidence.get(episode.id, ())) for episode, host in ordered[:MAX_EPISODES]],
        messages=[_to_message_info(message) for message in messages],
    )


def _to_message_info(row: AlertMessageRow) -> AlertMessageInfo:
    next_try_at = row.next_try_at if row.state == "queued" else None
    return to_record(AlertMessageInfo, row, subject=str(row.content.get("subject", "")), next_try_at=next_try_at)


async def count_open_by_route(session: AsyncSession) -> dict[int, int]:
    """Return how many alerts of each route are waiting or firing. Missing: routes without one"""
    query = select(AlertRow.route_id, func.count()).where(AlertRow.state.in_(OPEN_STATES), AlertRow.route_id.is_not(None))
    return {route_id: n for route_id, n in await session.execute(query.group_by(AlertRow.route_id)) if route_id is not None}
