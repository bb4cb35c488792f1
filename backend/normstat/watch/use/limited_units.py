"""The rows of the USE matrix for units and containers with a limit of CPU time or memory: the limit is their capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.comparison.ledger.sources import CPU_LIMIT, MEMORY_LIMIT, UNIT_STAT
from normstat.runtime.readable import format_human
from normstat.watch.rules.rule_file import FieldPlace, WatchInput
from normstat.watch.use.checklist import UseSource

# A node of a cluster may have hundreds of containers; those that are worst off are shown.
MAX_UNITS: Final = 20


@dataclass(frozen=True, slots=True)
class LimitedUnit:
    """A unit with limits, these in words: `0.5 CPUs, 512 MiB`."""

    name: str
    limits: str


def limit_sources() -> list[UseSource]:
    """Return the limits as quantities to read."""
    return [_limit(CPU_LIMIT, "%"), _limit(MEMORY_LIMIT, "bytes")]


def find_limited(values: Mapping[tuple[str, str], Mapping[str, float]]) -> list[LimitedUnit]:
    """Return the units with limits, by name. `values`: means by stat and field, then instance"""
    cpu, memory = values.get((UNIT_STAT, CPU_LIMIT), {}), values.get((UNIT_STAT, MEMORY_LIMIT), {})
    return [LimitedUnit(name, _describe(cpu.get(name), memory.get(name))) for name in sorted({*cpu, *memory})]


def _describe(cpu_pct: float | None, memory_kib: float | None) -> str:
    told: Sequence[str] = (
        "" if cpu_pct is None else f"{(cpus := format_human(cpu_pct / 100, '1'))} CPU{'' if cpus == '1' else 's'}",
        "" if memory_kib is None else format_human(memory_kib, "KiB"),
    )
    return ", ".join(text for text in told if text)


def _limit(key: str, unit: str) -> UseSource:
    wanted = WatchInput(f"limit {key}", "", (FieldPlace(UNIT_STAT, key),), unit, is_each=True)
    return UseSource(wanted, is_idle=False, is_per_cpu=False, amber=None, above=None, red=None, limits_from="")
