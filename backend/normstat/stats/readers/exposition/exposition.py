"""Samples in the Prometheus text format, with times: what remote-write and OTLP bring, and files of exporters.

    # TYPE node_disk_reads_completed_total counter
    node_disk_reads_completed_total{device="sda",instance="web1:9100",job="node"} 1234 1795262400000
    node_disk_read_bytes_total{device="sda",instance="web1:9100",job="node"} 55808 1795262400000

A metric belongs to the first of the layout's groups whose pattern its name matches: that says stat, instance and column. Any other
one goes to a general stat, where the instance is the series. All samples of a stat and instance at one time are one row, in any
order. Counters become rates (docs/adr/0018-rates-at-reading.md): one that went back says nothing for that interval.

Keys of `[layout]`:
    groups         stat, `names` (pattern of the metric's name; its group `column` is the column's stem), `labels` (those that are
                   the instance), `pivot` (labels; the value of the first that is there completes the column; then comes the group
                   `suffix` of `names`), `whole` (the instance of a series without these labels),
                   `counters` (untyped names are counters)
    in_flight      `name` of a counter of seconds and `column`: its rate is how many were in flight on average, no share of the time
    distributions, buckets    the stats of histograms; `counters`, `gauges`, `means`, `used`, `totals`: engine/single_series.py
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
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.series.exposition_line import STALE, ExpositionLine, format_series, parse_line, parse_series
from normstat.stats.engine.series.single_series import NO_NUMBER, ODD_TIME, SeriesLayout, SeriesPlace, SeriesReader
from normstat.stats.layout import AnyPattern, StatName
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Stat

MILLI: Final = 1000
MAX_TYPES: Final = 5000
# A sender repeats a request at once, before newer ones of the same series.
MAX_BATCHES: Final = 64
CACHED: Final = 65_536

COMMENT: Final = re.compile(r"#[ \t]*(?P<word>[A-Z]+)[ \t]+(?P<name>\S+)(?:[ \t]+(?P<rest>.*))?")
TYPES: Final = frozenset({"counter", "gauge", "histogram", "summary", "gaugehistogram", "info", "stateset", "unknown", "untyped"})
NO_LINE: Final = Rejected("not a line of the Prometheus text format")
NO_TIME: Final = Rejected("no time: expected `name{labels} value milliseconds`")
INFINITE: Final = Rejected("the value is infinite, which no column can hold")
EMPTY_SPAN: Final = Rejected("an increase whose begin is not before its end")
# Labels that are never part of an instance: the host. A port distinguishes two exporters of a host.
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
    pivot: tuple[str, ...] = ()
    whole: str = ""
    counters: bool = False


@dataclass(frozen=True)
class InFlight:
    """A counter that grows by a second for each request in flight."""

    name: str
    column: str


# Compared by identity: it is part of a key.
@dataclass(frozen=True, eq=False)
class ExpositionLayout(SeriesLayout):
    """The keys that the module's docstring explains."""

    groups: tuple[MetricGroup, ...] = ()
    distributions: StatName = ""
    buckets: StatName = ""
    in_flight: tuple[InFlight, ...] = ()
    ignored: AnyPattern = None

    @property
    def single_stats(self) -> tuple[str, ...]:
        """The stats whose rows have one column."""
        return self.counters, self.gauges, self.buckets

    def validate(self, stats: Sequence[Stat]) -> None:  # noqa: ARG002 (the key is looked at, not the stats)
        """Require the group of the column."""
        for number, group in enumerate(self.groups):
            if "column" not in group.names.groupindex:
                raise ValueError(f"groups[{number}].names: has no group (?P<column>...)")


LAYOUT: Final = ExpositionLayout


class Reader(SeriesReader[ExpositionLayout]):
    """One call of the reader. A row appears as soon as it has the columns of the one before."""

    may_be_quoted = False
    ticks = MILLI

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        own = unpack_state(own)
        types = own.get("types")
        self._types = {str(name): str(word) for name, word in types.items()} if isinstance(types, dict) else {}
        self._batches = texts_of(own.get("batches"))
        self._is_repeated = own.get("repeated") is True
        self.load_series(own)

    def load_after_gap(self, own: State) -> None:
        """Keep everything: counters know the time of their last sample, however many were lost since."""
        self.load(own)

    def save(self) -> State:
        """Return the state for the next piece."""
        return pack_state(
            {
                "types": self._types,
                "batches": self._batches,
                "repeated": self._is_repeated,
                **self.save_series(),
            }
        )

    def begin_call(self) -> None:
        """Do nothing: each line has its own time."""

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after adding the rows that it completes."""
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
        if self.is_odd_time(words.time_ms):
            return ODD_TIME
        kind = self._kind(name, dict(labels), is_increase=words.since_ms is not None)
        return self._take_sample(place_series(self.layout, words.series, kind), words, words.time_ms, line.offset)

    # Internals.

    def _take_sample(self, place: SeriesPlace, words: ExpositionLine, time_ms: int, offset: int) -> Outcome:
        if words.value == STALE:
            self.end_series(place)
            return LineKind.STATE_CHANGE
        try:
            value = float(words.value)
        except ValueError:
            return NO_NUMBER
        if math.isnan(value):
            # NaN, which some exporters print for quantiles without samples.
            return LineKind.IGNORED
        if math.isinf(value):
            return INFINITE
        span_ms = None if words.since_ms is None else time_ms - words.since_ms
        if span_ms is not None and span_ms <= 0:
            return EMPTY_SPAN
        return self.take_value(place, time_ms, words.value, span_ms, offset)

    def _take_comment(self, text: str) -> Outcome:
        found = COMMENT.fullmatch(text)
        if found is None:
            return LineKind.HEADER
        word, name, rest = found["word"], found["name"], (found["rest"] or "").strip()
        if word == "REFUSED":
            return LineKind.IGNORED if self._is_repeated else Rejected(f"{name} {rest}".partition(": ")[0][:200])
        if word == "BATCH":
            self.end_request()
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
            pivot = next((values[label] for label in group.pivot if label in values), None)
            if found is not None and (not group.pivot or pivot is not None):
                stem = (found["column"] or "") + (pivot or "") + (found.groupdict().get("suffix") or "")
                instance = " ".join(values[label] for label in group.labels if values.get(label)) or group.whole
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
