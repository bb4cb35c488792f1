"""Details of one process in the raw output of a tool, besides its numbers: its user, parent, arguments and start.

    1795305600
    ==> /proc/uptime <==
    36490.01 13627.12
    7900 (java) S 7612 7900 7900 0 -1 4194304 103222 0 12 0 9312 2201 0 0 20 0 14 0 50323 428122112 9280 ...
    ==> /proc/7900/status <==
    Uid:<TAB>1000<TAB>1000<TAB>1000<TAB>1000
    User:<TAB>web
    Cgroup:<TAB>/system.slice/shop.service
    Args:<TAB>java -jar shop.jar

Tables of processes (ps, top, prstat, pidstat) have some of it in columns of text. Texts are shown as they were printed.

>>> text = "1795305600\\n==> /proc/uptime <==\\n364.50 0.00\\n1 (init) S 0 {0} 0 100\\n9 (sh) S 1 {0} 36200 100\\n"
>>> facts = parse_snapshot(text.format(" ".join(["0"] * 17)).encode(), 9)
>>> facts.parent_pid, facts.parent_command, facts.began_s, facts.user
(1, 'init', 1795305597.5, None)
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from normstat.stats.engine.proc.cgroups import unit_of

# A snapshot begins with its time.
SNAPSHOT: Final = re.compile(rb"^\d{10}\n", re.ASCII | re.MULTILINE)
UPTIME: Final = re.compile(rb"^(?P<uptime>\d{1,12}\.\d\d) \d{1,15}\.\d\d$", re.ASCII | re.MULTILINE)
TICKS_PER_S: Final = 100
# Places among the words after the command, see proc_pid_stat(5).
PARENT: Final = 1
START: Final = 19
# Columns of text that may have several words, so that nothing after them is found by counting.
SEVERAL_WORDS: Final = frozenset(
    {"START", "STARTED", "STIME", "LSTART", "COMMAND", "CMD", "ARGS", "COMM", "WCHAN", "ADDR", "TTY", "TT"}
)
USERS: Final = ("USER", "USERNAME", "EUSER", "RUSER", "UID", "EUID", "RUID")
ARGUMENTS: Final = frozenset({"COMMAND", "CMD", "ARGS"})
MAX_TEXT: Final = 600
# Those that may follow the heading of a status.
MAX_LINES: Final = 4
MONTH: Final = re.compile(r"[A-Z][a-z]{2}")


@dataclass(frozen=True, slots=True)
class ProcessLines:
    """Details of a process in a report. Units: seconds since the epoch. Missing: None where it has none."""

    user: str | None = None
    parent_pid: int | None = None
    parent_command: str | None = None
    arguments: str | None = None
    began_s: float | None = None
    start_ticks: int | None = None
    unit: str | None = None


def parse_snapshot(snapshot: bytes, pid: int) -> ProcessLines | None:
    """Return the details of a process in a snapshot of /proc. Missing: None where the process is not in it."""
    line = find_stat_line(snapshot, pid)
    if line is None:
        return None
    words = line.rpartition(b") ")[2].split(b" ", START + 1)
    if len(words) <= START or not words[PARENT].isdigit() or not words[START].isdigit():
        return None
    parent, ticks = int(words[PARENT]), int(words[START])
    facts = ProcessLines(parent_pid=parent, start_ticks=ticks, began_s=_began(snapshot, ticks))
    of_parent = find_stat_line(snapshot, parent)
    if of_parent is not None:
        facts = replace(facts, parent_command=_text(of_parent.partition(b" (")[2].rpartition(b") ")[0]))
    heading = b"\n==> /proc/%d/status <==\n" % pid
    at = snapshot.find(heading)
    while at >= 0:
        facts = _add_status(facts, snapshot[at + len(heading) :])
        at = snapshot.find(heading, at + 1)
    return facts


def _add_status(facts: ProcessLines, status: bytes) -> ProcessLines:
    """Return the facts with what the lines after the heading of a status say."""
    for line in status.split(b"\n", MAX_LINES)[:MAX_LINES]:
        name, _, value = line.partition(b":\t")
        if name == b"Uid" and facts.user is None:
            facts = replace(facts, user=_text(value.split(b"\t")[0]))
        elif name == b"User":
            facts = replace(facts, user=_text(value))
        elif name == b"Cgroup":
            group, _, container = value.partition(b"\t")
            facts = replace(facts, unit=unit_of(_text(group), _text(container)))
        elif name == b"Args":
            facts = replace(facts, arguments=_text(value))
        elif name != b"Uid":
            break
    return facts


def find_stat_line(snapshot: bytes, pid: int) -> bytes | None:
    """Return the line of /proc/PID/stat in a snapshot. Missing: None where the process is not in it."""
    start = b"\n%d (" % pid
    at = snapshot.find(start)
    return None if at < 0 else snapshot[at + 1 :].split(b"\n", 1)[0]


def snapshot_time_s(snapshot: bytes) -> int | None:
    """Return the time of a snapshot. Missing: None where it does not begin with one."""
    return int(snapshot[:10]) if SNAPSHOT.match(snapshot) is not None else None


def _began(snapshot: bytes, ticks: int) -> float | None:
    """Return the start of a process from its start time in ticks after the boot."""
    time_s, uptime = snapshot_time_s(snapshot), UPTIME.search(snapshot)
    if time_s is None or uptime is None:
        return None
    return time_s - (float(uptime["uptime"]) - ticks / TICKS_PER_S)


def is_table_header(line: str) -> bool:
    """Return whether a line is the header of a table of processes.

    >>> is_table_header("USER         PID %CPU COMMAND"), is_table_header("  PID 12 x")
    (True, False)
    """
    words = line.split()
    return "PID" in words and len(words) > 2 and not any(word.isdigit() for word in words)


def parse_row(header: str, row: str, pid: int) -> ProcessLines | None:
    """Return the details of a process in the row of a table. Missing: None where the row is not the process's.

    >>> found = parse_row("USER PID PPID %CPU COMMAND", "root 7 1 0.0 /usr/bin/java -jar x", 7)
    >>> found.user, found.parent_pid, found.arguments
    ('root', 1, '/usr/bin/java -jar x')
    >>> parse_row("# Time USER PID %usr Command", "12:00:01 web 7 0.0 java", 7).user
    'web'
    >>> parse_row("PID STARTED USER COMMAND", "7 Sat Nov 21 12:00:00 2026 web sh", 7).user
    """
    columns, words = header.split(), row.split()
    place = columns.index("PID") if "PID" in columns else -1
    # Some headers begin with a word that the rows do not have, or the other way round.
    at = next((place + moved for moved in (0, -1, 1) if 0 <= place + moved < len(words) and words[place + moved] == str(pid)), None)
    if place < 0 or at is None:
        return None

    def word_of(column: str) -> str | None:
        own = columns.index(column) if column in columns else -1
        between = columns[min(own, place) : max(own, place)]
        found = own - place + at
        return words[found] if own >= 0 and not SEVERAL_WORDS & set(between) and 0 <= found < len(words) else None

    user = next((word for column in USERS if (word := word_of(column)) is not None), None)
    parent = word_of("PPID")
    return ProcessLines(
        user=user,
        parent_pid=int(parent) if parent is not None and parent.isdecimal() and parent.isascii() else None,
        arguments=_arguments(columns, row, at - place),
    )


def _arguments(columns: list[str], row: str, moved: int) -> str | None:
    """Return the text of the last column, where it holds the arguments too."""
    # A start time may have several words.
    if columns[-1] not in ARGUMENTS or SEVERAL_WORDS & set(columns[:-1]) - {"TTY", "TT", "START", "STIME"}:
        return None
    words = row.split(None, len(columns) - 1 + moved)
    if any(MONTH.fullmatch(word) for word in words[:-1]):
        # "Nov 21": one column of two words.
        return None
    text = words[-1].strip() if len(words) == len(columns) + moved else ""
    return text[:MAX_TEXT] if " " in text else None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace").replace("\0", "\\x00")[:MAX_TEXT]
