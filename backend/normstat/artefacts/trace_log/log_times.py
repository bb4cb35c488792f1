"""Times of a log as text, with the digits that the tool printed, and back."""

import re
from datetime import UTC, datetime
from typing import Final

from normstat.artefacts.parts import LogClock
from normstat.errors import BadRequest, shorten

NS: Final = 1_000_000_000
DAY_S: Final = 86_400
TIME: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d)[T ])?(?P<clock>\d{1,3}:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?Z?"
    r"|(?P<seconds>\d{1,10})(?:\.(?P<part>\d{1,9}))?"
)
SPAN: Final = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?\s*(ns|us|µs|ms|s|m|h)?")
UNITS: Final = {"ns": 1, "us": 1000, "µs": 1000, "ms": 1_000_000, "s": NS, "m": 60 * NS, "h": 3600 * NS}


def print_time(time_ns: int, clock: LogClock, decimals: int = 9) -> str:
    """Return a time as the tool's clock shows it.

    >>> print_time(39599109884679, LogClock.DAY), print_time(1859293372000, LogClock.RELATIVE, 6)
    ('10:59:59.109884679', '1859.293372')
    >>> print_time(1795824982690155000, LogClock.EPOCH, 6)
    '2026-11-28T00:16:22.690155Z'
    """
    seconds, rest = divmod(time_ns, NS)
    fraction = f".{rest:09d}"[: decimals + 1] if decimals else ""
    if clock is LogClock.RELATIVE:
        return f"{seconds}{fraction}"
    if clock is LogClock.EPOCH:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def read_time(text: str, *, clock: LogClock, first_ns: int) -> int:
    """Return the nanoseconds of a time on the log's clock: as printed, in seconds, or +1.5s after the first event.

    Raises: BadRequest

    >>> read_time("10:59:59.109884679", clock=LogClock.DAY, first_ns=0), read_time("+1.5s", clock=LogClock.DAY, first_ns=7)
    (39599109884679, 1500000007)
    """
    text = text.strip()
    if text.startswith("+"):
        return first_ns + read_span(text[1:])
    found = TIME.fullmatch(text)
    if found is None:
        raise BadRequest(f"{shorten(text)} is not a time; write it as the log shows it, in seconds, or +1.5s after the first event")
    if found["seconds"] is not None:
        return int(found["seconds"]) * NS + _fraction(found["part"])
    hours, minutes, seconds = map(int, found["clock"].split(":"))
    day = (hours * 3600 + minutes * 60 + seconds) * NS + _fraction(found["fraction"])
    if found["date"] is not None:
        try:
            date = datetime.fromisoformat(found["date"]).replace(tzinfo=UTC)
        except ValueError:
            raise BadRequest(f"{shorten(found['date'])} is not a date; expected e.g. 2026-11-21") from None
        return int(date.timestamp()) * NS + day
    # A time of day is that of the first event's day.
    return first_ns // (DAY_S * NS) * DAY_S * NS + day if clock is LogClock.EPOCH else day


def read_span(text: str) -> int:
    """Return the nanoseconds of a duration such as 1.5ms; without a unit it is in seconds.

    Raises: BadRequest

    >>> read_span("1.5ms"), read_span("10us"), read_span("0.000011")
    (1500000, 10000, 11000)
    """
    found = SPAN.fullmatch(text.strip())
    if found is None:
        raise BadRequest(f"{shorten(text)} is not a duration; expected a number and ns, us, ms, s, m or h, e.g. 1.5ms")
    unit = UNITS[found[3] or "s"]
    return int(found[1]) * unit + _fraction(found[2]) * unit // NS


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0") or 0)
