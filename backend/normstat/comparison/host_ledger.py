"""The ledger of a host alone, without a comparison of all its series: who took what in a short time."""

from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat import work_budget
from normstat.baselines.window_sets import Windows, length_s, sample_evenly
from normstat.comparison.ledger.book import open_book
from normstat.comparison.ledger.model import LedgerLine
from normstat.comparison.ledger.readings import PairedSides, Reading
from normstat.comparison.ledger.sources import STATS
from normstat.comparison.side_reader import SideRequest, read_sides
from normstat.comparison.surroundings import count_cpus
from normstat.profiles.sketch_reader import is_profiled
from normstat.storage.lookup import list_host_stats
from normstat.storage.schema.models import Host
from normstat.window import Window

# The windows that are read of a long baseline, and the longest that each may be.
MAX_WINDOWS: Final = 24
MAX_WINDOW_S: Final = 600.0


def some_windows(baseline: Windows, incident: Window) -> Windows:
    """Return the windows of a baseline that the ledger looks at: some as long as the incident, or all of a short one."""
    share = MAX_WINDOWS * min(incident.length_s, MAX_WINDOW_S) / max(length_s(baseline), 1.0)
    return baseline if share >= 1 else sample_evenly(baseline, share, MAX_WINDOWS)


async def read_ledger(
    session: AsyncSession, host_id: int, incident: Window, baseline: Windows, *, max_rows: int
) -> list[LedgerLine]:  # fmt: skip
    """Return the lines of a host, heaviest first. Empty where nothing tells a total. `max_rows`: of each stat and side"""
    windows = some_windows(baseline, incident)
    stats = [stat for stat in await list_host_stats(session, host_id) if stat.name in STATS]
    requests = [
        SideRequest(host_id, stat, side, [field for field in stat.fields if is_profiled(field)], max_rows)
        for stat in stats
        for side in (windows, (incident,))
    ]
    host = (await session.get_one(Host, host_id)).name
    read = await read_sides(session, requests, _nobody)
    sides = {stat.name: PairedSides(*read[2 * at : 2 * at + 2]) for at, stat in enumerate(stats)}
    n_cpus = count_cpus([both.incident for both in sides.values()])
    return await work_budget.run_in_thread(open_book, host, Reading(sides, windows, incident), n_cpus)


async def _nobody(_: SideRequest) -> None:
    """Report no progress."""
