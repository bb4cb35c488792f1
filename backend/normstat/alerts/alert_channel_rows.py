"""Channels of alerts: where messages go. The secrets of a record are for those who send, and never for the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import flush_name, require_row
from normstat.db.schema.alert_models import AlertChannelRow
from normstat.errors import BadRequest

MAX_CHANNELS: Final = 100
NAME_CONSTRAINT: Final = "uq_alert_channels__name"
# Changes of channels, routes and alerts are serialised, so that messages are planned for existing channels only.
ALERT_LOCK: Final = 0x6E6F726D_00000019


@dataclass(frozen=True, slots=True)
class ChannelDraft:
    """A channel to store: its public settings, and its secrets, which have no repr."""

    name: str
    kind: str
    settings: Mapping[str, object]
    secrets: Mapping[str, object] = field(repr=False)
    is_enabled: bool
    changed_by: str


@dataclass(frozen=True, slots=True)
class ChannelRecord:
    """A stored channel. `held_until`: the receiver asked for a pause; None without one"""

    id: int
    name: str
    kind: str
    settings: dict[str, object]
    secrets: dict[str, object] = field(repr=False)
    is_enabled: bool
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    held_until: datetime | None


async def lock_alerts(session: AsyncSession) -> None:
    """Wait for the lock on changes of channels, routes and alerts; it ends with the transaction."""
    await session.execute(select(func.pg_advisory_xact_lock(ALERT_LOCK)))


async def list_channels(session: AsyncSession) -> list[ChannelRecord]:
    """Return all channels, by name."""
    rows = await session.scalars(select(AlertChannelRow).order_by(AlertChannelRow.name))
    return [_to_record(row) for row in rows]


async def read_channel(session: AsyncSession, channel_id: int) -> ChannelRecord:
    """Return a channel.

    Raises: NotFound
    """
    return _to_record(await _require(session, channel_id))


async def create_channel(session: AsyncSession, draft: ChannelDraft) -> ChannelRecord:
    """Return the new channel.

    Raises: Conflict when the name is taken; BadRequest with too many channels
    """
    n = await session.scalar(select(func.count()).select_from(AlertChannelRow)) or 0
    if n >= MAX_CHANNELS:
        raise BadRequest(f"There are {n} channels; at most {MAX_CHANNELS} can be stored. Delete some first")
    row = AlertChannelRow(created_by=draft.changed_by)
    _fill(row, draft)
    session.add(row)
    return await _save(session, row)


async def update_channel(session: AsyncSession, channel_id: int, draft: ChannelDraft) -> ChannelRecord:
    """Return the changed channel.

    Raises: NotFound; Conflict when the name is taken
    """
    row = await _require(session, channel_id)
    _fill(row, draft)
    row.updated_at = (await session.scalars(select(func.now()))).one()
    # The receiver that asked for a pause may have been replaced.
    row.held_until = None
    return await _save(session, row)


async def delete_channel(session: AsyncSession, channel_id: int) -> None:
    """Delete a channel; what was sent to it stays in the list of messages.

    Raises: NotFound
    """
    await session.delete(await _require(session, channel_id))
    await session.flush()


async def hold_channel(session: AsyncSession, channel_id: int, until: datetime) -> None:
    """Send nothing to a channel until an instant."""
    await session.execute(update(AlertChannelRow).where(AlertChannelRow.id == channel_id).values(held_until=until))


def _fill(row: AlertChannelRow, draft: ChannelDraft) -> None:
    row.name, row.kind = draft.name, draft.kind
    row.settings, row.secrets = dict(draft.settings), dict(draft.secrets)
    row.is_enabled, row.updated_by = draft.is_enabled, draft.changed_by


async def _save(session: AsyncSession, row: AlertChannelRow) -> ChannelRecord:
    await flush_name(session, row.name, constraint=NAME_CONSTRAINT, what="A channel")
    await session.refresh(row)
    return _to_record(row)


async def _require(session: AsyncSession, channel_id: int) -> AlertChannelRow:
    return await require_row(session, AlertChannelRow, channel_id, what="alert channel", listed_at="/api/v1/alert-channels")


def _to_record(row: AlertChannelRow) -> ChannelRecord:
    return ChannelRecord(
        id=row.id,
        name=row.name,
        kind=row.kind,
        settings=row.settings,
        secrets=row.secrets,
        is_enabled=row.is_enabled,
        created_by=row.created_by,
        created_at=row.created_at,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
        held_until=row.held_until,
    )
