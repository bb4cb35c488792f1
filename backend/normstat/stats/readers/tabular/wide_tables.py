"""Tables under a header of one or two lines, with names in front or after, suffixed numbers, indented trees: fsstat, zpool iostat,
vfsstat, arcstat, netstat -i and their like. `stats/engine/wide_layout.py` explains the layout.

                capacity     operations    bandwidth
pool         alloc   free   read  write   read  write
-----------  -----  -----  -----  -----  -----  -----
zones         303G  2.95T     36    501   118K  9.41M
  raidz1      303G  2.95T     36    501   118K  9.41M

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = "\\n".join(__doc__.split("\\n")[3:8]).encode()
>>> result = read(require_spec("zpool_iostat"), excerpt, state={}, offset=0, is_final=False)
>>> [(block.instances, block.fields[5].key, block.values[5].tolist()) for block in result.since_boot]
[(['zones'], 'bw_write', [9867100.16])]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.errors import shorten
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_order import Reports, reports_after_gap
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timeline import MICRO
from normstat.stats.engine.times.timestamps import Timestamp, split_words, take_clock
from normstat.stats.engine.wide_layout import WideLayout, WideTable
from normstat.stats.records import NO_TIME, LineKind, State

RULE: Final = frozenset("-= \t")
MAX_COLUMNS: Final = 512
MAX_HEADER_LENGTH: Final = 8192
COMMA: Final = ","
# A word before a name, or instead of one, which shows that the row has a value too many.
NUMBER_LIKE: Final = re.compile(r"-?[0-9][0-9.,]*[KMGTPE%]?(?: |$)|- ")
MAX_NAME_LENGTH: Final = 1000
# A header of this many words without blanks between them has words separated by commas.
MIN_BY_COMMA: Final = 4


@dataclass(frozen=True, slots=True)
class WideHeader:
    """The present header. `columns` are the names of all columns that have one, `groups` those of the upper line where words stand
    over several columns; `names` what stands side by side; `indent` the blanks before the first word.
    """

    table: WideTable
    columns: tuple[str, ...]
    groups: tuple[str, ...]
    names: tuple[str, ...]
    indent: int
    is_by_comma: bool
    value_at: tuple[int, ...]


LAYOUT: Final = WideLayout


class Reader(LineReader[WideLayout]):
    """One call of the reader."""

    # Rows may have a time of their own.
    prefix_kinds = frozenset({FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the present header, report and place in a tree."""
        self._reports = Reports(own.get("reports"))
        self._tree = Tree(own.get("tree"))
        self._caption = str(own.get("caption", ""))
        self._is_lost = own.get("lost") is True
        # The name that began the report of rows without a header.
        self._first = str(own.get("first", ""))
        self._header: WideHeader | None = None
        self._upper: tuple[str, ...] = ()
        self._texts = ("", "")
        header = own.get("header")
        if isinstance(header, list) and len(header) == 2:
            self._upper = tuple(split_words(str(header[1])))
            self._take_header(str(header[0]))
        self._upper = tuple(split_words(str(own.get("upper", ""))))

    def load_after_gap(self, own: State) -> None:
        """Headers stay valid; the position in the tree is no longer known."""
        self.load({**own, "tree": None, "upper": "", "lost": True})
        self._reports = reports_after_gap(own.get("reports"))

    def save(self) -> State:
        """Return the state for `load`."""
        return {
            "reports": self._reports.to_state(),
            "tree": self._tree.to_state(),
            "caption": self._caption,
            "lost": self._is_lost,
            "first": self._first,
            "header": list(self._texts),
            "upper": " ".join(self._upper),
        }

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a rule, a name, a time or a row."""
        text = line.text
        if not text.strip(" \t"):
            return LineKind.IGNORED
        if RULE.issuperset(text):
            return LineKind.HEADER
        layout = self.layout
        if layout.ignored is not None and layout.ignored.fullmatch(text):
            return LineKind.IGNORED
        if len(text) <= MAX_HEADER_LENGTH:
            if self._take_header(text):
                assert self._header is not None
                self._first = ""
                self._see(f"header {self._caption} {' '.join(self._header.columns)}")
                self._upper = ()
                return LineKind.HEADER
            if self._take_upper(text):
                return LineKind.HEADER
            if layout.caption is not None and (caption := layout.caption.fullmatch(text)):
                self._caption = caption["name"]
                return LineKind.HEADER
            if (":" in text or " " not in text.strip(" \t")) and (stamp := parse_time_line(text)) is not None:
                self.see_stamp(stamp)
                self._reports.close()
                return LineKind.TIMESTAMP
        return self._take_values(line)

    def _take_values(self, line: Line) -> Outcome:
        """Return a row, under its header or without any."""
        text = line.text
        if "\t" in text and (self._header is None or self._first) and (found := self._take_unheaded(text)) is not None:
            return found if isinstance(found, Rejected) else self._take_row(found, line)
        if self._header is None:
            return Rejected("a line before any header")
        return self._take_row(self._header, line)

    def _take_unheaded(self, text: str) -> WideHeader | Rejected | None:
        """Return the header of a row of words separated by tabs, which comes without one. Missing: None for any other line.

        Nothing is indented there. The first name of a report begins the next; another that comes again could belong to any pool.
        """
        words = [word.strip(" ") for word in text.strip("\n").split("\t")]
        table = next((table for table in self.layout.tables if table.unheaded and len(table.unheaded) == len(words)), None)
        if table is None or not all(word == ABSENT or NUMBER_LIKE.match(word) for word in words[1:]):
            return None
        name = f"root {words[0]}"
        if name in self._reports.seen and words[0] != self._first:
            return Rejected(
                f"{shorten(words[0], 40)} came already in this report: without a header nothing says what it belongs to"
            )
        if self._header is None and not self._take_header(" ".join(table.unheaded)):
            return None
        if not self._reports.is_open or not self._first:
            self._first = words[0]
        return self._header

    def _see(self, name: str) -> None:
        if self._reports.see(name):
            self.begin_report()
            self._tree.clear()

    def _take_upper(self, text: str) -> bool:
        words = split_words(text)
        present = set(words)
        if len(words) <= MAX_COLUMNS and any(table.upper and table.upper <= present for table in self.layout.tables):
            self._upper = tuple(words)
            return True
        return False

    def _take_header(self, text: str) -> bool:
        """Make the line the present header, if it is one."""
        words = split_words(text)
        is_by_comma = len(words) == 1 and text.count(COMMA) >= MIN_BY_COMMA - 1
        if is_by_comma:
            words = text.strip(" \t").split(COMMA)
        present = set(words)
        for table in self.layout.tables:
            if len(words) <= MAX_COLUMNS and all(needed & present for needed in table.header):
                header = self._build(table, words, len(text) - len(text.lstrip(" ")), is_by_comma=is_by_comma)
                if header is not None:
                    self._header = header
                    self._texts = (text.rstrip(" \t"), " ".join(self._upper))
                    return True
        return False

    def _build(self, table: WideTable, words: list[str], indent: int, *, is_by_comma: bool) -> WideHeader | None:
        columns, upper = tuple(words), self._upper or table.implied
        groups: tuple[str, ...] = ()
        names: tuple[str, ...] = ()
        if table.sides:
            names = upper[1::3]
            if columns != table.sides_header * len(names) or len(upper) != 3 * len(names):
                return None
        elif table.join == "words":
            if len(upper) != len(columns):
                return None
            columns = tuple(f"{above} {below}" for above, below in zip(upper, columns, strict=True))
        elif table.join == "spans":
            n_named = len([word for word in columns if word in table.instance or word in table.labels])
            found = table.groups(self._upper, len(columns) - n_named)
            if found is None:
                return None
            groups = ("",) * n_named + tuple(found)
        stat = self.stat(table.stat)
        documented = {name for field in stat.fields for name in (field.column, *field.aliases)}
        text_columns = {*table.instance, table.clock} - documented | table.labels
        value_at = tuple(at for at, column in enumerate(columns) if column not in text_columns)
        return WideHeader(table, columns, groups, names, indent, is_by_comma, value_at)

    def _take_row(self, header: WideHeader, line: Line) -> Outcome:
        table = header.table
        words = line.text.strip(" \t").split(COMMA) if header.is_by_comma else split_words(line.text)
        if table.sides:
            return self._take_sides(header, words, line)
        if table.clock and "#" in words:
            # cpustat: the name of the set of counters stands after them.
            words = words[: words.index("#")]
        found = _fit(header, words)
        if isinstance(found, Rejected):
            return found
        name, words = found
        time_us = None
        if table.clock in header.columns:
            time_us = self._clock_us(words[header.columns.index(table.clock)])
            if time_us is None:
                return Rejected(f"{shorten(words[0], 40)} is not a time")
        names = [words[at] for at, column in enumerate(header.columns) if column in table.instance]
        instance = "/".join([*(word for word in names if word != ABSENT), *name])
        if len(instance) > MAX_NAME_LENGTH:
            return Rejected(f"a name of {len(instance)} characters")
        values = [words[at] for at in header.value_at]
        if table.is_tree:
            return self._take_leaf(header, instance, values, line)
        if table.is_captioned and self._caption:
            instance = f"{self._caption} {instance}"
        self._see(f"{table.stat} {instance}")
        return self._add(header, values, instance + table.suffix, time_us, line.offset)

    def _take_leaf(self, header: WideHeader, name: str, values: list[str], line: Line) -> Outcome:
        """Return a row of a tree, or the name of a part of it."""
        indent = len(line.text) - len(line.text.lstrip(" "))
        if name in header.table.sections and all(word in header.table.missing for word in values):
            self._tree.open_section(name, indent)
            return LineKind.HEADER
        if self._is_lost and indent > header.indent:
            return Rejected("what this belongs to was lost")
        self._is_lost = False
        return self._add(header, values, self._place(name, indent), None, line.offset)

    def _place(self, name: str, indent: int) -> str:
        """Return the name in the tree; one that has nothing above it and was there already begins a new report."""
        if self._tree.is_root(indent):
            self._see(f"root {name}")
        elif not self._reports.is_open:
            self._see(f"leaf {name}")
        return self._tree.place(name, indent)

    def _take_sides(self, header: WideHeader, words: Sequence[str], line: Line) -> Outcome:
        n_columns = len(header.columns) // len(header.names)
        if len(words) != len(header.columns):
            return Rejected(f"{len(words)} values for {len(header.columns)} columns")
        if not all(word.isascii() and word.isdigit() for word in words):
            return Rejected("a word that is not a number")
        self._see(f"{header.table.stat} {header.names[0]}")
        for number, name in enumerate(header.names):
            some = words[number * n_columns : (number + 1) * n_columns]
            found = self._add(header, some, name, None, line.offset)
            if not isinstance(found, LineKind):
                return found
        return self._kind(header.table)

    def _kind(self, table: WideTable) -> LineKind:
        is_first = self._reports.is_first and self.layout.since_boot == "first" and not self.omits_since_boot
        is_since_boot = is_first and not table.has_counters
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE

    def _add(self, header: WideHeader, words: Sequence[str], instance: str, time_us: int | None, offset: int) -> Outcome:
        table = header.table
        kind = self._kind(table)
        columns: Sequence[str] | Sequence[tuple[str, str]] = table.sides or [header.columns[at] for at in header.value_at]
        if header.groups:
            columns = [(header.groups[at], header.columns[at]) for at in header.value_at]
        reason = self.add_row(
            self.stat(table.stat),
            columns,
            words,
            instance=instance,
            time_us=time_us if time_us != NO_TIME else None,
            offset=offset,
            missing=table.missing | {""},
            is_since_boot=kind is LineKind.SINCE_BOOT,
        )
        return reason or kind

    def _clock_us(self, word: str) -> int | None:
        """Return the instant that a clock, an epoch or the seconds since the tool began mean. Missing: None when the word is no
        time.
        """
        clock = take_clock([word])
        if clock is not None and clock.is_epoch:
            return self.timeline.stamp_us(Timestamp(clock.seconds, is_clock_only=False, offset_s=0))
        if clock is not None:
            return self.timeline.clock_us(clock.seconds)
        number = word.replace(COMMA, ".")
        if len(word) > 12 or not word.isascii() or not number.replace(".", "", 1).isdigit():
            return None
        start_us = self.timing.start_us
        return NO_TIME if start_us is None else start_us + round(float(number) * MICRO)


def _fit(header: WideHeader, words: list[str]) -> tuple[list[str], list[str]] | Rejected:
    """Return the name without a header, if there is one, and one word for each column; or the reason why the words do not fit."""
    table = header.table
    n_columns = len(header.columns)
    name: list[str] = []
    if table.name == "first":
        name, words = words[:1], words[1:]
    elif table.name == "last":
        name, words = [" ".join(words[n_columns:])], words[:n_columns]
        if not name[0] or NUMBER_LIKE.match(name[0]):
            return Rejected(f"{len(words) + len(name[0].split())} values for {n_columns} columns and a name")
    words = _join_texts(header, words)
    n_optional = 0
    while n_optional < n_columns and header.columns[-1 - n_optional] in table.optional:
        n_optional += 1
    if n_optional and len(words) == n_columns - n_optional:
        words = [*words, *[""] * n_optional]
    if len(words) != n_columns:
        return Rejected(f"{len(words)} values for {n_columns} columns")
    return name, words


def _join_texts(header: WideHeader, words: list[str]) -> list[str]:
    """Return the words, those of a text that may hold blanks joined; a number among them is a value too many."""
    n_columns = len(header.columns)
    n_more = len(words) - n_columns
    if n_more <= 0:
        return words
    if header.table.has_last_text:
        tail = words[n_columns - 1 :]
        # The number of the zone is a separate column where words are separated by commas.
        text = f"{tail[0]} ({tail[1]})" if header.is_by_comma and n_more == 1 else " ".join(tail)
        if not text[:1].isdigit() or text.endswith(")"):
            return [*words[: n_columns - 1], text]
    if header.table.has_first_text and not any(NUMBER_LIKE.match(word) for word in words[: n_more + 1]):
        return [" ".join(words[: n_more + 1]), *words[n_more + 1 :]]
    return words


JOINT: Final = "/"
# Maximum number of distinct names in one report.
MAX_NAMES: Final = 4096
DEEPEST: Final = 16


class Tree:
    """The names above the present line, each with its indent, and how often each name came in this report."""

    __slots__ = ("_path", "_times")

    def __init__(self, state: object = None) -> None:
        self._path: list[tuple[int, str]] = []
        self._times: dict[str, int] = {}
        if isinstance(state, list) and len(state) == 2:
            self._path = [(int(indent), str(name)) for indent, name in state[0]]
            self._times = {str(name): int(times) for name, times in state[1].items()}

    def to_state(self) -> list[object]:
        """Return the tree as JSON values."""
        return [[[indent, name] for indent, name in self._path], self._times]

    def clear(self) -> None:
        """Start a new report."""
        self._path.clear()
        self._times.clear()

    def is_root(self, indent: int) -> bool:
        """Return whether a name with that indent has no parent."""
        return not self._path or indent <= self._path[0][0]

    def open_section(self, name: str, indent: int) -> None:
        """Open a part of the current tree that has a name but no numbers (the caches of a pool)."""
        del self._path[1:]
        self._path.append((indent + 1, name))

    def place(self, name: str, indent: int) -> str:
        """Return the full name: its parents' names and its own, joined; a number distinguishes equal ones of a report."""
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()
        whole = JOINT.join([*(above for _, above in self._path), name])
        if whole in self._times or len(self._times) < MAX_NAMES:
            times = self._times[whole] = self._times.get(whole, 0) + 1
            if times > 1 and self._path:
                name, whole = f"{name}#{times}", f"{whole}#{times}"
        if len(self._path) < DEEPEST:
            self._path.append((indent, name))
        return whole
