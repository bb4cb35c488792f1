"""Specs: the built-in ones, and those that users add from a sample of a tool's output."""

from datetime import datetime
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Path

from normstat.api.deps import (
    NEEDS_ADMINISTRATOR,
    NEEDS_OPERATOR,
    NEEDS_VIEWER,
    Administrator,
    Operator,
    ReadSession,
    State,
    WriteSession,
)
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL
from normstat.api.spec_schemas import (
    SpecDetail,
    SpecDraft,
    SpecDraftColumn,
    SpecDraftRequest,
    SpecInfo,
    SpecList,
    SpecPreview,
    SpecPreviewLine,
    SpecPreviewRequest,
    SpecPreviewRow,
    SpecPut,
)
from normstat.errors import BadRequest, Conflict, NotFound, Overloaded
from normstat.ingest.preview_process import check_isolated, preview_isolated
from normstat.query import spec_lists
from normstat.query.spec_lists import SpecRecord
from normstat.stats import draft
from normstat.stats.draft import DraftRequest
from normstat.storage import user_specs
from normstat.storage.session import open_read_session
from normstat.window import LATEST_US, from_us

router = APIRouter(prefix="/specs", tags=["specs"])
NamePath = Annotated[str, Path(description="name of the spec", min_length=1, max_length=63, pattern=NO_NUL)]


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_specs(session: ReadSession) -> SpecList:
    """List all specs by name."""
    return SpecList(specs=[_to_info(record) for record in await spec_lists.list_specs(session)])


@router.post("/draft", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(BadRequest))
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
    found = await anyio.to_thread.run_sync(draft.draft_spec, request)
    columns = [
        SpecDraftColumn(key=column.key, column=column.column, kind=column.kind, unit=column.unit, decimals=column.decimals)
        for column in found.columns
    ]
    return SpecDraft(toml=found.toml, columns=columns)


@router.post("/preview", responses=guarded_answers(BadRequest, Overloaded))
async def preview_spec(body: SpecPreviewRequest, principal: Operator, state: State) -> SpecPreview:
    """Preview how a spec reads a sample; nothing is stored."""
    async with state.preview_slots.hold(principal.name):
        _, found = await preview_isolated(body.toml, body.sample.encode("utf-8", "replace"))
    # A text that the other process has read is harmless here, too.
    async with open_read_session(state.sessions) as session:
        await user_specs.check_text(session, body.toml)
    return SpecPreview(
        rows=[
            SpecPreviewRow(stat=row.stat, time=_to_instant(row.time_us), instance=row.instance, values=row.values)
            for row in found.rows
        ],
        rejected=[SpecPreviewLine.model_validate(line) for line in found.rejected],
        n_lines=found.n_lines,
        n_rows=found.n_rows,
        n_rejected=found.n_rejected,
    )


@router.get("/{name}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def get_spec(name: NamePath, session: ReadSession) -> SpecDetail:
    """Return a spec with its text."""
    record, toml = await spec_lists.read_spec(session, name)
    return SpecDetail(**_to_info(record).model_dump(), toml=toml)


@router.put("/{name}", responses=guarded_answers(BadRequest, Overloaded))
async def put_spec(name: NamePath, body: SpecPut, principal: Administrator, state: State, session: WriteSession) -> SpecInfo:
    """Add a spec, or change a user spec; a changed text gets the next version, and its streams become outdated."""
    async with state.preview_slots.hold(principal.name):
        await check_isolated(body.toml)
    row = await user_specs.put_user_spec(session, name=name, toml=body.toml, created_by=principal.name)
    return _to_info(await spec_lists.describe(session, row))


@router.delete("/{name}", status_code=204, dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound, Conflict))
async def delete_spec(name: NamePath, session: WriteSession) -> None:
    """Delete a user spec that no stream uses."""
    await user_specs.delete_user_spec(session, name)


def _to_info(record: SpecRecord) -> SpecInfo:
    return SpecInfo.model_validate(record)


def _to_instant(time_us: int | None) -> datetime | None:
    # Ingest rejects rows of other years, as it does rows without a time.
    return None if time_us is None or not 0 <= time_us < LATEST_US else from_us(time_us)
