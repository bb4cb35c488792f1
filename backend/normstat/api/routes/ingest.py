"""Ingest: the data that agents send."""

import math
from typing import Final

from fastapi import Request
from fastapi.responses import PlainTextResponse
from starlette.datastructures import Headers

from normstat.api.http.deps import Admitted, Agent, State
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.auth.access import AgentPrincipal
from normstat.errors import (
    BadFrame,
    BadRequest,
    NotAuthenticated,
    Overloaded,
    TooLarge,
    TooManyRequests,
    TooSlow,
    UnsupportedMediaType,
    shorten,
)
from normstat.ingest.batching import AgentIdentity, IngestRequest
from normstat.ingest.protocol import Ack, Frame, format_acks

router = LazyRouter(tags=["ingest"])

GZIP_NAMES: Final = frozenset({"gzip", "x-gzip"})
# Maximum wait for other requests to be stored before this one is refused.
MAX_WAIT_S: Final = 15.0
MAX_MACHINE_LENGTH: Final = 100


@router.post(
    "/ingest",
    response_class=PlainTextResponse,
    responses=text_answers(
        guarded_answers(BadFrame, BadRequest, TooLarge, TooManyRequests, TooSlow, UnsupportedMediaType, Overloaded),
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
async def ingest(request: Request, admitted: Admitted, agent: Agent, state: State) -> PlainTextResponse:
    """Store frames of raw tool output (docs/wire-format.md); a 200 answer means that they are committed."""
    async with admitted.frames(request, is_gzip=_is_gzip(request)) as frames:
        acks = await _take(state, agent, request.headers, frames)
    host = request.headers.get("normstat-host", "")
    begun = state.begun.of_host(host)
    is_urgent = bool(begun) or state.live.is_watched(host)
    # The agent is to take a new token at /ingest/token; its own lines `when` say what follows from episodes that began.
    said = {
        "Normstat-Token": "rotate" if agent.is_rotation_due else "",
        "Normstat-Begun": begun,
        "Normstat-Interval": str(state.ingest_queue.post_intervals.of_host(is_urgent=is_urgent)),
    }
    return PlainTextResponse(format_acks(acks), headers={name: text for name, text in said.items() if text})


def _is_gzip(request: Request) -> bool:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in GZIP_NAMES | {"identity", ""}:
        raise UnsupportedMediaType(f"Unsupported Content-Encoding {shorten(encoding)}; expected gzip or identity")
    return encoding in GZIP_NAMES


async def _take(state: AppState, agent: AgentPrincipal, headers: Headers, frames: list[Frame]) -> list[Ack]:
    job = IngestRequest(
        AgentIdentity(agent.host_id, agent.token_id, is_remembered=agent.is_remembered),
        host_name=headers.get("normstat-host", ""),
        os=headers.get("normstat-os", ""),
        agent_version=headers.get("normstat-agent", ""),
        host_time=_read_time(headers.get("normstat-time", "")),
        frames=frames,
        tags=headers.get("normstat-tags", ""),
        machine=headers.get("normstat-machine", "")[:MAX_MACHINE_LENGTH],
    )
    return await submit(state, job)


async def submit(state: AppState, job: IngestRequest) -> list[Ack]:
    """Store the request of an agent or another sender in one transaction with others; it is committed on return.

    Raises: what storing raises, NotAuthenticated for a token that was revoked in the meantime, Overloaded, DatabaseAway
    """
    try:
        return await state.ingest_queue.submit(job, longest_wait_s=MAX_WAIT_S)
    except TimeoutError:
        await state.outage.require_answer()
        state.ingest_gate.refuse()
    except NotAuthenticated:
        # Revoked elsewhere while it was cached.
        token_id = job.agent.token_id
        state.agents.forget(token_id)
        source = f"agent token {token_id}"
        state.security_log.note("token_refused", source, kind="agent", reason="revoked", token_id=token_id)
        raise


def _read_time(text: str) -> float | None:
    """Return seconds since the epoch. Missing: None when the host cannot tell, or sends anything else; its samples are stored all
    the same.
    """
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and abs(seconds) < 1e12 else None
