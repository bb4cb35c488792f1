"""Open the ledger of a host: a line for each resource, the one that changed most first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.comparison.io_gap import describe_io_gap
from normstat.comparison.ledger import sources
from normstat.comparison.ledger.databases import database_entries, note_database
from normstat.comparison.ledger.drawing import TotalOverTime, draw_total, fine_spans
from normstat.comparison.ledger.gpus import gpu_entries, gpu_totals, note_users
from normstat.comparison.ledger.ledger_words import culprits_of, describe
from normstat.comparison.ledger.limits import limit_totals, note_limit, throttled_units, units_at_limit, units_with_kills
from normstat.comparison.ledger.lines import ResourceTotal, make_line
from normstat.comparison.ledger.readings import PairedSides, Reading, add_up, known_mean
from normstat.comparison.ledger.sources import CpuTotal
from normstat.comparison.ledger.splits import (
    MIN_CHANGES,
    Entry,
    Measure,
    Times,
    by_process,
    by_unit,
    by_unit_of_disk,
    farthest,
    find_times,
    totals_of_first,
)
from normstat.comparison.ledger.windows import Amounts, Spans
from normstat.comparison.ledger_model import DrawnTotal, LedgerLine, Resource
from normstat.comparison.read_side import StatSide
from normstat.stats.summaries import is_summary
from normstat.window import Window

# Share of the memory; the larger of the two limits counts.
MIN_SHARE_OF_MEMORY: Final = 0.01
# Memory is held, not spent: the part of the incident in which it differs most shows what was held.
MEMORY_PARTS: Final = 4
WRITTEN: Final[Measure] = ("written", "KiB/s", MIN_CHANGES["data"])
READ: Final[Measure] = ("read", "KiB/s", MIN_CHANGES["data"])


def open_book(host: str, reading: Reading, n_cpus: int) -> list[LedgerLine]:
    """Return the lines of a host, heaviest first. Empty where no stat has a total, or the baseline is too short."""
    start_s = reading.incident.start.timestamp()
    found = [_cpu(reading, n_cpus), _memory(reading), *_network(reading), *_processes(reading), *gpu_entries(reading)]
    lines = [make_line(host, total, splits, start_s) for total, splits in filter(None, found)]
    lines = [_note_who(line, start_s) for line in lines]
    of_units = [note_limit(make_line(host, total, [], start_s), reading, lines, start_s) for total in limit_totals(reading)]
    lines += [_note_gap(line, reading, start_s) for line in _disk_line(host, reading, start_s)]
    # Only the unit that changed most, by the measure that shows it best.
    for resource in ("throttling", "memory_limit"):
        lines += sorted((line for line in of_units if line.resource == resource), key=_order)[:1]
    databases = [make_line(host, total, splits, start_s) for total, splits in database_entries(reading)]
    lines = [note_database(line, databases, reading, start_s) for line in lines]
    return sorted([*lines, *databases], key=_order)


def draw_lines(lines: Sequence[LedgerLine], reading: Reading, n_cpus: int) -> list[LedgerLine]:
    """Return the lines, each with a weight above zero with a graph of its total."""
    return [line if line.certainty == "nothing" else replace(line, drawn=_draw(line, reading, n_cpus)) for line in lines]


def _draw(line: LedgerLine, reading: Reading, n_cpus: int) -> DrawnTotal | None:
    sides = reading.stats[line.stat]

    def total(side: StatSide, windows: Sequence[Window]) -> TotalOverTime:
        spans = fine_spans(side.times_s, windows)
        alone = Reading({line.stat: PairedSides(side, side)}, windows, windows[0], reading.memory_kib, spans)
        wanted = (tuple(line.fields), line.unit, line.instance)
        found = (one for one in _totals(line.resource, alone, n_cpus) if (one.fields, one.unit, one.instance) == wanted)
        amounts = next((one.amounts.windows[0] for one in found), None)
        if amounts is None:
            return TotalOverTime(np.empty(0), np.empty(0))
        times_s = spans.last_reports(side.times_s)
        is_known = np.isfinite(times_s)
        return TotalOverTime(times_s[is_known], amounts[is_known])

    return draw_total(total(sides.baseline, reading.baseline), total(sides.incident, [reading.incident]), reading)


def _totals(resource: Resource, reading: Reading, n_cpus: int) -> list[ResourceTotal]:
    """Return all totals of a resource."""
    found: Sequence[Entry | None]
    match resource:
        case "cpu":
            found = [_cpu(reading, n_cpus)]
        case "memory":
            found = [_memory(reading)]
        case "disk":
            found = _disks(reading)
        case "network":
            return _interfaces(reading)
        case "processes":
            found = _processes(reading)
        case "throttling":
            return throttled_units(reading)
        case "memory_limit":
            return [*units_at_limit(reading), *units_with_kills(reading)]
        case "gpu":
            return gpu_totals(reading)
        case "database":
            found = database_entries(reading)
    return [total for total, _ in filter(None, found)]


def _note_who(line: LedgerLine, start_s: float) -> LedgerLine:
    """Return the line; where a network carried more, or a GPU did, with the reason why no process is named."""
    note = note_users(line) if line.resource == "gpu" else ""
    if line.resource == "network" and line.certainty != "nothing" and line.outside > 0:
        note = "no recorded tool shows whose traffic it was"
    if not note:
        return line
    noted = replace(line, note=note)
    return replace(noted, sentence=describe(noted, start_s))


def _note_gap(line: LedgerLine, reading: Reading, start_s: float) -> LedgerLine:
    """Return the line; where a disk did more, with the reason why no process is named.

    A process that waits for a disk may not be the one that keeps it busy.
    """
    is_more = line.outside > 0 or line.is_full
    if not is_more or any(part.quantity in ("written", "read") for part in culprits_of(line)):
        return line
    note = describe_io_gap({stat: sides.incident for stat, sides in reading.stats.items()}) or ""
    if not any(users.command in reading.stats for users in (*sources.WRITERS, *sources.READERS)):
        note = "no recorded tool shows which process it was"
    noted = replace(line, note=note)
    return replace(noted, sentence=describe(noted, start_s))


def _order(line: LedgerLine) -> tuple[bool, float]:
    return line.certainty == "nothing", -line.weight


def _cpu(reading: Reading, n_cpus: int) -> Entry | None:
    source = next((one for one in sources.CPU_TOTALS if reading.has(one.stat, *one.idle)), None)
    times = None if source is None else find_times(reading, source.stat)
    if source is None or times is None:
        return None
    capacity = 100.0 * n_cpus
    idle = _of_cpus(reading, source, source.idle, times, n_cpus)
    busy = Amounts(capacity - idle.windows, capacity - idle.incident)
    kernel = {
        name: _of_cpus(reading, source, fields, times, n_cpus)
        for name, fields in source.kernel
        if reading.has(source.stat, *fields)
    }
    total = ResourceTotal(
        "cpu", "the CPUs", source.stat, source.idle, source.all or "", "%", capacity, MIN_CHANGES["cpu"], busy, times.windows
    )
    measure: Measure = ("cpu", "%", MIN_CHANGES["cpu"])
    splits = [
        by_process(reading, sources.CPU_USERS, measure, times, kernel=(source.stat, kernel)),
        *by_unit(reading, measure, times),
    ]
    return total, splits


def _of_cpus(reading: Reading, source: CpuTotal, fields: Sequence[str], times: Times, n_cpus: int) -> Amounts:
    """Return fields of all CPUs together, in per cent of one CPU."""
    by_cpu = reading.amounts(source.stat, fields, times.windows, times.incident)
    if source.all == "":
        # They are as many as there are CPUs.
        return add_up([amounts for name, amounts in by_cpu.items() if not is_summary(source.stat, name)])
    whole = by_cpu.get(source.all or "", next(iter(by_cpu.values())))
    return Amounts(n_cpus * whole.windows, n_cpus * whole.incident)


def _memory(reading: Reading) -> Entry | None:
    source = next((one for one in sources.MEMORY_TOTALS if reading.has(one.stat, one.used or one.free)), None)
    capacity = 0.0
    if source is not None:
        capacity = source.total_kib(reading.stats[source.stat].incident.values) if source.total else reading.memory_kib
    windows = None if source is None else reading.spans(source.stat, MEMORY_PARTS)
    if source is None or windows is None or not len(windows.starts) or not capacity:
        return None
    quarters = reading.quarters(MEMORY_PARTS)
    field = source.used or source.free
    held = known_mean(reading.stats[source.stat].incident, field, quarters, "")
    before = known_mean(reading.stats[source.stat].baseline, field, windows, "")
    if np.isnan(held).all() or np.isnan(before).all():
        return None
    rise = (held - np.nanmedian(before)) * (-1.0 if source.free else 1.0)
    # If less is held than normal throughout, a process that takes memory shows best where most is held.
    farthest = int(np.nanargmax(rise if np.nanmax(rise) < 0 else np.abs(rise)))
    times = Times(windows, Spans(quarters.starts[[farthest]], quarters.length_s))
    least = max(MIN_CHANGES["memory"], MIN_SHARE_OF_MEMORY * capacity)
    # A report without it does not mean that there was none.
    before = np.where(np.isnan(before), np.nanmedian(before), before)
    amounts = Amounts(before[None, :], held[[farthest]]).times(source.factor)
    if source.free:
        amounts = Amounts(capacity - amounts.windows, capacity - amounts.incident)
    kernel = {
        name: reading.amounts(source.stat, fields, times.windows, times.incident)[""]
        for name, fields in source.kernel
        if reading.has(source.stat, *fields)
    }
    total = ResourceTotal("memory", "memory", source.stat, (field,), "", "KiB", capacity, least, amounts, times.windows)
    measure: Measure = ("memory", "KiB", least)
    # Elsewhere not all processes are printed, and pages that several of them share count for each.
    split = by_process(reading, sources.MEMORY_USERS, measure, times, kernel=(source.stat, kernel) if source.kernel else None)
    return total, [split, *by_unit(reading, measure, times)]


def _disk_line(host: str, reading: Reading, start_s: float) -> list[LedgerLine]:
    """Return the line of the disk that changed most, by the measure that shows it best. Empty where no disk is recorded."""
    made = [(make_line(host, total, splits, start_s), total, splits) for total, splits in _disks(reading)]
    if not made:
        return []
    _, total, splits = min(made, key=lambda one: _order(one[0]))
    times = Times(total.spans, reading.whole())
    units = [split for measure in (WRITTEN, READ) for split in by_unit_of_disk(reading, total.instance, measure, times)]
    return [make_line(host, total, [*splits, *units], start_s)]


def _disks(reading: Reading) -> list[Entry]:
    """Return for each disk how busy it was, its requests and its data."""
    source = next((one for one in sources.DISK_TOTALS if reading.has(one.stat, one.busy)), None)
    times = None if source is None else find_times(reading, source.stat)
    if source is None or times is None:
        return []
    splits = [
        by_process(reading, sources.WRITERS, WRITTEN, times),
        by_process(reading, sources.READERS, READ, times),
        by_process(reading, sources.BLOCKED, ("blocked", "tasks", MIN_CHANGES["blocked"]), times),
    ]
    measures = (
        ((source.busy,), "%", 100.0, MIN_CHANGES["disk"], 1.0),
        (source.requests, "1/s", None, MIN_CHANGES["requests"], 1.0),
        (source.data, "KiB/s", None, MIN_CHANGES["data"], source.factor),
    )
    return [
        (
            ResourceTotal("disk", name, source.stat, fields, name, unit, capacity, least, amounts.times(factor), times.windows),
            splits,
        )
        for fields, unit, capacity, least, factor in measures
        if reading.has(source.stat, *fields)
        for name, amounts in reading.amounts(source.stat, fields, times.windows, times.incident).items()
        if not is_summary(source.stat, name)
    ]


def _network(reading: Reading) -> list[Entry]:
    """Return the interface whose data left its normal range most."""
    return [(total, []) for total in farthest(_interfaces(reading))]


def _interfaces(reading: Reading) -> list[ResourceTotal]:
    return totals_of_first(reading, "network", sources.NETWORK_TOTALS, "KiB/s", MIN_CHANGES["data"])


def _processes(reading: Reading) -> list[Entry]:
    """Return the processes that began, with the parents of short-lived ones."""
    found = []
    for total in totals_of_first(reading, "processes", sources.FORKS, "1/s", MIN_CHANGES["requests"]):
        times = find_times(reading, total.stat)
        if times is not None:
            found.append((total, [by_process(reading, sources.PARENTS, ("children", "%", MIN_CHANGES["cpu"]), times)]))
    return found
