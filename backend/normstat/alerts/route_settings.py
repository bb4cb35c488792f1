"""The settings of routes: which episodes become messages, when, and to whom. Pure."""

from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from normstat.watch.rules.rule_file import Colour

MAX_WORDS: Final = 100
DAY: Final = timedelta(days=1)
BAD_COLOURS: Final = (Colour.AMBER, Colour.RED, Colour.BLACK)


class GroupBy(StrEnum):
    """Which episodes share an alert.

    `story`: those of one rule on a host, and what else begins there within a minute; `host`: all of a host; `rule`: those of a rule
    on all hosts; `route`: everything that the route takes
    """

    STORY = "story"
    HOST = "host"
    RULE = "rule"
    ROUTE = "route"


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name[:50]!r}; expected a name such as Europe/Berlin") from None
    return name


def _check_colour(colour: Colour) -> Colour:
    if colour not in BAD_COLOURS:
        raise ValueError("lowest must be amber, red or black: other states raise no alerts")
    return colour


def _check_time(value: str) -> str:
    hours, _, minutes = value.partition(":")
    if int(hours) > 24 or int(minutes) > 59 or (int(hours) == 24 and int(minutes)):
        raise ValueError("expected a time of day from 00:00 to 24:00")
    return value


Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Words = Annotated[list[Word], Field(max_length=MAX_WORDS)]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^[0-9]{2}:[0-9]{2}$"), AfterValidator(_check_time)]
Zone = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_check_zone)]
Channels = Annotated[list[Annotated[int, Field(ge=1, le=2**63 - 1)]], Field(max_length=20)]


class _Part(BaseModel):
    """Base of the parts of a route's settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RouteHours(_Part):
    """Times of a week. `weekdays`: 1 is Monday, 7 Sunday; an end before the start is on the next day."""

    weekdays: Annotated[list[Annotated[int, Field(ge=1, le=7)]], Field(min_length=1, max_length=7)]
    start: TimeOfDay
    end: TimeOfDay

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if self.start == self.end:
            raise ValueError("start and end are the same; the whole day is 00:00 to 24:00")
        if self.start == "24:00":
            raise ValueError("start is a time of day before 24:00")
        return self

    def holds(self, local: datetime) -> bool:
        """Return whether an instant, in the zone of the route, lies in these times."""
        minute = local.hour * 60 + local.minute
        start, end = _minutes(self.start), _minutes(self.end)
        if start < end:
            return local.isoweekday() in self.weekdays and start <= minute < end
        if minute >= start:
            return local.isoweekday() in self.weekdays
        return minute < end and (local - DAY).isoweekday() in self.weekdays


class RouteMatch(_Part):
    """Which episodes a route takes; an empty list takes any. `hosts` and `sources` may have * and ?.

    `hosts`: names of hosts; `tags`, `groups`: one of them suffices; `sources`: rules, or `comparison`; `lowest`: the least severe
    state; `hours`: when the route is on, in `time_zone`; empty: always
    """

    hosts: Words
    tags: Words
    groups: Words
    sources: Words
    subsystems: Words
    lowest: Annotated[Colour, AfterValidator(_check_colour)]
    hours: Annotated[list[RouteHours], Field(max_length=20)]
    time_zone: Zone

    def is_on(self, now: datetime) -> bool:
        """Return whether an instant lies in the route's hours."""
        if not self.hours:
            return True
        local = now.astimezone(ZoneInfo(self.time_zone))
        return any(hours.holds(local) for hours in self.hours)

    def list_changes(self, start: datetime, end: datetime) -> list[datetime]:
        """Return the instants in a window at which the route's hours may begin or end."""
        zone = ZoneInfo(self.time_zone)
        found = []
        day = start.astimezone(zone).date() - DAY
        while self.hours and datetime.combine(day, time(), zone) < end:
            for text in {text for hours in self.hours for text in (hours.start, hours.end)}:
                # 24:00 is the next day's 00:00, which is found as such.
                at = (
                    datetime.combine(day, time(), zone)
                    if text == "24:00"
                    else datetime.combine(day, time.fromisoformat(text), zone)
                )
                if start < at < end:
                    found.append(at.astimezone(UTC))
            day += DAY
        return sorted(found)


class Escalation(_Part):
    """Further channels for an alert that was not acknowledged in time."""

    after_min: Annotated[int, Field(ge=1, le=10_080)]
    channels: Annotated[Channels, Field(min_length=1)]


class RouteSettings(_Part):
    """A route: which episodes it takes, and what it does with them.

    `wait_s`: before the first message, so that related episodes arrive as one message, and short ones send none;
    `resolve_wait_s`: how long nothing may last before the alert is resolved; `repeat_min`: null: never; `is_last`: later routes
    do not get the episodes that it takes
    """

    match: RouteMatch
    channels: Annotated[Channels, Field(min_length=1)]
    group_by: GroupBy
    wait_s: Annotated[int, Field(ge=0, le=86_400)]
    repeat_min: Annotated[int, Field(ge=5, le=43_200)] | None
    sends_resolved: bool
    resolve_wait_s: Annotated[int, Field(ge=0, le=86_400)]
    escalations: Annotated[list[Escalation], Field(max_length=10)]
    is_last: bool

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        times = [each.after_min for each in self.escalations]
        if times != sorted(set(times)):
            raise ValueError("escalations come one after the other: each later than the one before")
        return self

    def all_channels(self) -> set[int]:
        """Return the ids of all channels that the route may use."""
        return {*self.channels, *(channel for each in self.escalations for channel in each.channels)}


def matches_word(patterns: list[str], word: str) -> bool:
    """Return whether a word fits one of the patterns; without patterns any does."""
    return not patterns or any(fnmatchcase(word, pattern) for pattern in patterns)


def _minutes(text: str) -> int:
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)
