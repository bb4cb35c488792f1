"""Lines with only a time: the output of date(1) in any locale, plain or decorated by scripts before they call a tool.

Sat Nov 21 13:00:01 -03 2026
Sa 21. Nov 13:00:01 CET 2026
# 2026-11-21 13:00:01+01:00
----- Sat 21 Nov 2026 01:00:01 PM GMT -----
"""

import re
from dataclasses import replace
from typing import Final

from normstat.stats.engine.times.banner_day import parse_local_stamp
from normstat.stats.engine.times.timestamps import CALL_LINE, EPOCH, EPOCH_LEAST, Timestamp, parse_timestamp, take_clock

MAX_LENGTH: Final = 120
# The name that scripts put before a time.
LABEL: Final = re.compile(
    r"(?:date|time|timestamp|started|now|begin|collected|captured|taken|generated)(?: ?[:=]| at| on)[ \t]*",
    re.IGNORECASE | re.ASCII,
)
# The first line of a screen of watch(1).
WATCH: Final = re.compile(
    r"Every \d{1,6}[.,]\ds: .{1,400}?  +(?:[\w.-]{1,80}: )?(?P<time>\w{3} \w{3} +\d{1,2} \d\d:\d\d:\d\d \d{4})"
)
CLOCK_LINE: Final = re.compile(r"\d{1,2}:\d\d:\d\d(?: [AP]M)?", re.ASCII)
FRACTIONAL: Final = re.compile(r"\d{10}\.\d{1,9}", re.ASCII)
# 20261121_130001, 20261121T130001Z, 20261121 13:00:01
BASIC: Final = re.compile(
    r"((?:19|20)\d\d)(0[1-9]|1[0-2])([0-3]\d)[T _-]([0-2]\d):?([0-5]\d):?([0-5]\d)"
    r"((?:[.,]\d{1,9})?(?: ?(?:Z|[-+]\d\d(?::?\d\d)?))?)",
    re.ASCII,
)
# In Chinese CST is China's time, not that of America.
CHINA: Final = "CST"
CHINESE: Final = "年"
CHINA_S: Final = 8 * 3600
MARKS: Final = "#=*-+~<>[](){}|_:@ \t"
# Rows of tools are many, and have seldom a year or a date.
DATE_IN: Final = re.compile(r"(?:19|20|25)\d\d(?!\d)|\d[./-] ?\d{1,2}[./-] ?\d", re.ASCII)


def parse_time_line(text: str) -> Timestamp | None:
    """Return the time that a line is, decorated or not. Missing: None when the line is no time.

    >>> [parse_time_line(text) == parse_time_line("1795262401") for text in ("# 1795262401", "[1795262401]", "1795262401 -")]
    [True, True, False]
    >>> parse_time_line("--- Sat 21 Nov 13:00:01 GMT 2026 ---") == parse_time_line("Sa 21. Nov 13:00:01 GMT 2026")
    True
    """
    text = text.strip()
    if text.startswith("zzz"):
        found = CALL_LINE.fullmatch(text) if len(text) <= MAX_LENGTH else None
        stamp = parse_time_line(found["words"] or f"{found['day']} {found['clock']}") if found is not None else None
        # ExaWatcher puts the month first.
        return replace(stamp, is_call=True, other_s=None) if stamp is not None else None
    watched = WATCH.fullmatch(text) if text.startswith("Every ") else None
    if watched is not None:
        stamp = parse_time_line(watched["time"])
        return replace(stamp, is_call=True) if stamp is not None else None
    stamp = parse_timestamp(text) or _parse_bare(text)
    if stamp is not None:
        return stamp
    if not text or len(text) > MAX_LENGTH or (text[0] not in MARKS and DATE_IN.search(text) is None):
        return None
    bare = text.strip(MARKS) if text[0] in MARKS else text
    label = LABEL.match(bare)
    if label is not None:
        bare = bare[label.end() :]
    if DATE_IN.search(bare) is None and BASIC.fullmatch(bare) is None:
        # A number alone is a time only where something marks it as one.
        return parse_timestamp(bare) if bare != text and EPOCH.fullmatch(bare) is not None else None
    if bare != text:
        stamp = parse_timestamp(bare) or _parse_bare(bare)
        if stamp is not None:
            return None if stamp.is_clock_only else stamp
    stamp = parse_local_stamp(bare)
    if stamp is not None and stamp.zone_name == CHINA and CHINESE in bare:
        return replace(stamp, offset_s=CHINA_S)
    return stamp


def _parse_bare(text: str) -> Timestamp | None:
    """Return the time that a line is in a form of scripts only: a clock, an epoch with a fraction, or a date without separators."""
    if CLOCK_LINE.fullmatch(text) is not None:
        clock = take_clock(text.split())
        return Timestamp(clock.seconds, is_clock_only=True, offset_s=None) if clock is not None else None
    if FRACTIONAL.fullmatch(text) is not None:
        return Timestamp(float(text), is_clock_only=False, offset_s=0) if float(text) >= EPOCH_LEAST else None
    basic = BASIC.fullmatch(text)
    if basic is None:
        return None
    year, month, day, hour, minute, second, rest = basic.groups()
    return parse_timestamp(f"{year}-{month}-{day} {hour}:{minute}:{second}{rest}")
