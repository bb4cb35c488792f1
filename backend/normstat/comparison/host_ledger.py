"""The ledger of a host without a comparison of all its series: who used what, answered quickly."""

from datetime import timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows, length_s, sample_evenly
from normstat.comparison.ledger.book import open_book
from normstat.comparison.ledger.readings import PairedSides, Reading
from normstat.comparison.ledger.sources import FIELDS_OF_USERS, INSTALLED, STATS
from normstat.comparison.ledger_model import LedgerLine
from normstat.comparison.read_side import StatSide
from normstat.comparison.side_reader import SideRequest, read_sides
from normstat.comparison.surroundings import count_cpus
from normstat.db.schema.models import Host
from normstat.profiles.sketch_reader import is_profiled
from normstat.runtime import work_budget
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.window import Window

# The windows that are read of a long baseline, and the longest that each may be.
MAX_WINDOWS: Final = 24
MAX_WINDOW_S: Final = 600.0
# Agents say each hour what a host is.
FACTS_WITHIN: Final = timedelta(hours=2)


def some_windows(baseline: Windows, incident: Window) -> Windows:
    """Return the windows of a baseline that the ledger looks at: some as long as the incident, or all of a short one."""
    share = MAX_WINDOWS * min(incident.length_s, MAX_WINDOW_S) / max(length_s(baseline), 1.0)
    return baseline if share >= 1 else sample_evenly(baseline, share, MAX_WINDOWS)


async def read_ledger(
    session: AsyncSession, host_id: int, incident: Window, baseline: Windows, *, max_rows: int
) -> list[LedgerLine]:  # fmt: skip
    """Return the lines of a host, heaviest first. Empty where no stat has a total. `max_rows`: of each stat and side"""
    windows = some_windows(baseline, incident)
    found = await list_host_stats(session, host_id)
    stats = [stat for stat in found if stat.name in STATS]
    facts = [stat for stat in found if stat.name == INSTALLED[0]]
    requests: list[SideRequest] = []
    for stat in stats:
        fields = [field for field in stat.fields if is_profiled(field)]
        requests += [ask_baseline(host_id, stat, windows, max_rows), SideRequest(host_id, stat, (incident,), fields, max_rows)]
    requests += [ask_facts(host_id, stat, incident, max_rows) for stat in facts]
    host = (await session.get_one(Host, host_id)).name
    read = await read_sides(session, requests)
    sides = {stat.name: PairedSides(*read[2 * at : 2 * at + 2]) for at, stat in enumerate(stats)}
    n_cpus = count_cpus([both.incident for both in sides.values()])
    reading = Reading(sides, windows, incident, installed_kib(read[-1]) if facts else 0.0)
    return await work_budget.run_in_thread(open_book, host, reading, n_cpus)


def ask_baseline(host_id: int, stat: StatRef, windows: Windows, max_rows: int) -> SideRequest:
    """Return the request for a stat in the windows of a baseline, with the fields that the ledger needs."""
    needed = FIELDS_OF_USERS.get(stat.name)
    fields = [field for field in stat.fields if is_profiled(field) and (needed is None or field.key in needed)]
    return SideRequest(host_id, stat, windows, fields, max_rows)


def ask_facts(host_id: int, stat: StatRef, incident: Window, max_rows: int) -> SideRequest:
    """Return the request for what the agent said last of a host. `stat`: the facts"""
    window = Window(incident.end - FACTS_WITHIN, incident.end)
    return SideRequest(host_id, stat, (window,), [field for field in stat.fields if field.key == INSTALLED[1]], max_rows)


def installed_kib(facts: StatSide) -> float:
    """Return the memory of a host, 0 where the agent did not say it."""
    column = facts.values.get(INSTALLED[1], np.empty(0))
    known = column[np.isfinite(column)]
    return float(known[-1]) if len(known) else 0.0
