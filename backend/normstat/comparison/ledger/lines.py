"""Make a line of the ledger: judge a total and its users against the windows of the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import round_value
from normstat.comparison.ledger.ledger_words import choose_culprits, culprits_of, describe
from normstat.comparison.ledger.readings import STANDS_OUT, ResourceUser, add_up
from normstat.comparison.ledger.windows import Amounts, Spans
from normstat.comparison.ledger_model import Certainty, LedgerLine, LedgerPart, PartKind, Quantity, Resource
from normstat.runtime.readable import name_processes, name_sessions, name_statement

# How many times the change of a normal window, to be sure, and to be likely.
SURE: Final = 2.5
LIKELY: Final = STANDS_OUT
# Minimum weight of a line: with a capacity, without one (twice as much is 0.045), and for a fall below normal without a user. A
# fall by less than a tenth of what is normal is no news: CPUs that were busy 88 % of the time instead of 91.
MIN_WEIGHT: Final = 0.02
MIN_RATE_WEIGHT: Final = 0.045
MIN_FALL_WEIGHT: Final = 0.15
MIN_FALL: Final = 0.1
# A line that weighs less is at most likely.
MIN_SURE_WEIGHT: Final = 0.05
# At its capacity a total cannot rise.
FULL: Final = 0.95
# What a total without a known capacity weighs for each decade, and at most.
DECADE: Final = 0.15
MAX_RATE_WEIGHT: Final = 0.45
MAX_PARTS: Final = 12
MAX_PIDS: Final = 20


@dataclass(frozen=True, slots=True)
class ResourceTotal:
    """How much of a resource was used. `fields` of `stat` and `instance` make it.

    `capacity`: None where it is not known; `least`: smaller changes are ignored; `spans`: the windows of the amounts
    """

    resource: Resource
    name: str
    stat: str
    fields: tuple[str, ...]
    instance: str
    unit: str
    capacity: float | None
    least: float
    amounts: Amounts
    spans: Spans


@dataclass(frozen=True, slots=True)
class LedgerSplit:
    """The users of a quantity: processes and commands, and by name the kernel's parts, from `stat`.

    `is_whole`: together they are the total, except what was not recorded; `is_by_unit`: a second split, by unit
    """

    quantity: Quantity
    unit: str
    least: float
    users: Sequence[ResourceUser]
    stat: str = ""
    kernel: Mapping[str, Amounts] | None = None
    is_whole: bool = False
    is_by_unit: bool = False

    def judge(self) -> list[tuple[str, ResourceUser, float]]:
        """Return the parts by name, each with how many times as far outside its range it is as one of a normal window."""
        kernel = [
            (name, ResourceUser(self.stat, "", "", amounts, max(self.least, amounts.noise()), [], is_new=False))
            for name, amounts in (self.kernel or {}).items()
        ]
        parts = [(self._name(user), user) for user in self.users] + kernel
        return [(name, user, float(user.amounts.outside()[0]) / user.noise) for name, user in parts]

    def _name(self, user: ResourceUser) -> str:
        if self.quantity == "statement":
            return name_statement(user.command)
        return (name_sessions if self.quantity == "blocking" else name_processes)(user.command, user.pids)

    def add_up(self) -> Amounts | None:
        """Return the sum over all users. Missing: None where none is known"""
        parts = [*(user.amounts for user in self.users), *(self.kernel or {}).values()]
        return add_up(parts) if parts else None


def make_line(host: str, total: ResourceTotal, splits: Sequence[LedgerSplit], start_s: float) -> LedgerLine:
    """Return the line of a total. `start_s`: of the incident, seconds since the epoch"""
    amounts, capacity = total.amounts, total.capacity
    low, high = (float(end[0]) for end in amounts.normal_range())
    now, outside = float(amounts.incident[0]), float(amounts.outside()[0])
    judged = [(split, split.judge()) for split in splits if not split.is_by_unit]
    by_unit = [(split, split.judge()) for split in splits if split.is_by_unit]
    strongest, weight = abs(outside) / max(amounts.noise(), total.least), abs(outside)
    for user, ratio in ((user, ratio) for split, parts in judged if split.is_whole for _, user, ratio in parts):
        # What one user took from the others counts as a rise.
        if ratio >= LIKELY:
            strongest, weight = max(strongest, ratio), max(weight, float(user.amounts.outside()[0]))
    weight = min(1.0, weight / capacity) if capacity else _weigh_rate(now, low, high, total.least)
    line = LedgerLine(
        host=host,
        resource=total.resource,
        name=total.name,
        stat=total.stat,
        fields=list(total.fields),
        instance=total.instance,
        unit=total.unit,
        capacity=capacity,
        baseline=round_value(float(amounts.baseline[0])),
        incident=round_value(now),
        low=round_value(low),
        high=round_value(high),
        change=round_value(float(amounts.incident[0] - amounts.baseline[0])),
        outside=round_value(outside),
        is_full=capacity is not None and now >= FULL * capacity and high >= FULL * capacity,
        certainty="nothing",
        ratio=round_value(strongest),
        weight=round_value(weight),
        parts=_to_parts(judged, np.sign(outside) or 1.0),
        units=_to_parts(by_unit, np.sign(outside) or 1.0),
        remainder=_remainder(amounts, splits),
        window_s=round_value(total.spans.length_s),
        window_starts_ms=[round(1000 * start) for start in total.spans.starts.tolist()],
        windows=_to_means(amounts),
        sentence="",
    )
    line = replace(line, units=[_share_of_total(unit, line) for unit in line.units])
    culprits = choose_culprits(line)
    parts, units = ([replace(part, is_culprit=part in culprits) for part in split] for split in (line.parts, line.units))
    line = replace(line, parts=parts, units=units)
    return replace(line, certainty=_certainty_of(line), sentence=describe(line, start_s))


def _share_of_total(unit: LedgerPart, line: LedgerLine) -> LedgerPart:
    """Return the part of a unit with its share of the change of the total: a host has work outside of units, too."""
    if unit.unit != line.unit:
        return unit
    share = unit.change / line.change if unit.change * line.change > 0 else 0.0
    return replace(unit, share=round_value(min(1.0, share)))


def _certainty_of(line: LedgerLine) -> Certainty:
    least = MIN_WEIGHT if line.capacity is not None else MIN_RATE_WEIGHT
    # A fall is reported where a user stopped, or where it is large.
    if line.outside < 0 and not culprits_of(line):
        least = MIN_FALL_WEIGHT
    is_small_fall = line.outside < 0 and -line.outside < MIN_FALL * line.low
    if line.ratio < LIKELY or line.weight < least or is_small_fall:
        return "nothing"
    return "sure" if line.ratio >= SURE and line.weight >= MIN_SURE_WEIGHT else "likely"


def _weigh_rate(now: float, low: float, high: float, least: float) -> float:
    """Return what a total without a known capacity weighs: by how many decades it left its normal range."""
    if low <= now <= high:
        return 0.0
    end = high if now > high else low
    decades = abs(float(np.log10(max(now, least) / max(end, least))))
    return min(MAX_RATE_WEIGHT, DECADE * decades)


def _to_parts(judged: Sequence[tuple[LedgerSplit, list[tuple[str, ResourceUser, float]]]], sign: float) -> list[LedgerPart]:
    """Return the parts: those that moved as the total did first, of them those outside their range; then the others."""
    found: list[tuple[bool, bool, float, ResourceUser, LedgerPart]] = []
    for split, parts in judged:
        changes = [float((user.amounts.incident - user.amounts.baseline)[0]) for _, user, _ in parts]
        same = {way: sum(abs(change) for change in changes if change * way > 0) for way in (-1, 1)}
        for (name, user, ratio), change in zip(parts, changes, strict=True):
            if abs(change) < split.least:
                continue
            share = abs(change) / same[1 if change > 0 else -1]
            part = replace(
                _part(name, _kind_of(split, user), split, user.amounts),
                stat=user.stat,
                instance=user.instance,
                command="" if split.is_by_unit else user.command,
                pids=user.pids[:MAX_PIDS],
                share=round_value(share),
                is_outside=abs(ratio) >= LIKELY,
                is_new=user.is_new,
                is_gone=user.is_gone,
                start_ms=None if user.start_s is None else round(1000 * user.start_s),
            )
            found.append((change * sign > 0, part.is_outside, abs(ratio) + share, user, part))
    found.sort(key=lambda item: item[:3], reverse=True)
    shown = found[:MAX_PARTS]
    told = {id(user) for *_, user, _ in shown}
    others = [
        _part("others", "others", split, add_up(rest))
        for split, parts in judged
        if split.is_whole and (rest := [user.amounts for _, user, _ in parts if id(user) not in told])
    ]
    return [*(part for *_, part in shown), *others]


def _kind_of(split: LedgerSplit, user: ResourceUser) -> PartKind:
    if split.is_by_unit:
        return "unit"
    if split.quantity in ("statement", "blocking"):
        return "statement" if split.quantity == "statement" else "session"
    if not user.command:
        return "kernel"
    return "process" if len(user.pids) == 1 else "command"


def _remainder(total: Amounts, splits: Sequence[LedgerSplit]) -> LedgerPart | None:
    """Return what no part explains: processes that were not recorded, the kernel. Missing: None without known users"""
    split = next((split for split in splits if split.is_whole and split.users), None)
    seen = None if split is None else split.add_up()
    if split is None or seen is None:
        return None
    rest = Amounts(total.windows - seen.windows, total.incident - seen.incident)
    return _part("not seen", "remainder", split, rest)


def _part(name: str, kind: PartKind, split: LedgerSplit, amounts: Amounts) -> LedgerPart:
    """Return a part without a particular user."""
    low, high = amounts.normal_range()
    baseline, incident = float(amounts.baseline[0]), float(amounts.incident[0])
    return LedgerPart(
        name=name,
        stat="",
        instance="",
        kind=kind,
        command="",
        pids=[],
        quantity=split.quantity,
        unit=split.unit,
        baseline=round_value(baseline),
        incident=round_value(incident),
        low=round_value(float(low[0])),
        high=round_value(float(high[0])),
        change=round_value(incident - baseline),
        share=None,
        is_outside=False,
        is_new=False,
        is_gone=False,
        start_ms=None,
        is_culprit=False,
        windows=_to_means(amounts),
    )


def _to_means(amounts: Amounts) -> list[float]:
    """Return the means of the windows, with as many digits as a drawing needs."""
    return [float(f"{value:.4g}") for value in amounts.windows[0].tolist()]
