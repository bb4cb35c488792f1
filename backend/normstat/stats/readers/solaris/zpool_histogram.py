"""zpool iostat -w and -r: for each pool or device a table of distributions, the buckets below each other.

tank         total_wait     disk_wait
latency      read  write   read  write
----------  -----  -----  -----  -----
1us             0     12      0      3
2us             0  94.7K      0      0
--------------------------------------

Keys of `[[layout.tables]]`: `stat`, and `title`, the word that the line with the names of the columns begins with. A column is a
separate distribution, "tank total_wait read"; its samples are added when the table is over.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("zpool_iostat_histogram"), excerpt, state={}, offset=0, is_final=True).since_boot[0]
>>> block.instances[2:4], block.values[0].tolist()[2:4]
(['tank total_wait write{1us}', 'tank total_wait write{2us}'], [12.0, 96972.8])
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.histogram import bucket_instance
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_order import Reports, reports_after_gap
from normstat.stats.engine.times.calls import omits_since_boot
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import split_words
from normstat.stats.records import LineKind, State, number_of, texts_of
from normstat.stats.spec import Layout, Stat

OMIT_OPTION: Final = "y"
RULE: Final = frozenset("- \t")
# The words above the columns; each stands over two, but those that stand in the line below themselves.
GROUP: Final = re.compile(r"(?:total|disk|syncq|asyncq)_wait|a?sync_(?:read|write)|scrub|trim|rebuild")
ALONE: Final = frozenset({"scrub", "trim", "rebuild"})
PAIRS: Final = (("read", "write"), ("ind", "agg"))
LABEL: Final = re.compile(r"(?P<number>[0-9]{1,15})(?P<unit>ns|us|ms|s|[KMGTP]|)")
COUNT: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,2})?[KMGTPE]?|-")
COLUMNS: Final = ("count", "low", "high")
MAX_ROWS: Final = 128
MAX_WORDS: Final = 64
MAX_NAME_LENGTH: Final = 1000


@dataclass(frozen=True)
class ZpoolTable:
    """A table of distributions, by the word that its line of columns begins with."""

    title: str
    stat: Stat


@dataclass(frozen=True)
class ZpoolHistogramLayout(Layout):
    """The tables."""

    tables: tuple[ZpoolTable, ...]

    @functools.cached_property
    def stats(self) -> Mapping[str, Stat]:
        """The stat of each table, by its title."""
        return {table.title: table.stat for table in self.tables}


LAYOUT: Final = ZpoolHistogramLayout


class Reader(LineReader[ZpoolHistogramLayout]):
    """One call of the reader: `_columns` of the present table, and its rows so far as [label, words]."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._omits = self.omits_since_boot or omits_since_boot(OMIT_OPTION, self.command, self.spec.tool)
        self._reports = Reports(own.get("reports"))
        self._title = str(own.get("title", ""))
        self._name = str(own.get("name", ""))
        self._offset_of = number_of(own.get("offset"), 0)
        self._groups = texts_of(own.get("groups"))
        self._columns = texts_of(own.get("columns"))
        rows = own.get("rows")
        self._rows = [texts_of(row) for row in rows] if isinstance(rows, list) else []

    def load_after_gap(self, own: State) -> None:
        """Drop the present table, which lacks rows."""
        self.load({})
        self._reports = reports_after_gap(own.get("reports"))

    def save(self) -> State:
        """Return the state for `load`."""
        return {
            "reports": self._reports.to_state(),
            "title": self._title,
            "name": self._name,
            "offset": self._offset_of,
            "groups": self._groups,
            "columns": self._columns,
            "rows": self._rows,
        }

    def finish(self) -> None:
        """Complete the last table."""
        self._flush()

    def take_line(self, line: Line) -> Outcome:
        """Return a line of groups, of columns, a rule, a time or a row."""
        text = line.text
        if not text.strip(" \t"):
            return LineKind.IGNORED
        if RULE.issuperset(text):
            return LineKind.HEADER
        words = split_words(text) if len(text) < MAX_NAME_LENGTH else []
        if not 0 < len(words) <= MAX_WORDS:
            return Rejected("not a known line of zpool")
        if words[0] in self.layout.stats and self._take_columns(words[1:]):
            self._title = words[0]
            return LineKind.HEADER
        begin = next((at for at, word in enumerate(words) if GROUP.fullmatch(word)), 0)
        if begin and all(GROUP.fullmatch(word) for word in words[begin:]):
            self._flush()
            self._name, self._groups, self._columns = " ".join(words[:begin]), words[begin:], []
            self._offset_of = line.offset
            return LineKind.HEADER
        stamp = parse_time_line(text)
        if stamp is not None:
            self._flush()
            self.see_stamp(stamp)
            self._reports.close()
            return LineKind.TIMESTAMP
        return self._take_row(words)

    def _take_columns(self, words: list[str]) -> bool:
        """Find the group of each column; False when the two lines do not fit together."""
        columns: list[str] = []
        rest = list(words)
        for group in self._groups:
            pair = rest[:2]
            if tuple(pair) not in PAIRS:
                return False
            columns += [f"{group} {word}" for word in pair]
            rest = rest[2:]
        if not self._groups or not ALONE.issuperset(rest):
            return False
        self._columns = columns + rest
        return True

    def _take_row(self, words: list[str]) -> Outcome:
        if not self._columns:
            return Rejected("a line before any header")
        if len(words) != len(self._columns) + 1:
            return Rejected(f"{len(words) - 1} values for {len(self._columns)} columns")
        if LABEL.fullmatch(words[0]) is None or not all(COUNT.fullmatch(word) for word in words[1:]):
            return Rejected("not a bucket with counts")
        if len(self._rows) >= MAX_ROWS:
            return Rejected("more buckets than zpool has")
        self._rows.append(words)
        return self._kind()

    def _kind(self) -> LineKind:
        # A continued table belongs to the current report; another one may begin the next.
        number = self._reports.number
        is_first = not number or (number == 1 and not self._is_next())
        return LineKind.SAMPLE if self._omits or not is_first else LineKind.SINCE_BOOT

    def _is_next(self) -> bool:
        return not self._reports.is_open or f"{self._title} {self._name}" in self._reports.seen

    def _flush(self) -> None:
        """Add the table's samples: each of its columns is a distribution."""
        if not self._rows:
            return
        if self._reports.see(f"{self._title} {self._name}"):
            self.begin_report()
        is_since_boot = self._reports.is_first and not self._omits
        stat = self.layout.stats[self._title]
        for at, column in enumerate(self._columns, start=1):
            for row in self._rows:
                instance = bucket_instance(f"{self._name} {column}", row[0])
                words = (row[at], *_bounds(row[0]))
                self.add_row(stat, COLUMNS, words, instance=instance, offset=self._offset_of, is_since_boot=is_since_boot)
        self._rows = []


def _bounds(label: str) -> tuple[str, str]:
    """Return low and high end of a bucket: a time is the end of its bucket, a size the beginning.

    >>> _bounds("1us"), _bounds("512"), _bounds("4K")
    (('-', '1us'), ('512', '-'), ('4K', '-'))
    """
    return (ABSENT, label) if label.endswith("s") else (label, ABSENT)
