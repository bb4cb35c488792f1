"""New samples, as they are committed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from normstat.api.deps import NEEDS_VIEWER, State
from normstat.api.handlers import guarded_answers, text_answers
from normstat.api.schemas import NO_NUL
from normstat.live.notify import LiveHub

router = APIRouter(tags=["live"], dependencies=[NEEDS_VIEWER])

PING_S: Final = 15
RETRY_MS: Final = 1000
# The browser comes back by itself after the end, and is asked for its login again; so a session that ended hears no more.
MAX_LENGTH_S: Final = 600.0
# A reader that takes nothing for this long is gone, even if the network has not said so.
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
async def follow(
    state: State,
    host: Annotated[str | None, Query(description="only this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
) -> EventSourceResponse:
    """Say, as server-sent events, that a host has data up to an instant; a slow reader gets the newest of each spec."""
    return EventSourceResponse(_events(state.live, host), ping=PING_S, send_timeout=SEND_TIMEOUT_S)


async def _events(hub: LiveHub, host: str | None) -> AsyncIterator[ServerSentEvent]:
    with hub.subscribe(host) as subscription:
        end = asyncio.get_running_loop().call_later(MAX_LENGTH_S, subscription.close)
        try:
            # Something to send at once, so that the browser knows that it is connected.
            yield ServerSentEvent(comment="connected", retry=RETRY_MS)
            async for event in subscription.events():
                yield ServerSentEvent(event="data", data=event.model_dump_json())
        finally:
            end.cancel()
