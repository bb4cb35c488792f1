"""Bundles: export a host and a window as one file for another normstat, and import such a file."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.requests import ClientDisconnect

from normstat.api.http.deps import HostQuery, InWindow, Operator, State, Viewer
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.exports import NEEDS_PLACE, ExportResponse
from normstat.bundles.bundle_format import bundle_file_name
from normstat.bundles.bundle_service import BundleRequest, OpenRequest, choose_host, read_manifest, stream_bundle
from normstat.db import row_budgets
from normstat.db.schema.job_models import ImportRow
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, Conflict, NoSpace, NotFound, Overloaded, TooLarge, TooManyRequests
from normstat.ingest import import_rows
from normstat.ingest.import_rows import Import
from normstat.ingest.imports.import_queue import remove_file
from normstat.runtime.body import NO_NUL, Name

router = LazyRouter(tags=["bundles"])

MEDIA_TYPE: Final = "application/zip"


@router.get(
    "/bundle",
    response_class=StreamingResponse,
    dependencies=[NEEDS_PLACE],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, Overloaded), media_type=MEDIA_TYPE, description="the bundle, a zip file"
    ),
)
@open_to_limited()
async def export_bundle(
    *,
    host: HostQuery,
    window: InWindow,
    state: State,
    principal: Viewer,
    baseline: Annotated[
        list[Name] | None, Query(max_length=20, description="names of baselines whose samples are included, whatever their time")
    ] = None,
    report: Annotated[
        list[Annotated[int, Field(ge=1, le=2**63 - 1)]] | None,
        Query(max_length=20, description="ids of reports to take besides those of the host's window, with what they name"),
    ] = None,
) -> StreamingResponse:
    """Return a host and a window as one file for another normstat: raw bytes, events, baselines, artefacts, reports and more.

    docs/reports.md describes it.
    """
    request = BundleRequest(host, window, principal.name, tuple(baseline or ()), reports=tuple(report or ()))
    # An unknown name is an error here; a later error aborts the answer, and a bundle that was cut off says so when it is opened.
    pieces = await stream_bundle(state.engine, request)
    return ExportResponse(
        pieces,
        media_type=MEDIA_TYPE,
        name=bundle_file_name(host, window),
        # Its members are compressed already; naming an encoding keeps the middleware from compressing them again.
        encoding="identity",
        stall_s=state.settings.reader_stall_s,
    )


@router.post(
    "/bundles",
    status_code=202,
    responses=guarded_answers(BadRequest, Conflict, TooLarge, NoSpace, TooManyRequests),
    openapi_extra={"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
@makes_rows(row_budgets.JOBS)
async def create_bundle_import(
    *,
    request: Request,
    state: State,
    principal: Operator,
    name: Annotated[str, Query(description="name of the file", min_length=1, max_length=1000, pattern=NO_NUL)] = "bundle",
    as_host: Annotated[
        str | None,
        Query(alias="as", description="the host's name here; default: its name in the bundle", max_length=200, pattern=NO_NUL),
    ] = None,
    merge: Annotated[bool, Query(description="allow it to mix into a host that is here already")] = False,
) -> Import:
    """Take a bundle of another normstat; it is opened in the background, and its results are those of an import."""
    announced = request.headers.get("content-length", "")
    file = await asyncio.to_thread(state.imports.new_file, int(announced) if announced.isdecimal() else None)
    try:
        async for data in request.stream():
            await file.write(data)
        path = await file.keep()
    except ClientDisconnect:
        raise BadRequest("The upload was cut off; nothing was loaded") from None
    finally:
        file.close()
    is_queued = False
    try:
        row = ImportRow(host=await _choose(state, path, principal.name, as_host, merges=merge), name=name, file_path=str(path))
        async with open_write_session(state.sessions) as session:
            queued = await import_rows.add_import(session, row, n_bytes=file.n_bytes, asked_by=principal.name)
        is_queued = True
    finally:
        if not is_queued:
            remove_file(str(path))
    state.imports.wake()
    return queued


async def _choose(state: State, path: Path, opened_by: str, host: str | None, *, merges: bool) -> str:
    """Return the host that the bundle goes to.

    Raises: BadRequest, TooLarge for a bundle that cannot be read; Conflict
    """
    max_bytes = state.settings.import_max_bytes
    manifest = await asyncio.to_thread(read_manifest, path, max_bytes=max_bytes)
    return await choose_host(state.engine, manifest, OpenRequest(path, opened_by, host, merges, max_bytes))
