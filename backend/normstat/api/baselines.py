"""Baselines: periods marked as normal."""

from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.deps import IdPath, Operator, ReadSession, Viewer, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, BaselineCreate, BaselineInfo, BaselineList, BaselineUpdate, Empty
from normstat.errors import BadRequest, Conflict, NormstatError, NotFound

router = APIRouter(prefix="/baselines", tags=["baselines"])


@router.get("", responses=guarded_answers(NotFound))
async def list_baselines(
    principal: Viewer,
    session: ReadSession,
    host: Annotated[str | None, Query(description="only those of this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
) -> BaselineList:
    """Lists baselines, the newest first."""
    raise NormstatError("not built yet")


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict))
async def create_baseline(body: BaselineCreate, principal: Operator, session: WriteSession) -> BaselineInfo:
    """Marks windows of hosts as normal."""
    raise NormstatError("not built yet")


@router.get("/{id}", responses=guarded_answers(NotFound))
async def get_baseline(id: IdPath, principal: Viewer, session: ReadSession) -> BaselineInfo:  # noqa: A002
    """Shows a baseline."""
    raise NormstatError("not built yet")


@router.patch("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def update_baseline(id: IdPath, body: BaselineUpdate, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Changes name, note or windows of a baseline."""
    raise NormstatError("not built yet")


@router.delete("/{id}", responses=guarded_answers(NotFound))
async def delete_baseline(id: IdPath, principal: Operator, session: WriteSession) -> Empty:  # noqa: A002
    """Removes a baseline; samples stay."""
    raise NormstatError("not built yet")
