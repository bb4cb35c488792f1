"""Saved views: panels under a name, drawn for any host."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Path

from normstat.api.http.body import Empty
from normstat.api.http.deps import ReadSession, Viewer, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.auth.access import Principal
from normstat.auth.roles import Role
from normstat.db import row_budgets
from normstat.errors import Conflict, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL, Body
from normstat.runtime.field_docs import Documented
from normstat.views import view_rows
from normstat.views.view_rows import ViewCreate, ViewInfo, ViewUpdate, ViewUser

router = LazyRouter(prefix="/views", tags=["views"])

ViewKey = Annotated[str, Path(description="key of the view", min_length=1, max_length=80, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class ViewList(Documented):
    """The views that the account may see: starred ones first."""

    views: list[ViewInfo]


class ViewStarred(Body):
    """Whether the account has starred a view."""

    is_starred: bool


def _user_of(principal: Principal) -> ViewUser:
    return ViewUser(principal.user_id, principal.name, may_share=principal.role.reaches(Role.OPERATOR))


@router.get("", responses=guarded_answers())
@open_to_limited()
async def list_views(principal: Viewer, session: ReadSession) -> ViewList:
    """List the views that come with normstat, those that are shared, and one's own."""
    return ViewList(await view_rows.list_views(session, _user_of(principal)))


@router.post("", status_code=201, responses=guarded_answers(Conflict, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.VIEWS)
async def create_view(body: ViewCreate, principal: Viewer, session: WriteSession) -> ViewInfo:
    """Save a view."""
    return await view_rows.create_view(session, body, _user_of(principal))


@router.get("/{key}", responses=guarded_answers(NotFound))
@open_to_limited()
async def get_view(key: ViewKey, principal: Viewer, session: ReadSession) -> ViewInfo:
    """Read a view."""
    return await view_rows.read_view(session, key, _user_of(principal))


@router.patch("/{key}", responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def update_view(key: ViewKey, body: ViewUpdate, principal: Viewer, session: WriteSession) -> ViewInfo:
    """Change a view: one's own, or with the role operator a shared one."""
    return await view_rows.update_view(session, key, body, _user_of(principal))


@router.delete("/{key}", responses=guarded_answers(NotFound))
@open_to_limited()
async def delete_view(key: ViewKey, principal: Viewer, session: WriteSession) -> Empty:
    """Delete a view: one's own, or with the role operator a shared one."""
    await view_rows.delete_view(session, key, _user_of(principal))
    return Empty()


@router.put("/{key}/star", responses=guarded_answers(NotFound))
@open_to_limited()
async def star_view(key: ViewKey, body: ViewStarred, principal: Viewer, session: WriteSession) -> Empty:
    """Star a view for the account that asks, or take the star away."""
    await view_rows.star_view(session, key, _user_of(principal), is_starred=body.is_starred)
    return Empty()
