"""Series for drawing."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import StringConstraints

from normstat.api.deps import HostPath, InWindow, ReadSession, StatPath, Viewer
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, SeriesBlock
from normstat.errors import BadRequest, NormstatError, NotFound

router = APIRouter(prefix="/hosts", tags=["series"])
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]


@router.get("/{host}/stats/{stat}/series", responses=guarded_answers(BadRequest, NotFound))
async def read_series(
    host: HostPath,
    stat: StatPath,
    window: InWindow,
    principal: Viewer,
    session: ReadSession,
    width: Annotated[int, Query(ge=16, le=8000, description="width of the graph in pixels")],
    field: Annotated[list[FieldKey], Query(min_length=1, max_length=100, description="keys of the fields")],
    instance: Annotated[
        list[InstanceName] | None, Query(max_length=200, description="names of instances; left out: all, up to the limit")
    ] = None,
    instances: Annotated[
        str | None, Query(pattern=r"^top:[1-9][0-9]{0,2}$", description="top:N, those with the highest mean of the first field")
    ] = None,
) -> SeriesBlock:
    """Reads the series of a stat for a graph of this width: every sample, or the envelope of each pixel column."""
    raise NormstatError("not built yet")
