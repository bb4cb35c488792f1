"""When what a host records reaches its limits."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, LargeReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.runtime.body import Instant
from normstat.watch.forecasts import HostForecasts, read_forecasts_of_host

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("/{host}/forecasts", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_forecasts(
    host: HostPath,
    session: LargeReadSession,
    at: Annotated[Instant | None, Query(description="forecast from the four weeks before this moment; default: now")] = None,
) -> HostForecasts:
    """Return when file systems, inodes, memory, swap space, limits of units and processes' memory are used up, by their trend.

    The trend is over the span that was right before, so a nightly rhythm is no growth: docs/watching.md.
    """
    return await read_forecasts_of_host(session, host, at or datetime.now(UTC))
