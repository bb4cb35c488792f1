"""Channels of alerts: where messages go. The secrets of a row are for those who send, and never for the API."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import ValidationError
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts.channel_settings import AnySettings, ChannelSettings, join_secrets, read_settings, split_secrets
from normstat.db.named_rows import flush_name, require_row
from normstat.db.row_records import to_record
from normstat.db.schema.alert_models import AlertChannelRow
from normstat.errors import BadRequest
from normstat.runtime.body import Body, Name
from normstat.runtime.field_docs import Documented

MAX_CHANNELS: Final = 100
NAME_CONSTRAINT: Final = "uq_alert_channels__name"
# Changes of channels, routes and alerts are serialised, so that messages are planned for existing channels only.
ALERT_LOCK: Final = 0x6E6F726D_00000019


class AlertChannelPut(Body):
    """A channel. In a change, a secret that is null stays as it is, and one that is empty is removed."""

    name: Name
    is_enabled: bool = True
    settings: ChannelSettings


@dataclass(frozen=True, slots=True)
class AlertChannelInfo(Documented):
    """A channel: where messages go. Its secrets are never returned."""

    id: int
    name: str
    kind: str
    """email, webhook, chat, alertmanager, service or script."""
    endpoint: str
    """Whom it reaches, without secrets: `smtp://mail.example.org:587`, `https://hooks.slack.com`."""
    is_enabled: bool
    settings: ChannelSettings | None
    """Secrets are null; null altogether where this version cannot read them any more."""
    secrets: list[str]
    """The names of the secrets that are set."""
    routes: list[str]
    """The names of the routes that send to it."""
    held_until: datetime | None
    """The receiver asked for a pause until then."""
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime


async def lock_alerts(session: AsyncSession) -> None:
    """Wait for the lock on changes of channels, routes and alerts; it ends with the transaction."""
    await session.execute(select(func.pg_advisory_xact_lock(ALERT_LOCK)))


async def list_channels(session: AsyncSession) -> list[AlertChannelRow]:
    """Return all channels, by name."""
    return list(await session.scalars(select(AlertChannelRow).order_by(AlertChannelRow.name)))


async def read_channel(session: AsyncSession, channel_id: int) -> AlertChannelRow:
    """Return a channel.

    Raises: NotFound
    """
    return await require_row(session, AlertChannelRow, channel_id, what="alert channel", listed_at="/api/v1/alert-channels")


async def create_channel(session: AsyncSession, body: AlertChannelPut, settings: AnySettings, *, by: str) -> AlertChannelRow:
    """Return the new channel. `settings`: those of the body, with their secrets

    Raises: Conflict when the name is taken; BadRequest with too many channels
    """
    n = await session.scalar(select(func.count()).select_from(AlertChannelRow)) or 0
    if n >= MAX_CHANNELS:
        raise BadRequest(f"There are {n} channels; at most {MAX_CHANNELS} can be stored. Delete some first")
    row = AlertChannelRow(created_by=by)
    _fill(row, body, settings, by)
    session.add(row)
    return await _save(session, row)


async def update_channel(
    session: AsyncSession, channel_id: int, body: AlertChannelPut, settings: AnySettings, *, by: str
) -> AlertChannelRow:
    """Return the changed channel. `settings`: those of the body, with their secrets

    Raises: NotFound; Conflict when the name is taken
    """
    row = await read_channel(session, channel_id)
    _fill(row, body, settings, by)
    row.updated_at = (await session.scalars(select(func.now()))).one()
    # The receiver that asked for a pause may have been replaced.
    row.held_until = None
    return await _save(session, row)


async def delete_channel(session: AsyncSession, channel_id: int) -> None:
    """Delete a channel; what was sent to it stays in the list of messages.

    Raises: NotFound
    """
    await session.delete(await read_channel(session, channel_id))
    await session.flush()


async def hold_channel(session: AsyncSession, channel_id: int, until: datetime) -> None:
    """Send nothing to a channel until an instant."""
    await session.execute(update(AlertChannelRow).where(AlertChannelRow.id == channel_id).values(held_until=until))


def _fill(row: AlertChannelRow, body: AlertChannelPut, settings: AnySettings, by: str) -> None:
    row.name, row.kind, row.is_enabled, row.updated_by = body.name, settings.kind, body.is_enabled, by
    row.settings, row.secrets = split_secrets(settings)


async def _save(session: AsyncSession, row: AlertChannelRow) -> AlertChannelRow:
    await flush_name(session, row.name, constraint=NAME_CONSTRAINT, what="A channel")
    await session.refresh(row)
    return row


def show_channel(row: AlertChannelRow, routes: Iterable[str]) -> AlertChannelInfo:
    """Return a channel as people see it. `routes`: names of those that send to it"""
    try:
        settings = read_settings(row.settings)
        endpoint = join_secrets(row.settings, row.secrets).endpoint
    except ValidationError:
        settings, endpoint = None, ""
    return to_record(AlertChannelInfo, row, settings=settings, endpoint=endpoint, secrets=sorted(row.secrets), routes=list(routes))
