"""Candidates for what no recorded tool attributes to a process, such as traffic: processes that are new."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.ledger.readings import Reading, first_s, means
from normstat.comparison.ledger.sources import CPU_USERS
from normstat.stats.engine.report_sums import split_process

MAX_CANDIDATES: Final = 2
# A candidate used at least this much of a CPU (in per cent), and was there for at least this share of the incident.
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
        split = split_process(name)
        if used[row] < MIN_CPU or len(found) == MAX_CANDIDATES:
            break
        if split is not None and name not in known and present[row] >= MIN_PRESENCE:
            found.append(Candidate(users.process, name, int(split[0]), split[1], first_s(side, name)))
    return found
