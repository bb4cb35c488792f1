"""The base of readers that read text line by line: times of reports, rows of words into blocks.

A reader derives from LineReader and says what one line is (`take_line`), what it must remember (`save` and `load`), and what is
left to do after the last line (`finish`). The base of all readers is in stats/engine/line_engine.py.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.errors import shorten
from normstat.stats.engine.block import Row
from normstat.stats.engine.header import fields_of
from normstat.stats.engine.line_engine import LayoutT, LineEngine
from normstat.stats.engine.number_formats import INT8_MAX, INT8_MIN, NOT_A_NUMBER, read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.calls import RECORDER_LINES
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import Timestamp, is_recorder_line
from normstat.stats.records import NO_TIME, LineKind, State, Timing
from normstat.stats.spec import Family, Field, Spec, Stat

MAX_SIDE_BY_SIDE: Final = 400
# The CPU of a column; `cpu3 %tim` is of cpu3, too.
NUMBERED: Final = re.compile(r"(?P<name>(?:cpu|CPU)(?P<number>\d{1,9}))(?: .*)?", re.ASCII)
EACH: Final = "each"


@dataclass(frozen=True, slots=True)
class NarrowRow:
    """A part of a wide row: `name` is the CPU's, "" for the other columns of the row."""

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


ABSENT: Final = "-"
MAX_DECIMALS: Final = 9
MAX_LEARNT: Final = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its newline and colours; `offset` is its first byte in the stream."""

    text: str
    offset: int


class LineReader(LineEngine[LayoutT]):
    """One call of a reader. Attributes for readers: those of LineEngine."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        super().__init__(spec, state=state, offset=offset, timing=timing, command=command)
        self._stats: Mapping[str, Stat] = {stat.name: stat for stat in spec.stats}
        self._fields: dict[tuple[object, ...], tuple[Field, ...]] = {}
        decimals = state.get("decimals")
        self._decimals = {str(key): int(value) for key, value in decimals.items()} if isinstance(decimals, dict) else {}
        # The columns of the present header that the tool prints otherwise in another language.
        printed = state.get("printed")
        self._printed = {str(column): str(text) for column, text in printed.items()} if isinstance(printed, dict) else {}
        self._load_report(state, self.timing)
        own = state.get("own")
        if state.get("gap") is True:
            self.load_after_gap(own if isinstance(own, dict) else {})
        else:
            self.load(own if isinstance(own, dict) else {})

    # Implemented by a reader.

    def load(self, own: State) -> None:
        """Restore what `save` returned; {} at the beginning and after a gap."""

    def load_after_gap(self, own: State) -> None:  # noqa: ARG002 (readers look at it)
        """Restore the part of the saved state that survives lost bytes, such as the current header."""
        self.load({})

    def save(self) -> State:
        """Return what the next piece needs to know, as JSON values of bounded size."""
        return {}

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read. Blank lines come too."""
        raise NotImplementedError

    def begin_call(self) -> None:
        """Start a new call of the tool (stats/engine/times/calls.py): complete what is open; the next lines begin a run."""
        self.finish()
        self.load({})

    def see_call(self, stamp: Timestamp) -> None:
        """Start a new call of the tool at that time."""
        self.begin_call()
        self.see_stamp(stamp)

    def is_whole(self, line: Line) -> bool:  # noqa: ARG002 (readers look at it)
        """Return whether a last line without a newline is certainly complete; its last number may have lost digits."""
        return False

    # Used by a reader.

    def stat(self, name: str) -> Stat:
        """Return the stat of that name; the layout guarantees that it exists."""
        return self._stats[name]

    def see_stamp(self, stamp: Timestamp) -> None:
        """Date the next reports with this time."""
        self._base_us = self.timeline.stamp_us(stamp)
        self._n_since = 0
        self._is_stamp_new = True

    def see_time_line(self, text: str) -> bool:
        """Take a line that is only a time. Return False for any other line."""
        stamp = parse_time_line(text)
        if stamp is not None:
            self.see_stamp(stamp)
        return stamp is not None

    def begin_report(self) -> None:
        """Start a new report. It has the time stamped before it, or comes one known interval after the previous report."""
        if self.prefix_us != NO_TIME:
            self._base_us, self._n_since, self._is_stamp_new = self.prefix_us, 0, False
        elif self._is_stamp_new:
            self._is_stamp_new = False
        else:
            self._n_since += 1

    @property
    def base_us(self) -> int:
        """The instant of the last stamp or of the timing, from which tools count that print seconds since their start."""
        return self._base_us

    @property
    def report_us(self) -> int:
        """The instant of the current report. Missing: NO_TIME when it is unknown."""
        if self._base_us == NO_TIME or not self._n_since:
            return self._base_us
        interval_us = self.timing.interval_us
        return NO_TIME if interval_us is None else self._base_us + self._n_since * interval_us

    def add_row(
        self,
        stat: Stat,
        columns: Sequence[str] | Sequence[tuple[str, str]],
        words: Sequence[str],
        *,
        instance: str = "",
        time_us: int | None = None,
        offset: int,
        missing: frozenset[str] = frozenset({ABSENT, ""}),
        is_since_boot: bool = False,
        as_printed: Sequence[str] | None = None,
    ) -> Rejected | None:
        """Add a row: one word for each column, or (group, column) where groups distinguish equal columns.

        `as_printed` has the words as the tool printed them (1,993 or 1.8E-07), where `words` are in the form of plain numbers.
        A column is a field of the stat by its header, else an undocumented one. Words in `missing` are "no value". Fields with
        `derived` whose factors are there are worked out. Without `time_us` the row is of the present report.
        Missing: None when the row was added, else the reason why it was not.
        """
        parts = turn_wide_row(stat, columns, words)
        if parts:
            at_us = self.report_us if time_us is None else time_us
            return self._add_parts(parts, instance, at_us, offset, missing, is_since_boot=is_since_boot)
        fields = self._fields_of(stat, columns, words)
        values: list[int | float] = []
        absent: list[int] = []
        is_canonical = True
        for field, word in zip(fields, words, strict=False):
            is_missing = word in missing or word in NOT_A_NUMBER
            number = None if is_missing else read_number(word, field)
            if number is None:
                if not is_missing:
                    if field.is_documented:
                        return Rejected(f"column {field.column}: {shorten(word, 40)} is not a number that it can hold")
                    is_canonical = False
                elif word not in (ABSENT, ""):
                    # The word that a tool printed instead of a number is kept.
                    is_canonical = False
                absent.append(len(values))
                values.append(0)
            else:
                values.append(number[0])
                is_canonical = is_canonical and number[1]
        is_canonical = is_canonical and (as_printed is None or list(as_printed) == list(words))
        printed = [word.replace(" ", "") or ABSENT for word in as_printed or words]
        for field in fields[len(words) :]:
            product = _product(field, fields, values, absent)
            printed.append(ABSENT if product is None else str(product))
            if product is None:
                absent.append(len(values))
            values.append(0 if product is None else product)
        builder = self.builder(stat, fields, is_since_boot=is_since_boot)
        row = Row(values, tuple(absent), None if is_canonical else " ".join(printed))
        builder.add(row, self.report_us if time_us is None else time_us, instance, offset)
        return None

    # Internals.

    def _add_parts(
        self,
        parts: Sequence[NarrowRow],
        instance: str,
        time_us: int,
        offset: int,
        missing: frozenset[str],
        *,
        is_since_boot: bool,
    ) -> Rejected | None:
        """Add the rows that a wide row was turned into."""
        for part in parts:
            refused = self.add_row(
                part.stat,
                part.columns,
                part.words,
                instance=f"{instance}/{part.name}".strip("/") if part.name else instance,
                time_us=time_us,
                offset=offset,
                missing=missing,
                is_since_boot=is_since_boot,
            )
            if refused is not None:
                return refused
        return None

    def take_bytes(self, line: bytes, offset: int) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = self.decode(line)
        if self.ledger.line_no < RECORDER_LINES and is_recorder_line(text):
            return LineKind.IGNORED
        found = self.translations.translate(text) if self.translations is not None else None
        if found is not None:
            text = found.text
            if found.printed:
                self._printed = dict(found.printed)
        taken = self.take_line(Line(text, offset))
        return LineKind.TIMESTAMP if isinstance(taken, Rejected) and self.see_time_line(text) else taken

    def is_complete(self, line: bytes, offset: int) -> bool:
        """Return whether a last line without a newline is certainly complete."""
        text = self.decode(line)
        return self.is_whole(Line(text if self.translations is None else self.translations.english(text), offset))

    def state(self) -> State:
        """Return what the next piece needs to know."""
        return {
            "report": [self._base_us, self._n_since, self._is_stamp_new],
            "decimals": dict(self._decimals),
            "printed": dict(self._printed),
            "own": self.save(),
        }

    def _load_report(self, state: State, timing: Timing) -> None:
        self._base_us = NO_TIME if timing.start_us is None else timing.start_us
        self._n_since, self._is_stamp_new = 0, True
        report = state.get("report")
        if isinstance(report, list) and len(report) == 3:
            base_us, n_since, is_new = report
            self._base_us, self._n_since, self._is_stamp_new = int(base_us), int(n_since), is_new is True
        if state.get("gap") is True:
            # The stamp before the gap may belong to a report lost in the gap.
            self._base_us, self._n_since, self._is_stamp_new = NO_TIME, 0, True

    def _fields_of(self, stat: Stat, columns: Sequence[str] | Sequence[tuple[str, str]], words: Sequence[str]) -> tuple[Field, ...]:
        """Return the fields of the columns, with those at the end that are worked out from them."""
        key = (stat.name, *columns, *self._printed.items())
        found = self._fields.get(key)
        if found is None:
            pairs = [(column, "") if isinstance(column, str) else column for column in columns]
            by_group = any(not isinstance(column, str) for column in columns)
            named = [(group, column) if by_group else ("", group) for group, column in pairs]
            fields = fields_of(stat, named, by_group=by_group, printed=self._printed)
            found = self._fields[key] = (*self._learn_decimals(stat, fields, words), *_derived(stat, fields))
        return found

    def _learn_decimals(self, stat: Stat, fields: tuple[Field, ...], words: Sequence[str]) -> tuple[Field, ...]:
        """Undocumented columns show their decimals in their first row."""
        known = []
        for field, word in zip(fields, words, strict=True):
            if not field.is_documented:
                name = f"{stat.name}.{field.key}"
                if name not in self._decimals:
                    if len(self._decimals) >= MAX_LEARNT:
                        self._decimals.clear()
                    tail = word.rstrip("%").replace(",", ".").partition(".")[2]
                    self._decimals[name] = min(len(tail), MAX_DECIMALS)
                known.append(replace(field, decimals=self._decimals[name]))
            else:
                known.append(field)
        return tuple(known)


def _derived(stat: Stat, fields: Sequence[Field]) -> list[Field]:
    keys = {field.key for field in fields}
    return [field for field in stat.fields if field.derived and keys.issuperset(field.derived) and field.key not in keys]


def _product(field: Field, fields: Sequence[Field], values: Sequence[int | float], absent: Sequence[int]) -> int | float | None:
    """Return the product of the factors. Missing: None where a factor is missing, or the product is beyond what can be stored."""
    places = {other.key: place for place, other in enumerate(fields[: len(values)])}
    product: int | float = 1
    for key in field.derived:
        place = places.get(key)
        if place is None or place in absent:
            return None
        product *= values[place]
    if field.storage.is_whole:
        product = round(product)
        return product if INT8_MIN <= product <= INT8_MAX else None
    return product
