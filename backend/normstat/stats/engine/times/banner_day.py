"""Parse the date in the first line of sysstat's tools, as strftime's %x prints it in the locale of the host.

    Linux 6.1.0-40-amd64 (web1)     11/21/26        _x86_64_        (2 CPU)
    Linux 6.1.0-40-amd64 (web1)     Saturday 21 November 2026       _x86_64_        (2 CPU)
    Linux 6.1.0-40-amd64 (web1)     21. nov. 2026   _x86_64_        (2 CPU)

Some languages have the month in words in %x: English of India and Africa, Norwegian, Icelandic, Albanian, Arabic, and some defined
by Unix vendors. Others print digits, which normstat.stats.engine.times.timestamps reads.
"""

import datetime as dt
import itertools
import re
from typing import Final

from normstat.stats.engine.times.timestamps import (
    THAI_YEARS,
    Timestamp,
    is_zone,
    join_day_and_clock,
    parse_date,
    take_clock,
    zone_of_clock,
)

# The beginnings of the months' names. Three letters of May are distinctive in every language.
MONTHS: Final = (
    ("jan", "ene", "janv", "gen", "led", "sty", "янв", "січ", "oca", "يناير", "ينا", "جانفي", "كانون الثاني", "urt", "januaar"),
    ("feb", "fev", "fév", "únor", "lut", "фев", "лют", "şub", "فبراير", "فبر", "فيفري", "شباط", "ots", "fra", "frar"),
    ("mar", "mär", "mrz", "maa", "mrt", "břez", "мар", "бер", "مارس", "مار", "آذار", "mac", "marzu"),
    ("apr", "abr", "avr", "prill", "dub", "kwi", "апр", "кві", "nis", "أبريل", "أبر", "أفريل", "نيسان", "api"),
    ("may", "mai", "mag", "mei", "maj", "maí", "květ", "мая", "май", "тра", "مايو", "ماي", "أيار", "mej"),
    ("jun", "jún", "juin", "giu", "qersh", "červen", "cze", "июн", "чер", "يونيو", "يون", "جوان", "حزيران", "eka", "ġun"),
    ("jul", "júl", "juil", "lug", "korrik", "červenec", "lip", "июл", "лип", "tem", "يوليو", "يول", "جويلية", "تموز", "uzt", "lul"),
    (
        "aug",
        "ago",
        "aoû",
        "ágú",
        "gusht",
        "srp",
        "sie",
        "авг",
        "сер",
        "ağu",
        "أغسطس",
        "أغس",
        "أوت",
        "آب",
        "غشت",
        "abu",
        "aww",
        "ogos",
    ),
    ("sep", "set", "shta", "zář", "wrz", "сен", "вер", "eyl", "سبتمبر", "سبت", "أيلول", "شتنبر", "ira"),
    ("oct", "okt", "out", "ott", "tet", "říj", "paź", "окт", "жов", "eki", "أكتوبر", "أكت", "تشرين الأول", "urr"),
    ("nov", "nën", "nóv", "list", "lis", "ноя", "лис", "kas", "نوفمبر", "نوف", "تشرين الثاني", "نونبر", "aza"),
    (
        "dec",
        "dic",
        "des",
        "dez",
        "déc",
        "dhj",
        "pro",
        "gru",
        "дек",
        "гру",
        "ara",
        "ديسمبر",
        "ديس",
        "كانون الأول",
        "دجنبر",
        "abe",
        "diċ",
        "dis",
    ),
)
NUMBER: Final = re.compile(r"\d+", re.ASCII)
# Malay has a clock of twelve hours without the half of the day.
WITHOUT_HALF: Final = re.compile(r"(?:Isnin|Selasa|Rabu|Khamis|Jumaat|Sabtu|Ahad) \d\d [A-Z]\w{2,3} \d{4}", re.ASCII)
# Weekday and its grammar in Maltese, an article in Basque.
PARTICLES: Final = re.compile(r"\bta\b|\.eko\b|(?<=\d)a\b")
WORD: Final = re.compile(r"[^\W\d_]+")
# A weekday in brackets (中文), the name of the era.
DECORATION: Final = re.compile(r"^西元|[ ]*\([^()]*\)$|[ ]*(?:星期[一二三四五六日]|[月火水木金土日]曜日|[월화수목금토일]요일)$")
SLASHED: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
DASHED: Final = re.compile(r"(\d{1,2})[-/](\d{1,2})-(\d{2,4})", re.ASCII)
YEAR: Final = re.compile(r"\d{4}", re.ASCII)
# As French and others print a zone after a clock.
BRACKETED_ZONE: Final = re.compile(r"\(UTC([-+]\d\d:?\d\d)?\)", re.ASCII)
MAX_LENGTH: Final = 80
MAX_WORDS: Final = 10


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


def has_half_of_day(text: str) -> bool:
    """Return whether the clocks under a banner with this date say which half of the day they mean, or have 24 hours.

    >>> has_half_of_day("Ahad 22 Nov 2026"), has_half_of_day("11/22/26")
    (False, True)
    """
    return WITHOUT_HALF.fullmatch(text.strip()) is None


def parse_local_stamp(text: str) -> Timestamp | None:
    """Return the time of a line that is a date and a clock as %x and %X of strftime print them in the locale of the host.

    >>> parse_local_stamp("22. nov. 2026 kl. 19.50 +0000").seconds == parse_local_stamp("22. 11. 26 19:50:00").seconds
    True
    """
    words = text.replace(",", " ").split()
    if not 1 < len(words) <= MAX_WORDS or len(text) > MAX_LENGTH:
        return None
    for at in range(1, len(words)):
        clock = take_clock(words[at:])
        if clock is None or clock.is_epoch:
            continue
        own, rest = words[at : at + clock.n_words], words[at + clock.n_words :]
        zone = zone_of_clock(own)
        bracketed = BRACKETED_ZONE.fullmatch(rest[0]) if rest else None
        if bracketed is not None:
            zone = bracketed[1] or "UTC"
            rest.pop(0)
        elif rest and is_zone(rest[0]):
            zone = rest.pop(0)
        if rest and not (len(rest) == 1 and YEAR.fullmatch(rest[0])):
            continue
        day_text = " ".join([*words[:at], *rest])
        day = parse_banner_day(day_text) if has_half_of_day(day_text) else None
        if day is not None:
            return join_day_and_clock(day, clock.seconds, zone)
    return None


def parse_day_first(text: str) -> dt.date | None:
    """Return the other day that a banner may mean: 03/04/2026 is the fourth of March in America, where clocks have twelve hours.

    A two-digit year is the form of the C locale, which puts the month first; there a 24-hour clock proves nothing.

    >>> parse_day_first("03/04/2026"), parse_day_first("03/04/26"), parse_day_first("03/14/2026")
    (datetime.date(2026, 4, 3), None, None)
    """
    found = SLASHED.fullmatch(text.strip())
    try:
        year = int(found[3]) if found is not None else 0
        year -= THAI_YEARS if year > THAI_YEARS + 1900 else 0
        return dt.date(year, int(found[2]), int(found[1])) if found is not None else None
    except ValueError:
        return None


def _day_in_words(text: str) -> dt.date | None:
    numbers = [int(number) for number in NUMBER.findall(text)]
    words = WORD.findall(PARTICLES.sub("", text))
    # In the Levant two words name some months.
    pairs = [f"{first} {second}" for first, second in itertools.pairwise(words)]
    months = [month for month in map(_month, [*words, *pairs]) if month]
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
