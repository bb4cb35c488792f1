"""Make alerts of episodes and write their messages into the outbox, in one transaction, every few seconds."""

import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.alerts.alert_channel_rows import list_channels, lock_alerts
from normstat.alerts.alert_message import AlertMessage, MessageFacts, SaidValue, build_message
from normstat.alerts.alert_outbox import MessageDraft, queue_messages
from normstat.alerts.alert_route_rows import list_routes, read_settings
from normstat.alerts.alert_rows import (
    PlacedEpisode,
    add_alert,
    forget_old_alerts,
    join_episodes,
    read_alert_episode_ids,
    read_lasting_episodes,
    read_routed_alerts,
)
from normstat.alerts.channel_settings import ChannelKind, stays_open
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.message_questions import ask_questions
from normstat.alerts.routing import (
    AlertRoute,
    AlertState,
    PlannedMessage,
    RoutedEpisode,
    TrackedAlert,
    step_routes,
)
from normstat.db.row_records import to_record
from normstat.db.schema.alert_models import AlertChannelRow, AlertRouteRow, AlertRow
from normstat.db.session import WriteSession, open_write_session
from normstat.query.host_zones import read_host_zones
from normstat.runtime.readable import format_human
from normstat.watch.rule_book import WatchBook, read_watch_book, with_limits
from normstat.watch.rules.rule_file import COLOURS, Colour, WatchRule
from normstat.watch.watch_lists import to_episode_info
from normstat.watch.watch_mute_rows import WatchMuteRecord, list_watch_mutes

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
SILENCE_KEY_BYTES: Final = 32


@dataclass(slots=True)
class AlertRouter:
    """Applies the routes to the episodes. All its state is in the database."""

    sessions: Sessions
    public_url: str

    async def run(self, now: datetime | None = None) -> int:
        """Do what is due; return the number of messages that were written."""
        async with open_write_session(self.sessions) as session:
            await lock_alerts(session)
            step = await _read_step(session, now or datetime.now(UTC))
            alerts, planned = step_routes(step.routes, step.alerts, list(step.episodes.values()), step.now)
            await _store_alerts(session, step, alerts)
            drafts = await _write_messages(session, step, planned, self.public_url)
            await queue_messages(session, drafts, step.now)
        for message in planned:
            log.info(
                "alert_message_planned", alert=message.alert.id, kind=message.kind, number=message.number,
                n_channels=len(message.channels),
            )  # fmt: skip
        return len(drafts)


@dataclass(slots=True)
class _Step:
    """The inputs of one step."""

    now: datetime
    routes: list[AlertRoute]
    alerts: list[TrackedAlert]
    rows: dict[int, AlertRow]
    joined: dict[int, set[int]]
    placed: dict[int, PlacedEpisode]
    episodes: dict[int, RoutedEpisode]
    book: WatchBook
    channels: dict[int, AlertChannelRow] = field(default_factory=dict)


async def _read_step(session: WriteSession, now: datetime) -> _Step:
    """Return what a step needs."""
    routes = [route for row in await list_routes(session) if row.is_enabled and (route := to_route(row)) is not None]
    rows = await read_routed_alerts(session, now)
    ids = await read_alert_episode_ids(session, [row.id for row in rows])
    placed = await read_lasting_episodes(session, [each for row in rows for each in ids.get(row.id, ())])
    book = await read_watch_book(session)
    mutes = await list_watch_mutes(session, ended_after=now)
    alerts = [to_tracked_alert(row, ids.get(row.id, [])) for row in rows]
    return _Step(
        now=now,
        routes=routes,
        alerts=alerts,
        rows={row.id: row for row in rows},
        joined={alert_id: set(own) for alert_id, own in ids.items()},
        placed={each.row.id: each for each in placed},
        episodes={each.row.id: to_routed(each, book, mutes, now) for each in placed},
        book=book,
        channels={channel.id: channel for channel in await list_channels(session)},
    )


def to_route(row: AlertRouteRow) -> AlertRoute | None:
    """Return a stored route. Missing: None for one that this version cannot read, which is logged"""
    settings = read_settings(row)
    if settings is None:
        log.warning("alert_route_unreadable", route=row.name)
        return None
    return AlertRoute(row.id, row.name, settings)


def to_routed(
    placed: PlacedEpisode, book: WatchBook, mutes: Sequence[WatchMuteRecord], now: datetime
) -> RoutedEpisode:  # fmt: skip
    """Return an episode as routes see it now."""
    row = placed.row
    booked = book.rules.get(row.source)
    rule = None if booked is None else booked.rule
    return RoutedEpisode(
        id=row.id,
        host_id=row.host_id,
        host=placed.host,
        tags=placed.tags,
        groups=placed.groups,
        source=row.source,
        # The instances of the continuous comparison are the subsystems.
        subsystem=rule.subsystem if rule is not None else row.instance,
        instance=row.instance,
        start=row.start_at,
        last=row.last_at,
        ended_at=row.ended_at,
        ended_by=row.ended_by,
        colour=Colour(row.colour),
        is_acknowledged=row.acknowledged_at is not None,
        is_muted=any(mute.covers(row.source, placed.host, list(placed.tags), row.instance, now) for mute in mutes),
    )


def to_tracked_alert(row: AlertRow, episode_ids: Sequence[int]) -> TrackedAlert:
    """Return a stored alert as a step changes it. A deleted route has the id 0, which no route has."""
    return to_record(
        TrackedAlert,
        row,
        route_id=row.route_id or 0,
        state=AlertState(row.state),
        episode_ids=list(episode_ids),
        told_colour=Colour(row.told_colour) if row.told_colour else None,
        told={(host, source) for host, source in row.told},
        is_acknowledged=row.acknowledged_at is not None,
    )


async def _store_alerts(session: WriteSession, step: _Step, alerts: Sequence[TrackedAlert]) -> None:
    names = {route.id: route.name for route in step.routes}
    for alert in alerts:
        if alert.id is None:
            row = AlertRow(
                route_id=alert.route_id,
                route=names[alert.route_id],
                host_id=alert.host_id,
                opened_at=alert.opened_at,
                silence_key=secrets.token_bytes(SILENCE_KEY_BYTES),
            )
            _fill(row, alert)
            alert.id = await add_alert(session, row)
            step.rows[alert.id] = row
        else:
            _fill(step.rows[alert.id], alert)
        known = step.joined.get(alert.id, set())
        await join_episodes(session, alert.id, alert.route_id, [each for each in alert.episode_ids if each not in known])
    await session.flush()


def _fill(row: AlertRow, alert: TrackedAlert) -> None:
    """Write what a step changed; what stayed the same is not written."""
    told = sorted([host, source] for host, source in alert.told)
    values: dict[str, object] = {
        "state": alert.state.value,
        "start_at": alert.start_at,
        "due_at": alert.due_at,
        "fired_at": alert.fired_at,
        "told_at": alert.told_at,
        "renewed_at": alert.renewed_at,
        "told_colour": alert.told_colour.value if alert.told_colour is not None else "",
        "told": told,
        "level": alert.level,
        "n_messages": alert.n_messages,
        "calm_since": alert.calm_since,
        "resolved_at": alert.resolved_at,
    }
    if not alert.is_acknowledged:
        values["acknowledged_at"] = None
    for name, value in values.items():
        if getattr(row, name) != value:
            setattr(row, name, value)


async def _write_messages(
    session: WriteSession, step: _Step, planned: Sequence[PlannedMessage], public_url: str
) -> list[MessageDraft]:
    if not planned:
        return []
    hosts = {
        host for message in planned for each in message.alert.episode_ids
        if each in step.episodes and (host := step.episodes[each].host) is not None
    }  # fmt: skip
    zones = {zone.host: zone.time_zone for zone in await read_host_zones(session, sorted(hosts))} if hosts else {}
    drafts: list[MessageDraft] = []
    for message in planned:
        assert message.alert.id is not None
        route = next(route for route in step.routes if route.id == message.alert.route_id)
        content = _build(step, message, route, zones, public_url)
        for channel_id in message.channels:
            channel = step.channels.get(channel_id)
            if channel is None or (message.is_silent and not _hears_silent(channel, message.kind)):
                continue
            drafts.append(
                MessageDraft(
                    alert_id=message.alert.id,
                    channel_id=channel.id,
                    channel=channel.name,
                    kind=message.kind,
                    number=message.number,
                    key=str(uuid.uuid4()),
                    content=to_content(content),
                    dropped_why="" if channel.is_enabled else "the channel is disabled",
                )
            )
    return drafts


def _hears_silent(channel: AlertChannelRow, kind: MessageKind) -> bool:
    """Return whether a channel gets what is not for people: a renewal, or the end of what is muted or of a route without ends."""
    if kind is MessageKind.RENEWED:
        return channel.kind == ChannelKind.ALERTMANAGER
    return stays_open(channel.kind, channel.settings)


def _build(
    step: _Step, message: PlannedMessage, route: AlertRoute, zones: Mapping[str, str | None], public_url: str
) -> AlertMessage:
    own = [step.episodes[each] for each in message.alert.episode_ids if each in step.episodes]
    lasting = [each for each in own if each.ended_at is None and not each.is_muted]
    shown = own if message.kind is MessageKind.RESOLVED or not lasting else lasting
    assert message.alert.id is not None
    after = None
    if message.kind is MessageKind.ESCALATED and message.alert.fired_at is not None:
        after = step.now - message.alert.fired_at
    infos = {each.id: to_episode_info(step.placed[each.id].row, each.host) for each in shown}
    worst = max(shown, key=lambda each: (COLOURS.index(each.colour), -each.start.timestamp()))
    return build_message(
        MessageFacts(
            alert_id=message.alert.id,
            number=message.number,
            kind=message.kind,
            route=route.name,
            at=step.now,
            episodes=shown,
            infos=infos,
            zones=zones,
            nouns={each.source: rule.of for each in shown if (rule := _rule_of(step.book, each)) is not None},
            limits={each.place: say_limits(rule) for each in shown if (rule := _rule_of(step.book, each)) is not None},
            questions=[] if message.kind is MessageKind.RESOLVED else ask_questions(_rule_of(step.book, worst), infos[worst.id]),
            public_url=public_url,
            escalated_after=after,
        )
    )


def _rule_of(book: WatchBook, episode: RoutedEpisode) -> WatchRule | None:
    """Return the rule that found an episode, with the limits of its host. Missing: None for the continuous comparison"""
    booked = book.rules.get(episode.source)
    if booked is None or booked.rule is None:
        return None
    return with_limits(booked.rule, book.limits_of(booked.name, episode.host or "", episode.tags))


def say_limits(rule: WatchRule) -> list[SaidValue]:
    """Return the limits of a rule in words."""
    return [SaidValue(limit.name, format_human(limit.value, limit.unit)) for limit in rule.limits]


def to_content(message: AlertMessage) -> dict[str, object]:
    """Return a message as it is stored: plain JSON."""
    content: dict[str, object] = orjson.loads(orjson.dumps(asdict(message)))
    return content


async def forget_alerts(sessions: Sessions, days: int) -> None:
    """Delete the alerts that ended at least this many days ago, with their messages."""
    async with open_write_session(sessions) as session:
        n = await forget_old_alerts(session, datetime.now(UTC) - timedelta(days=days))
    if n:
        log.info("alerts_forgotten", n=n)
