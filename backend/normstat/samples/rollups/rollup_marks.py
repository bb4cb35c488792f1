"""Marks on hours whose samples changed after they were rolled up. The caller holds the lock of the host's row.

    hosts.rolled_until   hours before it are in `rollups`, for every stat of the host
    rollup_marks         except for these hours of these stats, which are read from the samples until they are rolled up again

The job that rolls up moves `rolled_until` on with the host's row locked, and so sees every sample of the hours that it passes; a
sample that arrives later for such an hour leaves a mark in its own transaction. So graphs are correct at every moment.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import psycopg

from normstat.runtime.arrays import distinct_values
from normstat.samples.rollups.rollup_rows import HOUR_US
from normstat.stats.records import Int64Array
from normstat.window import from_us, to_us

# One row for each hour with samples, however far apart: an agent may send one row of 1970 and one of today.
MARK: Final = """
    INSERT INTO rollup_marks (host_id, stat_id, hour_at)
    SELECT %(host_id)s, %(stat_id)s, hour_at FROM unnest(%(hours)s::timestamptz[]) AS changed(hour_at)
    ON CONFLICT (host_id, stat_id, hour_at) DO UPDATE SET generation = rollup_marks.generation + 1
"""


def hours_of(times_us: Iterable[Int64Array]) -> frozenset[int]:
    """Return the starts of the hours (UTC) of these instants, all in microseconds since the epoch."""
    found: set[int] = set()
    for part in times_us:
        found.update((distinct_values(part // HOUR_US) * HOUR_US).tolist())
    return frozenset(found)


async def mark_changed(
    connection: psycopg.AsyncConnection,
    *,
    host_id: int,
    stat_id: int,
    hours_us: Iterable[int],
    rolled_until: datetime | None,
) -> None:
    """Mark those of the hours that are before `rolled_until`, and not before 1970, when rollups begin."""
    if rolled_until is None:
        return
    end_us = to_us(rolled_until)
    # In the common lock order.
    changed = [from_us(hour) for hour in sorted(hours_us) if 0 <= hour < end_us]
    if changed:
        await connection.execute(MARK, {"host_id": host_id, "stat_id": stat_id, "hours": changed})
