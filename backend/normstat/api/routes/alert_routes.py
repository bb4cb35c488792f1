"""Routes of alerts: which episodes become messages."""

from typing import Final

from pydantic import ValidationError

from normstat.alerts import channel_book
from normstat.alerts.alert_channel_rows import list_channels
from normstat.alerts.alert_lists import count_open_by_route
from normstat.alerts.alert_route_rows import RouteRecord, list_routes
from normstat.alerts.route_settings import RouteSettings
from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.body import Empty
from normstat.api.http.deps import (
    NEEDS_ADMINISTRATOR,
    NEEDS_OPERATOR,
    NEEDS_VIEWER,
    Administrator,
    IdPath,
    ReadSession,
    WriteSession,
)
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.alert_schemas import (
    AlertRouteInfo,
    AlertRouteList,
    AlertRouteOrder,
    AlertRoutePut,
    RouteTrialResult,
    RouteTry,
    TriedMessage,
)
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.window import Window

router = LazyRouter(prefix="/alert-routes", tags=["alerts"])

MAX_TRIED: Final = 1000
WEEK_S: Final = 7 * 86_400


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_alert_routes(session: ReadSession) -> AlertRouteList:
    """List routes in their order."""
    n_open = await count_open_by_route(session)
    return AlertRouteList([_to_info(record, n_open) for record in await list_routes(session)])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_alert_route(body: AlertRoutePut, principal: Administrator, session: WriteSession) -> AlertRouteInfo:
    """Create a route, the last one in the order. An enabled one also takes the present episodes."""
    record = await channel_book.create_route(session, body.name, body.settings, is_enabled=body.is_enabled, by=principal.name)
    return _to_info(record, {})


@router.put("/order", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(BadRequest))
async def order_alert_routes(body: AlertRouteOrder, session: WriteSession) -> AlertRouteList:
    """Give all routes another order."""
    records = await channel_book.order_routes(session, body.ids)
    n_open = await count_open_by_route(session)
    return AlertRouteList([_to_info(record, n_open) for record in records])


@router.post("/try", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(BadRequest))
@changes_nothing
async def try_alert_route(body: RouteTry, session: ReadSession) -> RouteTrialResult:
    """Return the messages that a route would have sent in a window. Nothing is stored, and nothing is sent."""
    window = Window(body.start, body.end)
    trial = await channel_book.try_in_past(session, body.settings, window)
    names = {channel.id: channel.name for channel in await list_channels(session)}
    weeks = (window.end - window.start).total_seconds() / WEEK_S
    shown = trial.messages[:MAX_TRIED]
    named = [episode_id for message in shown for episode_id in message.episode_ids]
    return RouteTrialResult(
        start=window.start,
        end=window.end,
        n_alerts=max((message.alert for message in trial.messages), default=0),
        n_messages=len(trial.messages),
        n_a_week=len(trial.messages) / weeks,
        messages=[
            TriedMessage(
                at=message.at,
                alert=message.alert,
                kind=message.kind,
                colour=message.colour or "",
                channels=[names[channel_id] for channel_id in message.channels],
                episodes=list(message.episode_ids),
            )
            for message in shown
        ],
        episodes=[trial.episodes[episode_id] for episode_id in list(dict.fromkeys(named))[:MAX_TRIED]],
    )


@router.put("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def put_alert_route(id: IdPath, body: AlertRoutePut, principal: Administrator, session: WriteSession) -> AlertRouteInfo:  # noqa: A002
    """Change a route. Alerts that are open go on under the new settings; those of a disabled route send nothing more."""
    record = await channel_book.update_route(session, id, body.name, body.settings, is_enabled=body.is_enabled, by=principal.name)
    return _to_info(record, await count_open_by_route(session))


@router.delete("/{id}", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def delete_alert_route(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a route. Its alerts stay in the list and send nothing more."""
    await channel_book.delete_route(session, id)
    return Empty()


def _to_info(record: RouteRecord, n_open: dict[int, int]) -> AlertRouteInfo:
    try:
        settings: RouteSettings | None = RouteSettings.model_validate(record.settings)
    except ValidationError:
        settings = None
    return AlertRouteInfo(
        id=record.id,
        name=record.name,
        position=record.position,
        is_enabled=record.is_enabled,
        settings=settings,
        n_open=n_open.get(record.id, 0),
        created_by=record.created_by,
        created_at=record.created_at,
        updated_by=record.updated_by,
        updated_at=record.updated_at,
    )
