"""Lines parsed by regular expressions: files of /proc, and tools that print a few lines of fixed form.

       8       0 sda 14200 3361 892828 5058 18736 13416 715384 12604 0 24940 17663 0 0 0 0 0 0
    MemTotal:        3997272 kB
    TCP:   7 (estab 0, closed 2, orphaned 0, timewait 2)

Keys of `[layout]`:
    ignored    regular expressions of lines that say nothing
    headers    regular expressions of lines that only name columns
    stamped    true when the tool's own lines begin with a date: no other program put it there
Keys of `[[layout.rows]]`:
    stat       the stat of the line
    pattern    regular expression of the line without the blanks at its ends. Its groups are columns by their names, but for
               `numbers`, several numbers between blanks; `key` and `value`, a column and its number; and those of `instance`
    columns    the names of `numbers`, in their order
    least      minimum number of numbers; by default as many as `columns`
    names      the columns of groups whose names are not those of the columns
    instance   the instance with groups in braces: "{device}"
    gathered   true when the numbers belong to a row together with those of other lines
    seconds    groups that are times of the form days, hours:minutes, kept in seconds
    clock      the group that is the clock of the report, or its whole time (an epoch, 2026-11-21T12:00:00Z)
    event      the text of an event, with groups in braces, where the row is a notable one
    notable    regular expression to search in the line; such a row is notable
    above      groups and whole numbers: a row with one above its number is notable

An event is of kind `log`. Notable rows of one instance that follow each other within a minute are one event, which the first of
them tells.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> block = read(require_spec("proc_loadavg"), b"0.00 0.01 0.03 2/111 2039\\n", state={}, offset=0).blocks[0]
>>> [field.key for field in block.fields], [column.tolist() for column in block.values]
(['load_1m', 'load_5m', 'load_15m', 'running', 'total', 'last_pid'], [[0.0], [0.01], [0.03], [2], [111], [2039]])
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.labelled_numbers import span_seconds
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.engine.times.bursts import Bursts
from normstat.stats.engine.times.timestamps import Timestamp, parse_timestamp
from normstat.stats.fact_words import EventKind
from normstat.stats.layout import ASCII, JOINED, NON_EMPTY, StatName, toml_key
from normstat.stats.records import NO_TIME, LineEvent, LineKind, State, Timing
from normstat.stats.spec import Layout, Spec
from normstat.window import LATEST_US

INSTANCE_GROUP: Final = re.compile(r"\{(\w+)\}")
CLOCK: Final = re.compile(
    r"(?P<hours>[01]?\d|2[0-3]):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d))?(?: ?(?P<half>[aApP])[mM])?", re.ASCII
)
NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
EPOCH: Final = re.compile(r"\d{9,10}\.\d{1,9}", re.ASCII)
# No line of this reader's tools is longer; patterns skip longer ones.
MAX_LINE_LENGTH: Final = 1 << 19


@dataclass(frozen=True)
class PatternRow:
    """One kind of line; the module's docstring explains the keys."""

    stat: StatName
    pattern: Annotated[re.Pattern[str], ASCII]
    columns: tuple[str, ...] = ()
    least_numbers: int | None = toml_key("least", default=None)
    names: Mapping[str, str] = field(default_factory=dict)
    instance: str = ""
    is_gathered: bool = toml_key("gathered", default=False)
    seconds: frozenset[str] = frozenset()
    clock: str = ""
    event: str = ""
    notable: Annotated[re.Pattern[str] | None, ASCII] = None
    above: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Require that the keys name groups of the pattern."""
        groups = self.pattern.groupindex.keys()
        wanted = {*self.names, *self.seconds, *self.above, *([self.clock] if self.clock else [])}
        wanted |= {*INSTANCE_GROUP.findall(self.instance), *INSTANCE_GROUP.findall(self.event)}
        if not wanted <= groups:
            raise ValueError(f"pattern: has no groups {', '.join(sorted(wanted - groups))}")
        if ("numbers" in groups) != bool(self.columns) or ("key" in groups) != ("value" in groups):
            raise ValueError("pattern: a group `numbers` needs `columns`, a group `key` needs a group `value`, and the reverse")

    def is_notable(self, text: str, groups: Mapping[str, str]) -> bool:
        """Return whether a line is an event too."""
        if self.notable is not None and self.notable.search(text) is not None:
            return True
        return any(NUMBER.fullmatch(groups.get(name, "")) and float(groups[name]) > most for name, most in self.above.items())

    @property
    def least(self) -> int:
        """The minimum number of numbers on a line."""
        return len(self.columns) if self.least_numbers is None else self.least_numbers

    @functools.cached_property
    def silent(self) -> frozenset[str]:
        """Groups that are not columns themselves."""
        return frozenset({"numbers", "key", "value", self.clock, *INSTANCE_GROUP.findall(self.instance)})


@dataclass(frozen=True)
class PatternsLayout(Layout):
    """The kinds of lines; the module's docstring explains the keys."""

    rows: Annotated[tuple[PatternRow, ...], NON_EMPTY]
    ignored: Annotated[re.Pattern[str] | None, JOINED, ASCII] = None
    headers: Annotated[re.Pattern[str] | None, JOINED, ASCII] = None
    is_stamped: bool = toml_key("stamped", default=False)


LAYOUT: Final = PatternsLayout


class Reader(RepeatingReader[PatternsLayout]):
    """One call of the reader. A report ends where a row of the same stat and instance repeats."""

    _bursts: Bursts

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        assert isinstance(spec.layout, PatternsLayout)
        if spec.layout.is_stamped:
            self.prefix_kinds = frozenset()
        super().__init__(spec, state=state, offset=offset, timing=timing, command=command)

    def load(self, own: State) -> None:
        """Restore the report, and the events of the last minute."""
        super().load(own)
        self._bursts = Bursts(own.get("bursts"))

    def save(self) -> State:
        """Return the state for `load`."""
        bursts = self._bursts.to_state()
        return {**super().save(), "bursts": bursts} if bursts else super().save()

    def may_be_data(self, line: bytes) -> bool:
        """Return whether a line that is one number is a row: files of /proc and /sys may hold a single number."""
        text = line.decode("ascii")
        return any(row.pattern.fullmatch(text) is not None for row in self.layout.rows)

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        if len(text) > MAX_LINE_LENGTH:
            return Rejected(f"longer than {MAX_LINE_LENGTH} characters: not a line of {self.spec.tool}")
        for row in self.layout.rows:
            found = row.pattern.fullmatch(text)
            if found is not None:
                return self._take_row(line, row, found)
        if self.layout.headers is not None and self.layout.headers.fullmatch(text) is not None:
            return LineKind.HEADER
        if self.layout.ignored is not None and self.layout.ignored.fullmatch(text) is not None:
            return LineKind.IGNORED
        return NOT_MINE

    def _take_row(self, line: Line, row: PatternRow, found: re.Match[str]) -> Outcome:
        groups = {key: value for key, value in found.groupdict().items() if value is not None}
        cells = _cells(row, groups)
        if isinstance(cells, Rejected):
            return cells
        columns, words = [column for column, _ in cells], [word for _, word in cells]
        stat = self.stat(row.stat)
        instance = INSTANCE_GROUP.sub(lambda mark: groups.get(mark[1], ""), row.instance).strip()
        if row.clock:
            self._see_clock(groups.get(row.clock, ""))
        if row.is_gathered:
            return self.gather(stat, columns, words, instance=instance, offset=line.offset) or LineKind.SAMPLE
        self.see_name(f"{row.stat}\t{instance}")
        outcome = self.put_row(stat, columns, words, instance=instance, offset=line.offset)
        if row.event and outcome is LineKind.SAMPLE and row.is_notable(line.text, groups):
            self._add_event(INSTANCE_GROUP.sub(lambda mark: groups.get(mark[1], ""), row.event), instance, line.offset)
        return outcome

    def _add_event(self, text: str, instance: str, offset: int) -> None:
        """Add the event of a row that has a time, unless one of the last minute stands for it."""
        time_us = self.report_us
        if 0 <= time_us < LATEST_US and self._bursts.begins(instance, time_us):
            self.events.append(LineEvent(offset, time_us, NO_TIME, EventKind.LOG.value, self.spec.tool, text))

    def _see_clock(self, text: str) -> None:
        """Start a report at a clock in the line, and date it unless a time before it does."""
        found = CLOCK.fullmatch(text)
        self.end_report()
        if found is None and (stamp := _whole_time(text)) is not None:
            self.see_stamp(stamp)
        if found is not None and self.stamped_us == NO_TIME:
            hours = int(found["hours"]) % 12 + 12 * (found["half"] in "pP") if found["half"] else int(found["hours"])
            seconds = hours * 3600 + int(found["minutes"]) * 60 + int(found["seconds"] or 0)
            self.see_stamp(Timestamp(float(seconds), is_clock_only=True, offset_s=None))


def _whole_time(text: str) -> Timestamp | None:
    if EPOCH.fullmatch(text) is not None:
        return Timestamp(float(text), is_clock_only=False, offset_s=0)
    stamp = parse_timestamp(text)
    return None if stamp is None or stamp.is_clock_only else stamp


def _cells(row: PatternRow, groups: Mapping[str, str]) -> list[tuple[str, str]] | Rejected:
    """Return the columns with their words, or why a word cannot be read."""
    cells: list[tuple[str, str]] = []
    for group, value in groups.items():
        if group == "numbers":
            words = value.split()
            if len(words) < row.least:
                return Rejected(f"{len(words)} numbers, at least {row.least} expected")
            cells.extend(zip(_column_names(row.columns, len(words)), words, strict=True))
        elif group == "key":
            cells.append((value, groups["value"]))
        elif group not in row.silent:
            word = span_seconds(value) if group in row.seconds else value
            if word is None:
                return Rejected(f"{value[:40]!r} is not a time")
            cells.append((row.names.get(group, group), word))
    return cells


@functools.cache
def _column_names(columns: tuple[str, ...], n_numbers: int) -> tuple[str, ...]:
    """Return the names of that many numbers; those after the known ones are numbered, for a kernel that has more."""
    return (*columns[:n_numbers], *(f"column_{number + 1}" for number in range(len(columns), n_numbers)))
