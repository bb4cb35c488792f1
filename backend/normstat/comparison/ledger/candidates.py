"""Who may have done what no recorded tool shows the doer of, as traffic: processes that are new."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.ledger.readings import Reading, command_of, first_s, means
from normstat.comparison.ledger.sources import CPU_USERS

MAX_CANDIDATES: Final = 2
# A process that used less of a CPU in the incident, in per cent, is not named, nor one that was there for less of it.
MIN_CPU: Final = 0.5
MIN_PRESENCE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A process of the incident that the baseline does not have. `start_s`: see `LedgerPart.start_ms`"""

    stat: str
    instance: str
    pid: int
    command: str
    start_s: float | None


def find_candidates(reading: Reading) -> list[Candidate]:
    """Return the new processes that used most CPU time, at most two. Empty where no tool records processes."""
    users = next((users for users in CPU_USERS if reading.has(users.process, *users.fields)), None)
    if users is None:
        return []
    sides = reading.stats[users.process]
    side, known = sides.incident, set(sides.baseline.names)
    used = means(side, users.fields, reading.whole(), users.threads)[:, 0]
    present = side.counts() / max(len(side.times_s), 1)
    found: list[Candidate] = []
    for row in np.argsort(-used, kind="stable").tolist():
        name = side.names[row]
        pid = name.partition("/")[0]
        if used[row] < MIN_CPU or len(found) == MAX_CANDIDATES:
            break
        if name not in known and pid.isdigit() and present[row] >= MIN_PRESENCE:
            found.append(Candidate(users.process, name, int(pid), command_of(name), first_s(side, name)))
    return found
