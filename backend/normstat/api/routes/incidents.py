"""The list of incidents."""

from typing import Annotated, Final

from fastapi import Depends, Query

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.incidents import incident_rows
from normstat.incidents.incident_rows import IncidentFilter, IncidentKind, IncidentPage
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["incidents"])

# As many rows of each kind are looked at.
MAX_OFFSET: Final = 10_000


def read_filter(
    kind: Annotated[list[IncidentKind] | None, Query(description="only of these kinds", max_length=5)] = None,
    host: Annotated[str | None, Query(description="only of this host", max_length=200, pattern=NO_NUL)] = None,
    rule: Annotated[str | None, Query(description="only what this rule found", max_length=200, pattern=NO_NUL)] = None,
    *,
    lasting: Annotated[bool, Query(description="also episodes that last; /watch has them, too")] = True,
) -> IncidentFilter:
    """Return the filter that the parameters ask for."""
    return IncidentFilter(tuple(kind or ()), host, rule, lasting)


@router.get("/incidents", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_incidents(
    session: ReadSession,
    wanted: Annotated[IncidentFilter, Depends(read_filter)],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> IncidentPage:
    """List what was unusual, what rules found, saved comparisons, noted events and reports: the newest first."""
    return await incident_rows.list_incidents(session, wanted, limit=limit, offset=offset)
