"""Reference lines of graphs: known values of what a field measures, whichever tool printed it, and values that people expect.

Each known number has a source that a reader can check; a limit that depends on the hardware of the host is not one.
"""

from dataclasses import dataclass
from typing import Final

from normstat.comparison.next_questions.question_rules import load_rules
from normstat.records.expected_value_rows import ExpectedValue
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_human
from normstat.stats.catalogue import load_catalogue


@dataclass(frozen=True, slots=True)
class ReferenceRule(Documented):
    """A reference line of one field."""

    stat: str
    field: str
    unit: str
    """Of the field, and of `value`."""
    value: float
    label: str
    source: str
    """Where the number comes from."""
    instance: str | None
    """null: of all instances."""
    is_expected: bool
    """Whether people expect this value of the series on this host; else it is known of the field everywhere."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A known value, by the meaning and unit of fields."""

    meaning: str
    unit: str
    value: float
    label: str
    source: str


KNOWN: Final = (
    _Known(
        "disk.latency",
        "ms",
        8.0,
        "8 ms: one access of a hard disk",
        "Half a turn at 7,200 turns a minute takes 4.2 ms (60,000 / 7,200 / 2), and a short seek about as long",
    ),
)


def list_reference_rules() -> list[ReferenceRule]:
    """Return the reference lines of all fields of the catalogue."""
    meanings = load_rules().meanings
    return [
        ReferenceRule(stat.name, field.key, field.unit, known.value, known.label, known.source, instance=None, is_expected=False)
        for known in KNOWN
        for _, stat in load_catalogue().stats.values()
        for field in stat.fields
        if field.unit == known.unit and meanings[known.meaning].is_of_all(stat.name, field.key)
    ]


def to_reference_rule(expected: ExpectedValue) -> ReferenceRule:
    """Return the reference line of an expected value. Its unit is "" where the catalogue does not know the field."""
    found = load_catalogue().stats.get(expected.stat)
    fields = () if found is None else found[1].fields
    unit = next((field.unit for field in fields if field.key == expected.field), "")
    name = f"{expected.instance}: " if expected.instance else ""
    return ReferenceRule(
        expected.stat,
        expected.field,
        unit,
        expected.value,
        f"{name}expected {format_human(expected.value, unit)}",
        f"{expected.note or 'expected'} ({expected.created_by})",
        instance=expected.instance,
        is_expected=True,
    )
