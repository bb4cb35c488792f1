"""The bodies of events."""

from typing import Annotated

from pydantic import Field, StringConstraints

from normstat.records.event_rows import MAX_TEXT
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Tag
from normstat.stats.fact_words import EventKind

EventText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT, pattern=NO_NUL)]
Tags = Annotated[list[Tag], Field(max_length=20)]


class EventCreate(Body):
    """A new event. Without `at` it is now, without `end` it is a moment, and without `hosts` it is for all of them."""

    text: EventText
    at: Instant | None = None
    end: Instant | None = None
    kind: EventKind = EventKind.NOTE
    tags: Tags = Field(default_factory=list)
    hosts: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = None


class EventUpdate(Body):
    """The changeable members of an event, all required except `end` (without it, a moment) and `hosts` (without it, all)."""

    text: EventText
    at: Instant
    end: Instant | None = None
    kind: EventKind
    tags: Tags
    hosts: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = None


class EventReport(Body):
    """What an agent's token may report: an event of one host. Without `at` it is now; a token for any host needs `host`."""

    text: EventText
    at: Instant | None = None
    end: Instant | None = None
    kind: EventKind = EventKind.NOTE
    tags: Tags = Field(default_factory=list)
    host: Name | None = None
