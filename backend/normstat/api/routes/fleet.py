"""The fleet: all hosts at one moment."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Request, Response
from pydantic import TypeAdapter

from normstat.api.http.deps import NEEDS_VIEWER, State
from normstat.api.http.encodings import IfNoneMatch
from normstat.api.http.fleet_answers import FleetBody, limit_body, respond
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.db.session import open_read_session
from normstat.errors import BadRequest
from normstat.runtime.body import Instant
from normstat.watch.fleet.fleet_model import Fleet
from normstat.watch.fleet.fleet_service import read_fleet as read_whole_fleet

router = LazyRouter(tags=["fleet"], dependencies=[NEEDS_VIEWER])

# Clocks of browsers are this far ahead at most.
MAX_AHEAD: Final = timedelta(minutes=5)
_ADAPTER: Final = TypeAdapter(Fleet)


@router.get("/fleet", response_model=Fleet, responses=guarded_answers(BadRequest))
@open_to_limited()
async def read_fleet(
    request: Request,
    state: State,
    at: Annotated[Instant | None, Query(description="the moment; default: now")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return all hosts in the hour before a moment, each beside its own normal.

    An answer is cached for a few seconds, and a client that has it gets 304 (`ETag`, `If-None-Match`). With fewer
    `n_minutes_read` than `n_minutes` the hour is still being read: ask again.
    """
    now = datetime.now(UTC)
    if at is not None and at > now + MAX_AHEAD:
        raise BadRequest(f"{at.isoformat()} is in the future; leave `at` out for the fleet as it is now")

    async def make() -> tuple[FleetBody, bool]:
        async with open_read_session(state.sessions) as session:
            fleet = await read_whole_fleet(session, state.fleet_memory, at, now=now)
        body = await anyio.to_thread.run_sync(lambda: FleetBody.of(_ADAPTER.dump_json(fleet)))
        return body, fleet.n_minutes_read == fleet.n_minutes

    body = await limit_body(state.sessions, await state.fleet_answers.find(at, make), "name")
    return await respond(body, if_none_match, request.headers.get("accept-encoding", ""))
