"""Comparing an incident with what is normal."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Annotated

import anyio.to_thread
import orjson
from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from normstat.api.comparison_answer import answer_in_turn
from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.comparison_schemas import Comparison
from normstat.api.deps import State, Viewer
from normstat.api.disconnect import run_while_connected
from normstat.api.handlers import guarded_answers, request_id_of, text_answers
from normstat.api.state import AppState
from normstat.api.streaming import PieceResponse
from normstat.errors import BadRequest, NoData, NormstatError, NotFound, Overloaded, TooLarge

router = APIRouter(prefix="/comparison", tags=["comparison"])

ANSWERS = guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded)


@router.get("", responses=ANSWERS)
async def compare(inputs: Annotated[ComparisonInputs, Query()], request: Request, principal: Viewer, state: State) -> Comparison:
    """Rank what differs in the window start..end from what is normal: a baseline, another window, a time ago, another host."""
    return await run_while_connected(request, answer_in_turn(state, principal.name, inputs))


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses=text_answers(
        ANSWERS,
        media_type="application/x-ndjson",
        description="lines of JSON: `progress` {done, total, what} as it goes on, and last `result` (as of GET /comparison)"
        " or `error`",
    ),
)
async def compare_with_progress(
    inputs: Annotated[ComparisonInputs, Query()], request: Request, principal: Viewer, state: State
) -> StreamingResponse:
    """Compare, and tell how far it is meanwhile."""
    inputs.require_against()
    lines = _lines(state, principal.name, inputs, request_id_of(request))
    # A proxy that waits for more would keep the progress back.
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return PieceResponse(lines, media_type="application/x-ndjson", headers=headers, stall_s=state.settings.reader_stall_s)


async def _lines(state: AppState, account: str, inputs: ComparisonInputs, request_id: str) -> AsyncGenerator[bytes]:
    steps: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def tell(done: int, total: int, what: str) -> None:
        await steps.put(_to_line({"progress": {"done": done, "total": total, "what": what}}))

    async def work() -> bytes:
        try:
            result = await answer_in_turn(state, account, inputs, tell)
        except NormstatError as error:
            told = {"code": error.code, "message": error.message, "details": dict(error.details), "request_id": request_id}
            return _to_line({"error": told})
        finally:
            await steps.put(None)
        return await anyio.to_thread.run_sync(lambda: b'{"result":' + result.model_dump_json().encode() + b"}\n")

    task = asyncio.create_task(work())
    try:
        while (step := await steps.get()) is not None:
            yield step
        yield await task
    finally:
        # A client that went away does not want the rest.
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _to_line(value: object) -> bytes:
    return orjson.dumps(value) + b"\n"
