"""Findings of series on one side only: a new process, a new error counter, a disk that is gone.

Such a series has no normal variation of its own. It is measured by what comes and goes in the baseline anyway: the largest
instance of its stat that was there for a part of the baseline only. What is no larger than that, or too small to matter, is no
finding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import (
    NO_VALUES,
    SeriesIdentity,
    anomaly_score_of,
    impact_of_totals,
    round_value,
)
from normstat.comparison.findings.grouping import Found, to_group
from normstat.comparison.findings.wording import describe_unmatched
from normstat.comparison.model import ChangeRatios, Direction, Finding, FindingGroup
from normstat.comparison.series_comparison import UNUSUAL
from normstat.comparison.side_values import SideName, SideValues
from normstat.runtime import work_budget
from normstat.runtime.readable import count_of
from normstat.runtime.units import BYTES
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Kind, Worse

# Titles of instances that are processes, or sums of them.
PROCESS_TITLES: Final = frozenset({"process", "command", "thread", "user", "project", "task", "zone"})
# Titles of instances that hold processes, and come and go as these do.
UNIT_TITLES: Final = frozenset({"unit", "unit and disk", "container", "cgroup"})
# Minimum use of a process or unit whose coming or going is a finding: share of one CPU, and bytes (per second).
MIN_CPU_PCT: Final = 5.0
# At most this number of those that are new without weight are named: the largest, if they use as much.
MAX_NAMED: Final = 3
MIN_BYTES_PER_S: Final = 1024.0 * 1024.0
MIN_BYTES: Final = 64 * 1024.0 * 1024.0
# From this many times what comes and goes anyway, more makes no difference.
MAX_RATIO: Final = 10_000.0
# The fields that tell how much CPU time a process uses.
CPU_FIELDS: Final = ("cpu_pct", "usr_pct", "system_pct", "sys_pct")


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A series with samples on one side only. `n_reports`: reports of its stat on that side"""

    series: SeriesIdentity
    side: SideName
    values: SideValues
    n_reports: int

    @property
    def weight(self) -> float:
        """Its mean over all reports of the side, with 0 where it was absent."""
        return abs(self.values.mean or 0.0) * min(1.0, self.values.n / max(1, self.n_reports))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of a host.

    `come_and_go`: by stat and field, the largest weight that an instance has in a window of the incident's length and that is there
    for a part of the baseline only; `totals`: the sum of all instances in the baseline; `long_enough`: stats with enough reports on
    both sides for a verdict
    """

    n_cpus: int
    memory_bytes: float
    come_and_go: Mapping[tuple[str, str], float]
    totals: Mapping[tuple[str, str], float]
    long_enough: frozenset[str]


def is_process_stat(stat: str) -> bool:
    """Return whether the instances of a stat are processes, or sums of them."""
    known = load_catalogue().stats.get(stat)
    return known is not None and known[1].instance_title in PROCESS_TITLES


def uses_the_host(stat: str) -> bool:
    """Return whether the instances of a stat are processes or what holds them: of CPU time their unit is one CPU."""
    known = load_catalogue().stats.get(stat)
    return known is not None and known[1].instance_title in PROCESS_TITLES | UNIT_TITLES


def find_unmatched(host: str, unmatched: Iterable[Unmatched], around: Surroundings) -> list[FindingGroup]:
    """Return a group for each instance that came or went with weight: that of its field with the largest anomaly score."""
    best: dict[tuple[str, str, SideName], Found] = {}
    for one in unmatched:
        work_budget.check()
        if one.series.stat not in around.long_enough:
            continue
        finding = _to_finding(one, around)
        key = (one.series.stat, one.series.instance, one.side)
        if finding is not None and (key not in best or finding.anomaly_score > best[key][1].anomaly_score):
            best[key] = (one.series, finding)
    return [to_group(host, [found], {}) for found in best.values()]


def _to_finding(one: Unmatched, around: Surroundings) -> Finding | None:
    series, weight = one.series, one.weight
    floor = _floor(series)
    if floor is None or weight <= 0:
        return None
    key = (series.stat, series.field.key)
    usual = max(around.come_and_go.get(key, 0.0), floor)
    ratio = min(weight / usual, MAX_RATIO)
    if ratio < 1:
        return None
    significance = UNUSUAL * (1 + float(np.log10(ratio)))
    impact = _impact(one, around)
    is_new = one.side == "incident"
    direction: Direction = "up" if is_new else "down"
    is_worse = None if series.field.worse is Worse.NEITHER else (series.field.worse is Worse.HIGHER) == is_new
    return Finding(
        instance=series.instance,
        kind="appeared" if is_new else "disappeared",
        direction=direction,
        is_worse=is_worse,
        baseline=NO_VALUES if is_new else one.values,
        incident=one.values if is_new else NO_VALUES,
        change_scale=round_value(usual),
        change=round_value(weight if is_new else -weight),
        change_ratio=round_value(ratio),
        significance=round_value(significance),
        certainty="sure",
        explained_by_load=0.0,
        change_ratios=ChangeRatios(round_value(ratio), 0, 0, 0, 0, 0, 0),
        impact=round_value(impact),
        anomaly_score=anomaly_score_of(significance, impact, is_worse=is_worse),
        sentence=describe_unmatched(series.stat, series.instance, series.field, one.side, one.values),
        sparkline=None,
    )


def _floor(series: SeriesIdentity) -> float | None:
    """Return the smallest weight worth a finding; None for fields that do not say what a process or unit uses of the host."""
    if not uses_the_host(series.stat):
        return float(10.0**-series.field.decimals)
    field = series.field
    least = least_bytes(field.unit)
    if least is not None:
        # Address space costs nothing.
        return None if field.key.startswith("vsz") or field.key == "size" else least
    return MIN_CPU_PCT if field.key in CPU_FIELDS else None


def least_bytes(unit: str) -> float | None:
    """Return the smallest amount of bytes, or of bytes per second, that matters, in that unit; None for other units.

    >>> least_bytes("KiB/s"), least_bytes("MiB"), least_bytes("%")
    (1024.0, 64.0, None)
    """
    size = BYTES.get(unit.removesuffix("/s"))
    return None if size is None else (MIN_BYTES_PER_S if unit.endswith("/s") else MIN_BYTES) / size


def _impact(one: Unmatched, around: Surroundings) -> float:
    field, weight = one.series.field, one.weight
    is_process = uses_the_host(one.series.stat)
    if field.kind is Kind.PERCENT:
        # The percentages of a process are of one CPU.
        return min(1.0, weight / 100 / (around.n_cpus if is_process else 1))
    size = BYTES.get(field.unit)
    if is_process and size is not None and around.memory_bytes:
        return min(1.0, weight * size / around.memory_bytes)
    total = around.totals.get((one.series.stat, field.key), 0.0) if one.side == "incident" else 0.0
    floor = max(_floor(one.series) or 0.0, 0.01 * total, 1e-9)
    return impact_of_totals(total, total + weight, floor)


def describe_small(unmatched: Sequence[Unmatched], found: Sequence[FindingGroup]) -> str:
    """Return one sentence about the processes that came in the incident without weight; empty where there were none."""
    told = {(group.stat, group.instances[0]) for group in found if group.instances}
    small: dict[tuple[str, str], float] = {}
    for one in unmatched:
        key = (one.series.stat, one.series.instance)
        if one.side == "incident" and key not in told and is_process_stat(one.series.stat):
            cpu = one.weight if one.series.field.key == "cpu_pct" else 0.0
            small[key] = max(small.get(key, 0.0), cpu)
    if not small:
        return ""
    # A process may be in several tools: the one that saw most counts.
    by_stat: dict[str, dict[str, float]] = {}
    for (stat, instance), cpu in small.items():
        by_stat.setdefault(stat, {})[instance] = cpu
    stat, cpus = max(by_stat.items(), key=lambda item: len(item[1]))
    title = load_catalogue().stats[stat][1].instance_title
    others = count_of(len(cpus), f"other {title}", f"other {title}es" if title.endswith("s") else None)
    what = f"{others} {'is' if len(cpus) == 1 else 'are'}"
    named = [name for name, cpu in sorted(cpus.items(), key=lambda item: -item[1])[:MAX_NAMED] if cpu >= MIN_CPU_PCT]
    who = f" ({', '.join(named)})" if named else ""
    return f"{what} new{who}, together {sum(cpus.values()):.1f} % of one CPU."
