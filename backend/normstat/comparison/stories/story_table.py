"""Read the table of stories (story_table.toml): which story a finding belongs to, and its role there."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final, get_args

from normstat.comparison.findings.grouping import subsystem_of
from normstat.comparison.model import StoryRole
from normstat.comparison.next_questions.question_rules import load_rules

ROLES: Final[tuple[str, ...]] = get_args(StoryRole)


class BadTable(ValueError):
    """The table of stories is invalid."""


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """The place of a finding in a story. `meaning`: empty for a field that has none; `words`: a clause, or empty

    `least`: smaller changes, in the field's unit, lead no story
    """

    topic: str
    role: StoryRole
    meaning: str
    words: str
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class StoryTable:
    """The titles of topics, and the places of meanings."""

    topics: Mapping[str, str]
    places: Mapping[str, StoryPlace]


@functools.cache
def load_table() -> StoryTable:
    """Return the table of the package."""
    return parse_table((resources.files("normstat.comparison.stories") / "story_table.toml").read_text(encoding="utf-8"))


def parse_table(text: str) -> StoryTable:
    """Return the table of a text.

    Raises: BadTable with the name of the entry
    """
    raw = tomllib.loads(text)
    topics: dict[str, str] = raw["topics"]
    known = load_rules().meanings
    places = {}
    for name, body in raw["meanings"].items():
        if name not in known:
            raise BadTable(f"{name}: questions.toml has no such meaning")
        if body["topic"] not in topics or body["role"] not in ROLES:
            raise BadTable(f"{name}: the topic is one of {', '.join(topics)}, the role one of {', '.join(ROLES)}")
        places[name] = StoryPlace(body["topic"], body["role"], name, body["words"], body.get("least", 0.0))
    return StoryTable(topics, places)


# Instances are names of a host, processes among them: without a bound the cache would grow for ever.
@functools.lru_cache(maxsize=16384)
def find_place(stat: str, field: str, instance: str) -> StoryPlace:
    """Return the place of a series in a story: by the meaning of its field, else among the fields of its panel.

    A field of a stat that no panel shows has a story of its stat's own.
    """
    table = load_table()
    meanings = load_rules().find_meanings(stat, field, (instance,))
    # In the order of the file: the first is the most specific.
    for name, place in table.places.items():
        if name in meanings:
            return place
    subsystem = subsystem_of(stat, field)
    if subsystem in table.topics:
        return StoryPlace(subsystem, "detail", "", "")
    return StoryPlace("cpu", "detail", "", "") if subsystem == "process" else StoryPlace(stat, "work", "", "")


def title_of(topic: str) -> str:
    """Return the title of a topic; of a stat's own topic its name."""
    return load_table().topics.get(topic, topic)
