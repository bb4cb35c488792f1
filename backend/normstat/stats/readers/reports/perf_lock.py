"""`perf lock report` and `perf lock contention`: how often locks were acquired, and how long threads waited for them.

     contended   total wait     max wait     avg wait         type   caller

             2     27.49 us     15.86 us     13.74 us     spinlock   raw_spin_rq_lock_nested+0x1b

Times are a number and its unit, or plain nanoseconds: under a header with (ns), and with -x. All are stored in nanoseconds.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b''' contended   total wait     avg wait          pid   comm
...       146     63.42 us       434 ns           -1   Unknown
... '''
>>> (block,) = read(require_spec("perf_lock"), text, state={}, offset=0).blocks
>>> block.stat.name, block.instances, [column.tolist() for column in block.values]
('perf_lock_contention', ['-1 Unknown'], [[146], [63420], [434]])
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

COUNTS: Final = ("acquired", "contended")
COLUMN: Final = r"(?:acquired|contended|(?:total|max|min|avg) wait(?: \(ns\))?)"
COLUMNS: Final = re.compile(COLUMN)
REPORT_HEADER: Final = re.compile(rf"\s*Name((?:\s+{COLUMN})+)\s*")
# The instance of a contention row follows its numbers.
CONTENTION_HEADER: Final = re.compile(
    rf"\s*({COLUMN}(?:\s+{COLUMN})*)\s+(type\s+caller|pid\s+comm|pid\s+owner|address\s+symbol|cgroup)\s*"
)
SEPARATED_HEADER: Final = re.compile(r"# output: (?P<first>[a-z]+(?: [a-z]+)?)(?P<separator>\S) (?P<rest>.+)")
TIME: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
WHOLE: Final = re.compile(r"\d{1,19}", re.ASCII)
NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
# With -v the stack of each caller is printed below it.
FRAME: Final = re.compile(r"\s*0x[0-9a-f]{1,16}\s+\S.*")
MESSAGE: Final = re.compile(
    r"(?:=== output for debug ?===|bad: \d+, total: \d+|bad rate: \d.*|histogram of .*|[a-z]+: \d+|# debug: .*"
    r"|(?:.{0,200}[#$%>]\s*)?(?:\S*/)?perf lock .*|\[ ?perf record: .*|Warning:.*|\[?\.\.\.\]?)"
)
MAX_LINE: Final = 1000


@dataclass(frozen=True)
class PerfLockLayout(Layout):
    """The stats of `perf lock report` and `perf lock contention`."""

    report: Stat
    contention: Stat


LAYOUT: Final = PerfLockLayout


class Reader(LineReader[PerfLockLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the columns, what a row is about ("" for a report), the separator and the names seen."""
        self._report, self._contention = self.layout.report, self.layout.contention
        self._columns = texts_of(own.get("columns"))
        self._subject = str(own.get("subject", ""))
        self._separator = str(own.get("separator", ""))
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "columns": self._columns,
            "subject": self._subject,
            "separator": self._separator,
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new report."""
        self._columns = []

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a row, or a message of perf."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of perf lock")
        if self._take_header(text):
            return LineKind.HEADER
        if MESSAGE.fullmatch(text.strip()) is not None or (self._subject and FRAME.fullmatch(text) is not None):
            return LineKind.IGNORED
        if self._columns:
            taken = self._take_separated(line) if self._separator else self._take_row(line)
            if taken:
                return taken
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return Rejected("not a line of perf lock")

    def _take_header(self, text: str) -> bool:
        separator = subject = ""
        if (found := REPORT_HEADER.fullmatch(text)) is not None:
            columns = COLUMNS.findall(found[1])
        elif (found := CONTENTION_HEADER.fullmatch(text)) is not None:
            columns, subject = COLUMNS.findall(found[1]), " ".join(found[2].split())
        elif (found := SEPARATED_HEADER.fullmatch(text)) is not None:
            separator = found["separator"]
            names = [found["first"], *(name.strip() for name in found["rest"].split(separator))]
            columns = [name for name in names if COLUMNS.fullmatch(name)]
            subject = " ".join(names[len(columns) :])
            if names[: len(columns)] != columns or not subject:
                return False
        else:
            return False
        if len(set(columns)) != len(columns):
            return False
        self._columns, self._subject, self._separator = columns, subject, separator
        self.begin_report()
        self._repeats.clear()
        return True

    def _take_row(self, line: Line) -> Claim:
        words = line.text.split()
        numbers: list[str] = []
        if self._subject:
            at = 0
            for column in self._columns:
                word, n_words = _number(column, words[at : at + 2])
                numbers.append(word)
                at += n_words
            rest = words[at:]
        else:
            # The name may have blanks: from the right.
            rest = words
            for column in reversed(self._columns):
                has_unit = len(rest) > 1 and rest[-1] in NANOSECONDS and column not in COUNTS
                word, n_words = _number(column, rest[-2:] if has_unit else rest[-1:])
                numbers.insert(0, word)
                rest = rest[: len(rest) - n_words]
        if not all(numbers):
            return NOT_MINE if not any(numbers) else Rejected(f"not {len(self._columns)} numbers as in the header")
        return self._add(numbers, rest, line.offset)

    def _take_separated(self, line: Line) -> Claim:
        parts = [part.strip() for part in line.text.split(self._separator)]
        numbers = [_number(column, [part])[0] for column, part in zip(self._columns, parts, strict=False)]
        if not any(numbers):
            return NOT_MINE
        if not all(numbers) or len(numbers) < len(self._columns):
            return Rejected(f"not {len(self._columns)} numbers as in the header")
        rest = parts[len(numbers) :]
        if self._subject.startswith("address symbol type") and len(rest) == 3:
            rest[2] = f"({rest[2]})"
        # With -v a stack follows.
        n_parts = 3 if self._subject.startswith("address") else 2
        return self._add(numbers, " ".join(rest[:n_parts]).split(), line.offset)

    def _add(self, numbers: list[str], rest: list[str], offset: int) -> Outcome:
        if not rest:
            return Rejected("no name")
        if self._subject.startswith("type") and len(rest) > 1:
            rest = [*rest[1:], f"({rest[0]})"]
        stat = self._contention if self._subject else self._report
        name = self._repeats.name(" ".join(rest))
        return self.add_row(stat, self._columns, numbers, instance=name, offset=offset) or LineKind.SAMPLE


def _number(column: str, words: list[str]) -> tuple[str, int]:
    """Return the number of a column as a whole number (times in nanoseconds), and how many words it takes. Missing: "" when it
    is none.
    """
    if not words or TIME.fullmatch(words[0]) is None:
        return "", 1
    unit = NANOSECONDS.get(words[1]) if len(words) > 1 and column not in COUNTS and "(ns)" not in column else None
    if unit is not None:
        return str(round(Decimal(words[0]) * unit)), 2
    return (words[0], 1) if WHOLE.fullmatch(words[0]) else ("", 1)
