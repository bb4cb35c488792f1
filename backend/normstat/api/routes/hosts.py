"""Hosts, their streams and rejected lines."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query, Request, Response

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, ReadSession, State, StatPath
from normstat.api.http.encodings import IfNoneMatch
from normstat.api.http.fleet_answers import respond
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import HostList, InstanceList
from normstat.errors import BadRequest, NotFound
from normstat.query import fact_history, host_events, host_lists
from normstat.query.fact_history import HostFacts
from normstat.query.host_events import HostEvents
from normstat.query.host_lists import HostDetail, RejectedLineList
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("", response_model=HostList, responses=guarded_answers())
@open_to_limited()
async def list_hosts(request: Request, state: State, if_none_match: IfNoneMatch = None) -> Response:
    """List all hosts by name.

    From 300 hosts on, data of agents may be some seconds old (ten at ten thousand hosts); the set of hosts and their tags
    never are. A client that has the list gets 304 (`ETag`, `If-None-Match`).
    """
    return await respond(await state.host_list.find(), if_none_match, request.headers.get("accept-encoding", ""))


@router.get("/{host}", responses=guarded_answers(NotFound))
@open_to_limited()
async def get_host(host: HostPath, session: ReadSession) -> HostDetail:
    """Return a host and its streams."""
    return await host_lists.read_host(session, host, datetime.now(UTC))


@router.get("/{host}/facts", responses=guarded_answers(NotFound))
@open_to_limited()
async def read_facts(host: HostPath, session: ReadSession) -> HostFacts:
    """Return the facts of a host (system, CPUs, memory, mounted file systems), and how they changed."""
    return await fact_history.read_host_facts(session, host)


@router.get("/{host}/events", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_events(host: HostPath, window: InWindow, session: ReadSession) -> HostEvents:
    """Return what happened to a host in the window: reboots, changes of its facts, and what was noted as an event."""
    return await host_events.read_host_events(session, host, window)


@router.get("/{host}/rejected", responses=guarded_answers(NotFound))
@open_to_limited()
async def list_rejected_lines(
    host: HostPath,
    session: ReadSession,
    stream_id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="only lines of this stream")] = None,
    reason: Annotated[str | None, Query(max_length=4000, pattern=NO_NUL, description="only lines rejected for this reason")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RejectedLineList:
    """List rejected lines of the host, newest first."""
    return await host_lists.list_rejected(session, host, stream_id, limit, reason=reason)


@router.get("/{host}/stats/{stat}/instances", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_instances(host: HostPath, stat: StatPath, window: InWindow, session: ReadSession) -> InstanceList:
    """List the instances of a stat that have samples in the window; above 10,000, those with the latest samples."""
    instances, n_left_out = await host_lists.list_instances(session, host, stat, window)
    return InstanceList(instances=instances, n_left_out=n_left_out)
