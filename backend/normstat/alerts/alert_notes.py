"""Acknowledge alerts."""

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts import alert_rows
from normstat.records import episode_rows


async def acknowledge_alert(session: AsyncSession, alert_id: int, *, by: str, note: str) -> None:
    """Acknowledge an alert, and those of its episodes that are not acknowledged yet.

    Raises: NotFound
    """
    for episode_id in await alert_rows.acknowledge_alert(session, alert_id, by=by, note=note):
        row = await episode_rows.require_episode(session, episode_id)
        if row.acknowledged_at is None:
            await episode_rows.acknowledge(session, episode_id, by=by, note=note)


async def take_back_alert_acknowledgement(session: AsyncSession, alert_id: int) -> None:
    """Withdraw the acknowledgement of an alert and of its open episodes: it escalates and repeats again.

    Raises: NotFound
    """
    for episode_id in await alert_rows.take_back_acknowledgement(session, alert_id):
        row = await episode_rows.require_episode(session, episode_id)
        if row.ended_at is None and row.acknowledged_at is not None:
            await episode_rows.take_back_acknowledgement(session, episode_id)
