"""Hosts, their streams and what could not be read of them."""

from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import HostPath, InWindow, ReadSession, StatPath, Viewer
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import HostDetail, HostList, InstanceList, RejectedLineList
from normstat.errors import BadRequest, NormstatError, NotFound

router = APIRouter(prefix="/hosts", tags=["hosts"])


@router.get("", responses=guarded_answers())
async def list_hosts(principal: Viewer, session: ReadSession) -> HostList:
    """Lists all hosts by name."""
    raise NormstatError("not built yet")


@router.get("/{host}", responses=guarded_answers(NotFound))
async def get_host(host: HostPath, principal: Viewer, session: ReadSession) -> HostDetail:
    """Shows a host and its streams."""
    raise NormstatError("not built yet")


@router.get("/{host}/rejected", responses=guarded_answers(NotFound))
async def list_rejected_lines(
    host: HostPath,
    principal: Viewer,
    session: ReadSession,
    stream_id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="only lines of this stream")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RejectedLineList:
    """Lists lines of the host that could not be read, the newest first."""
    raise NormstatError("not built yet")


@router.get("/{host}/stats/{stat}/instances", responses=guarded_answers(BadRequest, NotFound))
async def list_instances(host: HostPath, stat: StatPath, window: InWindow, principal: Viewer, session: ReadSession) -> InstanceList:
    """Lists the instances of a stat that have samples in the window."""
    raise NormstatError("not built yet")
