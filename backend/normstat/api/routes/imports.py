"""Imports: upload recorded tool output, which is loaded in the background."""

import asyncio
import datetime as dt
from typing import Annotated, Final

from fastapi import Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, HostQuery, IdPath, Operator, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import LIMITED, open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.http.state import AppState
from normstat.auth.access import Principal
from normstat.db import row_budgets
from normstat.db.host_limits import find_hidden_names
from normstat.db.row_budgets import require_room_for_host
from normstat.db.schema.job_models import ImportRow
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, Conflict, NoSpace, NotAllowed, NotFound, TooLarge, TooManyRequests
from normstat.ingest import import_rows
from normstat.ingest.import_rows import Import, ImportList
from normstat.ingest.imports.change import change_import, undo_change
from normstat.ingest.imports.import_options import check_options
from normstat.ingest.imports.import_queue import options_of, remove_file, to_import_row
from normstat.ingest.imports.import_run import require_host_name
from normstat.ingest.imports.look_ahead import MAX_LOOK_BYTES, FileLook
from normstat.runtime.body import NO_NUL, Body, Instant
from normstat.stats.engine.trace.question_names import MAX_LENGTH
from normstat.window import LATEST_US, from_us

router = LazyRouter(tags=["imports"])
RAW_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

Name = Annotated[
    str, Query(description="name of the file; its words may tell the tool", min_length=1, max_length=1000, pattern=NO_NUL)
]
Zone = Annotated[str | None, Query(description="zone of times that do not name theirs, e.g. Europe/Berlin; UTC", max_length=100)]
Date = Annotated[dt.date | None, Query(description="first day of files with clocks and no days")]
Start = Annotated[Instant | None, Query(description="instant of the first report of files without times")]
Interval = Annotated[float | None, Query(description="seconds from one report to the next where no times say it", gt=0)]
ModifiedAt = Annotated[
    Instant | None, Query(description="when the file was last changed; the result tells it for files that lack times")
]
FirstIsReal = Annotated[bool, Query(description="the first report covers an interval, not the time since boot")]
EachHost = Annotated[
    bool, Query(description="load the lines of each host named in a file into that host, not only those of the first one")
]
Title = Annotated[
    str | None,
    Query(
        description="the question that a tracer's program answers; the names of its series begin with it",
        max_length=MAX_LENGTH,
        pattern=NO_NUL,
    ),
]
Spec = Annotated[str | None, Query(description="the spec that reads it, instead of detecting it", max_length=100)]


@router.post(
    "/imports",
    status_code=202,
    responses=guarded_answers(BadRequest, NotFound, TooLarge, NoSpace, TooManyRequests),
    openapi_extra=RAW_BODY,
)
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.JOBS)
async def create_import(  # noqa: PLR0917 (parameters of a route, given by name)
    request: Request,
    state: State,
    principal: Operator,
    host: HostQuery,
    name: Name,
    zone: Zone = None,
    date: Date = None,
    start: Start = None,
    interval_s: Interval = None,
    spec: Spec = None,
    title: Title = None,
    modified_at: ModifiedAt = None,
    *,
    first_is_real: FirstIsReal = False,
    each_host: EachHost = False,
) -> Import:
    """Take a file or an archive of what tools printed (docs/import.md); it is loaded in the background."""
    require_host_name(host)
    _require_all_hosts(principal, each_host=each_host)
    options = check_options(
        zone=zone,
        date=date,
        start=start,
        interval_s=interval_s,
        spec=spec,
        title=title,
        is_first_real=first_is_real,
        is_each_host=each_host,
    )
    queued = await _keep(request, state, to_import_row(host, name, options), principal.name, modified_at)
    state.imports.wake()
    return queued


def _require_all_hosts(principal: Principal, *, each_host: bool) -> None:
    """Refuse files that name their own hosts from an account limited to host groups."""
    if each_host and principal.is_limited:
        raise NotAllowed(f"{LIMITED}; it cannot load a file into each host that the file names")


@router.post("/imports/look", responses=guarded_answers(BadRequest, NotFound), openapi_extra=RAW_BODY)
@open_to_limited()
@changes_nothing
async def look_at_file(
    request: Request, state: State, principal: Operator, name: Name, *, zone: Zone = None, spec: Spec = None
) -> FileLook:
    """Tell what a file is by its first bytes, at most 256 KiB: what follows is not read. Nothing is stored."""
    options = check_options(zone=zone, date=None, start=None, interval_s=None, spec=spec)
    head = bytearray()
    async for data in request.stream():
        head += data[: MAX_LOOK_BYTES - len(head)]
    async with state.artefact_slots.hold(principal.name):
        return await asyncio.to_thread(state.imports.look_ahead, bytes(head), name, options)


async def _keep(request: Request, state: AppState, row: ImportRow, asked_by: str, modified_at: dt.datetime | None = None) -> Import:
    """Write the body to a file, then the row."""
    announced = request.headers.get("content-length", "")
    file = state.imports.new_file(int(announced) if announced.isdecimal() else None)
    try:
        async for data in request.stream():
            await file.write(data)
        path = await file.keep(modified_at)
    except ClientDisconnect:
        raise BadRequest("The upload was cut off; nothing was loaded") from None
    finally:
        file.close()
    row.file_path = str(path)
    async with open_write_session(state.sessions) as session:
        return await import_rows.add_import(session, row, n_bytes=file.n_bytes, asked_by=asked_by)


class RetryRequest(Body):
    """One file of an import with the missing parameters; the others stay as given with the upload."""

    position: Annotated[int, Field(ge=0)]
    zone: Annotated[str | None, Field(max_length=100)] = None
    date: dt.date | None = None
    start: Instant | None = None
    interval_s: Annotated[float | None, Field(gt=0)] = None
    spec: Annotated[str | None, Field(max_length=100)] = None
    title: Annotated[str | None, Field(max_length=MAX_LENGTH, pattern=NO_NUL)] = None
    first_is_real: bool | None = None


@router.post("/imports/{id}/retry", status_code=202, responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.JOBS)
async def retry_import(
    id: IdPath,  # noqa: A002
    body: RetryRequest,
    state: State,
    principal: Operator,
    session: WriteSession,
) -> Import:
    """Try one file of an ended import again with the missing parameters, without uploading it again."""
    row = await import_rows.find_ended(session, id)
    file = await import_rows.read_file(session, id, body.position)
    old = options_of(row)
    given = check_options(
        zone=body.zone or old.zone,
        date=body.date or old.date,
        start=body.start or (None if old.start_us is None else from_us(old.start_us)),
        interval_s=body.interval_s or row.interval_s,
        spec=body.spec or old.spec,
        title=body.title or old.title,
        is_first_real=old.is_first_real if body.first_is_real is None else body.first_is_real,
        is_each_host=old.is_each_host,
    )
    _require_all_hosts(principal, each_host=given.is_each_host)
    path = await asyncio.to_thread(state.imports.copy_file, row.file_path)
    again = to_import_row(row.host, row.name, given)
    again.file_path, again.only_position = str(path), body.position
    queued = await import_rows.add_import(session, again, n_bytes=path.stat().st_size, asked_by=principal.name)
    file.result = {**file.result, "missing": [], "note": f"tried again: import {queued.id}"}
    state.imports.wake()
    return queued


@router.post("/imports/{id}/undo", status_code=202, dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def undo_import(id: IdPath, state: State, session: WriteSession) -> Import:  # noqa: A002
    """Remove what an ended import loaded: its streams, with all their samples. It runs in the background."""
    queued = await import_rows.queue_undo(session, await import_rows.find_ended(session, id))
    state.imports.wake()
    return queued


MAX_SHIFT_S: Final = LATEST_US / 1_000_000


class ImportUpdate(Body):
    """What changes of an import; what is null stays. `start` is the new instant of its first sample, in place of `shift_s`."""

    label: Annotated[
        str | None, Field(max_length=200, pattern=NO_NUL, description='what people call it; "" for its file\'s name')
    ] = None
    host: Annotated[str | None, Field(max_length=200, pattern=NO_NUL, description="the host that its samples move to")] = None
    shift_s: Annotated[
        float | None, Field(ge=-MAX_SHIFT_S, le=MAX_SHIFT_S, description="seconds added to the times in its files")
    ] = None
    start: Instant | None = None


@router.put("/imports/{id}", status_code=202, responses=guarded_answers(BadRequest, NotFound, Conflict, TooManyRequests))
@open_to_limited()
async def update_import(
    id: IdPath,  # noqa: A002
    body: ImportUpdate,
    state: State,
    principal: Operator,
    session: WriteSession,
) -> Import:
    """Rename an ended import, date it again, or move it to another host; its samples move in the background."""
    if body.host is not None:
        require_host_name(body.host)
        await require_room_for_host(session, body.host, state.settings.ingest_max_hosts)
    _require_all_hosts(principal, each_host=(await import_rows.find_ended(session, id)).is_each_host)
    changed = await change_import(session, id, label=body.label, host=body.host, shift_s=body.shift_s, start=body.start)
    state.imports.wake()
    return changed


@router.post("/imports/{id}/undo-change", status_code=202, responses=guarded_answers(NotFound, BadRequest, Conflict))
@open_to_limited()
async def undo_import_change(
    id: IdPath,  # noqa: A002
    state: State,
    principal: Operator,
    session: WriteSession,
) -> Import:
    """Take back the last change of an ended import: its title, host and times are what they were before it."""
    row = await import_rows.find_ended(session, id)
    _require_all_hosts(principal, each_host=row.is_each_host)
    if row.earlier and await find_hidden_names(session, [str(row.earlier[-1]["host"])]):
        raise NotAllowed(f"{LIMITED}, and does not see the host that the import would move back to")
    changed = await undo_change(session, id)
    state.imports.wake()
    return changed


@router.get("/imports", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_imports(
    session: ReadSession,
    host: Annotated[str | None, Query(description="only those of this host", max_length=200, pattern=NO_NUL)] = None,
) -> ImportList:
    """List imports, the newest first."""
    return await import_rows.list_imports(session, host)


@router.get("/imports/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_import(id: IdPath, session: ReadSession) -> Import:  # noqa: A002
    """Return an import with its files."""
    return await import_rows.read_import(session, id)


@router.delete("/imports/{id}", status_code=204, dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_import(id: IdPath, session: WriteSession) -> None:  # noqa: A002
    """Delete an import from the list, and stop it if it waits or runs. Loaded data stays."""
    path = await import_rows.delete_import(session, id)
    if path is None:
        raise NotFound(f"There is no import {id}", {"id": id})
    remove_file(path)
