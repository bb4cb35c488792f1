"""What all readers but `columns` share: the way from bytes to lines, times of reports, rows into blocks, the state between chunks.

A reader derives from LineReader and says what one line is (`take_line`), what it must remember (`save` and `load`), and what is
left to do after the last line (`finish`). The base keeps the promises of every reader: each byte is booked once, any chunking
gives the same samples, a line longer than LINE_LIMIT costs bounded memory, and nothing that a line holds makes it raise.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar, cast

from normstat.errors import shorten
from normstat.stats.engine.block import BlockBuilder, Row
from normstat.stats.engine.header import fields_of
from normstat.stats.engine.ledger import Ledger
from normstat.stats.engine.number_formats import INT8_MAX, INT8_MIN, read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.timeline import Timeline, require_zone
from normstat.stats.engine.timestamps import Timestamp, day_seconds, is_recorder_line, parse_timestamp
from normstat.stats.records import NO_TIME, LineKind, ReadResult, State, Timing
from normstat.stats.spec import Field, Layout, Spec, Stat

LINE_LIMIT: Final = 1 << 20
TOO_LONG: Final = "line longer than 1 MiB"
CUT_OFF: Final = "cut off: the last line has no newline and may be incomplete"
CONTROLLED: Final = "control characters: not the output of a tool"
CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Colours, which sysstat and others print when told to.
COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[mK]")
# A recorder writes of itself at the beginning of its file; later such a line may be a tool's.
RECORDER_LINES: Final = 20
ABSENT: Final = "-"
MAX_DECIMALS: Final = 9
MAX_LEARNT: Final = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its newline and colours; `offset` is its first byte in the stream."""

    text: str
    offset: int


LayoutT = TypeVar("LayoutT", bound=Layout)


class LineReader(Generic[LayoutT]):
    """One call of a reader. Attributes for readers: `spec`, `layout`, `command`, `timeline`, `has_zone`."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        self.spec = spec
        # The catalogue parsed it as the LAYOUT of this reader.
        self.layout = cast("LayoutT", spec.layout)
        self.command = command
        self.has_zone = timing.zone is not None
        self.timeline = Timeline(require_zone(timing.zone) if timing.zone is not None else None)
        self._stats: Mapping[str, Stat] = {stat.name: stat for stat in spec.stats}
        self._offset = offset
        self._timing = timing
        self._is_in_long_line = state.get("long") is True
        self._builders: dict[tuple[bool, int], BlockBuilder] = {}
        self._fields: dict[tuple[object, ...], tuple[Field, ...]] = {}
        line_no = state.get("line_no")
        self._ledger = Ledger(line_no if isinstance(line_no, int) else 0)
        decimals = state.get("decimals")
        self._decimals = {str(key): int(value) for key, value in decimals.items()} if isinstance(decimals, dict) else {}
        self._load_times(state)
        own = state.get("own")
        if state.get("gap") is True:
            self.load_after_gap(own if isinstance(own, dict) else {})
        else:
            self.load(own if isinstance(own, dict) else {})

    # What a reader says.

    def load(self, own: State) -> None:
        """Restore what `save` returned; {} at the beginning and after a gap."""

    def load_after_gap(self, own: State) -> None:  # noqa: ARG002 (readers look at it)
        """Restore what is still true of what `save` returned although bytes were lost since, such as the present header."""
        self.load({})

    def save(self) -> State:
        """Return what the next piece needs to know, as JSON values of bounded size."""
        return {}

    def clean(self, text: str) -> str:
        """Return the line without terminal control sequences (colours are removed already)."""
        return text

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, or the reason why it cannot be read. Blank lines come too."""
        raise NotImplementedError

    def begin_call(self) -> None:
        """Start a new call of the tool (stats/engine/timestamps.py): the open sample is complete, and the next lines may be
        averages since boot.
        """

    def finish(self) -> None:
        """Complete what was gathered of a sample of several lines: the stream has ended."""

    def is_whole(self, line: Line) -> bool:  # noqa: ARG002 (readers look at it)
        """Return whether a last line without a newline is certainly complete; its last number may have lost digits."""
        return False

    # What a reader uses.

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
        stamp = parse_timestamp(text)
        if stamp is not None:
            if stamp.is_call:
                self.begin_call()
            self.see_stamp(stamp)
        return stamp is not None

    def begin_report(self) -> None:
        """Start a new report. It has the time stamped before it, or comes one known interval after the previous report."""
        if self._is_stamp_new:
            self._is_stamp_new = False
        else:
            self._n_since += 1

    @property
    def report_us(self) -> int:
        """The instant of the present report. Missing: NO_TIME where nothing tells it."""
        if self._base_us == NO_TIME or not self._n_since:
            return self._base_us
        interval_us = self._timing.interval_us
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
    ) -> Rejected | None:
        """Add a row: one word for each column, or (group, column) where groups tell equal columns apart.

        A column is a field of the stat by its header, else an undocumented one. Words in `missing` are "no value". Fields with
        `derived` whose factors are there are worked out. Without `time_us` the row is of the present report.
        Missing: None when the row was added, else the reason why it was not.
        """
        fields = self._fields_of(stat, columns, words)
        values: list[int | float] = []
        absent: list[int] = []
        is_canonical = True
        for field, word in zip(fields, words, strict=False):
            number = None if word in missing else read_number(word, field)
            if number is None:
                if word not in missing:
                    if field.is_documented:
                        return Rejected(f"column {field.column}: {shorten(word, 40)} is not a number that it can hold")
                    is_canonical = False
                elif word not in (ABSENT, ""):
                    # What a tool printed instead of a number is kept.
                    is_canonical = False
                absent.append(len(values))
                values.append(0)
            else:
                values.append(number[0])
                is_canonical = is_canonical and number[1]
        printed = [word.replace(" ", "") or ABSENT for word in words]
        for field in fields[len(words) :]:
            product = _product(field, fields, values, absent)
            printed.append(ABSENT if product is None else str(product))
            if product is None:
                absent.append(len(values))
            values.append(0 if product is None else product)
        builder = self._builder(stat, fields, is_since_boot=is_since_boot)
        row = Row(values, tuple(absent), None if is_canonical else " ".join(printed))
        builder.add(row, self.report_us if time_us is None else time_us, instance, offset)
        return None

    # The machinery.

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""
        begin = 0
        if self._is_in_long_line:
            newline = data.find(b"\n")
            begin = len(data) if newline < 0 else newline + 1
            self._ledger.book_rest(begin)
            self._is_in_long_line = newline < 0
        end = data.rfind(b"\n", begin) + 1
        if end > begin:
            for raw in data[begin : end - 1].split(b"\n"):
                self._take(raw, begin, len(raw) + 1)
                begin += len(raw) + 1
        if len(data) - begin > LINE_LIMIT:
            self._ledger.reject(data[begin : begin + LINE_LIMIT], self._offset + begin, len(data) - begin, TOO_LONG)
            self._is_in_long_line = not is_final
            begin = len(data)
        elif is_final and begin < len(data):
            raw = data[begin:]
            if not raw.strip() or self.is_whole(Line(self.clean(_text(raw)), self._offset + begin)):
                self._take(raw, begin, len(raw))
            else:
                self._ledger.reject(raw, self._offset + begin, len(raw), CUT_OFF)
            begin = len(data)
        if is_final:
            self.finish()
        return self._result(begin)

    def _take(self, raw: bytes, at: int, n_bytes: int) -> None:
        offset = self._offset + at
        if n_bytes > LINE_LIMIT:
            self._ledger.reject(raw, offset, n_bytes, TOO_LONG)
            return
        text = self.clean(_text(raw))
        if CONTROL.search(text) is not None:
            self._ledger.reject(raw, offset, n_bytes, CONTROLLED)
            return
        if self._ledger.line_no < RECORDER_LINES and is_recorder_line(text):
            self._ledger.book(LineKind.IGNORED, n_bytes)
            return
        found = self.take_line(Line(text, offset))
        if isinstance(found, LineKind):
            self._ledger.book(found, n_bytes)
        else:
            self._ledger.reject(raw, offset, n_bytes, found.reason)

    def _result(self, n_taken: int) -> ReadResult:
        state: State = {
            "line_no": self._ledger.line_no,
            "long": self._is_in_long_line,
            "times": self.timeline.to_state(),
            "report": [self._base_us, self._n_since, self._is_stamp_new],
            "decimals": dict(self._decimals),
            "own": self.save(),
        }
        # Samples of one line stand in the order of their stats, whatever other lines came with it in this piece.
        order = list(self._stats)
        builders = sorted(self._builders.items(), key=lambda item: (order.index(item[1].stat.name), item[1].keys))
        built = [(is_since_boot, builder.build()) for (is_since_boot, _), builder in builders]
        return ReadResult(
            blocks=tuple(block for is_since_boot, block in built if not is_since_boot),
            since_boot=tuple(block for is_since_boot, block in built if is_since_boot),
            rejected=tuple(self._ledger.rejected),
            accounts=self._ledger.close(),
            state=state,
            n_taken=n_taken,
        )

    def _load_times(self, state: State) -> None:
        if not self.timeline.load(state.get("times")) and self._timing.date is not None:
            self.timeline.day_s = day_seconds(self._timing.date)
        self._base_us = NO_TIME if self._timing.start_us is None else self._timing.start_us
        self._n_since, self._is_stamp_new = 0, True
        report = state.get("report")
        if isinstance(report, list) and len(report) == 3:
            base_us, n_since, is_new = report
            self._base_us, self._n_since, self._is_stamp_new = int(base_us), int(n_since), is_new is True
        if state.get("gap") is True:
            # The stamp before the gap may be that of a report which the gap swallowed.
            self._base_us, self._n_since, self._is_stamp_new = NO_TIME, 0, True

    def _fields_of(self, stat: Stat, columns: Sequence[str] | Sequence[tuple[str, str]], words: Sequence[str]) -> tuple[Field, ...]:
        """Return the fields of the columns, with those at the end that are worked out from them."""
        key = (stat.name, *columns)
        found = self._fields.get(key)
        if found is None:
            pairs = [(column, "") if isinstance(column, str) else column for column in columns]
            by_group = any(not isinstance(column, str) for column in columns)
            named = [(group, column) if by_group else ("", group) for group, column in pairs]
            fields = fields_of(stat, named, by_group=by_group)
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

    def _builder(self, stat: Stat, fields: tuple[Field, ...], *, is_since_boot: bool) -> BlockBuilder:
        key = (is_since_boot, id(fields))
        if key not in self._builders:
            self._builders[key] = BlockBuilder(stat, fields)
        return self._builders[key]


def _text(raw: bytes) -> str:
    text = raw.removesuffix(b"\r").decode("utf-8", "backslashreplace")
    return COLOUR.sub("", text) if "\x1b" in text else text


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
