"""Baselines: periods marked as normal."""

from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, BaselineCreate, BaselineInfo, BaselineList, BaselineUpdate, Empty, IntervalInput
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.store import baselines
from normstat.store.baselines import BaselineChange, BaselineDraft
from normstat.window import Window

router = APIRouter(prefix="/baselines", tags=["baselines"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def list_baselines(
    session: ReadSession,
    host: Annotated[str | None, Query(description="only those of this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
) -> BaselineList:
    """Lists baselines, the newest first."""
    records = await baselines.list_baselines(session, host)
    return BaselineList(baselines=[BaselineInfo.model_validate(record) for record in records])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict))
async def create_baseline(body: BaselineCreate, principal: Operator, session: WriteSession) -> BaselineInfo:
    """Marks windows of hosts as normal."""
    draft = BaselineDraft(
        name=body.name, note=body.note, hosts=tuple(body.hosts), windows=_to_windows(body.windows), created_by=principal.name
    )
    return BaselineInfo.model_validate(await baselines.create_baseline(session, draft))


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def get_baseline(id: IdPath, session: ReadSession) -> BaselineInfo:  # noqa: A002
    """Shows a baseline."""
    return BaselineInfo.model_validate(await baselines.read_baseline(session, id))


@router.patch("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def update_baseline(id: IdPath, body: BaselineUpdate, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Changes name, note or windows of a baseline."""
    windows = None if body.windows is None else _to_windows(body.windows)
    change = BaselineChange(changed_by=principal.name, name=body.name, note=body.note, windows=windows)
    return BaselineInfo.model_validate(await baselines.update_baseline(session, id, change))


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
async def delete_baseline(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Removes a baseline; samples stay."""
    await baselines.delete_baseline(session, id)
    return Empty()


def _to_windows(intervals: list[IntervalInput]) -> tuple[Window, ...]:
    return tuple(Window(interval.start, interval.end) for interval in intervals)
