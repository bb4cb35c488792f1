"""Separate the calls of a tool where a recorder calls it repeatedly and writes all of its output to one stream.

    1795262401
    CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
      0    9   0  141   526  310  612   14   31    9    0  1512    4   2   0  94
    CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
      0   12   0   88   498  301  577   11   28    7    0  1390    3   1   0  96
    1795262411
    ...

The agent's `@10 mpstat 5 2` prints the epoch before each call; OSWatcher and ExaWatcher print a line that begins with `zzz`,
watch(1) one with `Every`. Each call is a run of its own: its first report may cover the time since boot, and its reports
follow each other at the tool's interval.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import SECONDS_A_DAY, Timestamp, parse_timestamp
from normstat.stats.records import State

# A command line of the agent begins with it when the agent calls the tool repeatedly: "@10 mpstat 5 2".
LOOP_MARK: Final = "@"
LOOP: Final = re.compile(r"@(?P<every>\d{1,9})\s+(?P<command>\S.*)", re.ASCII | re.DOTALL)
# A fleet's hosts run the same commands, and each post brings them again.
MAX_COMMANDS: Final = 1024
# Options with which a tool prints the epoch itself, before each of its reports: -T u, -Tu; -d u of prstat.
OWN_EPOCH: Final = re.compile(r"\s-[A-Za-z]*[Td]\s?u(?:\s|$)", re.ASCII)
RECORDER_MARKS: Final = (b"zzz ", b"Every ")
MAX_LINE_LENGTH: Final = 200
# Lines at the beginning of a file in which a recorder tells about itself, and the interval within a call; OSWatcher adds that to
# the line before a call. Later such a line may be a tool's.
RECORDER_LINES: Final = 20
RECORDER_HEAD: Final = re.compile(
    rb"#{20,}|#[ \t]+(?:Starting Time|Sample Interval\(s\)|Archive Count|Collection (?:Module|Command)):[ \t].*",
    re.ASCII,
)
SAMPLE_INTERVAL: Final = re.compile(rb"\bSample interval(?:\(s\))?:[ \t]*(?P<seconds>\d{1,6})\b", re.ASCII | re.IGNORECASE)
# A call comes about its interval after the one before it; a number farther away may be a value that looks like an epoch.
MAX_PAUSE_S: Final = 7 * SECONDS_A_DAY
NUMBER: Final = re.compile(r"\d{1,7}(?:\.\d{1,6})?", re.ASCII)
# Single-letter options, by tool, that take a number as a separate word. Other numbers at the end are interval and count.
NUMBER_OPTIONS: Final = {"vmstat": "", "iostat": "l", "mpstat": "PN", "pidstat": "p", "sar": "Pi", "prstat": "ChjknpPuUz"}
# Tools that name the interval with an option; "" for those whose numbers are something else.
INTERVAL_OPTIONS: Final = {
    "top": "-d", "dladm": "-i", "free": "-s", "perf": "", "strace": "", "truss": "", "lockstat": "", "plockstat": "", "dtrace": "",
    "bpftrace": "", "ps": "", "time": "", "turbostat": "", "ping": "-i",
}  # fmt: skip
MAX_NUMBERS: Final = 2
SYSSTAT_TOOLS: Final = frozenset({"iostat", "tapestat", "cifsiostat"})
# Commands of the agent itself: "facts 3600", "sample 1 auto", "query 10 psql".
BUILT_IN: Final = re.compile(r"(?:facts|sample|query) (?P<every>\d{1,9})(?: |$)", re.ASCII)
SHELL_OPERATOR: Final = re.compile(r"[|;&<>]")


def interval_in_command(command: str, tool: str) -> float | None:
    """Return the seconds between two reports of one call, from its command line.

    Missing: None when it has none, or does not call the tool by its name.

    >>> interval_in_command("@10 mpstat -P 0 5 2", "mpstat"), interval_in_command("@60 top -b -n 2 -d 5", "top")
    (5.0, 5.0)
    >>> interval_in_command("@60 prstat -n 5", "prstat"), interval_in_command("@60 zpool iostat", "zpool")
    (None, None)
    """
    words = command.split()
    at = next((at for at, word in enumerate(words) if word.lstrip("'\"").rpartition("/")[2] == tool), None)
    if at is None:
        return None
    words = [word.strip("'\"") for word in words[at + 1 :]]
    end = next((number for number, word in enumerate(words) if SHELL_OPERATOR.search(word)), None)
    if end is not None:
        words = [*words[:end], SHELL_OPERATOR.split(words[end])[0]]
    # 2>/dev/null
    if end is not None and words[-1:] == ["2"] and command.split()[at + 1 + end].startswith("2>"):
        words.pop()
    words = [word for word in words if word]
    option = INTERVAL_OPTIONS.get(tool)
    if option is not None:
        return _seconds_after(words, option) if option else None
    numbers: list[str] = []
    while words and NUMBER.fullmatch(words[-1]):
        numbers.insert(0, words.pop())
    if words and words[-1].startswith("-"):
        if words[-1][-1] in NUMBER_OPTIONS.get(tool, ""):
            numbers = numbers[1:]
        elif tool not in NUMBER_OPTIONS and len(numbers) == 1:
            # It may be an argument of the option.
            return None
    return float(numbers[0]) or None if 1 <= len(numbers) <= MAX_NUMBERS else None


@lru_cache(MAX_COMMANDS)
def may_be_live(command: str) -> bool:
    """Return whether the tool may still run: its command line has a number, which may be an interval, or is called repeatedly.

    >>> may_be_live("vmstat -n -t 1"), may_be_live("iostat -xy"), may_be_live("@60 df -k")
    (True, False, True)
    """
    return command.startswith(LOOP_MARK) or any(NUMBER.fullmatch(word) for word in command.split()[1:])


def stream_interval(command: str) -> float | None:
    """Return the seconds between two reports of a stream, calls apart, as the agent's command line says. Missing: None when it
    says none.

    >>> stream_interval("@300 df -k"), stream_interval("facts 3600"), stream_interval("/usr/bin/vmstat -t 60"), stream_interval("")
    (300.0, 3600.0, 60.0, None)
    """
    repeated = LOOP.match(command) or BUILT_IN.match(command)
    if repeated is not None:
        return float(repeated["every"])
    return interval_in_command(command, command.partition(" ")[0].strip("'\"").rpartition("/")[2])


def _seconds_after(words: Sequence[str], option: str) -> float | None:
    for word, following in zip(words, [*words[1:], ""], strict=False):
        number = following if word == option else word.removeprefix(option) if word.startswith(option) else ""
        if NUMBER.fullmatch(number):
            return float(number) or None
    return None


def recorded_interval(line: bytes) -> int | None:
    """Return the seconds between two reports of a call, from a recorder's line. Missing: None for any other line.

    >>> recorded_interval(b"# Sample Interval(s):\\t5"), recorded_interval(b"# Archive Count:\\t720")
    (5, None)
    """
    found = SAMPLE_INTERVAL.search(line[:MAX_LINE_LENGTH])
    return int(found["seconds"]) or None if found is not None else None


@lru_cache(MAX_COMMANDS)
def omits_since_boot(letter: str, command: str, tool: str) -> bool:
    """Return whether the command line has the option that suppresses the since-boot report, alone or among others (-xy).

    >>> omits_since_boot("y", "iostat -xy 1 1", "iostat"), omits_since_boot("y", "@60 iostat -xy", "iostat")
    (True, False)
    """
    words = command.split()[1:]
    if not letter or not any(word.startswith("-") and not word.startswith("--") and letter in word[1:] for word in words):
        return False
    # Without an interval the tools of sysstat print the report since boot in spite of the option.
    is_ignored = command.startswith(LOOP_MARK) and tool in SYSSTAT_TOOLS and interval_in_command(command, tool) is None
    return not is_ignored


@lru_cache(MAX_COMMANDS)
def _loop_of(command: str) -> tuple[int | None, bool]:
    """Return the seconds between the agent's calls of a tool, None for one call, and whether the tool prints the epoch itself."""
    loop = LOOP.match(command)
    return int(loop["every"]) if loop is not None else None, OWN_EPOCH.search(command) is not None


class Calls:
    """Finds the lines of a stream that a recorder wrote before it called the tool. Kept in the reader's state."""

    __slots__ = ("_begun_s", "_epoch_s", "_every_s", "_has_own_epochs")

    def __init__(self, command: str, state: object) -> None:
        self._every_s, self._has_own_epochs = _loop_of(command)
        # When the present call began, and the epoch on the line just before; None for neither.
        self._begun_s: int | None = None
        self._epoch_s: int | None = None
        if isinstance(state, list) and len(state) == 2:
            begun_s, epoch_s = state
            self._begun_s = begun_s if isinstance(begun_s, int) else None
            self._epoch_s = epoch_s if isinstance(epoch_s, int) else None

    @property
    def is_loop(self) -> bool:
        """Whether the agent calls the tool again and again, and prints the epoch before each call."""
        return self._every_s is not None

    def to_state(self) -> State:
        """Return the state for a new object; {} for a stream without such lines."""
        return {"call": [self._begun_s, self._epoch_s]} if self.is_loop or self._begun_s is not None else {}

    def forget_line(self) -> None:
        """Forget the line before: bytes were lost."""
        self._epoch_s = None

    def take(self, line: bytes, *, may_be_data: bool, is_first: bool = False) -> Timestamp | None:
        """Return the time that a recorder wrote before a call. Missing: None for any other line.

        `may_be_data` where the tool itself may print a line that is one number. `is_first`: an epoch on this line begins the stream
        of a tool that prints none, so a script wrote it before a call, and others before the next ones.
        """
        epoch_s, self._epoch_s = self._epoch_s, None
        if len(line) > MAX_LINE_LENGTH:
            return None
        if line.startswith(RECORDER_MARKS):
            stamp = parse_time_line(line.decode("utf-8", "backslashreplace"))
            return stamp if stamp is not None and stamp.is_call else None
        if (self._every_s is None and self._begun_s is None and not is_first) or not line.isdigit():
            return None
        stamp = parse_timestamp(line.decode("ascii"))
        if stamp is None or not self._begins_call(int(stamp.seconds), epoch_s, may_be_data=may_be_data):
            return None
        self._begun_s = int(stamp.seconds)
        return stamp

    def _begins_call(self, seconds: int, before_s: int | None, *, may_be_data: bool) -> bool:
        self._epoch_s = seconds
        if self._begun_s is None:
            return True
        pause_s = seconds - self._begun_s
        if self._every_s is None:
            return 0 <= pause_s <= MAX_PAUSE_S
        if self._has_own_epochs:
            # The tool prints the epoch before its first report, right after that of the agent. This is the second of the two.
            return before_s is not None and not 0 <= pause_s < self._every_s
        return not may_be_data or self._every_s <= pause_s <= max(MAX_PAUSE_S, 10 * self._every_s)
