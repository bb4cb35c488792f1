"""The lines of databases: how many sessions were at work, which statements kept them busy, and who blocked them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.comparison.ledger import sources
from normstat.comparison.ledger.ledger_words import culprits_of, describe, describe_part
from normstat.comparison.ledger.lines import ResourceTotal
from normstat.comparison.ledger.readings import Reading
from normstat.comparison.ledger.sources import Database
from normstat.comparison.ledger.splits import Entry, Measure, by_process, find_times
from normstat.comparison.ledger_model import LedgerLine
from normstat.runtime.readable import describe_range, format_human

# Smaller changes are ignored: sessions at work, those of a statement, and those that are blocked.
MIN_SESSIONS: Final = 0.5
MIN_OF_ONE: Final = 0.2
BLOCKING: Final[Measure] = ("blocking", "sessions", MIN_OF_ONE)
STATEMENTS: Final[Measure] = ("statement", "sessions", MIN_OF_ONE)
# Checkpoints a minute beyond the normal range.
MIN_FORCED: Final = 1.0


def database_entries(reading: Reading) -> list[Entry]:
    """Return the total and the splits of each database that both sides recorded."""
    found = []
    for database in sources.DATABASES:
        times = find_times(reading, database.stat) if reading.has(database.stat, database.active, database.sessions) else None
        if times is None:
            continue
        amounts = reading.amounts(database.stat, (database.active,), times.windows, times.incident)[""]
        total = ResourceTotal(
            "database",
            database.name,
            database.stat,
            (database.active,),
            "",
            "sessions",
            _most_sessions(reading, database),
            MIN_SESSIONS,
            amounts,
            times.windows,
        )
        splits = [
            by_process(reading, [sources.Users("", database.blockers, ("blocked",))], BLOCKING, times),
            by_process(reading, [sources.Users(database.statements, "", ("sessions",))], STATEMENTS, times),
        ]
        found.append((total, splits))
    return found


def note_database(line: LedgerLine, databases: Sequence[LedgerLine], reading: Reading, start_s: float) -> LedgerLine:
    """Return the line; where the server of a database used more of a resource, with the statement that changed with it, or with the
    checkpoints that were forced.

    `databases`: the lines of databases. `start_s`: of the incident, seconds since the epoch
    """
    if line.certainty == "nothing" or line.note or (line.outside <= 0 and not line.is_full):
        return line
    commands = {part.command for part in culprits_of(line)}
    for of_database in databases:
        known = next(one for one in sources.DATABASES if one.name == of_database.name)
        if commands.isdisjoint(known.programs):
            continue
        rose = [part for part in culprits_of(of_database) if part.quantity == "statement" and part.change > 0]
        note = _describe_checkpoints(known, reading) if line.resource == "disk" else ""
        if not note and rose:
            note = f"in {known.name}, {describe_part(rose[0], of_database, start_s)}"
        if note:
            noted = replace(line, note=note)
            return replace(noted, sentence=describe(noted, start_s))
    return line


def _describe_checkpoints(database: Database, reading: Reading) -> str:
    """Return a clause about checkpoints that were forced. Empty where there were not more than normal"""
    if not database.forced or not reading.has(database.stat, database.forced):
        return ""
    found = reading.amounts(database.stat, (database.forced,), reading.spans(database.stat), reading.whole())[""].times(60.0)
    low, high = (float(end[0]) for end in found.normal_range())
    now = float(found.incident[0])
    if now < high + MIN_FORCED:
        return ""
    often = f"{format_human(now, '1')} checkpoints a minute (normally {describe_range(low, high, '1')})"
    return f"the size of the log of {database.name} forced {often}"


def _most_sessions(reading: Reading, database: Database) -> float | None:
    """Return how many sessions there were. Missing: None where that is not known"""
    sides = reading.stats[database.stat]
    found = [side.values[database.sessions] for side in (sides.baseline, sides.incident)]
    known = [float(np.nanmax(values)) for values in found if len(values) and not np.isnan(values).all()]
    return max(known, default=0.0) or None
