"""Which requests the audit log names, and what it says of them.

A request that changes something is noted in the transaction of the change, so that neither is stored without the other. Exports,
and what is stored later or piece by piece (uploads, artefacts, bundles, notes of reports), are noted when they were answered.
Requests of agents are not noted: the streams are the account of what they sent.
"""

import json
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.types import Scope

from normstat.api.http.route_marks import mark_of, marking
from normstat.auth.access import Principal
from normstat.errors import shorten
from normstat.records.audit_rows import AuditEntry, Means
from normstat.runtime.bounded_decoding import NotJson, load_json

READING: Final = "changes_nothing"
BY_LINK: Final = "permitted_by_link"
# Marks a route that takes a body but changes nothing: it is not in the audit log.
changes_nothing: Final = marking(READING, value=True)
# Marks a route whose permission is the link in a message.
permitted_by_link: Final = marking(BY_LINK, value=True)
EXPORT_ENDINGS: Final = (".csv", ".jsonl", ".parquet", ".html", ".pdf", ".svg", ".txt", "/bundle")
# Members of a body that say what it is about. They are listed by name, so that a new secret is left out by
# default.
KEPT: Final = (
    "name", "title", "host", "hosts", "role", "is_disabled", "stat", "field", "start", "end", "until", "reason",
    "baseline_id", "baseline", "kind", "samples_days", "rollups_days", "chunks_days", "enabled", "is_enabled", "tags", "members",
    "days", "revoke_api_tokens", "host_pattern", "max_uses", "lifetime_s", "allows_takeover", "within_days", "comparison", "report",
)  # fmt: skip
QUERY_KEPT: Final = ("host", "hosts", "stat", "start", "end", "baseline", "incident", "as", "merge", "title", "name")
MAX_VALUE: Final = 200
MAX_BODY: Final = 256 * 1024


def note_of(scope: Scope) -> str | None:
    """Return the action that the audit log has for this request. Missing: None, it has none."""
    route = scope.get("route")
    name: str = getattr(route, "name", "")
    path: str = getattr(route, "path", "")
    if not name or mark_of(scope, READING) or "/ingest" in path or scope["path"].startswith("/api/v1/ingest"):
        return None
    if scope["method"] in {"GET", "HEAD"}:
        return name if path.endswith(EXPORT_ENDINGS) and scope["method"] == "GET" else None
    return name


def entry_of(scope: Scope, *, action: str, body: Mapping[str, object] | None = None) -> AuditEntry | None:
    """Return the entry of a request that was allowed. Missing: None without a login and without a link as permission."""
    state: dict[str, object] = scope.get("state", {})
    principal = state.get("principal")
    if isinstance(principal, Principal):
        account: str | None = principal.name
        means: Means = "session" if principal.session_hash is not None else "api_token"
        token_id = principal.api_token_id
    elif mark_of(scope, BY_LINK):
        account, means, token_id = None, "link", None
    else:
        return None
    target = {key: say_value(value) for key, value in scope.get("path_params", {}).items()}
    query = Request(scope).query_params
    target |= {key: say_value(", ".join(query.getlist(key))) for key in QUERY_KEPT if key in query and key not in target}
    target |= {key: say_value(body[key]) for key in KEPT if body and body.get(key) is not None and key not in target}
    return AuditEntry(
        account=account,
        means=means,
        token_id=token_id,
        address=str(state.get("client_address", "")),
        action=action,
        target=target,
        request_id=str(state.get("request_id", "")),
    )


def say_value(value: object) -> str:
    """Return a value of a request as the audit log has it: text, or JSON, cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE else shorten(text, MAX_VALUE)


async def read_body(request: Request) -> Mapping[str, object] | None:
    """Return the JSON object that the route has read. Missing: None for anything else, such as a body that was streamed."""
    raw = getattr(request, "_body", None)
    if not isinstance(raw, bytes) or not raw or len(raw) > MAX_BODY:
        return None
    if "json" not in request.headers.get("content-type", ""):
        return None
    try:
        found = load_json(raw, MAX_BODY)
    except NotJson:
        return None
    return found if isinstance(found, dict) else None
