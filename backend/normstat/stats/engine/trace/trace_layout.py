"""The `[layout]` of a tracer's spec: the stats of its samples.

keys, stacks, histogram, table, summary   the stat of counted keys, counted stacks, distributions, tables under any header, and
                                          lines of `name: number`; each is optional
[[layout.tables]]    tables with a separate stat; the first match counts
    stat, header     the words that must be in the header
    instance         columns that name what a row is about; one that is also a field of the stat is a value as well
    labels           columns of text that are neither
    titles           words of the header that nothing stands under
[[layout.lines]]     lines that are a sample in themselves
    stat, pattern    a regular expression of the whole line; its groups are keys of fields, `instance` or `instance_2`... the key
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from normstat.stats.engine.trace.column_names import TraceHeader
from normstat.stats.engine.trace.trace_table import TraceRole, TraceTable, begin_table
from normstat.stats.layout import NON_EMPTY, Shaped
from normstat.stats.spec import Layout, Shape, Stat

INSTANCE: Final = "instance"


@dataclass(frozen=True)
class KnownTable:
    """A table with a separate stat; the module's docstring explains the keys."""

    stat: Stat
    header: Annotated[frozenset[str], NON_EMPTY]
    instance: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()


@dataclass(frozen=True)
class KnownLine:
    """A line that is a sample in itself: the named groups of the pattern are fields, or parts of the instance."""

    stat: Stat
    pattern: re.Pattern[str]

    def __post_init__(self) -> None:
        """Require that the groups name fields, and at least one."""
        for name in self._names:
            if name not in self._fields and not name.startswith(INSTANCE):
                raise ValueError(f"pattern: {name!r} is not a field of {self.stat.name}")
        if not self.columns:
            raise ValueError("pattern: names no field")

    @functools.cached_property
    def _names(self) -> Sequence[str]:
        return sorted(self.pattern.groupindex, key=lambda name: self.pattern.groupindex[name])

    @functools.cached_property
    def _fields(self) -> Mapping[str, str]:
        return {field.key: field.column for field in self.stat.fields}

    @functools.cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The groups that are fields, by key and printed column."""
        return tuple((name, self._fields[name]) for name in self._names if name in self._fields)

    @functools.cached_property
    def instance(self) -> tuple[str, ...]:
        """The groups that make the instance."""
        return tuple(name for name in self._names if name.startswith(INSTANCE))


@dataclass(frozen=True)
class TraceLayout(Layout):
    """The stats of samples. Missing: None if the spec has no such stat."""

    keys: Annotated[Stat | None, Shaped(Shape.KEYS)] = None
    stacks: Annotated[Stat | None, Shaped(Shape.STACKS)] = None
    # SystemTap's distributions are keys: see its spec.
    histogram: Annotated[Stat | None, Shaped(Shape.HISTOGRAM, Shape.KEYS)] = None
    table: Annotated[Stat | None, Shaped(Shape.TABLE)] = None
    summary: Annotated[Stat | None, Shaped(Shape.TABLE)] = None
    tables: tuple[KnownTable, ...] = ()
    lines: tuple[KnownLine, ...] = ()


def begin_tables(layout: TraceLayout, headers: Sequence[TraceHeader], title: str) -> Iterator[TraceTable]:
    """Yield the tables whose header the line may be: those with a separate stat, else one of the stat for any table."""
    is_known = False
    for header in headers:
        for known in layout.tables:
            if known.header.issubset(header.names):
                is_known = True
                yield _begin_known(known, header, title)
    if not is_known and layout.table is not None:
        for header in headers:
            yield begin_table(layout.table, header, title)


def _begin_known(known: KnownTable, header: TraceHeader, title: str) -> TraceTable:
    cells = tuple(cell for cell in header.cells if cell.text not in known.titles)
    table = begin_table(known.stat, replace(header, cells=cells), title)
    roles = "".join(_role(known, cell.text, role) for cell, role in zip(cells, table.roles, strict=True))
    return replace(table, roles=roles, is_strong=True)


def _role(known: KnownTable, name: str, guess: str) -> str:
    if name in known.labels:
        return TraceRole.LABEL
    if name in known.instance:
        if guess == TraceRole.NUMBER_KEY:
            return guess
        return TraceRole.BOTH if guess in (TraceRole.VALUE, TraceRole.BOTH, TraceRole.OPEN_BOTH) else TraceRole.KEY
    return guess
