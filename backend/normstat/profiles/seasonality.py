"""Seasonal slots: an hour of the day in a time zone and those beside it, by kind of day if possible.

A slot is a kind of day and an hour. A span belongs to the hour of its middle, so that days of 23 or 25 hours and zones with half
hours need no special case.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Final

from normstat.window import Window

# A slot needs at least this many days.
MIN_DAYS: Final = 3
HOURS: Final = 24
ALL_DAYS, WORKING_DAYS, WEEKENDS = range(3)
WORDS: Final = ("days", "working days", "days of weekends")
SATURDAY: Final = 5
# A longer window has no slot.
MAX_WINDOW_S: Final = 3 * 3600


@dataclass(frozen=True, slots=True)
class Slot:
    """The spans of a seasonal slot; `days` in words."""

    number: int
    spans: tuple[Window, ...]
    days: str


def find_slots(spans: Sequence[Window], zone: tzinfo) -> dict[int, Slot]:
    """Return the seasonal slots of a baseline, by number. Missing: empty where it covers fewer than MIN_DAYS local days."""
    middles = [_middle(span).astimezone(zone) for span in spans]
    if len({middle.date() for middle in middles}) < MIN_DAYS:
        return {}
    slots = {}
    for kind in _kinds(middle.date() for middle in middles):
        for hour in range(HOURS):
            own = [
                (span, middle)
                for span, middle in zip(spans, middles, strict=True)
                if (middle.hour - hour + 1) % HOURS <= 2 and (kind == ALL_DAYS or _kind_of(middle.date()) == kind)
            ]
            # The hour itself is required, not only those beside it.
            days = {middle.date() for _, middle in own if middle.hour == hour}
            if len(days) >= MIN_DAYS:
                number = kind * HOURS + hour
                slots[number] = Slot(number, tuple(span for span, _ in own), _to_words(days))
    return slots


def slot_of(window: Window, zone: tzinfo, slots: Iterable[int]) -> int | None:
    """Return the slot to compare a window with. Missing: None where its hour and kind of day have none, or it is too long."""
    if window.length_s > MAX_WINDOW_S:
        return None
    there = set(slots)
    return next((slot for slot in possible_slots(window, zone) if slot in there), None)


def possible_slots(window: Window, zone: tzinfo) -> tuple[int, int]:
    """Return the slots that a window may be compared with, the better one first."""
    middle = _middle(window).astimezone(zone)
    # A window is not compared with the other kind of day, unless the baseline has one kind only.
    return _kind_of(middle.date()) * HOURS + middle.hour, middle.hour


def describe(window: Window, zone: tzinfo, slot: int, days: str) -> str:
    """Return the note of a comparison with a seasonal slot."""
    start, end = (instant.astimezone(zone) for instant in (window.start, window.end))
    hour = slot % HOURS
    return (
        f"Compares {start:%H:%M}-{end:%H:%M} with {(hour - 1) % HOURS:02}:00-{(hour + 2) % HOURS:02}:00 of {days}"
        f" ({window_zone(zone)})."
    )


def describe_why_not(window: Window, zone: tzinfo, slots: Mapping[int, object] | Iterable[int]) -> str:
    """Return the note of a comparison with all hours of a baseline."""
    if not list(slots):
        return f"Compares with all hours of the baseline: it covers fewer than {MIN_DAYS} days."
    if window.length_s > MAX_WINDOW_S:
        return "Compares with all hours of the baseline: the incident is longer than three hours."
    middle = _middle(window).astimezone(zone)
    return (
        f"Compares with all hours of the baseline: it has fewer than {MIN_DAYS} days with {middle.hour:02}:00 like this one"
        f" ({window_zone(zone)})."
    )


def window_zone(zone: tzinfo) -> str:
    """Return the name of a zone."""
    return str(getattr(zone, "key", "UTC"))


def _kinds(days: Iterable[date]) -> tuple[int, ...]:
    own = set(days)
    n_weekend = sum(_kind_of(day) == WEEKENDS for day in own)
    if n_weekend >= MIN_DAYS and len(own) - n_weekend >= MIN_DAYS:
        return (WORKING_DAYS, WEEKENDS)
    return (ALL_DAYS,)


def _kind_of(day: date) -> int:
    return WEEKENDS if day.weekday() >= SATURDAY else WORKING_DAYS


def _to_words(days: set[date]) -> str:
    kinds = {_kind_of(day) for day in days}
    return f"{len(days)} {WORDS[kinds.pop() if len(kinds) == 1 else ALL_DAYS]}"


def _middle(window: Window) -> datetime:
    return window.start + (window.end - window.start) / 2
