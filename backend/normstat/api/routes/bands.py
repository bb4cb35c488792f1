"""The band behind graphs."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostQuery, InWindow, LargeReadSession, StatQuery
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.profiles import band
from normstat.profiles.band import BandInfo
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["baselines"], dependencies=[NEEDS_VIEWER])


@router.get("/band", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_band(
    *,
    baseline: Annotated[int, Query(ge=1, le=2**63 - 1, description="id of the baseline")],
    host: HostQuery,
    stat: StatQuery,
    field: Annotated[str, Query(min_length=1, max_length=63, pattern=NO_NUL, description="key of the field")],
    window: InWindow,
    session: LargeReadSession,
    instance: Annotated[
        str, Query(max_length=100_000, pattern=NO_NUL, description="name of the instance; empty for stats without")
    ] = "",
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="default: the newest")] = None,
) -> BandInfo:
    """Read the band of a series: p5, median and p95 in a baseline, hour by hour where the baseline has seasonality."""
    wanted = band.BandRequest(baseline, version, host, stat, field, instance, window)
    return await band.read_band(session, wanted)
