"""`perf report --stdio`: where the samples fell, by command, object and symbol.

    # Samples: 10K of event 'cycles'
    # Event count (approx.): 9053921
    #
    # Overhead  Command      Shared Object      Symbol
    # ........  ...........  .................  ......................
    #
        28.15%  firefox-bin  libxul.so          [.] 0xd10b45

The columns of numbers come first; the instance of the row follows them. Call graphs below a row are not read.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''# Overhead  Command      Shared Object      Symbol
...     28.15%  firefox-bin  libxul.so          [.] 0xd10b45
... '''
>>> (block,) = read(require_spec("perf_report"), text, state={}, offset=0).blocks
>>> block.instances, block.values[0].tolist()
(['firefox-bin libxul.so [.] 0xd10b45'], [28.15])
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats, ungroup
from normstat.stats.engine.times.timestamps import parse_timestamp
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

SHARES: Final = ("Overhead", "Children", "Self", "sys", "usr", "guest sys", "guest usr", "Latency")
NUMBERS: Final = (*SHARES, "Samples", "Period")
# Longer names before their prefixes.
NUMBER: Final = "|".join(sorted(NUMBERS, key=len, reverse=True))
NUMBER_NAMES: Final = re.compile(NUMBER)
GAP: Final = r"(?:\s*[;,|]\s*|\s+)"
# After the columns of numbers come those that name a row, for any sort order of perf.
HEADER: Final = re.compile(rf"#\s*(?P<numbers>(?:{NUMBER})(?:{GAP}(?:{NUMBER}))*){GAP}[A-Z\[].*")
# perf top and the browser print no #.
BARE_HEADER: Final = re.compile(
    rf"(?P<numbers>(?:{NUMBER})(?:{GAP}(?:{NUMBER}))*)(?:\s+(?:Command|Shared Object|Symbol|Pid|CPU|Source:Line))+"
)
SEPARATOR: Final = re.compile(r"[;,|]")
SAMPLES: Final = re.compile(
    r"#\s*(?:Samples|Events):\s*(?P<n>\d+(?:\.\d+)?[KMG]?)\s+(?:of events? '(?P<event>[^']{1,200})'|(?P<old>\S{1,200})).*", re.ASCII
)
EVENT_COUNT: Final = re.compile(r"#\s*Event count \(approx\.\):\s*(?P<n>[\d,]{1,23})\s*", re.ASCII)
CAPTURED: Final = re.compile(r"#\s*captured on\s*:\s*(?P<time>.{10,60}?)\s*")
# The sign that the browser of perf report prints before rows that can be opened.
FOLDED: Final = re.compile(r"\s*[-+]\s+(?=\d)", re.ASCII)
VALUE: Final = re.compile(r"(\d{1,19}(?:[.,]\d{1,6})?)%?", re.ASCII)
MAX_LINE: Final = 8192


@dataclass(frozen=True)
class PerfReportLayout(Layout):
    """The stats of rows, and of the totals of each event."""

    rows: Stat
    events: Stat


LAYOUT: Final = PerfReportLayout


class Reader(LineReader[PerfReportLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the columns of numbers, the separator, the event and those before it in this report, and the names seen."""
        self._rows, self._events = self.layout.rows, self.layout.events
        events = own.get("events")
        self._columns = texts_of(own.get("columns"))
        self._seen = [str(item) for item in events] if isinstance(events, list) else []
        self._separator = str(own.get("separator", ""))
        self._event = str(own.get("event", ""))
        # Samples of the event, and the place of their line, until the number of events is known as well.
        pending = own.get("pending")
        self._pending = (str(pending[0]), int(pending[1])) if isinstance(pending, list) else None
        self._is_open = own.get("is_open") is True
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "columns": self._columns,
            "events": self._seen,
            "separator": self._separator,
            "event": self._event,
            "pending": list(self._pending) if self._pending is not None else None,
            "is_open": self._is_open,
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new report."""
        self._add_event("")
        self._columns, self._seen, self._event, self._is_open = [], [], "", False

    def finish(self) -> None:
        """End the wait for the number of events."""
        self._add_event("")

    def take_line(self, line: Line) -> Outcome:
        """Return a row, one of the lines with #, or a line of a call graph."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of perf report")
        if text.lstrip().startswith("#"):
            return self._take_comment(line)
        if (found := BARE_HEADER.fullmatch(text.strip())) is not None:
            return self._take_header(found["numbers"], text)
        if self._columns:
            mark = FOLDED.match(text)
            text = text[mark.end() :] if mark is not None else text
            words = text.split(maxsplit=1)
            if VALUE.fullmatch(words[0].split(self._separator or "%", 1)[0]) is not None:
                return self._take_row(text, line.offset)
            # A call graph, or [...] for omitted rows.
            return LineKind.IGNORED
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return Rejected("not a line of perf report")

    def _open_report(self) -> None:
        if not self._is_open:
            self.begin_report()
            self._is_open = True
            self._repeats.clear()

    def _take_comment(self, line: Line) -> Outcome:
        text = line.text.strip()
        if (found := HEADER.fullmatch(text)) is not None:
            return self._take_header(found["numbers"], text)
        if (found := SAMPLES.fullmatch(text)) is not None:
            event = found["event"] or found["old"]
            self._add_event("")
            if event in self._seen or len(self._seen) > 100:
                self.begin_call()
            self._open_report()
            self._seen.append(event)
            self._event, self._columns, self._pending = event, [], (found["n"], line.offset)
            return LineKind.SAMPLE
        if (found := EVENT_COUNT.fullmatch(text)) is not None and self._pending is not None:
            self._add_event(ungroup(found["n"]))
            return LineKind.SAMPLE
        if (found := CAPTURED.fullmatch(text)) is not None:
            stamp = parse_timestamp(found["time"])
            if stamp is not None:
                self.begin_call()
                self.see_stamp(stamp)
                return LineKind.TIMESTAMP
        if not {"Overhead", "Children"}.isdisjoint(text.split()):
            self._columns = []
            return Rejected("a header whose columns are not known, or not in an order that can be read")
        return LineKind.IGNORED

    def _take_header(self, names: str, text: str) -> Outcome:
        self._add_event("")
        numbers = NUMBER_NAMES.findall(names)
        if len(set(numbers)) != len(numbers):
            self._columns = []
            return Rejected("a column of numbers twice")
        self._open_report()
        found = SEPARATOR.search(text)
        self._columns, self._separator = numbers, found[0] if found is not None else ""
        return LineKind.HEADER

    def _add_event(self, n_events: str) -> None:
        if self._pending is not None:
            n_samples, offset = self._pending
            self._pending = None
            columns = ("samples", "event count")
            self.add_row(self._events, columns, [n_samples, n_events], instance=self._event, offset=offset)

    def _take_row(self, text: str, offset: int) -> Outcome:
        n_numbers = len(self._columns)
        parts = text.split(self._separator) if self._separator else text.split(maxsplit=n_numbers)
        words = [part.strip() for part in parts]
        found = [VALUE.fullmatch(word) for word in words[:n_numbers]]
        numbers = [value[1] for value in found if value is not None]
        rest = " ".join(" ".join(words[n_numbers:]).split())
        if len(numbers) < n_numbers or not rest:
            return Rejected(f"not {n_numbers} numbers and a name")
        if VALUE.fullmatch(rest.split()[0]) is not None and rest.split()[0].endswith("%"):
            return Rejected("more percentages than columns (a group of events)")
        if len(self._seen) > 1:
            rest = f"{rest} ({self._event})"
        name = self._repeats.name(rest)
        return self.add_row(self._rows, self._columns, numbers, instance=name, offset=offset) or LineKind.SAMPLE
