"""Rows of series that come one by one: samples of a stat and instance at one time become one row, counters become rates.

Exporters of Prometheus and archives of Performance Co-Pilot are read so. Samples may come in any order, twice, or late; a row is
added as soon as it has the columns of the one before, or when later ones wait. `[layout]` says what is worked out besides:

    means          stat, `column`, `of`, `by`, `factor`: quotients of two rates of a row
    used           stat, `column`, `share`, `size`, `free`, `left`: what is in use, and its share of what programs may use, as df
    shares         stat, `column`, `of`, `rest`: the share of a column in the sum of itself and others, in percent
    idle           stat, `column`, `of`: what the columns of percentages leave of 100 %, where a tool does not print it, and all of
                   `of` are there
    sums           stat, `instance`, `of`: an instance whose times are sums of all CPUs; each is its share of the row, which has
                   100 % then. Without one of `of` nothing is known of the row
    needs          stat, `column`, `by`: columns that mean something only where another one is above 0 (the latency of no request)
    totals         stat, `instance`: the mean of all instances at a time, once all have come (the CPUs of a host)
    counters, gauges    the stats of all series that no group knows
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from normstat.stats.engine.block import Row
from normstat.stats.engine.header import fields_of
from normstat.stats.engine.lines import LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.report_numbers import spell_out
from normstat.stats.engine.series.series_totals import StatTotal
from normstat.stats.layout import StatName
from normstat.stats.records import LineKind, State, number_of
from normstat.stats.spec import Field, Layout, Stat

MICRO: Final = 1_000_000
# Maximum number of counters that a stream remembers: a host of node_exporter has about 1000 series, one of kube-state-metrics some
# ten thousand.
MAX_SERIES: Final = 50_000
# Rows of an instance that wait for their last columns: requests may overtake each other.
MAX_PENDING: Final = 3
# Reports of an instance that may still get values, where rows wait for newer ones.
MAX_OPEN_REPORTS: Final = 2
# Series without a sample for this long are dropped; their next sample is like a first one.
FORGOTTEN_S: Final = 3600
# The year 2200: what is beyond does not fit the tables.
LATEST_S: Final = 7_258_118_400
NO_NUMBER: Final = Rejected("the value is not a number")
ODD_TIME: Final = Rejected("the time is not between the years 1970 and 2199")
ANOTHER: Final = Rejected(
    "another value of the series at the same time: two senders for one host, or labels that do not tell them apart"
)
LATE_COUNTER: Final = Rejected("out of order: a later sample of the counter was read before, so that it gives no rate")
TOO_MANY: Final = Rejected(f"more than {MAX_SERIES} series of one host and sender")


@dataclass(frozen=True)
class Mean:
    """A quotient of two rates of a row."""

    stat: StatName
    column: str
    of: str
    by: str
    factor: int = 1


@dataclass(frozen=True)
class Used:
    """Used amount, from columns of a row: `size` less `free`; its `share` is of that and of what is `left` for programs."""

    stat: StatName
    share: str
    size: str
    free: str
    left: str
    column: str = ""


@dataclass(frozen=True)
class Share:
    """The share of a column, in percent, in the sum of itself and those of `rest` that a row has."""

    stat: StatName
    column: str
    of: str
    rest: tuple[str, ...]


@dataclass(frozen=True)
class Idle:
    """100 % minus all percentages of a row, if it has all of `of`."""

    stat: StatName
    column: str
    of: tuple[str, ...]


@dataclass(frozen=True)
class Sum:
    """An instance whose percentages are sums of an unknown number of CPUs; a row that lacks one of `of` is not used."""

    stat: StatName
    instance: str
    of: tuple[str, ...]


@dataclass(frozen=True)
class Need:
    """A column without a meaning unless another one is above 0."""

    stat: StatName
    column: str
    by: str


@dataclass(frozen=True)
class Total:
    """An instance that holds the means of all others of its stat."""

    stat: StatName
    instance: str


def to_finite(word: str) -> float | None:
    """Return the number that a word prints. Missing: None for no number, and for one that is not finite

    >>> to_finite("0.25"), to_finite("nan"), to_finite("many")
    (0.25, None, None)
    """
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# Compared by identity: it is part of a key.
@dataclass(frozen=True, eq=False)
class SeriesLayout(Layout):
    """The keys that the module's docstring explains."""

    counters: StatName
    gauges: StatName
    means: tuple[Mean, ...] = ()
    used: tuple[Used, ...] = ()
    shares: tuple[Share, ...] = ()
    idle: tuple[Idle, ...] = ()
    sums: tuple[Sum, ...] = ()
    needs: tuple[Need, ...] = ()
    totals: tuple[Total, ...] = ()

    @property
    def single_stats(self) -> tuple[str, ...]:
        """The stats whose rows have one column."""
        return self.counters, self.gauges


SeriesLayoutT = TypeVar("SeriesLayoutT", bound=SeriesLayout)


class SeriesPlace(NamedTuple):
    """Where the samples of a series go. `factor` turns a rate into the column's unit; `is_rate` for counters."""

    stat: str
    instance: str
    column: str
    is_rate: bool
    factor: float


class OpenRow:
    """A row that may get more columns: values by column, and the columns that have come, with or without a value."""

    __slots__ = ("arrived", "offset", "values")

    def __init__(self, offset: int, values: dict[str, str | float] | None = None, arrived: set[str] | None = None) -> None:
        self.offset = offset
        self.values = values if values is not None else {}
        self.arrived = arrived if arrived is not None else set()


class InstanceState:
    """The state of an instance of a stat: the last sample of each column, and rows that are not complete."""

    __slots__ = ("columns", "done", "last", "pending")

    def __init__(self) -> None:
        # Time of the last complete row, -1 for none, and the columns that rows have.
        self.done = -1
        self.columns: set[str] = set()
        self.last: dict[str, tuple[int, str]] = {}
        self.pending: dict[int, OpenRow] = {}


class SeriesReader(LineReader[SeriesLayoutT]):
    """The part of a reader that makes rows of samples. Times are whole numbers, of which a second has `ticks`.

    `waits_for_newer`: a row is added when later ones have begun, not as soon as it has the columns of the one before. It needs
    one report more, and new columns do not split a row; for recorded files, where latency does not matter.
    """

    ticks: int
    waits_for_newer = False

    def load_series(self, own: State) -> None:
        """Restore the state of the previous piece."""
        instances, totals = own.get("instances"), own.get("totals")
        self._newest = number_of(own.get("newest"), -1)
        self._instances: dict[tuple[str, str], InstanceState] = {}
        for stat, name, *rest in instances if isinstance(instances, list) else ():
            self._instances[stat, name] = _instance_of(rest)
        self._n_series = sum(len(instance.last) for instance in self._instances.values())
        self._known_fields: dict[tuple[str, tuple[str, ...]], tuple[Field, ...]] = {}
        self._totals = {total.stat: StatTotal(total.instance) for total in self.layout.totals}
        for stat, state in totals.items() if isinstance(totals, dict) else ():
            if stat in self._totals:
                self._totals[stat].load(state, {name for own_stat, name in self._instances if own_stat == stat})
        self._used = {stat: [used for used in self.layout.used if used.stat == stat] for stat in self._stats}
        self._means = {stat: [mean for mean in self.layout.means if mean.stat == stat] for stat in self._stats}
        self._shares = {stat: [share for share in self.layout.shares if share.stat == stat] for stat in self._stats}
        self._idle = {idle.stat: idle for idle in self.layout.idle}
        self._sums = {(own.stat, own.instance): own.of for own in self.layout.sums}
        self._needs = {stat: [need for need in self.layout.needs if need.stat == stat] for stat in self._stats}

    def save_series(self) -> State:
        """Return what `load_series` restores."""
        begin = self._newest - FORGOTTEN_S * self.ticks
        return {
            "newest": self._newest,
            "totals": {stat: total.to_state() for stat, total in self._totals.items() if total.members},
            "instances": [
                [*key, *_to_state(instance)]
                for key, instance in self._instances.items()
                if instance.pending or max(tick for tick, _ in instance.last.values()) >= begin
            ],
        }

    def is_odd_time(self, tick: int) -> bool:
        """Return whether a time does not fit the tables: ODD_TIME."""
        return not 0 <= tick < LATEST_S * self.ticks

    def finish(self) -> None:
        """Add the rows that wait for more columns: the stream has ended."""
        self.end_report()

    def end_report(self) -> None:
        """Add all rows that wait: no more samples of their times will come."""
        for key, instance in self._instances.items():
            for tick in sorted(instance.pending):
                row = instance.pending.pop(tick)
                instance.columns |= row.arrived
                instance.done = max(instance.done, tick)
                self._add(key, tick, row)
        self.end_request()

    def forget_series(self) -> None:
        """Forget all samples: the next one counts as the first."""
        self._instances.clear()
        self._n_series = 0
        for total in self._totals.values():
            total.members.clear()
            total.pending.clear()

    def end_series(self, place: SeriesPlace) -> None:
        """Forget the last sample: the next one counts as the first."""
        instance = self._instances.get((place.stat, place.instance))
        if instance is None:
            return
        if instance.last.pop(place.column, None) is not None:
            self._n_series -= 1
        instance.columns.discard(place.column)
        for tick in sorted(instance.pending):
            if instance.pending[tick].arrived >= instance.columns:
                self._complete(place, instance, tick)
        if not instance.last and not instance.pending:
            del self._instances[place.stat, place.instance]
            if place.stat in self._totals:
                self._totals[place.stat].members.pop(place.instance, None)

    def take_value(self, place: SeriesPlace, tick: int, word: str, span: int | None, offset: int) -> Outcome:
        """Take a sample of a series: its value as printed; for a counter without `span`, the count so far."""
        key = place.stat, place.instance
        instance = self._instances.get(key)
        known = None if instance is None else instance.last.get(place.column)
        if known is None and self._n_series >= MAX_SERIES:
            return TOO_MANY
        total = self._totals.get(place.stat)
        if instance is None:
            instance = self._instances[key] = InstanceState()
            if total is not None and place.instance != total.instance:
                total.add_member(place.instance, tick)
        if total is not None:
            total.newest = max(total.newest, tick)
        self._newest = max(self._newest, tick)
        if known is not None and known[0] == tick:
            return LineKind.IGNORED if known[1] == word else ANOTHER
        is_late = known is not None and tick < known[0]
        if is_late and place.is_rate and span is None:
            return LATE_COUNTER
        value: str | float | None = spell_out(word)
        if place.is_rate:
            value = self._rate(known, tick, float(word)) if span is None else float(word) / span * self.ticks
            value = None if value is None else value * place.factor
        if not is_late:
            self._n_series += known is None
            instance.last[place.column] = (tick, word)
        self._put(place, instance, tick, value, offset)
        return LineKind.SAMPLE

    def _put(self, place: SeriesPlace, instance: InstanceState, tick: int, value: str | float | None, offset: int) -> None:
        """Add the value to the row of its time, and complete whole rows."""
        row = instance.pending.get(tick)
        if row is None:
            if tick <= instance.done:
                # The row of that time is gone: the value has one of its own, and the next rows wait for its column.
                instance.columns.add(place.column)
                if value is not None:
                    self._add((place.stat, place.instance), tick, OpenRow(offset, {place.column: value}, {place.column}))
                return
            row = instance.pending[tick] = OpenRow(offset)
        row.arrived.add(place.column)
        if value is not None:
            row.values[place.column] = value
        if not instance.columns and len(instance.pending) > 1 and not self.waits_for_newer:
            # The first row has the columns that came before the second.
            self._complete(place, instance, min(instance.pending))
        is_single = place.stat in self.layout.single_stats
        if self.waits_for_newer and not is_single:
            while len(instance.pending) > MAX_OPEN_REPORTS:
                self._complete(place, instance, min(instance.pending))
        elif is_single or (instance.columns and row.arrived >= instance.columns):
            self._complete(place, instance, tick)
        elif len(instance.pending) > MAX_PENDING:
            first = min(instance.pending)
            instance.columns = set(instance.pending[first].arrived)
            self._complete(place, instance, first)

    def _complete(self, place: SeriesPlace, instance: InstanceState, tick: int) -> None:
        """Add the row and those before it."""
        for own_tick in sorted(own_tick for own_tick in instance.pending if own_tick <= tick):
            row = instance.pending.pop(own_tick)
            instance.columns |= row.arrived
            self._add((place.stat, place.instance), own_tick, row)
        instance.done = max(instance.done, tick)

    def _add_to_total(self, key: tuple[str, str], tick: int, row: OpenRow) -> None:
        name, instance = key
        total = self._totals.get(name)
        if total is None or instance == total.instance:
            return
        waiting = total.find_open(tick)
        if waiting is not None:
            waiting.add(instance, row.values, row.offset)
            if total.is_complete(tick, is_end=False):
                self._add_total(name, tick)

    def end_request(self) -> None:
        """Add the means of complete times: all of the request was read."""
        for stat, total in self._totals.items():
            for tick in [own_tick for own_tick in sorted(total.pending) if total.is_complete(own_tick, is_end=True)]:
                self._add_total(stat, tick)

    def _add_total(self, stat: str, tick: int) -> None:
        total = self._totals[stat]
        total.done = max(total.done, tick)
        row = total.pending.pop(tick)
        means = row.make_means()
        self._add((stat, total.instance), tick, OpenRow(row.offset, means, set(means)), is_mean=True)

    def _work_out(self, stat: str, found: dict[str, str | float]) -> None:
        """Add the columns that follow from others of the row."""
        for mean in self._means[stat]:
            of, by = found.get(mean.of), found.get(mean.by)
            if isinstance(of, float) and isinstance(by, float) and by > 0:
                found[mean.column] = of / by * mean.factor
        for own in self._used[stat]:
            size, free, left = (float(found.get(column, "nan")) for column in (own.size, own.free, own.left))
            used = size - free
            if own.column and used >= 0:
                found[own.column] = used
            if used >= 0 and left >= 0 and used + left > 0:
                found[own.share] = 100 * used / (used + left)
        self._work_out_shares(stat, found)

    def _work_out_shares(self, stat: str, found: dict[str, str | float]) -> None:
        """Add shares of several columns, and drop values without a meaning."""
        for share in self._shares[stat]:
            whole = sum(float(found[column]) for column in (share.of, *share.rest) if column in found)
            if share.of in found and any(column in found for column in share.rest) and whole > 0:
                found[share.column] = 100 * float(found[share.of]) / whole
        idle = self._idle.get(stat)
        if idle is not None and idle.column not in found and all(column in found for column in idle.of):
            found[idle.column] = max(0.0, 100 - sum(float(value) for column, value in found.items() if column.startswith("%")))
        for need in self._needs[stat]:
            if need.column in found and float(found.get(need.by, "0")) <= 0:
                del found[need.column]

    def _add(self, key: tuple[str, str], tick: int, row: OpenRow, *, is_mean: bool = False) -> None:
        self._add_to_total(key, tick, row)
        name, instance = key
        of = None if is_mean else self._sums.get(key)
        found = row.values if of is None else _shares_of(row.values, of)
        if not found:
            return
        self._work_out(name, found)
        # In the order of their names: the order in which they came is chance.
        columns = tuple(sorted(found))
        stat = self.stat(name)
        fields = self._fields_for(stat, columns)
        words = [
            format(value, f".{field.decimals}f") if isinstance(value, float) else value
            for field, value in zip(fields, (found[column] for column in columns), strict=True)
        ]
        numbers = [read_number(word, field) or (float(word), False) for word, field in zip(words, fields, strict=True)]
        is_canonical = all(is_own or isinstance(found[column], float) for (_, is_own), column in zip(numbers, columns, strict=True))
        printed = None if is_canonical else " ".join(words)
        builder = self.builder(stat, fields, is_since_boot=False)
        builder.add(Row([float(number) for number, _ in numbers], (), printed), tick * (MICRO // self.ticks), instance, row.offset)

    def _fields_for(self, stat: Stat, columns: tuple[str, ...]) -> tuple[Field, ...]:
        key = stat.name, columns
        fields = self._known_fields.get(key)
        if fields is None:
            fields = self._known_fields[key] = fields_of(stat, [("", column) for column in columns], by_group=False)
        return fields

    def _rate(self, known: tuple[int, str] | None, tick: int, value: float) -> float | None:
        """Return the growth per second. Missing: None for a first sample, and for a counter that went back."""
        if known is None:
            return None
        growth = value - float(known[1])
        return growth / (tick - known[0]) * self.ticks if growth >= 0 and math.isfinite(growth) else None


def _shares_of(values: dict[str, str | float], of: Sequence[str]) -> dict[str, str | float]:
    """Return times as shares of their sum, in percent. Missing: {} where one is missing that they all need, or nothing passed."""
    total = sum(float(value) for value in values.values())
    if total <= 0 or not all(column in values for column in of):
        return {}
    return {column: 100 * float(value) / total for column, value in values.items()}


def _to_state(instance: InstanceState) -> list[object]:
    pending = [[tick, row.offset, row.values, sorted(row.arrived)] for tick, row in instance.pending.items()]
    last = {column: [tick, word] for column, (tick, word) in instance.last.items()}
    return [instance.done, sorted(instance.columns), last, pending]


def _instance_of(state: list[object]) -> InstanceState:
    done, columns, last, pending = state
    instance = InstanceState()
    assert isinstance(done, int)
    assert isinstance(columns, list)
    assert isinstance(last, dict)
    assert isinstance(pending, list)
    instance.done = done
    instance.columns = set(columns)
    instance.last = {column: (tick, word) for column, (tick, word) in last.items()}
    instance.pending = {tick: OpenRow(offset, values, set(arrived)) for tick, offset, values, arrived in pending}
    return instance
