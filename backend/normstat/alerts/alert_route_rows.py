"""Routes of alerts: which episodes become messages. They are tried in the order of their positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import ValidationError
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts.route_settings import RouteSettings
from normstat.db.named_rows import flush_name, require_row
from normstat.db.row_records import to_record
from normstat.db.schema.alert_models import AlertRouteRow
from normstat.errors import BadRequest
from normstat.runtime.body import Body, Name
from normstat.runtime.field_docs import Documented

MAX_ROUTES: Final = 100
NAME_CONSTRAINT: Final = "uq_alert_routes__name"


class AlertRoutePut(Body):
    """A route."""

    name: Name
    is_enabled: bool = True
    settings: RouteSettings


@dataclass(frozen=True, slots=True)
class AlertRouteInfo(Documented):
    """A route: which episodes become messages, to which channels, and when."""

    id: int
    name: str
    position: int
    """Routes are tried in this order."""
    is_enabled: bool
    settings: RouteSettings | None
    """Null where this version cannot read them any more; the route sends nothing then."""
    n_open: int
    """Alerts of it that are waiting or firing."""
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime


async def list_routes(session: AsyncSession) -> list[AlertRouteRow]:
    """Return all routes in their order."""
    return list(await session.scalars(select(AlertRouteRow).order_by(AlertRouteRow.position, AlertRouteRow.id)))


async def create_route(session: AsyncSession, body: AlertRoutePut, *, by: str) -> AlertRouteRow:
    """Return the new route, the last one in the order.

    Raises: Conflict when the name is taken; BadRequest with too many routes
    """
    count = select(func.count(), func.coalesce(func.max(AlertRouteRow.position), 0)).select_from(AlertRouteRow)
    n, last = (await session.execute(count)).one()
    if n >= MAX_ROUTES:
        raise BadRequest(f"There are {n} routes; at most {MAX_ROUTES} can be stored. Delete some first")
    row = AlertRouteRow(created_by=by, position=last + 1)
    _fill(row, body, by)
    session.add(row)
    return await _save(session, row)


async def update_route(session: AsyncSession, route_id: int, body: AlertRoutePut, *, by: str) -> AlertRouteRow:
    """Return the changed route.

    Raises: NotFound; Conflict when the name is taken
    """
    row = await _require(session, route_id)
    _fill(row, body, by)
    row.updated_at = (await session.scalars(select(func.now()))).one()
    return await _save(session, row)


async def delete_route(session: AsyncSession, route_id: int) -> None:
    """Delete a route; its alerts stay, and send nothing more.

    Raises: NotFound
    """
    await session.delete(await _require(session, route_id))
    await session.flush()


async def order_routes(session: AsyncSession, ids: Sequence[int]) -> None:
    """Give all routes another order.

    Raises: BadRequest, when the ids are not exactly those of all routes
    """
    rows = {row.id: row for row in await session.scalars(select(AlertRouteRow))}
    if sorted(ids) != sorted(rows):
        raise BadRequest("Expected the ids of all routes, each once, in their new order; GET /api/v1/alert-routes lists them")
    for position, route_id in enumerate(ids, start=1):
        rows[route_id].position = position
    await session.flush()


def _fill(row: AlertRouteRow, body: AlertRoutePut, by: str) -> None:
    row.name, row.is_enabled, row.settings, row.updated_by = body.name, body.is_enabled, body.settings.model_dump(mode="json"), by


async def _save(session: AsyncSession, row: AlertRouteRow) -> AlertRouteRow:
    await flush_name(session, row.name, constraint=NAME_CONSTRAINT, what="A route")
    await session.refresh(row)
    return row


async def _require(session: AsyncSession, route_id: int) -> AlertRouteRow:
    return await require_row(session, AlertRouteRow, route_id, what="alert route", listed_at="/api/v1/alert-routes")


def read_settings(row: AlertRouteRow) -> RouteSettings | None:
    """Return the settings of a route. Missing: None where this version cannot read them any more"""
    try:
        return RouteSettings.model_validate(row.settings)
    except ValidationError:
        return None


def show_route(row: AlertRouteRow, n_open: int) -> AlertRouteInfo:
    """Return a route as people see it. `n_open`: its alerts that are waiting or firing"""
    return to_record(AlertRouteInfo, row, settings=read_settings(row), n_open=n_open)
