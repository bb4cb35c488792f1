"""Processes that are always there: a server that stalls or stops matters, and is lost in the sum of a command's processes.

Short processes would be thousands of series, so their commands are compared instead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.comparison.ledger.readings import command_of, find_rows
from normstat.comparison.ledger.sources import CPU_USERS, READERS, WRITERS
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import StatPair
from normstat.profiles.stored_profile import LoadedProfile
from normstat.stats.catalogue import load_catalogue

# In this share of the baseline's reports.
STEADY: Final = 0.98
# Maximum number of steady processes per stat, the most present first.
MAX_PROCESSES: Final = 50
# Stats that have a row of every process that did something since the last report: one without a row did nothing.
STEADY_STATS: Final = frozenset({"linux_process", "pidstat_linux"})
RATES: Final[Mapping[str, frozenset[str]]] = {
    stat: frozenset(
        field for users in (*CPU_USERS, *WRITERS, *READERS) if users.process == stat for field in users.fields
    )
    for stat in STEADY_STATS
}  # fmt: skip


def keep_steady(
    stats: Sequence[StatPair], summarised: AbstractSet[str], profile: LoadedProfile | None
) -> dict[str, StatPair]:  # fmt: skip
    """Return the steady processes of the stats that are summed by command, by stat. `profile`: where one replaces the baseline"""
    found = {}
    for pair in stats:
        name = pair.incident.stat.name
        if name not in summarised or name not in STEADY_STATS or not pair.incident.n_rows:
            continue
        steady = _steady_of_profile(profile, name) if pair.baseline is None else _steady_of_samples(pair.baseline)
        chosen = steady[:MAX_PROCESSES]
        if chosen:
            fields = {key: field for key, field in pair.fields.items() if key in RATES[name]}
            baseline, before = (None if side is None else _only(side, chosen, fields) for side in (pair.baseline, pair.before))
            found[name] = StatPair(fields, baseline, _only(pair.incident, chosen, fields), before)
    return found


def find_repeated(
    stats: Sequence[StatPair], steady: Mapping[str, StatPair], profile: LoadedProfile | None
) -> set[tuple[str, str, str]]:
    """Return the series of commands that only repeat a steady process, the only one of its command: stat, command and field.

    `steady`: of `keep_steady`
    """
    known = load_catalogue().stats
    commands = {known[name][1].summary_of: name for pair in stats if (name := pair.incident.stat.name) in known}
    repeated = set()
    for pair in stats:
        stat = pair.incident.stat.name
        if stat not in steady or stat not in commands:
            continue
        names = {name for side in (pair.baseline, pair.incident) if side is not None for name in side.names}
        if profile is not None:
            names |= {key.instance for key in profile.series if key.stat == stat}
        n_of = Counter(map(command_of, names))
        alone = [command for name in steady[stat].incident.names if n_of[command := command_of(name)] == 1]
        repeated |= {(commands[stat], command, field) for command in alone for field in steady[stat].fields}
    return repeated


def _steady_of_samples(side: StatSide) -> list[str]:
    counts = side.counts()
    order = np.argsort(-counts, kind="stable")
    return [side.names[at] for at in order.tolist() if counts[at] >= STEADY * len(side.times_s)]


def _steady_of_profile(profile: LoadedProfile | None, stat: str) -> list[str]:
    if profile is None:
        return []
    baseline = profile.profile.baseline
    shares = {
        key.instance: baseline.n[row] / max(1, baseline.n_reports[row])
        for row, key in enumerate(profile.series)
        if key.stat == stat
    }
    return sorted((name for name, share in shares.items() if share >= STEADY), key=lambda name: -shares[name])


def _only(side: StatSide, names: Sequence[str], fields: Mapping[str, object]) -> StatSide:
    """Return some processes with a row in each report: without one a process did nothing."""
    n = len(side.times_s)
    spans = {name: span for own in find_rows(side).values() for _, name, span in own}
    values = {}
    for key in fields:
        if key in side.values:
            grid = np.zeros((len(names), n))
            for at, name in enumerate(names):
                if name in spans:
                    grid[at, side.report[spans[name]]] = side.part(key, spans[name])
                    if np.isnan(grid[at]).any() and not np.nan_to_num(grid[at]).any():
                        # Not recorded of this process: then it is not zero between its rows.
                        grid[at] = np.nan
            values[key] = grid.ravel()
    return replace(
        side,
        names=list(names),
        report=np.tile(np.arange(n), len(names)).astype(side.report.dtype),
        instance=np.repeat(np.arange(len(names)), n).astype(side.instance.dtype),
        values=values,
    )
