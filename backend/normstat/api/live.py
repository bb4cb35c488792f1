"""New samples, as they are committed."""

from typing import Annotated

from fastapi import APIRouter, Query
from sse_starlette import EventSourceResponse

from normstat.api.deps import State, Viewer
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL
from normstat.errors import NormstatError

router = APIRouter(tags=["live"])


@router.get(
    "/live",
    response_class=EventSourceResponse,
    responses=guarded_answers()
    | {
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": 'events `data` with {"host", "spec", "last_sample_at"}; a comment every 15 s',
        }
    },
)
async def follow(
    principal: Viewer,
    state: State,
    host: Annotated[str | None, Query(description="only this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
) -> EventSourceResponse:
    """Says, as server-sent events, that a host has data up to an instant; a slow reader gets the newest of each spec."""
    raise NormstatError("not built yet")
