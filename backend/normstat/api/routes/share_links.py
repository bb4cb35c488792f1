"""Share links: they show one saved comparison or one report without a login."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

import anyio.to_thread
from fastapi import Depends, Query, Request
from pydantic import Field, StringConstraints

from normstat.api.http.body import Empty
from normstat.api.http.deps import IdPath, Operator, ReadSession, State, WriteSession, check_origin
from normstat.api.http.handlers import error_answers, guarded_answers, request_id_of
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.middleware import client_address
from normstat.api.http.row_budgets import makes_rows
from normstat.api.http.state import AppState
from normstat.api.routes.comparison_report import read_shared
from normstat.api.routes.reports import find_document
from normstat.db import row_budgets
from normstat.db.host_limits import limit_hosts
from normstat.db.row_records import to_record
from normstat.db.schema.account_models import ShareLink
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, Conflict, NotAllowed, NotFound, Overloaded, TooManyRequests
from normstat.records import share_link_rows
from normstat.report.block_html import render_document
from normstat.report.report_page import render_report
from normstat.runtime.body import Body
from normstat.runtime.field_docs import Documented
from normstat.sharing import share_links
from normstat.sharing.share_links import OpenedLink

router = LazyRouter(prefix="/share-links", tags=["share links"])

MAX_LISTED: Final = 500
ContentId = Annotated[int, Field(ge=1, le=2**63 - 1)]


class ShareLinkCreate(Body):
    """A link to one saved comparison or one report."""

    comparison: ContentId | None = None
    report: ContentId | None = None
    lifetime_s: Annotated[int, Field(ge=60, le=365 * 86400)] = 7 * 86400


@dataclass(frozen=True, slots=True)
class ShareLinkInfo(Documented):
    """A link without its secret."""

    id: int
    comparison: int | None
    report: int | None
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    n_opened: int
    last_opened_at: datetime | None


class ShareLinkList(Body):
    """Links, newest first. `max_days`: how long one may be valid on this server; 0: there are none."""

    links: list[ShareLinkInfo]
    max_days: int


class NewShareLink(Body):
    """The address, shown once."""

    address: str
    info: ShareLinkInfo


class ShareLinkOpen(Body):
    """The secret of a link."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SharedContent(Body):
    """What a link shows: one self-contained HTML page without scripts, and who shared it until when."""

    kind: Literal["comparison", "report"]
    title: str
    shared_by: str
    expires_at: datetime
    html: str


@router.get("", responses=guarded_answers())
@open_to_limited()
async def list_share_links(
    principal: Operator,
    session: ReadSession,
    state: State,
    comparison: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="only links to this saved comparison")] = None,
    report: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="only links to this report")] = None,
) -> ShareLinkList:
    """List one's own links; administrators see all."""
    rows = await share_link_rows.list_share_links(
        session, share_links.seen_by(principal), comparison=comparison, report=report, limit=MAX_LISTED
    )
    return ShareLinkList(links=[_to_info(row) for row in rows], max_days=state.settings.share_max_days)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict, NotFound, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.SHARE_LINKS)
async def create_share_link(body: ShareLinkCreate, principal: Operator, session: WriteSession, state: State) -> NewShareLink:
    """Create a link that shows this comparison or report without a login until it expires."""
    token, row = await share_links.create_share_link(
        session,
        principal,
        comparison=body.comparison,
        report=body.report,
        lifetime=timedelta(seconds=body.lifetime_s),
        max_days=state.settings.share_max_days,
    )
    return NewShareLink(address=f"{state.settings.public_url.rstrip('/')}/shared#token={token}", info=_to_info(row))


@router.delete("/{id}", responses=guarded_answers(NotFound))
@open_to_limited()
async def revoke_share_link(id: IdPath, principal: Operator, session: WriteSession) -> Empty:  # noqa: A002
    """Revoke one of one's own links; administrators may revoke any."""
    await share_links.revoke_share_link(session, principal, id)
    return Empty()


@router.post(
    "/open",
    dependencies=[Depends(check_origin)],
    responses=error_answers(BadRequest, Conflict, NotAllowed, NotFound, Overloaded, TooManyRequests),
)
async def open_share_link(body: ShareLinkOpen, request: Request, state: State) -> SharedContent:
    """Return what a share link shows. Its secret is the permission: no login is needed, and none gives more."""
    address = client_address(request)
    try:
        async with open_read_session(state.sessions) as session:
            link = await share_links.find_link(session, body.token)
    except NotFound:
        state.security_log.note("share_link_refused", address)
        await state.throttle.count_wrong_share_link(address)
        raise
    await state.throttle.count_opened_share_link(link.id)
    async with state.report_slots.hold(f"share link {link.id}"):
        title, html = await _draw(state, link)
    async with open_write_session(state.sessions) as session:
        await share_links.note_opened(session, link, address=address, request_id=request_id_of(request))
    kind: Literal["comparison", "report"] = "report" if link.comparison is None else "comparison"
    return SharedContent(kind=kind, title=title, shared_by=link.shared_by, expires_at=link.expires_at, html=html)


async def _draw(state: AppState, link: OpenedLink) -> tuple[str, str]:
    """Return the title and the page, made from the comparison or report alone.

    Raises: NotFound for one that is deleted, or has a host that the maker of the link may no longer see
    """
    limit_hosts(link.limited_user_id)
    try:
        async with open_read_session(state.sessions) as session:
            if link.comparison is not None:
                result, cover = await read_shared(session, link.comparison, link.shared_by)
                return cover.title, await anyio.to_thread.run_sync(render_report, result, cover)
            assert link.report is not None
            document = await find_document(session, link.report, link.shared_by, "")
    except NotFound:
        raise NotFound(share_links.CLOSED) from None
    return document.title, await anyio.to_thread.run_sync(render_document, document)


def _to_info(row: ShareLink) -> ShareLinkInfo:
    return to_record(ShareLinkInfo, row, comparison=row.comparison_id, report=row.report_id)
