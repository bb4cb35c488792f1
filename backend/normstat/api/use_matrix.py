"""The USE matrix of a host, and of all hosts."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import NEEDS_VIEWER, HostPath, ReadSession
from normstat.api.handlers import guarded_answers
from normstat.api.instants import Instant
from normstat.errors import BadRequest, NotFound
from normstat.use_matrix import matrix
from normstat.use_matrix.matrix import FleetUse, UseMatrix

router = APIRouter(tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("/hosts/{host}/use", responses=guarded_answers(BadRequest, NotFound))
async def read_use_matrix(
    host: HostPath,
    session: ReadSession,
    at: Annotated[Instant | None, Query(description="the end of the five minutes that are shown; default: now")] = None,
) -> UseMatrix:
    """Return utilisation, saturation and errors of each resource of a host, and the commands for what is not recorded."""
    return await matrix.read_matrix(session, host, at or datetime.now(UTC))


@router.get("/use", responses=guarded_answers(BadRequest))
async def read_fleet_use(
    session: ReadSession,
    at: Annotated[Instant | None, Query(description="the end of the minute that is shown; default: now")] = None,
) -> FleetUse:
    """Return the worst of utilisation, saturation and errors of each resource of every host."""
    return await matrix.read_fleet_use(session, at or datetime.now(UTC))
