"""Recurring windows: an RRULE (RFC 5545) in local time of a zone, kept for some days. Pure.

>>> from datetime import UTC
>>> rule = parse_rule("weekdays", "09:00", 8 * 3600, 28, "Europe/Berlin", now=datetime(2026, 11, 2, 12, tzinfo=UTC))
>>> rule.rrule, len(windows_of(rule, datetime(2026, 11, 2, 12, tzinfo=UTC)))
('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 20)
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from dateutil.rrule import rrule as RRule  # noqa: N812 (the class has the name of a function)
from dateutil.rrule import rrulestr

from normstat.baselines.window_sets import Windows, merge
from normstat.errors import BadRequest, shorten
from normstat.stats.engine.times.timeline import require_zone
from normstat.window import Window

MIN_DURATION_S: Final = 60
MAX_DURATION_S: Final = 31 * 86_400
MAX_DAYS: Final = 800
# The most windows that a comparison can read one by one in reasonable time.
MAX_WINDOWS: Final = 1000
MAX_INTERVAL: Final = 1000
MAX_COUNT: Final = 100_000
MAX_LENGTH: Final = 500
DAY: Final = timedelta(days=1)
# The longest duration, including the days between two occurrences.
PERIODS: Final[Mapping[str, int]] = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}
NUMBER_LISTS: Final[Mapping[str, tuple[int, int]]] = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYSETPOS": (-366, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
}
DAY_WORDS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
NAMED_DAY: Final = re.compile(rf"([+-]?[1-9]\d?)?({'|'.join(DAY_WORDS)})", re.ASCII)
# Words accepted in place of an RRULE.
WORDS: Final[Mapping[str, str]] = {
    "daily": "FREQ=DAILY",
    "every day": "FREQ=DAILY",
    "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekends": "FREQ=WEEKLY;BYDAY=SA,SU",
    **{day: f"FREQ=WEEKLY;BYDAY={day[:2].upper()}" for day in (
        "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays",
    )},
}  # fmt: skip
EXPECTED: Final = "expected an RRULE such as FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR, or daily, weekdays, weekends, mondays"


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """A valid rule: `start` is the first local start, without a zone; `rrule` is in canonical form.

    Whole days of `duration_s` are calendar days, so that windows of a day meet at midnight; the remainder is in elapsed seconds.
    """

    rrule: str
    start: datetime
    duration_s: int
    keep_days: int
    zone: str


def parse_rule(rrule: str, start: str, duration_s: int, keep_days: int, zone: str, *, now: datetime) -> RecurrenceRule:
    """Return the rule. `start` is a local time of day (the windows of the last `keep_days` then exist at once), or date and time.

    May take seconds of CPU time for a rule that never occurs: call it off the event loop.

    Raises: BadRequest, saying what is wrong with it
    """
    tzinfo = require_zone(zone)
    text = _parse_text(rrule, tzinfo_name=zone)
    if not MIN_DURATION_S <= duration_s <= MAX_DURATION_S:
        raise BadRequest(f"A window of a rule lasts from one minute to 31 days; found {duration_s} s")
    if not 1 <= keep_days <= MAX_DAYS:
        raise BadRequest(f"A rule keeps the windows of the last 1 to {MAX_DAYS} days; found {keep_days}")
    if duration_s > keep_days * 86_400:
        raise BadRequest(f"A window of {duration_s} s is longer than the {keep_days} days that are kept")
    # Early enough for the windows of the last `keep_days` before the last one.
    period_days = PERIODS[text.partition(";")[0].removeprefix("FREQ=")]
    earliest = now.astimezone(tzinfo).replace(tzinfo=None) - (keep_days + period_days) * DAY
    first = _parse_start(start, text, earliest, zone=zone)
    if to_instant(first, zone).astimezone(tzinfo).replace(tzinfo=None) != first:
        raise BadRequest(
            f"{first:%Y-%m-%d %H:%M} does not exist in {zone} because the clocks were set forward; start on another day"
        )
    rule = RecurrenceRule(text, first, duration_s, keep_days, zone)
    _require_possible(rule)
    return rule


def windows_of(rule: RecurrenceRule, now: datetime) -> Windows:
    """Return the finished windows of the rule that begin within `keep_days` before the end of the last one.

    So the set changes only when another window ends. Missing: empty until one has ended.
    """
    zone = require_zone(rule.zone)
    local_now = now.astimezone(zone).replace(tzinfo=None)
    for first in (_skip_to(rule, local_now), rule.start):
        starts = itertools.takewhile(lambda start: start <= local_now, _occurrences(rule, first))
        windows = [window for window in (_to_window(rule, start) for start in starts) if window.end <= now]
        if windows:
            last = max(window.end for window in windows).astimezone(zone).replace(tzinfo=None)
            kept_from = last - rule.keep_days * DAY
            if first <= max(kept_from, rule.start):
                kept_from_at = to_instant(kept_from, rule.zone)
                return merge(window for window in windows if window.start >= kept_from_at)
    return ()


def next_window(rule: RecurrenceRule, now: datetime) -> Window | None:
    """Return the first window that has not ended. Missing: None when the rule has ended."""
    return next((window for window in (_to_window(rule, start) for start in _occurrences(rule)) if window.end > now), None)


def to_instant(local: datetime, zone: str) -> datetime:
    """Return the instant of a local time. An ambiguous time means the first instant; a skipped time counts as if the clocks had not
    been set forward.
    """
    return local.replace(tzinfo=require_zone(zone), fold=0).astimezone(UTC)


def _to_window(rule: RecurrenceRule, start: datetime) -> Window:
    days, seconds = divmod(rule.duration_s, 86_400)
    return Window(to_instant(start, rule.zone), to_instant(start + days * DAY, rule.zone) + timedelta(seconds=seconds))


def _occurrences(rule: RecurrenceRule, first: datetime | None = None) -> Iterator[datetime]:
    """Yield the local starts in order; endless where the rule has no end."""
    return iter(_to_rrule(rule.rrule, first or rule.start))


def _skip_to(rule: RecurrenceRule, local_now: datetime) -> datetime:
    """Return a later first start that yields the same last windows, so that not all years of the rule are enumerated.

    Daily and weekly patterns repeat after whole weeks of the interval, wherever counting begins. A rare rule may have too few
    windows left, so callers check whether there are enough.
    """
    parts = dict(part.split("=") for part in rule.rrule.split(";"))
    if parts["FREQ"] not in ("DAILY", "WEEKLY") or parts.keys() & {"COUNT", "BYSETPOS"}:
        return rule.start
    period = 7 * int(parts.get("INTERVAL", "1")) * DAY
    wanted = local_now - (rule.keep_days + 7) * DAY - timedelta(seconds=rule.duration_s) - period
    return rule.start + max(0, (wanted - rule.start) // period) * period


def _to_rrule(text: str, start: datetime) -> RRule:
    try:
        made = rrulestr(text, dtstart=start)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise BadRequest(f"Invalid rule {shorten(text)} ({error}); {EXPECTED}") from None
    assert isinstance(made, RRule)
    return made


def _require_possible(rule: RecurrenceRule) -> None:
    """Raise BadRequest for a rule that never occurs, or occurs too often."""
    parts = dict(part.split("=") for part in rule.rrule.split(";"))
    never = BadRequest(f"The rule {rule.rrule} never occurs after {rule.start:%Y-%m-%d %H:%M}; check its days and months")
    if parts["FREQ"] in ("DAILY", "WEEKLY"):
        # Check whether such days exist at all: year by year is 20 times as fast as day by day.
        days = ";".join(f"{key}={value}" for key, value in parts.items() if key in NUMBER_LISTS or key == "BYDAY")
        if next(iter(_to_rrule(f"FREQ=YEARLY;{days}".rstrip(";"), datetime(2024, 1, 1))), None) is None:  # noqa: DTZ001
            raise never
    first = next(_occurrences(rule), None)
    if first is None:
        raise never
    end = first + (rule.keep_days + 1) * DAY
    n_windows = sum(
        1 for _ in itertools.islice(itertools.takewhile(lambda start: start < end, _occurrences(rule)), MAX_WINDOWS + 1)
    )
    if n_windows > MAX_WINDOWS:
        raise BadRequest(f"The rule {rule.rrule} makes more than {MAX_WINDOWS} windows in {rule.keep_days} days; keep fewer days")


def _parse_text(text: str, *, tzinfo_name: str) -> str:
    """Return the RRULE in canonical form: capitals, FREQ first, UNTIL as local time."""
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"A rule has at most {MAX_LENGTH} characters; {EXPECTED}")
    said = " ".join(text.split())
    said = WORDS.get(said.lower(), said).upper().removeprefix("RRULE:").replace(" ", "").rstrip(";")
    parts: dict[str, str] = {}
    for part in said.split(";"):
        key, equals, value = part.partition("=")
        if not equals or not value or ":" in part:
            raise BadRequest(f"Invalid rule {shorten(text)} at {shorten(part)}; {EXPECTED}")
        if key in parts:
            raise BadRequest(f"The rule {shorten(text)} has {key} twice")
        parts[key] = _parse_part(key, value, tzinfo_name)
    frequency = parts.pop("FREQ", None)
    if frequency is None:
        raise BadRequest(f"The rule {shorten(text)} has no FREQ; {EXPECTED}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise BadRequest("A rule may have COUNT or UNTIL, not both")
    if frequency in ("DAILY", "WEEKLY") and re.search(r"\d", parts.get("BYDAY", "")):
        raise BadRequest(f"Numbered days ({parts['BYDAY']}) need FREQ=MONTHLY or FREQ=YEARLY")
    return ";".join([f"FREQ={frequency}", *(f"{key}={value}" for key, value in sorted(parts.items()))])


def _parse_part(key: str, value: str, zone: str) -> str:
    """Return one validated part of the RRULE."""
    if key in NUMBER_LISTS:
        return _parse_numbers(key, value)
    match key:
        case "FREQ":
            return _parse_frequency(value)
        case "INTERVAL":
            return _parse_number(key, value, MAX_INTERVAL)
        case "COUNT":
            return _parse_number(key, value, MAX_COUNT)
        case "BYDAY" if all(NAMED_DAY.fullmatch(word) for word in value.split(",")):
            return value
        case "WKST" if value in DAY_WORDS:
            return value
        case "BYDAY" | "WKST":
            raise BadRequest(f"Invalid {key}={_quote(value)}: expected days such as MO,TU,WE,TH,FR,SA,SU")
        case "UNTIL":
            return _parse_until(value, zone)
    known = ", ".join(["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *NUMBER_LISTS])
    raise BadRequest(f"Unsupported rule part {_quote(key)}; supported: {known}")


def _parse_frequency(value: str) -> str:
    if value not in PERIODS:
        raise BadRequest(
            f"Invalid FREQ={_quote(value)}: baseline windows recur daily, weekly, monthly or yearly"
            f" ({', '.join(PERIODS)}); for several per day add BYHOUR"
        )
    return value


def _parse_number(key: str, value: str, most: int) -> str:
    if not re.fullmatch(r"\d{1,6}", value, re.ASCII) or not 1 <= int(value) <= most:
        raise BadRequest(f"Invalid {key}={_quote(value)}: expected a number from 1 to {most}")
    return str(int(value))


def _parse_numbers(key: str, value: str) -> str:
    least, most = NUMBER_LISTS[key]
    words = value.split(",")
    numbers = [int(word) for word in words if re.fullmatch(r"[+-]?\d{1,3}", word, re.ASCII)]
    if len(numbers) != len(words) or not all(least <= number <= most for number in numbers):
        raise BadRequest(f"Invalid {key}={_quote(value)}: expected comma-separated numbers from {least} to {most}")
    if least < 0 and 0 in numbers:
        raise BadRequest(f"Invalid {key}=0: days, weeks and positions count from 1, or backwards from -1")
    return ",".join(map(str, numbers))


def _quote(value: str) -> str:
    """Return the value without quotes, shortened if long."""
    return value if value.isprintable() and len(value) <= 40 else shorten(value, 40)


def _parse_until(value: str, zone: str) -> str:
    """Return the last local start; a date alone includes that whole day."""
    found = re.fullmatch(r"(\d{8})(?:T(\d{6})(Z?))?", value, re.ASCII)
    try:
        if found is None:
            raise ValueError  # noqa: TRY301
        day, clock, utc = found.groups()
        local = datetime.strptime(day + (clock or "235959"), "%Y%m%d%H%M%S")  # noqa: DTZ007
        if utc:
            local = local.replace(tzinfo=UTC).astimezone(require_zone(zone)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise BadRequest(f"Invalid UNTIL={_quote(value)}: expected 20261231 or 20261231T170000Z") from None
    return f"{local:%Y%m%dT%H%M%S}"


def _parse_start(text: str, rrule: str, earliest: datetime, *, zone: str) -> datetime:
    """Return the first local start."""
    expected = "expected a local time of day (09:00), or date and time (2026-11-02T09:00)"
    said = text.strip()
    if len(said) > 40:
        raise BadRequest(f"Invalid start of a rule: {shorten(said)}; {expected}")
    try:
        if "-" not in said[:8]:
            clock = time.fromisoformat(said)
            if clock.tzinfo is not None:
                raise BadRequest(f"The start {said} has a zone; give local time, and put the zone in `time_zone`")
            return _first_day(datetime.combine(earliest.date(), clock.replace(microsecond=0)), rrule, zone)
        start = datetime.fromisoformat(said)
    except ValueError:
        raise BadRequest(f"Invalid start of a rule: {shorten(said)}; {expected}") from None
    if start.tzinfo is not None:
        start = start.astimezone(require_zone(zone)).replace(tzinfo=None)
    if not 1970 <= start.year < 2200:
        raise BadRequest(f"The start {said} is outside the years 1970 to 2199")
    return start.replace(fold=0, microsecond=0)


def _first_day(start: datetime, rrule: str, zone: str) -> datetime:
    """Return a start day when only the time of day was given; one on which that time was not skipped."""
    keys = {part.split("=")[0] for part in rrule.split(";")}
    names_days = rrule.startswith("FREQ=DAILY") or keys & {"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO"}
    if not names_days or keys & {"INTERVAL", "COUNT"}:
        raise BadRequest(
            f"{rrule} depends on its first day: give the start as date and time ({start:%Y-%m-%dT%H:%M}), or name the days"
        )
    while to_instant(start, zone).astimezone(require_zone(zone)).replace(tzinfo=None) != start:
        start -= DAY
    return start
