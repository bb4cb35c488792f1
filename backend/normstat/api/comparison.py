"""Comparing an incident with what is normal."""

from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import HostQuery, InWindow, ReadSession, Viewer
from normstat.api.handlers import guarded_answers
from normstat.api.instants import Instant
from normstat.api.schemas import Comparison
from normstat.errors import BadRequest, NormstatError, NotFound

router = APIRouter(prefix="/comparison", tags=["comparison"])


@router.get("", responses=guarded_answers(BadRequest, NotFound))
async def compare(
    host: HostQuery,
    window: InWindow,
    principal: Viewer,
    session: ReadSession,
    baseline: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="id of a baseline")] = None,
    baseline_start: Annotated[Instant | None, Query(description="instead of a baseline: its first instant")] = None,
    baseline_end: Annotated[Instant | None, Query(description="instead of a baseline: the first instant after it")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="most findings in the answer; all are counted")] = 200,
) -> Comparison:
    """Ranks what differs between the baseline (first) and the window start..end (second)."""
    raise NormstatError("not built yet")
