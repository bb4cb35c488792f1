"""The samples of a host as amounts: what its commands, processes and devices took in each window."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from normstat.comparison.ledger.sources import Users
from normstat.comparison.ledger.windows import Amounts, Spans, cut
from normstat.comparison.read_side import StatSide
from normstat.comparison.side_values import SideName
from normstat.runtime import work_budget
from normstat.scoring.summary import FloatArray
from normstat.stats.engine.report_sums import split_process
from normstat.window import Window

# A process began within the incident when it is missing from this many reports before its first one.
MIN_REPORTS_BEFORE: Final = 2
# A process is listed by itself when it is this many times as far outside its range as one of a normal window.
STANDS_OUT: Final = 1.25
# It represents its command when it made this share of the command's change.
OWN_SHARE: Final = 0.6
# Where a host had more of them, only commands are listed.
MAX_PROCESSES: Final = 50_000
# Reports that have no row leave longer intervals; these are of reports that follow each other.
SHORT_INTERVALS: Final = 0.1
# Minimum share of a command's change for a process to be named.
TOLD_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class PairedSides:
    """The samples of a stat on both sides."""

    baseline: StatSide
    incident: StatSide


# Where the samples of the processes of a side are, by command: process id, instance, rows.
ProcessRows = Mapping[str, Sequence[tuple[int, str, slice]]]


def find_rows(side: StatSide) -> ProcessRows:
    """Return where the samples of each process are."""
    bounds = np.searchsorted(side.instance, np.arange(len(side.names) + 1)).tolist()
    found: dict[str, list[tuple[int, str, slice]]] = {}
    for number, name in enumerate(side.names):
        split = split_process(name)
        if split is not None:
            found.setdefault(split[1], []).append((int(split[0]), name, slice(bounds[number], bounds[number + 1])))
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The samples of a host by stat, in the windows of the baseline and in the incident.

    `memory_kib`: 0 where it is not known; `fine`: spans to look at instead of some that are as long as the incident
    """

    stats: Mapping[str, PairedSides]
    baseline: Sequence[Window]
    incident: Window
    memory_kib: float = 0.0
    fine: Spans | None = None
    _rows: dict[tuple[str, SideName], ProcessRows] = field(default_factory=dict)

    def rows(self, stat: str, side: SideName) -> ProcessRows:
        """Return where the samples of the processes of a stat are; found once."""
        if (stat, side) not in self._rows:
            sides = self.stats[stat]
            self._rows[stat, side] = find_rows(sides.baseline if side == "baseline" else sides.incident)
        return self._rows[stat, side]

    def spans(self, stat: str, parts: int = 1) -> Spans:
        """Return the windows of the baseline that a stat has samples in."""
        if self.fine is not None:
            return self.fine
        windows = [(window.start.timestamp(), window.end.timestamp()) for window in self.baseline]
        return cut(windows, self.incident.length_s, self.stats[stat].baseline.times_s, parts)

    def whole(self) -> Spans:
        """Return the incident as one span."""
        return Spans(np.array([self.incident.start.timestamp()]), self.incident.length_s)

    def quarters(self, parts: int) -> Spans:
        """Return the incident in spans."""
        length_s = self.incident.length_s / parts
        return Spans(self.incident.start.timestamp() + length_s * np.arange(parts, dtype=np.float64), length_s)

    def has(self, stat: str, *fields: str, on_a_side: bool = False) -> bool:
        """Return whether both sides have reports of a stat with these fields.

        `on_a_side`: one of them with the fields is enough, because the other has nothing that they count
        """
        sides = self.stats.get(stat)
        both = () if sides is None else (sides.baseline, sides.incident)
        if not both or not all(len(side.times_s) for side in both):
            return False
        return (any if on_a_side else all)(all(field in side.values for field in fields) for side in both)

    def of_device(self, stat: str, device: str, reports_of: str) -> "Reading":
        """Return the reading with only the rows of one device of a stat whose instances are "who/device", named without it.

        `reports_of`: a stat with reports at the times when this one has nothing to report
        """
        sides, others = self.stats[stat], self.stats[reports_of]
        own = PairedSides(
            _pick_device(sides.baseline, device, others.baseline.times_s),
            _pick_device(sides.incident, device, others.incident.times_s),
        )
        return replace(self, stats={**self.stats, stat: own}, _rows={})

    def of_users(self, users: Users, stat: str, spans: Spans, incident: Spans) -> dict[str, Amounts]:
        """Return what each process or command took. `stat`: that of the one or the other"""
        found = self.amounts(stat, users.fields, spans, incident, "" if stat == users.command else users.threads)
        return found if users.factor == 1.0 else {name: amounts.times(users.factor) for name, amounts in found.items()}

    def amounts(self, stat: str, fields: Sequence[str], spans: Spans, incident: Spans, threads: str = "") -> dict[str, Amounts]:
        """Return what each instance took: the sum of the fields, 0 where it was absent."""
        sides = self.stats[stat]
        found: dict[str, Amounts] = {}
        before = dict(zip(sides.baseline.names, means(sides.baseline, fields, spans, threads), strict=True))
        within = dict(zip(sides.incident.names, means(sides.incident, fields, incident, threads), strict=True))
        nothing = np.zeros(len(spans.starts))
        for name in [*before, *(name for name in within if name not in before)]:
            now = within.get(name)
            found[name] = Amounts(before.get(name, nothing)[None, :], np.zeros(1) if now is None else now[:1])
        return found


def _pick_device(side: StatSide, device: str, times_s: FloatArray) -> StatSide:
    ending = f"/{device}"
    numbers = [number for number, name in enumerate(side.names) if name.endswith(ending)]
    places = np.full(len(side.names), -1, np.int64)
    places[numbers] = np.arange(len(numbers))
    is_own = places[side.instance] >= 0 if len(side.names) else np.zeros(0, np.bool_)
    known = _with_empty_reports(side.times_s, times_s)
    report = np.searchsorted(known, side.times_s)[side.report[is_own]] if len(side.times_s) else side.report
    return StatSide(
        stat=side.stat,
        names=[side.names[number].removesuffix(ending) for number in numbers],
        times_s=known,
        report=report.astype(side.report.dtype),
        instance=places[side.instance[is_own]].astype(side.instance.dtype),
        values={field: side.values[field][is_own] for field in side.values},
        n_rows_skipped=side.n_rows_skipped,
    )


def _with_empty_reports(own_s: FloatArray, others_s: FloatArray) -> FloatArray:
    """Return the times of the reports of a stat, with those that have no row: as another stat of the tool has, or another tool."""
    if np.isin(own_s, others_s).all():
        return others_s
    interval = float(np.quantile(np.diff(own_s), SHORT_INTERVALS)) if len(own_s) > 1 else np.inf
    cells = np.floor(others_s / interval + 0.5)
    _, first = np.unique(cells, return_index=True)
    is_free = ~np.isin(cells[first], np.floor(own_s / interval + 0.5))
    return np.union1d(own_s, others_s[first[is_free]])


def means(side: StatSide, fields: Sequence[str], spans: Spans, threads: str = "") -> FloatArray:
    """Return the mean of each instance in each span, over all reports of the span. Shape: (n_instances, n_spans)"""
    n, width = len(side.names), len(spans.starts)
    work_budget.use(3 * work_budget.CELL_BYTES * n * width)
    places = spans.place(side.times_s)
    at = places[side.report]
    is_in = at >= 0
    where = side.instance[is_in].astype(np.int64) * width + at[is_in]
    total = np.zeros(n * width)
    for key in fields:
        if key not in side.values:
            continue
        values = np.nan_to_num(side.values[key][is_in], nan=0.0)
        if threads and threads in side.values:
            values = values * np.nan_to_num(side.values[threads][is_in], nan=1.0)
        total += np.bincount(where, weights=values, minlength=n * width)
    counts = np.bincount(places[places >= 0], minlength=width)
    return np.asarray(total.reshape(n, width) / np.maximum(counts, 1), np.float64)


def known_mean(side: StatSide, field: str, spans: Spans, instance: str) -> FloatArray:
    """Return the mean of the values of a series in each span. Missing: NaN in a span without a value. Shape: (n_spans,)"""
    span = side.span(instance)
    if span is None or field not in side.values:
        return np.full(len(spans.starts), np.nan)
    values = side.part(field, span)
    places = spans.place(side.times_s)[side.report[span]]
    is_known = (places >= 0) & ~np.isnan(values)
    counts = np.bincount(places[is_known], minlength=len(spans.starts))
    sums = np.bincount(places[is_known], weights=values[is_known], minlength=len(spans.starts))
    return np.asarray(sums / np.where(counts > 0, counts, np.nan), np.float64)


def add_up(parts: Sequence[Amounts]) -> Amounts:
    """Return the amounts of things together."""
    return Amounts(np.sum([part.windows for part in parts], axis=0), np.sum([part.incident for part in parts], axis=0))


def stack(parts: Sequence[Amounts], n_windows: int) -> Amounts:
    """Return the amounts of several things as one matrix."""
    if not parts:
        return Amounts(np.zeros((0, n_windows)), np.zeros(0))
    return Amounts(np.concatenate([part.windows for part in parts]), np.concatenate([part.incident for part in parts]))


@dataclass(frozen=True, slots=True)
class ResourceUser:
    """Who took something: the processes of a command, or those among them that stand for themselves.

    `pids`: those that made the change, largest first; `start_s`: see `LedgerPart.start_ms`; `noise`: what such a user of a normal
    window is outside its range
    """

    stat: str
    instance: str
    command: str
    amounts: Amounts
    noise: float
    pids: list[int]
    is_new: bool
    start_s: float | None = None
    is_gone: bool = False


def find_users(reading: Reading, users: Users, spans: Spans, incident: Spans, least: float) -> list[ResourceUser]:
    """Return the users of a quantity. Together they are all of it.

    A process that is farther outside its normal range than processes of normal windows is listed by itself, whatever the others
    of its command do; several of one command are one.
    """
    by_command = _by_command(reading, users, spans, incident)
    by_process: dict[str, Amounts] = {}
    if not users.is_held and _has_processes(reading, users):
        by_process = reading.of_users(users, users.process, spans, incident)
    own = _stand_out(reading, users, by_process, len(spans.starts), least)
    noise = max(least, stack(list(by_command.values()), len(spans.starts)).noise())
    side = reading.stats[users.command or users.process].incident
    there = set(side.names) if users.command else set(map(command_of, side.names))
    found = []
    for command, amounts in by_command.items():
        work_budget.check()
        rest = amounts
        for user in own.get(command, []):
            found.append(replace(user, is_gone=command not in there))
            rest = _less(rest, user.amounts)
        stat = users.command or users.process
        is_new = not amounts.windows.any()
        left = ResourceUser(stat, command, command, rest, noise, [], is_new=is_new, is_gone=command not in there)
        taken = {pid for user in own.get(command, []) for pid in user.pids}
        found += _name(reading, users, left, by_process, incident, taken)
    return found


def _has_processes(reading: Reading, users: Users) -> bool:
    """Return whether to look at single processes: there are some, and few enough to do so quickly."""
    if not reading.has(users.process, *users.fields, on_a_side=True):
        return False
    sides = reading.stats[users.process]
    return len(sides.baseline.names) + len(sides.incident.names) <= MAX_PROCESSES


def _less(amounts: Amounts, other: Amounts) -> Amounts:
    return Amounts(amounts.windows - other.windows, amounts.incident - other.incident)


def _by_command(reading: Reading, users: Users, spans: Spans, incident: Spans) -> dict[str, Amounts]:
    """Return what the processes of each command took."""
    if users.command:
        return reading.of_users(users, users.command, spans, incident)
    found: dict[str, list[Amounts]] = {}
    for name, amounts in reading.of_users(users, users.process, spans, incident).items():
        found.setdefault(command_of(name), []).append(amounts)
    return {command: add_up(own) for command, own in found.items()}


def _stand_out(
    reading: Reading, users: Users, by_process: Mapping[str, Amounts], n_windows: int, least: float
) -> dict[str, list[ResourceUser]]:
    """Return the processes that stand for themselves, by command: those that took more, and those that took less, are one each."""
    if not by_process:
        return {}
    everything = stack(list(by_process.values()), n_windows)
    noise = max(least, everything.noise())
    side = reading.stats[users.process].incident
    groups: dict[tuple[str, float], list[tuple[float, int, str]]] = {}
    for name, beyond in zip(by_process, everything.outside().tolist(), strict=True):
        split = split_process(name)
        if split is not None and abs(beyond) >= STANDS_OUT * noise:
            groups.setdefault((split[1], float(np.sign(beyond))), []).append((-abs(beyond), int(split[0]), name))
    found: dict[str, list[ResourceUser]] = {}
    for (command, _), members in groups.items():
        members.sort()
        names = [name for _, _, name in members]
        amounts = add_up([by_process[name] for name in names])
        starts = [first_s(side, name) for name in names]
        is_new = not amounts.windows.any()
        start_s = min((start for start in starts if start is not None), default=None) if is_new and None not in starts else None
        pids = [pid for _, pid, _ in members]
        stat, instance = (users.process, names[0]) if len(names) == 1 or not users.command else (users.command, command)
        found.setdefault(command, []).append(ResourceUser(stat, instance, command, amounts, noise, pids, is_new, start_s))
    return found


def _name(  # noqa: PLR0917
    reading: Reading,
    users: Users,
    user: ResourceUser,
    by_process: Mapping[str, Amounts],
    incident: Spans,
    taken: AbstractSet[int],
) -> list[ResourceUser]:
    """Return the user with the processes that made most of its change; where one did, that one and the rest.

    `taken`: processes of the command that stand for themselves already
    """
    change = float((user.amounts.incident - user.amounts.baseline)[0])
    # Memory: a process without a sample may hold what it held.
    if abs(change) < user.noise or (users.is_held and change < 0) or not _has_processes(reading, users):
        return [user]
    sides = reading.stats[users.process]
    rows = [reading.rows(users.process, side).get(user.command, ()) for side in ("baseline", "incident")]
    then = _of_command(sides.baseline, users, rows[0], _all_of(sides.baseline))
    now = _of_command(sides.incident, users, rows[1], incident)
    changes = {pid: now.get(pid, NOTHING)[0] - then.get(pid, NOTHING)[0] for pid in {*now, *then} - taken}
    same = {pid: size for pid, size in changes.items() if size * change > 0}
    total = sum(map(abs, same.values()))
    pids = [pid for pid in sorted(same, key=lambda pid: (-abs(same[pid]), pid)) if abs(same[pid]) >= TOLD_SHARE * total]
    if not pids:
        return [user]
    is_one = abs(same[pids[0]]) >= OWN_SHARE * total
    pids = pids[:1] if is_one else pids
    is_new = all(pid not in then for pid in pids)
    starts = [first_s(sides.incident, now[pid][1]) for pid in pids if pid in now]
    start_s = min(start for start in starts if start is not None) if is_new and starts and None not in starts else None
    named = replace(user, pids=pids, is_new=user.is_new or is_new, start_s=start_s)
    if not is_one:
        return [named]
    instance = f"{pids[0]}/{user.command}"
    held = np.full_like(user.amounts.windows, then.get(pids[0], NOTHING)[0])
    # The mean memory of a process while it has samples; one that lived for part of the time holds no more than its command.
    holds = (
        np.minimum(now.get(pids[0], NOTHING)[0], user.amounts.incident)
        if users.is_held
        else np.array([now.get(pids[0], NOTHING)[0]])
    )
    amounts = by_process.get(instance, Amounts(held, holds))
    one = replace(named, stat=users.process, instance=instance, amounts=amounts)
    return [one, replace(user, amounts=_less(user.amounts, amounts))]


NOTHING: Final = (0.0, "")


def command_of(process: str) -> str:
    """Return the command of a process, as its instance is named.

    >>> command_of("29206/dd")
    'dd'
    """
    split = split_process(process)
    return process if split is None else split[1]


def _all_of(side: StatSide) -> Spans:
    """Return all the time that a side has samples of."""
    if not side.n_rows:
        return Spans(np.empty(0), 1.0)
    return Spans(side.times_s[:1] - 1e-3, float(side.times_s[-1] - side.times_s[0]) + 1.0)


def _of_command(side: StatSide, users: Users, own: Sequence[tuple[int, str, slice]], spans: Spans) -> dict[int, tuple[float, str]]:
    """Return the mean of each of some processes, with its instance."""
    if not own or any(field not in side.values for field in users.fields):
        return {}
    n_reports = max(1, int(spans.counts(side.times_s).sum()))
    if not len(spans.starts):
        return {}
    places = spans.place(side.times_s)
    end_s = float(spans.starts[-1]) + spans.length_s
    found = {}
    for pid, name, span in own:
        is_in = places[side.report[span]] >= 0
        threads = np.nan_to_num(side.part(users.threads, span), nan=1.0) if users.threads in side.values else np.ones(len(is_in))
        values = np.sum([np.nan_to_num(side.part(field, span), nan=0.0) for field in users.fields], axis=0) * threads * users.factor
        if users.is_held and (is_in & (values > 0)).any():
            taken = float(values[is_in & (values > 0)].mean())
        elif users.is_held:
            # A process that sleeps has no samples, and holds what it held.
            earlier = np.flatnonzero((side.times_s[side.report[span]] <= end_s) & (values > 0))
            taken = float(values[earlier[-1]]) if len(earlier) else 0.0
        else:
            taken = float(values[is_in].sum()) / n_reports
        if taken:
            found[pid] = (taken, name)
    return found


def first_s(side: StatSide, instance: str) -> float | None:
    """Return the first sample of an instance. Missing: None where it may have been there from the beginning."""
    span = side.span(instance)
    if span is None or span.start == span.stop:
        return None
    report = int(side.report[span.start])
    return float(side.times_s[report]) if report >= MIN_REPORTS_BEFORE else None
