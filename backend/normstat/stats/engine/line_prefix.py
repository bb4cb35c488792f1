"""What another program put before every line: a time, the name of a host, a container or a program, or several of them.

    [18:01:12]Device            r/s     rMB/s
    Sep 29 15:22:10 web1 vmstat[123]:  r  b   swpd   free
    mon-1  | 2026-09-29T15:22:10.123456789Z procs -----------memory----------
    [pod/mon-aaaaa/mon] Device            r/s     rkB/s
    web1: Device            r/s     rkB/s
    stress-ng: info:  [30142] vmstat:   r   b      swpd

Which of these forms a file has is found once, over its first lines: nearly all of those that follow each other have it. So nothing
of this is done for lines of other files.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final

from normstat.stats.engine.hosts import BANNERS
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import (
    MONTHS,
    ZONE_NAMES,
    ClockWords,
    Timestamp,
    day_seconds,
    parse_clock,
    take_clock,
)
from normstat.stats.pattern import compile_once

# Lines that are looked at for a prefix to begin, and those that must then have it.
MAX_BEFORE: Final = 64
MAX_ALIKE: Final = 16
MIN_ALIKE: Final = 2
# Commands and messages that may stand before the first of lines with names before them.
MAX_MESSAGES: Final = 2
# The share of these lines that have the form; a prompt may stand between them.
MIN_SHARE: Final = 0.9
MAX_LENGTH: Final = 4096

_ZONE: Final = rf"(?:Z|[-+]\d\d(?::?\d\d)?|(?:{'|'.join(sorted(filter(str.isascii, ZONE_NAMES), reverse=True))})\b)"
_CLOCK: Final = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M\b)?"
_WEEKDAY: Final = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? +)?"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
# Without separators: 20261128T100000Z, 20261128 10:00:00.
_BASIC: Final = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[T _-]?(?:[01]\d|2[0-3])(?::[0-5]\d:[0-5]\d|[0-5]\d[0-5]\d)"
_DATED: Final = (
    rf"(?:{_BASIC}(?:[.,]\d{{1,9}})?(?: ?{_ZONE})?|\d{{1,2}}/{_MONTH}/\d{{4}}:{_CLOCK}(?: {_ZONE})?|"
    rf"{_WEEKDAY}\d{{4}}[-/.]\d\d[-/.]\d\d[T _]{_CLOCK}(?: ?{_ZONE})?"
    rf"|\d{{1,2}}[/.]\d{{1,2}}[/.](?:\d{{4}}|\d\d) {_CLOCK}(?: {_ZONE})?"
    rf"|{_WEEKDAY}{_MONTH} +\d{{1,2}},? {_CLOCK}(?: {_ZONE})? \d{{4}}\b"
    rf"|{_WEEKDAY}\d{{1,2}} {_MONTH} (?:\d{{4}} {_CLOCK}(?: {_ZONE})?|{_CLOCK}(?: {_ZONE})? \d{{4}}\b))"
)
_WITHOUT_YEAR: Final = rf"{_WEEKDAY}{_MONTH} +\d{{1,2}} {_CLOCK}"
_NAME: Final = r"(?:[A-Za-z][\w.@-]{0,80}|\d{1,3}(?:\.\d{1,3}){3})"
# Seconds, or milliseconds.
_EPOCH: Final = r"(?:\d{9,10}(?:[.,]\d{1,9})?|1\d{12})(?!\d)"
# The name of a host and a program in journals; what CRI, logs with levels, GitLab and Heroku put before the lines of a program.
_LEVEL: Final = r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\]?:?(?= )"
_PROGRAM: Final = (
    rf"(?:[ \t]+std(?:out|err) [FP]|[ \t]+{_LEVEL}(?:[ ](?= [a-z]))?|[ \t]+\d\d[OE](?: (?=\S)|\+)?|[ \t]+[a-z]+\[[\w.-]{{1,80}}\]:"
    r"|[ \t]+(?P<host>[\w.-]{1,80}) [\w./@-]{1,80}(?:\[\d{1,10}\])?:)?"
)
_END: Final = r"(?:[ \t]|[:,|;][ \t]?|$)"
_TIME_AFTER: Final = rf"(?:(?P<time>{_DATED}|{_WITHOUT_YEAR})(?:[ \t]|$))?"


class FormKind(IntEnum):
    """How sure a prefix of a form is one: TAGS need a header after the first of them, CLOCKS a tool that prints no clock itself."""

    SURE = 0
    TAGS = 1
    CLOCKS = 2


@dataclass(frozen=True, slots=True)
class PrefixForm:
    """A form of prefix; the regular expression `pattern` has the groups `time`, `tag` and `host`, or some of them."""

    name: str
    pattern: str
    kind: FormKind = FormKind.SURE

    def match(self, line: bytes) -> re.Match[str] | None:
        """Return the prefix of a line. Missing: None for a line without."""
        # Not compiled before: all of them take 20 ms, and few processes that load the specs read a stream.
        return compile_once(self.pattern, re.ASCII).match(line[:MAX_LENGTH].decode("latin-1"))


FORMS: Final = (
    PrefixForm(
        "stress-ng",
        rf"[\w.-]{{1,40}}: (?:{_CLOCK} )?(?:info|debug|metrc|stats):[ \t]+\[\d{{1,10}}\] (?:\w+: ?)?",
    ),
    PrefixForm("pod", rf"\[(?P<tag>pod/[^\]]{{1,300}})\][ \t]?{_TIME_AFTER}"),
    PrefixForm(
        "bracket",
        rf"[ \t]*[\[(<](?P<time>{_DATED}|{_WITHOUT_YEAR}|{_EPOCH}|{_CLOCK}|[ ]*\d{{1,7}}\.\d{{3,9}})[\])>]:?[ \t]?",
    ),
    PrefixForm(
        "time",
        (
            rf"(?:<\d{{1,3}}>)?(?P<time>{_DATED}|{_WITHOUT_YEAR}|{_EPOCH}(?=[ \t]+[\w.-]+ [\w./@-]+\[\d+\]:)){_PROGRAM}"
            rf"(?: [-|] |{_END})"
        ),
    ),
    # RFC 5424.
    PrefixForm(
        "syslog",
        rf"<\d{{1,3}}>1 (?P<time>{_DATED}) (?P<host>[\w.-]{{1,80}}) \S+ \S+ \S+ (?:-|\[[^\]]*\])(?: |$)",
    ),
    PrefixForm("bar", rf"(?P<tag>{_NAME})[ \t]*(?:\||[-=]>)(?:[ \t]|$){_TIME_AFTER}", FormKind.TAGS),
    PrefixForm(
        "name in brackets",
        # Fabric, kubectl; Capistrano: `** [out :: web1]`, `** [web1 :: out]`.
        (
            r" ?(?:\*\* )?\[(?:(?:out|err) :: )?(?P<tag>(?:[A-Za-z]|\d{1,3}\.)[\w.:@-]{0,80})(?: :: (?:out|err))?\]"
            rf"(?: (?:out|err):)?(?:[ \t]|$){_TIME_AFTER}"
        ),
        FormKind.TAGS,
    ),
    PrefixForm("name", rf"(?P<tag>{_NAME})(?:\[\d{{1,10}}\])?:(?:[ \t]|$){_TIME_AFTER}", FormKind.TAGS),
    # grep, of several files.
    PrefixForm(
        "path",
        r"(?:\./)?(?P<tag>(?:[\w.-]*/)+[\w.-]{1,80}|[\w-][\w.-]{0,80}\.(?:txt|log|out|dat)):",
        FormKind.TAGS,
    ),
    PrefixForm("name and tab", rf"(?P<tag>{_NAME})\t", FormKind.TAGS),
    # knife ssh. Words of tools that begin a line have neither digit nor dot.
    PrefixForm("name and blank", r"(?P<tag>(?=[A-Za-z-]*[\d.])[A-Za-z][\w.-]{0,80}) ", FormKind.TAGS),
    PrefixForm("clock", rf"(?P<time>{_EPOCH}|{_CLOCK}){_END}", FormKind.CLOCKS),
)
FORM_OF: Final = {form.name: form for form in FORMS}
# Prefixes that look like the first column of a table: no header's name for it is on the next line once more.
LIKE_COLUMNS: Final = frozenset({"name and blank"})
NO_SINCE_BOOT: Final = frozenset({"stress-ng"})
AMOUNT: Final = re.compile(rb"-?\d[\d.,]*(?:[kKMGTP]i?[bB]?|%|[num]?s)?,?", re.ASCII)
OWN_CLOCK: Final = re.compile(rb"[ \t]*\d\d:\d\d:\d\d[ \t]", re.ASCII)
YEARLESS: Final = re.compile(rf"{_WEEKDAY}(?P<month>{_MONTH}) +(?P<day>\d{{1,2}}) (?P<clock>{_CLOCK})", re.ASCII)
BASIC: Final = re.compile(r"(\d{4})(\d\d)(\d\d)[T _-]?(\d\d):?(\d\d):?(\d\d)", re.ASCII)
DAY_FIRST: Final = re.compile(rf"^(\d{{1,2}})/({_MONTH})/(\d{{4}}):", re.ASCII)
FIRST_MS: Final = 1e12
FRACTION: Final = re.compile(r"[.,](\d{1,9})", re.ASCII)
# Words of the tools themselves that stand before many lines: sysstat's averages in its languages, and others.
NO_TAGS: Final = frozenset({"Average", "Summary", "Durchschn.", "Moyenne", "Media", "avg-cpu", "Device", "Mem", "Swap", "Total"})


class Undecided(Enum):
    """Marks that the next lines must be known first, unlike None: no prefix begins with the line."""

    UNDECIDED = 0


def find_form(
    lines: Sequence[bytes], at: int, kinds: frozenset[FormKind], *, n_before: int, is_all: bool
) -> PrefixForm | Undecided | None:
    """Return the form of the prefix that the lines have from this one on; `n_before`: how many were before them, `is_all`: no more
    will come.

    Missing: None when they have none.
    """
    line = lines[at]
    for form in FORMS:
        found = form.match(line)
        rest = line[found.end() :] if found is not None else b""
        if form.kind not in kinds and not (form.kind is FormKind.CLOCKS and _is_above_clocks(rest)):
            continue
        if found is None or not rest.strip() or (form.kind is not FormKind.SURE and not _may_be_above_rows(rest)):
            continue
        if form.kind is FormKind.TAGS and (found["tag"] in NO_TAGS or n_before + at > MAX_MESSAGES):
            continue
        alike = [other for other in lines[at + 1 :] if other.strip()][: MAX_ALIKE - 1]
        matches = [form.match(other) for other in alike]
        n_alike = 1 + sum(match is not None for match in matches)
        is_column = form.name in LIKE_COLUMNS and matches and (matches[0] is None or matches[0]["tag"] != found["tag"])
        if is_column or (len(alike) + 1 - n_alike) * 10 > MAX_ALIKE:
            # Too many are without, whatever comes.
            continue
        if len(alike) < MAX_ALIKE - 1 and not is_all:
            return Undecided.UNDECIDED
        share = MIN_SHARE if form.kind is FormKind.SURE else 1
        is_again = form.kind is not FormKind.TAGS or any(match is not None and match["tag"] == found["tag"] for match in matches)
        if n_alike >= MIN_ALIKE and n_alike >= share * (len(alike) + 1) and is_again:
            return form
    return None


def strip_prefix(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines of the beginning of a file without their prefix. Missing: [] where they have none."""
    for at in range(min(MAX_BEFORE, len(lines))):
        form = find_form(lines, at, frozenset(FormKind), n_before=0, is_all=True)
        if isinstance(form, PrefixForm):
            prefix = LinePrefix(form)
            return [prefix.strip(line) for line in lines[at:]]
    return []


def _is_above_clocks(rest: bytes) -> bool:
    """Return whether what follows a clock is a banner, or begins with a clock of the tool itself."""
    return any(banner.match(rest) for banner in BANNERS) or OWN_CLOCK.match(rest) is not None


def _may_be_above_rows(rest: bytes) -> bool:
    """Return whether what follows a prefix may be a banner or a header: several words, of which no plain number is one."""
    words = rest.split()
    if any(banner.match(rest) for banner in BANNERS):
        return True
    return len(words) > 1 and not any(map(AMOUNT.fullmatch, words))


class LinePrefix:
    """The prefix of a file's lines, and its times."""

    __slots__ = ("_last", "form")

    def __init__(self, form: PrefixForm) -> None:
        self.form = form
        self._last: tuple[str, Timestamp | None] = ("", None)

    def strip(self, line: bytes) -> bytes:
        """Return the line without its prefix."""
        found = self.form.match(line)
        return line if found is None else line[found.end() :]

    def names(self, line: bytes) -> tuple[str, str]:
        """Return the source and the host that a line names at its beginning, "" where it names none."""
        found = self.form.match(line)
        groups = found.groupdict() if found is not None else {}
        return groups.get("tag") or "", groups.get("host") or ""

    def time(self, line: bytes, near_s: float | None) -> Timestamp | None:
        """Return the time before a line. `near_s` is the wall's clock, or the beginning of the day, that is known from elsewhere:
        it gives the year.

        Missing: None for a line without a time, and for a time without a year where none is known.
        """
        found = self.form.match(line)
        text = found.groupdict().get("time") if found is not None else None
        if not text:
            return None
        if self._last[0] != text or self._last[1] is None:
            self._last = (text, parse_prefix_time(text, near_s))
        return self._last[1]


def parse_prefix_time(text: str, near_s: float | None) -> Timestamp | None:
    """Return the time in a prefix. Missing: None when it is not a time, or lacks a year that is not known.

    >>> parse_prefix_time("Sep 29 15:22:10", 1759104000.0).seconds, parse_prefix_time("1759159330.5", None).seconds
    (1759159330.0, 1759159330.5)
    """
    text = text.strip()
    if re.fullmatch(_EPOCH, text, re.ASCII) is not None:
        seconds = float(text.replace(",", "."))
        return Timestamp(seconds / 1000 if seconds >= FIRST_MS else seconds, is_clock_only=False, offset_s=0)
    basic = BASIC.match(text)
    if basic is not None:
        year, month, day, hour, minute, second = basic.groups()
        text = f"{year}-{month}-{day} {hour}:{minute}:{second}{text[basic.end() :]}"
    text = DAY_FIRST.sub(r"\1 \2 \3 ", text)
    yearless = YEARLESS.fullmatch(text)
    if yearless is not None:
        return _find_year(yearless, near_s) if near_s is not None else None
    clock = _clock_of(text)
    if clock is not None:
        return Timestamp(clock, is_clock_only=True, offset_s=None)
    # Fractions are kept apart: not all forms of dates have them.
    fraction = FRACTION.search(text, text.find(":")) if ":" in text else None
    plain = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    weekday = re.match(_WEEKDAY, plain, re.ASCII)
    plain = plain[weekday.end() :] if weekday is not None and plain[weekday.end() :][:4].isdigit() else plain
    stamp = parse_time_line(plain.replace("_", " "))
    if stamp is None or fraction is None:
        return stamp
    part_s = int(fraction[1][:6].ljust(6, "0")) / 1e6
    return Timestamp(stamp.seconds + part_s, is_clock_only=False, offset_s=stamp.offset_s, zone_name=stamp.zone_name)


def _clock_of(text: str) -> float | None:
    words = text.split()
    found: ClockWords | None = take_clock(words) if len(words) > 1 else None
    if found is not None and found.n_words == len(words) and not found.is_epoch:
        return found.seconds
    return parse_clock(FRACTION.sub(lambda part: f".{part[1][:6]}", text))


def _find_year(found: re.Match[str], near_s: float) -> Timestamp | None:
    """Return the time in the year in which it is nearest to another one."""
    clock, month = _clock_of(found["clock"]), MONTHS.index(found["month"].lower()[:3]) + 1
    year = dt.datetime.fromtimestamp(near_s, dt.UTC).year
    readings = []
    for own in (year - 1, year, year + 1):
        try:
            readings.append(day_seconds(dt.date(own, month, int(found["day"]))) + (clock or 0.0))
        except ValueError:
            continue
    if clock is None or not readings:
        return None
    return Timestamp(min(readings, key=lambda reading: abs(reading - near_s)), is_clock_only=False, offset_s=None)
