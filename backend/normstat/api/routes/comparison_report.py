"""The report of a comparison as one HTML file, and its numbers as CSV."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.deps import State, Viewer
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.api.routes.comparison_answer import compare_in_turn
from normstat.api.routes.comparison_inputs import ComparisonInputs, ReportInputs
from normstat.api.routes.saved_comparisons import read_saved
from normstat.comparison.model import Comparison
from normstat.comparison.service import run_comparison
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NoData, NotFound, Overloaded, TooLarge
from normstat.query.host_events import read_events_by_name
from normstat.report.event_section import events_window
from normstat.report.numbers import write_csv
from normstat.report.pdf import render_comparison_pdf
from normstat.report.report_page import Cover, render_report, title_of
from normstat.settings import Settings

router = LazyRouter(prefix="/comparison", tags=["comparison"])

ANSWERS: Final = guarded_answers(BadRequest, NotFound, NoData, Conflict, TooLarge, Overloaded)
UNSAFE_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


@router.get(
    "/report.html",
    response_class=HTMLResponse,
    responses=text_answers(ANSWERS, media_type="text/html", description="the report as one self-contained file"),
)
@open_to_limited(needs_whole_group=True)
async def report_comparison(
    asked: Annotated[ReportInputs, Query()], request: Request, principal: Viewer, state: State
) -> HTMLResponse:
    """Return a comparison as a file to read, archive and print, with graphs and numbers."""
    result, cover = await run_while_connected(request, make_report(asked, principal.name, state))
    page = await state.report_slots.run(principal.name, partial(render_report, result, cover))
    return HTMLResponse(page, headers={"Content-Disposition": f'inline; filename="{_file_name(result)}.html"'})


@router.get(
    "/report.csv",
    response_class=Response,
    responses=text_answers(ANSWERS, media_type="text/csv", description="a row for each finding and each listed series"),
)
@open_to_limited(needs_whole_group=True)
async def report_numbers(asked: Annotated[ReportInputs, Query()], request: Request, principal: Viewer, state: State) -> Response:
    """Return the numbers of a comparison: findings with both sides, then the series outside the findings."""
    result, _ = await run_while_connected(request, make_report(asked, principal.name, state))
    body = await state.report_slots.run(principal.name, partial(write_csv, result))
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(result)}.csv"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


@router.get(
    "/report.pdf",
    response_class=Response,
    responses=text_answers(
        ANSWERS,
        media_type="application/pdf",
        description="a report with one note: the answer, the stories, and the ranked findings",
    ),
)
@open_to_limited(needs_whole_group=True)
async def report_pages(asked: Annotated[ReportInputs, Query()], request: Request, principal: Viewer, state: State) -> Response:
    """Return a comparison as PDF, a report with one note: the answer with both values, the stories, then the ranked findings."""
    result, cover = await run_while_connected(request, make_report(asked, principal.name, state))
    body = await state.report_slots.run(principal.name, partial(render_comparison_pdf, result, cover))
    headers = {"Content-Disposition": f'inline; filename="{_file_name(result)}.pdf"'}
    return Response(body, media_type="application/pdf", headers=headers)


async def make_report(asked: ReportInputs, who: str, state: AppState) -> tuple[Comparison, Cover]:
    """Return a comparison with its cover: a saved one is read, a new one waits for its turn.

    Raises: BadRequest, NotFound, NoData, Conflict, TooLarge, Overloaded
    """
    public_url = state.settings.public_url
    if asked.comparison is not None:
        async with open_read_session(state.sessions) as session:
            return await _read_report(session, asked.comparison, asked.note, who, public_url)
    inputs = asked.to_inputs()
    result, cover = _with_cover(await compare_in_turn(state, who, inputs), inputs, asked, who, public_url)
    async with open_read_session(state.sessions) as session:
        return result, await _with_events(session, result, cover)


async def find_report(session: AsyncSession, asked: ReportInputs, who: str, settings: Settings) -> tuple[Comparison, Cover]:
    """Return a comparison, saved or new, with its cover; for the command line.

    Raises: BadRequest, NotFound, NoData, Conflict
    """
    if asked.comparison is not None:
        return await _read_report(session, asked.comparison, asked.note, who, settings.public_url)
    inputs = asked.to_inputs()
    result = await run_comparison(session, inputs.to_request(), max_rows=settings.compare_max_rows)
    result, cover = _with_cover(result, inputs, asked, who, settings.public_url)
    return result, await _with_events(session, result, cover)


async def _with_events(session: AsyncSession, result: Comparison, cover: Cover) -> Cover:
    """Return the cover with what happened on the hosts that are still there."""
    return replace(cover, events=tuple(await read_events_by_name(session, result.hosts, events_window(result))))


async def _read_report(session: AsyncSession, id: int, note: str, who: str, public_url: str) -> tuple[Comparison, Cover]:  # noqa: A002
    saved = await read_saved(session, id)
    address = f"{public_url.rstrip('/')}/comparison?saved={saved.id}"
    cover = Cover(saved.name, note or saved.note, who, _now(), address)
    return saved.result, await _with_events(session, saved.result, cover)


async def read_shared(session: AsyncSession, id: int, who: str) -> tuple[Comparison, Cover]:  # noqa: A002
    """Return a saved comparison as it is shown without a login: what was saved, without what was noted on its hosts since.

    Raises: NotFound; Conflict for a result in a format that this version does not read
    """
    saved = await read_saved(session, id)
    return saved.result, Cover(saved.name, saved.note, who, _now(), "")


def _with_cover(
    result: Comparison, inputs: ComparisonInputs, asked: ReportInputs, who: str, public_url: str
) -> tuple[Comparison, Cover]:
    address = inputs.pinned(result.against.version).page_address(public_url)
    return result, Cover(title_of(result), asked.note, who, _now(), address)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _file_name(result: Comparison) -> str:
    return UNSAFE_IN_NAMES.sub("_", f"comparison-{'-'.join(result.hosts[:3])}-{result.start:%Y%m%dT%H%M%SZ}")
