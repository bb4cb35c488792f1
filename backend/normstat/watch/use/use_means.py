"""Read the answers to the checklist in a window: means, and the levels of the worst tenth; of one host or all, one query each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_parts
from normstat.artefacts.parts import Part, TablePart
from normstat.query.artefact_times import find_artefacts_of_tool
from normstat.query.busy_cpus import CPU
from normstat.query.cpu_counts import read_cpu_counts
from normstat.query.fleet_rows import PresentInstance, read_instances
from normstat.query.minute_means import read_minute_means, read_span_samples
from normstat.samples.lookup import StatRef, find_stats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.stats.summaries import is_summary
from normstat.watch.rules.rule_frame import find_sources
from normstat.watch.use.checklist import UseSource
from normstat.window import Window

TOOL: Final = "mcelog"
STATS: Final = ("mcelog_events", "mcelog_memory")
# mcelog itself counts errors within 24 hours.
LASTING: Final = timedelta(hours=24)
# Maximum number of artefacts of all hosts, the latest first; more repeat the same errors.
MAX_ARTEFACTS: Final = 200
ErrorCounts = dict[tuple[str, str], dict[str, float]]


async def read_hardware_errors(session: AsyncSession, host_ids: Sequence[int], window: Window) -> dict[int, ErrorCounts]:
    """Return the counts of mcelog's artefacts by host, stat and field, and instance, as samples would have them; later ones count.

    Missing: a host without such artefacts has no entry

    Raises: DamagedArtefact
    """
    artefacts = await find_artefacts_of_tool(session, TOOL, host_ids, window, limit=MAX_ARTEFACTS)
    found: dict[int, ErrorCounts] = {}
    for artefact_id, host_id in artefacts:
        for stat, key, instance, value in _counts_of(await load_parts(session, artefact_id)):
            found.setdefault(host_id, {}).setdefault((stat, key), {})[instance] = value
    return found


def _counts_of(parts: Sequence[Part]) -> Iterator[tuple[str, str, str, float]]:
    for part in parts:
        if not isinstance(part, TablePart) or part.stat not in STATS:
            continue
        for row in range(part.n_rows):
            words = [f"{name} {keys[row]}" for name, keys in zip(part.key_names, part.keys, strict=True) if keys[row]]
            for column, values in zip(part.columns, part.values, strict=True):
                value = values[row]
                if value is not None:
                    yield part.stat, column.key, " ".join(words), float(value)


# Instances that are not a resource of the machine, or always full.
LOOPBACK: Final = frozenset({"lo", "lo0"})
PER_CPU: Final = (
    "mpstat", "linux_cpu", "node_cpu", "system_cpu", "pcp_cpu", "collectd_cpu", "netdata_cpu", "atop_cpu", "proc_stat_cpu",
)  # fmt: skip
# Tools that run every few minutes, and whose values change as slowly.
SLOW: Final = ("df_", "iostat_e_", "swap_s_", "mcelog_", "sar_", "sadf_")
SLOW_WINDOW: Final = timedelta(minutes=15)
WORST_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class HostMeans:
    """Means of a host: by stat and field, those of each instance that has one.

    `n_cpus`: None where neither a tool nor its facts tell. `tails`: the level of the worst tenth of the time, of the fields of
    saturation.
    """

    values: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    tails: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    stats: list[str] = field(default_factory=list)
    n_cpus: int | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The part of a stat to read. `is_each`: all instances, not only those that stand for the whole host

    `tails`: keys of the fields whose worst tenth is read, too
    """

    fields: tuple[Field, ...]
    instances: frozenset[str]
    is_each: bool
    tails: frozenset[str]

    def takes(self, stat: str, name: str) -> bool:
        if name in self.instances or not name or is_summary(stat, name):
            return True
        return self.is_each and name not in LOOPBACK


async def read_use_means(
    session: AsyncSession, host_ids: Sequence[int], sources: Sequence[UseSource], window: Window
) -> dict[int, HostMeans]:
    """Return the means of the sources in the window, by host: of slow tools, the last value of the quarter of an hour up to its
    end; of hardware errors that of the last day, from artefacts too.

    Missing: a host without samples has no values
    """
    longer = Window(min(window.start, window.end - SLOW_WINDOW), window.end)
    wanted = _plan(sources)
    stats = await find_stats(session, [*wanted, *(name for name in load_catalogue().stats if name.startswith(PER_CPU))])
    found = {host_id: HostMeans() for host_id in host_ids}
    if not host_ids:
        return found
    lasting = Window(window.end - LASTING, window.end)
    for host_id, counts in (await read_hardware_errors(session, host_ids, lasting)).items():
        found[host_id].values.update(counts)
        found[host_id].stats.extend(dict.fromkeys(name for name, _ in counts))
    if not stats:
        return found
    present = await _read_present(session, host_ids, stats, (longer, lasting))
    n_cpus: dict[int, int] = {}
    for stat in stats:
        if stat.name.startswith(PER_CPU):
            for host_id, n in _count_cpus(present[stat.id]).items():
                n_cpus.setdefault(host_id, n)
        if stat.name in wanted:
            own = lasting if stat.name in STATS else longer if stat.name.startswith(SLOW) else window
            means, tails = await _read_stat(session, stat, wanted[stat.name], present[stat.id], own)
            for host_id, values in means.items():
                found[host_id].stats.append(stat.name)
                found[host_id].values.update(values)
            for host_id, values in tails.items():
                found[host_id].tails.update(values)
    n_cpus |= await read_cpu_counts(session, [host_id for host_id in host_ids if host_id not in n_cpus], window.end)
    return {host_id: replace(own, n_cpus=n_cpus.get(host_id)) for host_id, own in found.items()}


async def _read_present(
    session: AsyncSession, host_ids: Sequence[int], stats: Sequence[StatRef], windows: tuple[Window, Window]
) -> dict[int, list[PresentInstance]]:
    """Return the instances of each stat, by its id: those of hardware errors in the second window, others in the first."""
    present: dict[int, list[PresentInstance]] = {stat.id: [] for stat in stats}
    for is_error, window in enumerate(windows):
        ids = [stat.id for stat in stats if (stat.name in STATS) == bool(is_error)]
        for each in await read_instances(session, host_ids, ids, window) if ids else ():
            present[each.stat_id].append(each)
    return present


def _plan(sources: Sequence[UseSource]) -> dict[str, _Wanted]:
    """Return what to read of which stat, by the catalogue."""
    known = list(load_catalogue().stats)
    plans: dict[str, _Wanted] = {}
    for each in sources:
        for source in find_sources(each.wanted, known):
            before = plans.get(source.stat, _Wanted((), frozenset(), is_each=False, tails=frozenset()))
            fields = tuple({own.key: own for own in (*before.fields, source.field)}.values())
            instances = before.instances if source.instance is None else before.instances | {source.instance}
            tails = before.tails | {source.field.key} if each.is_tail else before.tails
            plans[source.stat] = _Wanted(fields, instances, before.is_each or each.wanted.is_each, tails)
    return plans


def is_cpu_of(stat: str, name: str) -> bool:
    """Return whether an instance is one CPU of a tool that prints the time of each."""
    return stat.startswith(PER_CPU) and CPU.fullmatch(name) is not None


def _count_cpus(present: Sequence[PresentInstance]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for each in present:
        if CPU.fullmatch(each.name):
            counts[each.host_id] = counts.get(each.host_id, 0) + 1
    return counts


# By host, stat and field, and instance.
ValuesByHost = dict[int, dict[tuple[str, str], dict[str, float]]]


async def _read_stat(
    session: AsyncSession, stat: StatRef, wanted: _Wanted, present: Sequence[PresentInstance], window: Window
) -> tuple[ValuesByHost, ValuesByHost]:
    """Return the means, and the levels of the worst tenth: of slow tools, those of the last minute with samples."""
    keys = {own.key for own in wanted.fields}
    fields = [own for own in stat.fields if own.key in keys]
    tails = [own for own in fields if own.key in wanted.tails]
    # For a tool that prints each CPU and no sum, the mean says how busy all are.
    has_sum = {each.host_id for each in present if not each.name or is_summary(stat.name, each.name)}
    own = {
        each.id: each
        for each in present
        if wanted.takes(stat.name, each.name) or (is_cpu_of(stat.name, each.name) and each.host_id not in has_sum)
    }
    if not own or not fields:
        return {}, {}
    is_slow = stat.name.startswith(SLOW)
    hosts = sorted({each.host_id for each in own.values()})
    means = await read_minute_means(session, stat, fields, host_ids=hosts, instance_ids=list(own), window=window)
    if is_slow:
        # The mean of a file system while full and after it was emptied was never a real value.
        means = means.take(_last_minutes(means.instance_id, means.minute))
    found = [_average(means.instance_id, means.means[:, at], means.n_rows) for at in range(len(fields))]
    worst: list[dict[int, float]] = []
    if tails:
        spans = [(host_id, window) for host_id in hosts]
        samples = await read_span_samples(session, stat, tails, spans=spans, instance_ids=list(own))
        is_own = _last_minutes(samples.instance_id, samples.minute) if is_slow else slice(None)
        worst = [_take_worst(samples.instance_id[is_own], samples.values[is_own, at]) for at in range(len(tails))]
    return _by_host(stat, fields, found, own), _by_host(stat, tails, worst, own)


def _by_host(
    stat: StatRef, fields: Sequence[Field], found: Sequence[Mapping[int, float]], own: Mapping[int, PresentInstance]
) -> ValuesByHost:
    by_host: ValuesByHost = {}
    for own_field, values in zip(fields, found, strict=True):
        for instance_id, value in values.items():
            each = own[instance_id]
            by_host.setdefault(each.host_id, {}).setdefault((stat.name, own_field.key), {})[each.name] = value
    return by_host


def _last_minutes(ids: np.ndarray, minutes: np.ndarray) -> np.ndarray:
    """Return which rows are of the last minute of their instance. Shape: (n,), (n,) -> (n,)"""
    _, places = np.unique(ids, return_inverse=True)
    last = np.zeros(places.max(initial=-1) + 1, dtype=minutes.dtype)
    np.maximum.at(last, places, minutes)
    is_last: np.ndarray = minutes == last[places]
    return is_last


def _average(ids: np.ndarray, means: np.ndarray, n_rows: np.ndarray) -> dict[int, float]:
    """Return the mean of each instance over its minutes, by id. Missing: an instance without a value is left out"""
    is_known = ~np.isnan(means)
    names, places = np.unique(ids[is_known], return_inverse=True)
    weights = n_rows[is_known].astype(np.float64)
    sums = np.bincount(places, weights * means[is_known], len(names))
    return dict(zip(names.tolist(), (sums / np.bincount(places, weights, len(names))).tolist(), strict=True))


def _take_worst(ids: np.ndarray, values: np.ndarray) -> dict[int, float]:
    """Return the median of the highest tenth of the samples of each instance, by id: a single peak does not count, a stall does.

    Missing: an instance without a value is left out
    """
    is_known = ~np.isnan(values)
    order = np.lexsort((-values[is_known], ids[is_known]))
    names, starts, counts = np.unique(ids[is_known][order], return_index=True, return_counts=True)
    places = starts + np.ceil(WORST_SHARE * counts).astype(np.int64) // 2
    return dict(zip(names.tolist(), values[is_known][order][places].astype(np.float64).tolist(), strict=True))
