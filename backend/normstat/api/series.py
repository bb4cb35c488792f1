"""Series for drawing."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from pydantic import StringConstraints

from normstat.api.deps import NEEDS_VIEWER, HostQuery, InWindow, ReadSession, StatQuery
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, SeriesBlock
from normstat.api.series_body import make_response
from normstat.errors import BadRequest, NotFound
from normstat.query import series_points

router = APIRouter(tags=["series"], dependencies=[NEEDS_VIEWER])
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]


@router.get("/series", response_model=SeriesBlock, responses=guarded_answers(BadRequest, NotFound))
async def read_series(
    *,
    request: Request,
    host: HostQuery,
    stat: StatQuery,
    window: InWindow,
    session: ReadSession,
    width: Annotated[int, Query(ge=16, le=8000, description="width of the graph in pixels")],
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
) -> Response:
    """Return the series of a stat for a graph of this width: every sample, or the envelope of each pixel column.

    The body is built from the arrays (series_body.py): validating a hundred thousand numbers one by one takes longer than reading
    them.
    """
    if instance and instances is not None:
        raise BadRequest("Give either `instance` (names) or `instances` (top:N), not both")
    wanted = series_points.SeriesRequest(
        host=host,
        stat=stat,
        window=window,
        width=width,
        fields=tuple(dict.fromkeys(field)),
        instances=tuple(dict.fromkeys(instance or ())),
        top=None if instances is None else int(instances.removeprefix("top:")),
    )
    found = await series_points.read_series(session, wanted)
    return await to_thread.run_sync(make_response, found, "gzip" in request.headers.get("accept-encoding", ""))
