"""What agents send."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from normstat.api.deps import Agent, State
from normstat.api.handlers import guarded_answers, text_answers
from normstat.errors import BadFrame, BadRequest, NormstatError, TooLarge, TooManyRequests, UnsupportedMediaType

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest",
    response_class=PlainTextResponse,
    responses=text_answers(
        guarded_answers(BadFrame, BadRequest, TooLarge, UnsupportedMediaType, TooManyRequests),
        media_type="text/plain",
        description="committed: one line `<key> <acknowledged offset>` for each stream named",
    ),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/x-normstat-frames": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def ingest(request: Request, agent: Agent, state: State) -> PlainTextResponse:
    """Takes frames of raw tool output (docs/wire-format.md); the answer means that they are committed."""
    raise NormstatError("not built yet")
