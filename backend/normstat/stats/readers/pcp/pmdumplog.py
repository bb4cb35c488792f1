"""Archives of Performance Co-Pilot as text: `pmdumplog -xxx -d -m ARCHIVE`.

    PMID: 60.0.4 (disk.dev.read)
        Data Type: 64-bit unsigned int  InDom: 60.1 0xf000001
        Semantics: counter  Units: count

    Sat Nov 28 11:20:24.788359 2026 (1.022496) 1795864824 2 metrics
        60.1.58 (mem.util.available): value 21477392
        60.0.4 (disk.dev.read): inst [0 or "vda"] value 1716641

The descriptions say what is a counter and in which unit. A metric belongs to the first of the layout's groups whose pattern matches
its name: that says stat and column; any other one goes to a general stat, where the instance is the metric. A column ends with its
unit. Counters are rates, counters of time shares of it. A `<mark>` says that nothing was recorded: counters begin again after it.

Keys of `[layout]`: those of engine/single_series.py, and
    groups     stat, `names` (pattern of the metric's name; its group `column` is the column's stem), `is_pivot` (the instance
               completes the column), `prefix` (is taken off an instance's name), `whole` (the instance of what is counted for all
               CPUs together: it is divided by their number)
    cpus       the metric that holds the number of CPUs
    ignored    patterns of lines of other parts of the output
    missing    patterns of what stands instead of a value where there is none

Source: pmdumplog(1), pmLookupDesc(3); PCP 6.0.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.series.single_series import NO_NUMBER, SeriesLayout, SeriesPlace, SeriesReader, to_finite
from normstat.stats.layout import AnyPattern, StatName
from normstat.stats.records import LineKind, State, number_of
from normstat.stats.spec import Stat

MICRO: Final = 1_000_000
# A machine with all agents of PCP has some thousand.
MAX_METRICS: Final = 20_000

DESCRIPTION: Final = re.compile(r"PMID: \S+ \((?P<name>\S{1,500})\)")
TYPE: Final = re.compile(r" {4}Data Type: (?P<type>.+?)  InDom: .*")
UNITS: Final = re.compile(r" {4}Semantics: (?P<semantics>\w+)  Units: (?P<unit>.{1,60})")
CLOCK: Final = r"(?:\w{3} \w{3} [ \d]\d )?\d\d:\d\d:\d\d\.(?P<fraction>\d+)"
HEADER: Final = re.compile(
    CLOCK + r"(?: \d{4})?(?: \(-?\d+\.\d+\) (?P<epoch>\d{1,12}))? +(?:\d+ metrics?|(?P<mark><mark>.*))", re.ASCII
)
VALUE: Final = re.compile(r" {4}\S+ \((?P<name>\S{1,500})\):(?P<rest>.*)")
INSTANCE: Final = re.compile(r" +inst \[(?P<number>-?\d+) or (?:\"(?P<name>.*)\"|\?\?\?)\] value (?P<value>.*)")
PLAIN: Final = re.compile(r" value (?P<value>.*)")

NO_LINE: Final = Rejected("not a line of pmdumplog")
NO_EPOCH: Final = Rejected("no date: print the archive with `pmdumplog -xxx -d -m`")
NO_REPORT: Final = Rejected("a value before the first time")
NO_DESCRIPTION: Final = Rejected("no description of the metric: print the archive with `pmdumplog -xxx -d -m`")
ERROR: Final = Rejected("the archive holds an error instead of a value")
TOO_MANY: Final = Rejected(f"more than {MAX_METRICS} metrics")

# Factors that make a share of the time, in percent, of a counter's growth for each second.
TIMES: Final = {"nanosec": 1e-7, "microsec": 1e-4, "millisec": 0.1, "sec": 100.0}
SIZES: Final = {"byte": "B", "Kbyte": "KiB", "Mbyte": "MiB", "Gbyte": "GiB"}
SHORT_TIMES: Final = {"nanosec": "ns", "microsec": "us", "millisec": "ms", "sec": "s"}


@dataclass(frozen=True)
class PcpGroup:
    """Metrics of one stat; the module's docstring explains the keys."""

    stat: StatName
    names: re.Pattern[str]
    prefix: str = ""
    whole: str = ""
    is_pivot: bool = False


@dataclass(frozen=True, eq=False)
class PcpLayout(SeriesLayout):
    """The keys that the module's docstring explains."""

    groups: tuple[PcpGroup, ...] = ()
    cpus: str = ""
    ignored: AnyPattern = None
    missing: AnyPattern = None

    def validate(self, stats: Sequence[Stat]) -> None:  # noqa: ARG002 (the key is looked at, not the stats)
        """Require the group of the column."""
        for number, group in enumerate(self.groups):
            if "column" not in group.names.groupindex:
                raise ValueError(f"groups[{number}].names: has no group (?P<column>...)")


LAYOUT: Final = PcpLayout


class Description(NamedTuple):
    """The description of a metric in the archive. `unit`: as PCP writes it; "" while it is unknown"""

    is_number: bool
    is_counter: bool
    unit: str


class Reader(SeriesReader[PcpLayout]):
    """One call of the reader. A report is complete when the next one begins."""

    may_be_quoted = False
    ticks = MICRO

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        own = unpack_state(own)
        known = own.get("metrics")
        self._metrics = {name: Description(*rest) for name, rest in known.items()} if isinstance(known, dict) else {}
        name = own.get("name")
        self._now = number_of(own.get("now"), -1)
        # The metric that is being described, or whose instances follow.
        self._name = name if isinstance(name, str) else ""
        self._n_cpus = number_of(own.get("cpus"), 0)
        self._places: dict[tuple[str, str], SeriesPlace] = {}
        self.load_series(own)

    def load_after_gap(self, own: State) -> None:
        """Keep everything: descriptions and counters stay valid after a gap."""
        self.load(own)

    def save(self) -> State:
        """Return the state for the next piece."""
        return pack_state(
            {"metrics": self._metrics, "now": self._now, "name": self._name, "cpus": self._n_cpus, **self.save_series()}
        )

    def begin_call(self) -> None:
        """Do nothing: each line has its own time."""

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after adding the rows that it completes."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        instance = INSTANCE.fullmatch(text)
        if instance is not None and text.startswith(" " * 8):
            return self._take_value(self._name, instance, line.offset)
        value = VALUE.fullmatch(text)
        if value is not None:
            return self._take_metric(value["name"], value["rest"], line.offset)
        header = HEADER.fullmatch(text)
        if header is not None:
            return self._take_header(header)
        return self._take_description(text)

    # Internals.

    def _take_header(self, header: re.Match[str]) -> Outcome:
        self.end_report()
        if header["epoch"] is None:
            self._now = -1
            return NO_EPOCH
        self._now = int(header["epoch"]) * MICRO + int(header["fraction"].ljust(6, "0")[:6])
        if header["mark"] is not None:
            self.forget_series()
        return LineKind.TIMESTAMP

    def _take_description(self, text: str) -> Outcome:
        begin = DESCRIPTION.fullmatch(text)
        if begin is not None:
            self._name = begin["name"]
            if self._name not in self._metrics and len(self._metrics) >= MAX_METRICS:
                return TOO_MANY
            self._metrics[self._name] = Description(is_number=True, is_counter=False, unit="")
            return LineKind.HEADER
        known = self._metrics.get(self._name)
        kind, units = TYPE.fullmatch(text), UNITS.fullmatch(text)
        if known is not None and kind is not None:
            is_number = kind["type"].endswith("int") or kind["type"] in ("float", "double")
            self._metrics[self._name] = known._replace(is_number=is_number)
            return LineKind.HEADER
        if known is not None and units is not None:
            self._metrics[self._name] = known._replace(is_counter=units["semantics"] == "counter", unit=units["unit"].strip())
            return LineKind.HEADER
        is_known = self.layout.ignored is not None and self.layout.ignored.fullmatch(text) is not None
        return LineKind.IGNORED if is_known else NO_LINE

    def _take_metric(self, name: str, rest: str, offset: int) -> Outcome:
        self._name = name
        if not rest:
            return LineKind.HEADER
        value = INSTANCE.fullmatch(rest) or PLAIN.fullmatch(rest)
        if value is not None:
            return self._take_value(name, value, offset)
        is_missing = self.layout.missing is not None and self.layout.missing.fullmatch(rest.strip()) is not None
        return LineKind.IGNORED if is_missing else ERROR

    def _take_value(self, name: str, value: re.Match[str], offset: int) -> Outcome:
        known = self._metrics.get(name)
        if known is None:
            return NO_DESCRIPTION
        if self._now < 0:
            return NO_REPORT
        if not known.is_number:
            return LineKind.IGNORED
        word = value["value"]
        number = to_finite(word)
        if number is None:
            return NO_NUMBER
        if name == self.layout.cpus and 0 < number < MAX_METRICS and int(number) != self._n_cpus:
            self._n_cpus = int(number)
            self._places.clear()
        found = value.groupdict()
        instance = found.get("name") or found.get("number") or ""
        place = self._places.get((name, instance))
        if place is None:
            place = self._places[name, instance] = self._place(name, known, instance)
        return self.take_value(place, self._now, word, None, offset)

    def _place(self, name: str, known: Description, instance: str) -> SeriesPlace:
        """Return where the values of an instance of a metric go."""
        for group in self.layout.groups:
            found = group.names.fullmatch(name)
            # A sum of CPUs whose number is unknown has no share of the time.
            if found is None or (group.whole and not self._n_cpus):
                continue
            stem = found["column"] + (f" {instance}" if group.is_pivot else "")
            column, factor = name_column(stem.replace(".", "_"), known)
            own = group.whole or ("" if group.is_pivot else instance.removeprefix(group.prefix))
            return SeriesPlace(group.stat, own, column, known.is_counter, factor / self._n_cpus if group.whole else factor)
        series = f"{name} {instance}".strip()
        if known.is_counter:
            return SeriesPlace(self.layout.counters, series, "value/s", is_rate=True, factor=1.0)
        return SeriesPlace(self.layout.gauges, series, "value", is_rate=False, factor=1.0)


def name_column(stem: str, known: Description) -> tuple[str, float]:
    """Return the column of a metric, which ends with its unit, and the factor that makes the unit of a rate.

    >>> name_column("total_bytes", Description(True, True, "Kbyte")), name_column("avactive", Description(True, True, "millisec"))
    (('total_bytes KiB/s', 1.0), ('%avactive', 0.1))
    >>> name_column("await", Description(True, False, "millisec / count")), name_column("length", Description(True, False, "byte"))
    (('await ms', 1.0), ('length B', 1.0))
    """
    unit = known.unit.removesuffix("/ count").strip()
    if known.is_counter:
        if unit in TIMES:
            return f"%{stem}", TIMES[unit]
        return (f"{stem} {SIZES[unit]}/s" if unit in SIZES else f"{stem}/s"), 1.0
    short = SIZES.get(unit) or SHORT_TIMES.get(unit)
    return (f"{stem} {short}" if short else stem), 1.0
