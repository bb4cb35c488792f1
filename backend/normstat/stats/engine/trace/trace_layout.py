"""The `[layout]` of a tracer's spec: where its samples go.

keys, stacks, histogram, table, summary   the stat of counted keys, counted stacks, distributions, tables under any header, and
                                          lines of `name: number`; each may be left out
[[layout.tables]]    tables that have a stat of their own, the first that fits counts
    stat, header     the words that must be in the header
    instance         columns that name what a row is about; one that is also a field of the stat is a value as well
    labels           columns of text that are neither
    titles           words of the header that nothing stands under
[[layout.lines]]     lines that are a sample in themselves
    stat, pattern    a regular expression of the whole line; its groups are keys of fields, `instance` or `instance_2`... the key
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.stats.engine.trace.column_names import Header
from normstat.stats.engine.trace.trace_table import Role, Table, begin_table
from normstat.stats.pattern import compile_pattern
from normstat.stats.spec import Shape, Spec, Stat

ROLES: Final[Mapping[str, tuple[Shape, ...]]] = {
    "keys": (Shape.KEYS,),
    "stacks": (Shape.STACKS,),
    # SystemTap's distributions are keys: see its spec.
    "histogram": (Shape.HISTOGRAM, Shape.KEYS),
    "table": (Shape.TABLE,),
    "summary": (Shape.TABLE,),
}
TABLE_KEYS: Final = frozenset({"stat", "header", "instance", "labels", "titles"})
INSTANCE: Final = "instance"


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table that has a stat of its own; the module's docstring explains the keys."""

    stat: Stat
    header: frozenset[str]
    instance: frozenset[str]
    labels: frozenset[str]
    titles: frozenset[str]


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A line that is a sample in itself: groups of the pattern that are fields, by key and printed column."""

    stat: Stat
    pattern: re.Pattern[str]
    columns: tuple[tuple[str, str], ...]
    instance: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraceLayout:
    """Where samples go, in typed form; None where the spec has no such stat."""

    keys: Stat | None
    stacks: Stat | None
    histogram: Stat | None
    table: Stat | None
    summary: Stat | None
    tables: tuple[KnownTable, ...]
    lines: tuple[KnownLine, ...]


def build_trace_layout(spec: Spec) -> TraceLayout:
    """Return the layout of the spec.

    Raises: ValueError, TypeError or re.error for one that makes no sense.
    """
    raw = spec.layout
    stats = {stat.name: stat for stat in spec.stats}
    for key in raw:
        if key not in ROLES and key not in ("tables", "lines"):
            message = f"{key}: is not known"
            raise ValueError(message)
    chosen = {role: _chosen(raw, role, stats) for role in ROLES}
    return TraceLayout(
        keys=chosen["keys"],
        stacks=chosen["stacks"],
        histogram=chosen["histogram"],
        table=chosen["table"],
        summary=chosen["summary"],
        tables=tuple(_table(item, stats) for item in _items(raw, "tables")),
        lines=tuple(_line(spec, item, stats) for item in _items(raw, "lines")),
    )


def begin_tables(layout: TraceLayout, headers: Sequence[Header], title: str) -> Iterator[Table]:
    """Yield the tables that a line may be the header of: those with a stat of their own, else one of the stat for any table."""
    is_known = False
    for header in headers:
        for known in layout.tables:
            if known.header.issubset(header.names):
                is_known = True
                yield _begin_known(known, header, title)
    if not is_known and layout.table is not None:
        for header in headers:
            yield begin_table(layout.table, header, title)


def _begin_known(known: KnownTable, header: Header, title: str) -> Table:
    cells = tuple(cell for cell in header.cells if cell.text not in known.titles)
    table = begin_table(known.stat, replace(header, cells=cells), title)
    roles = "".join(_role(known, cell.text, role) for cell, role in zip(cells, table.roles, strict=True))
    return replace(table, roles=roles, is_strong=True)


def _role(known: KnownTable, name: str, guess: str) -> str:
    if name in known.labels:
        return Role.LABEL
    if name in known.instance:
        if guess == Role.NUMBER_KEY:
            return guess
        return Role.BOTH if guess in (Role.VALUE, Role.BOTH, Role.OPEN_BOTH) else Role.KEY
    return guess


def _chosen(raw: Mapping[str, object], role: str, stats: Mapping[str, Stat]) -> Stat | None:
    if role not in raw:
        return None
    stat = stats.get(str(raw[role]))
    if stat is None or stat.shape not in ROLES[role]:
        message = f"{role}: {raw[role]!r} is no stat of this spec with the shape {' or '.join(ROLES[role])}"
        raise ValueError(message)
    return stat


def _items(raw: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    items = raw.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        message = f"{key}: must be a list of tables"
        raise TypeError(message)
    return items


def _table(raw: Mapping[str, object], stats: Mapping[str, Stat]) -> KnownTable:
    for key in raw:
        if key not in TABLE_KEYS:
            message = f"tables.{key}: is not known"
            raise ValueError(message)
    header = _texts(raw, "header")
    if not header:
        raise ValueError("tables.header: at least one word is needed")
    return KnownTable(
        stat=_stat(raw, stats, "tables"),
        header=header,
        instance=_texts(raw, INSTANCE),
        labels=_texts(raw, "labels"),
        titles=_texts(raw, "titles"),
    )


def _line(spec: Spec, raw: Mapping[str, object], stats: Mapping[str, Stat]) -> KnownLine:
    stat = _stat(raw, stats, "lines")
    pattern = compile_pattern(spec, str(raw.get("pattern", "")))
    fields = {field.key: field.column for field in stat.fields}
    names = sorted(pattern.groupindex, key=lambda name: pattern.groupindex[name])
    for name in names:
        if name not in fields and not name.startswith(INSTANCE):
            message = f"lines.pattern: {name!r} is no field of {stat.name}"
            raise ValueError(message)
    columns = tuple((name, fields[name]) for name in names if name in fields)
    if not columns:
        raise ValueError("lines.pattern: names no field")
    return KnownLine(stat, pattern, columns, tuple(name for name in names if name.startswith(INSTANCE)))


def _stat(raw: Mapping[str, object], stats: Mapping[str, Stat], where: str) -> Stat:
    stat = stats.get(str(raw.get("stat", "")))
    if stat is None:
        message = f"{where}.stat: {raw.get('stat')!r} is no stat of this spec"
        raise ValueError(message)
    return stat


def _texts(raw: Mapping[str, object], key: str) -> frozenset[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        message = f"{key}: must be a list of texts, not {value!r}"
        raise TypeError(message)
    return frozenset(str(item) for item in value)
