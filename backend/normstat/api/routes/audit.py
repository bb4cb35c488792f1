"""The audit log, for administrators."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import Depends, Query, Response

from normstat.api.http.deps import NEEDS_ADMINISTRATOR, ReadSession, State
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.api.http.streaming import PieceResponse, Pieces
from normstat.auth.audit_text import AUDIT_COLUMNS, to_csv_line, to_json_line
from normstat.db.schema.audit_models import AuditEntryRow
from normstat.db.session import open_read_session
from normstat.errors import BadRequest
from normstat.records import audit_rows
from normstat.records.audit_rows import AuditFilter, Means
from normstat.runtime.body import NO_NUL, Instant
from normstat.runtime.field_docs import Documented

router = LazyRouter(prefix="/audit", tags=["audit"], dependencies=[NEEDS_ADMINISTRATOR])

PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class AuditRecord(Documented):
    """Something that an account or a client did, or was refused.

    account: its name; null without a login
    means: what proved who it was; `none` for logins themselves and for strangers
    token_id: the API token, if it came with one
    target: what it was done to, from the path and the body; never a secret
    """

    id: int
    at: datetime
    account: str | None
    means: Means
    token_id: int | None
    address: str
    action: str
    is_refused: bool
    target: dict[str, str]
    request_id: str


@dataclass(frozen=True, slots=True)
class AuditPage(Documented):
    """A page of the audit log.

    entries: the newest first
    next_before: pass it as `before` for the next page; null on the last one
    actions: every action that the log has, for a choice
    """

    entries: list[AuditRecord]
    next_before: int | None
    actions: list[str]


Account = Annotated[str | None, Query(description="name of the account", min_length=1, max_length=200, pattern=NO_NUL)]
Action = Annotated[str | None, Query(description="such as `delete_host` or `login_failed`", max_length=100, pattern=NO_NUL)]
Search = Annotated[str, Query(description="text in action, account, address or target", max_length=200, pattern=NO_NUL)]
FirstInstant = Annotated[Instant | None, Query(description="first instant of the window")]
EndInstant = Annotated[Instant | None, Query(description="first instant after the window")]
Refused = Annotated[bool | None, Query(description="true: only what was refused; false: only what was done")]


def read_audit_filter(
    *,
    account: Account = None,
    action: Action = None,
    start: FirstInstant = None,
    end: EndInstant = None,
    search: Search = "",
    refused: Refused = None,
) -> AuditFilter:
    """Return the filter that the parameters ask for.

    Raises: BadRequest for an end before the start
    """
    if start is not None and end is not None and end <= start:
        raise BadRequest(f"end {end.isoformat()} is not after start {start.isoformat()}")
    return AuditFilter(account, action or None, start, end, search.strip() or None, refused)


Filter = Annotated[AuditFilter, Depends(read_audit_filter)]


@router.get("", responses=guarded_answers(BadRequest))
async def list_audit_entries(
    session: ReadSession,
    wanted: Filter,
    before: Annotated[int | None, Query(description="entries with smaller ids only", ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 100,
) -> AuditPage:
    """List who did what, from where, newest first: logins, refusals, every change, every export."""
    rows = await audit_rows.list_entries(session, wanted, before_id=before, limit=limit + 1)
    shown = rows[:limit]
    return AuditPage(
        entries=[_to_record(row) for row in shown],
        next_before=shown[-1].id if len(rows) > limit else None,
        actions=await audit_rows.list_actions(session),
    )


@router.get(
    "/export.csv",
    response_class=Response,
    responses=text_answers(
        guarded_answers(BadRequest), media_type="text/csv", description="UTF-8, CRLF, a header line, then entries, newest first"
    ),
)
async def export_audit_csv(state: State, wanted: Filter) -> PieceResponse:
    """Export the audit log as CSV."""
    head = ",".join(AUDIT_COLUMNS) + "\r\n"
    lines = _lines(state, wanted, to_csv_line, head)
    return _file(state, lines, "text/csv; charset=utf-8", "audit.csv")


@router.get(
    "/export.jsonl",
    response_class=Response,
    responses=text_answers(
        guarded_answers(BadRequest), media_type="application/jsonl", description="one JSON object a line, newest first"
    ),
)
async def export_audit_lines(state: State, wanted: Filter) -> PieceResponse:
    """Export the audit log as JSON lines, in the form that syslog gets."""
    return _file(state, _lines(state, wanted, to_json_line, ""), "application/jsonl", "audit.jsonl")


async def _lines(state: AppState, wanted: AuditFilter, to_line: Callable[[AuditEntryRow], str], head: str) -> Pieces:
    yield head.encode()
    before: int | None = None
    while True:
        # A short transaction for each page: a slow reader keeps none open.
        async with open_read_session(state.sessions) as session:
            rows = await audit_rows.list_entries(session, wanted, before_id=before, limit=PAGE)
        yield "".join(map(to_line, rows)).encode()
        if len(rows) < PAGE:
            return
        before = rows[-1].id


def _file(state: AppState, lines: Pieces, media_type: str, name: str) -> PieceResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PieceResponse(lines, media_type=media_type, headers=headers, stall_s=state.settings.reader_stall_s)


def _to_record(row: AuditEntryRow) -> AuditRecord:
    means: Means = row.means  # type: ignore[assignment]
    return AuditRecord(
        row.id, row.at, row.account, means, row.token_id, row.address, row.action, row.is_refused, row.target, row.request_id
    )
