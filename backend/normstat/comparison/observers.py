"""Observers: tools that slow down what they watch (truss, strace, DTrace, tcpdump, a debugger), in the incident."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.coming_and_going import is_process_stat
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import ScoredSeries, StatPair
from normstat.comparison.stories.actors import MIN_REPORTS_BEFORE, command_of
from normstat.comparison.surroundings import ALWAYS_THERE
from normstat.runtime.arrays import distinct_values
from normstat.stats.observer_effect import Effect

# Commands that stop or trace other processes, or copy each of their packets.
COMMANDS: Final = frozenset({
    "blktrace", "bpftrace", "dbx", "dtrace", "dtruss", "dumpcap", "gcore", "gdb", "jmap", "jstack", "ktrace", "lldb", "lockstat",
    "ltrace", "lttng-sessiond", "mdb", "opcontrol", "operf", "perf", "plockstat", "probevue", "pstack", "snoop", "stap", "stapio",
    "strace", "sysdig", "tcpdump", "trace-cmd", "truss", "tshark",
})  # fmt: skip
# Tools whose recorded output is a trace: their stream tells when they ran.
TRACERS: Final = frozenset({
    "bcc", "bpftrace", "dtrace", "lockstat", "ltrace", "perf-tools", "plockstat", "strace", "systemtap", "truss",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observer:
    """A tool that ran in the incident.

    `pids`: as far as they are known; `is_from_start`, `is_to_end`: whether it may have run before, and afterwards;
    `is_process`: whether its process was recorded; `effect`, `artefact`: of the artefact that it made, where there is one
    """

    command: str
    pids: tuple[int, ...]
    first_s: float
    last_s: float
    is_from_start: bool
    is_to_end: bool
    is_process: bool
    effect: Effect = Effect.LIGHT
    artefact: int | None = None


@dataclass(slots=True)
class _Seen:
    """Where a command is in a side. Shape: n_reports (), reports (n,)"""

    n_reports: int
    reports: list[np.ndarray]
    pids: set[int]

    @property
    def share(self) -> float:
        """Share of the side's reports that have it."""
        return len(distinct_values(np.concatenate(self.reports))) / max(1, self.n_reports)


def observer_of(stat: str, instance: str) -> str | None:
    """Return the observer that an instance of a process stat is. Missing: None for any other process.

    >>> observer_of("pidstat_linux", "4711/strace"), observer_of("pidstat_linux_command", "java")
    ('strace', None)
    """
    name = command_of(stat, instance)[1].rpartition("/")[2]
    return name if name in COMMANDS else None


def find_observers(stats: Sequence[StatPair], scored: ScoredSeries | None) -> list[Observer]:
    """Return the observers among the processes of the incident, by their first sample. One that runs throughout the baseline
    does not count: it changes nothing.
    """
    always = _always_there(scored)
    found: dict[str, list[Observer]] = {}
    for stat in stats:
        if not is_process_stat(stat.incident.stat.name):
            continue
        if stat.baseline is not None:
            always |= {command for command, seen in _look(stat.baseline).items() if seen.share >= ALWAYS_THERE}
        for command, seen in _look(stat.incident).items():
            found.setdefault(command, []).append(_to_observer(command, seen, stat.incident))
    merged = [_merge(same) for command, same in found.items() if command not in always]
    return sorted(merged, key=lambda item: (item.first_s, item.command))


def _look(side: StatSide) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    for number, instance in enumerate(side.names):
        command = observer_of(side.stat.name, instance)
        if command is None:
            continue
        reports = side.report[slice(*np.searchsorted(side.instance, (number, number + 1)).tolist())]
        if not len(reports):
            continue
        seen = found.setdefault(command, _Seen(len(side.times_s), [], set()))
        seen.reports.append(reports)
        pid = command_of(side.stat.name, instance)[0]
        if pid is not None:
            seen.pids.add(pid)
    return found


def _always_there(scored: ScoredSeries | None) -> set[str]:
    """Return the observers that run throughout a profile's baseline, by their commands."""
    if scored is None:
        return set()
    baseline = scored.profile.baseline
    found = set()
    for row, series in enumerate(scored.series):
        command = observer_of(series.stat, series.instance) if is_process_stat(series.stat) else None
        if command is not None and baseline.n[row] >= ALWAYS_THERE * max(1, baseline.n_reports[row]):
            found.add(command)
    return found


def _to_observer(command: str, seen: _Seen, side: StatSide) -> Observer:
    first, last = (int(pick(np.concatenate(seen.reports))) for pick in (np.min, np.max))
    return Observer(
        command=command,
        pids=tuple(sorted(seen.pids)),
        first_s=float(side.times_s[first]),
        last_s=float(side.times_s[last]),
        is_from_start=first < MIN_REPORTS_BEFORE,
        is_to_end=last >= len(side.times_s) - MIN_REPORTS_BEFORE,
        is_process=True,
    )


def _merge(same: Sequence[Observer]) -> Observer:
    """Return one observer that several stats have."""
    return Observer(
        command=same[0].command,
        pids=tuple(sorted({pid for item in same for pid in item.pids})),
        first_s=min(item.first_s for item in same),
        last_s=max(item.last_s for item in same),
        is_from_start=any(item.is_from_start for item in same),
        is_to_end=any(item.is_to_end for item in same),
        is_process=any(item.is_process for item in same),
        effect=Effect.HEAVY if any(item.effect is Effect.HEAVY for item in same) else Effect.LIGHT,
        artefact=next((item.artefact for item in same if item.artefact is not None), None),
    )


def merge_observers(processes: Iterable[Observer], streams: Iterable[Observer]) -> list[Observer]:
    """Return the observers of processes and of trace streams; one that both have is one."""
    found: dict[str, list[Observer]] = {}
    for item in [*processes, *streams]:
        found.setdefault(item.command, []).append(item)
    return sorted(map(_merge, found.values()), key=lambda item: (item.first_s, item.command))
