"""`perf stat`: counters of one run, or every interval (-I), in all forms of normstat.stats.engine.series.perf_counter.

    #           time             counts unit events
         0.500619549            1001.73 msec cpu-clock                        #    2.003 CPUs utilized
         0.500619549    <not supported>      cycles

Times are seconds since perf began: with `# started on ...` above (-o) or a start from elsewhere they become instants.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("perf_stat"), b"     0.500609870 CPU0       50      context-switches   #   99.831 /sec\\n", state={}, offset=0)
>>> [(block.stat.name, block.instances[0], block.values[0].tolist()) for block in result.blocks]
[('perf_stat', 'CPU0 context-switches', [50]), ('perf_stat_metrics', 'CPU0 context-switches: /sec', [99.831])]
"""  # noqa: E501 (a doctest)

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.perf_counter import NOT_COUNTED, SUMMARY, Counter, parse_fields, parse_json, parse_text
from normstat.stats.engine.series.perf_metrics import NO_VALUES, MetricRow, is_metric_header, parse_metric_row
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Layout, Stat

INTERRUPT: Final = b"^C"
TITLE: Final = re.compile(r"\s*Performance counter stats for .*:\s*")
STARTED: Final = re.compile(r"# started on (?P<time>.{10,60}?)\s*")
SECONDS: Final = re.compile(
    r"\s*(?P<seconds>\d{1,12}[.,]\d{1,9})(?:\s+\+-\s+(?P<deviation>\d{1,12}[.,]\d{1,9}))?\s+seconds (?P<name>time elapsed|user|sys)"
    r"(?:\s+\(\s*\+-\s*(?P<variance>\d{1,9}[.,]\d+)%\s*\))?\s*",
    re.ASCII,
)
# perf stat -r --table: each run, and its distance from the mean.
RUN: Final = re.compile(r"\s*(?P<seconds>\d{1,12}[.,]\d{1,9}) \([-+]\d{1,12}[.,]\d{1,9}\) #+\s*", re.ASCII)
# Without a title only lines that name a counter of perf are counters; 12 files copied are none.
KNOWN: Final = re.compile(
    r"(?:cpu-|ref-|bus-)?cycles|instructions|(?:task|cpu)-clock(?:-msecs| \(msec\))?|(?:page|minor|major)-faults|context-switches"
    r"|(?:cpu|CPU)-migrations|branch(?:es|-misses|-instructions|-loads|-load-misses)|cache-(?:misses|references)|stalled-cycles-\w+"
    r"|(?:L1-[di]cache|LLC|[di]TLB|node)-\w+(?:-misses)?|(?:alignment|emulation)-faults|duration_time|(?:user|system)_time"
    r"|[\w-]+/[^ ]*/\w*|[a-z]\w+:[a-z]\w+|slots|topdown-[\w-]+",
)
SEPARATORS: Final = (",", ";", "\t", "|", ":", "@", "!", "~")
# perf -x' ': single blanks, the count, its unit or nothing, the event, nanoseconds, percent.
BLANK_SEPARATED: Final = re.compile(
    r"\s*(?:\d{1,9}\.\d{9} )?(?:\S+ (?:\d+ )?)?(?:\d+(?:\.\d\d)?|<not (?:counted|supported)>) (?:[A-Za-z%]*) [A-Za-z_]\S* \d+"
    r" \d{1,3}\.\d\d(?: .*)?",
    re.ASCII,
)
BLANK_METRIC: Final = re.compile(r"\s*(?:\d{1,9}\.\d{9} )?(?:\S+ (?:\d+ )?)? {5,6}(?P<metric>\d+(?:\.\d+)? \S.*)", re.ASCII)
MESSAGE: Final = re.compile(
    r"(?:(?:.{0,200}[#$%>]\s*)?(?:\S*/)?perf stat .*|Some events weren't counted.*|\(?The events in group usually .*"
    r"|echo [01] > /proc/.*|perf: .*|Error:.*|#\s*|# Table of individual measurements:|# Final result:)"
)
LEFT_OUT: Final = re.compile(r"\s*\[?\.\.\.\]?\s*")
NOT_OURS: Final = Rejected("not a line of perf stat")
# JSON is long; a table for people is not.
MAX_LINE: Final = 4096
MAX_TEXT: Final = 500
MISSING: Final = frozenset({*NOT_COUNTED, ""})
MICRO: Final = 1_000_000


@dataclass(frozen=True)
class PerfStatLayout(Layout):
    """The stats of counters, of the metrics after #, and of the times of a run."""

    counters: Stat
    metrics: Stat
    times: Stat


LAYOUT: Final = PerfStatLayout


class Reader(LineReader[PerfStatLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore whether a title came, the separator, the present interval, the last event and the names seen."""
        self._counters, self._metrics, self._times = self.layout.counters, self.layout.metrics, self.layout.times
        self._is_titled = own.get("is_titled") is True
        self._separator = str(own.get("separator", ""))
        self._interval = str(own.get("interval", ""))
        self._event = str(own.get("event", ""))
        self._is_open = own.get("is_open") is True
        self._is_lost = own.get("is_lost") is True
        self._repeats = Repeats(own.get("repeats"))
        self._metrics_header = str(own.get("metrics_header", ""))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "is_titled": self._is_titled,
            "separator": self._separator,
            "interval": self._interval,
            "event": self._event,
            "is_open": self._is_open,
            "is_lost": self._is_lost,
            "repeats": self._repeats.to_state(),
            "metrics_header": self._metrics_header,
        }

    def begin_call(self) -> None:
        """Start a new run."""
        self._is_titled = self._is_open = self._is_lost = False
        self._interval = self._event = self._metrics_header = ""
        self._repeats.clear()

    def clean(self, line: bytes) -> bytes:
        """Return the line without the terminal's ^C."""
        return line.replace(INTERRUPT, b"", 1) if line.lstrip().startswith(INTERRUPT) else line

    def is_whole(self, line: Line) -> bool:
        """Return whether the line ends with brackets."""
        return line.text.rstrip().endswith((")", "}")) or SECONDS.fullmatch(line.text) is not None

    def take_line(self, line: Line) -> Outcome:
        """Return the outcome of the line in its form."""
        text = line.text
        if self._is_titled and text.endswith("#") and (found := RUN.fullmatch(text)) is not None:
            # The bar of a run that took no time at all is very long.
            name = self._repeats.name("run")
            reason = self.add_row(
                self._times, ("seconds",), [found["seconds"]], instance=name, offset=line.offset, time_us=self._time_us()
            )
            return reason or LineKind.SAMPLE
        if len(text) > MAX_LINE:
            return NOT_OURS
        if not text.strip() or LEFT_OUT.fullmatch(text) is not None:
            return LineKind.IGNORED
        if TITLE.fullmatch(text) is not None:
            if not self._interval:
                self.begin_call()
            self._is_titled = True
            self._repeats.clear()
            return LineKind.HEADER
        if text.startswith("#") and {"time", "counts", "events"}.issubset(text[1:].split()):
            return LineKind.HEADER
        if (found := SECONDS.fullmatch(text)) is not None:
            return self._take_seconds(found, line.offset)
        row = parse_metric_row(self._metrics_header, text) if self._metrics_header else None
        if row is not None:
            return self._take_metrics(row, line.offset)
        if is_metric_header(text, is_titled=self._is_titled):
            self._metrics_header = text
            return LineKind.HEADER
        counter = self._parse(text)
        return self._take_other(text) if counter is None else self._take_counter(counter, line.offset)

    def _take_metrics(self, row: MetricRow, offset: int) -> Outcome:
        """Take a row of --metric-only."""
        if row.time is not None and row.time != self._interval:
            self._begin_interval(row.time)
        for name, word in row.values.items():
            instance = self._repeats.name(f"{row.place} {name}".strip())
            reason = self.add_row(
                self._metrics, ("metric",), [word], instance=instance, offset=offset, time_us=self._time_us(), missing=NO_VALUES
            )
            if reason is not None:
                return reason
        return LineKind.SAMPLE

    def _take_other(self, text: str) -> Outcome:
        found = STARTED.fullmatch(text)
        stamp = parse_time_line(found["time"] if found is not None else text)
        if stamp is not None:
            self.begin_call()
            self.see_stamp(stamp)
            return LineKind.TIMESTAMP
        return LineKind.IGNORED if MESSAGE.fullmatch(text.strip()) is not None else NOT_OURS

    def _parse(self, text: str) -> Counter | None:
        if text.startswith("{"):
            return parse_json(text)
        if BLANK_SEPARATED.fullmatch(text) is not None:
            return parse_fields(_blank_fields(text))
        counter = parse_text(text) if len(text) <= MAX_TEXT else None
        if counter is not None:
            is_known = counter.time or self._is_titled or KNOWN.fullmatch(counter.event.partition(" ")[0]) or counter.metric
            return counter if is_known else None
        return self._parse_separated(text)

    def _parse_separated(self, text: str) -> Counter | None:
        if (found := BLANK_METRIC.fullmatch(text)) is not None and self._event:
            value, _, unit = found["metric"].partition(" ")
            return parse_fields([*text.split(maxsplit=1)[:1], "", "", "", value, unit])
        separators = [self._separator] if self._separator else [sep for sep in SEPARATORS if sep in text[:200]]
        for separator in separators:
            counter = parse_fields(text.split(separator)) if text.count(separator) < 40 else None
            if counter is not None and (self._separator or counter.time or KNOWN.fullmatch(counter.event.partition(" ")[0])):
                self._separator = separator
                return counter
        return None

    def _take_seconds(self, found: re.Match[str], offset: int) -> Outcome:
        # No counters come after the times.
        self._is_titled = False
        words = {"seconds": found["seconds"]}
        if found["deviation"]:
            words["+- seconds"] = found["deviation"]
        if found["variance"]:
            words["+- %"] = found["variance"]
        reason = self.add_row(
            self._times, list(words), list(words.values()), instance=found["name"], offset=offset, time_us=self._time_us()
        )
        return reason or LineKind.SAMPLE

    def _take_counter(self, counter: Counter, offset: int) -> Outcome:
        if counter.time is not None and counter.time != self._interval:
            self._begin_interval(counter.time)
        if not counter.event:
            if counter.is_group:
                self._event = counter.place
            if not self._event:
                return Rejected("a metric without an event")
            return self._add_metric(counter, self._event, offset)
        place = counter.place
        if self._interval and counter.time is None and not place.startswith(SUMMARY):
            # The sums of the whole run, after its intervals.
            place = f"{SUMMARY} {place}".rstrip()
        name = f"{place} {counter.event}" if place else counter.event
        name = self._repeats.name(name)
        others = {
            "time": counter.time or "",
            "cpus": counter.n_places,
            "+- %": counter.variance,
            "running ns": counter.run_ns,
            "running %": counter.running,
        }
        words = {counter.column: counter.word, **{column: word for column, word in others.items() if word}}
        reason = self.add_row(
            self._counters,
            list(words),
            list(words.values()),
            instance=name,
            offset=offset,
            time_us=self._time_us(),
            missing=MISSING,
        )
        if reason is not None:
            return reason
        self._event = name
        if counter.metric is not None and counter.word not in NOT_COUNTED:
            self._add_metric(counter, name, offset)
        return LineKind.SAMPLE

    def _add_metric(self, counter: Counter, name: str, offset: int) -> Outcome:
        assert counter.metric is not None
        word, unit = counter.metric
        reason = self.add_row(
            self._metrics, ("metric",), [word], instance=f"{name}: {unit}", offset=offset, time_us=self._time_us()
        )
        return reason or LineKind.SAMPLE

    def _begin_interval(self, time: str) -> None:
        if self._interval and _seconds(time) < _seconds(self._interval):
            # Another run began at an unknown time.
            self._is_lost = True
        self._interval = time
        self._repeats.clear()

    def _time_us(self) -> int:
        """Return the instant of the present interval, or that of the run. Missing: NO_TIME."""
        if self._interval:
            start_us = self.report_us
            return NO_TIME if start_us == NO_TIME or self._is_lost else start_us + round(_seconds(self._interval) * MICRO)
        if not self._is_open:
            self.begin_report()
            self._is_open = True
        return self.report_us


def _seconds(time: str) -> float:
    return float(time.replace(",", "."))


def _blank_fields(text: str) -> list[str]:
    for words in NOT_COUNTED:
        text = text.replace(words, words.replace(" ", "\0"))
    fields = [field.replace("\0", " ") for field in text.strip().split(" ")]
    # A metric's unit is the last field, and may have blanks.
    at = next(
        (number for number in range(2, len(fields)) if fields[number].isdigit() and not fields[number - 1].isdigit()), len(fields)
    )
    return [*fields[: at + 3], " ".join(fields[at + 3 :])]
