"""How long the tool of an artefact watched: as it printed, else as its command says."""

import re
from collections.abc import Sequence
from typing import Final

from normstat.artefacts.parts import Part, TablePart

# Stat -> the column that holds the seconds of the run, and the key of the row ("" for any).
PRINTED: Final = {
    "lockstat_section": ("seconds", ""),
    "truss_totals": ("seconds", "elapsed"),
    "time": ("real_s", ""),
    "perf_stat_run": ("elapsed_s", ""),
}
# lockstat CMD sleep 10, perf record ... sleep 10; plockstat -e 10; tick-10s, interval:s:10; strace under timeout 10.
COMMANDS: Final = (
    re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)\b"),
    re.compile(r"\btimeout\s+(?:-\S+\s+)*(\d+(?:\.\d+)?)s?\b"),
    re.compile(r"\bplockstat\b.*\s-e\s*(\d+)\b"),
    re.compile(r"\btick-(\d+)s(?:ec)?\b"),
    re.compile(r"\binterval:s:(\d+)\b"),
)


def printed_duration(parts: Sequence[Part]) -> float | None:
    """Return the seconds that the text of a run states. Missing: None where it does not."""
    for part in parts:
        if not isinstance(part, TablePart) or part.stat not in PRINTED:
            continue
        column, key = PRINTED[part.stat]
        if all(each.key != column for each in part.columns):
            continue
        for row, value in enumerate(part.column(column)):
            if value and (not key or part.keys[0][row] == key):
                return float(value)
    return None


def commanded_duration(command: str) -> float | None:
    """Return the seconds that a command or program was to run. Missing: None where it does not say.

    >>> commanded_duration("lockstat -kP sleep 5"), commanded_duration("plockstat -A -e 10 -p 4"), commanded_duration("iozone -a")
    (5.0, 10.0, None)
    """
    for pattern in COMMANDS:
        if (found := pattern.search(command)) is not None:
            return float(found[1])
    return None


NORMALIZED: Final = re.compile(r"\bnormalize\s*\(\s*(@\w*)\s*,\s*(\d+)\s*\)")
AGGREGATION: Final = re.compile(r"@\w*")


def normal_divisor(program: str) -> float | None:
    """Return what a dtrace program divides its counts by before it prints them, 1 without normalize().

    Missing: None where it divides by something else than a number, or some of its aggregations only

    >>> normal_divisor("@a[tid] = count(); } tick-10s { normalize(@a, 10); printa(@a);"), normal_divisor("lockstat sleep 5")
    (10.0, 1.0)
    >>> normal_divisor("{ @a = count(); @b = count(); } END { normalize(@a, 10); }"), normal_divisor("normalize(@, t / 1000)")
    (None, None)
    """
    if "normalize" not in program:
        return 1.0
    found = dict(NORMALIZED.findall(program))
    if set(found) != set(AGGREGATION.findall(program)) or len(set(found.values())) != 1:
        return None
    return float(next(iter(found.values()))) or None


def counted_seconds(program: str) -> float | None:
    """Return the seconds that a count in a report is of: the interval of a program, 1 for one that prints rates. Missing: None

    >>> counted_seconds("tick-10s { normalize(@, 10); printa(@); }"), counted_seconds("tick-10s { printa(@); }")
    (1.0, 10.0)
    """
    interval, divisor = commanded_duration(program), normal_divisor(program)
    return interval / divisor if interval and divisor else None


# Programs that print every few seconds: their duration is that of one report.
REPEATED: Final = COMMANDS[3:]


def watched_seconds(duration_s: float | None, command: str, n_reports: int) -> float | None:
    """Return the seconds that all counts of a part are of. Missing: None where the duration is unknown.

    >>> watched_seconds(10.0, "dtrace -n 'syscall::read:entry { @ = count(); } tick-10s { printa(@); clear(@); }'", 3)
    30.0
    >>> watched_seconds(10.0, "plockstat -e 10 -p 4", 3), watched_seconds(None, "", 1)
    (10.0, None)
    >>> watched_seconds(10.0, "tick-10s { normalize(@, 10); printa(@); clear(@); }", 3)
    3.0
    """
    divisor = normal_divisor(command)
    if not duration_s or divisor is None:
        return None
    for pattern in REPEATED:
        if (found := pattern.search(command)) is not None and float(found[1]) == duration_s:
            return duration_s * max(1, n_reports) / divisor
    return duration_s / divisor
