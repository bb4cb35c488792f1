"""Compare an incident with a baseline."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Annotated

import orjson
from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse

from normstat.api.http.deps import State, Viewer
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers, request_id_of, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.api.http.streaming import PieceResponse
from normstat.api.routes.comparison_answer import find_result, to_response
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.comparison.model import Comparison
from normstat.errors import BadRequest, NoData, NormstatError, NotFound, Overloaded, TooLarge

router = LazyRouter(prefix="/comparison", tags=["comparison"])

ANSWERS = guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded)


@router.get("", response_model=Comparison, responses=ANSWERS)
@open_to_limited(needs_whole_group=True)
async def compare(inputs: Annotated[ComparisonInputs, Query()], request: Request, principal: Viewer, state: State) -> Response:
    """Rank what changed in the window start..end against a baseline, another window, an earlier time, another host or a group."""
    return to_response(await run_while_connected(request, find_result(state, principal.name, inputs)))


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses=text_answers(
        ANSWERS,
        media_type="application/x-ndjson",
        description="lines of JSON: `progress` {done, total, what} while it runs, then `result` (as GET /comparison) or `error`",
    ),
)
@open_to_limited(needs_whole_group=True)
async def compare_with_progress(
    inputs: Annotated[ComparisonInputs, Query()], request: Request, principal: Viewer, state: State
) -> StreamingResponse:
    """Compare, and report progress meanwhile."""
    inputs.require_against()
    lines = _lines(state, principal.name, inputs, request_id_of(request))
    # A buffering proxy would hold the progress back.
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return PieceResponse(lines, media_type="application/x-ndjson", headers=headers, stall_s=state.settings.reader_stall_s)


async def _lines(state: AppState, account: str, inputs: ComparisonInputs, request_id: str) -> AsyncGenerator[bytes]:
    steps: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def tell(done: int, total: int, what: str) -> None:
        await steps.put(_to_line({"progress": {"done": done, "total": total, "what": what}}))

    async def work() -> bytes:
        try:
            result = await find_result(state, account, inputs, tell)
        except NormstatError as error:
            told = {"code": error.code, "message": error.message, "details": dict(error.details), "request_id": request_id}
            return _to_line({"error": told})
        finally:
            await steps.put(None)
        return b'{"result":' + result.body + b"}\n"

    task = asyncio.create_task(work())
    try:
        while (step := await steps.get()) is not None:
            yield step
        yield await task
    finally:
        # The client is gone.
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _to_line(value: object) -> bytes:
    return orjson.dumps(value) + b"\n"
