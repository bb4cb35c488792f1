"""Parse the date in the first line of sysstat's tools, as strftime's %x prints it in the locale of the host.

    Linux 6.1.0-40-amd64 (web1)     11/21/26        _x86_64_        (2 CPU)
    Linux 6.1.0-40-amd64 (web1)     Saturday 21 November 2026       _x86_64_        (2 CPU)
    Linux 6.1.0-40-amd64 (web1)     21. nov. 2026   _x86_64_        (2 CPU)

Some languages have the month in words in %x: English of India and Africa, Norwegian, Icelandic, Albanian, Arabic, and some defined
by Unix vendors. Others print digits, which normstat.stats.engine.timestamps reads.
"""

import datetime as dt
import re
from typing import Final

from normstat.stats.engine.timestamps import parse_date

# The beginnings of the months' names. Three letters of May are distinctive in every language.
MONTHS: Final = (
    ("jan", "ene", "janv", "gen", "led", "sty", "янв", "січ", "oca", "يناير"),
    ("feb", "fev", "fév", "únor", "lut", "фев", "лют", "şub", "فبراير"),
    ("mar", "mär", "mrz", "maa", "mrt", "břez", "мар", "бер", "مارس"),
    ("apr", "abr", "avr", "prill", "dub", "kwi", "апр", "кві", "nis", "أبريل"),
    ("may", "mai", "mag", "mei", "maj", "maí", "květ", "мая", "май", "тра", "مايو"),
    ("jun", "jún", "juin", "giu", "qersh", "červen", "cze", "июн", "чер", "يونيو"),
    ("jul", "júl", "juil", "lug", "korrik", "červenec", "lip", "июл", "лип", "tem", "يوليو"),
    ("aug", "ago", "aoû", "ágú", "gusht", "srp", "sie", "авг", "сер", "ağu", "أغسطس"),
    ("sep", "set", "shta", "zář", "wrz", "сен", "вер", "eyl", "سبتمبر"),
    ("oct", "okt", "out", "ott", "tet", "říj", "paź", "окт", "жов", "eki", "أكتوبر"),
    ("nov", "nën", "nóv", "list", "lis", "ноя", "лис", "kas", "نوفمبر"),
    ("dec", "dic", "des", "dez", "déc", "dhj", "pro", "gru", "дек", "гру", "ara", "ديسمبر"),
)
NUMBER: Final = re.compile(r"\d+", re.ASCII)
WORD: Final = re.compile(r"[^\W\d_]+")
# A weekday in brackets (中文), the name of the era.
DECORATION: Final = re.compile(r"^西元|[ ]*\([^()]*\)$|[ ]*星期[一二三四五六日]$")
SLASHED: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
DASHED: Final = re.compile(r"(\d{1,2})-(\d{1,2})-(\d{2,4})", re.ASCII)
MAX_LENGTH: Final = 80


def parse_banner_day(text: str) -> dt.date | None:
    """Return the day that a banner names.

    >>> parse_banner_day("11/21/26"), parse_banner_day("Saturday 21 November 2026"), parse_banner_day("21. nov. 2026")
    (datetime.date(2026, 11, 21), datetime.date(2026, 11, 21), datetime.date(2026, 11, 21))
    """
    text = text.strip()
    if not text or len(text) > MAX_LENGTH:
        return None
    text = DECORATION.sub("", text)
    dashed = DASHED.fullmatch(text)
    if dashed is not None:
        # No locale puts the month first and dashes after it.
        text = ".".join(dashed.groups())
    day = parse_date(text) or parse_date(text.replace(". ", ".").replace(" ", ""))
    return day or _day_in_words(text)


def parse_day_first(text: str) -> dt.date | None:
    """Return the other day that a banner may mean: 03/04/2026 is the fourth of March in America, where clocks have twelve hours.

    A two-digit year is the form of the C locale, which puts the month first; there a 24-hour clock proves nothing.

    >>> parse_day_first("03/04/2026"), parse_day_first("03/04/26"), parse_day_first("03/14/2026")
    (datetime.date(2026, 4, 3), None, None)
    """
    found = SLASHED.fullmatch(text.strip())
    try:
        return dt.date(int(found[3]), int(found[2]), int(found[1])) if found is not None else None
    except ValueError:
        return None


def _day_in_words(text: str) -> dt.date | None:
    numbers = [int(number) for number in NUMBER.findall(text)]
    months = [month for month in map(_month, WORD.findall(text)) if month]
    years = [number for number in numbers if number > 1900]
    days = [number for number in numbers if 1 <= number <= 31]
    if len(numbers) != 2 or not months or len(years) != 1 or len(days) != 1:
        return None
    try:
        # A weekday before it may begin like a month: Martes 3 noviembre 2026.
        return dt.date(years[0], months[-1], days[0])
    except ValueError:
        return None


def _month(word: str) -> int:
    """Return the number of the month that a word names, 0 when it names none: the longest beginning decides (červenec, červen)."""
    word = word.lower()
    found = [(len(name), number) for number, names in enumerate(MONTHS, start=1) for name in names if word.startswith(name)]
    return max(found)[1] if found else 0
