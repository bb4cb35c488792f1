"""What moves with a series."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Query, Request

from normstat.api.http.deps import HostPath, InWindow, State, StatQuery, Viewer
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.comparison.related_series import MAX_GROUPS, RelatedAnswer, RelatedRequest, find_related, names_of_hosts
from normstat.db.session import make_sessions, open_read_session
from normstat.errors import BadRequest, NoData, NotFound, Overloaded, TooLarge
from normstat.runtime.body import NO_NUL, Name
from normstat.runtime.work_budget import working

router = LazyRouter(prefix="/hosts", tags=["series"])

MAX_OTHERS: Final = 50


@router.get("/{host}/related-series", responses=guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded))
@open_to_limited()
async def list_related_series(
    *,
    host: HostPath,
    stat: StatQuery,
    field: Annotated[str, Query(min_length=1, max_length=63, pattern=NO_NUL, description="key of the field")],
    window: InWindow,
    request: Request,
    principal: Viewer,
    state: State,
    instance: Annotated[str, Query(max_length=1000, pattern=NO_NUL, description="empty for stats without instances")] = "",
    other_host: Annotated[
        list[Name] | None, Query(max_length=MAX_OTHERS, description="look at the series of these hosts, too")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_GROUPS, description="most fields in the answer; all series are counted")] = 30,
) -> RelatedAnswer:
    """Return the series that move with one around a window: in which direction, and how long before or after it.

    Movements are compared, not levels, and the answer is empty where chance would explain as much: docs/comparison.md.
    """
    asked = RelatedRequest(names_of_hosts(host, other_host or ()), stat, field, instance, window, limit)
    return await run_while_connected(request, _find(state, principal.name, asked))


async def _find(state: AppState, account: str, asked: RelatedRequest) -> RelatedAnswer:
    # It takes its turn and its memory among the comparisons, and waits without a connection.
    sessions = make_sessions(await state.reads.choose(account))
    async with state.comparison_slots.hold(account):
        with working(state.comparison_memory):
            async with open_read_session(sessions) as session:
                return await find_related(session, asked, datetime.now(UTC))
