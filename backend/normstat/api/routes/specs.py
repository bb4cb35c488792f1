"""Specs: the built-in ones, and those that users add from a sample of a tool's output."""

from typing import Annotated

import anyio.to_thread
from fastapi import Path

from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.deps import (
    NEEDS_ADMINISTRATOR,
    NEEDS_OPERATOR,
    NEEDS_VIEWER,
    Administrator,
    Operator,
    ReadSession,
    State,
    WriteSession,
)
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.spec_schemas import SpecDraftRequest, SpecPreviewRequest, SpecPut
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NotFound, Overloaded
from normstat.ingest.preview_process import check_isolated, preview_isolated
from normstat.query import spec_lists
from normstat.query.spec_lists import SpecDetail, SpecInfo, SpecList
from normstat.runtime.body import NO_NUL
from normstat.samples import user_specs
from normstat.stats import draft
from normstat.stats.draft import DraftRequest, SpecDraft
from normstat.stats.preview import SpecPreview

router = LazyRouter(prefix="/specs", tags=["specs"])
NamePath = Annotated[str, Path(description="name of the spec", min_length=1, max_length=63, pattern=NO_NUL)]


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_specs(session: ReadSession) -> SpecList:
    """List all specs by name."""
    return await spec_lists.list_specs(session)


@router.post("/draft", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(BadRequest))
@open_to_limited()
@changes_nothing
async def draft_spec(body: SpecDraftRequest) -> SpecDraft:
    """Draft a spec from a sample of a tool's output, to be corrected."""
    request = DraftRequest(
        name=body.name,
        sample=body.sample,
        form=body.shape,
        tool=body.tool or "",
        command=body.command or "",
        instance_column=body.instance_column or "",
    )
    return await anyio.to_thread.run_sync(draft.draft_spec, request)


@router.post("/preview", responses=guarded_answers(BadRequest, Overloaded))
@open_to_limited()
@changes_nothing
async def preview_spec(body: SpecPreviewRequest, principal: Operator, state: State) -> SpecPreview:
    """Preview how a spec reads a sample; nothing is stored."""
    async with state.preview_slots.hold(principal.name):
        preview = await preview_isolated(body.toml, body.sample.encode("utf-8", "replace"))
    # A text that the other process has read is harmless here, too.
    async with open_read_session(state.sessions) as session:
        await user_specs.check_text(session, body.toml)
    return preview


@router.get("/{name}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_spec(name: NamePath, session: ReadSession) -> SpecDetail:
    """Return a spec with its text."""
    return await spec_lists.read_spec(session, name)


@router.put("/{name}", responses=guarded_answers(BadRequest, Overloaded))
async def put_spec(name: NamePath, body: SpecPut, principal: Administrator, state: State, session: WriteSession) -> SpecInfo:
    """Add a spec, or change a user spec; a changed text gets the next version, and its streams become outdated."""
    async with state.preview_slots.hold(principal.name):
        await check_isolated(body.toml)
    row = await user_specs.put_user_spec(session, name=name, toml=body.toml, created_by=principal.name)
    return await spec_lists.describe(session, row)


@router.delete("/{name}", status_code=204, dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound, Conflict))
async def delete_spec(name: NamePath, session: WriteSession) -> None:
    """Delete a user spec that no stream uses."""
    await user_specs.delete_user_spec(session, name)
