"""Lines of traces, one class for each form: what an event's line says.

20426 1795824982.690155 openat(AT_FDCWD, "/usr/lib/locale", O_RDONLY) = 3 <0.000011>                           strace -f -ttt -T
    bash-21121 [001] ..... 1859.293372: sys_exit: NR 1 = 2                                                      ftrace, trace-cmd
    perf 20388 [000] 1813.575032: sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000             perf script
1813.575054 [0000] migration/0[18]   0.000      0.005      0.016                                                perf sched timehist
   0.899 ( 0.012 ms): ls/20609 brk()                                     = 0x556034ea0000                       perf trace
"""

import re
from abc import ABC, abstractmethod
from typing import ClassVar, Final

from normstat.artefacts.log_builder import LogBuilder
from normstat.artefacts.parts import NO_NUMBER, LogClock
from normstat.artefacts.trace_log.tracepoints import read_arguments

NS: Final = 1_000_000_000
MAX_PID: Final = 2**31 - 1
MAX_SECONDS: Final = 9_000_000_000
MAX_ARGUMENTS: Final = 2000


def to_ns(text: str) -> int:
    """Return a decimal number of seconds as nanoseconds, digit for digit; digits beyond the ninth are cut.

    >>> to_ns("1795824982.690155"), to_ns("0.000011"), to_ns("5")
    (1795824982690155000, 11000, 5000000000)
    """
    whole, _, fraction = text.partition(".")
    seconds = int(whole or 0)
    if seconds > MAX_SECONDS:
        raise ValueError(f"{seconds} s is no time of a trace")
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
    return NO_NUMBER if text is None or int(text) > MAX_PID else int(text)


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
        r"(?P<rest>[a-z_][a-z0-9_]{0,40}\(.*|<\.\.\. .*|--- .*|\+\+\+ .*)"
    )
    CALL: Final = re.compile(r"(?P<name>[a-z_][a-z0-9_]{0,40})\((?P<rest>.*)")
    RESUMED: Final = re.compile(r"<\.\.\. (?P<name>[a-z_][a-z0-9_]{0,40}) resumed>(?P<rest>.*)")
    DURATION: Final = re.compile(r" <(\d{1,9}\.\d{1,9})>$")
    CHILD: Final = re.compile(r"\) = (\d{1,10})(?: |$)")
    PROGRAM: Final = re.compile(r'"((?:[^"\\]|\\.){1,300})"')
    OBJECT: Final = re.compile(r"(0x[0-9a-f]{1,16}|\d{1,9}|\"(?:[^\"\\]|\\.){0,200}\")(?=[,)<]|$)")
    FORKS: Final = frozenset({"clone", "clone3", "fork", "vfork"})
    UNFINISHED: Final = " <unfinished ...>"

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[int, tuple[str, int, str]] = {}
        self._commands: dict[int, str] = {}

    def take(self, found: re.Match[str], line: int) -> None:
        """Take a call, the end of one, a signal or an exit."""
        time = found["time"]
        if ":" in time:
            self.clock, time_ns = LogClock.DAY, day_to_ns(time)
        else:
            self.clock, time_ns = LogClock.EPOCH, to_ns(time)
        self._digits(time)
        pid = _pid(found["pid1"] or found["pid2"])
        rest = found["rest"]
        if pid not in self._commands:
            # A child often runs before its parent's clone returns.
            forking = [known for known, (name, _, _) in self._open.items() if name in self.FORKS]
            self._commands[pid] = self._commands.get(forking[0], "") if len(forking) == 1 else ""
        if (call := self.CALL.match(rest)) is not None:
            self._take_call(call["name"], call["rest"], time_ns, pid, line)
        elif (resumed := self.RESUMED.match(rest)) is not None:
            self._take_resumed(resumed, time_ns, pid, line)
        else:
            event, _, arguments = rest.strip("-+ ").partition(" ")
            self.log.add(
                time_ns, event=event[:60], pid=pid, command=self._commands[pid], arguments=arguments[:MAX_ARGUMENTS], line=line
            )

    def _take_call(self, name: str, rest: str, time_ns: int, pid: int, line: int) -> None:
        about = self.OBJECT.match(rest)
        is_open = rest.endswith(self.UNFINISHED)
        text, duration_ns = self._split(rest.removesuffix(self.UNFINISHED))
        number = self.log.add(
            time_ns,
            event=name,
            pid=pid,
            command=self._commands[pid],
            about="" if about is None else about[1],
            duration_ns=duration_ns,
            arguments=text[:MAX_ARGUMENTS],
            line=line,
        )
        if is_open:
            self._open[pid] = (name, number, text)
        else:
            self._learn_command(name, text, pid)

    def _take_resumed(self, resumed: re.Match[str], time_ns: int, pid: int, line: int) -> None:
        text, duration_ns = self._split(resumed["rest"])
        name, number, begun = self._open.pop(pid, ("", NO_NUMBER, ""))
        if name != resumed["name"]:
            self.log.add(
                time_ns, event=resumed["name"], pid=pid, command=self._commands[pid], arguments=text[:MAX_ARGUMENTS], line=line
            )
            return
        whole = begun + text
        self.log.finish(number, duration_ns=duration_ns, arguments=whole[:MAX_ARGUMENTS])
        self._learn_command(name, whole, pid)

    def _split(self, rest: str) -> tuple[str, int]:
        found = self.DURATION.search(rest[-24:])
        return (rest, NO_NUMBER) if found is None else (rest[: -len(found[0])], to_ns(found[1]))

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

    def take(self, found: re.Match[str], line: int) -> None:
        """Take an event of a tracepoint, or a call of the function tracer."""
        time_ns = to_ns(found["time"])
        self._digits(found["time"])
        call = found["call"]
        event = "function" if call is not None else found["event"].rpartition(":")[2]
        arguments = f"<-{found['caller']}" if call is not None else (found["args"] or "").strip()
        about, function = ("", call) if call is not None else read_arguments(event, arguments)
        self.log.add(
            time_ns,
            event=event,
            cpu=int(found["cpu"]),
            pid=_pid(found["pid"]),
            command=found["comm"],
            function=function,
            about=about,
            arguments=arguments[:MAX_ARGUMENTS],
            line=line,
        )


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
