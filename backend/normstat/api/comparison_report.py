"""The report of a comparison: one HTML file, and its numbers as CSV."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.comparison_answer import answer, answer_in_turn
from normstat.api.comparison_inputs import ComparisonInputs, ReportInputs
from normstat.api.comparison_schemas import Comparison
from normstat.api.deps import State, Viewer
from normstat.api.disconnect import run_while_connected
from normstat.api.handlers import guarded_answers, text_answers
from normstat.api.saved_comparisons import read_kept
from normstat.api.state import AppState
from normstat.errors import BadRequest, Conflict, NoData, NotFound, Overloaded, TooLarge
from normstat.report.numbers import write_csv
from normstat.report.report_page import Cover, render_report, title_of
from normstat.storage.session import open_read_session

router = APIRouter(prefix="/comparison", tags=["comparison"])

ANSWERS: Final = guarded_answers(BadRequest, NotFound, NoData, Conflict, TooLarge, Overloaded)
Compare = Callable[[ComparisonInputs], Awaitable[Comparison]]
UNSAFE_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


@router.get(
    "/report.html",
    response_class=HTMLResponse,
    responses=text_answers(ANSWERS, media_type="text/html", description="the report, one file that needs nothing else"),
)
async def report_comparison(
    asked: Annotated[ReportInputs, Query()], request: Request, principal: Viewer, state: State
) -> HTMLResponse:
    """Give a comparison as a file to read, keep and print: graphs and numbers included."""
    result, cover = await run_while_connected(request, make_report(asked, principal.name, state))
    page = await anyio.to_thread.run_sync(render_report, result, cover)
    return HTMLResponse(page, headers={"Content-Disposition": f'inline; filename="{_file_name(result)}.html"'})


@router.get(
    "/report.csv",
    response_class=Response,
    responses=text_answers(ANSWERS, media_type="text/csv", description="a line for each series that the comparison speaks of"),
)
async def report_numbers(asked: Annotated[ReportInputs, Query()], request: Request, principal: Viewer, state: State) -> Response:
    """Give the numbers of a comparison: findings with both sides, then what has one side only, was not judged, or is muted."""
    result, _ = await run_while_connected(request, make_report(asked, principal.name, state))
    body = await anyio.to_thread.run_sync(write_csv, result)
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(result)}.csv"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


async def make_report(asked: ReportInputs, who: str, state: AppState) -> tuple[Comparison, Cover]:
    """`find_report` of the server: a comparison that is kept is only read, one that is made now waits for its turn.

    Raises: BadRequest, NotFound, NoData, Conflict, TooLarge, Overloaded
    """
    public_url = state.settings.public_url
    if asked.comparison is not None:
        async with open_read_session(state.sessions) as session:
            return await find_report(asked, who, public_url, session, partial(answer, state.settings, session))
    inputs = asked.to_inputs()
    return _with_cover(await answer_in_turn(state, who, inputs), inputs, asked, who, public_url)


async def find_report(
    asked: ReportInputs, who: str, public_url: str, session: AsyncSession, compare: Compare
) -> tuple[Comparison, Cover]:
    """Return the comparison, kept or made now, and what the report says of itself.

    Raises: BadRequest, NotFound, NoData, Conflict
    """
    if asked.comparison is not None:
        record, result = await read_kept(session, asked.comparison)
        address = f"{public_url.rstrip('/')}/comparison?kept={record.id}"
        return result, Cover(record.name, asked.note or record.note, who, _now(), address)
    inputs = asked.to_inputs()
    return _with_cover(await compare(inputs), inputs, asked, who, public_url)


def _with_cover(
    result: Comparison, inputs: ComparisonInputs, asked: ReportInputs, who: str, public_url: str
) -> tuple[Comparison, Cover]:
    address = inputs.pinned(result.against.version).page_address(public_url)
    return result, Cover(title_of(result), asked.note, who, _now(), address)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _file_name(result: Comparison) -> str:
    return UNSAFE_IN_NAMES.sub("_", f"comparison-{'-'.join(result.hosts[:3])}-{result.start:%Y%m%dT%H%M%SZ}")
