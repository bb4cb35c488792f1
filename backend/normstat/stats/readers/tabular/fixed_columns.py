"""Read rows of words without a header, as most users' add-ons have them.

    2026-11-21T12:00:00Z
    0.21 0.30 1.20 4.05 0.00 12

Every line that is neither a time nor ignored is a row. Keys of `[layout]`:
    stat       the stat of the rows
    columns    the names of all columns, in their order
    instance   those that name what a row is about; without them every row is a separate report
    labels     those that are only text
    missing    words that stand for "no value", besides "-"
    last_text  true when the last column, of text, may contain blanks
    time       "line": a time on a separate line before each report; "leading": one stands before the columns of each row
               (a clock, an epoch, 2026-11-21T12:00:00Z, 2026-11-21 12:00:00)
    ignored    regular expressions of lines without data; they are tried before rows
    shortest   lines of fewer characters that are not rows are noise (4, as in dim_STAT)

>>> from normstat.stats.catalogue import parse_spec
>>> from normstat.stats.readers import read
>>> spec = parse_spec("app_time.toml", '''
... name = "app_time"
... tool = "app_time"
... os = "any"
... title = "Times"
... version = 1
... commands = ["app_time 10"]
... reader = "fixed_columns"
... [layout]
... stat = "app_time"
... columns = ["login"]
... [[stats]]
... name = "app_time"
... title = "Times"
... [[stats.fields]]
... key = "login"
... column = "login"
... group = ""
... unit = "s"
... kind = "gauge"
... worse = "higher"
... decimals = 2
... help = "Time of a login."
... source = "own"
... ''')
>>> block = read(spec, b"1795262400\\n0.21\\n1795262410\\n0.25\\n", state={}, offset=0).blocks[0]
>>> block.time_us.tolist(), block.values[0].tolist()
([1795262400000000, 1795262410000000], [0.21, 0.25])
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.row import join_instance
from normstat.stats.engine.times.timestamps import parse_timestamp, split_words, take_clock
from normstat.stats.layout import AnyPattern, Convert, toml_key
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

MIN_LENGTH: Final = 4
MAX_COLUMNS: Final = 500
# No report has more rows than this; it bounds the state of a broken stream.
MAX_SEEN: Final = 20_000
# "Sat Nov 21 12:00:01 PM UTC 2026" is the longest time that tools print.
MAX_TIME_WORDS: Final = 7


@dataclass(frozen=True)
class FixedColumnsLayout(Layout):
    """How a row is laid out; the module's docstring explains the keys. Places are those of words after a leading time."""

    stat: Stat
    columns: tuple[str, ...]
    instance: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()
    missing: Annotated[frozenset[str], Convert(frozenset[str], lambda words: words | {ABSENT})] = frozenset({ABSENT})
    has_last_text: bool = toml_key("last_text", default=False)
    time: Literal["line", "leading"] = "line"
    ignored: AnyPattern = None
    shortest: int = MIN_LENGTH

    def __post_init__(self) -> None:
        """Require different columns, some of them numbers, and that the other keys name columns."""
        columns = self.columns
        are_names = len(set(columns)) == len(columns) and all(len(name.split()) == 1 for name in columns)
        if not are_names or not 1 <= len(columns) <= MAX_COLUMNS:
            raise ValueError(f"columns: 1 to {MAX_COLUMNS} different names without blanks are needed")
        for key, names in (("instance", self.instance), ("labels", self.labels)):
            for name in names:
                if name not in columns:
                    raise ValueError(f"{key}: {name!r} is no column")
        if not self.value_at:
            raise ValueError("columns: at least one must be neither an instance nor a label")
        if self.has_last_text and len(columns) - 1 in self.value_at:
            raise ValueError("last_text: the last column is no text")

    @functools.cached_property
    def value_at(self) -> tuple[int, ...]:
        """The places of numbers: columns that are neither labels nor instances, and instances that are fields as well."""
        known = {field.column for field in self.stat.fields}
        return tuple(
            at for at, name in enumerate(self.columns) if name not in self.labels and (name not in self.instance or name in known)
        )

    @functools.cached_property
    def value_columns(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return tuple(self.columns[at] for at in self.value_at)

    @functools.cached_property
    def instance_at(self) -> tuple[int, ...]:
        """The places of the words that name what a row is about."""
        return tuple(self.columns.index(name) for name in self.instance)


LAYOUT: Final = FixedColumnsLayout


class Reader(LineReader[FixedColumnsLayout]):
    """One call of the reader."""

    # Rows may have a time of their own.
    prefix_kinds = frozenset({FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the instances of the current report."""
        seen = own.get("seen")
        self._seen = set(map(str, seen)) if isinstance(seen, list) else set()

    def save(self) -> State:
        """Return the instances of the present report."""
        return {"seen": sorted(self._seen)}

    def take_line(self, line: Line) -> Outcome:
        """Return a time, a row, or neither; in this order, since the word of a lone column may look like a time."""
        layout = self.layout
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if layout.ignored is not None and layout.ignored.search(text):
            return LineKind.IGNORED
        if self.see_time_line(text):
            self._seen.clear()
            return LineKind.TIMESTAMP
        refusal = self._take_row(layout, line)
        if refusal is None:
            return LineKind.SAMPLE
        return LineKind.IGNORED if len(text.strip()) < layout.shortest else refusal

    def _take_row(self, layout: FixedColumnsLayout, line: Line) -> Rejected | None:
        """Add the row. Missing: None when it was added, else the reason why it was not."""
        words = split_words(line.text)
        n_columns = len(layout.columns)
        time_us: int | None = None
        if layout.time == "leading":
            most = min(MAX_TIME_WORDS, len(words)) if layout.has_last_text else len(words) - n_columns
            least = 1 if layout.has_last_text else most
            found = next((n for n in range(most, least - 1, -1) if n > 0 and self._is_time(words[:n])), 0)
            if not found:
                return Rejected(f"no time before {n_columns} columns")
            time_us = self._time_us(words[:found])
            words = split_words(line.text, found + n_columns - 1)[found:] if layout.has_last_text else words[found:]
        elif layout.has_last_text and len(words) > n_columns:
            words = split_words(line.text, n_columns - 1)
        if len(words) != n_columns:
            return Rejected(f"{len(words)} values for {n_columns} columns")
        instance = join_instance([words[at] for at in layout.instance_at])
        if time_us is None:
            time_us = self._next_us(layout, instance)
        return self.add_row(
            layout.stat,
            layout.value_columns,
            [words[at] for at in layout.value_at],
            instance=instance,
            time_us=time_us,
            offset=line.offset,
            missing=layout.missing,
        )

    def _next_us(self, layout: FixedColumnsLayout, instance: str) -> int:
        """Return the instant of the row: that of the present report, or of the next one where this row begins it."""
        if not layout.instance_at or instance in self._seen or len(self._seen) >= MAX_SEEN:
            self._seen.clear()
        if not self._seen:
            self.begin_report()
        self._seen.add(instance)
        return self.report_us

    def _is_time(self, words: Sequence[str]) -> bool:
        """Return whether the words are only a time."""
        if len(words) > MAX_TIME_WORDS:
            return False
        clock = take_clock(words)
        if clock is not None and clock.n_words == len(words):
            return True
        stamp = parse_timestamp(" ".join(words))
        return stamp is not None and not stamp.is_clock_only

    def _time_us(self, words: Sequence[str]) -> int:
        stamp = parse_timestamp(" ".join(words))
        if stamp is not None and not stamp.is_clock_only:
            return self.timeline.stamp_us(stamp)
        clock = take_clock(words)
        assert clock is not None
        return self.timeline.clock_us(clock.seconds)
