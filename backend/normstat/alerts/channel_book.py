"""Administer channels and routes: create, change, delete, test and try."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts import alert_channel_rows, alert_route_rows
from normstat.alerts.alert_channel_rows import AlertChannelPut, lock_alerts
from normstat.alerts.alert_message import AlertMessage, MessagePart, SaidValue, format_local
from normstat.alerts.alert_outbox import drop_messages
from normstat.alerts.alert_route_rows import AlertRoutePut
from normstat.alerts.alert_router import to_routed
from normstat.alerts.alert_rows import read_past_episodes
from normstat.alerts.channel_settings import AnySettings, ScriptSettings, ServiceSettings, join_secrets, keep_secrets
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.route_settings import RouteSettings
from normstat.alerts.route_trial import RecordedEpisode, TrialMessage, try_route
from normstat.alerts.routing import AlertRoute
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage
from normstat.alerts.senders.script import find_problem
from normstat.db.schema.alert_models import AlertChannelRow, AlertRouteRow
from normstat.errors import BadRequest, Conflict
from normstat.runtime.field_docs import Documented
from normstat.watch.rule_book import read_watch_book
from normstat.watch.rules.rule_file import Colour
from normstat.watch.watch_lists import EpisodeInfo, to_episode_info
from normstat.watch.watch_mute_rows import list_watch_mutes
from normstat.window import Window

MAX_TRIAL: Final = timedelta(days=92)


@dataclass(frozen=True, slots=True)
class ChannelTestResult(Documented):
    """How a test message ended."""

    is_sent: bool
    answer: str
    """What the receiver said, or why it was not reached; at most 500 characters."""
    seconds: float


@dataclass(frozen=True, slots=True)
class RouteTrial:
    """The messages that a route would have sent. `episodes`: those that the messages are about, by id"""

    messages: list[TrialMessage]
    episodes: dict[int, EpisodeInfo]
    n_episodes: int


async def create_channel(session: AsyncSession, body: AlertChannelPut, scripts_dir: Path | None, *, by: str) -> AlertChannelRow:
    """Return the new channel.

    Raises: BadRequest for settings that cannot work; Conflict when the name is taken
    """
    await lock_alerts(session)
    _require_script(body.settings, scripts_dir)
    return await alert_channel_rows.create_channel(session, body, keep_secrets(body.settings, None), by=by)


async def update_channel(
    session: AsyncSession, channel_id: int, body: AlertChannelPut, scripts_dir: Path | None, *, by: str
) -> AlertChannelRow:
    """Return the changed channel; secrets that are null stay as they were. Queued messages of a disabled channel are dropped.

    Raises: NotFound; BadRequest for settings that cannot work; Conflict when the name is taken
    """
    await lock_alerts(session)
    _require_script(body.settings, scripts_dir)
    known = await alert_channel_rows.read_channel(session, channel_id)
    settings = keep_secrets(body.settings, join_secrets(known.settings, known.secrets))
    row = await alert_channel_rows.update_channel(session, channel_id, body, settings, by=by)
    if not row.is_enabled:
        await drop_messages(session, channel_id, f"the channel was disabled by {by}")
    return row


async def delete_channel(session: AsyncSession, channel_id: int) -> None:
    """Delete a channel.

    Raises: NotFound; Conflict while a route uses it
    """
    await lock_alerts(session)
    row = await alert_channel_rows.read_channel(session, channel_id)
    users = await find_users(session, channel_id)
    if users:
        raise Conflict(f"Route {users[0]} sends to {row.name}; take the channel out of it first", {"id": channel_id})
    await drop_messages(session, channel_id, "the channel was deleted")
    await alert_channel_rows.delete_channel(session, channel_id)


async def create_route(session: AsyncSession, body: AlertRoutePut, *, by: str) -> AlertRouteRow:
    """Return the new route.

    Raises: BadRequest for an unknown channel; Conflict when the name is taken
    """
    await lock_alerts(session)
    await require_channels(session, body.settings)
    return await alert_route_rows.create_route(session, body, by=by)


async def update_route(session: AsyncSession, route_id: int, body: AlertRoutePut, *, by: str) -> AlertRouteRow:
    """Return the changed route.

    Raises: NotFound; BadRequest for an unknown channel; Conflict when the name is taken
    """
    await lock_alerts(session)
    await require_channels(session, body.settings)
    return await alert_route_rows.update_route(session, route_id, body, by=by)


async def delete_route(session: AsyncSession, route_id: int) -> None:
    """Delete a route; its alerts send nothing more.

    Raises: NotFound
    """
    await lock_alerts(session)
    await alert_route_rows.delete_route(session, route_id)


async def order_routes(session: AsyncSession, ids: Sequence[int]) -> list[AlertRouteRow]:
    """Return all routes in their new order.

    Raises: BadRequest, when the ids are not those of all routes
    """
    await lock_alerts(session)
    await alert_route_rows.order_routes(session, ids)
    return await alert_route_rows.list_routes(session)


async def require_channels(session: AsyncSession, settings: RouteSettings) -> None:
    """Require that the channels of a route exist.

    Raises: BadRequest
    """
    known = {channel.id for channel in await alert_channel_rows.list_channels(session)}
    for channel_id in sorted(settings.all_channels() - known):
        raise BadRequest(f"There is no alert channel {channel_id}; GET /api/v1/alert-channels lists them", {"id": channel_id})


async def try_in_past(session: AsyncSession, settings: RouteSettings, window: Window) -> RouteTrial:
    """Return what a route would have sent about the episodes that began in a window. Nothing is stored or sent.

    Raises: BadRequest for a window with too much to do, or an unknown channel
    """
    if window.end - window.start > MAX_TRIAL:
        raise BadRequest(f"A trial covers at most {MAX_TRIAL.days} days; choose a shorter window")
    await require_channels(session, settings)
    placed = await read_past_episodes(session, window.start, window.end)
    book = await read_watch_book(session)
    mutes = await list_watch_mutes(session, ended_after=window.start)
    recorded = [RecordedEpisode(to_routed(each, book, (), window.end), each.row.acknowledged_at) for each in placed]
    # Minutes of CPU at worst, so not on the loop that serves requests.
    messages = await asyncio.to_thread(try_route, AlertRoute(0, "trial", settings), recorded, mutes, window)
    named = {episode_id for message in messages for episode_id in message.episode_ids}
    infos = {each.row.id: to_episode_info(each.row, each.host) for each in placed if each.row.id in named}
    return RouteTrial(messages, infos, len(named))


async def test_channel(settings: AnySettings, *, name: str, public_url: str, scripts_dir: Path | None) -> ChannelTestResult:
    """Send a test message; return what the receiver said. A service that shows nothing of what is over gets its beginning first."""
    began = monotonic()
    key = str(uuid.uuid4())
    over = build_test_message(name, public_url, datetime.now(UTC))
    has_two = isinstance(settings, ServiceSettings) and settings.definition.keeps_state
    contents = [replace(over, kind=MessageKind.FIRED, state="firing"), over] if has_two else [over]
    sender = ChannelSender(scripts_dir)
    for content in contents:
        outcome = await sender.send(SentMessage(content, key, key, None, public_url), settings)
        if not outcome.is_sent:
            break
    return ChannelTestResult(outcome.is_sent, outcome.answer, monotonic() - began)


def build_test_message(channel: str, public_url: str, now: datetime) -> AlertMessage:
    """Return a message that says that it is a test. An Alertmanager gets it as resolved."""
    link = f"{public_url.rstrip('/')}/watch"
    part = MessagePart(
        host=None,
        source="normstat-test",
        title="Test message",
        colour=Colour.AMBER,
        n_instances=1,
        instances="",
        sentence=f"This is a test of the channel {channel}.",
        action="Nothing to do.",
        values=[SaidValue("test", "1")],
        limits=[],
        since=now,
        since_text=format_local(now, None),
        ended_at=now,
        ended_by="fine",
        link=link,
    )
    return AlertMessage(
        version=1,
        alert_id=0,
        number=1,
        kind=MessageKind.RESOLVED,
        state="resolved",
        route="test",
        colour=Colour.AMBER,
        subject="[TEST] normstat can reach this channel",
        sentence=f"Nothing happened: this is a test of the channel {channel}. Alerts look like this.",
        host="",
        since=now,
        since_text=format_local(now, None),
        at=now,
        ended_text="",
        parts=[part],
        n_left_out=0,
        questions=[],
        link=link,
        alert_link=link,
    )


def _require_script(settings: AnySettings, scripts_dir: Path | None) -> None:
    if isinstance(settings, ScriptSettings):
        problem = find_problem(scripts_dir, settings.script)
        if problem is not None:
            raise BadRequest(f"{problem[0].upper()}{problem[1:]}")


async def find_users(session: AsyncSession, channel_id: int) -> list[str]:
    """Return the names of the routes that send to a channel."""
    return [route.name for route in await alert_route_rows.list_routes(session) if channel_id in channels_of(route)]


def channels_of(route: AlertRouteRow) -> set[int]:
    """Return the ids of the channels that a route sends to."""
    # Even in a later version's format, a channel that is named there is in use.
    try:
        return RouteSettings.model_validate(route.settings).all_channels()
    except ValueError:
        return {int(str(each)) for each in route.settings.get("channels", [])}  # type: ignore[attr-defined]
