"""Artefacts: what tools printed once to answer a question, uploaded, listed, drawn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import Query, Request, Response
from pydantic import Field
from starlette.requests import ClientDisconnect

from normstat.api.http.body import Empty
from normstat.api.http.deps import (
    NEEDS_OPERATOR,
    NEEDS_VIEWER,
    Agent,
    HostQuery,
    IdPath,
    Operator,
    ReadSession,
    State,
    WriteSession,
)
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.http.state import AppState
from normstat.api.http.streaming import PieceResponse, Pieces
from normstat.api.routes.events import find_agent_host
from normstat.artefacts.artefact_service import ArtefactDraft, ask_part, change_artefact, make_artefact, now_utc, reparse_artefact
from normstat.artefacts.histogram_view import HistogramView, view_histogram
from normstat.artefacts.interval_view import MAX_LINES, IntervalView, view_intervals
from normstat.artefacts.parts import HistogramPart, TablePart
from normstat.artefacts.table_view import MAX_ROWS, ArtefactTable, TableRequest, view_table, write_table_csv
from normstat.artefacts.text_page import PAGE_BYTES, ArtefactText, cut_page
from normstat.artefacts.tools import Effect
from normstat.db import row_budgets
from normstat.db.row_budgets import ARTEFACTS
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, DamagedArtefact, NoSpace, NotFound, Overloaded, TooLarge, TooManyRequests
from normstat.ingest.imports.import_queue import remove_file
from normstat.ingest.imports.import_run import require_host_name
from normstat.records import artefact_rows
from normstat.records.artefact_rows import (
    Artefact,
    ArtefactChange,
    ArtefactFilter,
    ArtefactPage,
    ArtefactSource,
    RejectedArtefactLine,
)
from normstat.runtime.body import NO_NUL, Body, Instant, Name
from normstat.runtime.input_limits import MAX_ARTEFACT_BYTES

router = LazyRouter(tags=["artefacts"])

MAX_TEXT: Final = 20_000
MAX_OFFSET: Final = 100_000

Title = Annotated[str, Query(description="a name for lists and reports", max_length=300, pattern=NO_NUL)]
Question = Annotated[
    str, Query(description="what was asked: a sentence, or the program's text", max_length=MAX_TEXT, pattern=NO_NUL)
]
Command = Annotated[str, Query(description="the command that printed it", max_length=MAX_TEXT, pattern=NO_NUL)]
FileName = Annotated[str, Query(description="name of the file; its words may tell the tool", max_length=1000, pattern=NO_NUL)]
Start = Annotated[Instant | None, Query(description="when the tool began; default: the first time that the text prints, else now")]
End = Annotated[Instant | None, Query(description="when it ended")]
Spec = Annotated[str | None, Query(description="the spec that reads it, instead of detecting it", max_length=100)]
Zone = Annotated[str | None, Query(description="zone of times that do not name theirs, e.g. Europe/Berlin; UTC", max_length=100)]
EffectQuery = Annotated[
    Effect | None, Query(description="how much the tool disturbed what it watched; default: what is known about the tool")
]
ExitStatus = Annotated[int | None, Query(description="how the command ended; 0 is success", ge=0, le=65535)]
RAW_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
PartPath = Annotated[int, Field(ge=0, le=10_000)]


class ArtefactUpdate(Body):
    """All of an artefact that can be changed; its text, tool and parts stay."""

    start: Instant
    end: Instant | None
    duration_s: Annotated[float | None, Field(gt=0, lt=1e9)]
    title: Annotated[str, Field(max_length=300, pattern=NO_NUL)]
    question: Annotated[str, Field(max_length=MAX_TEXT, pattern=NO_NUL)]
    command: Annotated[str, Field(max_length=MAX_TEXT, pattern=NO_NUL)]
    effect: Effect


class ReportedArtefact(Body):
    """The artefact made of an agent's text. `tool` is empty where no reader recognises it."""

    id: int
    host: str
    tool: str
    n_bytes: int


class ArtefactDetails(Body):
    """An artefact and the first of its rejected lines."""

    artefact: Artefact
    rejected: list[RejectedArtefactLine]


class ArtefactReparse(Body):
    """The spec that reads the text; null: the one that fits it best."""

    spec: Annotated[str | None, Field(max_length=100, pattern=NO_NUL)] = None


@router.get("/artefacts", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest))
@open_to_limited()
async def list_artefacts(  # noqa: PLR0917 (parameters of a route, given by name)
    session: ReadSession,
    host: Annotated[list[Name] | None, Query(description="artefacts of these hosts")] = None,
    tool: Annotated[list[Name] | None, Query(description="artefacts of these tools")] = None,
    start: Annotated[Instant | None, Query(description="artefacts that overlap the time from here on")] = None,
    end: Annotated[Instant | None, Query(description="artefacts that began before this instant")] = None,
    search: Annotated[
        str,
        Query(
            description="words that must all stand in the title, question, command, names or host", max_length=200, pattern=NO_NUL
        ),
    ] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> ArtefactPage:
    """List artefacts, newest first."""
    if start is not None and end is not None and end <= start:
        raise BadRequest(f"end {end.isoformat()} is not after start {start.isoformat()}")
    wanted = ArtefactFilter(tuple(host or ()), tuple(tool or ()), start, end, tuple(search.split()))
    return await artefact_rows.list_artefacts(session, wanted, limit=limit, offset=offset)


@router.post(
    "/artefacts",
    status_code=201,
    responses=guarded_answers(BadRequest, NotFound, TooLarge, NoSpace, Overloaded, TooManyRequests),
    openapi_extra=RAW_BODY,
)
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.ARTEFACTS)
async def create_artefact(  # noqa: PLR0917 (parameters of a route, given by name)
    request: Request,
    state: State,
    principal: Operator,
    host: HostQuery,
    name: FileName = "",
    title: Title = "",
    question: Question = "",
    command: Command = "",
    start: Start = None,
    end: End = None,
    spec: Spec = None,
    zone: Zone = None,
    effect: EffectQuery = None,
    taken: Annotated[Instant | None, Query(description="when the file was last changed: its time if there is no other")] = None,
    source: Annotated[Literal["upload", "api", "cli"], Query(description="where it comes from")] = "api",
) -> Artefact:
    """Keep the text in the body as an artefact of a host, and read it. The host is created if needed."""
    require_host_name(host)
    draft = ArtefactDraft(
        host=host, source=ArtefactSource(source), author=principal.name, start=start, end=end, title=title.strip(),
        question=question.strip(), command=command.strip(), file_name=name, spec=spec, zone=zone, effect=effect,
    )  # fmt: skip
    async with state.artefact_slots.hold(principal.name), _received(request, state) as path:
        return await make_artefact(state.sessions, draft, path, now=taken or now_utc())


@router.post(
    "/ingest/artefacts",
    status_code=201,
    responses=guarded_answers(BadRequest, NotFound, TooLarge, NoSpace, Overloaded, TooManyRequests),
    openapi_extra=RAW_BODY,
)
async def put_artefact(  # noqa: PLR0917 (parameters of a route, given by name)
    request: Request,
    state: State,
    agent: Agent,
    host: Annotated[Name | None, Query(description="the host; required if the token is for any host")] = None,
    name: FileName = "",
    title: Title = "",
    question: Question = "",
    command: Command = "",
    start: Start = None,
    end: End = None,
    spec: Spec = None,
    effect: EffectQuery = None,
    exit_status: ExitStatus = None,
    episode: Annotated[
        int | None, Query(description="the episode as which began a line `when` of stats.conf took it", ge=1, lt=1 << 63)
    ] = None,
    taken: Annotated[Instant | None, Query(description="when the agent took the text: its time if there is no other")] = None,
) -> ReportedArtefact:
    """Keep the text in the body as an artefact of an agent's host: what `normstat-agent ask` and `put` send.

    The answer is short, since a shell reads it. Sent again, the same text makes no second artefact.
    """
    async with open_write_session(state.sessions) as session:
        token, found = await find_agent_host(session, state, agent, host, ARTEFACTS)
    require_host_name(found)
    draft = ArtefactDraft(
        host=found, source=ArtefactSource.AGENT, author=token, start=start, end=end, title=title.strip(),
        question=question.strip(), command=command.strip(), file_name=name, spec=spec, effect=effect,
        exit_status=exit_status, episode_id=episode,
    )  # fmt: skip
    async with state.artefact_slots.hold(f"agent token {agent.token_id}"), _received(request, state) as path:
        made = await make_artefact(state.sessions, draft, path, now=taken or now_utc())
    return ReportedArtefact(id=made.id, host=made.host, tool=made.tool, n_bytes=made.n_bytes)


@router.get("/artefacts/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_artefact(id: IdPath, session: ReadSession) -> ArtefactDetails:  # noqa: A002
    """Return one artefact, with the lines of its text that could not be read."""
    artefact = await artefact_rows.read_artefact_row(session, id)
    return ArtefactDetails(artefact=artefact, rejected=await artefact_rows.read_rejected(session, id))


@router.put("/artefacts/{id}", responses=guarded_answers(BadRequest, NotFound, DamagedArtefact, Overloaded))
@open_to_limited()
async def update_artefact(id: IdPath, body: ArtefactUpdate, principal: Operator, state: State) -> Artefact:  # noqa: A002
    """Change the description of an artefact: its time, title, question, command and effect.

    With another command its text is read again.
    """
    change = ArtefactChange(body.start, body.end, body.duration_s, body.title, body.question, body.command, body.effect)
    async with state.artefact_slots.hold(principal.name):
        return await change_artefact(state.sessions, id, change)


@router.delete("/artefacts/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_artefact(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete an artefact. It can be restored for a day."""
    await artefact_rows.delete_artefact(session, id)
    return Empty()


@router.post("/artefacts/{id}/restore", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def restore_artefact(id: IdPath, session: WriteSession) -> Artefact:  # noqa: A002
    """Undo the deletion of an artefact."""
    return await artefact_rows.restore_artefact(session, id)


@router.post("/artefacts/{id}/reparse", responses=guarded_answers(BadRequest, NotFound, DamagedArtefact, Overloaded))
@open_to_limited()
async def reparse_text(id: IdPath, body: ArtefactReparse, principal: Operator, state: State) -> Artefact:  # noqa: A002
    """Read the raw text again, with the current readers."""
    async with state.artefact_slots.hold(principal.name):
        return await reparse_artefact(state.sessions, id, spec=body.spec)


@router.get(
    "/artefacts/{id}/raw",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(NotFound, DamagedArtefact), media_type="application/octet-stream", description="the text, byte for byte"
    ),
)
@open_to_limited()
async def download_artefact(id: IdPath, state: State) -> PieceResponse:  # noqa: A002
    """Return the raw text as it came."""
    async with open_read_session(state.sessions) as session:
        known = await artefact_rows.read_artefact_row(session, id)
    headers = {"Content-Disposition": f'attachment; filename="artefact-{known.id}.txt"', "X-Content-Type-Options": "nosniff"}
    return PieceResponse(
        _read_raw(state, id), media_type="application/octet-stream", headers=headers, stall_s=state.settings.reader_stall_s
    )


@router.get("/artefacts/{id}/text", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound, DamagedArtefact))
@open_to_limited()
async def read_artefact_text(
    id: IdPath,  # noqa: A002
    session: ReadSession,
    offset: Annotated[int, Query(ge=0, le=MAX_ARTEFACT_BYTES, description="byte of the raw text where the page begins")] = 0,
) -> ArtefactText:
    """Return a page of the raw text: about 64 KiB of whole lines."""
    known = await artefact_rows.read_artefact_row(session, id)
    data = await artefact_rows.read_text_at(session, id, offset, PAGE_BYTES)
    return cut_page(data, offset, known.n_bytes)


async def _read_raw(state: AppState, artefact_id: int) -> Pieces:
    async with open_read_session(state.sessions) as session:
        async for piece in artefact_rows.read_text(session, artefact_id):
            yield piece


@router.get("/artefacts/{id}/parts/{part}/table", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_artefact_table(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    order: Annotated[str, Query(description="key of the column that orders the rows", max_length=63, pattern=NO_NUL)] = "",
    group: Annotated[list[str] | None, Query(description="keys to group and sum by, e.g. lock", max_length=5)] = None,
    search: Annotated[str, Query(description="words that the key must have", max_length=200, pattern=NO_NUL)] = "",
    report: Annotated[int | None, Query(description="one report of several, from 0; default: all together", ge=0)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> ArtefactTable:
    """Return rows of a table part, the costliest first, each with its share and the cumulative share."""
    asked = TableRequest(order, tuple(group or ()), search, report, limit, offset)
    return await ask_part(session, id, part, TablePart, lambda found: view_table(found, asked))


@router.get(
    "/artefacts/{id}/parts/{part}/table.csv",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, DamagedArtefact),
        media_type="text/csv",
        description="UTF-8, CRLF, a header of keys with units, then all rows in the order of the text",
    ),
)
@open_to_limited()
async def export_artefact_table(id: IdPath, part: PartPath, session: ReadSession) -> Response:  # noqa: A002
    """Export all rows of a table part: report, time, the parts of the key, and a column for each number."""
    body = await ask_part(session, id, part, TablePart, write_table_csv)
    headers = {"Content-Disposition": f'attachment; filename="artefact-{id}-{part}.csv"', "X-Content-Type-Options": "nosniff"}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/artefacts/{id}/parts/{part}/intervals", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_artefact_intervals(
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    column: Annotated[str, Query(description="key of the column; default: the one that ranks", max_length=63, pattern=NO_NUL)] = "",
    limit: Annotated[int, Query(description="lines, those with the largest values", ge=1, le=MAX_LINES)] = 8,
) -> IntervalView:
    """Return a column of a table part with several reports as lines over time, one for each key."""
    return await ask_part(session, id, part, TablePart, lambda found: view_intervals(found, column, limit))


@router.get("/artefacts/{id}/parts/{part}/histogram", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_artefact_histogram(id: IdPath, part: PartPath, session: ReadSession) -> HistogramView:  # noqa: A002
    """Return the distributions of a histogram part."""
    return await ask_part(session, id, part, HistogramPart, view_histogram)


@asynccontextmanager
async def _received(request: Request, state: AppState) -> AsyncIterator[Path]:
    """Yield the request's body as a file, which is removed afterwards.

    Raises: BadRequest, NoSpace
    """
    announced = request.headers.get("content-length", "")
    file = await asyncio.to_thread(state.imports.new_file, int(announced) if announced.isdecimal() else None)
    path = None
    try:
        async for data in request.stream():
            await file.write(data)
        path = await file.keep()
        yield path
    except ClientDisconnect:
        raise BadRequest("The upload was cut off; nothing was stored") from None
    finally:
        file.close()
        if path is not None:
            remove_file(str(path))
