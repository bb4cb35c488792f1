"""Rows of the audit log: added, read, sent on, and deleted when they are old enough; never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import CursorResult, Text, cast, delete, func, insert, or_, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.audit_models import AuditEntryRow, AuditForwardingRow

Means = Literal["session", "api_token", "join_token", "link", "command", "none"]
# Transactions that took a number may still be open: younger rows are sent with the next turn, so that none is skipped.
SETTLED_AFTER: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something that an account or a client did, or was refused. Shapes as in `AuditEntryRow`."""

    account: str | None
    means: Means
    address: str
    action: str
    target: dict[str, str] = field(default_factory=dict)
    is_refused: bool = False
    token_id: int | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are asked for; None asks for all. `text` is looked for in action, account, address and target."""

    account: str | None = None
    action: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    text: str | None = None
    is_refused: bool | None = None


async def add_entries(session: AsyncSession, entries: Sequence[AuditEntry]) -> None:
    """Store the entries in the transaction of the session."""
    if not entries:
        return
    await session.execute(
        insert(AuditEntryRow),
        [
            {
                "account": each.account,
                "means": each.means,
                "token_id": each.token_id,
                "address": each.address,
                "action": each.action,
                "is_refused": each.is_refused,
                "target": each.target,
                "request_id": each.request_id,
            }
            for each in entries
        ],
    )


async def has_changed(session: AsyncSession) -> bool:
    """Return whether the transaction of the session has changed anything so far."""
    return await session.scalar(text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")) is True


async def list_entries(
    session: AsyncSession, wanted: AuditFilter, *, before_id: int | None = None, limit: int = 100
) -> list[AuditEntryRow]:
    """Return the newest entries first, older than the one with the number `before_id`."""
    query = select(AuditEntryRow).order_by(AuditEntryRow.id.desc()).limit(limit)
    if before_id is not None:
        query = query.where(AuditEntryRow.id < before_id)
    if wanted.account is not None:
        query = query.where(AuditEntryRow.account == wanted.account)
    if wanted.action is not None:
        query = query.where(AuditEntryRow.action == wanted.action)
    if wanted.start is not None:
        query = query.where(AuditEntryRow.at >= wanted.start)
    if wanted.end is not None:
        query = query.where(AuditEntryRow.at < wanted.end)
    if wanted.is_refused is not None:
        query = query.where(AuditEntryRow.is_refused == wanted.is_refused)
    if wanted.text:
        columns = (AuditEntryRow.action, AuditEntryRow.account, AuditEntryRow.address, cast(AuditEntryRow.target, Text))
        query = query.where(or_(*(column.icontains(wanted.text, autoescape=True) for column in columns)))
    return list(await session.scalars(query))


async def list_actions(session: AsyncSession) -> list[str]:
    """Return the actions that there are entries of, by name."""
    return list(await session.scalars(select(AuditEntryRow.action).distinct().order_by(AuditEntryRow.action)))


async def read_after(session: AsyncSession, last_id: int, limit: int) -> list[AuditEntryRow]:
    """Return the oldest settled entries after that number."""
    query = (
        select(AuditEntryRow)
        .where(AuditEntryRow.id > last_id, AuditEntryRow.at < func.now() - SETTLED_AFTER)
        .order_by(AuditEntryRow.id)
        .limit(limit)
    )
    return list(await session.scalars(query))


async def find_sent(session: AsyncSession, receiver: str) -> int | None:
    """Return the number of the last entry that was sent to the receiver, None if there is none yet."""
    return await session.scalar(select(AuditForwardingRow.last_id).where(AuditForwardingRow.receiver == receiver))


async def note_sent(session: AsyncSession, receiver: str, last_id: int) -> None:
    """Remember how far the receiver has the entries."""
    query = upsert(AuditForwardingRow).values(receiver=receiver, last_id=last_id)
    await session.execute(query.on_conflict_do_update(index_elements=["receiver"], set_={"last_id": last_id}))


async def delete_older(session: AsyncSession, age: timedelta) -> int:
    """Delete the entries that are older, at least 30 days, and return their number."""
    await session.execute(text("SET LOCAL normstat.audit_expiry = 'on'"))
    done = await session.execute(delete(AuditEntryRow).where(AuditEntryRow.at < func.now() - max(age, timedelta(days=30))))
    assert isinstance(done, CursorResult)
    return done.rowcount
