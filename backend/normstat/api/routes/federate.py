"""The newest values for a scrape by Prometheus (docs/import.md)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Request, Response
from pydantic import StringConstraints

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.encodings import choose_media_type
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.exports import NEEDS_PLACE
from normstat.errors import BadRequest, Conflict, NotFound, Overloaded, TooLarge
from normstat.query.exposition import OPENMETRICS, OWN_NAMES, TEXT, format_page
from normstat.query.newest_values import MAX_AGE_S, read_newest_values
from normstat.query.semantic_names import load_semantic_names
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["export"], dependencies=[NEEDS_VIEWER])

# What each kind of name comes as, the format for clients that do not say what they like first.
OFFERED: Final = {"normstat": (TEXT, OPENMETRICS), "opentelemetry": (OPENMETRICS, TEXT)}
HostName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]


class MetricNames(StrEnum):
    """Whose names the values have."""

    NORMSTAT = "normstat"
    OPENTELEMETRY = "opentelemetry"


@router.get(
    "/federate",
    response_class=Response,
    dependencies=[NEEDS_PLACE],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, Conflict, TooLarge, Overloaded),
        media_type="text/plain",
        description="normstat_STAT_FIELD{host, instance} with times: OpenMetrics 1.0 (application/openmetrics-text) or the text "
        "format 0.0.4 of Prometheus, as the header Accept prefers; without a preference text, with names=opentelemetry OpenMetrics",
    ),
)
@open_to_limited()
async def federate(
    *,
    request: Request,
    session: ReadSession,
    host: Annotated[list[HostName] | None, Query(max_length=1000, description="name of a host; repeatable, at least one")] = None,
    stat: Annotated[list[StatName] | None, Query(max_length=200, description="name of a stat; repeatable; default: all")] = None,
    max_age: Annotated[int, Query(ge=1, le=MAX_AGE_S, description="oldest sample that counts as newest value, in seconds")] = 300,
    names: Annotated[
        MetricNames,
        Query(description="opentelemetry: names and units of its semantic conventions where they have one"),
    ] = MetricNames.NORMSTAT,
) -> Response:
    """Read the newest value of each field and instance, for a scrape by Prometheus."""
    found = await read_newest_values(session, list(dict.fromkeys(host or ())), stat or (), now=datetime.now(UTC), max_age_s=max_age)
    table = load_semantic_names() if names is MetricNames.OPENTELEMETRY else OWN_NAMES
    media_type = choose_media_type(request.headers.get("accept", ""), OFFERED[names])
    page = await anyio.to_thread.run_sync(format_page, found, table, media_type)
    return Response(page, media_type=media_type, headers={"Vary": "Accept"})
