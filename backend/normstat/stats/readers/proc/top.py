"""top -b of procps, of busybox and of Solaris: lines of named numbers, then a table of processes.

    top - 23:06:21 up 2 min,  2 users,  load average: 0.55, 0.24, 0.09
    Tasks: 245 total,   1 running, 244 sleeping,   0 stopped,   0 zombie
    %Cpu(s):  3.1 us,  3.1 sy,  0.0 ni, 93.8 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
    MiB Mem :   3903.6 total,   2378.7 free,    320.2 used,   1204.7 buff/cache

        PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
          1 root      20   0  104364  13208   8636 S   0.0   0.3   0:06.01 systemd

Keys of `[layout]`:
    heads      regular expressions of the line that begins a report; groups `clock`, and others that are columns of `head_stat`
    begins     regular expression of the lines that begin a report, where the head stands below
    head_stat  the stat of those columns
    process    the stat of the rows under the header that holds PID
    texts      columns of processes that are not numbers
    times      columns of processes that are times of CPU, kept in seconds
    sizes      columns of processes that are KiB when they have no suffix
    old_cpu    true when the first report of a call has no %CPU of now: its rows are about the time since boot, but for what is
               present in any report (all columns but those of `shares`)
    shares     columns of processes that are about an interval
Keys of `[[layout.summaries]]`:
    stat       the stat of the line's numbers
    pattern    regular expression of the line; group `items` holds the numbers, `instance` what they are about, `unit` their unit
    prefix     what stands before the name of each column; `{unit}` is the group
    units      a suffix and what `{unit}` is then
    old        true when the first report of a call covers the time since boot
    several    true when the line may hold several of them ("%Cpu0 : ...   %Cpu1 : ...")
    renamed    other names of numbers, if a release uses another one
    bar        columns of the two numbers that stand before a bar ("54.3/15900.5 [||||  ]")

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"top - 23:06:21 up 2 min,  2 users,  load average: 0.55, 0.24, 0.09\\n%Cpu(s):  3.1 us,  3.1 sy\\n"
>>> result = read(require_spec("top_linux"), text, state={}, offset=0, is_final=True)
>>> [(block.stat.name, list(block.instances)) for block in (*result.blocks, *result.since_boot)]
[('top_linux_tasks', ['']), ('top_linux_cpu', ['Cpu(s)'])]
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from normstat.stats.engine.lines import ABSENT, Line
from normstat.stats.engine.number_formats import SUFFIXES
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.labelled_numbers import command_name, kib_of, seconds_of, split_items
from normstat.stats.engine.snapshot import NO_VALUES, SnapshotReader
from normstat.stats.engine.times.timeline import MICRO, SET_BACK_LIMIT_S
from normstat.stats.engine.times.timestamps import SECONDS_A_DAY, Timestamp, split_words, take_clock
from normstat.stats.layout import ASCII, JOINED, StatName, toml_key
from normstat.stats.records import NO_TIME, LineKind, State, number_of, texts_of
from normstat.stats.spec import Layout

PID: Final = "PID"
STATE: Final = "STAT"
PARTED_STATE: Final = re.compile(r"\b([RSDZTWIX]W?) ([<N]) ", re.ASCII)
GLUED_SHARE: Final = re.compile(r"(\b\d{1,6}[mgt])(\d{1,6}%)", re.ASCII)
SUFFIXED: Final = re.compile(r"\d{1,18}(?:[.,]\d{1,3})?[KMGTP]", re.ASCII)
MAX_COLUMNS: Final = 100
# Keys t and m draw bars. The whole number before it is the sum, rounded.
BAR: Final = re.compile(
    r"\s*(?P<first>\d{1,18}(?:[.,]\d{1,6})?)/(?P<second>\d{1,18}(?:[.,]\d{1,6})?)\s*(?:\d{1,6})?\s*\[[^\]\d]*\]?\s*", re.ASCII
)
NUMBER: Final = re.compile(r"[-+]?\d{1,18}(?:[.,]\d{1,6})?%?", re.ASCII)


@dataclass(frozen=True)
class SummaryLine:
    """A kind of line above the processes; the module's docstring explains the keys."""

    stat: StatName
    pattern: Annotated[re.Pattern[str], ASCII]
    prefix: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    is_old: bool = toml_key("old", default=False)
    is_several: bool = toml_key("several", default=False)
    renamed: Mapping[str, str] = field(default_factory=dict)
    bar: tuple[str, ...] = ()


@dataclass(frozen=True)
class TopLayout(Layout):
    """The layout of top; the module's docstring explains the keys."""

    head_stat: StatName
    process: StatName
    summaries: tuple[SummaryLine, ...]
    head: Annotated[re.Pattern[str], JOINED, ASCII] = toml_key("heads")
    begin: Annotated[re.Pattern[str] | None, ASCII] = toml_key("begins", default=None)
    texts: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset()
    has_old_cpu: bool = toml_key("old_cpu", default=False)


LAYOUT: Final = TopLayout


class Reader(SnapshotReader[TopLayout]):
    """One call of the reader: `_header` are the columns of the processes, `_clock` the clock of the report before."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        clock = own.get("clock")
        self._header = texts_of(own.get("header"))
        self._clock = float(clock) if isinstance(clock, int | float) else None
        self._clock_us = number_of(own.get("clock_us"), NO_TIME)
        # Whether the times of the call come from its clocks alone.
        self._is_by_clock = own.get("by_clock") is True

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            **super().save(),
            "header": self._header,
            "clock": self._clock,
            "clock_us": self._clock_us,
            "by_clock": self._is_by_clock,
        }

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        super().begin_call()
        self._clock = None

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        # A screen that is drawn again leaves out the lines that stay, such as the names of columns.
        self._header = self._header if self.is_screen else []

    def take_blank(self) -> None:
        """End the lines above the processes."""
        self.flush()

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        if self._header:
            found = self._take_process(line, text)
            if found:
                return found
        layout = self.layout
        head = layout.head.fullmatch(text)
        if (layout.begin.match(text) if layout.begin is not None else head) is not None:
            self.end_report()
        if head is not None:
            return self._take_head(line, head)
        for summary in self.layout.summaries:
            if summary.pattern.match(text) is not None:
                return self._take_summary(line, text, summary)
        words = text.split()
        if PID in words and 3 < len(words) <= MAX_COLUMNS and not any(map(NUMBER.fullmatch, words)):
            self.flush()
            self._header = words
            return LineKind.HEADER
        return NOT_MINE

    def _take_head(self, line: Line, head: re.Match[str]) -> Outcome:
        found = {key: value for key, value in head.groupdict().items() if value is not None}
        clock_text = found.pop("clock", None)
        clock = take_clock(clock_text.split()) if clock_text is not None else None
        if clock is not None and not clock.is_epoch:
            self._see_clock(clock.seconds)
        columns, words = list(found), [word.replace(",", ".") for word in found.values()]
        stat = self.stat(self.layout.head_stat)
        return self.gather(stat, columns, words, offset=line.offset) or LineKind.SAMPLE

    def _see_clock(self, seconds: float) -> None:
        """Date the report with this time of day. A time from elsewhere for the first report of a call wins, and the clock then
        shows how much later the others are: the two may be of different zones.
        """
        if self._clock is None and self.stamped_us != NO_TIME:
            self._clock_us, self._is_by_clock = self.stamped_us, False
        elif self._clock is not None and self._clock_us != NO_TIME and not self._is_by_clock:
            step = (seconds - self._clock) % SECONDS_A_DAY
            self._clock_us += round((step if step < SECONDS_A_DAY - SET_BACK_LIMIT_S else step - SECONDS_A_DAY) * MICRO)
            self.see_instant(self._clock_us)
        else:
            # The zone knows of summer time, which a difference between two clocks does not show.
            self.see_stamp(Timestamp(seconds, is_clock_only=True, offset_s=None))
            self._clock_us, self._is_by_clock = self.stamped_us, True
        self._clock = seconds

    def _take_summary(self, line: Line, text: str, summary: SummaryLine) -> Outcome:
        marks = list(summary.pattern.finditer(text)) if summary.is_several else [summary.pattern.match(text)]
        rows: list[tuple[str, list[str], list[str]]] = []
        for number, mark in enumerate(marks):
            assert mark is not None
            following = marks[number + 1] if number + 1 < len(marks) else None
            cells = _cells(summary, mark, text[mark.end() : following.start() if following is not None else len(text)])
            if isinstance(cells, Rejected):
                return cells
            rows.append((mark.groupdict().get("instance") or "", *cells))
        stat = self.stat(summary.stat)
        for _, columns, words in rows:
            refused = self.refusal(stat, columns, words)
            if refused is not None:
                return refused
        for instance, columns, words in rows:
            if instance:
                self.want_report()
                is_old = summary.is_old and self.n_reports == 1 and not self.omits_since_boot
                self.add_row(stat, columns, words, instance=instance, offset=line.offset, is_since_boot=is_old)
            elif summary.is_old and self.n_reports < 2 and not self.omits_since_boot:
                self.want_report()
                self.add_row(stat, columns, words, offset=line.offset, is_since_boot=self.n_reports == 1)
            else:
                self.gather(stat, columns, words, offset=line.offset)
        return LineKind.SAMPLE

    def _take_process(self, line: Line, text: str) -> Claim:
        header = self._header
        if STATE in header:
            # Busybox has a place each for state, swapped out and nice; a large share touches the size before it.
            text = PARTED_STATE.sub(r"\1\2 ", GLUED_SHARE.sub(r"\1 \2", text, count=1), count=1)
        words = split_words(text, len(header) - 1)
        if len(words) != len(header):
            return NOT_MINE
        layout = self.layout
        at = header.index(PID)
        if not words[at].isdigit():
            return NOT_MINE
        columns: list[str] = []
        numbers: list[str] = []
        for column, word in zip(header, words, strict=True):
            if column in layout.texts or column == PID:
                continue
            number = self._number(column, word)
            if number is None:
                return Rejected(f"column {column}: {word[:40]!r} is not a number")
            columns.append(column)
            numbers.append(number)
        self.want_report()
        instance = f"{words[at]}/{command_name(words[-1])}" if header[-1] in layout.texts else words[at]
        is_old = layout.has_old_cpu and self.n_reports == 1 and not self.omits_since_boot
        refused = self._add(line, columns, numbers, instance, is_old=is_old)
        if refused is None and is_old:
            kept = [number for number, column in enumerate(columns) if column not in layout.shares]
            self._add(line, [columns[number] for number in kept], [numbers[number] for number in kept], instance, is_old=False)
        return refused or LineKind.SAMPLE

    def _add(self, line: Line, columns: Sequence[str], words: Sequence[str], instance: str, *, is_old: bool) -> Rejected | None:
        if not columns:
            return NO_VALUES
        stat = self.stat(self.layout.process)
        return self.add_row(stat, columns, words, instance=instance, offset=line.offset, is_since_boot=is_old)

    def _number(self, column: str, word: str) -> str | None:
        """Return the word as a plain number. Missing: "" if top had no room for it, None when it is not a number."""
        if word in ("?", "rt", "RT", ABSENT):
            return ""
        if column in self.layout.times:
            return seconds_of(word)
        if column in self.layout.sizes:
            return kib_of(word)
        return word.rstrip("%") if (SUFFIXED if word[-1] in SUFFIXES else NUMBER).fullmatch(word) is not None else None


def _with_unit(number: str, unit: str, summary: SummaryLine) -> str:
    return number if unit == "%" or unit in summary.units else number + unit


def _cells(summary: SummaryLine, mark: re.Match[str], rest: str) -> tuple[list[str], list[str]] | Rejected:
    """Return the columns and words after the name of a line, or why it cannot be read."""
    unit = mark.groupdict().get("unit") or ""
    bar = BAR.fullmatch(rest) if summary.bar else None
    if bar is not None:
        return [column.replace("{unit}", unit) for column in summary.bar], [bar["first"], bar["second"]]
    items = split_items(rest)
    if items is None:
        return Rejected("not a list of numbers with their names")
    columns = []
    for item in items:
        label = summary.renamed.get(item.label, item.label)
        name = label if label.startswith("{unit}") else summary.prefix + label
        columns.append(name.replace("{unit}", unit or summary.units.get(item.unit, item.unit)).strip())
    if len(set(columns)) != len(columns):
        return Rejected("a name appears twice in the line")
    return columns, [_with_unit(item.number, item.unit, summary) for item in items]
