"""iostat of Solaris without -x: disks side by side, terminals before them, the CPU's shares after them.

   tty        sd0           sd1           cpu
 tin tout kps tps serv  kps tps serv  us sy dt id
   0  234   5   1   12    0   0    0   2  1  0 97

Keys of `[layout]`:
    host, side   the stats of the whole host, and of the columns side by side
    lead, tail   the word above the columns before and after ("tty", "cpu")
    before       the columns before ("tin", "tout")
    behind       the columns after ("us", "sy", "wt|dt|st" for either, "id")
    sides        the columns of one side, one list for each form of call
    messages     regular expression of lines that announce a change; the report after one covers the time since boot again

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> result = read(require_spec("iostat_default_solaris"), excerpt, state={}, offset=0, is_final=True)
>>> sorted((block.stat.name, block.instances, block.values[0].tolist()) for block in result.since_boot)
[('iostat_solaris_disk', ['sd0', 'sd1'], [5, 0]), ('iostat_solaris_host', [''], [0])]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.comma_lines import blank_commas
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_order import Reports, reports_after_gap
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import split_words
from normstat.stats.layout import NON_EMPTY, Alternatives
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

# The name of a disk; one without a number ("rpool") is only taken between the words above the other columns.
DISK: Final = re.compile(r"[A-Za-z][\w.,/:@-]{0,100}", re.ASCII)
NUMBERED: Final = re.compile(r"[A-Za-z][A-Za-z_.,-]*\d[\w.,/:@-]{0,100}", re.ASCII)
MAX_COLUMNS: Final = 512
NUMBER: Final = re.compile(r"-?\d{1,15}(?:[.,]\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class SideBySideLayout(Layout):
    """The columns and the titles above them; the module's docstring explains the keys."""

    host: Stat
    side: Stat
    lead: str
    tail: str
    before: tuple[str, ...]
    behind: tuple[Alternatives, ...]
    sides: tuple[Annotated[tuple[str, ...], NON_EMPTY], ...]
    messages: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Which columns the rows have: those before, those of each side, how many sides, those after."""

    before: tuple[str, ...]
    side: tuple[str, ...]
    n_sides: int
    behind: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.before) + len(self.side) * self.n_sides + len(self.behind)


LAYOUT: Final = SideBySideLayout


class Reader(LineReader[SideBySideLayout]):
    """One call of the reader: `_names` are those of the line above the present header or the next one."""

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._messages = self.layout.messages
        self._reports = Reports(own.get("reports"))
        # No option suppresses the report about the time since boot that follows a change.
        self._is_changed = own.get("changed") is True
        self._names = texts_of(own.get("names"))
        self._are_names_new = own.get("new") is True
        self._header = texts_of(own.get("header"))
        self._shape = self._find_columns(self._header)

    def load_after_gap(self, own: State) -> None:
        """Keep the header; the first report is over."""
        self.load(own)
        self._reports = reports_after_gap(own.get("reports"))

    def save(self) -> State:
        """Return the state for `load`."""
        own: State = {"reports": self._reports.to_state(), "changed": self._is_changed}
        return own | {"names": self._names, "new": self._are_names_new, "header": self._header}

    def clean(self, line: bytes) -> bytes:
        """Return the line with blanks between its cells: option -r prints commas."""
        return blank_commas(line)

    def take_line(self, line: Line) -> Outcome:
        """Return names, a header, a time, a message or a row."""
        text = line.text
        if not text.strip(" \t"):
            return LineKind.IGNORED
        if self._messages.fullmatch(text):
            self._reports, self._is_changed = Reports(), True
            return LineKind.STATE_CHANGE
        words = split_words(text)
        if len(words) > MAX_COLUMNS:
            return Rejected(f"{len(words)} values")
        shape = self._find_columns(words)
        if shape is not None:
            self._shape, self._header = shape, words
            # The names above another header are not the names of these.
            is_named = self._are_names_new and len(self._names) == shape.n_sides
            self._names = self._names if is_named else [str(number) for number in range(shape.n_sides)]
            self._are_names_new = False
            return LineKind.HEADER
        if self._take_names(words):
            return LineKind.HEADER
        stamp = parse_time_line(text)
        if stamp is not None:
            self.see_stamp(stamp)
            self._reports.close()
            return LineKind.TIMESTAMP
        return self._take_row(words, line.offset)

    def _find_columns(self, words: Sequence[str]) -> RowColumns | None:
        """Return the columns of a header. Missing: None when the words are not a header, or not one with sides."""
        layout = self.layout
        before = layout.before if tuple(words[: len(layout.before)]) == layout.before else ()
        rest = list(words[len(before) :])
        behind = tuple(rest[-len(layout.behind) :])
        if len(behind) != len(layout.behind) or not all(word in some for word, some in zip(behind, layout.behind, strict=True)):
            behind = ()
        middle = rest[: len(rest) - len(behind)]
        for side in layout.sides:
            n_sides, left = divmod(len(middle), len(side))
            if n_sides and not left and middle == list(side) * n_sides:
                return RowColumns(before, side, n_sides, behind)
        return None

    def _take_names(self, words: list[str]) -> bool:
        has_lead, has_tail = words[0] == self.layout.lead, words[-1] == self.layout.tail
        names = words[has_lead : len(words) - has_tail]
        pattern = DISK if has_lead or has_tail else NUMBERED
        if not all(pattern.fullmatch(name) for name in names):
            return False
        self._names, self._are_names_new = names, True
        return True

    def _take_row(self, words: list[str], offset: int) -> Outcome:
        shape = self._shape
        if shape is None:
            return Rejected("a line before any header")
        if len(words) != len(shape):
            return Rejected(f"{len(words)} values for {len(shape)} columns")
        wrong = next((word for word in words if NUMBER.fullmatch(word) is None), None)
        if wrong is not None:
            return Rejected(f"{wrong[:40]!r} is not a number")
        # One row is a whole report: a second one begins the next.
        if self._reports.see("row"):
            self.begin_report()
        self._is_changed = self._is_changed and self._reports.is_first
        is_since_boot = self._reports.is_first and (self._is_changed or not self.omits_since_boot)
        n_before, n_side = len(shape.before), len(shape.side)
        rows = []
        if shape.before or shape.behind:
            behind = words[len(words) - len(shape.behind) :] if shape.behind else []
            rows.append((self.layout.host, (*shape.before, *shape.behind), [*words[:n_before], *behind], ""))
        for number, name in enumerate(self._names):
            begin = n_before + number * n_side
            rows.append((self.layout.side, shape.side, words[begin : begin + n_side], name))
        for stat, columns, some, instance in rows:
            reason = self.add_row(stat, columns, some, instance=instance, offset=offset, is_since_boot=is_since_boot)
            if reason is not None:
                return reason
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE
