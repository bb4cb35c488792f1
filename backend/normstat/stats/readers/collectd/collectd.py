"""Values of collectd: lines of PUTVAL, and the JSON of the plugins write_http and write_log.

    PUTVAL "web1/disk-sda/disk_ops" interval=10.000 1795879271.489:1048:2211
    [{"values":[1048,2211],"dstypes":["derive","derive"],"dsnames":["read","write"],"time":1795879271.489,"interval":10.000,
      "host":"web1","plugin":"disk","plugin_instance":"sda","type":"disk_ops","type_instance":""}]        (one line)

The files of the csv plugin hold one series each, whose name is that of the file. An import makes lines of PUTVAL of them, with an
option of its own: `csv=read,write` are the columns of the file, where a whole number is a counter and any other one has a point.

A series belongs to the first group (engine/named_series.py) that knows its name, `PLUGIN/INSTANCE/TYPE-INSTANCE/VALUE`, without
`/value` where a type has but one. Any other one goes to a general stat. A plugin gives its values within some milliseconds: they
are one row, at the time of the first of them. Counters become rates; where collectd was told to store rates itself (StoreRates), a
fraction in one of them shows that, and they are taken as they are.

Keys of `[layout]`: those of engine/single_series.py and engine/named_series.py, and
    types      "TYPE NAME NAME...": names of the values of a type, in their order; without: `value`
    derived    pattern of the types that are counters
    ignored    pattern of lines that are no values: what else collectd writes to its log

Source: collectd-unixsock(5), collectd.conf(5), types.db(5); utils/format_json of collectd 5.12.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.series.recorded_series import NO_JSON, RecordedSeriesReader, SeriesGroup, find_place, read_json
from normstat.stats.engine.series.single_series import NO_NUMBER, ODD_TIME, SeriesLayout, SeriesPlace, to_finite
from normstat.stats.layout import AnyPattern
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Stat

MILLI: Final = 1000
# Reports of a plugin that may still get values: requests of several write threads overtake each other.
MAX_REPORTS: Final = 4
MAX_PLUGINS: Final = 500
# How far the values of a report are apart, where no interval is known; at most, however long the interval is.
USUAL_SPREAD_MS: Final = 500
MAX_SPREAD_MS: Final = 5000

PUTVAL: Final = re.compile(
    r"PUTVAL\s+(?:\"(?P<quoted>(?:[^\"\\]|\\.)+)\"|(?P<plain>\S+))(?P<options>(?:\s+[\w:]+=(?:\"(?:[^\"\\]|\\.)*\"|\S*))*)"
    r"(?P<values>(?:\s+\S+)+)\s*",
    re.IGNORECASE,
)
OPTION: Final = re.compile(r"(?P<key>[\w:]+)=(?P<value>\"(?:[^\"\\]|\\.)*\"|\S*)")
SAMPLE: Final = re.compile(r"(?P<time>\d{1,11}(?:\.\d+)?)(?P<values>(?::[^:\s]+)+)", re.ASCII)
COUNTED: Final = re.compile(r"[-+]?\d+")
ESCAPE: Final = re.compile(r"\\(.)")
UNKNOWN: Final = ("U", "u", "nan", "-nan", "NaN", "null")

NO_LINE: Final = Rejected("not a line of collectd: expected PUTVAL, or the JSON of write_http or write_log")
NO_SERIES: Final = Rejected("no series: expected HOST/PLUGIN-INSTANCE/TYPE-INSTANCE")
NO_SAMPLE: Final = Rejected("no value: expected SECONDS:VALUE")
NO_NAMES: Final = Rejected("another number of values than the type has")


# Compared by identity: it is part of a key.
@dataclass(frozen=True, eq=False)
class CollectdLayout(SeriesLayout):
    """The keys that the module's docstring explains."""

    groups: tuple[SeriesGroup, ...] = ()
    types: tuple[str, ...] = ()
    derived: AnyPattern = None
    ignored: AnyPattern = None

    def validate(self, stats: Sequence[Stat]) -> None:  # noqa: ARG002 (the key is looked at, not the stats)
        """Require a name or more."""
        for number, text in enumerate(self.types):
            if len(text.split()) < 2:
                raise ValueError(f"types[{number}]: must be a type and the names of its values")


LAYOUT: Final = CollectdLayout


class Sample(NamedTuple):
    """The values of a series at a time. `counters` says of each whether it counts; `spread_ms`: 0 for an unknown interval."""

    host: str
    plugin: str
    instance: str
    type: str
    time: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    counters: tuple[bool, ...]
    spread_ms: int


class Reader(RecordedSeriesReader[CollectdLayout]):
    """One call of the reader."""

    ticks = MILLI

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        own = unpack_state(own)
        reports = own.get("reports")
        self._stores_rates = own.get("rates") is True
        # The newest reports of each plugin, by the time of their first value, oldest first.
        self._reports: dict[str, list[int]] = {}
        for plugin, times in reports.items() if isinstance(reports, dict) else ():
            self._reports[plugin] = [int(time) for time in times]
        self._names = {text.split()[0]: tuple(text.split()[1:]) for text in self.layout.types}
        self._places: dict[tuple[str, bool], SeriesPlace] = {}
        self.load_recorded(own)

    def save(self) -> State:
        """Return the state for the next piece."""
        return pack_state({"rates": self._stores_rates, "reports": self._reports, **self.save_recorded()})

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after adding the rows that it completes."""
        text = line.text.strip()
        if text.startswith(("[{", "{")):
            return self._take_json(text, line.offset)
        found = PUTVAL.fullmatch(text)
        if found is not None:
            return self._take_putval(found, line.offset)
        is_known = not text or (self.layout.ignored is not None and self.layout.ignored.fullmatch(text) is not None)
        return LineKind.IGNORED if is_known else NO_LINE

    # Internals.

    def _take_json(self, text: str, offset: int) -> Outcome:
        """Take the values of a request; a line that has a bad one is rejected, and its good ones are samples all the same."""
        found = read_json(text)
        if found is NO_JSON:
            return NO_JSON
        outcome: Outcome = LineKind.IGNORED
        for each in found if isinstance(found, list) else [found]:
            sample = _read_object(each)
            own = sample if isinstance(sample, Rejected) else self._take_sample(sample, offset)
            if isinstance(own, Rejected) or outcome is LineKind.IGNORED:
                outcome = own if not isinstance(outcome, Rejected) else outcome
        return outcome

    def _take_putval(self, found: re.Match[str], offset: int) -> Outcome:
        name = found["plain"] if found["quoted"] is None else ESCAPE.sub(r"\1", found["quoted"])
        parts = name.split("/")
        if len(parts) != 3 or not all(parts):
            return NO_SERIES
        options = {option["key"]: option["value"] for option in OPTION.finditer(found["options"])}
        plugin, _, instance = parts[1].partition("-")
        kind = parts[2]
        base = kind.partition("-")[0]
        outcome: Outcome = NO_SAMPLE
        for word in found["values"].split():
            item = SAMPLE.fullmatch(word)
            if item is None:
                return NO_SAMPLE
            words = tuple(item["values"][1:].split(":"))
            names = tuple(options["csv"].split(",")) if "csv" in options else self._names.get(base, ("value",))
            if len(names) != len(words):
                return NO_NAMES
            counters = tuple(
                self._is_counter(base, own, name, is_csv="csv" in options) for own, name in zip(words, names, strict=True)
            )
            spread_ms = _spread_of(options.get("interval", ""))
            sample = Sample(parts[0], plugin, instance, kind, item["time"], names, words, counters, spread_ms)
            outcome = self._take_sample(sample, offset)
        return outcome

    def _is_counter(self, kind: str, word: str, name: str, *, is_csv: bool) -> bool:
        if is_csv:
            return COUNTED.fullmatch(word) is not None
        derived = self.layout.derived
        return derived is not None and (derived.fullmatch(kind) is not None or derived.fullmatch(f"{kind}/{name}") is not None)

    def _take_sample(self, sample: Sample, offset: int) -> Outcome:
        if self.names_another_host(sample.host):
            return ANOTHER_HOST
        time_ms = round(float(sample.time) * MILLI)
        if self.is_odd_time(time_ms):
            return ODD_TIME
        tick = self._report_of(sample.plugin, time_ms, sample.spread_ms)
        outcome: Outcome = LineKind.IGNORED
        for name, word, is_counter in zip(sample.names, sample.words, sample.counters, strict=True):
            own = self._take_word(sample, name, word, tick, offset, is_counter=is_counter)
            if isinstance(own, Rejected):
                return own
            outcome = LineKind.SAMPLE if LineKind.SAMPLE in (own, outcome) else own
        return outcome

    def _take_word(self, sample: Sample, name: str, word: str, tick: int, offset: int, *, is_counter: bool) -> Outcome:
        if word in UNKNOWN:
            return LineKind.IGNORED
        number = to_finite(word)
        if number is None:
            return NO_NUMBER
        if is_counter and not number.is_integer():
            self._stores_rates = True
            self._places.clear()
        series = f"{sample.plugin}/{sample.instance}/{sample.type}" + ("" if name == "value" else f"/{name}")
        place = self._places.get((series, is_counter))
        if place is None:
            place = self._places[series, is_counter] = self._place(series, is_rate=is_counter and not self._stores_rates)
        return self.take_value(place, tick, _scaled(word, number, place), None, offset)

    def _place(self, series: str, *, is_rate: bool) -> SeriesPlace:
        """Return where the values of a series go."""
        found = find_place(self.layout.groups, series, is_rate=is_rate)
        if found is not None:
            return found[0]
        plugin, _, rest = series.partition("/")
        instance, _, rest = rest.partition("/")
        name = f"{plugin}-{instance}/{rest}" if instance else f"{plugin}/{rest}"
        if is_rate:
            return SeriesPlace(self.layout.counters, name, "value/s", is_rate=True, factor=1.0)
        return SeriesPlace(self.layout.gauges, name, "value", is_rate=False, factor=1.0)

    def _report_of(self, plugin: str, time_ms: int, spread_ms: int) -> int:
        """Return the time of the report that the value belongs to: of the plugin's report that began next to it, else its own."""
        times = self._reports.get(plugin)
        if times is None:
            if len(self._reports) >= MAX_PLUGINS:
                del self._reports[next(iter(self._reports))]
            times = self._reports[plugin] = []
        if not spread_ms:
            spread_ms = min(MAX_SPREAD_MS, (times[-1] - times[-2]) // 2) if len(times) > 1 else USUAL_SPREAD_MS
        near = min(times, key=lambda time: abs(time_ms - time), default=None)
        if near is not None and abs(time_ms - near) < spread_ms:
            return near
        self._reports[plugin] = sorted([*times, time_ms])[-MAX_REPORTS:]
        return time_ms


def _scaled(word: str, number: float, place: SeriesPlace) -> str:
    """Return a value in its column's unit; the growth of a counter is scaled where it is worked out."""
    return word if place.is_rate or place.factor == 1 else repr(number * place.factor)


def _spread_of(interval: str) -> int:
    """Return half of an interval in seconds, within bounds. Missing: 0 for an unknown one

    Units: milliseconds
    """
    try:
        seconds = float(interval)
    except ValueError:
        return 0
    return min(MAX_SPREAD_MS, int(seconds * MILLI / 2)) if seconds > 0 else 0


def _read_object(found: object) -> Sample | Rejected:
    """Return the values of an object of write_http or write_log, or why it cannot be read."""
    if not isinstance(found, dict):
        return NO_LINE
    host, plugin, kind, time = (found.get(key) for key in ("host", "plugin", "type", "time"))
    values, types, names = (found.get(key) for key in ("values", "dstypes", "dsnames"))
    if not (isinstance(values, list) and isinstance(types, list) and isinstance(names, list)):
        return NO_SAMPLE
    if not (isinstance(host, str) and isinstance(plugin, str) and isinstance(kind, str) and plugin and kind):
        return NO_SERIES
    if not len(values) == len(types) == len(names):
        return NO_NAMES
    if not isinstance(time, str) or SAMPLE.fullmatch(f"{time}:0") is None:
        return NO_SAMPLE
    type_instance = found.get("type_instance") or ""
    return Sample(
        host=host,
        plugin=plugin,
        instance=str(found.get("plugin_instance") or ""),
        type=f"{kind}-{type_instance}" if type_instance else kind,
        time=time,
        names=tuple(str(name) for name in names),
        words=tuple("null" if value is None else str(value) for value in values),
        counters=tuple(str(name) in ("derive", "counter") for name in types),
        spread_ms=_spread_of(str(found.get("interval", ""))),
    )
