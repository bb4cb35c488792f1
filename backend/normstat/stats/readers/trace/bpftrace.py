"""The reader of bpftrace: maps, distributions and stacks as printed by bpftrace, and the printf() output of scripts.

Attaching 3 probes...
@syscall[6]: 36862
@bytes[sshd]: count 5, average 3, total 15
@usecs[ssh]:
[256, 512)             2 |                                                    |
[512, 1K)             10 |@                                                   |
@[
    finish_task_switch+1
    schedule+40
, bash]: 12

A map is the instance as printed, with its name: scripts give maps one name each. A stack is folded root first, after the name of
its map (when it has one) and the other parts of its key.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("bpftrace"), b"@[vfs_open]: 8675\\n", state={}, offset=0, is_final=True)
>>> result.blocks[0].instances, result.blocks[0].values[0].tolist()
(['@[vfs_open]'], [8675])
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.times.timestamps import Timestamp
from normstat.stats.engine.trace.bpftrace_json import parse_json_line
from normstat.stats.engine.trace.stacks import MAX_CHARACTERS, MAX_FRAMES, TOO_DEEP, fold_stack
from normstat.stats.engine.trace.trace_layout import TraceLayout
from normstat.stats.engine.trace.trace_lines import find_stamp, is_integer
from normstat.stats.engine.trace.trace_reader import HeldRow, TraceReader
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Stat

MAP: Final = re.compile(r" *(@\w{0,100})(\[|: ?|:$)")
KEY_END: Final = re.compile(r"\]:(?: |$)")
BUCKET: Final = re.compile(r" *([\[(][^\])|]{1,80}[\])]) +(-?[0-9]{1,20}) +\|[@ ]*\|?")
TUPLE_PART: Final = re.compile(r"[(),]|-?\d{1,20}|\s+|.", re.ASCII)
MAX_TUPLE: Final = 1000
STATISTICS: Final = re.compile(r"count (-?[0-9]{1,19}), average (-?[0-9]{1,19}), total (-?[0-9]{1,19})")
PRINTED_TITLE: Final = re.compile(r"([^@]{0,120}?:) *(@.*)")
NO_VALUE: Final = Rejected("the value of a map is not a number")


@dataclass(frozen=True)
class BpftraceLayout(TraceLayout):
    """The layout of a tracer, and a stat for maps of three numbers, whose name ends in _statistics."""

    def validate(self, stats: Sequence[Stat]) -> None:
        """Require the stat of statistics."""
        if not any(stat.name.endswith("_statistics") for stat in stats):
            raise ValueError("a stat whose name ends in _statistics is needed")


LAYOUT: Final = BpftraceLayout


class Reader(TraceReader[BpftraceLayout]):
    """One call of the reader. `_key` holds the map whose key, a stack, is being printed: its name, parts of the key, frames."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._statistics: Stat = next(stat for stat in self.spec.stats if stat.name.endswith("_statistics"))
        key = own.get("key")
        name, parts, frames, at = key if isinstance(key, list) and len(key) == 4 else ("", [], [], 0)
        self._name, self._parts, self._frames, self._offset_of_key = str(name), list(parts), list(frames), int(at)
        self._n_key = sum(map(len, self._parts)) + sum(map(len, self._frames))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "key": [self._name, self._parts, self._frames, self._offset_of_key]}

    def take_line(self, line: Line) -> Outcome:
        """Take a line of JSON (-f json) as the lines for people that say the same; any other line as it is."""
        found = parse_json_line(line.text.strip())
        if found is None:
            return super().take_line(line)
        kind, lines = found
        if not lines:
            return LineKind.STATE_CHANGE if kind == "lost_events" else LineKind.IGNORED
        outcomes = [super(Reader, self).take_line(Line(text, line.offset)) for text in lines]
        self._name, self.bucket_key = "", None
        refused = next((outcome for outcome in outcomes if isinstance(outcome, Rejected)), None)
        is_sample = LineKind.SAMPLE in outcomes
        return LineKind.SAMPLE if is_sample else refused or outcomes[-1]

    def take(self, line: Line) -> Outcome:
        """Return what the line is: part of a key, a bucket, a map, or what scripts print."""
        if self._name and MAP.match(line.text) is None and find_stamp(line.text) is None:
            return self._take_key(line)
        self._name = ""
        if self.bucket_key is not None:
            found = BUCKET.fullmatch(line.text)
            if found is not None:
                return self.add_bucket(found[1], found[2], line.offset)
        kind = self._take_map(line) or self.take_self_talk(line) or self.take_stamp(line) or self.take_known_line(line)
        return kind or self.take_pairs(line, least=2) or self.take_row(line) or self.take_pairs(line) or self.take_title(line)

    def take_after_time(self, stamp: Timestamp, rest: Line) -> Claim:
        """Take `06:33:40 PIDs/sec: @: 2314`: a time, a title and a map; the title says what the map's name does not."""
        found = PRINTED_TITLE.fullmatch(rest.text)
        if found is None and not rest.text.endswith(":"):
            return NOT_MINE
        self.forget_texts()
        self.mark_time(stamp)
        return LineKind.TIMESTAMP if found is None else self._take_map(Line(found[2], rest.offset))

    # Maps.

    def _take_map(self, line: Line) -> Claim:
        found = MAP.match(line.text)
        if found is None:
            return NOT_MINE
        self.forget_texts()
        self.bucket_key = None
        if found[2] != "[":
            return self._take_value(found[1], line.text[found.end() :], line.offset)
        rest = line.text[found.end() :]
        ends = list(KEY_END.finditer(rest))
        if not ends:
            return self._begin_key(found[1], rest, line.offset)
        return self._take_value(f"{found[1]}[{rest[: ends[-1].start()]}]", rest[ends[-1].end() :], line.offset)

    def _take_value(self, key: str, value: str, offset: int) -> Outcome:
        """Return the value of a map: nothing (a distribution follows), a number, or three."""
        value = value.strip()
        if not value:
            return self.begin_histogram(key)
        if is_integer(value):
            return self.hold_row(HeldRow("", key, value, offset))
        found = STATISTICS.fullmatch(value)
        if found is None:
            return self._take_tuple(key, value, offset)
        self.flush_block()
        self.enter("statistics", key)
        return self.add(self._statistics, ["count", "average", "total"], found.groups(), instance=key, offset=offset)

    def _take_tuple(self, key: str, value: str, offset: int) -> Outcome:
        """Return the numbers of a tuple, each with its place as scripts name it: `@x: (5, (7, 1))` has @x.0, @x.1.0 and @x.1.1."""
        numbers = numbers_of_tuple(value)
        for place, number in numbers:
            self.hold_row(HeldRow("", f"{key}.{place}", number, offset))
        return LineKind.SAMPLE if numbers else NO_VALUE

    # Keys of several lines.

    def _begin_key(self, name: str, rest: str, offset: int) -> Outcome:
        self._name, self._offset_of_key = name, offset
        self._parts = _parts_of(rest)
        self._frames = []
        self._n_key = len(rest)
        return LineKind.HEADER

    def _take_key(self, line: Line) -> Outcome:
        text = line.text.lstrip()
        if text.startswith("]:"):
            return self._end_key(text[2:], line)
        if not text.startswith(","):
            self._frames.append(text)
            self._n_key += len(text)
            if len(self._frames) > MAX_FRAMES or self._n_key > MAX_CHARACTERS:
                self._name = ""
                return TOO_DEEP
            return LineKind.HEADER
        key, end, value = text[1:].rpartition("]:")
        if not end:
            key = text[1:]
        self._parts.extend(_parts_of(key))
        self._n_key += len(key)
        if len(self._parts) > MAX_FRAMES or self._n_key > MAX_CHARACTERS:
            self._name = ""
            return TOO_DEEP
        return self._end_key(value, line) if end else LineKind.HEADER

    def _end_key(self, value: str, line: Line) -> Outcome:
        name = self._name
        self._name = ""
        value = value.strip()
        instance = fold_stack(([name] if name != "@" or not self._frames else []) + self._parts, self._frames)
        if instance is None:
            return TOO_DEEP
        if not value:
            return self.begin_histogram(instance)
        found = STATISTICS.fullmatch(value)
        if found is not None:
            self.flush_block()
            self.enter("statistics", instance)
            return self.add(self._statistics, ["count", "average", "total"], found.groups(), instance=instance, offset=line.offset)
        return self.add_stack(instance, [value], self._offset_of_key) if is_integer(value) else NO_VALUE


def _parts_of(key: str) -> list[str]:
    return [part.strip(" ,") for part in key.split(", ") if part.strip(" ,")]


def numbers_of_tuple(text: str) -> list[tuple[str, str]]:
    """Return the places and the numbers of a tuple of integers, which may hold other ones. Missing: [] for any other text.

    >>> numbers_of_tuple("(5, (7, -1))"), numbers_of_tuple("(5, java)"), numbers_of_tuple("(5, 7"), numbers_of_tuple("5")
    ([('0', '5'), ('1.0', '7'), ('1.1', '-1')], [], [], [])
    """
    numbers: list[tuple[str, str]] = []
    places: list[int] = []
    is_value_next = True
    for part in TUPLE_PART.findall(text) if text.startswith("(") and text.endswith(")") and len(text) <= MAX_TUPLE else []:
        if part.isspace():
            continue
        if part == "(" and is_value_next and (places or not numbers):
            places.append(0)
        elif part == ")" and places and not is_value_next:
            places.pop()
        elif part == "," and places and not is_value_next:
            places[-1] += 1
            is_value_next = True
        elif is_value_next and places and is_integer(part):
            numbers.append((".".join(map(str, places)), part))
            is_value_next = False
        else:
            return []
    return [] if places or is_value_next else numbers
