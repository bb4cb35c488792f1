"""Mutes: series hidden from findings."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.baseline_schemas import MuteList
from normstat.baselines import mute_rows
from normstat.baselines.mute_rows import MuteCreate, MuteInfo
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.errors import Conflict, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/mutes", tags=["mutes"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def list_mutes(
    session: ReadSession,
    host: Annotated[
        str | None, Query(description="mutes of this host, and those of all hosts", min_length=1, max_length=200, pattern=NO_NUL)
    ] = None,
) -> MuteList:
    """List muted series."""
    return MuteList(mutes=await mute_rows.list_mutes(session, host))


@router.post("", status_code=201, responses=guarded_answers(NotFound, Conflict, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.MUTES)
async def create_mute(body: MuteCreate, principal: Operator, session: WriteSession) -> MuteInfo:
    """Mute a series: of one host or all, one instance or all."""
    return await mute_rows.create_mute(session, body, by=principal.name)


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.MUTE)
async def delete_mute(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Unmute a series: it appears among the findings again."""
    await mute_rows.delete_mute(session, id)
    return Empty()
