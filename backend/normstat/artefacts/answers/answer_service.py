"""Read the data for the answers to an artefact: its parts, and means of series of its host in the same window."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.answers.answer_model import Answer, Evidence, HostJvms, SeriesMean, SeriesNeed, SeriesRun
from normstat.artefacts.answers.artefact_answers import answer_all, series_needed
from normstat.artefacts.artefact_service import load_parts
from normstat.query.busy_cpus import CPU
from normstat.query.fact_history import read_snapshots
from normstat.query.fleet_rows import read_instances
from normstat.query.instance_labels import sets_by_cpu
from normstat.query.process_list import PROCESS_TITLE
from normstat.records import artefact_rows
from normstat.records.artefact_rows import Artefact
from normstat.runtime.arrays import distinct_values
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, find_stats, list_host_stats, read_instance_names, require_host
from normstat.samples.sample_pages import Float64Array, PageQuery, read_pages, to_floats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process
from normstat.stats.fact_lines import FactName, FactSnapshot
from normstat.stats.summaries import is_summary
from normstat.window import Window, clamp

# For an artefact with only a moment: a minute on each side.
AROUND: Final = timedelta(seconds=60)
# Times of samples are whole microseconds.
TICK: Final = timedelta(microseconds=1)
# Stalls recur: their window is longer than the artefact's.
MIN_STALL_WINDOW: Final = timedelta(minutes=5)
# A longer window would show no more stalls, only take longer to read.
MAX_WINDOW: Final = timedelta(hours=6)
MAX_SAMPLES: Final = 500_000


@dataclass(frozen=True, slots=True)
class ArtefactAnswers(Documented):
    """Conclusions from an artefact and the series of its host."""

    artefact: int
    answers: list[Answer]


@dataclass(frozen=True, slots=True)
class _Place:
    """A field that gives a quantity. `is_cpu`: only rows of single CPUs; `sums`: summed over instances, else the largest one."""

    stat: str
    field: str
    unit: str
    factor: float = 1.0
    is_cpu: bool = False


@dataclass(frozen=True, slots=True)
class _Samples:
    """The values of a field by instance. Shape: time_us, instance, values (n,)"""

    place: _Place
    time_us: np.ndarray
    instance: np.ndarray
    values: Float64Array
    names: dict[int, str]

    @property
    def n_reports(self) -> int:
        """Number of instants."""
        return len(distinct_values(self.time_us))


# In the order of preference.
DISK_WRITE: Final = (
    _Place("iostat_linux", "wkb_per_s", "kB/s"), _Place("iostat_linux", "kb_wrtn_per_s", "kB/s"),
    _Place("iostat_json_linux", "wkb_per_s", "kB/s"), _Place("iostat_solaris", "kw_per_s", "kB/s"),
    _Place("linux_disk", "wkb_per_s", "kB/s"), _Place("sar_linux_disk", "wkb_per_s", "kB/s"),
)  # fmt: skip
MUTEX_SPINS: Final = (_Place("mpstat_solaris", "smtx", "1/s", is_cpu=True),)
SYSCALLS: Final = (_Place("mpstat_solaris", "syscl", "1/s", is_cpu=True), _Place("vmstat_solaris", "faults_sy", "1/s"))
IDLE: Final = (
    _Place("mpstat_linux", "idle_pct", "%", is_cpu=True), _Place("mpstat_solaris", "idl_pct", "%", is_cpu=True),
    _Place("linux_cpu", "idle_pct", "%", is_cpu=True), _Place("sar_linux_cpu", "idle_pct", "%", is_cpu=True),
    _Place("mpstat_json_linux", "idle_pct", "%", is_cpu=True),
)  # fmt: skip
WAITS: Final = {"mpstat_linux": "iowait_pct", "mpstat_solaris": "wt_pct", "linux_cpu": "iowait_pct", "sar_linux_cpu": "iowait_pct"}
RUNS: Final = (
    ("System calls", _Place("mpstat_solaris", "syscl", "1/s", is_cpu=True)),
    ("System calls", _Place("vmstat_solaris", "faults_sy", "1/s")),
    ("Context switches", _Place("vmstat_linux", "system_cs", "1/s")),
    ("Context switches", _Place("linux_kernel", "cswch_per_s", "1/s")),
)  # fmt: skip


async def answer_artefact(session: AsyncSession, artefact_id: int) -> ArtefactAnswers:
    """Return the answers to an artefact.

    Raises: NotFound, DamagedArtefact
    """
    known = await artefact_rows.read_artefact_row(session, artefact_id)
    parts = await load_parts(session, artefact_id)
    evidence = Evidence(known.id, known.host, known.tool, known.command, known.question, known.effect, known.duration_s, parts)
    needs = await anyio.to_thread.run_sync(series_needed, evidence)
    window = window_of(known)
    host_id = await require_host(session, known.host)
    series = await _read_means(session, host_id, _reports_of(window), needs)
    runs = await _read_runs(session, host_id, _widen(window))
    jvms = await _read_jvms(session, host_id, _widen(window))
    if SeriesNeed.N_CPUS not in series and (n_cpus := await _read_cpus(session, host_id, window.end)) is not None:
        series[SeriesNeed.N_CPUS] = n_cpus
    full = replace(evidence, series=series, runs=runs, jvms=jvms)
    return ArtefactAnswers(known.id, await anyio.to_thread.run_sync(answer_all, full))


def window_of(artefact: Artefact) -> Window:
    """Return the time that an artefact covers; a minute on each side where only its moment is known."""
    end = artefact.end
    if end is None and artefact.duration_s:
        end = artefact.start + timedelta(seconds=artefact.duration_s)
    if end is None or end <= artefact.start:
        return Window(clamp(artefact.start - AROUND), clamp(artefact.start + AROUND))
    return Window(artefact.start, min(end, artefact.start + MAX_WINDOW))


def _reports_of(window: Window) -> Window:
    """Return the window whose reports cover a time: a tool prints its report at the end of the seconds that it covers."""
    return Window(clamp(window.start + TICK), clamp(window.end + TICK))


def _widen(window: Window) -> Window:
    missing = max(timedelta(0), MIN_STALL_WINDOW - (window.end - window.start))
    return Window(clamp(window.start - missing / 2), clamp(window.end + missing / 2))


async def _read_means(session: AsyncSession, host_id: int, window: Window, needs: set[SeriesNeed]) -> dict[SeriesNeed, SeriesMean]:
    found: dict[SeriesNeed, SeriesMean] = {}
    if needs & {SeriesNeed.CPU_BUSY, SeriesNeed.N_CPUS}:
        idle = await _read_first(session, host_id, IDLE, window)
        if idle is not None:
            found |= await _read_busy(session, host_id, window, idle)
    for need, places in ((SeriesNeed.MUTEX_SPINS, MUTEX_SPINS), (SeriesNeed.SYSCALLS, SYSCALLS)):
        if need in needs and (samples := await _read_first(session, host_id, places, window)) is not None:
            found[need] = _sum_mean(samples)
    if SeriesNeed.DISK_WRITE in needs and (samples := await _read_first(session, host_id, DISK_WRITE, window)) is not None:
        found[SeriesNeed.DISK_WRITE] = _largest_mean(samples)
    return found


async def _read_busy(session: AsyncSession, host_id: int, window: Window, idle: _Samples) -> dict[SeriesNeed, SeriesMean]:
    place = idle.place
    busy = 100 - float(np.mean(idle.values))
    wait = WAITS.get(place.stat)
    if wait is not None and (waited := await _read_first(session, host_id, (replace(place, field=wait),), window)) is not None:
        busy -= float(np.mean(waited.values))
    n_cpus = float(len(distinct_values(idle.instance)))
    n = len(idle.values)
    return {
        SeriesNeed.CPU_BUSY: SeriesMean(max(0.0, busy), "%", place.stat, place.field, "", n),
        SeriesNeed.N_CPUS: SeriesMean(n_cpus, "CPUs", place.stat, place.field, "", n),
    }


async def _read_first(session: AsyncSession, host_id: int, places: Sequence[_Place], window: Window) -> _Samples | None:
    """Return the samples of the first field that has any in the window. Missing: None without"""
    stats = {stat.name: stat for stat in await find_stats(session, sorted({place.stat for place in places}))}
    for place in places:
        stat = stats.get(place.stat)
        samples = None if stat is None else await _read_samples(session, host_id, stat, place, window)
        if samples is not None and len(samples.values):
            return samples
    return None


async def _read_samples(session: AsyncSession, host_id: int, stat: StatRef, place: _Place, window: Window) -> _Samples | None:
    field = next((field for field in stat.fields if field.key == place.field), None)
    if field is None:
        return None
    times, instances, values = [], [], []
    n = 0
    async for page in read_pages(session, PageQuery(stat.name, host_id, window, (field,))):
        times.append(page.time_us)
        instances.append(page.instance_id)
        values.append(to_floats(field, page.values[0]))
        n += len(page)
        if n >= MAX_SAMPLES:
            break
    if not times:
        return None
    time_us, instance, floats = np.concatenate(times), np.concatenate(instances), np.concatenate(values) * place.factor
    names = await read_instance_names(session, distinct_values(instance).tolist())
    kept = {each for each, name in names.items() if not is_summary(stat.name, name) and (not place.is_cpu or CPU.fullmatch(name))}
    is_kept = ~np.isnan(floats) & np.isin(instance, sorted(kept))
    return _Samples(place, time_us[is_kept], instance[is_kept], floats[is_kept], names)


def _sum_mean(samples: _Samples) -> SeriesMean:
    """Return the mean over reports of the sum over instances."""
    mean = float(np.sum(samples.values)) / max(1, samples.n_reports)
    return SeriesMean(mean, samples.place.unit, samples.place.stat, samples.place.field, "", len(samples.values))


def _largest_mean(samples: _Samples) -> SeriesMean:
    """Return the mean of the instance with the largest one: disks and what lies on them are not added up."""
    ids, places, counts = np.unique(samples.instance, return_inverse=True, return_counts=True)
    means = np.bincount(places, samples.values) / counts
    at = int(np.argmax(means))
    name = samples.names.get(int(ids[at]), "")
    return SeriesMean(float(means[at]), samples.place.unit, samples.place.stat, samples.place.field, name, int(counts[at]))


async def _read_jvms(session: AsyncSession, host_id: int, window: Window) -> HostJvms:
    """Return the processes named java that some tool recorded in the window, and the processor sets of its end."""
    known = load_catalogue().stats
    stats = [
        stat.id for stat in await list_host_stats(session, host_id)
        if stat.name in known and known[stat.name][1].instance_title == PROCESS_TITLE
    ]  # fmt: skip
    present = await read_instances(session, [host_id], stats, window) if stats else []
    processes = [split_process(each.name) for each in present]
    pids = frozenset(int(found[0]) for found in processes if found is not None and found[1] == "java")
    facts = _last_facts(await read_snapshots(session, host_id), window.end) if pids else None
    return HostJvms(pids, {} if facts is None else dict(sorted(Counter(sets_by_cpu(facts).values()).items())))


async def _read_cpus(session: AsyncSession, host_id: int, at: datetime) -> SeriesMean | None:
    """Return the number of CPUs that the agent reported as a fact. Missing: None where it did not"""
    facts = _last_facts(await read_snapshots(session, host_id), at)
    value = "" if facts is None else facts.facts.get(FactName("cpus"), "")
    return SeriesMean(float(value), "CPUs", "", "", "", 1) if value.isdecimal() and int(value) else None


def _last_facts(snapshots: Sequence[FactSnapshot], at: datetime) -> FactSnapshot | None:
    return next((snapshot for snapshot in reversed(snapshots) if snapshot.time_s <= at.timestamp()), None)


async def _read_runs(session: AsyncSession, host_id: int, window: Window) -> list[SeriesRun]:
    """Return samples of the host around an artefact in which a stall would show, one of each title."""
    found: dict[str, SeriesRun] = {}
    for title, place in RUNS:
        if title in found or (samples := await _read_first(session, host_id, (place,), window)) is None:
            continue
        times, at = np.unique(samples.time_us, return_inverse=True)
        found[title] = SeriesRun(
            title, place.unit, place.stat, place.field, times / 1e6, np.bincount(at, samples.values).astype(np.float64)
        )
    return list(found.values())
