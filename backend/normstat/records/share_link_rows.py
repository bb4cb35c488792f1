"""Rows of share links. sharing/share_links.py decides who may create, see and open them."""

from datetime import timedelta

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.account_models import ShareLink
from normstat.db.schema.models import User


async def add_share_link(session: AsyncSession, link: ShareLink, *, lifetime: timedelta) -> ShareLink:
    """Store a new link."""
    link.expires_at = (await session.scalars(select(func.now() + lifetime))).one()
    session.add(link)
    await session.flush()
    await session.refresh(link)
    return link


async def list_share_links(
    session: AsyncSession, created_by: str | None, *, comparison: int | None, report: int | None, limit: int
) -> list[ShareLink]:
    """Return the links of one account, or (None) of all, of this content, or (None) of any, the newest first."""
    query = select(ShareLink).order_by(ShareLink.id.desc()).limit(limit)
    if created_by is not None:
        query = query.where(ShareLink.created_by == created_by)
    if comparison is not None:
        query = query.where(ShareLink.comparison_id == comparison)
    if report is not None:
        query = query.where(ShareLink.report_id == report)
    return list(await session.scalars(query))


async def revoke_share_link(session: AsyncSession, link_id: int, created_by: str | None) -> bool:
    """Revoke the link (of that account, unless None); return whether it exists."""
    query = update(ShareLink).where(ShareLink.id == link_id).values(revoked_at=func.coalesce(ShareLink.revoked_at, func.now()))
    if created_by is not None:
        query = query.where(ShareLink.created_by == created_by)
    return await session.scalar(query.returning(ShareLink.id)) is not None


async def find_open_link(session: AsyncSession, token_hash: bytes) -> tuple[ShareLink, User] | None:
    """Return the link and the account that made it. Missing: None for one that is unknown, revoked or expired, or whose account is
    gone or disabled."""
    query = (
        select(ShareLink, User)
        # A later account of the same name does not bring the links of a deleted one back.
        .join(User, and_(User.name == ShareLink.created_by, User.created_at <= ShareLink.created_at))
        .where(
            ShareLink.token_hash == token_hash,
            ShareLink.revoked_at.is_(None),
            ShareLink.expires_at > func.now(),
            User.disabled_at.is_(None),
        )
    )
    found = (await session.execute(query)).one_or_none()
    return None if found is None else (found[0], found[1])


async def note_opened(session: AsyncSession, link_id: int) -> None:
    """Count that the link was opened."""
    values = {"n_opened": ShareLink.n_opened + 1, "last_opened_at": func.now()}
    await session.execute(update(ShareLink).where(ShareLink.id == link_id).values(values))


async def delete_old(session: AsyncSession, *, keep: timedelta) -> None:
    """Delete links that ended at least this long ago."""
    ended = or_(ShareLink.revoked_at <= func.now() - keep, ShareLink.expires_at <= func.now() - keep)
    await session.execute(delete(ShareLink).where(ended))
