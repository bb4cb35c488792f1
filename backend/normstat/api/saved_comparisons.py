"""Comparisons that were kept: name, note, what was asked, and the answer as it was then."""

import anyio.to_thread
from fastapi import APIRouter, Request
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.comparison_answer import answer_in_turn
from normstat.api.comparison_schemas import Comparison, Kept, KeptCreate, KeptInfo, KeptList, KeptUpdate
from normstat.api.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, State, WriteSession
from normstat.api.disconnect import run_while_connected
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import Empty
from normstat.errors import BadRequest, Conflict, NoData, NotFound, Overloaded, TooLarge
from normstat.storage import saved_comparison_rows
from normstat.storage.saved_comparison_rows import KeptDraft, KeptRecord

router = APIRouter(prefix="/comparisons", tags=["comparison"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_comparisons(session: ReadSession) -> KeptList:
    """List kept comparisons, the newest first."""
    return KeptList(comparisons=[KeptInfo.model_validate(record) for record in await saved_comparison_rows.list_kept(session)])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded))
async def keep_comparison(body: KeptCreate, request: Request, principal: Operator, state: State, write: WriteSession) -> KeptInfo:
    """Compare and keep the answer: it can be read when samples and baselines are gone."""
    result = await run_while_connected(request, answer_in_turn(state, principal.name, body.inputs))
    packed = await anyio.to_thread.run_sync(_to_json, result)
    parameters = body.inputs.pinned(result.against.version).to_parameters()
    draft = KeptDraft(body.name, body.note, parameters, packed, principal.name)
    return KeptInfo.model_validate(await saved_comparison_rows.create_kept(write, draft))


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound, Conflict))
async def get_comparison(id: IdPath, session: ReadSession) -> Kept:  # noqa: A002
    """Show a kept comparison as it was."""
    record, result = await read_kept(session, id)
    return Kept(**KeptInfo.model_validate(record).model_dump(), result=result)


@router.patch("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
async def update_comparison(id: IdPath, body: KeptUpdate, session: WriteSession) -> KeptInfo:  # noqa: A002
    """Change the name or the note of a kept comparison."""
    return KeptInfo.model_validate(await saved_comparison_rows.update_kept(session, id, name=body.name, note=body.note))


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
async def delete_comparison(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Forget a kept comparison."""
    await saved_comparison_rows.delete_kept(session, id)
    return Empty()


async def read_kept(session: AsyncSession, id: int) -> tuple[KeptRecord, Comparison]:  # noqa: A002
    """Return a kept comparison with its answer.

    Raises: NotFound; Conflict when another version of the program wrote it in a form that this one does not read
    """
    record = await saved_comparison_rows.read_kept(session, id)
    body = await saved_comparison_rows.read_kept_result(session, id)
    try:
        return record, await anyio.to_thread.run_sync(Comparison.model_validate_json, body)
    except ValidationError:
        raise Conflict(
            f"The answer of the comparison {record.name} was kept by another version of the program; compare again with its inputs",
            {"comparison": id},
        ) from None


def _to_json(result: Comparison) -> bytes:
    return result.model_dump_json().encode()
