"""The report of a comparison: one HTML file, and its numbers as CSV."""

import re
from datetime import UTC, datetime
from typing import Annotated, Final

import anyio.to_thread
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.comparison_answer import answer
from normstat.api.comparison_inputs import ReportInputs
from normstat.api.comparison_schemas import Comparison
from normstat.api.comparisons import read_kept
from normstat.api.deps import ReadSession, State, Viewer
from normstat.api.handlers import guarded_answers, text_answers
from normstat.errors import BadRequest, Conflict, NoData, NotFound
from normstat.report.numbers import write_csv
from normstat.report.page import Cover, render_report, title_of
from normstat.settings import Settings

router = APIRouter(prefix="/comparison", tags=["comparison"])

ANSWERS: Final = guarded_answers(BadRequest, NotFound, NoData, Conflict)
UNSAFE_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


@router.get(
    "/report.html",
    response_class=HTMLResponse,
    responses=text_answers(ANSWERS, media_type="text/html", description="the report, one file that needs nothing else"),
)
async def report_comparison(
    asked: Annotated[ReportInputs, Query()], principal: Viewer, state: State, session: ReadSession
) -> HTMLResponse:
    """Gives a comparison as a file to read, keep and print: graphs and numbers included."""
    result, cover = await find_report(asked, principal.name, state.settings, session)
    page = await anyio.to_thread.run_sync(render_report, result, cover)
    return HTMLResponse(page, headers={"Content-Disposition": f'inline; filename="{_file_name(result)}.html"'})


@router.get(
    "/report.csv",
    response_class=Response,
    responses=text_answers(ANSWERS, media_type="text/csv", description="a line for each series that the comparison speaks of"),
)
async def report_numbers(
    asked: Annotated[ReportInputs, Query()], principal: Viewer, state: State, session: ReadSession
) -> Response:
    """Gives the numbers of a comparison: findings with both sides, then what has one side only, was not judged, or is muted."""
    result, _ = await find_report(asked, principal.name, state.settings, session)
    body = await anyio.to_thread.run_sync(write_csv, result)
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(result)}.csv"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


async def find_report(asked: ReportInputs, who: str, settings: Settings, session: AsyncSession) -> tuple[Comparison, Cover]:
    """The comparison, kept or made now, and what the report says of itself.

    Raises: BadRequest, NotFound, NoData, Conflict
    """
    public_url, now = settings.public_url, datetime.now(UTC).replace(microsecond=0)
    if asked.comparison is not None:
        record, result = await read_kept(session, asked.comparison)
        address = f"{public_url.rstrip('/')}/comparison?kept={record.id}"
        return result, Cover(record.name, asked.note or record.note, who, now, address)
    inputs = asked.to_inputs()
    result = await answer(settings, session, inputs)
    address = inputs.pinned(result.against.version).page_address(public_url)
    return result, Cover(title_of(result), asked.note, who, now, address)


def _file_name(result: Comparison) -> str:
    return UNSAFE_IN_NAMES.sub("_", f"comparison-{'-'.join(result.hosts[:3])}-{result.start:%Y%m%dT%H%M%SZ}")
