"""Samples in the Prometheus text format, with times: what remote-write and OTLP bring, and files of exporters.

    # TYPE node_disk_reads_completed_total counter
    node_disk_reads_completed_total{device="sda",instance="web1:9100",job="node"} 1234 1795262400000
    node_disk_read_bytes_total{device="sda",instance="web1:9100",job="node"} 55808 1795262400000

A metric belongs to the first of the layout's groups whose pattern its name matches: that says stat, instance and column. Any other
one goes to a general stat, where the instance is the series. All samples of a stat and instance at one time are one row, in any
order. Counters become rates (docs/adr/0018-rates-at-reading.md): one that went back says nothing for that interval.

Keys of `[layout]`:
    groups         stat, `names` (pattern of the metric's name; its group `column` is the column's stem), `labels` (those that are
                   the instance), `pivot` (the label whose value completes the column), `counters` (untyped names are counters)
    means          stat, `column`, `of`, `by`, `factor`: quotients of two rates of a row
    used           stat, `column`, `share`, `size`, `free`, `left`: what is in use, and its share of what programs may use, as df
    in_flight      `name` of a counter of seconds and `column`: its rate is how many were in flight on average, no share of the time
    totals         stat, `instance`: the mean of all instances at a time, once all have come (the CPUs of a host)
    counters, gauges, distributions, buckets    the stats of all other metrics
    ignored        pattern of names that have no samples

Lines that a receiver adds: `# BATCH digest` before the samples of one request (one that is known was sent again, and is skipped),
`# REFUSED reason: series` for a sample that it could not write.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> line = 'node_disk_read_bytes_total{{device="sda"}} {} {}\\n'
>>> text = "".join(line.format(value, 1795262400000 + 15000 * n) for n, value in enumerate((1000, 16000, 16000)))
>>> block = read(require_spec("prometheus"), text.encode(), state={}, offset=0, is_final=True).blocks[0]
>>> block.stat.name, list(block.instances), [field.key for field in block.fields], block.values[0].tolist()
('node_disk', ['sda', 'sda'], ['read_bytes_per_s'], [1000.0, 0.0])
"""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from normstat.stats.engine.block import Row
from normstat.stats.engine.exposition_line import STALE, ExpositionLine, format_series, parse_line, parse_series
from normstat.stats.engine.exposition_totals import StatTotal
from normstat.stats.engine.header import fields_of
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.report_numbers import spell_out
from normstat.stats.layout import AnyPattern, StatName
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Field, Layout, Stat

MILLI: Final = 1000
# The year 2200: what is beyond does not fit the tables.
LATEST_MS: Final = 7_258_118_400_000
# What a stream remembers of counters: a host of node_exporter has about 1000 series, one of kube-state-metrics some ten thousand.
MAX_SERIES: Final = 50_000
MAX_TYPES: Final = 5000
# A sender repeats a request at once, before newer ones of the same series.
MAX_BATCHES: Final = 64
# Rows of an instance that wait for their last columns: requests may overtake each other.
MAX_PENDING: Final = 3
# Series without a sample for so long are forgotten; their next one is like a first.
FORGOTTEN_MS: Final = 3_600_000
CACHED: Final = 65_536

COMMENT: Final = re.compile(r"#[ \t]*(?P<word>[A-Z]+)[ \t]+(?P<name>\S+)(?:[ \t]+(?P<rest>.*))?")
TYPES: Final = frozenset({"counter", "gauge", "histogram", "summary", "gaugehistogram", "info", "stateset", "unknown", "untyped"})
NO_LINE: Final = Rejected("not a line of the Prometheus text format")
NO_TIME: Final = Rejected("no time: expected `name{labels} value milliseconds`")
ODD_TIME: Final = Rejected("the time is not between the years 1970 and 2199")
NO_NUMBER: Final = Rejected("the value is not a number")
INFINITE: Final = Rejected("the value is infinite, which no column can hold")
ANOTHER: Final = Rejected(
    "another value of the series at the same time: two senders for one host, or labels that do not tell them apart"
)
LATE_COUNTER: Final = Rejected("out of order: a later sample of the counter was read before, so that it gives no rate")
TOO_MANY: Final = Rejected(f"more than {MAX_SERIES} series of one host and sender")
EMPTY_SPAN: Final = Rejected("an increase whose begin is not before its end")
# Labels that are never part of an instance: the host. A port tells two exporters of a host apart.
HOST_LABEL: Final = "instance"
OTEL_HOST_LABEL: Final = "host.name"
PORT: Final = re.compile(r".*:(?P<port>[0-9]{1,5})", re.ASCII)
NOT_A_LETTER: Final = re.compile(r"[^a-zA-Z%]")


class SeriesKind(StrEnum):
    """The kind of a series."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUM = "sum"
    COUNT = "count"
    BUCKET = "bucket"


@dataclass(frozen=True)
class MetricGroup:
    """Metrics of one stat; the module's docstring explains the keys."""

    stat: StatName
    names: re.Pattern[str]
    labels: tuple[str, ...] = ()
    pivot: str = ""
    counters: bool = False


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
    """What is in use, of columns of a row: `size` less `free`; its `share` is of that and of what is `left` for programs."""

    stat: StatName
    share: str
    size: str
    free: str
    left: str
    column: str = ""


@dataclass(frozen=True)
class InFlight:
    """A counter that grows by a second for each request in flight."""

    name: str
    column: str


@dataclass(frozen=True)
class Total:
    """An instance that holds the means of all others of its stat."""

    stat: StatName
    instance: str


# Compared by identity: it is part of a key.
@dataclass(frozen=True, eq=False)
class ExpositionLayout(Layout):
    """The keys that the module's docstring explains."""

    groups: tuple[MetricGroup, ...]
    counters: StatName
    gauges: StatName
    distributions: StatName
    buckets: StatName
    means: tuple[Mean, ...] = ()
    used: tuple[Used, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    totals: tuple[Total, ...] = ()
    ignored: AnyPattern = None

    def validate(self, stats: Sequence[Stat]) -> None:  # noqa: ARG002 (the key is looked at, not the stats)
        """Require the group of the column."""
        for number, group in enumerate(self.groups):
            if "column" not in group.names.groupindex:
                raise ValueError(f"groups[{number}].names: has no group (?P<column>...)")


LAYOUT: Final = ExpositionLayout


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
    """What is known of an instance of a stat: the last sample of each column, and rows that are not complete."""

    __slots__ = ("columns", "done_ms", "last", "pending")

    def __init__(self) -> None:
        # Time of the last complete row, -1 for none, and the columns that rows have.
        self.done_ms = -1
        self.columns: set[str] = set()
        self.last: dict[str, tuple[int, str]] = {}
        self.pending: dict[int, OpenRow] = {}


class Reader(LineReader[ExpositionLayout]):
    """One call of the reader. A row appears as soon as it has the columns of the one before."""

    may_be_quoted = False

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        own = unpack_state(own)
        types, batches, instances = own.get("types"), own.get("batches"), own.get("instances")
        self._types = {str(name): str(word) for name, word in types.items()} if isinstance(types, dict) else {}
        self._batches = [str(batch) for batch in batches] if isinstance(batches, list) else []
        self._is_repeated = own.get("repeated") is True
        newest = own.get("newest")
        self._newest_ms = newest if isinstance(newest, int) else -1
        self._instances: dict[tuple[str, str], InstanceState] = {}
        for stat, name, *rest in instances if isinstance(instances, list) else ():
            self._instances[stat, name] = _instance_of(rest)
        self._n_series = sum(len(instance.last) for instance in self._instances.values())
        self._known_fields: dict[tuple[str, tuple[str, ...]], tuple[Field, ...]] = {}
        self._totals = {total.stat: StatTotal(total.instance) for total in self.layout.totals}
        totals = own.get("totals")
        for stat, state in totals.items() if isinstance(totals, dict) else ():
            if stat in self._totals:
                self._totals[stat].load(state, {name for own_stat, name in self._instances if own_stat == stat})
        self._used = {stat: [used for used in self.layout.used if used.stat == stat] for stat in self._stats}
        self._means = {stat: [mean for mean in self.layout.means if mean.stat == stat] for stat in self._stats}

    def load_after_gap(self, own: State) -> None:
        """Keep everything: what was lost are samples like others, and the times of counters tell how long ago the last one was."""
        self.load(own)

    def save(self) -> State:
        """Return the state for the next piece."""
        begin_ms = self._newest_ms - FORGOTTEN_MS
        return pack_state(
            {
                "types": self._types,
                "batches": self._batches,
                "repeated": self._is_repeated,
                "newest": self._newest_ms,
                "totals": {stat: total.to_state() for stat, total in self._totals.items() if total.members},
                "instances": [
                    [*key, *_to_state(instance)]
                    for key, instance in self._instances.items()
                    if instance.pending or max(time_ms for time_ms, _ in instance.last.values()) >= begin_ms
                ],
            }
        )

    def begin_call(self) -> None:
        """Do nothing: the lines say their times themselves."""

    def finish(self) -> None:
        """Add the rows that wait for more columns: the stream has ended."""
        for key, instance in self._instances.items():
            for time_ms in sorted(instance.pending):
                self._add(key, time_ms, instance.pending.pop(time_ms))
        self._end_request()

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding what it completes."""
        text = line.text
        if text.startswith("#"):
            return self._take_comment(text)
        if not text.strip() or self._is_repeated:
            return LineKind.IGNORED
        words = parse_line(text)
        series = None if words is None else parse_series(words.series)
        if words is None or series is None:
            return NO_LINE
        name, labels = series
        if self.layout.ignored is not None and self.layout.ignored.fullmatch(name) is not None:
            return LineKind.IGNORED
        if words.time_ms is None:
            return NO_TIME
        if not 0 <= words.time_ms < LATEST_MS:
            return ODD_TIME
        kind = self._kind(name, dict(labels), is_increase=words.since_ms is not None)
        return self._take_sample(place_series(self.layout, words.series, kind), words, words.time_ms, line.offset)

    # Internals.

    def _take_sample(self, place: SeriesPlace, words: ExpositionLine, time_ms: int, offset: int) -> Outcome:
        if words.value == STALE:
            self._end_series(place)
            return LineKind.STATE_CHANGE
        try:
            value = float(words.value)
        except ValueError:
            return NO_NUMBER
        if math.isnan(value):
            # No value, which some exporters say of the quantiles of nothing.
            return LineKind.IGNORED
        if math.isinf(value):
            return INFINITE
        span_ms = None if words.since_ms is None else time_ms - words.since_ms
        if span_ms is not None and span_ms <= 0:
            return EMPTY_SPAN
        return self._take_value(place, time_ms, words.value, span_ms, offset)

    def _take_comment(self, text: str) -> Outcome:
        found = COMMENT.fullmatch(text)
        if found is None:
            return LineKind.HEADER
        word, name, rest = found["word"], found["name"], (found["rest"] or "").strip()
        if word == "REFUSED":
            return LineKind.IGNORED if self._is_repeated else Rejected(f"{name} {rest}".partition(": ")[0][:200])
        if word == "BATCH":
            self._end_request()
            self._is_repeated = name in self._batches
            if not self._is_repeated:
                self._batches = [*self._batches[1 - MAX_BATCHES :], name]
        elif word == "TYPE" and rest in TYPES:
            self._learn(name, rest)
        return LineKind.HEADER

    def _learn(self, name: str, kind: str) -> None:
        if kind in ("unknown", "untyped") or self._types.get(name) == kind:
            return
        if len(self._types) >= MAX_TYPES:
            del self._types[next(iter(self._types))]
        self._types[name] = kind

    def _kind(self, name: str, labels: dict[str, str], *, is_increase: bool) -> SeriesKind:
        """Return the kind of a series: what its type says, or else its name. Buckets and quantiles tell that of their family."""
        known = self._types.get(name)
        base, _, suffix = name.rpartition("_")
        if suffix == "bucket" and "le" in labels:
            self._learn(base, "histogram")
            return SeriesKind.BUCKET
        if known == "counter":
            return SeriesKind.COUNTER
        if "quantile" in labels:
            self._learn(name, "summary")
            return SeriesKind.GAUGE
        if suffix in ("sum", "count") and self._types.get(base) in ("histogram", "summary"):
            return SeriesKind.SUM if suffix == "sum" else SeriesKind.COUNT
        if known in ("gauge", "info", "stateset"):
            return SeriesKind.GAUGE
        is_counter = is_increase or suffix == "total" or (self._types.get(base) == "counter" and suffix != "created")
        return SeriesKind.COUNTER if is_counter or is_group_counter(self.layout, name) else SeriesKind.GAUGE

    def _end_series(self, place: SeriesPlace) -> None:
        """Forget the last sample: what comes after the end is like a first one."""
        instance = self._instances.get((place.stat, place.instance))
        if instance is None:
            return
        if instance.last.pop(place.column, None) is not None:
            self._n_series -= 1
        instance.columns.discard(place.column)
        for time_ms in sorted(instance.pending):
            if instance.pending[time_ms].arrived >= instance.columns:
                self._complete(place, instance, time_ms)
        if not instance.last and not instance.pending:
            del self._instances[place.stat, place.instance]
            if place.stat in self._totals:
                self._totals[place.stat].members.pop(place.instance, None)

    def _take_value(self, place: SeriesPlace, time_ms: int, word: str, span_ms: int | None, offset: int) -> Outcome:
        key = place.stat, place.instance
        instance = self._instances.get(key)
        known = None if instance is None else instance.last.get(place.column)
        if known is None and self._n_series >= MAX_SERIES:
            return TOO_MANY
        total = self._totals.get(place.stat)
        if instance is None:
            instance = self._instances[key] = InstanceState()
            if total is not None:
                total.add_member(place.instance, time_ms)
        if total is not None:
            total.newest_ms = max(total.newest_ms, time_ms)
        self._newest_ms = max(self._newest_ms, time_ms)
        if known is not None and known[0] == time_ms:
            return LineKind.IGNORED if known[1] == word else ANOTHER
        is_late = known is not None and time_ms < known[0]
        if is_late and place.is_rate and span_ms is None:
            return LATE_COUNTER
        value: str | float | None = spell_out(word)
        if place.is_rate:
            value = _rate(known, time_ms, float(word)) if span_ms is None else float(word) / span_ms * MILLI
            value = None if value is None else value * place.factor
        if not is_late:
            self._n_series += known is None
            instance.last[place.column] = (time_ms, word)
        self._put(place, instance, time_ms, value, offset)
        return LineKind.SAMPLE

    def _put(self, place: SeriesPlace, instance: InstanceState, time_ms: int, value: str | float | None, offset: int) -> None:
        """Add the value to the row of its time, and complete rows that lack nothing."""
        row = instance.pending.get(time_ms)
        if row is None:
            if time_ms <= instance.done_ms:
                # The row of that time is gone: the value has one of its own, and the next rows wait for its column.
                instance.columns.add(place.column)
                if value is not None:
                    self._add((place.stat, place.instance), time_ms, OpenRow(offset, {place.column: value}, {place.column}))
                return
            row = instance.pending[time_ms] = OpenRow(offset)
        row.arrived.add(place.column)
        if value is not None:
            row.values[place.column] = value
        if not instance.columns and len(instance.pending) > 1:
            # The first row has the columns that came before the second.
            self._complete(place, instance, min(instance.pending))
        is_single = place.stat in (self.layout.counters, self.layout.gauges, self.layout.buckets)
        if is_single or (instance.columns and row.arrived >= instance.columns):
            self._complete(place, instance, time_ms)
        elif len(instance.pending) > MAX_PENDING:
            first_ms = min(instance.pending)
            instance.columns = set(instance.pending[first_ms].arrived)
            self._complete(place, instance, first_ms)

    def _complete(self, place: SeriesPlace, instance: InstanceState, time_ms: int) -> None:
        """Add the row and those before it."""
        for own_ms in sorted(own_ms for own_ms in instance.pending if own_ms <= time_ms):
            row = instance.pending.pop(own_ms)
            instance.columns |= row.arrived
            self._add((place.stat, place.instance), own_ms, row)
        instance.done_ms = max(instance.done_ms, time_ms)

    def _add_to_total(self, key: tuple[str, str], time_ms: int, row: OpenRow) -> None:
        name, instance = key
        total = self._totals.get(name)
        if total is None or instance == total.instance:
            return
        waiting = total.find_open(time_ms)
        if waiting is not None:
            waiting.add(instance, row.values, row.offset)
            if total.is_complete(time_ms, is_end=False):
                self._add_total(name, time_ms)

    def _end_request(self) -> None:
        """Add the means of times that lack nothing: what the request brought is known."""
        for stat, total in self._totals.items():
            for time_ms in [own_ms for own_ms in sorted(total.pending) if total.is_complete(own_ms, is_end=True)]:
                self._add_total(stat, time_ms)

    def _add_total(self, stat: str, time_ms: int) -> None:
        total = self._totals[stat]
        total.done_ms = max(total.done_ms, time_ms)
        row = total.pending.pop(time_ms)
        means = row.make_means()
        self._add((stat, total.instance), time_ms, OpenRow(row.offset, means, set(means)))

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

    def _add(self, key: tuple[str, str], time_ms: int, row: OpenRow) -> None:
        self._add_to_total(key, time_ms, row)
        if not row.values:
            return
        name, instance = key
        found = row.values
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
        builder.add(Row([float(number) for number, _ in numbers], (), printed), time_ms * MILLI, instance, row.offset)

    def _fields_for(self, stat: Stat, columns: tuple[str, ...]) -> tuple[Field, ...]:
        key = stat.name, columns
        fields = self._known_fields.get(key)
        if fields is None:
            fields = self._known_fields[key] = fields_of(stat, [("", column) for column in columns], by_group=False)
        return fields


@functools.lru_cache(CACHED)
def place_series(layout: ExpositionLayout, text: str, kind: SeriesKind) -> SeriesPlace:
    """Return where the samples of a series go; `text` is one that parse_series knows."""
    series = parse_series(text)
    assert series is not None
    name, labels = series
    values = dict(labels)
    if kind in (SeriesKind.COUNTER, SeriesKind.GAUGE):
        for group in layout.groups:
            found = group.names.fullmatch(name)
            if found is not None and (not group.pivot or group.pivot in values):
                stem = (found["column"] or "") + values.get(group.pivot, "")
                instance = " ".join(values[label] for label in group.labels if values.get(label))
                column = next((own.column for own in layout.in_flight if own.name == name), None)
                if column is not None:
                    return SeriesPlace(group.stat, instance, column, is_rate=kind is SeriesKind.COUNTER, factor=1.0)
                return _place(group.stat, instance, name, stem, is_rate=kind is SeriesKind.COUNTER)
    instance = _general_instance(name, values, kind)
    if kind is SeriesKind.COUNTER:
        return SeriesPlace(layout.counters, instance, "value/s", is_rate=True, factor=1.0)
    if kind is SeriesKind.BUCKET:
        return SeriesPlace(layout.buckets, instance, "value/s", is_rate=True, factor=1.0)
    if kind is SeriesKind.GAUGE:
        return SeriesPlace(layout.gauges, instance, "value", is_rate=False, factor=1.0)
    return SeriesPlace(layout.distributions, instance, f"{kind.value}/s", is_rate=True, factor=1.0)


def _place(stat: str, instance: str, name: str, stem: str, *, is_rate: bool) -> SeriesPlace:
    stem = stem.removesuffix("_total")
    if NOT_A_LETTER.match(stem) is not None:
        stem = f"x_{stem}"
    if not is_rate:
        return SeriesPlace(stat, instance, stem, is_rate=False, factor=1.0)
    if name.removesuffix("_total").endswith("seconds"):
        # Seconds per second are a share of the time.
        return SeriesPlace(stat, instance, f"%{stem.removesuffix('seconds').rstrip('_')}", is_rate=True, factor=100.0)
    return SeriesPlace(stat, instance, f"{stem}/s", is_rate=True, factor=1.0)


def _general_instance(name: str, labels: dict[str, str], kind: SeriesKind) -> str:
    """Return the series without the host; a port that its exporter listens on is a label of its own."""
    labels = dict(labels)
    port = PORT.fullmatch(labels.pop(HOST_LABEL, ""))
    labels.pop(OTEL_HOST_LABEL, None)
    if port is not None:
        labels.setdefault("port", port["port"])
    if kind in (SeriesKind.SUM, SeriesKind.COUNT):
        name = name.rpartition("_")[0]
    return format_series(name, sorted(labels.items()))


@functools.lru_cache(CACHED)
def is_group_counter(layout: ExpositionLayout, name: str) -> bool:
    """Return whether names without a type are counters in the group of this one."""
    return any(group.counters and group.names.fullmatch(name) is not None for group in layout.groups)


def _rate(known: tuple[int, str] | None, time_ms: int, value: float) -> float | None:
    """Return the growth per second. Missing: None for a first sample, and for a counter that went back."""
    if known is None:
        return None
    growth = value - float(known[1])
    return growth / (time_ms - known[0]) * MILLI if growth >= 0 and math.isfinite(growth) else None


def _to_state(instance: InstanceState) -> list[object]:
    pending = [[time_ms, row.offset, row.values, sorted(row.arrived)] for time_ms, row in instance.pending.items()]
    last = {column: [time_ms, word] for column, (time_ms, word) in instance.last.items()}
    return [instance.done_ms, sorted(instance.columns), last, pending]


def _instance_of(state: list[object]) -> InstanceState:
    done_ms, columns, last, pending = state
    instance = InstanceState()
    assert isinstance(done_ms, int)
    assert isinstance(columns, list)
    assert isinstance(last, dict)
    assert isinstance(pending, list)
    instance.done_ms = done_ms
    instance.columns = set(columns)
    instance.last = {column: (time_ms, word) for column, (time_ms, word) in last.items()}
    instance.pending = {time_ms: OpenRow(offset, values, set(arrived)) for time_ms, offset, values, arrived in pending}
    return instance
