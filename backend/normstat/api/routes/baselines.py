"""Baselines: periods marked as normal, defined by windows, a recording or a rule."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.baseline_schemas import (
    BaselineArchive,
    BaselineCopy,
    BaselineHealth,
    BaselineList,
    VersionList,
)
from normstat.baselines import baseline_rows
from normstat.baselines.baseline_health import read_health
from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_versions import list_versions
from normstat.baselines.lifecycle import BaselineCreate, BaselineUpdate, create_requested, update_requested
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.errors import BadRequest, Conflict, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/baselines", tags=["baselines"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def list_baselines(
    session: ReadSession,
    host: Annotated[
        str | None, Query(description="only baselines of this host", min_length=1, max_length=200, pattern=NO_NUL)
    ] = None,
    *,
    archived: Annotated[bool, Query(description="list archived baselines instead")] = False,
) -> BaselineList:
    """List baselines, newest first. Those of a host include its rolling baseline, as the last one."""
    records = await baseline_rows.list_baselines(session, host, is_archived=archived)
    return BaselineList(baselines=records)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@open_to_limited(needs_whole_group=True)
@makes_rows(row_budgets.BASELINES)
async def create_baseline(body: BaselineCreate, principal: Operator, session: WriteSession) -> BaselineInfo:
    """Create a baseline: from given windows, a recording that begins now, or a rule."""
    return await create_requested(session, body, datetime.now(UTC), by=principal.name)


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_baseline(id: IdPath, session: ReadSession) -> BaselineInfo:  # noqa: A002
    """Return a baseline, archived or not."""
    return await baseline_rows.read_baseline(session, id)


@router.patch("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@open_to_limited(needs_whole_group=True, whole=Whole.BASELINE)
@makes_rows(row_budgets.BASELINE_VERSIONS)
async def update_baseline(id: IdPath, body: BaselineUpdate, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Change a baseline; other windows, hosts or another time zone create a new version."""
    return await update_requested(session, id, body, datetime.now(UTC), by=principal.name)


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited(whole=Whole.BASELINE)
async def delete_baseline(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a baseline with all its versions; samples stay."""
    await baseline_rows.delete_baseline(session, id)
    return Empty()


@router.get("/{id}/versions", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def list_baseline_versions(id: IdPath, session: ReadSession) -> VersionList:  # noqa: A002
    """List all versions of a baseline, newest first."""
    return VersionList(versions=await list_versions(session, id))


@router.get("/{id}/health", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_baseline_health(
    id: IdPath,  # noqa: A002
    session: ReadSession,
    host: Annotated[
        str | None,
        Query(description="only this host; each host takes up to a second", min_length=1, max_length=200, pattern=NO_NUL),
    ] = None,
) -> BaselineHealth:
    """Return the health of the baseline for each of its hosts: coverage, age, and which instances appeared and disappeared
    since.
    """
    version, hosts = await read_health(session, id, datetime.now(UTC), host=host)
    return BaselineHealth(version=version, hosts=hosts)


@router.post("/{id}/copy", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@open_to_limited(whole=Whole.BASELINE)
@makes_rows(row_budgets.BASELINES)
async def copy_baseline(id: IdPath, body: BaselineCopy, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Copy a baseline, with its rule."""
    return await baseline_rows.copy_baseline(session, id, body.name, datetime.now(UTC), made_by=principal.name)


@router.post("/{id}/archive", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited(whole=Whole.BASELINE)
async def archive_baseline(id: IdPath, body: BaselineArchive, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Hide a baseline from lists, or show it again. An archived baseline stops following its rule; it can still be read and
    compared with.
    """
    return await baseline_rows.archive_baseline(session, id, is_archived=body.is_archived)


@router.delete("/{id}/recording", responses=guarded_answers(NotFound, Conflict))
@open_to_limited(whole=Whole.BASELINE)
async def stop_baseline_recording(id: IdPath, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """End a recording now; what was recorded so far is the baseline."""
    return await baseline_rows.stop_recording(session, id, datetime.now(UTC), made_by=principal.name)
