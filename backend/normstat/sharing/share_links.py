"""Share links: each shows one saved comparison or one report without a login, until it expires, and nothing else.

The secret is in the fragment of the address, which browsers send neither to servers nor as a referrer. A link never shows more than
the account that made it may share when the link is opened, and ends with what it shows.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth.access import Principal
from normstat.auth.roles import Role
from normstat.auth.secret_tokens import SHARE_LINK_PREFIX, hash_token, new_secret
from normstat.auth.security_log import log_after_commit, short_name
from normstat.comparison import saved_comparison_rows
from normstat.db.schema.account_models import ShareLink
from normstat.errors import BadRequest, NotAllowed, NotFound
from normstat.records import share_link_rows as rows
from normstat.records.audit_rows import AuditEntry, add_entries
from normstat.report import report_rows

MIN_LIFETIME: Final = timedelta(minutes=1)
# One message for all cases: a stranger learns nothing about the link.
CLOSED: Final = "This link is unknown, has expired or was revoked; ask the sender for a new one"


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """What a link shows: a comparison, or a report. `limited_user_id`: the account whose host groups limit it; None: no limit."""

    id: int
    comparison: int | None
    report: int | None
    shared_by: str
    expires_at: datetime
    limited_user_id: int | None


async def create_share_link(
    session: AsyncSession, by: Principal, *, comparison: int | None, report: int | None, lifetime: timedelta, max_days: int
) -> tuple[str, ShareLink]:
    """Return the secret and the row of a new link to a saved comparison or a report.

    Raises: NotAllowed where the server allows none; BadRequest for a lifetime out of range, or not exactly one content; NotFound
    """
    if max_days == 0:
        raise NotAllowed("This server allows no share links (NORMSTAT_SHARE_MAX_DAYS is 0)")
    if not MIN_LIFETIME <= lifetime <= timedelta(days=max_days):
        raise BadRequest(f"A share link is valid for at least a minute and at most {max_days} days (NORMSTAT_SHARE_MAX_DAYS)")
    if (comparison is None) == (report is None):
        raise BadRequest("A share link shows one comparison or one report: name exactly one")
    if comparison is not None:
        await saved_comparison_rows.read_saved(session, comparison)
    if report is not None:
        await report_rows.read_report(session, report)
    secret = new_secret(SHARE_LINK_PREFIX)
    link = ShareLink(token_hash=secret.token_hash, comparison_id=comparison, report_id=report, created_by=by.name)
    row = await rows.add_share_link(session, link, lifetime=lifetime)
    log_after_commit(session, "share_link_created", link_id=row.id, comparison=comparison, report=report, by=short_name(by.name))
    return secret.token, row


def seen_by(by: Principal) -> str | None:
    """Return the account whose links the principal sees and revokes: its own; None: all, for an administrator."""
    return None if by.role is Role.ADMINISTRATOR else by.name


async def revoke_share_link(session: AsyncSession, by: Principal, link_id: int) -> None:
    """Revoke a link of one's own; an administrator may revoke any.

    Raises: NotFound
    """
    if not await rows.revoke_share_link(session, link_id, seen_by(by)):
        raise NotFound(f"There is no share link {link_id}")
    log_after_commit(session, "share_link_revoked", link_id=link_id, by=short_name(by.name))


async def find_link(session: AsyncSession, token: str) -> OpenedLink:
    """Return what the link shows.

    Raises: NotFound, also when the account that made it may no longer share
    """
    link, maker = await rows.find_open_link(session, hash_token(token)) or (None, None)
    if link is None or maker is None or not Role(maker.role).reaches(Role.OPERATOR):
        raise NotFound(CLOSED)
    limited_user_id = maker.id if maker.is_limited else None
    return OpenedLink(link.id, link.comparison_id, link.report_id, link.created_by, link.expires_at, limited_user_id)


async def note_opened(session: AsyncSession, link: OpenedLink, *, address: str, request_id: str) -> None:
    """Count that the link was opened, in the audit log too."""
    await rows.note_opened(session, link.id)
    what = {"comparison": link.comparison, "report": link.report}
    target = {"share_link": str(link.id)} | {key: str(value) for key, value in what.items() if value is not None}
    await add_entries(
        session,
        [AuditEntry(account=None, means="link", address=address, action="open_share_link", target=target, request_id=request_id)],
    )
