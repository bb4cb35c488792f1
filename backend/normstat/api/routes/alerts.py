"""Alerts: what was sent to whom, who looks after it, and what silences it."""

from typing import Annotated, Final, Literal

from fastapi import Depends, Query

from normstat.alerts import alert_lists, alert_notes, silence_link
from normstat.alerts.alert_lists import AlertFilter, AlertInfo
from normstat.alerts.alert_outbox import retry_message
from normstat.alerts.silence_link import SilenceOffer
from normstat.api.http.audit_notes import changes_nothing, permitted_by_link
from normstat.api.http.deps import (
    NEEDS_OPERATOR,
    NEEDS_VIEWER,
    IdPath,
    Operator,
    ReadSession,
    State,
    WriteSession,
    check_origin,
    require_writable,
)
from normstat.api.http.handlers import error_answers, guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.alert_schemas import AlertAcknowledge, AlertPage, SilenceCheck, SilenceResult, SilenceUse
from normstat.errors import BadRequest, Conflict, NotAllowed, NotFound
from normstat.runtime.body import NO_NUL, Instant
from normstat.window import open_window

router = LazyRouter(tags=["alerts"])

MAX_OFFSET: Final = 100_000


def read_alert_filter(
    *,
    state: Annotated[Literal["waiting", "firing", "resolved", "dropped"] | None, Query(description="only in this state")] = None,
    is_open: Annotated[bool | None, Query(description="only those that wait or fire, or only those that are over")] = None,
    host: Annotated[str | None, Query(description="only with episodes of this host", max_length=200, pattern=NO_NUL)] = None,
    route: Annotated[str | None, Query(description="only of the route of this name", max_length=200, pattern=NO_NUL)] = None,
    start: Annotated[Instant | None, Query(description="only those that were open at this instant or later")] = None,
    end: Annotated[Instant | None, Query(description="only those that were opened before this instant")] = None,
    has_failed: Annotated[bool | None, Query(description="only with a message that was given up, or only without")] = None,
) -> AlertFilter:
    """Return the filter that the parameters ask for.

    Raises: BadRequest for an end before the start
    """
    window = open_window(start, end)
    return AlertFilter(state, is_open, host, route, window, has_failed)


@router.get("/alerts", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest))
@open_to_limited()
async def list_alerts(
    session: ReadSession,
    wanted: Annotated[AlertFilter, Depends(read_alert_filter)],
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> AlertPage:
    """List alerts with their messages, the latest first."""
    alerts = await alert_lists.list_alerts(session, wanted, limit=limit, offset=offset)
    return AlertPage(await alert_lists.count_alerts(session, wanted), alerts)


@router.get("/alerts/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_alert(id: IdPath, session: ReadSession) -> AlertInfo:  # noqa: A002
    """Return an alert."""
    return await alert_lists.read_alert(session, id)


@router.post("/alerts/{id}/acknowledge", responses=guarded_answers(NotFound))
@open_to_limited()
async def acknowledge_alert(
    id: IdPath,  # noqa: A002
    body: AlertAcknowledge,
    principal: Operator,
    session: WriteSession,
) -> AlertInfo:
    """Acknowledge an alert and its episodes: it no longer escalates or repeats."""
    await alert_notes.acknowledge_alert(session, id, by=principal.name, note=body.note)
    return await alert_lists.read_alert(session, id)


@router.delete("/alerts/{id}/acknowledge", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def take_back_alert_acknowledgement(id: IdPath, session: WriteSession) -> AlertInfo:  # noqa: A002
    """Withdraw the acknowledgement of an alert and of its episodes that last."""
    await alert_notes.take_back_alert_acknowledgement(session, id)
    return await alert_lists.read_alert(session, id)


@router.post("/alert-messages/{id}/retry", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def retry_alert_message(id: IdPath, session: WriteSession) -> AlertInfo:  # noqa: A002
    """Send a message again that was given up."""
    return await alert_lists.read_alert(session, await retry_message(session, id))


@router.post("/alert-silences/check", dependencies=[Depends(check_origin)], responses=error_answers(NotFound, NotAllowed))
@changes_nothing
async def check_silence_link(body: SilenceCheck, session: ReadSession) -> SilenceOffer:
    """Return what a silence link would mute; nothing is muted. The token is the permission: no login is needed."""
    return await silence_link.read_offer(session, body.token)


@router.post("/alert-silences", dependencies=[Depends(check_origin)], responses=error_answers(NotFound, NotAllowed, Conflict))
@permitted_by_link
async def use_silence_link(body: SilenceUse, session: WriteSession, state: State) -> SilenceResult:
    """Mute what an alert is about, from now on, by the token of its silence link. A link works once."""
    require_writable(state)
    return SilenceResult(await silence_link.use_link(session, body.token, minutes=body.minutes, reason=body.reason))
