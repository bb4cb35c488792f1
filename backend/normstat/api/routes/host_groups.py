"""Host groups: hosts that share baselines."""

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.baseline_schemas import HostGroupCreate, HostGroupList
from normstat.baselines import host_group_rows
from normstat.baselines.host_group_rows import HostGroupInfo, HostGroupUpdate
from normstat.db import row_budgets
from normstat.errors import BadRequest, Conflict, NotFound, TooManyRequests

router = LazyRouter(prefix="/host-groups", tags=["host groups"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_host_groups(session: ReadSession) -> HostGroupList:
    """List host groups, by name."""
    return HostGroupList(groups=await host_group_rows.list_groups(session))


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@makes_rows(row_budgets.HOST_GROUPS)
async def create_host_group(body: HostGroupCreate, principal: Operator, session: WriteSession) -> HostGroupInfo:
    """Create a host group."""
    return await host_group_rows.create_group(session, body.name, body.note, body.hosts, created_by=principal.name)


@router.patch("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@makes_rows(row_budgets.BASELINE_VERSIONS)
async def update_host_group(id: IdPath, body: HostGroupUpdate, principal: Operator, session: WriteSession) -> HostGroupInfo:  # noqa: A002
    """Change a group; other hosts give its baselines a new version."""
    return await host_group_rows.update_group(session, id, body, by=principal.name)


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
async def delete_host_group(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a group; its baselines keep covering the hosts that it had."""
    await host_group_rows.delete_group(session, id)
    return Empty()
