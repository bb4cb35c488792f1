"""Comparing an incident with what is normal."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import NEEDS_VIEWER, HostQuery, InWindow, ReadSession, State
from normstat.api.handlers import guarded_answers
from normstat.api.instants import Instant
from normstat.api.schemas import Comparison
from normstat.baseline.run import ComparisonRequest, run_comparison
from normstat.errors import BadRequest, NoData, NotFound
from normstat.window import Window

router = APIRouter(prefix="/comparison", tags=["comparison"], dependencies=[NEEDS_VIEWER])


@router.get("", responses=guarded_answers(BadRequest, NotFound, NoData))
async def compare(
    *,
    host: HostQuery,
    window: InWindow,
    state: State,
    session: ReadSession,
    baseline: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="id of a baseline")] = None,
    baseline_start: Annotated[Instant | None, Query(description="instead of a baseline: its first instant")] = None,
    baseline_end: Annotated[Instant | None, Query(description="instead of a baseline: the first instant after it")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="most findings in the answer; all are counted")] = 200,
) -> Comparison:
    """Ranks what differs between the baseline (first) and the window start..end (second)."""
    request = ComparisonRequest(
        host=host, baseline=_require_baseline(baseline, baseline_start, baseline_end), incident=window, limit=limit
    )
    return Comparison.model_validate(await run_comparison(session, request, max_rows=state.settings.compare_max_rows))


def _require_baseline(baseline: int | None, start: datetime | None, end: datetime | None) -> int | Window:
    match baseline, start, end:
        case int(), None, None:
            return baseline
        case None, datetime(), datetime():
            return Window(start, end)
        case _:
            raise BadRequest("Give either `baseline` (the id of one) or both `baseline_start` and `baseline_end`")
