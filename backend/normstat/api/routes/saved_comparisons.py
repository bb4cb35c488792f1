"""Saved comparisons: name, note, parameters, and the result as it was."""

from dataclasses import asdict

import anyio.to_thread
from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, State, WriteSession
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.comparison_answer import find_result
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.comparison import saved_comparison_rows
from normstat.comparison.past_incident_rows import Remembered, remember_comparison
from normstat.comparison.saved_comparison_rows import SavedComparisonDraft, SavedComparisonInfo, SavedComparisonList
from normstat.comparison.saved_format import SavedComparison, read_json, to_json
from normstat.comparison.signature import signature_of
from normstat.db import row_budgets
from normstat.errors import BadRequest, Conflict, NoData, NotFound, Overloaded, TooLarge, TooManyRequests
from normstat.runtime.body import Body, Name, Note
from normstat.window import Window

router = LazyRouter(prefix="/comparisons", tags=["comparison"])


class SavedComparisonCreate(Body):
    """A comparison to run and save. Its result never changes afterwards."""

    name: Name
    note: Note = ""
    inputs: ComparisonInputs


class SavedComparisonUpdate(Body):
    """A new name or note."""

    name: Name | None = None
    note: Note | None = None


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_comparisons(session: ReadSession) -> SavedComparisonList:
    """List saved comparisons, newest first."""
    return await saved_comparison_rows.list_saved(session)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded, TooManyRequests))
@open_to_limited(needs_whole_group=True)
@makes_rows(row_budgets.COMPARISONS)
async def save_comparison(
    body: SavedComparisonCreate, request: Request, principal: Operator, state: State, write: WriteSession
) -> SavedComparisonInfo:
    """Run a comparison and save its result, which stays readable after samples and baselines are deleted."""
    found = await run_while_connected(request, find_result(state, principal.name, body.inputs))
    result = await anyio.to_thread.run_sync(read_json, found.body)
    packed = await anyio.to_thread.run_sync(to_json, result)
    parameters = body.inputs.pinned(result.against.version).to_parameters()
    draft = SavedComparisonDraft(body.name, body.note, parameters, packed, principal.name)
    saved = await saved_comparison_rows.create_saved(write, draft)
    signature = await anyio.to_thread.run_sync(signature_of, found.rows)
    window = Window(result.start, result.end)
    await remember_comparison(write, Remembered(result.hosts, window, saved.name, result.verdict, signature), saved.id)
    return saved


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def get_comparison(id: IdPath, session: ReadSession) -> SavedComparison:  # noqa: A002
    """Read a saved comparison with its result."""
    return await read_saved(session, id)


@router.patch("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def update_comparison(id: IdPath, body: SavedComparisonUpdate, session: WriteSession) -> SavedComparisonInfo:  # noqa: A002
    """Change the name or the note of a saved comparison."""
    return await saved_comparison_rows.update_saved(session, id, name=body.name, note=body.note)


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_comparison(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a saved comparison."""
    await saved_comparison_rows.delete_saved(session, id)
    return Empty()


async def read_saved(session: AsyncSession, id: int) -> SavedComparison:  # noqa: A002
    """Return a saved comparison with its result.

    Raises: NotFound; Conflict for a result in a format that this version does not read
    """
    info = await saved_comparison_rows.read_saved(session, id)
    body = await saved_comparison_rows.read_saved_result(session, id)
    try:
        result = await anyio.to_thread.run_sync(read_json, body)
    except (ValueError, KeyError, TypeError):
        raise Conflict(
            f"Comparison {info.name} was saved by another version of normstat, in a format that this one does not read."
            " Run it again with its inputs",
            {"comparison": id},
        ) from None
    return SavedComparison(**asdict(info), result=result)
