"""What agents send."""

import asyncio
import math
from functools import partial
from typing import Final

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from starlette.datastructures import Headers

from normstat.api.deps import Agent, State
from normstat.api.handlers import guarded_answers, text_answers
from normstat.api.state import AppState
from normstat.auth.access import AgentPrincipal
from normstat.errors import BadFrame, BadRequest, TooLarge, TooManyRequests, UnsupportedMediaType, shorten
from normstat.ingest.intake import AgentIdentity, take_request
from normstat.ingest.wire import Ack, Frame, format_acks, read_body

router = APIRouter(tags=["ingest"])

GZIP_NAMES: Final = frozenset({"gzip", "x-gzip"})
# So long a request waits for others to be stored before it is sent away.
LONGEST_WAIT_S: Final = 15.0
RETRY_AFTER_S: Final = 5


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
    frames = await _read_frames(request, max_plain=state.settings.ingest_max_plain_bytes)
    acks = await _take(state, agent, request.headers, frames)
    return PlainTextResponse(format_acks(acks))


async def _read_frames(request: Request, *, max_plain: int) -> list[Frame]:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in GZIP_NAMES | {"identity", ""}:
        raise UnsupportedMediaType(f"The Content-Encoding is {shorten(encoding)}; gzip and identity are taken")
    # The middleware ends the reading of a body that is too long.
    body = await request.body()
    return await anyio.to_thread.run_sync(partial(read_body, body, is_gzip=encoding in GZIP_NAMES, max_plain=max_plain))


async def _take(state: AppState, agent: AgentPrincipal, headers: Headers, frames: list[Frame]) -> list[Ack]:
    try:
        await asyncio.wait_for(state.ingest_slots.acquire(), LONGEST_WAIT_S)
    except TimeoutError:
        raise TooManyRequests(
            "Too many agents send at once; nothing was taken; send it again", {"retry_after_s": RETRY_AFTER_S}
        ) from None
    try:
        return await take_request(
            state.engine,
            agent=AgentIdentity(host_id=agent.host_id, token_id=agent.token_id),
            host_name=headers.get("normstat-host", ""),
            os=headers.get("normstat-os", ""),
            agent_version=headers.get("normstat-agent", ""),
            host_time=_read_time(headers.get("normstat-time", "")),
            frames=frames,
        )
    finally:
        state.ingest_slots.release()


def _read_time(text: str) -> float | None:
    """Seconds since the epoch. Missing: None when the host cannot tell, or says something else; its samples count all the same."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and abs(seconds) < 1e12 else None
