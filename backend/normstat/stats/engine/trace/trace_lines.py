"""Parse single lines of tracers: lines without data, times followed by text, and named numbers.

Tracing block device I/O... Hit Ctrl-C to end.
2005 Jul 16 00:34:40,  load: 1.21,  disk_r:  12891 KB,  disk_w:   1087 KB
08:04:11 loadavg: 1.48 0.87 0.45 1/287 14547
Total References: 518920000 Total Misses: 90265000 Hit Rate: 82.61%
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.times.timestamps import MONTHS, Timestamp, day_seconds, parse_clock, parse_date, parse_timestamp

INTERRUPT: Final = "^C"
INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
NUMBER: Final = re.compile(r"[-+]?(?:[0-9]{1,20}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})%?")
# Messages of a running tracer; such a line that ends in a bare number is a row whose key is such a word.
AT_WORK: Final = re.compile(
    r"\s*(?:Tracing|Sampling|Counting|Collecting|Running|Monitoring|Capturing|Profiling|Recording|Reading|Measuring|"
    r"Attach(?:ing|ed)|Detaching|Ending|Beginning|Starting|Stopping|Waiting|Instrumenting|Summing|Output|Press|Type|Hit|Now|Exiting)"
    r"\b.*(?<![0-9 ])\s*"
)
ELISION: Final = re.compile(r"\s*(?:\[\.\.\.\]|\(\.\.\.\)|\.\.\.|[-=_*~]{3,}|~)\s*")
CONTROL_C: Final = re.compile(r"(?:^|[^A-Za-z])(?:ctrl|control)[-+ ]?c\b", re.IGNORECASE)
# Events that were lost: the numbers around them are too low.
LOSSES: Final = re.compile(
    r"\s*(?:dtrace: .* drops?\b.*|dtrace: error on enabled probe .*|Lost \d+ events|WARNING: .*|\d+ drops on CPU \d+)\s*"
)

TIME_NAMES: Final = frozenset({"TIME", "STRTIME", "TIMESTR", "TIMESTAMP", "DATE"})
# Hours, minutes, seconds and as many decimals as a stamp may have.
MAX_CLOCK_LENGTH: Final = 15
CLOCK: Final = r"\d\d:\d\d:\d\d(?:\.\d{1,9})?"
YEAR_FIRST: Final = re.compile(rf"(\d{{4}}) ([A-Z][a-z]{{2}}) {{1,2}}(\d{{1,2}}) ({CLOCK})")
IN_WORDS: Final = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d(?: [A-Z]{2,5})? \d{4}")
DAY_AND_CLOCK: Final = re.compile(rf"(\d{{4}}-\d\d-\d\d)[ T]({CLOCK})")
CLOCK_ALONE: Final = re.compile(rf"(?:\[({CLOCK})\]|(?:[Tt]ime:? )?({CLOCK})):?")

LOAD: Final = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)"
LOADAVG: Final = re.compile(rf"loadavg: {LOAD} {LOAD} {LOAD} ([0-9]{{1,9}})/([0-9]{{1,9}}) ([0-9]{{1,10}})")
LOADAVG_COLUMNS: Final = ("load 1 min", "load 5 min", "load 15 min", "running", "tasks", "last pid")
LOADS: Final = re.compile(rf"load(?: averages?)?: {LOAD}(?:,? {LOAD},? {LOAD})?(?=[,\s]|$)")
UNIT: Final = (
    r"[KMG]i?[Bb](?:ytes)?(?:/s(?:ec)?)?|Mb/sec|bytes|kbytes|pages|[nmu]?secs?|[nmu]s|seconds|ticks|Hz|hertz|times|events|counts?"
)
PAIR: Final = re.compile(
    rf"\s*(?P<name>[A-Za-z_%][^][{{}}()@|:=,;\d]{{0,60}}?) ?[:=] {{0,40}}(?P<number>[-+]?[0-9]{{1,20}}(?:\.[0-9]{{0,12}})?)"
    rf"(?P<unit>%| ?(?:{UNIT}))?(?: {{1,4}}\([^()]{{1,40}}\))?"
    r"(?=[\s,;/]|$)\s*[,;/]?"
)
# `Buffers MB: 125 / Cached MB: 1543 / Sort: HITS`
PARTED: Final = " / "
WORD_PAIR: Final = re.compile(r"[A-Za-z]{1,20}: [A-Za-z_%]{1,20}")
MAX_PAIRS: Final = 40


@dataclass(frozen=True, slots=True)
class Pairs:
    """Numbers with names, in the order of the line: columns[i] names words[i]. A unit is in parentheses after its name."""

    columns: tuple[str, ...]
    words: tuple[str, ...]


def tidy(text: str) -> str:
    """Return the line with blanks for tabs and for the echo of the Ctrl-C that ended the tracer: columns stay where they are.

    >>> tidy("^C       0      -19"), tidy("  read  "), tidy("^C")
    ('         0      -19', '  read', '')
    """
    text = text.expandtabs().rstrip()
    n_echoed = len(text) - len(text.removeprefix(INTERRUPT))
    while n_echoed and text.startswith(INTERRUPT, n_echoed):
        n_echoed += len(INTERRUPT)
    return (" " * n_echoed + text[n_echoed:]).rstrip() if n_echoed else text


def says_nothing(text: str) -> bool:
    """Return whether the line is a message of the tracer, a rule, or a mark for omitted lines.

    >>> says_nothing("Tracing... Hit Ctrl-C to end."), says_nothing("[...]"), says_nothing("Running 12"), says_nothing("  read 12")
    (True, True, False, False)
    """
    if ELISION.fullmatch(text) is not None or AT_WORK.fullmatch(text) is not None:
        return True
    return not text[-1:].isdigit() and (CONTROL_C.search(text) is not None or (text.endswith("...") and len(text) > 3))


def tells_of_losses(text: str) -> bool:
    """Return whether the tracer reports lost events."""
    return LOSSES.fullmatch(text) is not None


def is_number(word: str) -> bool:
    """Return whether the word is a number that a column may hold, with or without a per cent sign."""
    return NUMBER.fullmatch(word) is not None


def is_integer(word: str) -> bool:
    """Return whether the word is a whole number of at most 64 bits, with or without a sign."""
    return INTEGER.fullmatch(word) is not None and -(2**63) <= int(word) < 2**64


def split_stamp(text: str) -> tuple[Timestamp, str] | None:
    """Return the time at the beginning of a line, and the rest.

    Missing: None when the line begins with no time. A bare number is none, although it may be an epoch: tracers print counts.

    >>> stamp, rest = split_stamp("2005 Jul 16 00:34:40,  load: 1.21")
    >>> stamp.seconds, rest, split_stamp("[06:14:36]")[1], split_stamp("1795262401")
    (1121474080.0, 'load: 1.21', '', None)
    """
    found = find_stamp(text)
    return None if found is None else (found[0], text[found[1] :].strip(" ,"))


def find_stamp(text: str) -> tuple[Timestamp, int] | None:
    """Return the time that the line begins with, and the place after it. Missing: None when the line begins with no time."""
    at = len(text) - len(text.lstrip())
    found = YEAR_FIRST.match(text, at) or DAY_AND_CLOCK.match(text, at) or IN_WORDS.match(text, at) or CLOCK_ALONE.match(text, at)
    if found is None or (text[found.end() : found.end() + 1] or " ") not in " ,":
        return None
    if found.re is IN_WORDS:
        stamp = parse_timestamp(found[0])
    elif found.re is CLOCK_ALONE:
        clock = parse_clock((found[1] or found[2])[:MAX_CLOCK_LENGTH])
        stamp = None if clock is None else Timestamp(clock, is_clock_only=True, offset_s=None)
    else:
        stamp = _day_and_clock(found)
    return None if stamp is None else (stamp, found.end())


def _day_and_clock(found: re.Match[str]) -> Timestamp | None:
    if found.re is YEAR_FIRST:
        month = found[2].lower()
        day = parse_date(f"{found[1]}-{MONTHS.index(month) + 1}-{found[3]}") if month in MONTHS else None
    else:
        day = parse_date(found[1])
    clock = parse_clock(found[found.re.groups][:MAX_CLOCK_LENGTH])
    return None if day is None or clock is None else Timestamp(day_seconds(day) + clock, is_clock_only=False, offset_s=None)


def parse_pairs(text: str) -> Pairs | None:
    """Return the numbers with names that the whole line consists of.

    Missing: None when the line has anything else.

    >>> parse_pairs("load: 1.21,  disk_r:  12891 KB,  disk_w:   1087 KB")
    Pairs(columns=('load 1 min', 'disk_r (KB)', 'disk_w (KB)'), words=('1.21', '12891', '1087'))
    >>> parse_pairs("CMD: bash   PID: 12") is None
    True
    """
    text = text.strip(" \t,")
    if PARTED in text:
        text = ", ".join(part for part in text.split(PARTED) if WORD_PAIR.fullmatch(part.strip()) is None)
    found = LOADAVG.fullmatch(text)
    if found is not None:
        return Pairs(LOADAVG_COLUMNS, found.groups())
    columns: list[str] = []
    words: list[str] = []
    at = 0
    loads = LOADS.match(text)
    if loads is not None:
        n_loads = 1 if loads[2] is None else 3
        columns.extend(LOADAVG_COLUMNS[:n_loads])
        words.extend(loads.groups()[:n_loads])
        at = loads.end()
        at += len(text[at:]) - len(text[at:].lstrip(" ,"))
    while at < len(text):
        pair = PAIR.match(text, at)
        if pair is None or len(columns) >= MAX_PAIRS:
            return None
        unit = (pair["unit"] or "").strip()
        name = " ".join(pair["name"].split())
        columns.append(f"{name} ({unit})" if unit and unit != "%" else name)
        words.append(pair["number"] + ("%" if unit == "%" else ""))
        at = pair.end()
    return Pairs(tuple(columns), tuple(words)) if columns else None
