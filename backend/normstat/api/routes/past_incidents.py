"""Past incidents: what a comparison looks like, and the causes that people name."""

from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Request

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, Operator, ReadSession, State, Viewer, WriteSession
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.comparison_answer import find_result
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.api.routes.saved_comparisons import read_saved
from normstat.comparison import past_incident_rows
from normstat.comparison.past_incident_rows import PastIncident, PastIncidentPage, PastIncidentUpdate, Recall
from normstat.comparison.signature import signature_of
from normstat.errors import BadRequest, Conflict, NoData, NotFound, Overloaded, TooLarge
from normstat.runtime.body import NO_NUL
from normstat.window import Window

router = LazyRouter(tags=["incidents"])

MAX_OFFSET: Final = 100_000


@router.get("/comparison/past", responses=guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded))
@open_to_limited(needs_whole_group=True)
async def recall_comparison(
    inputs: Annotated[ComparisonInputs, Query()], request: Request, principal: Viewer, state: State, session: ReadSession
) -> Recall:
    """Find the past incidents that a comparison looks like, by what moved and which way."""
    result = await run_while_connected(request, find_result(state, principal.name, inputs))
    signature = await anyio.to_thread.run_sync(signature_of, result.rows)
    return await past_incident_rows.recall(session, inputs.host, Window(inputs.start, inputs.end), signature)


@router.get("/comparisons/{id}/past", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def recall_saved_comparison(id: IdPath, session: ReadSession) -> Recall:  # noqa: A002
    """Find the past incidents that a saved comparison looks like. One that an older version saved has no signature."""
    saved = (await read_saved(session, id)).result
    return await past_incident_rows.recall_saved(session, id, saved.hosts, Window(saved.start, saved.end))


@router.get("/past-incidents", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_past_incidents(
    session: ReadSession,
    *,
    named: Annotated[bool, Query(description="only those of which a person named the cause: patterns")] = True,
    host: Annotated[str | None, Query(description="only of this host", max_length=200, pattern=NO_NUL)] = None,
    limit: Annotated[int, Query(ge=1, le=past_incident_rows.MAX_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> PastIncidentPage:
    """List what is remembered of incidents, newest first."""
    return await past_incident_rows.list_past(session, has_cause=named, host=host, limit=limit, offset=offset)


@router.patch("/past-incidents/{id}", responses=guarded_answers(NotFound))
@open_to_limited()
async def update_past_incident(
    id: IdPath,  # noqa: A002
    body: PastIncidentUpdate,
    principal: Operator,
    session: WriteSession,
) -> PastIncident:
    """Name the cause of an incident and what helped, or switch it off for comparisons."""
    return await past_incident_rows.update_past(session, id, body, by=principal.name)
