"""Coverage: when a host has data, and which of its panels show none."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, LargeReadSession, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.query import report_coverage, zero_fields
from normstat.query.report_coverage import Coverage
from normstat.query.zero_fields import QuietStats

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


@router.get("/{host}/quiet-stats", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_quiet_stats(host: HostPath, window: InWindow, session: LargeReadSession) -> QuietStats:
    """Return the stats of the host with panels that show nothing in the window: no samples, or only zeros."""
    return await zero_fields.read_quiet_stats(session, host, window)
