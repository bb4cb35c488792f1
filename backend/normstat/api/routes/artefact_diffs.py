"""Compare two artefacts, and draw conclusions from one together with the series of its host."""

from typing import Annotated, Final

from fastapi import Depends, Query, Response

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, ReadSession
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.artefacts.answers.answer_service import ArtefactAnswers, answer_artefact
from normstat.artefacts.diff.artefact_diff import DiffRequest
from normstat.artefacts.diff.table_diff import Normalisation, TableDiffRequest
from normstat.artefacts.diff_service import ArtefactDiff, diff_stored, format_diff_csv
from normstat.artefacts.table_view import MAX_ROWS
from normstat.errors import BadRequest, DamagedArtefact, NotFound
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["artefacts"])

MAX_CSV_ROWS: Final = 100_000
MAX_ID: Final = 2**31 - 1

Before = Annotated[int, Query(description="the artefact to compare with, the normal one", ge=1, le=MAX_ID)]
After = Annotated[int, Query(description="the artefact in question", ge=1, le=MAX_ID)]


def read_request(  # noqa: PLR0917 (parameters of a route, given by name)
    pair: Annotated[int | None, Query(description="number of the pair of parts; default: the one with most rows", ge=0)] = None,
    column: Annotated[
        str, Query(description="key of the column that is compared; default: the costs", max_length=63, pattern=NO_NUL)
    ] = "",
    group: Annotated[list[str] | None, Query(description="keys to group and sum by, e.g. lock", max_length=5)] = None,
    normalisation: Annotated[
        Normalisation | None, Query(description="how totals are normalised; default: per second if both durations are known")
    ] = None,
    search: Annotated[str, Query(description="words that the key must have", max_length=200, pattern=NO_NUL)] = "",
    queue_limit: Annotated[
        float | None,
        Query(description="of distributions: the end of the quantity, such as a queue's length", gt=0, lt=1e18),
    ] = None,
) -> DiffRequest:
    """Return the query parameters that both forms of the diff share."""
    return DiffRequest(pair, TableDiffRequest(column, tuple(group or ()), normalisation, search), queue_limit)


Asked = Annotated[DiffRequest, Depends(read_request)]


@router.get("/artefacts/diff", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound, DamagedArtefact))
@open_to_limited()
async def read_artefact_diff(  # noqa: PLR0917 (parameters of a route, given by name)
    session: ReadSession,
    before: Before,
    after: After,
    asked: Asked,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 200,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> ArtefactDiff:
    """Compare two artefacts: tables by key, distributions by bucket, the largest change first."""
    return await diff_stored(session, before, after, asked.paged(limit, offset))


@router.get(
    "/artefacts/diff.csv",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, DamagedArtefact),
        media_type="text/csv",
        description="UTF-8, CRLF, a header line, then rows by key or bucket, the largest change first",
    ),
)
@open_to_limited()
async def export_artefact_diff(session: ReadSession, before: Before, after: After, asked: Asked) -> Response:
    """Export the rows of a diff."""
    found = await diff_stored(session, before, after, asked.paged(MAX_CSV_ROWS, 0))
    if found.diff.table is not None and found.diff.table.n_rows > MAX_CSV_ROWS:
        raise BadRequest(
            f"{found.diff.table.n_rows:,} rows are too many for one file; the limit is {MAX_CSV_ROWS:,}: group or search"
        )
    name = f"artefacts-{found.before.id}-{found.after.id}.csv"
    return Response(
        format_diff_csv(found),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.get("/artefacts/{id}/answers", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound, DamagedArtefact))
@open_to_limited()
async def read_artefact_answers(id: IdPath, session: ReadSession) -> ArtefactAnswers:  # noqa: A002
    """Return what follows from an artefact, and from the series of its host in the same window."""
    return await answer_artefact(session, id)
