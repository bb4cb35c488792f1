"""The USE matrix of a host, and of all hosts; the status of a host by the rules."""

from datetime import UTC, datetime
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Request, Response
from pydantic import TypeAdapter

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, ReadSession, State
from normstat.api.http.encodings import IfNoneMatch
from normstat.api.http.fleet_answers import FleetBody, limit_body, respond
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, NotFound
from normstat.runtime.body import Instant
from normstat.watch.host_status import HostStatus, read_status
from normstat.watch.use import matrix
from normstat.watch.use.matrix import FleetUse, UseMatrix

router = LazyRouter(tags=["hosts"], dependencies=[NEEDS_VIEWER])
_ADAPTER: Final = TypeAdapter(FleetUse)


@router.get("/hosts/{host}/use", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_use_matrix(
    host: HostPath,
    session: ReadSession,
    at: Annotated[Instant | None, Query(description="the end of the five minutes that are shown; default: now")] = None,
) -> UseMatrix:
    """Return utilisation, saturation and errors of each resource of a host, and the commands for what is not recorded."""
    return await matrix.read_matrix(session, host, at or datetime.now(UTC))


@router.get("/hosts/{host}/status", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def get_host_status(
    host: HostPath,
    session: ReadSession,
    at: Annotated[Instant | None, Query(description="the moment whose last reports are judged; default: now")] = None,
) -> HostStatus:
    """Return the state of each subsystem of a host by the rules, with what to do, and the verdict of `live_test.se`."""
    return await read_status(session, host, at or datetime.now(UTC))


@router.get("/use", response_model=FleetUse, responses=guarded_answers(BadRequest))
@open_to_limited()
async def read_fleet_use(
    request: Request,
    state: State,
    at: Annotated[Instant | None, Query(description="the end of the minute that is shown; default: now")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the worst of utilisation, saturation and errors of each resource of every host.

    An answer is cached for a few seconds, and a client that has it gets 304 (`ETag`, `If-None-Match`).
    """

    async def make() -> tuple[FleetBody, bool]:
        async with open_read_session(state.sessions) as session:
            fleet = await matrix.read_fleet_use(session, at or datetime.now(UTC))
        return await anyio.to_thread.run_sync(lambda: FleetBody.of(_ADAPTER.dump_json(fleet))), True

    body = await limit_body(state.sessions, await state.use_answers.find(at, make), "host")
    return await respond(body, if_none_match, request.headers.get("accept-encoding", ""))
