"""Snapshots of /proc/PID/stat, io, statm and status, as the agent's Linux sampler prints them: processes, and sums by command.

    1795305600
    ==> /proc/uptime <==
    36490.01 13627.12
    ==> /proc/7900/stat <==
    7900 (gnome-shell) S 7612 7900 7900 0 -1 4194304 103222 0 12 0 9312 2201 0 0 20 0 14 0 50323 428122112 9280 ...

A process has a row when it used CPU time, touched new pages, did I/O or changed its size in the interval, or is running or blocked.
A command has one in every snapshot, with the sums over its processes; so thousands of short processes are one line in a graph. A
process that started after the previous snapshot did all that it has done in this interval; one with the number of another is known
by its start time. What a process did between the last snapshot that has it and its end shows only in the CPU time that the kernel
gives to its parent, when the parent waits for it. That is the CPU time of its whole life, with that of the children that it waited
for itself. What snapshots have shown of it is taken off; the rest is the parent's `ended_pct`. So %CPU and %ended of all processes
add up to the CPU time that processes used. The kernel gives the parent the child's I/O as well, and of that, too, it keeps only
what no snapshot has shown (inheritance.py). A process that is new has its user, control group and arguments under the heading of
its status; they are texts and no samples: query/process_details.py finds them in the raw output. The counters of control groups
follow the processes (cgroups.py).

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> line = "7 (sh) S 1 7 7 0 -1 0 {} 0 0 0 {} 0 0 0 20 0 1 0 100 4096 2\\n"
>>> snapshot = "{}\\n==> /proc/uptime <==\\n{} 0.00\\n==> /proc/7/stat <==\\n{}"
>>> text = snapshot.format(1795305600, "10.00", line.format(5, 50)) + snapshot.format(1795305605, "15.00", line.format(15, 300))
>>> block = read(require_spec("proc_pid_linux"), text.encode(), state={}, offset=0, is_final=True).blocks[0]
>>> block.stat.name, block.instances, [(field.key, values.tolist()) for field, values in zip(block.fields, block.values)][:2]
('linux_command', ['sh'], [('processes', [1]), ('cpu_pct', [50.0])])
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.cgroups import CgroupTable
from normstat.stats.engine.proc.counter_reader import MALFORMED, NO_UPTIME, CounterReader, TakeLine, Value, is_counters
from normstat.stats.engine.proc.counters import MAX_THINGS, TOO_MANY, TWICE, CounterTable, from_lines, per_second, to_lines
from normstat.stats.engine.proc.inheritance import Inheritance, KnownProcess
from normstat.stats.records import LineKind, State, number_of
from normstat.stats.spec import Layout

PROCESS, COMMAND = "linux_process", "linux_command"
PATH: Final = re.compile(r"/proc/(?P<pid>\d{1,10})/(?P<file>stat|io|statm|status)", re.ASCII)
# A line of /proc/PID/status, or one of those that the agent adds to it.
STATUS: Final = re.compile(r"\w{1,40}:(?:[\t ].*)?")
# The words after the command's closing parenthesis: state, parent, ... See proc_pid_stat(5), which counts from 3.
STATE, PARENT, FLAGS, MINFLT, MAJFLT, UTIME, STIME, CUTIME, CSTIME = 0, 1, 6, 7, 9, 11, 12, 13, 14
THREADS, START, VSIZE, RSS = 17, 19, 20, 21
N_WORDS: Final = 22
# Where CPU time (its own and that of children) and the parent stand in what is kept of a process; the command is the last word.
CPU_WORDS: Final = slice(3, 7)
PARENT_WORD: Final = 10
# The words of /proc/PID/statm: size, resident, shared, ...
RESIDENT, SHARED, N_STATM_WORDS = 1, 2, 7
# PF_KTHREAD: a thread of the kernel, whose name says what it works on ("kworker/0:1-events").
KERNEL_THREAD: Final = 0x00200000
MAX_DIGITS: Final = 18
# A process may start between the reading of the uptime and that of the list. Units: centiseconds.
LATE_START: Final = 500
IO_NAMES: Final = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")
IO_COLUMNS: Final = {
    "kb_rd_per_s": "read_bytes", "kb_wr_per_s": "write_bytes", "kb_ccwr_per_s": "cancelled_write_bytes", "rchar_kb_per_s": "rchar",
    "wchar_kb_per_s": "wchar",
}  # fmt: skip
RATE_COLUMNS: Final = ("cpu_pct", "usr_pct", "system_pct", "ended_pct", "minflt_per_s", "majflt_per_s")
ENDED: Final = RATE_COLUMNS.index("ended_pct")
PROCESS_INSTANTS: Final = ("rss_kb", "threads", "running", "blocked")
COMMAND_INSTANTS: Final = ("processes", "rss_kb", "threads", "running", "blocked", "zombies")
KIB: Final = 1024
# Page sizes of Linux in kB, the usual one last. Addresses are multiples of it.
PAGE_SIZES: Final = (64, 16, 4)
# This many different sizes of address spaces are all multiples of 64 kB with a chance of one in 65536.
ENOUGH_SIZES: Final = 4
# A CPU that works all the time, in %.
FULL_CPU: Final = 100.0


@dataclass(frozen=True)
class PidLayout(Layout):
    """No keys: the files of a process have one layout."""


LAYOUT: Final = PidLayout


@dataclass(slots=True)
class CommandSum:
    """The sums over the processes of a command in the present snapshot; `offset` is the line of the first one."""

    offset: int
    # The processes, their pages, threads, and how many are running, blocked and zombies; then those that were started.
    counts: list[int]
    rates: list[float]
    io: dict[str, float] = field(default_factory=dict)

    def to_state(self) -> list[object]:
        """Return what `CommandSum(*state)` takes."""
        return [self.offset, self.counts, self.rates, self.io]


@dataclass(slots=True)
class ProcessRow:
    """The row of a process in the present snapshot. `rates` are None while unknown, `io` has the columns that are known."""

    offset: int
    command: str
    # Its pages, threads, and whether it is running or blocked.
    counts: Sequence[int]
    rates: list[float] | None
    io: dict[str, float] = field(default_factory=dict)

    def to_state(self) -> list[object]:
        """Return what `ProcessRow(*state)` takes."""
        return [self.offset, self.command, self.counts, self.rates, self.io]


class Reader(CounterReader[PidLayout]):
    """One call of the reader.

    `_anon` has the pages of anonymous memory of each PID in the present snapshot. `_known` has for each PID the uptime
    and the text of what is compared: start time, counters, threads, pages, state, parent and command.
    """

    makes_summaries = True
    # The lines of the io file that is being read.
    _io: dict[str, int]

    # The base asks for these.

    def open_file(self, path: str) -> TakeLine | None:
        """Return what takes the lines of a file."""
        found = PATH.fullmatch(path)
        if found is None:
            return self._cgroups.open_file(path, self.heading_offset)
        if found["file"] == "stat":
            return self._take_stat
        if found["file"] == "status":
            return self._take_status
        self._pid = found["pid"]
        return self._take_io if found["file"] == "io" else self._take_memory

    def close_file(self) -> None:
        """Take the I/O of a process whose file has ended."""
        if self._io:
            self._add_io(self._pid, self._io)
            self._io = {}

    def forget_counters(self) -> None:
        """Forget all processes: the host was booted since."""
        self._known.clear()
        self._inheritance = Inheritance()
        self._io_table.entries.clear()
        self._cgroups.forget_all()

    def load_counters(self, own: State) -> None:
        """Restore what `save_counters` returned."""
        self._known = {pid: (uptime, text) for pid, uptime, text in from_lines(own.get("known"))}
        self._io_table = CounterTable.from_state(own.get("io_table"))
        self._cgroups = CgroupTable(own.get("cgroups"))
        rows, commands = own.get("rows"), own.get("commands")
        self._rows = {str(pid): ProcessRow(*row) for pid, row in (rows.items() if isinstance(rows, dict) else ())}
        self._commands = {str(name): CommandSum(*row) for name, row in (commands.items() if isinstance(commands, dict) else ())}
        self._inheritance = Inheritance(own.get("inheritance"))
        anon = own.get("anon")
        self._anon = {str(pid): int(pages) for pid, pages in (anon.items() if isinstance(anon, dict) else ())}
        self._pid, io, io_offset = str(own.get("pid", "")), own.get("io"), own.get("io_offset")
        self._io_offset = io_offset if isinstance(io_offset, int) else 0
        self._io = {str(name): int(number) for name, number in (io.items() if isinstance(io, dict) else ())}
        sizes = own.get("sizes")
        self._sizes = {int(size) for size in sizes} if isinstance(sizes, list) else set()
        self._page_kb = number_of(own.get("page_kb"), PAGE_SIZES[0])

    def save_counters(self) -> State:
        """Return the processes and the part of the present snapshot that was read."""
        return {
            "known": to_lines((pid, uptime, text) for pid, (uptime, text) in self._known.items()),
            "io_table": self._io_table.to_state(),
            "cgroups": self._cgroups.to_state(),
            "rows": {pid: row.to_state() for pid, row in self._rows.items()},
            "commands": {name: command.to_state() for name, command in self._commands.items()},
            "inheritance": self._inheritance.to_state(),
            "anon": self._anon,
            "pid": self._pid,
            "io": self._io,
            "io_offset": self._io_offset,
            "sizes": sorted(self._sizes),
            "page_kb": self._page_kb,
        }

    def end_snapshot(self) -> None:
        """Add the rows of processes and commands, and forget the processes that are gone."""
        page_kb = self._page_kb if self._page_kb == PAGE_SIZES[-1] or len(self._sizes) >= ENOUGH_SIZES else None
        if self.uptime is not None and self.before is not None:
            self._take_off_ended(self.uptime, self.before)
        anon_by_command: dict[str, int] = {}
        for pid, pages in self._anon.items():
            name = _words_of(self._known[pid][1])[-1]
            anon_by_command[name] = anon_by_command.get(name, 0) + pages
        for pid, row in self._rows.items():
            self._put_process(pid, row, page_kb)
        has_rates = self.uptime is not None and self.before is not None
        for name, command in self._commands.items():
            self._put_command(name, command, page_kb, anon_by_command.get(name), has_rates=has_rates)
        self._rows, self._commands, self._anon = {}, {}, {}
        self._cgroups.end_snapshot(self.uptime, self.before, self._put_of_unit)
        if self.uptime is not None:
            now = self.uptime
            self._known = {pid: known for pid, known in self._known.items() if known[0] == now}
            self._io_table.forget_unseen(now)

    def take_without_heading(self, text: str, offset: int) -> Outcome:
        """Return the kind of a line without a heading, which names its process itself."""
        return self._take_stat(text, offset)

    # Lines.

    def _take_stat(self, text: str, offset: int) -> Outcome:
        pid, _, rest = text.partition(" (")
        name, _, tail = rest.rpartition(") ")
        words = tail.split(" ", N_WORDS)
        if len(words) < N_WORDS or not name:
            return MALFORMED
        now = self.uptime
        if now is None:
            return NO_UPTIME
        counters = (words[START], words[MINFLT], words[MAJFLT], words[UTIME], words[STIME], words[CUTIME], words[CSTIME])
        flags, threads, pages, parent = words[FLAGS], words[THREADS], words[RSS], words[PARENT]
        if "/" in name and flags.isdecimal() and flags.isascii():
            name = command_of(name, is_kernel_thread=int(flags[-MAX_DIGITS:]) & KERNEL_THREAD != 0)
        known = f"{' '.join(counters)} {threads} {pages} {words[STATE]} {parent} {name}"
        old = self._known.get(pid)
        if old is None or old[1] != known:
            # Unchanged text has been looked at.
            if not is_counters([pid, parent, *counters, threads, flags, words[VSIZE], pages]) or len(words[STATE]) != 1:
                return MALFORMED
            if max(map(len, (pid, parent, pages, threads, words[VSIZE]))) > MAX_DIGITS:
                return MALFORMED
            if self._page_kb != PAGE_SIZES[-1]:
                self._see_size(int(words[VSIZE]))
        if old is not None and old[0] == now:
            return TWICE
        if old is None and len(self._known) >= MAX_THINGS:
            return TOO_MANY
        self._known[pid] = (now, known)
        rates = self._rates(old, known, counters)
        self._add(pid, name, known, rates, is_changed=old is None or old[1] != known, offset=offset)
        return LineKind.SAMPLE

    def _rates(self, old: tuple[int, str] | None, known: str, counters: Sequence[str]) -> list[float] | None:
        """Return what RATE_COLUMNS are for a process; ENDED with what snapshots have shown, which `_count_ended` takes off.

        Missing: None when it is not known since when its counters count.
        """
        now, before = self.uptime, self.before
        assert now is not None
        if old is not None and old[1] == known:
            return [0.0] * len(RATE_COLUMNS)
        start, *numbers = map(int, counters)
        if old is not None and old[1].startswith(f"{start} "):
            then = [int(word) for word in old[1].split(" ", len(counters))[1 : len(counters)]]
            elapsed = now - old[0]
        elif before is not None and before <= start <= now + LATE_START:
            then = [0] * len(numbers)
            elapsed = now - before
        else:
            return None
        grown_by = [number - number_then for number, number_then in zip(numbers, then, strict=True)]
        if min(grown_by) < 0:
            return None
        minflt, majflt, utime, stime, cutime, cstime = (per_second(number, elapsed) for number in grown_by)
        # A tick of user space is a hundredth of a second (USER_HZ) on every machine that has this kernel.
        return [utime + stime, utime, stime, cutime + cstime, minflt, majflt]

    def _take_off_ended(self, now: int, before: int) -> None:
        """Leave to living processes, and their commands, only CPU time (ENDED) and I/O that no snapshot has shown."""
        left = {pid: rates[ENDED] for pid, row in self._rows.items() if (rates := row.rates) is not None and rates[ENDED]}
        elapsed = now - before

        def take(pid: str, amounts: Sequence[float]) -> list[float]:
            ticks, *sizes = amounts
            taken = min(per_second(ticks, elapsed), left.get(pid, 0.0))
            # State that an earlier version saved may owe a negative amount.
            if taken > 0:
                left[pid] -= taken
            return [ticks - max(0.0, taken) * elapsed / 100, *self._inherit_io(pid, sizes, elapsed)]

        def parent_of(pid: str) -> str | None:
            uptime, text = self._known.get(pid, (None, ""))
            return _words_of(text)[PARENT_WORD] if uptime == now else None

        ended = {pid: self._to_known(pid, text) for pid, (uptime, text) in self._known.items() if uptime != now}
        self._inheritance.take_off(ended, parent_of, take)
        if max(left.values(), default=0.0) > FULL_CPU:
            self._inheritance.take_off_early(self._large_children(now, left, elapsed), take)
        for pid in left:
            self._commands[self._rows[pid].command].rates[ENDED] = 0.0
        for pid, rate in left.items():
            row = self._rows[pid]
            assert row.rates is not None
            row.rates[ENDED] = max(0.0, rate)
            self._commands[row.command].rates[ENDED] += row.rates[ENDED]

    def _inherit_io(self, pid: str, sizes: Sequence[float], elapsed: int) -> list[float]:
        """Take bytes by IO_COLUMNS off what a process read and wrote; return those that it did not."""
        row = self._rows.get(pid)
        if row is None or not row.io:
            return list(sizes)
        rest = []
        of_command = self._commands[row.command].io
        for column, size in zip(IO_COLUMNS, sizes, strict=True):
            rate = row.io.get(column, 0.0)
            taken = min(per_second(size, elapsed) / KIB, rate)
            if taken > 0:
                row.io[column] = rate - taken
                of_command[column] = max(0.0, of_command[column] - taken)
            rest.append(size - taken * KIB * elapsed / 100)
        return rest

    def _large_children(self, now: int, left: Mapping[str, float], elapsed: int) -> Iterator[tuple[str, KnownProcess]]:
        """Yield the children that used, as their parents got, more than a CPU can do in the interval."""
        for pid, (uptime, text) in self._known.items():
            child = self._to_known(pid, text)
            if uptime == now and FULL_CPU < per_second(child.amounts[0], elapsed) <= left.get(child.parent, 0.0):
                # Only CPU time is certain to be theirs.
                yield pid, KnownProcess(child.parent, [child.amounts[0], *[0.0] * len(IO_COLUMNS)])

    def _to_known(self, pid: str, text: str) -> KnownProcess:
        words = _words_of(text)
        _, *sizes = self._io_table.previous(pid) or (0,)
        return KnownProcess(words[PARENT_WORD], [sum(map(int, words[CPU_WORDS])), *sizes, *[0] * (len(IO_COLUMNS) - len(sizes))])

    def _add(self, pid: str, name: str, known: str, rates: list[float] | None, *, is_changed: bool, offset: int) -> None:
        """Add a process to its command, and to the rows if it has values."""
        threads, pages, state = known.split(" ", PARENT_WORD)[7:PARENT_WORD]
        is_running, is_blocked = state == "R", state == "D"
        command = self._commands.get(name)
        if command is None:
            command = self._commands[name] = CommandSum(offset, [0] * 7, [0.0] * len(RATE_COLUMNS))
        counts = command.counts
        counts[0] += 1
        counts[1] += int(pages)
        counts[2] += int(threads)
        counts[3] += is_running
        counts[4] += is_blocked
        counts[5] += state == "Z"
        if not is_changed and not is_running and not is_blocked:
            return
        if rates is not None:
            command.rates = [total + rate for total, rate in zip(command.rates, rates, strict=True)]
            start = int(known.partition(" ")[0])
            counts[6] += self.before is not None and start >= self.before
        self._rows[pid] = ProcessRow(offset, name, [int(pages), int(threads), int(is_running), int(is_blocked)], rates)

    def _see_size(self, size: int) -> None:
        """Note the size of an address space, which is a multiple of the page's."""
        if size:
            while size % (self._page_kb * KIB) and self._page_kb != PAGE_SIZES[-1]:
                self._page_kb = PAGE_SIZES[PAGE_SIZES.index(self._page_kb) + 1]
            if len(self._sizes) < ENOUGH_SIZES:
                self._sizes.add(size)

    def _take_status(self, text: str, offset: int) -> Outcome:
        # The next process needs no heading.
        return LineKind.IGNORED if STATUS.fullmatch(text) is not None else self._take_stat(text, offset)

    def _take_io(self, text: str, offset: int) -> Outcome:
        name, _, word = text.partition(": ")
        if name not in IO_NAMES:
            # The line of the next process, which needs no heading.
            return self._take_stat(text, offset)
        if not is_counters([word]):
            return MALFORMED
        if name in self._io:
            return TWICE
        if not self._io:
            self._io_offset = offset
        self._io[name] = int(word)
        return LineKind.SAMPLE

    def _take_memory(self, text: str, offset: int) -> Outcome:
        words = text.split(" ")
        if len(words) != N_STATM_WORDS:
            # The line of the next process, which needs no heading.
            return self._take_stat(text, offset)
        if not is_counters(words) or max(map(len, words)) > MAX_DIGITS:
            return MALFORMED
        if self._pid in self._anon:
            return TWICE
        known = self._known.get(self._pid)
        if known is None or known[0] != self.uptime:
            # It began after the list of processes was read.
            return LineKind.IGNORED
        self._anon[self._pid] = max(0, int(words[RESIDENT]) - int(words[SHARED]))
        return LineKind.SAMPLE

    def _add_io(self, pid: str, io: dict[str, int]) -> None:
        """Add the I/O of a process, as far as it was printed, to its row and its command. One without a line has ended."""
        now, before = self.uptime, self.before
        known = self._known.get(pid)
        columns = [column for column, name in IO_COLUMNS.items() if name in io]
        if now is None or known is None or known[0] != now or not columns:
            return
        start, *_, threads, pages, state, _, name = _words_of(known[1])
        text = " ".join([start, *(str(io[IO_COLUMNS[column]]) for column in columns)])
        entries = self._io_table.entries
        old = entries.pop(pid, None)
        if old is not None and old[1].startswith(f"{start} "):
            entries[pid] = old
        elif before is not None and before <= int(start) <= now + LATE_START:
            # All that it did was in this interval.
            entries[pid] = (before, " ".join([start, *["0"] * len(columns)]), None)
        growth = self._io_table.update(pid, now, text)
        if growth is None or isinstance(growth, Rejected):
            return
        each = (per_second(number, growth.centiseconds) / KIB for number in growth.counters[1:])
        rates = dict(zip(columns, each, strict=True))
        command = self._commands.get(name)
        if command is not None:
            command.io = {column: command.io.get(column, 0.0) + rate for column, rate in rates.items()}
        row = self._rows.get(pid)
        if row is None and any(rates.values()):
            # It used no CPU time that the kernel counts, and nothing else of it changed.
            counts = [int(pages), int(threads), int(state == "R"), int(state == "D")]
            row = self._rows[pid] = ProcessRow(self._io_offset, name, counts, [0.0] * len(RATE_COLUMNS))
        if row is not None:
            row.io = rates

    # Rows.

    def _put_process(self, pid: str, row: ProcessRow, page_kb: int | None) -> None:
        pages, *others = row.counts
        columns: tuple[str, ...] = PROCESS_INSTANTS
        values: list[Value] = [None if page_kb is None else pages * page_kb, *others]
        if row.rates is not None:
            columns = (*RATE_COLUMNS, *columns)
            values = [*_rounded(row.rates), *values]
        if pid in self._anon and page_kb is not None:
            columns, values = (*columns, "anon_kb"), [*values, self._anon[pid] * page_kb]
        columns = (*columns, *row.io)
        values += _rounded(row.io.values())
        self.put(PROCESS, columns, values, instance=f"{pid}/{row.command}", offset=row.offset)

    def _put_command(self, name: str, command: CommandSum, page_kb: int | None, anon_pages: int | None, *, has_rates: bool) -> None:
        processes, pages, *others, started = command.counts
        columns: tuple[str, ...] = COMMAND_INSTANTS[1:]
        values: list[Value] = [None if page_kb is None else pages * page_kb, *others]
        if has_rates:
            assert self.uptime is not None
            assert self.before is not None
            columns = (*RATE_COLUMNS, "started_per_s", *columns)
            values = [*_rounded([*command.rates, per_second(started, self.uptime - self.before)]), *values]
        if anon_pages is not None and page_kb is not None:
            columns, values = (*columns, "anon_kb"), [*values, anon_pages * page_kb]
        columns = (*columns, *command.io)
        values += _rounded(command.io.values())
        self.put(COMMAND, (COMMAND_INSTANTS[0], *columns), [processes, *values], instance=name, offset=command.offset)

    def _put_of_unit(self, stat: str, instance: str, columns: tuple[str, ...], values: Sequence[Value], offset: int) -> None:
        self.put(stat, columns, values, instance=instance, offset=offset)


def _rounded(rates: Iterable[float]) -> list[float]:
    return [round(rate, 2) for rate in rates]


def _words_of(known: str) -> list[str]:
    """Return the kept words of a process; its command may contain blanks."""
    return known.split(" ", PARENT_WORD + 1)


def command_of(name: str, *, is_kernel_thread: bool) -> str:
    """Return the command of a process. The threads that the kernel has for each CPU, and for each piece of work, are one command.

    >>> command_of("kworker/0:1-events", is_kernel_thread=True), command_of("ksoftirqd/3", is_kernel_thread=True)
    ('kworker', 'ksoftirqd')
    >>> command_of("a/b", is_kernel_thread=False)
    'a/b'
    """
    return (name.partition("/")[0] or name) if is_kernel_thread else name
