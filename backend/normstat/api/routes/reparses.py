"""Reading streams again from their raw bytes, in the background."""

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.spec_schemas import ReparseCreate
from normstat.db import row_budgets
from normstat.errors import BadRequest, NotFound, TooManyRequests
from normstat.records import reparse_rows
from normstat.records.reparse_rows import Reparse, ReparseList, ReparseScope
from normstat.samples.spec_refresh import refresh_catalogue

router = LazyRouter(prefix="/reparses", tags=["reparses"])


@router.post("", status_code=202, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.JOBS)
async def create_reparse(body: ReparseCreate, principal: Operator, session: WriteSession) -> Reparse:
    """Queue a reparse of streams with the current specs; the old samples stay visible until the new ones replace them."""
    await refresh_catalogue(session)
    scope = ReparseScope(host=body.host, stream_id=body.stream_id, spec=body.spec, is_outdated_only=body.is_outdated_only)
    return await reparse_rows.add_reparse(session, scope, created_by=principal.name)


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_reparses(session: ReadSession) -> ReparseList:
    """List the newest reparses, the newest first."""
    return await reparse_rows.list_reparses(session)


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_reparse(id: IdPath, session: ReadSession) -> Reparse:  # noqa: A002
    """Return the progress of a reparse."""
    return await reparse_rows.read_reparse(session, id)


@router.delete("/{id}", status_code=204, responses=guarded_answers(NotFound))
@open_to_limited()
async def stop_reparse(id: IdPath, principal: Operator, session: WriteSession) -> None:  # noqa: A002
    """Stop a reparse that waits or runs; streams that are done keep their new samples, all others their old ones."""
    await reparse_rows.stop_reparse(session, id, f"stopped by {principal.name}")
