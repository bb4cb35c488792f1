"""Rows of words whose columns nobody prints a header for: what add-ons of users mostly are.

    2026-11-21T12:00:00Z
    0.21 0.30 1.20 4.05 0.00 12

Every line that is neither a time nor ignored is a row. Keys of `[layout]`:
    stat       the stat of the rows
    columns    the names of all columns, in their order
    instance   those that name what a row is about; without them every row is a report of its own
    labels     those that are text and nothing else
    missing    words that stand for "no value", besides "-"
    last_text  true when the last column, of text, may contain blanks
    time       "line": a time on a line of its own stands before each report; "leading": one stands before the columns of each row
               (a clock, an epoch, 2026-11-21T12:00:00Z, 2026-11-21 12:00:00)
    ignored    regular expressions of lines that say nothing; they come before rows
    shortest   lines of fewer characters that are no row are noise (4, as dim_STAT has it)

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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import ABSENT, Line, LineReading
from normstat.stats.engine.row import join_instance
from normstat.stats.engine.timestamps import parse_stamp, split_words, take_clock
from normstat.stats.pattern import join_patterns
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Spec, Stat

KEYS: Final = frozenset({"stat", "columns", "instance", "labels", "missing", "last_text", "time", "ignored", "shortest"})
TIMES: Final = ("line", "leading")
MIN_LENGTH: Final = 4
MAX_COLUMNS: Final = 500
# No report has more rows than this; it bounds the state that a broken stream can make.
MAX_SEEN: Final = 20_000
# "Sat Nov 21 12:00:01 PM UTC 2026" is the longest time that tools print.
MAX_TIME_WORDS: Final = 7


@dataclass(frozen=True)
class RowLayout:
    """How a row is laid out; the module's docstring explains the keys. The places are those of words behind a leading time."""

    stat: Stat
    columns: tuple[str, ...]
    instance_at: tuple[int, ...]
    value_at: tuple[int, ...]
    missing: frozenset[str]
    has_last_text: bool
    has_leading_time: bool
    ignored: re.Pattern[str] | None
    shortest: int


def check(spec: Spec) -> None:
    """Raise KeyError, TypeError, ValueError or re.error for a layout that makes no sense."""
    _build(spec)


class FixedReading(LineReading):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Take up which instances the present report has."""
        self._layout = _build(self.spec)
        seen = own.get("seen")
        self._seen = set(map(str, seen)) if isinstance(seen, list) else set()

    def save(self) -> State:
        """Return the instances of the present report."""
        return {"seen": sorted(self._seen)}

    def take_line(self, line: Line) -> LineKind | str:
        """Return a time, a row, or nothing; in this order, since the word of a lone column may look like a time."""
        layout = self._layout
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

    def _take_row(self, layout: RowLayout, line: Line) -> str | None:
        """Add the row. Missing: None when it was added, else the reason why it was not."""
        words = split_words(line.text)
        n_columns = len(layout.columns)
        time_us: int | None = None
        if layout.has_leading_time:
            most = min(MAX_TIME_WORDS, len(words)) if layout.has_last_text else len(words) - n_columns
            least = 1 if layout.has_last_text else most
            found = next((n for n in range(most, least - 1, -1) if n > 0 and self._is_time(words[:n])), 0)
            if not found:
                return f"no time before {n_columns} columns"
            time_us = self._time_us(words[:found])
            words = split_words(line.text, found + n_columns - 1)[found:] if layout.has_last_text else words[found:]
        elif layout.has_last_text and len(words) > n_columns:
            words = split_words(line.text, n_columns - 1)
        if len(words) != n_columns:
            return f"{len(words)} values for {n_columns} columns"
        instance = join_instance([words[at] for at in layout.instance_at])
        if time_us is None:
            time_us = self._next_us(layout, instance)
        return self.add_row(
            layout.stat,
            [layout.columns[at] for at in layout.value_at],
            [words[at] for at in layout.value_at],
            instance=instance,
            time_us=time_us,
            offset=line.offset,
            missing=layout.missing,
        )

    def _next_us(self, layout: RowLayout, instance: str) -> int:
        """Return the instant of the row: that of the present report, or of the next one where this row begins it."""
        if not layout.instance_at or instance in self._seen or len(self._seen) >= MAX_SEEN:
            self._seen.clear()
        if not self._seen:
            self.begin_report()
        self._seen.add(instance)
        return self.report_us

    def _is_time(self, words: Sequence[str]) -> bool:
        """Return whether the words are a time and nothing else."""
        if len(words) > MAX_TIME_WORDS:
            return False
        clock = take_clock(words)
        if clock is not None and clock.n_words == len(words):
            return True
        stamp = parse_stamp(" ".join(words))
        return stamp is not None and not stamp.is_clock_only

    def _time_us(self, words: Sequence[str]) -> int:
        stamp = parse_stamp(" ".join(words))
        if stamp is not None and not stamp.is_clock_only:
            return self.timeline.stamp_us(stamp)
        clock = take_clock(words)
        assert clock is not None
        return self.timeline.clock_us(clock.seconds)


def _build(spec: Spec) -> RowLayout:
    raw = spec.layout
    for key in raw:
        _require(key in KEYS, f"{key}: is not known")
    stat = next((stat for stat in spec.stats if stat.name == raw.get("stat")), None)
    if stat is None:
        raise ValueError(f"stat: {raw.get('stat')!r} is no stat of this spec")
    columns = _columns(raw)
    instance, labels = _texts(raw, "instance"), _texts(raw, "labels")
    for key, names in (("instance", instance), ("labels", labels)):
        for name in names:
            _require(name in columns, f"{key}: {name!r} is no column")
    known = {field.column for field in stat.fields}
    value_at = tuple(at for at, name in enumerate(columns) if name not in labels and (name not in instance or name in known))
    _require(bool(value_at), "columns: at least one must be neither an instance nor a label")
    has_last_text = raw.get("last_text") is True
    _require(not has_last_text or len(columns) - 1 not in value_at, "last_text: the last column is no text")
    time, shortest = raw.get("time", "line"), raw.get("shortest", MIN_LENGTH)
    _require(time in TIMES, f"time: {time!r} is none of {', '.join(TIMES)}")
    if not isinstance(shortest, int):
        raise TypeError("shortest: a number is needed")
    ignored = _texts(raw, "ignored")
    return RowLayout(
        stat=stat,
        columns=tuple(columns),
        instance_at=tuple(columns.index(name) for name in instance),
        value_at=value_at,
        missing=frozenset({ABSENT, *_texts(raw, "missing")}),
        has_last_text=has_last_text,
        has_leading_time=time == "leading",
        ignored=join_patterns(spec, ignored),
        shortest=shortest,
    )


def _columns(raw: Mapping[str, object]) -> list[str]:
    columns = _texts(raw, "columns")
    is_right = 1 <= len(columns) <= MAX_COLUMNS and len(set(columns)) == len(columns)
    _require(
        is_right and all(len(name.split()) == 1 for name in columns),
        f"columns: 1 to {MAX_COLUMNS} names are needed, each another one, without blanks",
    )
    return columns


def _require(is_right: bool, why: str) -> None:  # noqa: FBT001 (it is the claim)
    if not is_right:
        raise ValueError(why)


def _texts(raw: Mapping[str, object], key: str) -> list[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        message = f"{key}: must be a list of texts, not {value!r}"
        raise TypeError(message)
    return [str(item) for item in value]
