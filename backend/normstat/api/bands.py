"""The band behind graphs."""

from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.baseline_schemas import BandInfo, BandStep
from normstat.api.deps import NEEDS_VIEWER, HostQuery, InWindow, ReadSession, StatQuery
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL
from normstat.errors import BadRequest, NotFound
from normstat.profiles import band
from normstat.window import to_us

router = APIRouter(tags=["baselines"], dependencies=[NEEDS_VIEWER])
US_PER_MS = 1000


@router.get("/band", responses=guarded_answers(BadRequest, NotFound))
async def read_band(
    *,
    baseline: Annotated[int, Query(ge=1, le=2**63 - 1, description="id of the baseline")],
    host: HostQuery,
    stat: StatQuery,
    field: Annotated[str, Query(min_length=1, max_length=63, pattern=NO_NUL, description="key of the field")],
    window: InWindow,
    session: ReadSession,
    instance: Annotated[
        str, Query(max_length=100_000, pattern=NO_NUL, description="name of the instance; empty for stats without")
    ] = "",
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="default: the newest")] = None,
) -> BandInfo:
    """Read the band of a series: p5, median and p95 in a baseline, hour by hour where the baseline has seasonality."""
    wanted = band.BandRequest(baseline, version, host, stat, field, instance, window)
    found = await band.read_band(session, wanted)
    steps = [
        BandStep(
            start_ms=to_us(part.start) // US_PER_MS,
            end_ms=to_us(part.end) // US_PER_MS,
            p5=part.p5,
            p50=part.p50,
            p95=part.p95,
            n=part.n,
        )
        for part in found.steps
    ]
    return BandInfo(
        baseline=found.baseline,
        version=found.version,
        is_seasonal=found.is_seasonal,
        steps=steps,
        unit=found.unit,
        reason=found.reason or None,
    )
