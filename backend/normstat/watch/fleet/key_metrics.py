"""The key metrics of a host, chosen by what fields mean, so that every system's tools are covered.

A host is judged by a dozen series: a page of a thousand hosts can read them every few seconds. A comparison looks at all of them.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from normstat.comparison.next_questions.question_rules import Pattern, load_rules
from normstat.samples.lookup import StatRef
from normstat.stats.spec import Field, Semantics
from normstat.stats.summaries import is_summary

Resource = Literal["cpu", "run_queue", "disk", "memory", "network"]
RESOURCES: Final[tuple[Resource, ...]] = get_args(Resource)

# Earlier ones are read where a host runs several tools: one row for the whole host costs less than a row for each CPU.
PREFERRED: Final = ("vmstat", "linux_", "iostat", "nicstat", "sar_", "sadf_", "mpstat")
# A host with more disks or interfaces is judged by the first of them, by name.
MAX_INSTANCES: Final = 64
KIB: Final = 2.0**10
MIB: Final = 2.0**20
# Interfaces that say nothing about the network.
LOOPBACK: Final = frozenset({"lo", "lo0"})


@dataclass(frozen=True, slots=True)
class KeyMetric:
    """One thing that a host is judged by. `meanings`: alternatives, the best first, as `questions.toml` names them.

    `words`: a clause, in which {what} is the last part of the meaning; `least`: smaller differences do not matter, in
    points, bytes or milliseconds; `is_drawn`: a sparkline shows it; `is_idle`: the sparkline shows 100 % minus it
    """

    resource: Resource
    meanings: tuple[str, ...]
    words: str
    least: float
    is_drawn: bool = False
    is_idle: bool = False

    @property
    def is_of_host(self) -> bool:
        """Whether it is one number of the whole host: of CPUs only their sum is read."""
        return self.resource in ("cpu", "run_queue", "memory")


KEY_METRICS: Final = (
    KeyMetric("cpu", ("cpu.idle",), "CPUs idle {value}", 3, is_drawn=True, is_idle=True),
    KeyMetric("cpu", ("cpu.sys",), "CPUs in the kernel {value}", 3),
    KeyMetric("cpu", ("cpu.wait",), "CPUs waiting for I/O {value}", 3),
    KeyMetric("cpu", ("cpu.steal",), "CPU time taken by the hypervisor {value}", 3),
    KeyMetric("run_queue", ("runq",), "run queue {value}", 1, is_drawn=True),
    KeyMetric("disk", ("disk.busy",), "disk {instance} busy {value}", 3, is_drawn=True),
    KeyMetric("disk", ("disk.latency",), "a request to disk {instance} takes {value}", 2),
    KeyMetric("memory", ("mem.available", "mem.free"), "memory {what} {value}", 64 * MIB, is_drawn=True),
    KeyMetric("memory", ("swap.io",), "swapping {value}", 64 * KIB),
    KeyMetric("network", ("net.in",), "{instance} receives {value}", 64 * KIB, is_drawn=True),
    KeyMetric("network", ("net.out",), "{instance} sends {value}", 64 * KIB, is_drawn=True),
)


@dataclass(frozen=True, slots=True)
class KeyField:
    """The field of a stat that gives a key metric (its place in KEY_METRICS). `instances`: patterns; empty for any"""

    metric: int
    meaning: str
    field: Field
    instances: tuple[str, ...]

    def takes(self, stat: str, instance: str) -> bool:
        """Return whether the instance is one that the metric is about."""
        if self.instances:
            return any(fnmatchcase(instance, pattern) for pattern in self.instances)
        return not KEY_METRICS[self.metric].is_of_host or instance == "" or is_summary(stat, instance)


@functools.lru_cache(maxsize=2048)
def is_key_stat(stat: str) -> bool:
    """Return whether a stat of this name has a field with the meaning of a key metric."""
    return any(_patterns_of(meaning, stat) for metric in KEY_METRICS for meaning in metric.meanings)


def find_key_fields(ref: StatRef) -> tuple[KeyField, ...]:
    """Return the fields of a stat that have the meaning of a key metric."""
    found = []
    for metric, own in enumerate(KEY_METRICS):
        for meaning in own.meanings:
            for pattern in _patterns_of(meaning, ref.name):
                field = _first_field(pattern, ref.fields)
                if field is not None:
                    found.append(KeyField(metric, meaning, field, pattern.instances))
                    break
    return tuple(found)


def choose_fields(known: Mapping[str, Sequence[KeyField]], present: Mapping[str, Sequence[str]]) -> dict[str, tuple[KeyField, ...]]:
    """Return the fields to read of one host, by stat: for each key metric that of one stat.

    `known`: the key fields of each stat; `present`: the instances of the host, by stat
    """
    best: dict[int, tuple[tuple[int, int, str], KeyField]] = {}
    for stat, instances in present.items():
        for key in known.get(stat, ()):
            rank = (KEY_METRICS[key.metric].meanings.index(key.meaning), _preference(stat), stat)
            if key.metric in best and best[key.metric][0] <= rank:
                continue
            if any(key.takes(stat, instance) for instance in instances):
                best[key.metric] = (rank, key)
    chosen: dict[str, tuple[KeyField, ...]] = {}
    for (_, _, stat), key in best.values():
        chosen[stat] = (*chosen.get(stat, ()), key)
    return chosen


def _preference(stat: str) -> int:
    return next((rank for rank, begin in enumerate(PREFERRED) if stat.startswith(begin)), len(PREFERRED))


def _patterns_of(meaning: str, stat: str) -> list[Pattern]:
    patterns = load_rules().meanings[meaning].patterns
    return [pattern for pattern in patterns if any(fnmatchcase(stat, own) for own in pattern.stats)]


def _first_field(pattern: Pattern, fields: Sequence[Field]) -> Field | None:
    """Return the first field that the pattern names, in the pattern's order. Missing: None; counters alone have no meaning"""
    for own in pattern.fields:
        for field in fields:
            if fnmatchcase(field.key, own) and field.semantics is not Semantics.COUNTER:
                return field
    return None
