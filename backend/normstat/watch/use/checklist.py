"""Read the checklist of the USE matrix (checklist.toml): the questions about each resource, and what answers them."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any, Final, Literal, get_args

from normstat.comparison.next_questions.question_rules import load_rules
from normstat.watch.rules.rule_file import UNITS, FieldPlace, WatchInput, parse_field

UseKind = Literal["utilisation", "saturation", "errors"]
USE_KINDS: Final[tuple[UseKind, ...]] = get_args(UseKind)
# In the order of the rows.
RESOURCE_TITLES: Final[Mapping[str, str]] = {
    "cpu": "CPUs",
    "memory": "Memory",
    "disk": "Disks",
    "network": "Network",
    "swap": "Swap space",
    "filesystem": "File systems",
    "locks": "Kernel locks",
    "files": "Open files",
    "gpu": "GPUs",
    "unit": "Limited units",
}
# Many hosts have none of these: without a value there is no row.
OPTIONAL: Final = frozenset({"gpu", "unit"})
SYSTEMS: Final = ("linux", "sunos")
KEYS: Final = frozenset(
    {"meaning", "fields", "except", "only", "unit", "each", "is_idle", "per_cpu", "amber", "red", "above", "source", "words"}
)


class BadChecklist(ValueError):
    """The checklist is invalid."""


@dataclass(frozen=True, slots=True)
class UseSource:
    """A recorded quantity that answers a cell.

    `amber`, `red`: from these values on it is a warning, or critical; `above`: a warning above this; `is_idle`: the cell is 100 %
    minus it; `is_per_cpu`: the cell is the value for each CPU; `excluded`, `only`: patterns of instances that are not looked at, or
    the only ones that are; `is_tail`: what is judged is the worst tenth of the time, not the mean; `words`: what the value is of,
    where a cell has several.
    Missing: None without a limit, no patterns of `only` where all instances are looked at
    """

    wanted: WatchInput
    is_idle: bool
    is_per_cpu: bool
    amber: float | None
    above: float | None
    red: float | None
    limits_from: str
    excluded: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    is_tail: bool = False
    words: str = ""

    def leaves_out(self, instance: str) -> bool:
        """Return whether an instance is not looked at."""
        is_wanted = not self.only or any(fnmatchcase(instance, pattern) for pattern in self.only)
        return not is_wanted or any(fnmatchcase(instance, pattern) for pattern in self.excluded)


@dataclass(frozen=True, slots=True)
class UseQuestion:
    """A cell of the matrix. `commands`: what answers it by hand, by system; `records`: the line of stats.conf that records it"""

    resource: str
    kind: UseKind
    about: str
    commands: Mapping[str, str]
    records: Mapping[str, str]
    sources: tuple[UseSource, ...]


@functools.cache
def load_checklist() -> tuple[UseQuestion, ...]:
    """Return the checklist of the package."""
    return parse_checklist((resources.files("normstat.watch.use") / "checklist.toml").read_text(encoding="utf-8"))


def parse_checklist(text: str) -> tuple[UseQuestion, ...]:
    """Return the cells of a checklist, in its order.

    Raises: BadChecklist with the cell
    """
    return tuple(_to_question(raw) for raw in tomllib.loads(text)["cells"])


def _to_question(raw: Mapping[str, Any]) -> UseQuestion:
    name = f"{raw['resource']} {raw['kind']}"
    if raw["resource"] not in RESOURCE_TITLES or raw["kind"] not in USE_KINDS:
        raise BadChecklist(f"{name}: resources are {', '.join(RESOURCE_TITLES)}, kinds {', '.join(USE_KINDS)}")
    if set(raw["commands"]) != set(SYSTEMS):
        raise BadChecklist(f"{name}: give commands for {' and '.join(SYSTEMS)}")
    records = raw.get("records", {})
    if not set(records) <= set(SYSTEMS) or any("\t" not in line for line in records.values()):
        raise BadChecklist(f"{name}: records are lines of stats.conf, name, tab and command, for {' or '.join(SYSTEMS)}")
    # A queue that is full for 5 s of 38 is a problem that a mean hides.
    is_tail = raw["kind"] == "saturation"
    sources = tuple(_to_source(name, each, is_tail=is_tail) for each in raw.get("from", ()))
    return UseQuestion(raw["resource"], raw["kind"], raw["about"], raw["commands"], records, sources)


def _to_source(cell: str, raw: Mapping[str, Any], *, is_tail: bool) -> UseSource:
    unknown, meaning = set(raw) - KEYS, raw.get("meaning", "")
    if unknown or (meaning and meaning not in load_rules().meanings) or raw["unit"] not in UNITS:
        raise BadChecklist(f"{cell}: unknown key {', '.join(unknown)}, meaning {meaning} or unit {raw['unit']}")
    fields = _to_fields(cell, raw.get("fields", ()))
    if bool(meaning) == bool(fields):
        raise BadChecklist(f"{cell}: a source has either a meaning or fields")
    has_limit = "amber" in raw or "above" in raw
    if has_limit != bool(raw.get("source")) or ("red" in raw and not has_limit) or ("amber" in raw and "above" in raw):
        raise BadChecklist(f"{cell}: a limit needs `source`, `red` needs `amber` or `above`, and these exclude each other")
    wanted = WatchInput(f"{cell} {meaning or fields[0]}", meaning, fields, raw["unit"], raw.get("each", False))
    return UseSource(
        wanted,
        raw.get("is_idle", False),
        raw.get("per_cpu", False),
        raw.get("amber"),
        raw.get("above"),
        raw.get("red"),
        raw.get("source", ""),
        tuple(raw.get("except", ())),
        tuple(raw.get("only", ())),
        is_tail,
        raw.get("words", ""),
    )


def _to_fields(cell: str, texts: Sequence[str]) -> tuple[FieldPlace, ...]:
    places = []
    for text in texts:
        place = parse_field(text)
        if place is None or place.is_rate:
            raise BadChecklist(f"{cell}: {text} is not a field in docs/stats.md")
        places.append(place)
    return tuple(places)
