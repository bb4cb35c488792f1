"""Parse human-readable lines that name their numbers: "245 total,   1 running", "3.1 us,  3.1 sy", "0% usr   4% sys", "46M free".

Also the times and sizes that top and ps print.
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.series.report_numbers import spell_out

# The plus is where top cut a number that was too wide for its column; what is left of it is another number.
ITEM: Final = re.compile(
    r"\s*(?P<number>\d{1,18}(?:[.,]\d{1,6})?(?:e\+\d\d)?)(?P<cut>\+?)(?P<unit>%|[KMGTPkmgtp](?=\s|$)|)\s*"
    r"(?P<label>[A-Za-z](?:[\w/()-]| (?=[A-Za-z])){0,40})\s*(?:[,;:.]|(?=\s\d)|(?=\d)|$)",
    re.ASCII,
)
DAYS_CLOCK: Final = re.compile(r"(?:(?P<days>\d{1,6})[-+])?(?P<hours>\d{1,6}):(?P<minutes>\d\d):(?P<seconds>\d\d)", re.ASCII)
MINUTES: Final = re.compile(r"(?P<minutes>\d{1,9}):(?P<seconds>\d\d)(?:[.,](?P<part>\d\d?))?", re.ASCII)
HOURS: Final = re.compile(r"(?P<hours>\d{1,9}),(?P<minutes>\d\d)", re.ASCII)
TENTHS: Final = re.compile(r"(?P<hours>\d{1,6})\.(?P<tenth>\d)[hH]", re.ASCII)
SPANS: Final = re.compile(r"(?:(?P<weeks>\d{1,6})[wW])?\+?(?:(?P<days>\d{1,6})[dD])?\+?(?:(?P<hours>\d{1,6})[hH])?", re.ASCII)
SIZE: Final = re.compile(r"(?P<number>\d{1,18}(?:[.,]\d{1,3})?)(?P<unit>[kmgtpeKMGTPE]?)", re.ASCII)
UNITS: Final = "kmgtpe"
SPAN: Final = re.compile(
    r"(?:(?P<days>\d{1,6})(?:\+| +days?(?:\(s\))?),? *)?"
    r"(?:(?P<hours>\d{1,3}):(?P<minutes>\d\d)(?::(?P<seconds>\d\d))?"
    r"|(?P<only_hours>\d{1,3}) +h(?:ou)?rs?(?:\(s\))?"
    r"|(?P<only_minutes>\d{1,4}) +mins?(?:\(s\))?"
    r"|(?P<only_seconds>\d{1,6}) +secs?(?:\(s\))?)?,?",
    re.ASCII,
)
MAX_ITEMS: Final = 64
# The process' name in the kernel has 15 characters; what is longer and has blanks is a command line, of which the program counts.
MAX_NAME_LENGTH: Final = 15


@dataclass(frozen=True, slots=True)
class LabelledNumber:
    """A number with its name; `number` is "" where the tool cut it, `unit` is "%", a suffix as printed, or ""."""

    label: str
    number: str
    unit: str


def split_items(text: str) -> list[LabelledNumber] | None:
    """Return the named numbers that a text consists of. Missing: None when it holds anything else, or too many.

    >>> [(item.label, item.number, item.unit) for item in split_items("3861332k total, 3446476k used.  12 avail Mem") or []]
    [('total', '3861332', 'k'), ('used', '3446476', 'k'), ('avail Mem', '12', '')]
    >>> [(item.label, item.number, item.unit) for item in split_items("0% usr 4,5% sys 13174380+free") or []]
    [('usr', '0', '%'), ('sys', '4.5', '%'), ('free', '', '')]
    >>> [(item.label, item.number, item.unit) for item in split_items("1.319e+08 total, 14260 free") or []]
    [('total', '131900000', ''), ('free', '14260', '')]
    """
    items: list[LabelledNumber] = []
    at = 0
    text = text.strip()
    while at < len(text):
        found = ITEM.match(text, at)
        if found is None or len(items) >= MAX_ITEMS:
            return None
        # Numbers wider than their place: 1.319e+08.
        number = "" if found["cut"] else spell_out(found["number"].replace(",", "."))
        items.append(LabelledNumber(found["label"].strip(), number, found["unit"]))
        at = found.end()
    return items or None


def seconds_of(word: str) -> str | None:
    """Return a time of CPU as seconds in plain decimals: minutes:seconds.hundredths, days-hours:minutes:seconds, hours,minutes,
    3d+4h, 2w, 100.2H.

    Missing: None when the word is none of these.
    Source: top(1) and ps(1), TIME+, TIME; scale_tics() of procps; format_time() of unixtop.

    >>> seconds_of("0:06.01"), seconds_of("123:45"), seconds_of("1-02:03:04"), seconds_of("12,30"), seconds_of("3d+4h")
    ('6.01', '7425', '93784', '45000', '273600')
    """
    if (found := MINUTES.fullmatch(word)) is not None:
        whole = int(found["minutes"]) * 60 + int(found["seconds"])
        return f"{whole}.{found['part']}" if found["part"] else str(whole)
    if (found := DAYS_CLOCK.fullmatch(word)) is not None:
        hours = int(found["days"] or 0) * 24 + int(found["hours"])
        return str(hours * 3600 + int(found["minutes"]) * 60 + int(found["seconds"]))
    if (found := HOURS.fullmatch(word)) is not None:
        return str(int(found["hours"]) * 3600 + int(found["minutes"]) * 60)
    if (found := TENTHS.fullmatch(word)) is not None:
        return str(int(found["hours"]) * 3600 + int(found["tenth"]) * 360)
    found = SPANS.fullmatch(word)
    if found is None or not any(found.groups()):
        return None
    days = int(found["weeks"] or 0) * 7 + int(found["days"] or 0)
    return str((days * 24 + int(found["hours"] or 0)) * 3600)


def kib_of(word: str) -> str | None:
    """Return a size in KiB, in plain decimals: a number without a suffix is in KiB already.

    Missing: None when the word is no size.
    Source: top(1), 2c. SUMMARY Memory; scale_mem() of procps.

    >>> kib_of("104364"), kib_of("1.2g"), kib_of("12m"), kib_of("-")
    ('104364', '1258291.2', '12288', None)
    """
    found = SIZE.fullmatch(word)
    if found is None:
        return None
    unit = found["unit"].lower()
    if not unit:
        return found["number"].replace(",", ".")
    value = float(found["number"].replace(",", ".")) * 1024.0 ** UNITS.index(unit)
    return f"{value:.3f}".rstrip("0").rstrip(".")


def span_seconds(text: str) -> str | None:
    """Return the uptime of a host, as printed by uptime, in seconds.

    Missing: None when the text is no such time.
    Source: uptime(1) of procps, Solaris and BSD.

    >>> span_seconds("42 min"), span_seconds("3 days,  4:05"), span_seconds("12 day(s), 3 min(s)"), span_seconds("1+02:03:04")
    ('2520', '273900', '1036980', '93784')
    """
    found = SPAN.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    hours = int(found["hours"] or found["only_hours"] or 0)
    minutes = int(found["minutes"] or found["only_minutes"] or 0)
    seconds = int(found["seconds"] or found["only_seconds"] or 0)
    return str(((int(found["days"] or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


# The prefix of a process in a tree: ps f, ps d, and top's forest view.
BRANCH: Final = re.compile(r"[ |│]*(?:(?:\\_|[|│])[ ]+|[|`+\\]-[-+=]{0,2}[ ]*|[├└┬╰]─{1,2}┬?[ ]*)(?=[^\s-])")


def command_name(text: str) -> str:
    """Return the name of a process for instances: its name, or the program of a command line.

    >>> command_name("my worker (x)"), command_name("/usr/sbin/sshd -D -o Foo=bar"), command_name("[kworker/0:0]")
    ('my worker (x)', 'sshd', '[kworker/0:0]')
    >>> command_name("    \\\\_ java -jar app.jar"), command_name(" |   `- sh"), command_name("-bash")
    ('java', 'sh', '-bash')
    >>> command_name("│ ├─java"), command_name("|-+= /sbin/launchd"), command_name("`-sshd")
    ('java', 'launchd', 'sshd')
    """
    text = BRANCH.sub("", text, count=1)
    if len(text) <= MAX_NAME_LENGTH and "/" not in text.partition(" ")[0]:
        return text
    program = text.partition(" ")[0]
    if program.startswith("/"):
        return program.rpartition("/")[2] or program
    return program
