"""Routes of alerts: which episodes become messages. They are tried in the order of their positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import flush_name, require_row
from normstat.db.schema.alert_models import AlertRouteRow
from normstat.errors import BadRequest

MAX_ROUTES: Final = 100
NAME_CONSTRAINT: Final = "uq_alert_routes__name"


@dataclass(frozen=True, slots=True)
class RouteDraft:
    """A route to store."""

    name: str
    is_enabled: bool
    settings: Mapping[str, object]
    changed_by: str


@dataclass(frozen=True, slots=True)
class RouteRecord:
    """A stored route."""

    id: int
    name: str
    position: int
    is_enabled: bool
    settings: dict[str, object]
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime


async def list_routes(session: AsyncSession) -> list[RouteRecord]:
    """Return all routes in their order."""
    rows = await session.scalars(select(AlertRouteRow).order_by(AlertRouteRow.position, AlertRouteRow.id))
    return [_to_record(row) for row in rows]


async def create_route(session: AsyncSession, draft: RouteDraft) -> RouteRecord:
    """Return the new route, the last one in the order.

    Raises: Conflict when the name is taken; BadRequest with too many routes
    """
    count = select(func.count(), func.coalesce(func.max(AlertRouteRow.position), 0)).select_from(AlertRouteRow)
    n, last = (await session.execute(count)).one()
    if n >= MAX_ROUTES:
        raise BadRequest(f"There are {n} routes; at most {MAX_ROUTES} can be stored. Delete some first")
    row = AlertRouteRow(created_by=draft.changed_by, position=last + 1)
    _fill(row, draft)
    session.add(row)
    return await _save(session, row)


async def update_route(session: AsyncSession, route_id: int, draft: RouteDraft) -> RouteRecord:
    """Return the changed route.

    Raises: NotFound; Conflict when the name is taken
    """
    row = await _require(session, route_id)
    _fill(row, draft)
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


def _fill(row: AlertRouteRow, draft: RouteDraft) -> None:
    row.name, row.is_enabled, row.settings, row.updated_by = draft.name, draft.is_enabled, dict(draft.settings), draft.changed_by


async def _save(session: AsyncSession, row: AlertRouteRow) -> RouteRecord:
    await flush_name(session, row.name, constraint=NAME_CONSTRAINT, what="A route")
    await session.refresh(row)
    return _to_record(row)


async def _require(session: AsyncSession, route_id: int) -> AlertRouteRow:
    return await require_row(session, AlertRouteRow, route_id, what="alert route", listed_at="/api/v1/alert-routes")


def _to_record(row: AlertRouteRow) -> RouteRecord:
    return RouteRecord(
        id=row.id,
        name=row.name,
        position=row.position,
        is_enabled=row.is_enabled,
        settings=row.settings,
        created_by=row.created_by,
        created_at=row.created_at,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
    )
