"""The baseline that each host is judged by."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of
from normstat.window import Window

# A range with both ends.
RANGE: Final = re.compile(r'\["([^"]+)","([^"]+)"\)')
# The newest baseline of a host with windows, one that is being recorded only where there is no other, as the page chooses one; the
# rolling baseline where no person marked one. Lengths are of the time before now.
READ_BASELINES: Final = """
    SELECT DISTINCT ON (bh.host_id) bh.host_id, b.id, b.version, b.name, b.time_zone, own.windows::text,
        b.rolling_host_id IS NOT NULL
    FROM baselines AS b JOIN baseline_hosts AS bh ON bh.baseline_id = b.id
    CROSS JOIN LATERAL (
        SELECT b.windows - coalesce((
            SELECT range_agg(tstzrange(e.start_at, e.end_at)) FROM exclusions AS e WHERE e.host_id IS NULL OR e.host_id = bh.host_id
        ), '{}'::tstzmultirange) AS windows
    ) AS own
    WHERE b.archived_at IS NULL AND NOT isempty(b.windows) AND (%(min_s)s::float8 = 0 OR (
        SELECT sum(extract(epoch FROM least(upper(part), %(now)s::timestamptz) - lower(part))) FROM unnest(own.windows) AS part
        WHERE lower(part) < %(now)s::timestamptz
    ) >= %(min_s)s::float8)
    ORDER BY bh.host_id, %(min_s)s::float8 > 0 AND NOT EXISTS (
        SELECT FROM profiles AS p WHERE p.baseline_id = b.id AND p.host_id = bh.host_id AND p.slot = -1 AND p.spec_versions <> '{}'
            AND p.version IN (b.version, CASE WHEN b.rolling_host_id IS NOT NULL THEN b.version - 1 END)
    ), b.rolling_host_id IS NOT NULL, b.recording_until IS NOT NULL, b.id DESC
"""


@dataclass(frozen=True, slots=True)
class CoveringBaseline:
    """The baseline that a host is judged by. `windows`: the effective ones; they may reach into the future"""

    id: int
    version: int
    name: str
    time_zone: str
    windows: tuple[Window, ...]
    is_rolling: bool = False


@lru_cache(maxsize=4096)
def read_windows(text: str) -> tuple[Window, ...]:
    """Return the windows of a multirange as PostgreSQL prints it. A fleet has the same few for most of its hosts.

    >>> read_windows('{["2026-11-20 09:00:00+00","2026-11-20 09:30:00.5+00")}')[0].end.isoformat()
    '2026-11-20T09:30:00.500000+00:00'
    """
    return tuple(Window(datetime.fromisoformat(start), datetime.fromisoformat(end)) for start, end in RANGE.findall(text))


async def read_covering_baselines(
    session: AsyncSession, *, min_s: float = 0.0, now: datetime | None = None
) -> dict[int, CoveringBaseline]:  # fmt: skip
    """Return the baseline of each host that one covers, by the host's id.

    With `min_s`: only those that long by `now`, and one that has a profile with samples before one that has none yet: a new
    baseline does not end the comparison with the one before.
    """
    cursor = await (await driver_of(session)).execute(READ_BASELINES, {"min_s": min_s, "now": now})
    return {
        int(str(host_id)): CoveringBaseline(
            int(str(id_)), int(str(version)), str(name), str(zone), read_windows(str(ranges)), bool(is_rolling)
        )
        for host_id, id_, version, name, zone, ranges, is_rolling in await cursor.fetchall()
    }
