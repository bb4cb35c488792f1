"""Reports: ordered notes of text, graphs, comparisons, artefacts and files, changed by people and exported as HTML and PDF."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

import anyio.to_thread
from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, State, Viewer, WriteSession
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.http.state import AppState
from normstat.api.routes.comparison_inputs import ReportInputs
from normstat.api.routes.comparison_report import UNSAFE_IN_NAMES, make_report
from normstat.db import row_budgets
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, Conflict, DamagedArtefact, NoData, NotFound, Overloaded, TooLarge, TooManyRequests
from normstat.report import note_freezing, report_rows
from normstat.report.block_html import POLICY, render_document
from normstat.report.blocks import Block, ReportDocument, StoredFile, pack_blocks
from normstat.report.comparison_blocks import comparison_blocks
from normstat.report.graph_svg import PictureMark
from normstat.report.markdown import to_html
from normstat.report.note_freezing import csv_blocks
from normstat.report.note_models import (
    NOTE,
    ArtefactDiffNote,
    ArtefactNote,
    ComparisonNote,
    EventsNote,
    ExperimentNote,
    FactsNote,
    FileNote,
    GraphNote,
    ImageNote,
    ReportNoteContent,
    TableNote,
    TextNote,
)
from normstat.report.pdf import render_pdf
from normstat.report.report_document import build_document
from normstat.report.report_rows import ReportChange, ReportFile, ReportInfo
from normstat.report.report_templates import ReportTemplate, list_templates, notes_of
from normstat.report.uploads import read_upload, safe_file_name
from normstat.runtime.body import NO_NUL, Body, Instant, Name
from normstat.runtime.field_docs import Documented

router = LazyRouter(tags=["reports"])
# A picture of a megabyte may have 50 million pixels: one at a time.
_decoding = anyio.CapacityLimiter(1)

MAX_HOSTS: Final = 100
Title = Annotated[str, Field(min_length=1, max_length=300, pattern=NO_NUL)]
HostNames = Annotated[list[Name], Field(max_length=MAX_HOSTS)]
NotePath = IdPath
FREEZING: Final = (BadRequest, NotFound, NoData, Conflict, TooLarge, Overloaded, DamagedArtefact)
EXPORTING: Final = guarded_answers(BadRequest, NotFound, TooLarge, Overloaded)
RAW_FILE: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ReportCreate(Body):
    """A new report. `template`: the key of one, or none for an empty report."""

    title: Title
    hosts: HostNames = Field(default_factory=list)
    start: Instant | None = None
    end: Instant | None = None
    template: Annotated[str | None, Field(max_length=100, pattern=NO_NUL)] = None


class ReportUpdate(Body):
    """A report's title, hosts and window. `revision`: the one that the change was made in."""

    revision: int
    title: Title
    hosts: HostNames
    start: Instant | None
    end: Instant | None


class NoteCreate(Body):
    """A note to add, at a place counted from 0; null: at the end."""

    note: ReportNoteContent
    place: Annotated[int | None, Field(ge=0, le=10_000)] = None


class NoteUpdate(Body):
    """A note's new content. `revision`: of the note, the one that the change was made in. `freeze`: read its data again."""

    revision: int
    note: ReportNoteContent
    freeze: bool = False


class NoteOrder(Body):
    """All notes of a report in their new order. `revision`: of the report."""

    revision: int
    notes: Annotated[list[int], Field(max_length=10_000)]


class TemplateCreate(Body):
    """A report to save as a template: its texts, and the titles of all other notes."""

    title: Title


class MarkdownPreview(Body):
    """Markdown to preview as it will be exported."""

    markdown: Annotated[str, Field(max_length=100_000, pattern=NO_NUL)]


class MarkdownShown(Body):
    """The Markdown as HTML that runs nothing."""

    html: str


class ReportList(Body):
    """All reports, last changed first."""

    reports: list[ReportInfo]


class ReportTemplateList(Body):
    """What a report can begin with: the templates that come with normstat, then those of people."""

    templates: list[ReportTemplate]


@dataclass(frozen=True, slots=True)
class ReportNote(Documented):
    """A note of a report."""

    id: int
    note: ReportNoteContent
    frozen_at: datetime | None
    """When its data was frozen; null for text, files, tables and live links."""

    n_frozen_bytes: int
    revision: int
    author: str
    updated_at: datetime
    updated_by: str


@dataclass(frozen=True, slots=True)
class ReportDetails(Documented):
    """A report with its notes in their order, and its files."""

    report: ReportInfo
    notes: list[ReportNote]
    files: list[ReportFile]


@dataclass(frozen=True, slots=True)
class AddedNote(Documented):
    """The id of a note that was added, and the report with it."""

    id: int
    details: ReportDetails


@router.get("/reports", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_reports(session: ReadSession) -> ReportList:
    """List all reports, last changed first."""
    return ReportList(reports=await report_rows.list_reports(session, templates=False))


@router.get("/report-templates", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_report_templates(session: ReadSession) -> ReportTemplateList:
    """List what a report can begin with."""
    own = [
        ReportTemplate(str(each.id), each.title, f"Saved by {each.author}", is_builtin=False, n_notes=each.n_notes)
        for each in await report_rows.list_reports(session, templates=True)
    ]
    return ReportTemplateList(templates=[*list_templates(), *own])


@router.post("/reports", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.REPORTS)
async def create_report(body: ReportCreate, principal: Operator, session: WriteSession) -> ReportDetails:
    """Start a report, empty or from a template."""
    contents: list[dict[str, Any]] = []
    if body.template is not None and body.template.isdecimal() and len(body.template) < 19:
        found = await report_rows.read_report(session, int(body.template))
        contents = [note.content for note in await report_rows.list_notes(session, found.id)]
    elif body.template is not None:
        contents = [note.model_dump(mode="json") for note in notes_of(body.template)]
    change = ReportChange(body.title, body.hosts, body.start, body.end)
    made = await report_rows.create_report(session, change, contents, author=principal.name)
    return await _details(session, made.id)


@router.get("/reports/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_report(id: IdPath, session: ReadSession) -> ReportDetails:  # noqa: A002
    """Return a report with its notes."""
    return await _details(session, id)


@router.put("/reports/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
@open_to_limited(needs_host=True)
async def update_report(id: IdPath, body: ReportUpdate, principal: Operator, session: WriteSession) -> ReportInfo:  # noqa: A002
    """Change a report's title, hosts and window."""
    change = ReportChange(body.title, body.hosts, body.start, body.end)
    return await report_rows.update_report(session, id, body.revision, change, author=principal.name)


@router.delete("/reports/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_report(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a report or a template. It can be restored for a day."""
    await report_rows.delete_report(session, id)
    return Empty()


@router.post("/reports/{id}/restore", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def restore_report(id: IdPath, session: WriteSession) -> ReportInfo:  # noqa: A002
    """Undo the deletion of a report."""
    return await report_rows.restore_report(session, id)


@router.post("/reports/{id}/template", status_code=201, responses=guarded_answers(NotFound, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.REPORTS)
async def save_as_template(id: IdPath, body: TemplateCreate, principal: Operator, session: WriteSession) -> ReportInfo:  # noqa: A002
    """Save a report's notes as a template: texts as they are, all others as a title and what to add there."""
    contents = []
    for stored in await report_rows.list_notes(session, (await report_rows.read_report(session, id)).id):
        note = NOTE.validate_python(stored.content)
        if not isinstance(note, TextNote):
            note = TextNote(kind="text", title=note.title, markdown=f"[Add here: {note.kind.replace('_', ' ')}]")
        contents.append(note.model_dump(mode="json"))
    change = ReportChange(body.title, [], None, None)
    return await report_rows.create_report(session, change, contents, author=principal.name, is_template=True)


@router.post("/reports/{id}/notes", status_code=201, responses=guarded_answers(*FREEZING, TooManyRequests))
@open_to_limited(needs_whole_group=True)
@makes_rows(row_budgets.NOTES)
async def add_note(id: IdPath, body: NoteCreate, request: Request, principal: Operator, state: State) -> AddedNote:  # noqa: A002
    """Add a note. What it shows is read and frozen now, unless it is a live link."""
    frozen = await run_while_connected(request, _freeze(state, id, body.note, principal.name))
    async with open_write_session(state.sessions) as session:
        content = body.note.model_dump(mode="json")
        note_id = await report_rows.add_note(session, id, content, frozen, place=body.place, author=principal.name)
        return AddedNote(note_id, await _details(session, id))


@router.put("/reports/{id}/notes/{note}", responses=guarded_answers(*FREEZING))
@open_to_limited(needs_whole_group=True)
async def update_note(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    note: NotePath,
    body: NoteUpdate,
    request: Request,
    principal: Operator,
    state: State,
) -> ReportDetails:
    """Change a note. Its data is read again when what it shows changed, or when `freeze` says so."""
    async with open_read_session(state.sessions) as session:
        known = next((each for each in await report_rows.list_notes(session, id) if each.id == note), None)
    is_kept = known is not None and not body.freeze and _shows_same(known.content, body.note)
    frozen = None if is_kept else await run_while_connected(request, _freeze(state, id, body.note, principal.name))
    async with open_write_session(state.sessions) as session:
        await report_rows.update_note(
            session, id, note, body.note.model_dump(mode="json"), frozen,
            revision=body.revision, is_frozen_kept=is_kept, author=principal.name,
        )  # fmt: skip
        return await _details(session, id)


@router.delete("/reports/{id}/notes/{note}", responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_note(id: IdPath, note: NotePath, principal: Operator, session: WriteSession) -> ReportDetails:  # noqa: A002
    """Delete a note. It can be restored for a day."""
    await report_rows.delete_note(session, id, note, author=principal.name)
    return await _details(session, id)


@router.post("/reports/{id}/notes/{note}/restore", responses=guarded_answers(NotFound))
@open_to_limited()
async def restore_note(id: IdPath, note: NotePath, principal: Operator, session: WriteSession) -> ReportDetails:  # noqa: A002
    """Undo the deletion of a note."""
    await report_rows.restore_note(session, id, note, author=principal.name)
    return await _details(session, id)


@router.put("/reports/{id}/order", responses=guarded_answers(BadRequest, NotFound, Conflict))
@open_to_limited()
async def order_notes(id: IdPath, body: NoteOrder, principal: Operator, session: WriteSession) -> ReportDetails:  # noqa: A002
    """Give the notes another order."""
    await report_rows.order_notes(session, id, body.revision, body.notes, author=principal.name)
    return await _details(session, id)


@router.post("/report-preview", responses=guarded_answers(Overloaded))
@open_to_limited()
@changes_nothing
async def preview_markdown(body: MarkdownPreview, principal: Viewer, state: State) -> MarkdownShown:
    """Return Markdown as the export shows it."""
    return MarkdownShown(html=await state.report_slots.run(principal.name, partial(to_html, body.markdown)))


@router.get(
    "/reports/{id}/export.html",
    response_class=HTMLResponse,
    responses=text_answers(EXPORTING, media_type="text/html", description="one self-contained file"),
)
@open_to_limited()
async def export_report_html(
    id: IdPath,  # noqa: A002
    principal: Viewer,
    state: State,
    download: Annotated[bool, Query(description="save it instead of showing it")] = False,  # noqa: FBT002 (given by name)
) -> HTMLResponse:
    """Return a report as one HTML file: also its preview."""
    document = await read_document(state, id, principal.name)
    page = await state.report_slots.run(principal.name, partial(render_document, document))
    # normstat's page shows it in a frame; it runs no scripts, neither there nor opened by itself.
    framed = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": f"{POLICY}; frame-ancestors 'self'"}
    return HTMLResponse(page, headers=_named(document, "html", is_saved=download) | framed)


@router.get(
    "/reports/{id}/export.pdf",
    response_class=Response,
    responses=text_answers(EXPORTING, media_type="application/pdf", description="the report as PDF"),
)
@open_to_limited()
async def export_report_pdf(id: IdPath, principal: Viewer, state: State) -> Response:  # noqa: A002
    """Return a report as PDF."""
    document = await read_document(state, id, principal.name)
    body = await state.report_slots.run(principal.name, partial(render_pdf, document))
    return Response(body, media_type="application/pdf", headers=_named(document, "pdf", is_saved=False))


@router.post(
    "/report-files",
    status_code=201,
    responses=guarded_answers(BadRequest, NotFound, TooLarge, TooManyRequests),
    openapi_extra=RAW_FILE,
)
@open_to_limited()
@makes_rows(row_budgets.REPORT_FILES)
async def upload_report_file(  # noqa: PLR0917 (parameters of a route, given by name)
    request: Request,
    principal: Operator,
    session: WriteSession,
    report: Annotated[int, Query(ge=1, le=2**63 - 1, description="id of the report")],
    name: Annotated[str, Query(description="name of the file", min_length=1, max_length=1000, pattern=NO_NUL)],
    image: Annotated[bool, Query(description="an image to show, checked and written again; else a file to keep")] = True,  # noqa: FBT002
) -> ReportFile:
    """Keep the body as a file of a report. Images are PNG, JPEG, WebP or SVG."""
    body = await request.body()
    media_type, kept = await anyio.to_thread.run_sync(lambda: read_upload(body, as_image=image), limiter=_decoding)
    return await report_rows.add_file(session, report, safe_file_name(name), media_type, kept, author=principal.name)


@router.get(
    "/report-files/{id}",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(guarded_answers(NotFound), media_type="application/octet-stream", description="the file"),
)
@open_to_limited()
async def download_report_file(id: IdPath, session: ReadSession) -> Response:  # noqa: A002
    """Return a file of a report, to save: a browser never shows it as a page."""
    known = await report_rows.read_file(session, id)
    body = await report_rows.read_file_body(session, id)
    headers = {
        "Content-Disposition": f'attachment; filename="{UNSAFE_IN_NAMES.sub("_", known.name)}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(body, media_type=known.media_type, headers=headers)


async def read_document(state: AppState, report_id: int, who: str) -> ReportDocument:
    """Return a report as it is drawn.

    Raises: NotFound; BadRequest for a note that a newer normstat wrote
    """
    async with open_read_session(state.sessions) as session:
        return await find_document(session, report_id, who, state.settings.public_url)


async def find_document(session: AsyncSession, report_id: int, who: str, public_url: str) -> ReportDocument:
    """Return a report as it is drawn; for the command line, too.

    Raises: NotFound; BadRequest for a note that a newer normstat wrote
    """
    report = await report_rows.read_report(session, report_id)
    notes = await report_rows.list_notes(session, report_id)
    frozen = await report_rows.read_frozen(session, report_id)
    used = {note.content.get("file") for note in notes}
    files = {
        file.id: StoredFile(file.id, file.name, file.media_type, await report_rows.read_file_body(session, file.id))
        for file in await report_rows.list_files(session, report_id)
        if file.id in used
    }
    now = datetime.now(UTC).replace(microsecond=0)
    return build_document(report, notes, frozen, files, who=who, now=now, public_url=public_url)


def _named(document: ReportDocument, ending: str, *, is_saved: bool) -> dict[str, str]:
    name = UNSAFE_IN_NAMES.sub("_", document.title)[:80].strip("_") or "report"
    return {"Content-Disposition": f'{"attachment" if is_saved else "inline"}; filename="{name}.{ending}"'}


async def _details(session: AsyncSession, report_id: int) -> ReportDetails:
    report = await report_rows.read_report(session, report_id)
    notes = [
        ReportNote(
            note.id, NOTE.validate_python(note.content), note.frozen_at, note.n_frozen_bytes, note.revision, note.author,
            note.updated_at, note.updated_by,
        )
        for note in await report_rows.list_notes(session, report_id)
    ]  # fmt: skip
    return ReportDetails(report, notes, await report_rows.list_files(session, report_id))


def _shows_same(known: dict[str, Any], note: ReportNoteContent) -> bool:
    """Return whether a note shows the same data: only its words changed."""
    words = {"title", "comment", "markdown", "share"}
    asked = note.model_dump(mode="json")
    return {key: value for key, value in known.items() if key not in words} == {
        key: value for key, value in asked.items() if key not in words
    }


async def _freeze(state: AppState, report_id: int, note: ReportNoteContent, who: str) -> bytes | None:
    """Return what a note shows now, packed. Missing: None for notes that hold all they show, and for live links.

    Raises: NotFound, BadRequest, NoData, Conflict, TooLarge, Overloaded, DamagedArtefact
    """
    if isinstance(note, ComparisonNote):
        blocks = await _freeze_comparison(state, note, who)
    else:
        async with open_read_session(state.sessions) as session:
            report = await report_rows.read_report(session, report_id)
            found = await _freeze_stored(session, report, note)
        if found is None:
            return None
        blocks = found
    return await anyio.to_thread.run_sync(pack_blocks, blocks)


async def _freeze_stored(session: AsyncSession, report: ReportInfo, note: ReportNoteContent) -> list[Block] | None:
    match note:
        case GraphNote(is_frozen=True):
            return await note_freezing.freeze_graph(session, note, _marks(report))
        case ArtefactNote(is_frozen=True):
            return await note_freezing.freeze_artefact(session, note)
        case ArtefactDiffNote():
            return await note_freezing.freeze_diff(session, note)
        case ExperimentNote(is_frozen=True):
            return await note_freezing.freeze_experiment(session, note)
        case FactsNote():
            return await note_freezing.freeze_facts(session, note)
        case EventsNote():
            return await note_freezing.freeze_events(session, note)
        case ImageNote() | FileNote():
            file = await report_rows.read_file(session, note.file)
            if file.report != report.id:
                raise BadRequest(f"File {note.file} belongs to another report; upload it to this one")
        case TableNote():
            csv_blocks(note.csv)
    return None


def _marks(report: ReportInfo) -> list[PictureMark]:
    if report.start is None or report.end is None:
        return []
    start_ms, end_ms = (round(at.timestamp() * 1000) for at in (report.start, report.end))
    return [PictureMark("incident", start_ms, end_ms, "incident")]


async def _freeze_comparison(state: AppState, note: ComparisonNote, who: str) -> list[Block]:
    try:
        asked = ReportInputs.model_validate({"comparison": note.comparison} if note.inputs is None else note.inputs)
    except ValidationError as trouble:
        problems = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in trouble.errors())
        raise BadRequest(f"The parameters of the comparison are not valid: {problems}") from None
    record, cover = await make_report(asked, who, state)
    blocks = await anyio.to_thread.run_sync(comparison_blocks, record)
    path = cover.address[cover.address.index("/comparison?") :] if "/comparison?" in cover.address else ""
    return [*blocks, note_freezing.link_to_comparison(path)] if path else blocks
