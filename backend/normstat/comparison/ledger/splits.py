"""Totals of a stat by instance, and their splits by process, by unit and by device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.comparison.ledger import sources
from normstat.comparison.ledger.lines import LedgerSplit, ResourceTotal
from normstat.comparison.ledger.readings import Reading, find_users
from normstat.comparison.ledger.sources import RateTotal, Users
from normstat.comparison.ledger.windows import Amounts, Spans
from normstat.comparison.ledger_model import Quantity, Resource
from normstat.stats.summaries import is_summary

# Smaller changes are ignored: in per cent of one CPU, per cent of the time of a disk or GPU, KiB, KiB/s, tasks, per second.
MIN_CHANGES: Final = {"cpu": 5.0, "disk": 5.0, "gpu": 5.0, "memory": 64 * 1024.0, "data": 1024.0, "blocked": 0.2, "requests": 50.0}
# The quantity, its unit, and the smallest amount that counts.
Measure = tuple[Quantity, str, float]
# A total with the splits of it.
Entry = tuple[ResourceTotal, list[LedgerSplit]]


@dataclass(frozen=True, slots=True)
class Times:
    """The windows of the baseline, and the incident."""

    windows: Spans
    incident: Spans


def find_times(reading: Reading, stat: str) -> Times | None:
    """Return the times of a stat. Missing: None where the baseline has too few windows."""
    windows = reading.spans(stat)
    return Times(windows, reading.whole()) if len(windows.starts) else None


def totals_of_first(  # noqa: PLR0917
    reading: Reading, resource: Resource, known: Sequence[RateTotal], unit: str, least: float, capacity: float | None = None
) -> list[ResourceTotal]:  # fmt: skip
    """Return a total of each instance of the first stat that both sides have."""
    source = next((one for one in known if reading.has(one[0], *one[1])), None)
    return [] if source is None else totals_of(reading, resource, source, unit, least, capacity)


def totals_of(  # noqa: PLR0917
    reading: Reading, resource: Resource, source: RateTotal, unit: str, least: float, capacity: float | None = None
) -> list[ResourceTotal]:  # fmt: skip
    """Return a total of each instance of a stat. Empty where one side has no reports of it, or none has the fields."""
    stat, fields, factor = source
    times = find_times(reading, stat) if reading.has(stat, *fields, on_a_side=True) else None
    if times is None:
        return []
    return [
        ResourceTotal(resource, name or resource, stat, fields, name, unit, capacity, least, amounts.times(factor), times.windows)
        for name, amounts in reading.amounts(stat, fields, times.windows, times.incident).items()
        if not is_summary(stat, name)
    ]


def farthest(totals: Sequence[ResourceTotal]) -> list[ResourceTotal]:
    """Return the total that left its normal range most. Empty where there is none."""
    return sorted(totals, key=lambda total: -abs(float(total.amounts.outside()[0])))[:1]


def by_process(
    reading: Reading,
    known: Sequence[Users],
    measure: Measure,
    times: Times,
    *,
    kernel: tuple[str, Mapping[str, Amounts]] | None = None,
) -> LedgerSplit:
    """Return the users of a quantity.

    `kernel`: where the parts and the kernel's add up to the total: the stat with the kernel's parts, and these by name
    """
    quantity, unit, least = measure
    users = next((users for users in known if reading.has(users.command or users.process, *users.fields)), None)
    found = [] if users is None else find_users(reading, users, times.windows, times.incident, least)
    stat, of_kernel = kernel or ("", {})
    return LedgerSplit(quantity, unit, least, found, stat, of_kernel, is_whole=kernel is not None)


def by_unit(reading: Reading, measure: Measure, times: Times) -> list[LedgerSplit]:
    """Return the same split by unit of systemd and container. Empty where none is recorded."""
    quantity, unit, least = measure
    users = sources.UNITS[quantity]
    if not reading.has(users.command, *users.fields, on_a_side=True):
        return []
    found = find_users(reading, users, times.windows, times.incident, least)
    return [LedgerSplit(quantity, unit, least, found, is_by_unit=True)] if found else []


def by_unit_of_disk(reading: Reading, disk: str, measure: Measure, times: Times) -> list[LedgerSplit]:
    """Return the split of a disk by unit; where the disk of their I/O is not recorded, that of all disks."""
    quantity, unit, least = measure
    users = sources.UNITS_OF_DISK[quantity]
    if not {sources.UNIT_STAT, users.command} <= reading.stats.keys():
        return by_unit(reading, measure, times)
    own = reading.of_device(users.command, disk, sources.UNIT_STAT)
    if not own.has(users.command, *users.fields, on_a_side=True):
        return by_unit(reading, measure, times)
    found = find_users(own, users, times.windows, times.incident, least)
    named = [replace(user, instance=f"{user.instance}/{disk}") for user in found]
    return [LedgerSplit(quantity, unit, least, named, is_by_unit=True)] if named else []
