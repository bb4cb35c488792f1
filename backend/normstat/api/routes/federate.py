"""The newest values in the Prometheus text format, for a scrape (docs/import.md)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Response
from pydantic import StringConstraints

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.exports import NEEDS_PLACE
from normstat.errors import BadRequest, NotFound, Overloaded, TooLarge
from normstat.query import openmetrics
from normstat.query.newest_values import MAX_AGE_S, format_newest, read_newest_values
from normstat.query.openmetrics import format_openmetrics
from normstat.query.semantic_names import load_semantic_names
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["export"], dependencies=[NEEDS_VIEWER])

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
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
        guarded_answers(BadRequest, NotFound, TooLarge, Overloaded),
        media_type="text/plain",
        description="the Prometheus text format 0.0.4, with times: normstat_STAT_FIELD{host, instance}; "
        "with names=opentelemetry OpenMetrics 1.0 (application/openmetrics-text)",
    ),
)
@open_to_limited()
async def federate(
    session: ReadSession,
    host: Annotated[list[HostName] | None, Query(max_length=1000, description="name of a host; repeatable, at least one")] = None,
    stat: Annotated[list[StatName] | None, Query(max_length=200, description="name of a stat; repeatable; default: all")] = None,
    max_age: Annotated[int, Query(ge=1, le=MAX_AGE_S, description="oldest sample that counts as newest value, in seconds")] = 300,
    names: Annotated[
        MetricNames,
        Query(description="opentelemetry: names and units of its semantic conventions where they have one, as OpenMetrics"),
    ] = MetricNames.NORMSTAT,
) -> Response:
    """Read the newest value of each field and instance, for a scrape by Prometheus."""
    found = await read_newest_values(session, list(dict.fromkeys(host or ())), stat or (), now=datetime.now(UTC), max_age_s=max_age)
    if names is MetricNames.OPENTELEMETRY:
        page = await anyio.to_thread.run_sync(format_openmetrics, found, load_semantic_names())
        return Response(page, media_type=openmetrics.MEDIA_TYPE)
    return Response(await anyio.to_thread.run_sync(format_newest, found), media_type=MEDIA_TYPE)
