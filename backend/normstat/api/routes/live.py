"""Live notifications of new samples."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from normstat.api.http.deps import NEEDS_VIEWER, State
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.db.host_limits import read_visible_names
from normstat.db.limited_session import limited_account
from normstat.db.session import open_read_session
from normstat.live.notify import LiveHub
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["live"], dependencies=[NEEDS_VIEWER])

PING_S: Final = 15
RETRY_MS: Final = 1000
# The browser reconnects after the end and is authenticated again, so an ended session receives nothing more.
MAX_LENGTH_S: Final = 600.0
# A client that reads nothing for this long is gone, even if the network has not reported it.
SEND_TIMEOUT_S: Final = 30.0


@router.get(
    "/live",
    response_class=EventSourceResponse,
    responses=text_answers(
        guarded_answers(),
        media_type="text/event-stream",
        description='events `data` with {"host", "spec", "last_sample_at"}; a comment every 15 s',
    ),
)
@open_to_limited()
async def follow(
    state: State,
    host: Annotated[str | None, Query(description="only this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
) -> EventSourceResponse:
    """Notify the client by server-sent events that a host has data up to an instant; a slow reader gets the newest event of each
    spec.
    """
    hosts = None if host is None else frozenset({host})
    # The guard has made sure that a limited account sees the host.
    if host is None and limited_account() is not None:
        async with open_read_session(state.sessions) as session:
            hosts = await read_visible_names(session)
    return EventSourceResponse(_events(state.live, hosts, watched=host or ""), ping=PING_S, send_timeout=SEND_TIMEOUT_S)


async def _events(hub: LiveHub, hosts: frozenset[str] | None, *, watched: str) -> AsyncIterator[ServerSentEvent]:
    with hub.subscribe(hosts, watched=watched) as subscription:
        end = asyncio.get_running_loop().call_later(MAX_LENGTH_S, subscription.close)
        try:
            # Sends something at once, so that the browser knows it is connected.
            yield ServerSentEvent(comment="connected", retry=RETRY_MS)
            async for event in subscription.events():
                yield ServerSentEvent(event="data", data=event.model_dump_json())
        finally:
            end.cancel()
