"""Series for drawing, and their statistics."""

from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Query, Request, Response
from pydantic import StringConstraints

from normstat.api.http.deps import NEEDS_VIEWER, HostQuery, InWindow, LargeReadSession, StatQuery
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import SeriesBlock
from normstat.api.routes.series_body import encode_csv, make_response
from normstat.errors import BadRequest, NotFound
from normstat.profiles import line_baseline
from normstat.profiles.line_baseline import PanelStatistics
from normstat.query import series_points
from normstat.query.series_points import SeriesRequest
from normstat.runtime.body import NO_NUL, Instant
from normstat.window import Window

router = LazyRouter(tags=["series"], dependencies=[NEEDS_VIEWER])
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]
# The width of a graph does not matter to its statistics.
NO_WIDTH = 1


def read_request(
    *,
    host: HostQuery,
    stat: StatQuery,
    window: InWindow,
    field: Annotated[list[FieldKey], Query(min_length=1, max_length=100, description="keys of the fields")],
    instance: Annotated[
        list[InstanceName] | None, Query(max_length=200, description="names of instances; default: all, up to the limit")
    ] = None,
    instances: Annotated[
        str | None,
        Query(
            pattern=r"^top:[1-9][0-9]{0,2}$",
            description="top:N, the instances with the highest mean of the first field, or the lowest where less is worse",
        ),
    ] = None,
) -> SeriesRequest:
    """Return the series that the parameters name.

    Raises: BadRequest for both names and top:N
    """
    if instance and instances is not None:
        raise BadRequest("Give either `instance` (names) or `instances` (top:N), not both")
    return SeriesRequest(
        host=host,
        stat=stat,
        window=window,
        width=NO_WIDTH,
        fields=tuple(dict.fromkeys(field)),
        instances=tuple(dict.fromkeys(instance or ())),
        top=None if instances is None else int(instances.removeprefix("top:")),
    )


InRequest = Annotated[SeriesRequest, Depends(read_request)]
InWidth = Annotated[int, Query(ge=16, le=8000, description="width of the graph in pixels")]


@router.get("/series", response_model=SeriesBlock, responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_series(
    *,
    request: Request,
    wanted: InRequest,
    session: LargeReadSession,
    width: InWidth,
) -> Response:
    """Return the series of a stat for a graph of this width: every sample, or the envelope of each pixel column.

    The body is built from the arrays (series_body.py): validating a hundred thousand numbers one by one takes longer than reading
    them.
    """
    found = await series_points.read_series(session, replace(wanted, width=width))
    return await to_thread.run_sync(make_response, found, request.headers.get("accept-encoding", ""))


@router.get(
    "/series.csv",
    response_class=Response,
    responses=text_answers(
        guarded_answers(BadRequest, NotFound),
        media_type="text/csv",
        description="UTF-8, CRLF: time, epoch, stat, instance, field, value, unit; a gap has no value",
    ),
)
@open_to_limited()
async def read_series_csv(*, wanted: InRequest, session: LargeReadSession, width: InWidth) -> Response:
    """Return the points of the same graph as CSV, one line each, for programs that draw, such as Grafana.

    In a long window they are the first, lowest, highest and last sample of each pixel column: `/export.csv` has all samples.
    """
    found = await series_points.read_series(session, replace(wanted, width=width))
    return Response(await to_thread.run_sync(encode_csv, found), media_type="text/csv; charset=utf-8")


@router.get("/statistics", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_statistics(
    *,
    wanted: InRequest,
    session: LargeReadSession,
    baseline: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="id of a baseline to set beside the window")] = None,
    baseline_start: Annotated[Instant | None, Query(description="instead of a baseline: its first instant")] = None,
    baseline_end: Annotated[Instant | None, Query(description="instead of a baseline: the first instant after it")] = None,
) -> PanelStatistics:
    """Return number, lowest, mean, 95 % quantile, highest and last of each series over all samples of the window.

    They are never computed from the points of a graph. `source` names what they were read from, `note` what is missing and why.
    """
    if (baseline_start is None) != (baseline_end is None) or (baseline is not None and baseline_start is not None):
        raise BadRequest("Give `baseline`, or `baseline_start` with `baseline_end`, or none of them")
    other = None if baseline_start is None or baseline_end is None else Window(baseline_start, baseline_end)
    return await line_baseline.read_statistics(session, wanted, baseline_id=baseline, baseline_window=other)
