"""Raw samples as CSV."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from normstat.api.deps import HostQuery, InWindow, State, Viewer
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL
from normstat.errors import BadRequest, NormstatError, NotFound

router = APIRouter(tags=["export"])


@router.get(
    "/export.csv",
    response_class=StreamingResponse,
    responses=guarded_answers(BadRequest, NotFound)
    | {200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "UTF-8, CRLF, a header line, then samples"}},
)
async def export_csv(
    host: HostQuery,
    window: InWindow,
    principal: Viewer,
    state: State,
    stat: Annotated[
        str | None, Query(description="one stat, wide; left out: all stats, long", min_length=1, max_length=63, pattern=NO_NUL)
    ] = None,
) -> StreamingResponse:
    """Exports every raw sample of the window, digit for digit as the tool printed it.

    With `stat`: time, epoch, instance and a column for each field. Without: time, epoch, stat, instance, field, value, unit.
    """
    raise NormstatError("not built yet")
