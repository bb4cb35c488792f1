"""Turn a row that is too wide for a table into rows: on a host with many CPUs, one for each CPU instead of a column for each.

    24:  1 0 0 ... (a number for each of 640 CPUs)    ->  24/CPU0 1, 24/CPU1 0, 24/CPU2 0, ...

A table of PostgreSQL has at most 1600 columns, for all hosts together, and a row eight kilobytes. So a row is turned where it has
more than MAX_SIDE_BY_SIDE such columns, or one whose number is not below that: CPUs are numbered with gaps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.stats.spec import Family, Field, Stat

MAX_SIDE_BY_SIDE: Final = 400
# The CPU of a column; `cpu3 %tim` is of cpu3, too.
NUMBERED: Final = re.compile(r"(?P<name>(?:cpu|CPU)(?P<number>\d{1,9}))(?: .*)?", re.ASCII)
EACH: Final = "each"


@dataclass(frozen=True, slots=True)
class NarrowRow:
    """A part of a wide row: `name` is that of the CPU, "" for what the row has beside those columns."""

    stat: Stat
    name: str
    columns: tuple[str, ...]
    words: tuple[str, ...]


def turn_wide_row(stat: Stat, columns: Sequence[object], words: Sequence[str]) -> list[NarrowRow]:
    """Return the parts of a row that is too wide. Empty for any other row."""
    # Nearly always this is all there is to do: the last column has the highest number.
    last = NUMBERED.fullmatch(str(columns[-1])) if stat.families and columns else None
    if last is None or (len(columns) <= MAX_SIDE_BY_SIDE and int(last["number"]) < MAX_SIDE_BY_SIDE):
        return []
    known = {name for field in stat.fields for name in (field.column, *field.aliases)}
    narrow = replace(stat, fields=(*stat.fields, *(_each(family) for family in stat.families)))
    parts: dict[str, tuple[list[str], list[str]]] = {}
    for column, word in zip(map(str, columns), words, strict=False):
        found = None if column in known else NUMBERED.fullmatch(column)
        family = None if found is None else next((family for family in stat.families if family.matches(column)), None)
        name = found["name"] if found is not None and family is not None else ""
        own_columns, own_words = parts.setdefault(name, ([], []))
        own_columns.append(_each(family).column if family is not None and name else column)
        own_words.append(word)
    if parts.keys() == {""}:
        return []
    return [NarrowRow(narrow, name, tuple(names), tuple(own)) for name, (names, own) in parts.items()]


def _each(family: Family) -> Field:
    """Return the field that has the numbers of all columns of the family."""
    template = family.template
    ending = f"{EACH}_pct" if template.unit == "%" else EACH
    column = f"{EACH} {template.unit}".strip()
    return replace(template, key=f"{template.key}{ending}", column=column, printed_key=column, aliases=())
