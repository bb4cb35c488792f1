"""Marks on hours whose samples changed after they were rolled up. Whoever calls holds the host's row locked.

    hosts.rolled_until   hours before it are in `rollups`, for every stat of the host
    rollup_marks         but for these hours of these stats, which are read from the samples until they are rolled up again

The job that rolls up moves `rolled_until` on with the host's row locked, and so sees every sample of the hours that it passes; a
sample that comes later for such an hour leaves a mark in its own transaction. So what is drawn is right at every moment.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg

HOUR: Final = timedelta(hours=1)
MARK: Final = """
    INSERT INTO rollup_marks (host_id, stat_id, hour_at)
    SELECT %(host_id)s, %(stat_id)s, hour_at
    FROM generate_series(%(first)s::timestamptz, %(last)s::timestamptz, interval '1 hour') AS changed(hour_at)
    ON CONFLICT (host_id, stat_id, hour_at) DO UPDATE SET generation = rollup_marks.generation + 1
"""


def hour_of(instant: datetime) -> datetime:
    """The begin of the hour (UTC) that the instant is in."""
    return instant.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


async def mark_changed(
    connection: psycopg.AsyncConnection,
    *,
    host_id: int,
    stat_id: int,
    first: datetime,
    last: datetime,
    rolled_until: datetime | None,
) -> None:
    """Marks the hours from `first` to `last`, both included, that are before `rolled_until`; nothing when none is."""
    if rolled_until is None or first >= rolled_until:
        return
    last = min(last, rolled_until - timedelta(microseconds=1))
    span = {"host_id": host_id, "stat_id": stat_id, "first": hour_of(first), "last": hour_of(last)}
    await connection.execute(MARK, span)
