"""strace -c and ltrace -c: system or library calls with their times, counts and errors.

    % time     seconds  usecs/call     calls    errors syscall
    ------ ----------- ----------- --------- --------- ----------------
     45.85    0.000414         207         2           getdents64
      2.66    0.000024          12         2         2 statfs
    ------ ----------- ----------- --------- --------- ----------------
    100.00    0.000903          11        76         6 total

Without errors that column is blank; releases before 5.8 (and ltrace) leave usecs/call of the totals blank as well. The position of
the numbers under the rule shows which one is blank or, if blanks were squeezed, the sums of the rows above.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''% time seconds usecs/call calls errors syscall
... 45.85 0.000414 207 2 getdents64
... 100.00 0.000903 2 0 total
... '''
>>> result = read(require_spec("strace_c"), text, state={}, offset=0)
>>> [(block.instances[0], [field.column for field in block.fields], block.missing[-1]) for block in result.blocks]
[('getdents64', ['% time', 'seconds', 'usecs/call', 'calls', 'errors'], array([ True])), ('total', ['% time', 'seconds', 'usecs/call', 'calls', 'errors'], None)]
"""  # noqa: E501 (a doctest)

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

INTERRUPT: Final = b"^C"
RULE: Final = re.compile(r"\s*-{3,}(?:\s+-{3,})*\s*")
DASHES: Final = re.compile(r"-+")
WORD: Final = re.compile(r"\S+")
PERSONALITY: Final = re.compile(r"\s*System call usage summary for (?P<mode>.{1,40}) mode:\s*")
LEFT_OUT: Final = re.compile(r"\s*\[?\.\.\.\]?\s*")
MESSAGE: Final = re.compile(
    r"(?:[sl]trace: .*|(?:.{0,200}[#$%>]\s*)?(?:\S*/)?[sl]trace .*|Process \d+ (?:attached|detached|resumed|suspended).*"
    r"|\+\+\+ exited .*)"
)
SHARE: Final = "% time"
CALLS: Final = "calls"
ERRORS: Final = "errors"
MEAN: Final = "usecs/call"
TOTAL: Final = "total"
NO_VALUE: Final = ""
# Old releases divided 0 by 0.
MISSING: Final = frozenset({NO_VALUE, "nan", "-nan"})
NOT_OURS: Final = Rejected("not a line of this tool's table of calls")
MAX_LINE: Final = 1000
MAX_COLUMNS: Final = 16


@dataclass(frozen=True)
class StraceLayout(Layout):
    """The stats of calls and of their totals, and the column that names a call."""

    calls: Stat
    totals: Stat
    column: str


LAYOUT: Final = StraceLayout


class Reader(LineReader[StraceLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the columns and their right ends, sums of the rows so far, and the names seen."""
        self._name = self.layout.column
        self._calls, self._totals = self.layout.calls, self.layout.totals
        self._known = {field.column for field in self._calls.fields} | {self._name}
        spans = own.get("spans")
        self._columns = texts_of(own.get("columns"))
        self._spans = [(int(begin), int(end)) for begin, end in spans] if isinstance(spans, list) else []
        self._sums = (int(str(own.get("n_calls", 0))), int(str(own.get("n_errors", 0))))
        self._mode = str(own.get("mode", ""))
        self._is_titled = own.get("is_titled") is True
        self._n_rules = int(str(own.get("n_rules", 0)))
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "columns": self._columns,
            "spans": [list(span) for span in self._spans],
            "n_calls": self._sums[0],
            "n_errors": self._sums[1],
            "mode": self._mode,
            "is_titled": self._is_titled,
            "n_rules": self._n_rules,
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new report."""
        self._columns, self._spans, self._is_titled = [], [], False

    def clean(self, line: bytes) -> bytes:
        """Return the line without the terminal's ^C."""
        return line.lstrip().removeprefix(INTERRUPT) if INTERRUPT in line[:40] else line

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a rule, a row, or a message of the tool."""
        text = line.text
        if len(text) > MAX_LINE:
            return NOT_OURS
        if not text.strip() or LEFT_OUT.fullmatch(text) is not None:
            return LineKind.IGNORED
        if RULE.fullmatch(text) is not None:
            spans = [found.span() for found in DASHES.finditer(text)]
            self._spans = spans if len(spans) == len(self._columns) else []
            self._n_rules += 1
            return LineKind.IGNORED
        if self._take_header(text):
            return LineKind.HEADER
        taken = self._take_row(line) if self._columns else NOT_MINE
        return taken or self._take_other(line)

    def _take_other(self, line: Line) -> Outcome:
        found = PERSONALITY.fullmatch(line.text)
        if found is not None:
            self._mode, self._is_titled = found["mode"], True
            return LineKind.HEADER
        if self.see_time_line(line.text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return LineKind.IGNORED if MESSAGE.fullmatch(line.text.strip()) is not None else NOT_OURS

    def _take_header(self, text: str) -> bool:
        words = text.split()
        if self._name not in words or CALLS not in words:
            return False
        columns = " ".join(words).replace("% time", "%time").split()
        columns = [SHARE if column == "%time" else column for column in columns]
        if len(columns) > MAX_COLUMNS or not self._known.issuperset(columns) or len(set(columns)) != len(columns):
            return False
        self._columns, self._spans, self._n_rules = columns, [], 0
        self._sums = (0, 0)
        if not self._is_titled:
            # The table of another personality belongs to the report before it, and has a title.
            self._mode = ""
            self.begin_report()
            self._repeats.clear()
        self._is_titled = False
        return True

    def _take_row(self, line: Line) -> Claim:
        words = line.text.split()
        is_total = TOTAL in words and self._n_rules != 1
        placed = self._place(words, line.text, is_total=is_total)
        if placed is None:
            is_number = bool(words) and words[0].replace(".", "", 1).isdecimal()
            return Rejected(f"{len(words)} words under a header of {len(self._columns)} columns") if is_number else NOT_MINE
        name = placed.pop(self._name)
        numbers = {column: placed.get(column, NO_VALUE) for column in self._columns if column != self._name}
        instance = self._repeats.name(f"{name} ({self._mode} mode)" if self._mode else name)
        stat = self._totals if is_total else self._calls
        reason = self.add_row(stat, list(numbers), list(numbers.values()), instance=instance, offset=line.offset, missing=MISSING)
        if is_total:
            self._columns = []
        elif reason is None:
            self._sums = (self._sums[0] + _count(numbers.get(CALLS)), self._sums[1] + _count(numbers.get(ERRORS)))
        return reason or LineKind.SAMPLE

    def _place(self, words: list[str], text: str, *, is_total: bool) -> dict[str, str] | None:
        """Return which word belongs to which column. Missing: None when that is unclear."""
        n_blank = len(self._columns) - len(words)
        if n_blank == 0:
            return dict(zip(self._columns, words, strict=True))
        blank = {ERRORS, MEAN} if is_total else {ERRORS}
        can_be_blank = blank & set(self._columns)
        if n_blank < 0 or n_blank > len(can_be_blank):
            return None
        if n_blank == len(can_be_blank):
            return dict(zip([column for column in self._columns if column not in can_be_blank], words, strict=True))
        places = self._by_place(text)
        if places is not None:
            return places if {self._name, CALLS} <= places.keys() else None
        for column in (MEAN, ERRORS):
            placed = dict(zip([other for other in self._columns if other != column], words, strict=True))
            sums = (_count(placed.get(CALLS)), _count(placed.get(ERRORS)))
            if sums == self._sums and sums[0]:
                return placed
        return None

    def _by_place(self, text: str) -> dict[str, str] | None:
        """Return whether numbers end where the dashes of their column end, and names begin where those of theirs begin."""
        placed: dict[str, str] = {}
        for found in WORD.finditer(text):
            at = [
                column
                for column, (begin, end) in zip(self._columns, self._spans, strict=False)
                if (found.start() == begin if column == self._name else found.end() == end)
            ]
            if len(at) != 1 or at[0] in placed:
                return None
            placed[at[0]] = found[0]
        return placed or None


def _count(word: str | None) -> int:
    return int(word) if word and len(word) < 19 and word.isascii() and word.isdigit() else 0
