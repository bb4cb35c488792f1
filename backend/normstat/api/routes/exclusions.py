"""Exclusions: incident windows left out of baselines."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.baseline_schemas import ExclusionGone, ExclusionList, ExclusionMade
from normstat.baselines import exclusion_rows
from normstat.baselines.exclusion_rows import ExclusionCreate
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.errors import BadRequest, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/exclusions", tags=["exclusions"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def list_exclusions(
    session: ReadSession,
    host: Annotated[
        str | None,
        Query(description="exclusions of this host, and those of all hosts", min_length=1, max_length=200, pattern=NO_NUL),
    ] = None,
) -> ExclusionList:
    """List the windows excluded from all baselines."""
    records = await exclusion_rows.list_exclusions(session, host=host)
    return ExclusionList(exclusions=records)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.EXCLUSIONS)
async def create_exclusion(body: ExclusionCreate, principal: Operator, session: WriteSession) -> ExclusionMade:
    """Mark a window as an incident: every baseline that contains it excludes it and is recomputed."""
    record, n_baselines = await exclusion_rows.create_exclusion(session, body, by=principal.name)
    return ExclusionMade(exclusion=record, n_baselines=n_baselines)


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.EXCLUSION)
async def delete_exclusion(id: IdPath, session: WriteSession) -> ExclusionGone:  # noqa: A002
    """Delete an exclusion: baselines include the window again."""
    return ExclusionGone(n_baselines=await exclusion_rows.delete_exclusion(session, id))
