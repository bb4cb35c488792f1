"""Counters and states that a server keeps of itself: PostgreSQL, MySQL, Redis, Oracle, nginx, haproxy.

    1795305600.123
    ==> database <==
    datname	numbackends	xact_commit	blks_read	blks_hit
    orders	12	48120	310	99120
    ==> statements <==
    statement	calls	total_exec_time
    0x4f2a1b3c UPDATE orders SET total = $1 WHERE id = $2	120	4711.5

A report begins with its time. It has tables, each after a heading or with a header of its own, and lines with numbers behind names.
Counters become rates between two reports, as docs/adr/0018 says: what was not in the report before has none, and where a counter
went back, as after a restart, no rate of its row is believed.

A field is the number of its column, or of several: `blks_hit / blks_hit + blks_read * 100` is a sum, a quotient and a
factor, parted by blanks; `a|b` is the first of them that is there. With the semantics `rate`, a column is how much its counter
grew, per second; a quotient is that of the growths. Otherwise the numbers are those of the report.

Keys of `[layout]`:
    made_of     fields that are not one column: "STAT.KEY" = "hits / hits + misses * 100"
Keys of `[[stats.tables]]` or, with `stat`, `[[layout.tables]]`:
    section     the heading before the table: `==> SECTION <==`
    header      what the first column of its header may be, for a table without a heading: "PID|S0C"
    separator   what parts the cells: "\t", "," (of CSV), or " " for any blanks; a tab where it is not named
    instance    columns that name what a row is about, joined by a slash
    pairs       true when each row is a name and a number, all of one sample
    growth      true when the numbers are what was added since the report before
Keys of `[[layout.lines]]`:
    stat        the stat of the line's numbers
    pattern     a regular expression of the line. A group is a column; `instance` names what the line is about; `name` and `value`
                are a column and its number, and `pairs` holds several: calls=21,usec=175

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = "\\n".join(line[4:] for line in __doc__.split("\\n\\n")[1].split("\\n")) + "\\n"
>>> later = excerpt.replace("5600.1", "5610.1").replace("48120", "48220")
>>> blocks = read(require_spec("postgresql"), (excerpt + later).encode(), state={}, offset=0, is_final=True).blocks
>>> [values.tolist()[-1] for block in blocks for field, values in zip(block.fields, block.values) if field.key == "commits_per_s"]
[10.0]
"""

import csv
import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Literal

from normstat.errors import shorten
from normstat.stats.engine.block import Row
from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import ASCII, Alternatives, StatName, toml_key
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Field, Layout, Semantics, Stat

NUMBER: Final = re.compile(r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?", re.ASCII)
PAIR: Final = re.compile(r"(?P<name>[\w.-]{1,60})=(?P<value>[^,]{0,40})", re.ASCII)
# Words for "no value".
MISSING: Final = frozenset({"", "-", "NULL", "\\N"})
# More than any server prints in one report.
MAX_ROWS: Final = 20_000
MAX_NAME: Final = 200
TOO_MANY: Final = Rejected(f"more than {MAX_ROWS} rows in one report")
# The groups of a line's pattern that are no columns.
INSTANCE: Final = "instance"
NAME: Final = "name"
VALUE: Final = "value"
PAIRS: Final = "pairs"


@dataclass(frozen=True)
class CountedTable:
    """A table of a report; the module's docstring explains the keys."""

    stat: StatName
    section: str = ""
    header: Alternatives | None = None
    separator: Literal["\t", ",", " "] = "\t"
    instance: tuple[str, ...] = ()
    is_pairs: bool = toml_key("pairs", default=False)
    is_growth: bool = toml_key("growth", default=False)


@dataclass(frozen=True)
class CountedLine:
    """A line with numbers behind names; the module's docstring explains the keys."""

    stat: StatName
    pattern: Annotated[re.Pattern[str], ASCII]


@dataclass(frozen=True)
class CountersLayout(Layout):
    """The tables and lines of a server; the module's docstring explains the keys."""

    tables: tuple[CountedTable, ...] = ()
    made_of: Mapping[str, str] = dataclasses.field(default_factory=dict)
    lines: tuple[CountedLine, ...] = ()

    def validate(self, stats: Sequence[Stat]) -> None:
        """Require a way to find each table, and that formulas are of fields and can be read."""
        for table in self.tables:
            if not table.section and table.header is None:
                raise ValueError(f"tables: that of {table.stat} has neither a section nor a header")
        known = {f"{stat.name}.{field.key}" for stat in stats for field in stat.fields}
        for name, formula in self.made_of.items():
            if name not in known:
                raise ValueError(f"made_of: {name} is no field")
            parse_formula(formula)

    @cached_property
    def grown(self) -> frozenset[str]:
        """The stats whose numbers are growth already."""
        return frozenset(table.stat for table in self.tables if table.is_growth)


LAYOUT: Final = CountersLayout

# Names of which the first one counts that a row has.
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """What the number of a field is made of: sums of columns. `divisor`: none for a plain sum"""

    terms: tuple[Names, ...]
    divisor: tuple[Names, ...]
    factor: float

    def value(self, row: Mapping[str, float]) -> float | None:
        """Return the number of a row. Missing: None where a column is missing, or nothing was counted that could be divided by."""
        top = _add_up(self.terms, row)
        if top is None or not self.divisor:
            return None if top is None else top * self.factor
        bottom = _add_up(self.divisor, row)
        return top / bottom * self.factor if bottom else None

    def is_in(self, row: Mapping[str, float]) -> bool:
        """Return whether the row has all of its columns."""
        return all(any(name in row for name in names) for names in (*self.terms, *self.divisor))

    @property
    def columns(self) -> frozenset[str]:
        """All columns that it may be made of."""
        return frozenset(name for names in (*self.terms, *self.divisor) for name in names)


def split_cells(text: str, separator: str) -> list[str]:
    """Return the cells of a line.

    >>> split_cells('web,"a, b",', ","), split_cells(" S0C   S1C", " ")
    (['web', 'a, b', ''], ['S0C', 'S1C'])
    """
    if separator == " ":
        return text.split()
    cells = next(csv.reader([text]), []) if separator == "," and '"' in text else text.split(separator)
    return [cell.strip() for cell in cells]


def parse_formula(text: str) -> Formula:
    """Return the formula that a text is.

    >>> parse_formula("hits / hits + misses|missed * 100")
    Formula(terms=(('hits',),), divisor=(('hits',), ('misses', 'missed')), factor=100.0)

    Raises: ValueError
    """
    sums, _, factor = text.partition(" * ")
    top, _, bottom = sums.partition(" / ")
    if factor and NUMBER.fullmatch(factor) is None:
        raise ValueError(f"made_of: {factor!r} in {text!r} is no number")
    terms, divisor = ([tuple(name.split("|")) for name in part.split(" + ")] if part else [] for part in (top, bottom))
    return Formula(tuple(terms), tuple(divisor), float(factor or 1))


def plain(column: str) -> Formula:
    """Return the formula of a field that is one column."""
    return Formula(((column,),), (), 1.0)


def _add_up(terms: Sequence[Names], row: Mapping[str, float]) -> float | None:
    found = [next((row[name] for name in names if name in row), None) for names in terms]
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None


@dataclass(slots=True)
class CountedRow:
    """The numbers of a thing in the present report; `offset` is its first line."""

    stat: str
    instance: str
    offset: int
    values: dict[str, float]


class Reader(SnapshotReader[CountersLayout]):
    """One call of the reader: `_rows` of the present report, `_before` the numbers of the previous one."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        own = unpack_state(own)
        super().load(own)
        columns, time_us, before_us = own.get("columns"), own.get("time"), own.get("before_us")
        self._columns = list(map(str, columns)) if isinstance(columns, list) else []
        number = own.get("table")
        self._table = self.layout.tables[number] if isinstance(number, int) and number < len(self.layout.tables) else None
        self._time_us = time_us if isinstance(time_us, int) else NO_TIME
        self._before_us = before_us if isinstance(before_us, int) else NO_TIME
        self._rows = {(row.stat, row.instance): row for row in _rows_of(own.get("rows"))}
        self._before = {(row.stat, row.instance): row.values for row in _rows_of(own.get("before"))}
        made_of = self.layout.made_of
        self._formulas = {
            stat.name: [
                (field, parse_formula(made_of[name]) if (name := f"{stat.name}.{field.key}") in made_of else plain(field.column))
                for field in stat.fields
            ]
            for stat in self.spec.stats
        }
        self._wanted = {
            name: frozenset(column for _, formula in formulas for column in formula.columns)
            for name, formulas in self._formulas.items()
        }
        self._counters = {
            name: frozenset(
                column for field, formula in formulas if field.semantics is Semantics.RATE for column in formula.columns
            )
            for name, formulas in self._formulas.items()
        }
        self._known_fields: dict[tuple[str, tuple[int, ...]], tuple[Field, ...]] = {}

    def save(self) -> State:
        """Return the state for the next piece."""
        before = [[stat, instance, 0, values] for (stat, instance), values in self._before.items()]
        return pack_state(
            {
                **super().save(),
                "columns": self._columns,
                "table": None if self._table is None else self.layout.tables.index(self._table),
                "time": self._time_us,
                "before_us": self._before_us,
                "rows": [[row.stat, row.instance, row.offset, row.values] for row in self._rows.values()],
                "before": before,
            }
        )

    def begin_call(self) -> None:
        """Start a new report: what was counted before is still known."""
        super().begin_call()
        self.file, self._table, self._columns = "", None, []

    def see_file(self, path: str) -> None:
        """Note the table that the next lines are of."""
        self._table = next((table for table in self.layout.tables if table.section == path), None)
        self._columns = []

    def end_report(self) -> None:
        """Add the rows of the report, and keep its counters for the next one."""
        super().end_report()
        if not self._rows:
            return
        for row in self._rows.values():
            self._put(row)
        self._before = {key: row.values for key, row in self._rows.items() if row.stat not in self.layout.grown}
        self._before_us, self._rows = self._time_us, {}

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after noting its numbers."""
        for table in self.layout.tables:
            cells = split_cells(text, table.separator) if table.header is not None else []
            if table.header is not None and len(cells) > 1 and cells[0] in table.header:
                self._table, self._columns = table, cells
                return LineKind.HEADER
        if self._table is not None:
            return self._take_cells(self._table, line)
        for known in self.layout.lines:
            found = known.pattern.fullmatch(text)
            if found is not None:
                return self._take_groups(known, found.groupdict(), line.offset)
        return NOT_MINE

    # Internals.

    def _take_cells(self, table: CountedTable, line: Line) -> Claim:
        # A row may begin or end with an empty cell.
        cells = split_cells(line.text.strip("\r\n"), table.separator)
        if table.is_pairs:
            return self._note(table.stat, "", {cells[0]: cells[1]}, line.offset) if len(cells) == 2 else NOT_MINE
        if not self._columns:
            if len(cells) < 2:
                return NOT_MINE
            self._columns = cells
            return LineKind.HEADER
        if len(cells) != len(self._columns):
            return NOT_MINE if len(cells) == 1 else Rejected(f"{len(cells)} cells below a header of {len(self._columns)}")
        words = dict(zip(self._columns, cells, strict=True))
        return self._note(table.stat, "/".join(words[name] for name in table.instance if name in words), words, line.offset)

    def _take_groups(self, known: CountedLine, groups: Mapping[str, str | None], offset: int) -> Outcome:
        words = {name: word for name, word in groups.items() if word is not None and name not in (INSTANCE, NAME, VALUE, PAIRS)}
        if NAME in groups:
            words[groups[NAME] or ""] = groups.get(VALUE) or ""
        words.update((pair["name"], pair["value"]) for pair in PAIR.finditer(groups.get(PAIRS) or ""))
        return self._note(known.stat, groups.get(INSTANCE) or "", words, offset)

    def _note(self, stat: str, instance: str, words: Mapping[str, str], offset: int) -> Outcome:
        """Note the numbers of a line. A column that its row already has begins the next report."""
        wanted = self._wanted[stat]
        values: dict[str, float] = {}
        for name, word in words.items():
            if name in wanted and word not in MISSING:
                if NUMBER.fullmatch(word) is None:
                    return Rejected(f"column {shorten(name, 40)}: {shorten(word, 40)} is not a number")
                values[name] = float(word)
        if not values:
            return LineKind.IGNORED
        key = (stat, instance[:MAX_NAME])
        row = self._rows.get(key)
        if row is not None and not row.values.keys().isdisjoint(values):
            self.end_report()
            row = None
        if row is None:
            if len(self._rows) >= MAX_ROWS:
                return TOO_MANY
            self.want_report()
            self._time_us = self.report_us
            row = self._rows[key] = CountedRow(*key, offset, {})
        row.values.update(values)
        return LineKind.SAMPLE

    def _put(self, row: CountedRow) -> None:
        """Add the sample of a row, unless nothing of it is known yet."""
        before = self._before.get((row.stat, row.instance), {})
        grown = row.values if row.stat in self.layout.grown else self._growth(row, before)
        seconds = (self._time_us - self._before_us) / 1e6 if NO_TIME not in (self._time_us, self._before_us) else 0.0
        places: list[int] = []
        values: list[float | None] = []
        for place, (field, formula) in enumerate(self._formulas[row.stat]):
            if not formula.is_in(row.values):
                continue
            places.append(place)
            if field.semantics is not Semantics.RATE:
                found = formula.value(row.values)
            else:
                found = formula.value(grown) if seconds > 0 else None
                if found is not None and not formula.divisor:
                    found /= seconds
            values.append(found)
        missing = tuple(at for at, value in enumerate(values) if value is None)
        if len(missing) == len(values):
            return
        fields = self._fields_at(row.stat, tuple(places))
        numbers = [
            0 if value is None else round(value) if field.storage.is_whole else value
            for value, field in zip(values, fields, strict=True)
        ]
        builder = self.builder(self.stat(row.stat), fields, is_since_boot=False)
        builder.add(Row(numbers, missing, None), self._time_us, row.instance, row.offset)

    def _growth(self, row: CountedRow, before: Mapping[str, float]) -> Mapping[str, float]:
        """Return how much the counters of a row grew. Empty where one went back: the server was started again, or it was reset."""
        grown = {
            name: row.values[name] - before[name] for name in self._counters[row.stat] if name in row.values and name in before
        }
        return grown if min(grown.values(), default=0.0) >= 0 else {}

    def _fields_at(self, stat: str, places: tuple[int, ...]) -> tuple[Field, ...]:
        """Return fields of a stat; blocks are found by their identity."""
        key = (stat, places)
        if key not in self._known_fields:
            self._known_fields[key] = tuple(self._formulas[stat][place][0] for place in places)
        return self._known_fields[key]


def _rows_of(state: object) -> list[CountedRow]:
    return [CountedRow(*row) for row in state] if isinstance(state, list) else []
