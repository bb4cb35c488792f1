"""Units and containers that ran into a limit of their own, of CPU time or of memory, whatever the host has left."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.comparison.ledger import sources
from normstat.comparison.ledger.ledger_words import describe
from normstat.comparison.ledger.lines import ResourceTotal
from normstat.comparison.ledger.readings import Reading, known_mean
from normstat.comparison.ledger.splits import MIN_CHANGES, farthest, totals_of
from normstat.comparison.ledger_model import LedgerLine
from normstat.runtime.readable import format_human

# Per second, as in the rule unit-memory; and per minute: one process killed in twenty minutes.
MIN_AT_LIMIT: Final = 10.0
MIN_KILLED: Final = 0.05
# What a unit may use, by the resource of its line, and how much of it is 1 in the line.
LIMITS: Final = {"throttling": (sources.CPU_LIMIT, 100.0), "memory_limit": (sources.MEMORY_LIMIT, 1.0)}


def throttled_units(reading: Reading) -> list[ResourceTotal]:
    """Return how much each unit was throttled; most never are."""
    return totals_of(reading, "throttling", sources.THROTTLED, "%", MIN_CHANGES["cpu"], 100.0)


def units_at_limit(reading: Reading) -> list[ResourceTotal]:
    """Return how often each unit was at its limit of memory."""
    return totals_of(reading, "memory_limit", sources.AT_LIMIT, "1/s", MIN_AT_LIMIT)


def units_with_kills(reading: Reading) -> list[ResourceTotal]:
    """Return how many processes of each unit the kernel killed."""
    return totals_of(reading, "memory_limit", sources.KILLED, "1/min", MIN_KILLED)


def limit_totals(reading: Reading) -> list[ResourceTotal]:
    """Return for each kind of limit the unit that left its normal range most."""
    return [
        *farthest(throttled_units(reading)),
        *farthest(units_at_limit(reading)),
        *farthest(units_with_kills(reading)),
    ]  # fmt: skip


def note_limit(line: LedgerLine, reading: Reading, others: Sequence[LedgerLine], start_s: float) -> LedgerLine:
    """Return the line; of a unit with its limit, and what the host had left. `others`: the lines of the host"""
    if line.resource not in LIMITS or line.certainty == "nothing":
        return line
    field, whole = LIMITS[line.resource]
    limit = known_mean(reading.stats[line.stat].incident, field, reading.whole(), line.instance)[0]
    noted = replace(line, limit=None if np.isnan(limit) else float(limit) / whole, note=_describe_host(line, others))
    return replace(noted, sentence=describe(noted, start_s))


def _describe_host(line: LedgerLine, others: Sequence[LedgerLine]) -> str:
    """Return how much of the resource the host had left. Empty where that is not known."""
    of_host = "cpu" if line.resource == "throttling" else "memory"
    host = next((other for other in others if other.resource == of_host and other.capacity), None)
    if host is None or not host.capacity:
        return ""
    free = host.capacity - host.incident
    if of_host == "cpu":
        return f"the host was {format_human(100 * free / host.capacity, '%')} idle"
    return f"the host had {format_human(free, host.unit)} of {format_human(host.capacity, host.unit)} of memory left"
