"""Lines that are only a time: what date(1) prints in any locale, plain or decorated as scripts do it before they call a tool.

Sat Nov 21 13:00:01 -03 2026
Sa 21. Nov 13:00:01 CET 2026
# 2026-11-21 13:00:01+01:00
----- Sat 21 Nov 2026 01:00:01 PM GMT -----
"""

import re
from dataclasses import replace
from typing import Final

from normstat.stats.engine.banner_day import parse_local_stamp
from normstat.stats.engine.timestamps import CALL_LINE, EPOCH, Timestamp, parse_timestamp

MAX_LENGTH: Final = 120
# The name that scripts put before a time.
LABEL: Final = re.compile(r"(?:date|time|timestamp|started|now)(?: ?[:=]| at)[ \t]*", re.IGNORECASE | re.ASCII)
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
    stamp = parse_timestamp(text)
    if stamp is not None:
        return stamp
    if not text or len(text) > MAX_LENGTH or (text[0] not in MARKS and DATE_IN.search(text) is None):
        return None
    bare = text.strip(MARKS) if text[0] in MARKS else text
    label = LABEL.match(bare)
    if label is not None:
        bare = bare[label.end() :]
    if DATE_IN.search(bare) is None:
        # A number alone is a time only where something marks it as one.
        return parse_timestamp(bare) if bare != text and EPOCH.fullmatch(bare) is not None else None
    if bare != text:
        stamp = parse_timestamp(bare)
        if stamp is not None:
            return None if stamp.is_clock_only else stamp
    return parse_local_stamp(bare)
