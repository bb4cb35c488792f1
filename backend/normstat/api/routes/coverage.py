"""Coverage: when a host has data."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.query import report_coverage
from normstat.query.report_coverage import Coverage

router = LazyRouter(prefix="/hosts", tags=["coverage"], dependencies=[NEEDS_VIEWER])


@router.get("/{host}/coverage", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_coverage(
    host: HostPath,
    window: InWindow,
    session: ReadSession,
    width: Annotated[int, Query(ge=16, le=8000, description="width of the bar in pixels")] = 1000,
) -> Coverage:
    """Return when each stat of the host has samples inside the window, and which bytes were dropped."""
    return await report_coverage.read_coverage(session, host, window, width)
