"""Routes of alerts: which episodes become messages."""

from typing import Final

from normstat.alerts import channel_book
from normstat.alerts.alert_channel_rows import list_channels
from normstat.alerts.alert_lists import count_open_by_route
from normstat.alerts.alert_route_rows import AlertRouteInfo, AlertRoutePut, list_routes, show_route
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
    AlertRouteList,
    AlertRouteOrder,
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
    return AlertRouteList([show_route(row, n_open.get(row.id, 0)) for row in await list_routes(session)])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_alert_route(body: AlertRoutePut, principal: Administrator, session: WriteSession) -> AlertRouteInfo:
    """Create a route, the last one in the order. An enabled one also takes the present episodes."""
    return show_route(await channel_book.create_route(session, body, by=principal.name), 0)


@router.put("/order", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(BadRequest))
async def order_alert_routes(body: AlertRouteOrder, session: WriteSession) -> AlertRouteList:
    """Give all routes another order."""
    rows = await channel_book.order_routes(session, body.ids)
    n_open = await count_open_by_route(session)
    return AlertRouteList([show_route(row, n_open.get(row.id, 0)) for row in rows])


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
    row = await channel_book.update_route(session, id, body, by=principal.name)
    return show_route(row, (await count_open_by_route(session)).get(id, 0))


@router.delete("/{id}", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def delete_alert_route(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a route. Its alerts stay in the list and send nothing more."""
    await channel_book.delete_route(session, id)
    return Empty()
