"""Open the ledger of a host: a line for each resource, the one that changed most first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import round_value
from normstat.comparison.findings.human import name_processes
from normstat.comparison.ledger import sources
from normstat.comparison.ledger.ledger_words import describe
from normstat.comparison.ledger.model import Certainty, LedgerLine, LedgerPart, PartKind, Quantity, Resource
from normstat.comparison.ledger.readings import Reading, User, add_up, find_users, known_mean
from normstat.comparison.ledger.sources import CpuTotal, Users
from normstat.comparison.ledger.windows import Amounts, Spans
from normstat.stats.summaries import is_summary

# What is less than this is nobody's incident: in per cent of one CPU, of the time of a disk, KiB, KiB/s, tasks, per second.
LEAST: Final = {
    "cpu": 5.0,
    "disk": 5.0,
    "memory": 64 * 1024.0,
    "bytes": 1024.0,
    "blocked": 0.2,
    "network": 1024.0,
    "requests": 50.0,
}
# Of the memory, where that is more.
LEAST_OF_MEMORY: Final = 0.01
# How many times what a normal window does, to be sure, and to be likely.
SURE: Final = 2.5
LIKELY: Final = 1.25
# A line that weighs less is nothing, or no more than likely.
LEAST_WEIGHT: Final = 0.02
LEAST_SURE_WEIGHT: Final = 0.05
# At its capacity a total cannot rise.
FULL: Final = 0.95
# What a total without a capacity weighs for each decade, and at most.
DECADE: Final = 0.15
MOST_OF_RATE: Final = 0.45
MAX_PARTS: Final = 12
MAX_PIDS: Final = 20
# Memory is held, not spent: the part of the incident in which it differs most is what was held.
MEMORY_PARTS: Final = 4


@dataclass(frozen=True, slots=True)
class _Split:
    """Who took a quantity: processes and commands, and parts of the kernel by name. `stat`: that tells the kernel's"""

    stat: str
    quantity: Quantity
    unit: str
    least: float
    users: list[User]
    kernel: dict[str, Amounts]

    def judge(self) -> list[tuple[str, User, float]]:
        """Return the parts with the ratio of what they are outside their range to what those of normal windows are."""
        kernel = [
            (name, User(self.stat, "", "", amounts, max(self.least, amounts.noise()), [], is_new=False, start_s=None))
            for name, amounts in self.kernel.items()
        ]
        parts = [(name_processes(user.command, user.pids), user) for user in self.users] + kernel
        return [(name, user, float(user.amounts.outside()[0]) / user.noise) for name, user in parts]

    def add_up(self, n_windows: int) -> Amounts:
        """Return what all took together."""
        parts = [*(user.amounts for user in self.users), *self.kernel.values()]
        return add_up(parts) if parts else Amounts(np.zeros((1, n_windows)), np.zeros(1))


def open_book(host: str, reading: Reading, n_cpus: int) -> list[LedgerLine]:
    """Return the lines of a host, heaviest first. Empty where no stat tells a total, or the baseline is too short."""
    lines = [
        _cpu(host, reading, n_cpus),
        _memory(host, reading),
        _disk(host, reading),
        _rate(host, reading, "network", sources.NETWORK_TOTALS, "KiB/s"),
        _rate(host, reading, "processes", sources.FORKS, "1/s", sources.PARENTS),
    ]
    return sorted((line for line in lines if line is not None), key=lambda line: (line.certainty == "nothing", -line.weight))


def _cpu(host: str, reading: Reading, n_cpus: int) -> LedgerLine | None:
    total = next((one for one in sources.CPU_TOTALS if reading.has(one.stat, *one.idle)), None)
    if total is None:
        return None
    spans, incident = reading.spans(total.stat), reading.whole()
    if not len(spans.starts):
        return None
    busy = _busy(reading, total, spans, incident, n_cpus)
    kernel = {
        name: _of_total(reading, total, fields, spans, incident, n_cpus)
        for name, fields in total.kernel
        if reading.has(total.stat, *fields)
    }
    split = _split(reading, sources.CPU_USERS, ("cpu", "%", LEAST["cpu"]), spans, incident, stat=total.stat, kernel=kernel)
    return _line(
        host,
        reading,
        "cpu",
        "the CPUs",
        (total.stat, list(total.idle), total.all or ""),
        ("%", 100.0 * n_cpus, LEAST["cpu"]),
        busy,
        [split],
    )


def _busy(reading: Reading, total: CpuTotal, spans: Spans, incident: Spans, n_cpus: int) -> Amounts:
    """Return the busy CPU time, in per cent of one CPU."""
    idle = _of_total(reading, total, total.idle, spans, incident, n_cpus)
    return Amounts(100.0 * n_cpus - idle.windows, 100.0 * n_cpus - idle.incident)


def _of_total(reading: Reading, total: CpuTotal, fields: Sequence[str], spans: Spans, incident: Spans, n_cpus: int) -> Amounts:
    by_cpu = reading.amounts(total.stat, fields, spans, incident)
    if total.all == "":
        own = [amounts for name, amounts in by_cpu.items() if not is_summary(total.stat, name)]
        # They are as many as there are CPUs.
        return add_up(own)
    whole = by_cpu.get(total.all or "", next(iter(by_cpu.values())))
    return Amounts(n_cpus * whole.windows, n_cpus * whole.incident)


def _memory(host: str, reading: Reading) -> LedgerLine | None:
    stat = sources.MEMORY
    if not reading.has(stat, "total_kb", "used_kb"):
        return None
    spans = reading.spans(stat, MEMORY_PARTS)
    if not len(spans.starts):
        return None
    quarters = reading.quarters(MEMORY_PARTS)
    held = known_mean(reading.stats[stat].incident, "used_kb", quarters, "")
    usual = float(np.median(reading.amounts(stat, ["used_kb"], spans, reading.whole())[""].windows))
    if np.isnan(held).all():
        return None
    farthest = int(np.nanargmax(np.abs(held - usual)))
    incident = Spans(quarters.starts[[farthest]], quarters.length_s)
    used = reading.amounts(stat, ["used_kb"], spans, incident)[""]
    capacity = float(np.nanmax(reading.stats[stat].incident.values["total_kb"]))
    kernel = {
        name: reading.amounts(stat, fields, spans, incident)[""]
        for name, fields in sources.MEMORY_KERNEL
        if reading.has(stat, *fields)
    }
    least = max(LEAST["memory"], LEAST_OF_MEMORY * capacity)
    split = _split(reading, sources.MEMORY_USERS, ("memory", "KiB", least), spans, incident, stat=stat, kernel=kernel)
    what = ("KiB", capacity, least)
    return _line(host, reading, "memory", "memory", (stat, ["used_kb"], ""), what, used, [split])


def _disk(host: str, reading: Reading) -> LedgerLine | None:
    """Return the line of the disk that changed most: how busy it was, or its requests or data where they tell more."""
    total = next((one for one in sources.DISK_TOTALS if reading.has(one.stat, one.busy)), None)
    if total is None:
        return None
    spans, incident = reading.spans(total.stat), reading.whole()
    if not len(spans.starts):
        return None
    splits = [
        _split(reading, sources.WRITERS, ("written", "KiB/s", LEAST["bytes"]), spans, incident),
        _split(reading, sources.READERS, ("read", "KiB/s", LEAST["bytes"]), spans, incident),
        _split(reading, sources.BLOCKED, ("blocked", "tasks", LEAST["blocked"]), spans, incident),
    ]
    measures = (
        ((total.busy,), ("%", 100.0, LEAST["disk"])),
        (total.requests, ("1/s", None, LEAST["requests"])),
        (total.data, ("KiB/s", None, LEAST["bytes"])),
    )
    found = []
    for fields, measure in measures:
        if not reading.has(total.stat, *fields):
            continue
        for name, amounts in reading.amounts(total.stat, fields, spans, incident).items():
            if not is_summary(total.stat, name):
                found.append(_line(host, reading, "disk", name, (total.stat, list(fields), name), measure, amounts, splits))
    return max(found, key=_order, default=None)


def _rate(
    host: str,
    reading: Reading,
    resource: Resource,
    totals: Sequence[tuple[str, tuple[str, ...]]],
    unit: str,
    parents: Sequence[Users] = (),
) -> LedgerLine | None:
    """Return the line of something without a known capacity."""
    known = next(((stat, fields) for stat, fields in totals if reading.has(stat, *fields)), None)
    if known is None:
        return None
    stat, fields = known
    spans, incident = reading.spans(stat), reading.whole()
    if not len(spans.starts):
        return None
    splits = [_split(reading, parents, ("children", "%", LEAST["cpu"]), spans, incident)] if parents else []
    measure = (unit, None, LEAST["network" if resource == "network" else "requests"])
    found = [
        _line(host, reading, resource, name or resource, (stat, list(fields), name), measure, amounts, splits)
        for name, amounts in reading.amounts(stat, fields, spans, incident).items()
        if not is_summary(stat, name)
    ]
    return max(found, key=_order, default=None)


def _order(line: LedgerLine) -> tuple[bool, float]:
    return line.certainty != "nothing", line.weight


def _split(
    reading: Reading,
    known: Sequence[Users],
    measure: tuple[Quantity, str, float],
    spans: Spans,
    incident: Spans,
    *,
    stat: str = "",
    kernel: Mapping[str, Amounts] | None = None,
) -> _Split:
    """Return who took a quantity. `measure`: what it is, its unit, and the least that counts; `stat`: that tells the kernel's"""
    quantity, unit, least = measure
    users = next((users for users in known if reading.has(users.command or users.process, *users.fields)), None)
    found = [] if users is None else find_users(reading, users, spans, incident, least)
    return _Split(stat, quantity, unit, least, found, dict(kernel or {}))


def _line(
    host: str,
    reading: Reading,
    resource: Resource,
    name: str,
    where: tuple[str, list[str], str],
    measure: tuple[str, float | None, float],
    total: Amounts,
    splits: Sequence[_Split],
) -> LedgerLine:
    """Return a line. `where`: stat, fields and instance of the total; `measure`: its unit, its capacity, and the least that counts"""
    unit, capacity, least = measure
    low, high = (float(end[0]) for end in total.normal_range())
    outside = float(total.outside()[0])
    ratio = abs(outside) / max(total.noise(), least)
    is_full = capacity is not None and float(total.incident[0]) >= FULL * capacity and high >= FULL * capacity
    own = next((split for split in splits if split.unit == unit), None)
    judged = [(split, split.judge()) for split in splits]
    strongest, weight = ratio, abs(outside)
    for split, parts_of in judged:
        for _, user, part_ratio in parts_of:
            # What a part took from the others is as good as a rise.
            if split is own and part_ratio >= LIKELY:
                strongest = max(strongest, part_ratio)
                weight = max(weight, float(user.amounts.outside()[0]))
    weight = min(1.0, weight / capacity) if capacity else _weight_of_rate(float(total.incident[0]), low, high, least)
    certainty: Certainty = "nothing"
    if strongest >= LIKELY and weight >= LEAST_WEIGHT:
        certainty = "sure" if strongest >= SURE and weight >= LEAST_SURE_WEIGHT else "likely"
    parts = _to_parts(judged, np.sign(outside) or 1.0)
    line = LedgerLine(
        host=host,
        resource=resource,
        name=name,
        stat=where[0],
        fields=where[1],
        instance=where[2],
        unit=unit,
        capacity=capacity,
        baseline=round_value(float(total.baseline[0])),
        incident=round_value(float(total.incident[0])),
        low=round_value(low),
        high=round_value(high),
        change=round_value(float(total.incident[0] - total.baseline[0])),
        outside=round_value(outside),
        is_full=is_full,
        certainty=certainty,
        ratio=round_value(strongest),
        weight=round_value(weight),
        parts=parts,
        remainder=None if own is None or not own.users else _remainder(total, own, unit),
        sentence="",
    )
    return replace(line, sentence=describe(line, reading.incident.start.timestamp()))


def _weight_of_rate(now: float, low: float, high: float, least: float) -> float:
    """Return what a total without a known capacity weighs: by how many decades it left its normal range."""
    if low <= now <= high:
        return 0.0
    end = high if now > high else low
    decades = abs(float(np.log10(max(now, least) / max(end, least))))
    return min(MOST_OF_RATE, DECADE * decades)


def _to_parts(judged: Sequence[tuple[_Split, list[tuple[str, User, float]]]], sign: float) -> list[LedgerPart]:
    """Return the parts: those that moved as the total did first, of them those outside their range."""
    found: list[tuple[bool, bool, float, LedgerPart]] = []
    for split, parts in judged:
        changes = [float((user.amounts.incident - user.amounts.baseline)[0]) for _, user, _ in parts]
        same = {way: sum(abs(change) for change in changes if change * way > 0) for way in (-1, 1)}
        for (name, user, ratio), change in zip(parts, changes, strict=True):
            if abs(change) < split.least:
                continue
            share = abs(change) / same[1 if change > 0 else -1]
            low, high = user.amounts.normal_range()
            kind: PartKind = "kernel" if not user.command else "process" if len(user.pids) == 1 else "command"
            part = LedgerPart(
                name=name,
                stat=user.stat,
                instance=user.instance,
                kind=kind,
                command=user.command,
                pids=user.pids[:MAX_PIDS],
                quantity=split.quantity,
                unit=split.unit,
                baseline=round_value(float(user.amounts.baseline[0])),
                incident=round_value(float(user.amounts.incident[0])),
                low=round_value(float(low[0])),
                high=round_value(float(high[0])),
                change=round_value(change),
                share=round_value(share),
                is_outside=abs(ratio) >= LIKELY,
                is_new=user.is_new,
                start_ms=None if user.start_s is None else round(1000 * user.start_s),
            )
            found.append((change * sign > 0, part.is_outside, abs(ratio) + share, part))
    found.sort(key=lambda item: item[:3], reverse=True)
    return [part for *_, part in found[:MAX_PARTS]]


def _remainder(total: Amounts, split: _Split, unit: str) -> LedgerPart:
    """Return what no part explains: processes that nobody saw, the kernel."""
    seen = split.add_up(total.windows.shape[1])
    rest = Amounts(total.windows - seen.windows, total.incident - seen.incident)
    low, high = rest.normal_range()
    return LedgerPart(
        name="not seen",
        stat="",
        instance="",
        kind="remainder",
        command="",
        pids=[],
        quantity=split.quantity,
        unit=unit,
        baseline=round_value(float(rest.baseline[0])),
        incident=round_value(float(rest.incident[0])),
        low=round_value(float(low[0])),
        high=round_value(float(high[0])),
        change=round_value(float(rest.incident[0] - rest.baseline[0])),
        share=None,
        is_outside=False,
        is_new=False,
        start_ms=None,
    )
