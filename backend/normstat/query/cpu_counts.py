"""The number of CPUs of hosts, as their agents reported it among the facts."""

from collections.abc import Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.samples.lookup import find_stats
from normstat.samples.pages_of_hosts import read_pages_of_hosts
from normstat.samples.sample_pages import PageQuery, to_floats
from normstat.window import Window, clamp

STAT: Final = "host_facts"
FIELD: Final = "cpus"
# Agents report facts each hour; older ones may be out of date.
MAX_AGE: Final = timedelta(days=2)


async def read_cpu_counts(session: AsyncSession, host_ids: Sequence[int], at: datetime) -> dict[int, int]:
    """Return the number of CPUs that was reported last up to an instant, by host.

    Missing: a host that reported none in the MAX_AGE before
    """
    found = await find_stats(session, [STAT])
    if not found or not host_ids:
        return {}
    fields = tuple(field for field in found[0].fields if field.key == FIELD)
    # The window is half-open.
    window = Window(clamp(at - MAX_AGE), clamp(at + timedelta(microseconds=1)))
    counts: dict[int, int] = {}
    async with aclosing(read_pages_of_hosts(session, [PageQuery(STAT, host_id, window, fields) for host_id in host_ids])) as pages:
        async for number, page in pages:
            known = to_floats(fields[0], page.values[0])
            known = known[~np.isnan(known)]
            if len(known):
                counts[host_ids[number]] = int(known[-1])
    return {host_id: count for host_id, count in counts.items() if count > 0}
