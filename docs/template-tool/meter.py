"""meter, the tool of the template: a row of numbers for each sensor, below a time.

    2026-11-21T12:00:00Z
    hall: 21.5 C 40 %
    roof: -3.0 C 88 %

Keys of `[layout]`: `rows` is the stat of the rows, `ignored` holds regular expressions of lines that are no data.
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.layout import AnyPattern
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

ROW: Final = re.compile(r"(?P<name>\w{1,60}): (?P<degrees>\S{1,20}) C (?P<humidity>\S{1,20}) %")
COLUMNS: Final = ("degrees", "humidity")
# No report has more sensors; it bounds the state that a broken stream can make.
MAX_SENSORS: Final = 1000


@dataclass(frozen=True)
class MeterLayout(Layout):
    """The keys of `[layout]`; their types say what they may hold."""

    rows: Stat
    ignored: AnyPattern = None


LAYOUT: Final = MeterLayout


class Reader(LineReader[MeterLayout]):
    """One call of the reader. `_seen` are the sensors of the present report."""

    def load(self, own: State) -> None:
        """Restore what `save` returned."""
        self._seen = texts_of(own.get("seen"))

    def save(self) -> State:
        """Return what the next piece needs to know."""
        return {"seen": self._seen}

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding its row."""
        text = line.text.strip()
        if not text or (self.layout.ignored is not None and self.layout.ignored.search(text)):
            return LineKind.IGNORED
        if self.see_time_line(text):
            self._seen = []
            return LineKind.TIMESTAMP
        row = ROW.fullmatch(text)
        if row is None:
            return Rejected("not a line of meter")
        if not self._seen or row["name"] in self._seen or len(self._seen) >= MAX_SENSORS:
            # A sensor that comes again starts the next report.
            self.begin_report()
            self._seen = []
        self._seen.append(row["name"])
        words = [row[column] for column in COLUMNS]
        return self.add_row(self.layout.rows, COLUMNS, words, instance=row["name"], offset=line.offset) or LineKind.SAMPLE
