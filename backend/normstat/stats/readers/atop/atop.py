"""What atop prints for programs, live or of a recorded file (`-r`): `atop -P ALL`, a line for each thing, and `atop -J ALL`, JSON.

RESET
CPU web1 1795986559 2026/11/29 21:09:19 72349 100 2 1497674 6286735 2784954 3780472 32960 0 43603 30143 0 4200 100 0 0
SEP
CPU web1 1795986564 2026/11/29 21:09:24 5 100 2 50 250 0 700 0 0 0 0 0 4200 100 0 0
DSK web1 1795986564 2026/11/29 21:09:24 5 sda 250 10 800 40 19088 0 0 1 2.04
PRC web1 1795986564 2026/11/29 21:09:24 5 7900 (java) S 100 200 50 0 120 0 0 1 0 7900 y
SEP

{"host": "web1", "timestamp": 1795986564, "elapsed": 5, "CPU": {"hertz": 100, "stime": 50, "utime": 250, ...}, "cpu": [...]}

A line has label, host, epoch, date, clock, and the seconds that it is about. Numbers are what happened in these seconds, in clock
ticks, sectors and pages; they become rates, shares and sizes. What follows RESET is about the time since boot, and so is the first
report of JSON, which has no such mark, and one that begins before the report before it. A release adds numbers at the ends of
lines: those after the known ones are not read.

Keys of `[layout]`:
    processes   the stat of processes: its labels are put together by PID
Keys of `[[layout.labels]]`:
    label       the label
    stat        the stat; several labels may fill the rows of one
    names       names of the words after the seconds, in their order, as JSON has them; "-" for words that are not read
    aliases     other names of JSON: "ndiscrd=ndisc"
    least       minimum number of words of old releases; by default all
    word        the word that its lines begin with, of a label that has lines of several kinds ("upper")
    json        the label in JSON where that is another one; "-" for one that is not read
    present     the name of the word that is "n" or "N" where nothing was measured
    instance    the name that is the instance
    fixed       the instance of a label that has one row ("all")
    pages       names of numbers that are pages in lines, and bytes in JSON
    ticks       names of numbers that are clock ticks, and become seconds
    values      the columns of the row
Keys of `values`: `column`; `of`, names whose sum it is; `by`, names by whose sum that is divided ("elapsed": the seconds); `factor`
and `divisor`. Of two with the same column, the first whose names are there counts.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> result = read(require_spec("atop"), excerpt, state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances) for block in result.blocks]
[('atop_cpu', ['all']), ('atop_disk', ['sda']), ('atop_process', ['7900/java']), ('atop_process_command', ['java'])]
>>> [field.key for field in result.blocks[0].fields[:3]], [column.tolist() for column in result.blocks[0].values[:3]]
(['usr_pct', 'nice_pct', 'sys_pct'], [[25.0], [0.0], [5.0]])
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.recorded_series import NO_JSON, read_json
from normstat.stats.layout import NON_EMPTY, Convert, StatName
from normstat.stats.records import LineKind, State, number_of
from normstat.stats.spec import Layout

MICRO: Final = 1_000_000
RESET: Final = "RESET"
SEPARATOR: Final = "SEP"
LEAD: Final = re.compile(
    r"(?P<label>[A-Za-z]{3}) (?P<host>\S{1,255}) (?P<epoch>\d{1,11}) \d{4}/\d\d/\d\d \d\d:\d\d:\d\d "
    r"(?P<elapsed>\d{1,10})(?: (?P<rest>.*))?",
    re.ASCII,
)
# "7900 (java) S ...", with option -Z "7900 java S ...".
TASK: Final = re.compile(r"(?P<pid>\d{1,10}) (?:\((?P<name>.*?)\)|(?P<plain>\S+)) [A-Z](?: (?P<rest>.*))?", re.ASCII)
# Texts in parentheses: those with blanks end what can be read by places.
WORD_IN_PARENTHESES: Final = re.compile(r"\(\S*\)")
TEXT_IN_PARENTHESES: Final = re.compile(r" \(.*")
NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,9})?%?", re.ASCII)
PID: Final = "pid"
PROCESS_NAMES: Final = ("cmd", "name")
IS_PROCESS: Final = "isproc"
PAGE_SIZE: Final = "pagesize"
HERTZ: Final = "hertz"
ELAPSED: Final = "elapsed"
LEADER: Final = "tgid"
NO: Final = frozenset({"n", "0"})
NOTHING: Final = frozenset({"n", "N"})
# The clock ticks of a second that Linux shows to programs, whatever its own are: for JSON, which says it of the host's CPUs only.
USER_HERTZ: Final = 100
# Reports that are rounded to seconds may overlap by this.
SLACK_S: Final = 2
# A first report that is longer is one since boot whose RESET was cut off, as by grep: no recording has intervals that long.
MAX_REPORT_S: Final = 3600
MAX_PROCESSES: Final = 100_000
NO_LINE: Final = Rejected("not a line of atop -P, and no JSON of atop -J")
NO_NUMBER: Final = Rejected("not the words that its label has")
TOO_MANY: Final = Rejected(f"more than {MAX_PROCESSES} processes in a report")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names that a text holds."""
    return tuple(text.split())


Names = Annotated[tuple[str, ...], Convert(str, split_names)]


@dataclass(frozen=True)
class AtopValue:
    """A column; the module's docstring explains the keys."""

    column: str
    of: Names
    by: Names = ()
    factor: int = 1
    divisor: int = 1

    def work_out(self, numbers: Mapping[str, float]) -> float | None:
        """Return the column's number. Missing: None where a value is missing, or the divisor is 0."""
        if not all(name in numbers for name in (*self.of, *self.by)):
            return None
        by = sum(numbers[name] for name in self.by) if self.by else 1.0
        return sum(numbers[name] for name in self.of) / by * self.factor / self.divisor if by > 0 else None


@dataclass(frozen=True)
class AtopLabel:
    """A label; the module's docstring explains the keys."""

    label: str
    stat: StatName
    names: Names
    values: Annotated[tuple[AtopValue, ...], NON_EMPTY]
    aliases: Names = ()
    least: int | None = None
    word: str = ""
    json: str = ""
    instance: str = ""
    fixed: str = ""
    present: str = ""
    pages: Names = ()
    ticks: Names = ()


@dataclass(frozen=True)
class AtopLayout(Layout):
    """The labels; the module's docstring explains the keys."""

    processes: StatName
    labels: Annotated[tuple[AtopLabel, ...], NON_EMPTY]
    ignored: Names = ()


LAYOUT: Final = AtopLayout


@dataclass(slots=True)
class AtopProcess:
    """A process of the present report: its name, "" while unknown, and the columns that came."""

    offset: int
    name: str
    values: dict[str, float]


class Reader(LineReader[AtopLayout]):
    """One call of the reader. `_time_s` is the end of the present report, 0 before the first."""

    prefix_kinds = frozenset({FormKind.SURE})

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        times, processes = own.get("times"), own.get("processes")
        self._time_s, self._elapsed_s, self._last_s = (int(time) for time in times) if isinstance(times, list) else (0, 0, 0)
        self._is_reset = own.get("reset") is True
        self._is_since_boot = own.get("boot") is True
        self._hertz = number_of(own.get("hertz"), USER_HERTZ)
        self._processes: dict[str, AtopProcess] = {}
        for pid, (offset, name, values) in processes.items() if isinstance(processes, dict) else ():
            self._processes[str(pid)] = AtopProcess(int(offset), str(name), dict(values))
        self._labels = {(label.label, label.word): label for label in self.layout.labels}
        # Threads of the present report: JSON does not say it of them in each label.
        self._threads: set[str] = set()
        self._decimals_of: dict[str, dict[str, int]] = {}
        self._of_json = {label.json or label.label: label for label in self.layout.labels}

    def load_after_gap(self, own: State) -> None:
        """Keep the times; the lost part of a report is not added."""
        self.load({"times": own.get("times"), "hertz": own.get("hertz")})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "times": [self._time_s, self._elapsed_s, self._last_s],
            "reset": self._is_reset,
            "boot": self._is_since_boot,
            "hertz": self._hertz,
            "processes": {pid: [own.offset, own.name, own.values] for pid, own in self._processes.items()},
        }

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding its rows."""
        text = line.text.strip()
        if not text:
            return LineKind.IGNORED
        if text in (RESET, SEPARATOR):
            self._end_report()
            self._is_reset = text == RESET
            return LineKind.HEADER
        if text.startswith("{"):
            return self._take_json(text, line.offset)
        found = LEAD.fullmatch(text)
        if found is None:
            return NO_LINE
        if self.is_another_host(found["host"]):
            return ANOTHER_HOST
        self._see_report(int(found["epoch"]), int(found["elapsed"]), is_json=False)
        return self._take_label(found["label"], found["rest"] or "", line.offset)

    def finish(self) -> None:
        """Add the processes of the last report: the stream has ended."""
        self._end_report()

    # Internals.

    def _see_report(self, time_s: int, elapsed_s: int, *, is_json: bool) -> None:
        """Note the report that the next values are of."""
        if (time_s, elapsed_s) == (self._time_s, self._elapsed_s):
            return
        self._end_report(keeps_reset=True)
        is_first = not self._last_s
        is_marked = self._is_reset or (is_first and (is_json or elapsed_s > MAX_REPORT_S) and not self.omits_since_boot)
        self._is_since_boot = is_marked or (not is_first and time_s - elapsed_s < self._last_s - SLACK_S)
        self._time_s, self._elapsed_s, self._last_s, self._is_reset = time_s, elapsed_s, time_s, False

    def _end_report(self, *, keeps_reset: bool = False) -> None:
        """Add the processes of the present report."""
        stat = self.layout.processes
        for pid, own in self._processes.items():
            self._add(stat, f"{pid}/{own.name}" if own.name else pid, own.values, own.offset)
        self._processes.clear()
        self._threads.clear()
        self._time_s = 0
        self._is_reset = self._is_reset and keeps_reset

    def _take_label(self, name: str, rest: str, offset: int) -> Outcome:
        """Take the rest of a line of `atop -P`, after its seconds."""
        if name in self.layout.ignored:
            return LineKind.IGNORED
        label = self._labels.get((name, rest.partition(" ")[0])) or self._labels.get((name, ""))
        if label is None:
            return (
                LineKind.IGNORED if any(key == name for key, _ in self._labels) else Rejected(f"{name}: not a known label of atop")
            )
        command = ""
        if label.stat == self.layout.processes:
            task = TASK.fullmatch(rest)
            if task is None:
                return NO_NUMBER
            command = task["plain"] if task["name"] is None else task["name"]
            after = TEXT_IN_PARENTHESES.sub("", WORD_IN_PARENTHESES.sub(ABSENT, task["rest"] or ""))
            rest = f"{task['pid']} {after}"
        words = rest.split()
        least = len(label.names) if label.least is None else label.least
        if len(words) < least:
            return Rejected(f"{len(words)} words after {name} and its times, at least {least} expected")
        found = {own: word for own, word in zip(label.names, words, strict=False) if own != ABSENT}
        return self._take_values(label, found, command, offset, is_json=False)

    def _take_json(self, text: str, offset: int) -> Outcome:
        found = read_json(text)
        if not isinstance(found, dict):
            return NO_JSON
        host, time, elapsed = (found.get(key) for key in ("host", "timestamp", ELAPSED))
        if not isinstance(host, str) or not (
            isinstance(time, str) and time.isdigit() and isinstance(elapsed, str) and elapsed.isdigit()
        ):
            return NO_LINE
        if self.is_another_host(host):
            return ANOTHER_HOST
        self._see_report(int(time), int(elapsed), is_json=True)
        outcome: Outcome = LineKind.HEADER
        for name, value in found.items():
            label = self._of_json.get(name)
            if label is None:
                continue
            for item in value if isinstance(value, list) else [value]:
                own = self._take_object(label, item, offset)
                if isinstance(own, Rejected):
                    return own
                outcome = own if own is not LineKind.IGNORED else outcome
        self._end_report()
        return outcome

    def _take_object(self, label: AtopLabel, item: object, offset: int) -> Outcome:
        if not isinstance(item, dict):
            return NO_JSON
        aliases = {name: known for name, _, known in (alias.partition("=") for alias in label.aliases)}
        words = {aliases.get(str(name), str(name)): str(value) for name, value in item.items()}
        command = next((words[name].removeprefix("(").removesuffix(")") for name in PROCESS_NAMES if name in words), "")
        return self._take_values(label, words, command, offset, is_json=True)

    def _take_values(self, label: AtopLabel, words: Mapping[str, str], command: str, offset: int, *, is_json: bool) -> Outcome:
        """Add the row of a label's words, or add them to those of their process."""
        is_task = label.stat == self.layout.processes
        if words.get(label.present) in NOTHING:
            return LineKind.IGNORED
        pid = words.get(PID, "")
        if is_task and (pid in self._threads or words.get(IS_PROCESS, "y") in NO or words.get(LEADER, pid) != pid):
            # A thread, which the numbers of its process include.
            if is_json:
                self._threads.add(pid)
            return LineKind.IGNORED
        numbers = _numbers(label, words)
        if numbers is None:
            return NO_NUMBER
        values = self._work_out(label, numbers, is_json=is_json)
        if is_task:
            return self._put_process(pid, command, values, offset)
        if not values:
            return LineKind.IGNORED
        instance = words.get(label.instance, "") if label.instance else label.fixed
        return self._add(label.stat, instance, values, offset) or LineKind.SAMPLE

    def _work_out(self, label: AtopLabel, numbers: dict[str, float], *, is_json: bool) -> dict[str, float]:
        """Return the columns of a label, from its numbers."""
        self._hertz = int(numbers.get(HERTZ, 0)) or self._hertz
        for name in numbers.keys() & set(label.ticks):
            numbers[name] /= self._hertz
        if PAGE_SIZE in numbers and not is_json:
            for name in numbers.keys() & set(label.pages):
                numbers[name] *= numbers[PAGE_SIZE]
        numbers[ELAPSED] = self._elapsed_s
        values: dict[str, float] = {}
        for value in label.values:
            number = value.work_out(numbers) if value.column not in values else None
            if number is not None:
                values[value.column] = number
        return values

    def _put_process(self, pid: str, command: str, values: Mapping[str, float], offset: int) -> Outcome:
        own = self._processes.get(pid)
        if own is None:
            if len(self._processes) >= MAX_PROCESSES:
                return TOO_MANY
            own = self._processes[pid] = AtopProcess(offset, command, {})
        own.name = own.name or command
        own.values.update(values)
        return LineKind.SAMPLE

    def _add(self, name: str, instance: str, values: Mapping[str, float], offset: int) -> Rejected | None:
        if not values:
            return None
        stat = self.stat(name)
        decimals = self._decimals_of.setdefault(name, {field.column: field.decimals for field in stat.fields})
        return self.add_row(
            stat,
            list(values),
            [f"{value:.{decimals.get(column, 0)}f}" for column, value in values.items()],
            instance=instance,
            time_us=self._time_s * MICRO,
            offset=offset,
            is_since_boot=self._is_since_boot,
        )


def _numbers(label: AtopLabel, words: Mapping[str, str]) -> dict[str, float] | None:
    """Return the numbers that the label's columns need.

    Missing: None where a word is not a number; numbers below 0 mean "unknown".
    """
    wanted: set[str] = {PAGE_SIZE, HERTZ, *(name for value in label.values for name in (*value.of, *value.by))}
    found: dict[str, float] = {}
    for name in wanted.intersection(words):
        word = words[name]
        if NUMBER.fullmatch(word) is None:
            return None
        number = float(word.removesuffix("%"))
        if number >= 0:
            found[name] = number
    return found
