"""Run the comparisons that requests ask for, a bounded number at once; a cached result is returned if nothing changed."""

from typing import Final

import anyio.to_thread
from fastapi.responses import Response

from normstat.api.http.comparison_cache import ComparisonResult
from normstat.api.http.state import AppState
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.comparison.fingerprint import read_fingerprint
from normstat.comparison.host_comparison import Progress
from normstat.comparison.model import Comparison
from normstat.comparison.saved_format import read_json, to_json
from normstat.comparison.service import run_whole_comparison
from normstat.db.limited_session import limited_account
from normstat.db.session import make_sessions, open_read_session
from normstat.runtime.work_budget import working

JSON: Final = "application/json"


async def find_result(
    state: AppState, account: str, inputs: ComparisonInputs, progress: Progress | None = None
) -> ComparisonResult:
    """Return the result of a comparison: a kept one if nothing changed since, else made when it is the account's turn.

    While it waits it holds no connection. Cancelling stops the running statement and the arithmetic.

    Raises: BadRequest, NotFound, NoData; Overloaded when others take too long; TooLarge when it needs too much memory
    """
    request = inputs.to_request()
    # One database for both: a result without changes that the standby has not replayed must not be cached under the primary's
    # inputs.
    sessions = make_sessions(await state.reads.choose(account))
    async with open_read_session(sessions) as session:
        fingerprint = await read_fingerprint(session, request)

    async def make(tell: Progress) -> ComparisonResult:
        async with state.comparison_slots.hold(account):
            with working(state.comparison_memory):
                async with open_read_session(sessions) as session:
                    whole = await run_whole_comparison(
                        session,
                        request,
                        max_rows=state.settings.compare_max_rows,
                        progress=tell,
                        events=fingerprint.events,
                    )
                body = await anyio.to_thread.run_sync(to_json, whole.comparison)
        return ComparisonResult(body, whole.rows)

    # The result for a limited account names no other hosts, such as the hosts of an event.
    key = fingerprint.key if limited_account() is None else f"{fingerprint.key} for account {limited_account()}"
    return await state.comparisons.find(key, make, progress)


async def compare_in_turn(state: AppState, account: str, inputs: ComparisonInputs, progress: Progress | None = None) -> Comparison:
    """Return a comparison: `find_result` without its series.

    Raises: BadRequest, NotFound, NoData, Overloaded, TooLarge
    """
    result = await find_result(state, account, inputs, progress)
    return await anyio.to_thread.run_sync(read_json, result.body)


def to_response(result: ComparisonResult) -> Response:
    """Return the response with a comparison."""
    return Response(result.body, media_type=JSON)
