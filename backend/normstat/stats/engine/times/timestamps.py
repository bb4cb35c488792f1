"""Times as the tools print them.

12:53:20   12:53:20 PM IST   20时56分03秒   12.53.20   下午 12:53:20   1591016000       a clock or an epoch before a row
2026-11-21 12:00:01                                     date and clock after a row of vmstat -t
2026-11-21T12:00:01+0000   11/21/26 12:00:01   21.11.2026 12:00:01   Time: 12:00:01      a line of iostat -t
1795262401   Sat Nov 21 12:00:01 UTC 2026   November 21, 2026 12:00:01 PM UTC            a line of Solaris -T u, -T d
zzz ***Sat Nov 21 12:00:01 UTC 2026   zzz <11/21/2026 12:00:01> Count:30     OSWatcher and ExaWatcher, before each call of the tool
"""

import datetime as dt
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

SECONDS_A_DAY: Final = 86400
# Epochs of stat tools lie between 1990 and 2286; other numbers of nine or ten digits are no time.
EPOCH_LEAST: Final = 631_152_000

CLOCK: Final = re.compile(r"(\d{1,2})(?:[:时時點点](\d\d)[:分](\d\d)(?:[.,](\d{1,6}))?秒?|([.,])(\d\d)\5(\d\d)[.,]?)", re.ASCII)
KOREAN_CLOCK: Final = re.compile(r"(\d\d)시 (\d\d)분 (\d\d)초", re.ASCII)
THAI_YEARS: Final = 543
EPOCH: Final = re.compile(r"[0-9]{9,10}")
# %p of strftime in the locales of glibc, older versions included, and of Solaris.
HALVES: Final = {
    "am": 0, "pm": 12, "a.m.": 0, "p.m.": 12, "πμ": 0, "μμ": 12, "π.μ.": 0, "μ.μ.": 12, "上午": 0, "下午": 12, "午前": 0,
    "午後": 12, "पूर्वाह्न": 0, "अपराह्न": 12, "오전": 0, "오후": 12, "ص": 0, "م": 12, "saaku": 0, "carra": 12, "m": 0, "f": 12,
    "ጽባሕ": 0, "ምሴት": 12, "téng-po͘": 0, "ē-po͘": 12, "wd": 0, "wb": 12, "म.पू.": 0, "म.नं.": 12, "subaxnimo": 0,
    "galabnimo": 12, "pd": 0, "md": 12, "ಕಾಂಡೆ": 0, "ಬಯ್ಯ": 12, "öö": 0, "ös": 12, "fh": 0, "eh": 12, "vm": 0, "nm": 12,
    "πµ": 0, "µµ": 12,
}  # fmt: skip
# The half of the day without a blank before it, as in Albanian and Ge'ez: 07:54:05.MD
GLUED_HALF: Final = re.compile(r"(\d{1,2}:\d\d:\d\d)[.፡](\D{1,12})", re.ASCII)
DATE: Final = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})\.?|(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日일]", re.ASCII)
EITHER_ORDER: Final = re.compile(r"\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)", re.ASCII)
LAST_MONTH: Final = 12
ISO_LINE: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) ?(Z|[-+]\d\d(?::?\d\d)?)?", re.ASCII)
# The clock has microseconds; further digits are dropped.
NANOSECONDS: Final = re.compile(r"(?<=[.,]\d{6})\d{1,3}", re.ASCII)
WORDS_LINE: Final = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2}),?\s+"
    r"(?:(?P<year1>\d{4})\s+)?(?:at\s+)?(?P<clock>\d{1,2}:\d\d:\d\d)(?:\s+(?P<half>[ap]m))?"
    r"(?:\s+(?P<zone>[a-z]{2,5}|[-+]\d\d(?::?\d\d)?))?(?:\s+(?P<year2>\d{4}))?",
    re.IGNORECASE | re.ASCII,
)
DAY_FIRST_LINE: Final = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?(?P<day>\d{1,2})\s+(?P<month>[a-z]{3,9})\.?,?\s+(?:(?P<year1>\d{4}),?\s+)?"
    r"(?:at\s+)?(?P<clock>\d{1,2}:\d\d:\d\d)(?:\s+(?P<half>[ap]m))?(?:\s+(?P<zone>[a-z]{2,5}|[-+]\d\d(?::?\d\d)?))?"
    r"(?:\s+(?P<year2>\d{4}))?",
    re.IGNORECASE | re.ASCII,
)
# Prefixes of every line by another program: date, clock and a tab; the time of RFC 3339 of docker, Kubernetes and journals.
PREFIX: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d{1,6})?)\t|T(\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d{0,3}(Z|[-+]\d\d:?\d\d) "
    r"(?:std(?:out|err) F |[\w.-]{1,64} [\w./-]{1,40}(?:\[\d{1,8}\])?: ?)?(?=[ \t]*[^ \t]))",
    re.ASCII,
)
# The same before a blank line. Without a fraction it may be the time of a report.
EMPTY_PREFIX: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9}(?:Z|[-+]\d\d:?\d\d)(?: std(?:out|err) F)?|(?:Z|[-+]\d\d:?\d\d) [\w.-]{1,64} "
    r"[\w./-]{1,40}(?:\[\d{1,8}\])?:)[ \t]*",
    re.ASCII,
)
# Programs that call a tool at intervals and write all of its output to one file.
CALL_LINE: Final = re.compile(
    r"zzz\s+(?:\*\*\*\s*(?P<words>.+?)(?:\s+Sample interval:.*)?|<(?P<day>\S+) (?P<clock>\S+)>.*)", re.ASCII
)
# The lines above the first call. Source: OSWbb 3 to 22 archives.
RECORDER_LINE: Final = re.compile(
    r"[A-Za-z]+ OSW(?:bb)? v\S+(?: \S+)?|(?:SNAP_INTERVAL|CPU_CORES|VCPUS|OSWBB_ARCHIVE_DEST|OSWBB)(?: .*)?", re.ASCII
)
ZONE_NUMBER: Final = re.compile(r"([-+])(\d\d):?(\d\d)?", re.ASCII)
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# The zone names that RFC 822 fixes, and European and Japanese ones of one meaning only. Others ("CST" outside America, "IST") are
# not guessed: the caller must name the zone.
ZONE_HOURS: Final = {
    "UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "UCT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MET": 1, "MEST": 2, "METDST": 2, "JST": 9, "KST": 9,
}  # fmt: skip
# Zones that %X of strftime puts after a clock of twelve hours (en_IN, id_ID, and where such a locale is used elsewhere).
CLOCK_ZONES: Final = frozenset(
    {*(name for name in ZONE_HOURS if len(name) > 2), "IST", "PKT", "NPT", "BST", "WIB", "WITA", "WIT", "HKT", "SGT", "PHT", "MSK"}
)
# Zones that date(1) names, whose distance from UTC is known or must be asked for.
ZONE_NAMES: Final = CLOCK_ZONES | {
    "UT", "AEST", "AEDT", "ACST", "ACDT", "AWST", "NZST", "NZDT", "AST", "ADT", "AKST", "AKDT", "HST", "NST", "NDT", "BRT", "BRST",
    "ART", "CLT", "COT", "PET", "VET", "SAST", "WAT", "CAT", "EAT", "IDT", "TRT", "GST", "IRST", "IRDT", "ICT", "MYT", "SST", "МСК",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClockWords:
    """A time before the columns of a row: `n_words` words; seconds of the day, or of the epoch when `is_epoch`."""

    n_words: int
    seconds: float
    is_epoch: bool


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A time on its own: seconds since the epoch by the clock on the wall, or `is_clock_only` seconds of some day.

    `offset_s` is the zone's distance from UTC, None if unknown; `zone_name` its name, "" if it has none or is a
    number. `is_call`: a recorder wrote it before it called the tool. `other_s`: the seconds where the day is first in 04/08/17.
    """

    seconds: float
    is_clock_only: bool
    offset_s: int | None
    zone_name: str = field(default="", repr=False)
    is_call: bool = field(default=False, repr=False)
    other_s: float | None = field(default=None, repr=False)


def parse_clock(text: str) -> float | None:
    """Return seconds of the day, or None: "12:53:20" -> 46400.

    >>> parse_clock("12:53:20"), parse_clock("20时56分03秒"), parse_clock("25:00:00"), parse_clock("12:53")
    (46400.0, 75363.0, None, None)
    """
    if len(text) == 8 and text[2] == ":" == text[5] and text.isascii() and (text[:2] + text[3:5] + text[6:]).isdigit():
        # By far the most frequent form.
        whole = int(text[:2]) * 3600 + int(text[3:5]) * 60 + int(text[6:])
        return float(whole) if text[:2] < "24" and text[3:5] < "60" and text[6:] < "61" else None
    found = CLOCK.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2] or found[6]), int(found[3] or found[7])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{found[4] or 0}")


BLANKS: Final = re.compile(r"[ \t]+")


def split_words(text: str, limit: int = 0) -> list[str]:
    """Return the words of a line, parted by blanks and tabs only (a no-break space in a name is part of the name); at most
    `limit` + 1 of them when it is given, the last with all that is left.
    """
    if text.isascii() and not limit:
        return text.split()
    text = text.strip(" \t")
    return BLANKS.split(text, limit) if text else []


def take_clock(words: Sequence[str]) -> ClockWords | None:
    """Return the time that a row of mpstat or pidstat begins with, or None.

    >>> take_clock(["03:15:06", "PM", "all"]), take_clock(["09:15:06", "AM", "IST", "all"]).n_words
    (ClockWords(n_words=2, seconds=54906.0, is_epoch=False), 3)
    """
    if not words:
        return None
    if not words[0][:1].isdigit():
        return _take_half_first(words)
    if words[0].endswith("시") and len(words) > 2:
        # Korean: three words, 12시 53분 20초.
        found = KOREAN_CLOCK.fullmatch(" ".join(words[:3]))
        seconds = None if found is None else parse_clock(":".join(found.groups()))
        return None if seconds is None else ClockWords(3, seconds, is_epoch=False)
    # By far the most have the eight characters of 12:00:01, with which the next two have more.
    is_usual = len(words[0]) == 8
    if not is_usual and EPOCH.fullmatch(words[0]) is not None and int(words[0]) >= EPOCH_LEAST:
        return ClockWords(1, float(words[0]), is_epoch=True)
    glued = None if is_usual else GLUED_HALF.fullmatch(words[0])
    if glued is not None:
        words = [glued[1], glued[2], *words[1:]]
    seconds = parse_clock(words[0])
    if seconds is None:
        return None
    half = HALVES.get(words[1].lower()) if len(words) > 1 else None
    n_words = 1 if half is None else 2
    n_words += len(words) > n_words and words[n_words] in CLOCK_ZONES
    if half is not None:
        if not 1 <= seconds // 3600 <= 12:
            return None
        seconds = seconds % 43200 + half * 3600
    return ClockWords(n_words - (glued is not None), seconds, is_epoch=False)


@functools.lru_cache(maxsize=4096)
def clock_of_word(word: bytes) -> ClockWords | None:
    """Return the time in a word: the tools of a host, and all hosts, print the same one at the same time. Missing: None for a
    word that is none, or that is one only together with the next.
    """
    return take_clock([word.decode("utf-8", "backslashreplace")])


def _take_half_first(words: Sequence[str]) -> ClockWords | None:
    """Return a clock with a word before it: 下午 08:56:03, or kl. 20.56 +0100 of Norwegian sysstat."""
    if (
        words[0] == "kl."
        and len(words) > 2
        and re.fullmatch(r"\d\d\.\d\d", words[1], re.ASCII)
        and parse_zone(words[2]) is not None
    ):
        minutes = parse_clock(f"{words[1]}.00")
        return None if minutes is None else ClockWords(3, minutes, is_epoch=False)
    if words[0] in CLOCK_ZONES and len(words) > 1 and words[1][:1].isdigit():
        # Arabic: the zone, the clock, the half of the day.
        found = take_clock(words[1:])
        return None if found is None or found.is_epoch else replace(found, n_words=found.n_words + 1)
    half = HALVES.get(words[0].lower()) if words[0] and len(words) > 1 else None
    seconds = parse_clock(words[1]) if half is not None else None
    if half is None or seconds is None or not 1 <= seconds // 3600 <= 12:
        return None
    n_words = 3 if len(words) > 2 and words[2] in CLOCK_ZONES else 2
    return ClockWords(n_words, seconds % 43200 + half * 3600, is_epoch=False)


def parse_date(text: str) -> dt.date | None:
    """Return the day that a locale's short date names; month before day (C and American) wherever that is possible.

    >>> parse_date("11/21/26"), parse_date("27/07/10"), parse_date("21.11.2026"), parse_date("2026年11月20日")
    (datetime.date(2026, 11, 21), datetime.date(2010, 7, 27), datetime.date(2026, 11, 21), datetime.date(2026, 11, 20))
    """
    found = DATE.fullmatch(text)
    if found is None:
        return None
    if found[5]:
        year, month, day = int(found[5]), int(found[6]), int(found[7])
    elif len(found[1]) == 4:
        year, month, day = int(found[1]), int(found[3]), int(found[4])
    elif len(found[1]) <= 2 and len(found[4]) in (2, 4):
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        first, second = int(found[1]), int(found[3])
        month, day = (second, first) if found[2] == "." or first > 12 else (first, second)
    else:
        return None
    try:
        # Thailand counts the years from the Buddha.
        return dt.date(year - THAI_YEARS if year > THAI_YEARS + 1900 else year, month, day)
    except ValueError:
        return None


def parse_other_order(text: str) -> dt.date | None:
    """Return the day that a date names when its first two numbers are in the other order.

    Missing: None where that is no other day.

    >>> parse_other_order("04/08/17"), parse_other_order("04/28/17"), parse_other_order("04/04/17"), parse_other_order("2017-04-08")
    (datetime.date(2017, 8, 4), None, None, None)
    """
    day = parse_date(text) if EITHER_ORDER.fullmatch(text) is not None else None
    is_other = day is not None and day.day <= LAST_MONTH and day.day != day.month
    return dt.date(day.year, day.day, day.month) if day is not None and is_other else None


def tells_day_first(text: str) -> bool | None:
    """Return whether a date has the day before the month. Missing: None where it may be either.

    >>> tells_day_first("31/07/17"), tells_day_first("07/31/17"), tells_day_first("04/08/17"), tells_day_first("2017-07-31")
    (True, False, None, None)
    """
    if EITHER_ORDER.fullmatch(text) is None or parse_date(text) is None:
        return None
    first, second = map(int, re.findall(r"\d+", text)[:2])
    return first > LAST_MONTH if max(first, second) > LAST_MONTH else None


def day_seconds(day: dt.date) -> int:
    """Return seconds from the epoch to the day's beginning."""
    return (day.toordinal() - 719_163) * SECONDS_A_DAY


def parse_zone(name: str) -> int | None:
    """Return seconds that a zone is ahead of UTC; None for a name of several meanings.

    >>> parse_zone("PDT"), parse_zone("+0530"), parse_zone("-03"), parse_zone("IST")
    (-25200, 19800, -10800, None)
    """
    if name.upper() in ZONE_HOURS:
        return ZONE_HOURS[name.upper()] * 3600
    found = ZONE_NUMBER.fullmatch(name)
    if found is None:
        return None
    return (1 if found[1] == "+" else -1) * (int(found[2]) * 3600 + int(found[3] or 0) * 60)


def is_zone(word: str) -> bool:
    """Return whether a word after a clock is a zone; its distance from UTC may be unknown.

    >>> is_zone("-03"), is_zone("IST"), is_zone("CPU")
    (True, True, False)
    """
    return word in ZONE_NAMES or parse_zone(word) is not None


def parse_timestamp(text: str) -> Timestamp | None:
    """Return the time that a line is, or None when the line is no time.

    >>> parse_timestamp("1795262401"), parse_timestamp("Time: 11:01:52").is_clock_only
    (Timestamp(seconds=1795262401.0, is_clock_only=False, offset_s=0), True)
    >>> parse_timestamp("Sat Nov 21 12:00:01 CET 2026"), parse_timestamp("never")
    (Timestamp(seconds=1795262401.0, is_clock_only=False, offset_s=3600), None)
    """
    text = text.strip()
    if not text or len(text) > 80:
        return None
    if EPOCH.fullmatch(text) is not None:
        return Timestamp(float(text), is_clock_only=False, offset_s=0) if int(text) >= EPOCH_LEAST else None
    iso = ISO_LINE.fullmatch(text)
    if iso is not None:
        return join_day_and_clock(parse_date(iso[1]), parse_clock(NANOSECONDS.sub("", iso[2])), iso[3] or "")
    words = text.split()
    if words[0].lower() == "time:":
        clock = take_clock(words[1:])
        fits = clock is not None and not clock.is_epoch and clock.n_words == len(words) - 1
        return Timestamp(clock.seconds, is_clock_only=True, offset_s=None) if clock is not None and fits else None
    day = parse_date(words[0].rstrip(","))
    if day is not None:
        clock = take_clock(words[1:])
        if clock is None or clock.is_epoch:
            return None
        # Only a zone after a clock of twelve hours belongs to the clock.
        has_zone = clock.n_words == 2 and words[2] in CLOCK_ZONES
        rest = words[clock.n_words + (not has_zone) :]
        zone = rest[0] if len(rest) == 1 else zone_of_clock(words[1 : 1 + clock.n_words])
        if len(rest) > 1 or (rest and not is_zone(zone)):
            return None
        stamp, other = join_day_and_clock(day, clock.seconds, zone), parse_other_order(words[0].rstrip(","))
        return stamp if stamp is None or other is None else replace(stamp, other_s=day_seconds(other) + clock.seconds)
    return _stamp_in_words(text)


def is_recorder_line(text: str) -> bool:
    """Return whether a recorder wrote the line about itself.

    >>> is_recorder_line("Linux OSWbb v8.1.2 web1"), is_recorder_line("SNAP_INTERVAL 30"), is_recorder_line("Linux 6.1.0 (web1)")
    (True, True, False)
    """
    return len(text) < 400 and RECORDER_LINE.fullmatch(text.strip()) is not None


def _stamp_in_words(text: str) -> Timestamp | None:
    found = WORDS_LINE.fullmatch(text) or DAY_FIRST_LINE.fullmatch(text)
    if found is None or not (found["year1"] or found["year2"]):
        return None
    month = found["month"].lower()[:3]
    clock = take_clock([found["clock"], *([found["half"]] if found["half"] else [])])
    if month not in MONTHS or clock is None or clock.is_epoch:
        return None
    try:
        day = dt.date(int(found["year1"] or found["year2"]), MONTHS.index(month) + 1, int(found["day"]))
    except ValueError:
        return None
    return join_day_and_clock(day, clock.seconds, found["zone"] or "")


def zone_of_clock(words: Sequence[str]) -> str:
    """Return the zone among the words of a clock, "" when it has none whose distance from UTC is known.

    >>> zone_of_clock(["07:51:20", "PM", "UTC"]), zone_of_clock(["03:15:06", "PM"])
    ('UTC', '')
    """
    return next((word for word in words if not word[:1].isdigit() and parse_zone(word) is not None), "")


def join_day_and_clock(day: dt.date | None, seconds: float | None, zone: str) -> Timestamp | None:
    """Return a day and the seconds of it as one time, in the zone if it has a name. Missing: None when either is missing."""
    if day is None or seconds is None:
        return None
    offset_s = parse_zone(zone) if zone else None
    return Timestamp(day_seconds(day) + seconds, is_clock_only=False, offset_s=offset_s, zone_name=zone if zone.isalpha() else "")
