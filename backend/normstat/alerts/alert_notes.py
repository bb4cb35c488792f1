"""What people say of alerts: that they look after one."""

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts import alert_rows
from normstat.records import episode_rows


async def acknowledge_alert(session: AsyncSession, alert_id: int, *, by: str, note: str) -> None:
    """Acknowledge an alert, and those of its episodes that nobody has acknowledged.

    Raises: NotFound
    """
    for episode_id in await alert_rows.acknowledge_alert(session, alert_id, by=by, note=note):
        row = await episode_rows.require_episode(session, episode_id)
        if row.acknowledged_at is None:
            await episode_rows.acknowledge(session, episode_id, by=by, note=note)


async def take_back_alert_acknowledgement(session: AsyncSession, alert_id: int) -> None:
    """Note that nobody looks after an alert any more, nor after its episodes that last: it escalates and repeats again.

    Raises: NotFound
    """
    for episode_id in await alert_rows.take_back_acknowledgement(session, alert_id):
        row = await episode_rows.require_episode(session, episode_id)
        if row.ended_at is None and row.acknowledged_at is not None:
            await episode_rows.take_back_acknowledgement(session, episode_id)
