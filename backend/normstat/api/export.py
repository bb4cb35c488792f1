"""Raw samples as CSV."""

import re
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from normstat.api.deps import NEEDS_VIEWER, HostQuery, InWindow, State
from normstat.api.handlers import guarded_answers, text_answers
from normstat.api.schemas import NO_NUL
from normstat.errors import BadRequest, NotFound
from normstat.query.export import ExportRequest, stream_csv

router = APIRouter(tags=["export"], dependencies=[NEEDS_VIEWER])


@router.get(
    "/export.csv",
    response_class=StreamingResponse,
    responses=text_answers(
        guarded_answers(BadRequest, NotFound), media_type="text/csv", description="UTF-8, CRLF, a header line, then samples"
    ),
)
async def export_csv(
    host: HostQuery,
    window: InWindow,
    state: State,
    stat: Annotated[
        str | None, Query(description="one stat, wide; left out: all stats, long", min_length=1, max_length=63, pattern=NO_NUL)
    ] = None,
) -> StreamingResponse:
    """Exports every raw sample of the window, digit for digit as the tool printed it.

    With `stat`: time, epoch, instance and a column for each field. Without: time, epoch, stat, instance, field, value, unit.
    """
    request = ExportRequest(host=host, window=window, stat=stat)
    # An unknown name is an error here; an error further on cuts the answer off, so that a short file does not look whole.
    pieces = await stream_csv(state.engine, request)
    name = f"{host}-{stat or 'all'}-{window.start:%Y%m%dT%H%M%SZ}-{window.end:%Y%m%dT%H%M%SZ}.csv"
    return StreamingResponse(
        pieces,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{re.sub(r"[^A-Za-z0-9._-]", "_", name)}"'},
    )
