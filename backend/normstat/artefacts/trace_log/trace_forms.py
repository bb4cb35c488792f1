"""Lines of traces, one class for each form: what an event's line says.

20426 1795824982.690155 openat(AT_FDCWD, "/usr/lib/locale", O_RDONLY) = 3 <0.000011>                           strace -f -ttt -T
    bash-21121 [001] ..... 1859.293372: sys_exit: NR 1 = 2                                                      ftrace, trace-cmd
    perf 20388 [000] 1813.575032: sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000             perf script
1813.575054 [0000] migration/0[18]   0.000      0.005      0.016                                                perf sched timehist
   0.899 ( 0.012 ms): ls/20609 brk()                                     = 0x556034ea0000                       perf trace
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, cast

from normstat.artefacts.log_builder import LogBuilder
from normstat.artefacts.parts import NO_NUMBER, LogClock
from normstat.artefacts.trace_log.tracepoints import read_arguments

NS: Final = 1_000_000_000
MAX_PID: Final = 2**31 - 1
MAX_SECONDS: Final = 9_000_000_000
MAX_ARGUMENTS: Final = 2000
# Texts of arguments whose meaning is remembered.
MAX_KNOWN: Final = 100_000


def to_ns(text: str) -> int:
    """Return a decimal number of seconds as nanoseconds, digit for digit; digits beyond the ninth are cut.

    >>> to_ns("1795824982.690155"), to_ns("0.000011"), to_ns("5")
    (1795824982690155000, 11000, 5000000000)
    """
    whole, _, fraction = text.partition(".")
    seconds = int(whole or 0)
    if seconds > MAX_SECONDS:
        raise ValueError(f"{seconds} s is not a time of a trace")
    return seconds * NS + int(fraction[:9].ljust(9, "0") or 0)


def ms_to_ns(text: str) -> int:
    """Return a decimal number of milliseconds as nanoseconds.

    >>> ms_to_ns("0.012"), ms_to_ns("1860344.618")
    (12000, 1860344618000)
    """
    whole, _, fraction = text.partition(".")
    if len(whole) > 15:
        raise ValueError("too many digits for a time in milliseconds")
    return int(whole or 0) * 1_000_000 + int(fraction[:6].ljust(6, "0") or 0)


def day_to_ns(text: str) -> int:
    """Return a time of day as nanoseconds since midnight.

    >>> day_to_ns("10:59:59.109884679")
    39599109884679
    """
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 3600 + int(minutes) * 60) * NS + to_ns(seconds)


def _pid(text: str | None) -> int:
    return NO_NUMBER if not text or int(text) > MAX_PID else int(text)


# The groups of a pattern, in its order; "" or None where a group is not there.
Row = tuple[str | None, ...]


class _Pids(dict[str | None, int]):
    """Numbers of threads by their texts."""

    def __missing__(self, text: str | None) -> int:
        self[text] = number = _pid(text)
        return number


class _Durations(dict[str, tuple[int, int]]):
    """Of the last " <..." of a line: how many characters a printed duration has, and its nanoseconds."""

    def __missing__(self, end: str) -> tuple[int, int]:
        found = StraceLines.DURATION.fullmatch(end)
        self[end] = told = (0, NO_NUMBER) if found is None else (len(end), to_ns(found[1]))
        return told


@dataclass(slots=True)
class _Calls:
    """Columns of the calls that some lines begin. `rows`: the place of each line among them."""

    rows: list[int] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


class _Arguments(dict[Row, tuple[str, str, str, str]]):
    """Event, object, function and arguments of the last groups of a tracepoint."""

    def __missing__(self, groups: Row) -> tuple[str, str, str, str]:
        self[groups] = told = read_tracepoint(*groups)
        return told


def read_tracepoint(event: str | None, arguments: str | None, call: str | None, caller: str | None) -> tuple[str, str, str, str]:
    """Return event, object, function and arguments of an event of a tracepoint, or of a call of the function tracer."""
    if call:
        return "function", "", call, f"<-{caller}"[:MAX_ARGUMENTS]
    name = (event or "").rpartition(":")[2]
    text = (arguments or "").strip()
    about, function = read_arguments(name, text)
    return name, about, function, text[:MAX_ARGUMENTS]


def to_ns_many(texts: Sequence[str]) -> tuple[list[int], int]:
    """Return what `to_ns` returns for each text, and the most digits behind a point.

    Raises: ValueError
    """
    decimals = len(texts[0].partition(".")[2])
    if 0 < decimals <= 9 and all(text[-1 - decimals] == "." for text in texts):
        scale = 10 ** (9 - decimals)
        times = [int(digits) * scale for digits in "\n".join(texts).replace(".", "").split("\n")]
        if max(times) // NS > MAX_SECONDS:
            raise ValueError(f"{max(times) // NS} s is not a time of a trace")
        return times, decimals
    return [to_ns(text) for text in texts], max(min(9, len(text.partition(".")[2])) for text in texts)


class TraceLines(ABC):
    """Takes the lines of one form."""

    stat: ClassVar[str]
    tool: ClassVar[str]
    title: ClassVar[str]
    pattern: ClassVar[re.Pattern[str]]

    def __init__(self) -> None:
        self.log = LogBuilder()
        self.clock = LogClock.RELATIVE
        self.decimals = 0

    @abstractmethod
    def take(self, found: re.Match[str], line: int) -> None:
        """Take a line that `pattern` matches. Raises: ValueError for numbers that cannot be."""

    def take_rows(self, rows: Sequence[Row], lines: Sequence[int]) -> bool:
        """Take the groups of many lines at once, with the same result as one by one.

        Returns: False, with nothing taken, where the lines must be taken one by one.
        """
        del rows, lines
        return False

    def _digits(self, time: str) -> None:
        digits = min(9, len(time.rpartition(".")[2])) if "." in time else 0
        self.decimals = max(self.decimals, digits)


class StraceLines(TraceLines):
    """strace -ttt or -tt, with or without -f and -T. A call that another thread interrupts is one event of two lines."""

    stat = "strace_log"
    tool = "strace"
    title = "System calls, one by one (strace)"
    pattern = re.compile(
        r"(?:\[pid\s+(?P<pid1>\d{1,10})\]\s+|(?P<pid2>\d{1,10})\s+)?"
        r"(?P<time>\d{9,11}\.\d{3,9}|\d\d:\d\d:\d\d(?:\.\d{1,9})?)\s+(?:\(\+\s*[\d.]+\)\s+)?"
        r"(?P<rest>(?P<name>[a-z_][a-z0-9_]{0,40})\("
        # What a call is about: its first argument, where that is an address, a number or a text.
        r"(?:(?P<about>0x[0-9a-f]{1,16}|\d{1,9}|\"(?:[^\"\\]|\\.){0,200}\")(?=[,)<]|$))?.*|<\.\.\. .*|--- .*|\+\+\+ .*)"
    )
    RESUMED: Final = re.compile(r"<\.\.\. (?P<name>[a-z_][a-z0-9_]{0,40}) resumed>(?P<rest>.*)")
    DURATION: Final = re.compile(r" <(\d{1,9}\.\d{1,9})>")
    CHILD: Final = re.compile(r"\) = (\d{1,10})(?: |$)")
    PROGRAM: Final = re.compile(r'"((?:[^"\\]|\\.){1,300})"')
    FORKS: Final = frozenset({"clone", "clone3", "fork", "vfork"})
    # Calls that say the command of a thread.
    TELLING: Final = FORKS | {"execve"}
    UNFINISHED: Final = " <unfinished ...>"

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[int, tuple[str, int, str]] = {}
        self._commands: dict[int, str] = {}
        self._pids = _Pids()
        self._durations = _Durations()

    def take(self, found: re.Match[str], line: int) -> None:
        """Take a call, the end of one, a signal or an exit."""
        if not self.take_rows([found.groups()], [line]):
            raise ValueError(f"{found['time']} s is not a time of a trace")

    def take_rows(self, rows: Sequence[Row], lines: Sequence[int]) -> bool:
        """Take calls, ends of them, signals and exits."""
        times = self._times([row[2] or "" for row in rows])
        if times is None:
            return False
        pids = [self._pids[row[0] or row[1]] for row in rows]
        commands, base = self._commands, len(self.log)
        added = _Calls()
        for at, (pid, row) in enumerate(zip(pids, rows, strict=True)):
            command = commands.get(pid)
            if command is None:
                command = commands[pid] = self._guess_command()
            rest, name, about = cast("tuple[str, str | None, str | None]", row[3:])
            if not name:
                event, text, duration_ns = self._take_other(rest, pid, added, base)
                if event is None:
                    continue
                name = event
            else:
                text, duration_ns = self._split(rest[len(name) + 1 :])
                if not duration_ns >= 0 and text.endswith(self.UNFINISHED):
                    text, duration_ns = self._split(text[: -len(self.UNFINISHED)])
                    self._open[pid] = (name, base + len(added.rows), text)
                elif name in self.TELLING:
                    self._learn_command(name, text, pid)
            added.rows.append(at)
            added.commands.append(command)
            added.names.append(name)
            added.objects.append(about or "")
            added.durations.append(duration_ns)
            added.arguments.append(text if len(text) <= MAX_ARGUMENTS else text[:MAX_ARGUMENTS])
        self._add(added, times, pids, lines)
        return True

    def _add(self, added: _Calls, times: Sequence[int], pids: Sequence[int], lines: Sequence[int]) -> None:
        log, rows = self.log, added.rows
        log.time.extend(map(times.__getitem__, rows))
        log.cpu.extend([NO_NUMBER] * len(rows))
        log.pid.extend(map(pids.__getitem__, rows))
        log.line.extend(map(lines.__getitem__, rows))
        log.duration.extend(added.durations)
        log.command.extend(added.commands)
        log.event.extend(added.names)
        log.function.extend([""] * len(rows))
        log.object.extend(added.objects)
        log.arguments.extend(added.arguments)

    def _guess_command(self) -> str:
        """Return the command of a thread that is seen for the first time: a child often runs before its parent's clone returns."""
        forking = [known for known, (name, _, _) in self._open.items() if name in self.FORKS]
        return self._commands.get(forking[0], "") if len(forking) == 1 else ""

    def _take_other(self, rest: str, pid: int, added: _Calls, base: int) -> tuple[str | None, str, int]:
        """Return event, arguments and duration of a signal or an exit. Missing: no event where a line ends an earlier call."""
        resumed = self.RESUMED.match(rest)
        if resumed is None:
            event, _, arguments = rest.strip("-+ ").partition(" ")
            return event[:60], arguments, NO_NUMBER
        text, duration_ns = self._split(resumed["rest"])
        name, number, begun = self._open.pop(pid, ("", NO_NUMBER, ""))
        if name != resumed["name"]:
            return resumed["name"], text, NO_NUMBER
        whole = begun + text
        if number >= base:
            added.durations[number - base] = duration_ns
            added.arguments[number - base] = whole[:MAX_ARGUMENTS]
        else:
            self.log.finish(number, duration_ns=duration_ns, arguments=whole[:MAX_ARGUMENTS])
        self._learn_command(name, whole, pid)
        return None, "", NO_NUMBER

    def _times(self, texts: Sequence[str]) -> list[int] | None:
        try:
            if ":" in texts[0] or ":" in "".join(texts):
                times = [day_to_ns(text) if ":" in text else to_ns(text) for text in texts]
                self.clock = LogClock.DAY if ":" in texts[-1] else LogClock.EPOCH
                for text in texts:
                    self._digits(text)
                return times
            times, decimals = to_ns_many(texts)
        except ValueError:
            return None
        self.clock = LogClock.EPOCH
        self.decimals = max(self.decimals, decimals)
        return times

    def _split(self, rest: str) -> tuple[str, int]:
        """Return the text without the duration at its end, and the duration."""
        if not rest.endswith(">"):
            return rest, NO_NUMBER
        at = rest.rfind(" <", -24)
        if at < 0:
            return rest, NO_NUMBER
        n, duration_ns = self._durations[rest[at:]]
        return (rest[:-n], duration_ns) if n else (rest, NO_NUMBER)

    def _learn_command(self, name: str, text: str, pid: int) -> None:
        if name == "execve" and text.endswith("= 0") and (program := self.PROGRAM.match(text)) is not None:
            self._commands[pid] = program[1].rpartition("/")[2][:64]
        elif name in self.FORKS and (child := self.CHILD.search(text)) is not None:
            self._commands[_pid(child[1])] = self._commands[pid]


class TracepointLines(TraceLines):
    """Events of the kernel, as ftrace and trace-cmd print them: TASK-PID [CPU] flags TIME: event: arguments."""

    stat = "ftrace_log"
    tool = "ftrace"
    title = "Kernel events (ftrace, trace-cmd)"
    pattern = re.compile(
        r"\s*(?P<comm>\S.{0,63}?)-(?P<pid>\d{1,10})\s+(?:\(\s*(?:\d{1,10}|-+)\)\s+)?\[(?P<cpu>\d{1,5})\]\s+(?:\S{4,8}\s+)?"
        r"(?P<time>\d{1,10}\.\d{3,9}):\s+(?:(?P<event>[\w:-]{1,80}):(?:\s+(?P<args>.*))?|(?P<call>\S{1,200})\s+<-(?P<caller>.*))"
    )

    def __init__(self) -> None:
        super().__init__()
        self._pids = _Pids()
        self._known = _Arguments()

    def take(self, found: re.Match[str], line: int) -> None:
        """Take an event of a tracepoint, or a call of the function tracer."""
        if not self.take_rows([found.groups()], [line]):
            raise ValueError(f"{found['time']} s is not a time of a trace")

    def take_rows(self, rows: Sequence[Row], lines: Sequence[int]) -> bool:
        """Take events of tracepoints, and calls of the function tracer."""
        commands, pids, cpus, printed, *_ = zip(*rows, strict=True)
        try:
            times, decimals = to_ns_many(cast("Sequence[str]", printed))
        except ValueError:
            return False
        self.decimals = max(self.decimals, decimals)
        known = self._known
        if len(known) > MAX_KNOWN:
            known.clear()
        events, objects, functions, arguments = zip(*[known[row[4:]] for row in rows], strict=True)
        log = self.log
        log.time.extend(times)
        log.cpu.extend(map(int, cast("Sequence[str]", cpus)))
        log.pid.extend(map(self._pids.__getitem__, pids))
        log.line.extend(lines)
        log.duration.extend([NO_NUMBER] * len(rows))
        log.command.extend(cast("Sequence[str]", commands))
        log.event.extend(events)
        log.function.extend(functions)
        log.object.extend(objects)
        log.arguments.extend(arguments)
        return True


class PerfScriptLines(TracepointLines):
    """Events without stacks, as perf script and perf sched script print them: COMM PID [CPU] TIME: group:event: arguments."""

    stat = "perf_script_log"
    tool = "perf"
    title = "Kernel events (perf script)"
    pattern = re.compile(
        r"\s*(?P<comm>\S.{0,63}?)\s+(?:\d{1,10}/)?(?P<pid>\d{1,10})\s+\[(?P<cpu>\d{1,5})\]\s+(?P<time>\d{1,10}\.\d{3,9}):\s+"
        r"(?:\d{1,12}\s+)?(?P<event>[\w-]{1,60}:[\w:-]{1,80}):(?:\s+(?P<args>.*))?(?P<call>(?!))?(?P<caller>(?!))?"
    )


class TimehistLines(TraceLines):
    """perf sched timehist, also with -w: each line ends a run of a task, and says how long it waited before and how long it ran."""

    stat = "perf_timehist_log"
    tool = "perf"
    title = "Runs of tasks (perf sched timehist)"
    pattern = re.compile(
        r"\s*(?P<time>\d{1,10}\.\d{3,9})\s+\[(?P<cpu>\d{1,5})\]\s+(?:[si.m ]{0,8}\s+)?"
        r"(?:(?P<comm>\S.{0,63}?)\[(?P<tid>\d{1,10})(?:/\d{1,10})?\]|(?P<idle><idle>))\s+"
        r"(?:(?P<wait>\d{1,12}\.\d{1,6})\s+(?P<delay>\d{1,12}\.\d{1,6})\s+(?P<run>\d{1,12}\.\d{1,6})\b.*"
        r"|awakened: (?P<woken>.{1,64}?)\[(?P<woken_pid>\d{1,10})(?:/\d{1,10})?\].*)"
    )

    def take(self, found: re.Match[str], line: int) -> None:
        """Take the end of a run as the events run, runnable and wait, each at its beginning; or a wakeup."""
        time_ns = to_ns(found["time"])
        self._digits(found["time"])
        cpu, pid, command = int(found["cpu"]), _pid(found["tid"] or "0"), found["comm"] or found["idle"]
        if found["woken"] is not None:
            about = f"{found['woken']}:{found['woken_pid']}"
            self.log.add(time_ns, event="awakened", cpu=cpu, pid=pid, command=command, about=about, line=line)
            return
        for event, name in (("run", "run"), ("runnable", "delay"), ("wait", "wait")):
            duration_ns = ms_to_ns(found[name])
            time_ns -= duration_ns
            if duration_ns and time_ns >= 0:
                self.log.add(time_ns, event=event, cpu=cpu, pid=pid, command=command, duration_ns=duration_ns, line=line)


class PerfTraceLines(TraceLines):
    """perf trace: milliseconds since its start (or since boot), the duration, the task and its call."""

    stat = "perf_trace_log"
    tool = "perf"
    title = "System calls, one by one (perf trace)"
    pattern = re.compile(
        r"\s*(?P<time>\d{1,15}\.\d{3}|\?)\s+\(\s*(?:(?P<ms>\d{1,12}\.\d{1,6}) ms)?\s*\):\s+(?P<comm>.{0,64}?)/(?P<pid>\d{1,10})\s+"
        r"(?P<more>\.\.\. \[continued\]: )?(?P<name>[\w:]{1,80})\((?P<args>.*)"
    )
    SPACE: Final = re.compile(r"\) {2,}= ")

    def take(self, found: re.Match[str], line: int) -> None:
        """Take a call; one that began before the trace has no time and cannot be placed."""
        if found["time"] == "?":
            raise ValueError("the call began before the trace: its time is unknown")
        self.decimals = 6
        arguments = self.SPACE.sub(") = ", found["args"])
        self.log.add(
            ms_to_ns(found["time"]),
            event=found["name"],
            pid=_pid(found["pid"]),
            command=found["comm"],
            duration_ns=NO_NUMBER if found["ms"] is None else ms_to_ns(found["ms"]),
            arguments=arguments[:MAX_ARGUMENTS],
            line=line,
        )


FORMS: Final = (StraceLines, TracepointLines, PerfScriptLines, TimehistLines, PerfTraceLines)
