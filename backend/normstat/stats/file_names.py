"""The command and the day in the name of a file."""

import datetime as dt
import re
from typing import Final

from normstat.stats.engine.times.timestamps import MONTHS

OPTION_WORD: Final = re.compile(r"-[A-Za-z]{1,5}")
# Words that look like options: vmstat-day.txt was not printed by `vmstat -day`.
WORDS: Final = frozenset(
    {"-my", "-day", "-today", "-daily", "-may", "-july", "-by", "-only", "-busy", "-copy", "-try", "-any", "-sys"}
)
# Commands that are called otherwise than their tools.
SHORT_NAMES: Final = {"stap": "systemtap", "stp": "systemtap"}
DAYS: Final = (
    re.compile(r"(?<!\d)(?P<year>\d\d)\.(?P<month>\d\d)\.(?P<day>\d\d)\.\d{4}(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<by>[-_.]?)(?P<month>\d\d)(?P=by)(?P<day>\d\d)(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d\d?)[-_.]?(?P<month>[A-Za-z]{3})[-_.]?(?P<year>(?:19|20)\d\d)(?!\d)"),
    re.compile(r"(?<![A-Za-z])(?P<month>[A-Za-z]{3})[-_.]?(?P<day>\d\d?)[-_.](?P<year>(?:19|20)\d\d)(?!\d)"),
)
FOLDERS: Final = re.compile(r"(?:^|/)(?P<year>(?:19|20)\d\d)/(?P<month>\d\d)/(?P<day>\d\d)/[^/]+$")
ENDINGS: Final = re.compile(r"(?:\.(?:txt|out|log|dat|raw|gz|bz2|xz|zst))+$")
# Texts about tools, which quote what those print.
DOCUMENT: Final = re.compile(
    r"(?:.*/)?(?:(?:readme|changelog|changes|license|licence|copying|contributing|authors|install|news)(?:\.[a-z]{2,5})?"
    r"|[^/]*\.(?:md|markdown|rst|adoc|html?|toml))",
    re.IGNORECASE,
)


def is_document(path: str) -> bool:
    """Return whether the name is that of a text about tools, not of what one printed.

    >>> is_document("dtrace/README.md"), is_document("LICENSE"), is_document("dtrace.out"), is_document("readme-vmstat.log")
    (True, True, False, False)
    """
    return DOCUMENT.fullmatch(path) is not None


def command_in_name(name: str, tool: str) -> str:
    """Return the command line that a file's name ends with. Missing: "" for any other name.

    >>> command_in_name("web1_iostat_-xy_1_1.txt", "iostat"), command_in_name("iostat -xy 1 1", "iostat")
    ('iostat -xy 1 1', 'iostat -xy 1 1')
    >>> command_in_name("iostat-xy.out.gz", "iostat"), command_in_name("iostat-my.txt", "iostat")
    ('iostat -xy', '')
    """
    before, _, after = ENDINGS.sub("", name).rpartition(tool)
    options = after.lstrip(" _")
    is_tool = tool in name and not before[-1:].isalpha() and options.startswith("-")
    words = re.split(r"[ _]+", options) if is_tool else []
    is_command = all(OPTION_WORD.fullmatch(word) or re.fullmatch(r"\d{1,6}", word) for word in words)
    return " ".join([tool, *words]) if words and is_command and not WORDS.intersection(words) else ""


def words_in_name(path: str) -> set[str]:
    """Return the words of a file's name that may name a tool.

    >>> sorted(words_in_name("web1_stap-iotop.txt"))
    ['iotop', 'stap', 'systemtap', 'txt', 'web']
    """
    words = set(re.findall(r"[a-z]+", path.lower()))
    return words | {SHORT_NAMES[word] for word in words & SHORT_NAMES.keys()}


def day_in_name(path: str) -> dt.date | None:
    """Return the day in the file's name, or in its folder's. Missing: None for none, and for two of them.

    >>> day_in_name("osw/web1_mpstat_26.11.21.0800.dat"), day_in_name("2026-11-21/mpstat.out"), day_in_name("sa21/x")
    (datetime.date(2026, 11, 21), datetime.date(2026, 11, 21), None)
    >>> {day_in_name(name) for name in ("sar_21Nov2026.txt", "sar.21-nov-2026", "2026/11/21/sar.txt", "sar-Nov-21-2026")}
    {datetime.date(2026, 11, 21)}
    """
    for part in reversed(path.split("/")[-2:]):
        days = {day for pattern in DAYS for found in pattern.finditer(part) if (day := _to_day(found)) is not None}
        if days:
            return days.pop() if len(days) == 1 else None
    folders = FOLDERS.search(path)
    return _to_day(folders) if folders is not None else None


def _to_day(found: re.Match[str]) -> dt.date | None:
    year, month = int(found["year"]), found["month"].lower()
    try:
        number = int(month) if month.isdigit() else MONTHS.index(month) + 1
        return dt.date(year + 2000 if year < 100 else year, number, int(found["day"]))
    except ValueError:
        return None
