"""Sessions: one's own, and for administrators those of any account."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Path

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, IdPath, ReadSession, Viewer, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.auth import session_list
from normstat.db.row_records import to_record
from normstat.db.schema.models import Session
from normstat.errors import NotFound
from normstat.runtime.body import NO_NUL, Body
from normstat.runtime.field_docs import Documented

router = LazyRouter(tags=["sessions"])
AccountPath = Annotated[str, Path(description="name of the account", min_length=1, max_length=200, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class SessionInfo(Documented):
    """A logged-in browser. `browser`: in words, "" where it is not known; `address`: of its last request.

    `means`: password, link, provider, or "" of a session that an earlier version opened. `is_current`: of this request.
    """

    id: int
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str
    browser: str
    means: str
    is_current: bool


class SessionList(Body):
    """Sessions, the last used first; 500 at most."""

    sessions: list[SessionInfo]


class SessionsEnded(Body):
    """How many sessions were ended."""

    n_ended: int


def _to_list(rows: list[Session], current: bytes | None) -> SessionList:
    return SessionList(sessions=[to_record(SessionInfo, row, is_current=row.token_hash == current) for row in rows])


@router.get("/auth/sessions", responses=guarded_answers())
@open_to_limited()
async def list_sessions(principal: Viewer, session: ReadSession) -> SessionList:
    """List the sessions of one's own account."""
    return _to_list(await session_list.list_own(session, principal), principal.session_hash)


@router.delete("/auth/sessions", responses=guarded_answers())
@open_to_limited()
async def end_other_sessions(principal: Viewer, session: WriteSession) -> SessionsEnded:
    """End all sessions of one's own account but this one. Not with an API token."""
    return SessionsEnded(n_ended=await session_list.end_others(session, principal))


@router.delete("/auth/sessions/{id}", responses=guarded_answers(NotFound))
@open_to_limited()
async def end_session(id: IdPath, principal: Viewer, session: WriteSession) -> Empty:  # noqa: A002
    """End one session of one's own account. Not with an API token."""
    await session_list.end_own(session, principal, id)
    return Empty()


@router.get("/users/{name}/sessions", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def list_user_sessions(name: AccountPath, principal: Administrator, session: ReadSession) -> SessionList:
    """List the sessions of an account."""
    return _to_list(await session_list.list_of(session, name), principal.session_hash)


@router.delete("/users/{name}/sessions", responses=guarded_answers(NotFound))
async def end_user_sessions(name: AccountPath, principal: Administrator, session: WriteSession) -> SessionsEnded:
    """End all sessions of an account. An API token cannot end those of an administrator."""
    return SessionsEnded(n_ended=await session_list.end_all_of(session, principal, name))


@router.delete("/users/{name}/sessions/{id}", responses=guarded_answers(NotFound))
async def end_user_session(name: AccountPath, id: IdPath, principal: Administrator, session: WriteSession) -> Empty:  # noqa: A002
    """End one session of an account. An API token cannot end one of an administrator."""
    await session_list.end_of(session, principal, name, id)
    return Empty()
