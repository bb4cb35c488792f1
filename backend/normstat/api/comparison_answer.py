"""Run the comparisons that requests ask for, a bounded number at once."""

from typing import Final

import anyio.to_thread
from fastapi.responses import Response

from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.state import AppState
from normstat.comparison.host_comparison import Progress
from normstat.comparison.model import Comparison
from normstat.comparison.saved_format import to_json
from normstat.comparison.service import run_comparison
from normstat.storage.session import open_read_session
from normstat.work_budget import working

JSON: Final = "application/json"


async def compare_in_turn(state: AppState, account: str, inputs: ComparisonInputs, progress: Progress | None = None) -> Comparison:
    """Return a comparison, made when it is the account's turn. While it waits it holds no connection.

    Cancelling stops the running statement and the arithmetic.

    Raises: BadRequest, NotFound, NoData; Overloaded when others take too long; TooLarge when it needs too much memory
    """
    request = inputs.to_request()
    async with state.comparison_slots.hold(account):
        with working(state.comparison_memory):
            async with open_read_session(state.sessions) as session:
                return await run_comparison(session, request, max_rows=state.settings.compare_max_rows, progress=progress)


async def to_response(result: Comparison) -> Response:
    """Return the response with a comparison; serialised off the event loop, as it may have megabytes."""
    return Response(await anyio.to_thread.run_sync(to_json, result), media_type=JSON)
