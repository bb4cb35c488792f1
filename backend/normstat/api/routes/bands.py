"""The band behind graphs."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import StringConstraints

from normstat.api.http.deps import NEEDS_VIEWER, HostQuery, InWindow, LargeReadSession, StatQuery
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.profiles import band
from normstat.profiles.band import BandList
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["baselines"], dependencies=[NEEDS_VIEWER])


# The lines of one graph.
MAX_SERIES: Final = 16
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=100_000, pattern=NO_NUL)]


@router.get("/bands", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_bands(
    *,
    baseline: Annotated[int, Query(ge=1, le=2**63 - 1, description="id of the baseline")],
    host: HostQuery,
    stat: StatQuery,
    field: Annotated[list[FieldKey], Query(min_length=1, max_length=MAX_SERIES, description="key of the field of each series")],
    window: InWindow,
    session: LargeReadSession,
    instance: Annotated[
        list[InstanceName] | None,
        Query(max_length=MAX_SERIES, description="name of the instance of each series, as many as fields; default: none have one"),
    ] = None,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="default: the newest")] = None,
) -> BandList:
    """Read the bands of series: p5, median and p95 in a baseline, hour by hour where the baseline has seasonality."""
    instances = instance or [""] * len(field)
    if len(instances) != len(field):
        raise BadRequest(f"There are {len(field)} fields and {len(instances)} instances; give one instance for each field, or none")
    wanted = band.BandRequest(baseline, version, host, stat, tuple(zip(field, instances, strict=True)), window)
    return await band.read_bands(session, wanted)
