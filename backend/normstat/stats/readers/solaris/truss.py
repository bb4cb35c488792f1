"""truss -c: counts and kernel time of each system call; also signals, faults and library calls.

    syscall               seconds   calls  errors
    read                     .002      31
    open                     .001      12       3
                         --------  ------   ----
    sys totals:              .003      43      3
    usr time:                .004
    elapsed:                 .090

Without errors the column is blank. FreeBSD prints all errors and a line of totals that has no name.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''syscall seconds calls errors
... open .26 2868
... sys totals: 2.09 80316 0
... '''
>>> result = read(require_spec("truss_c"), text, state={}, offset=0)
>>> [(block.stat.name, list(block.instances), block.values[1].tolist()) for block in result.blocks]
[('truss_syscalls', ['open'], [2868]), ('truss_totals', ['sys totals'], [80316])]
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

# Shown by a terminal when a user stops the tool.
INTERRUPT: Final = b"^C"
NAME: Final = r"(?P<name>[^\s\d.][^\n]{0,200}?)"
SECONDS: Final = r"(?P<seconds>\d{0,12}[.,]\d{1,9})"
HEADER: Final = re.compile(r"\s*syscall\s+seconds\s+calls\s+errors\s*")
ROW: Final = re.compile(rf"\s*{NAME}\s+{SECONDS}\s+(?P<calls>\d{{1,18}})(?:\s+(?P<errors>\d{{1,18}}))?\s*", re.ASCII)
TOTALS: Final = re.compile(rf"\s*(?P<name>sys totals):\s+{SECONDS}\s+(?P<calls>\d{{1,18}})\s+(?P<errors>\d{{1,18}})\s*", re.ASCII)
# FreeBSD: no name.
BARE_TOTALS: Final = re.compile(rf"\s*{SECONDS}\s+(?P<calls>\d{{1,18}})\s+(?P<errors>\d{{1,18}})\s*", re.ASCII)
TIMES: Final = re.compile(rf"\s*(?P<name>usr time|elapsed):\s+{SECONDS}\s*", re.ASCII)
RULE: Final = re.compile(r"\s*-{3,}(?:\s+-{3,})*\s*")
SECTION: Final = re.compile(r"\s*(?P<section>signal|fault)s? -{3,}\s*")
COUNT: Final = re.compile(r"\s*(?P<name>[A-Za-z][\w#+-]*|total:)\s+(?P<count>\d{1,18})\s*", re.ASCII)
LIBRARY_HEADER: Final = re.compile(r"\s*Library:\s+Function\s+calls\s*")
LIBRARY_ROW: Final = re.compile(r"\s*(?P<library>\S+)\s+(?P<name>\S+)\s+(?P<count>\d{1,18})\s*", re.ASCII)
MESSAGE: Final = re.compile(r"(?:truss: .*|(?:.{0,200}[#$%>]\s*)?(?:\S*/)?truss .*|\*\*\* process .*)")
LEFT_OUT: Final = re.compile(r"\s*\[?\.\.\.\]?\s*")
LIBRARY: Final = "library"
COLUMNS: Final = ("seconds", "calls", "errors")
NOT_OURS: Final = Rejected("not a line of truss -c")
MAX_LINE: Final = 1000
MAX_REPORT: Final = 65_536


@dataclass(frozen=True)
class TrussLayout(Layout):
    """The stats of system calls and their totals, of other events, and of functions."""

    syscalls: Stat
    totals: Stat
    events: Stat
    functions: Stat


LAYOUT: Final = TrussLayout


class Reader(LineReader[TrussLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the section, whether a report is open, and the names seen in it."""
        layout = self.layout
        self._syscalls, self._totals, self._events, self._functions = (
            layout.syscalls,
            layout.totals,
            layout.events,
            layout.functions,
        )
        self._section = str(own.get("section", ""))
        self._is_open = own.get("is_open") is True
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {"section": self._section, "is_open": self._is_open, "repeats": self._repeats.to_state()}

    def begin_call(self) -> None:
        """Start a new report."""
        self._section, self._is_open = "", False

    def clean(self, line: bytes) -> bytes:
        """Return the line without the terminal's ^C."""
        return line.lstrip().removeprefix(INTERRUPT) if INTERRUPT in line[:40] else line

    def take_line(self, line: Line) -> Outcome:
        """Return the outcome of the line in its section."""
        text = line.text
        if len(text) > MAX_LINE:
            return LineKind.SAMPLE if self._take_one_line(line) else NOT_OURS
        if not text.strip() or RULE.fullmatch(text) is not None or LEFT_OUT.fullmatch(text) is not None:
            return LineKind.IGNORED
        if HEADER.fullmatch(text) is not None:
            return self._begin("syscalls")
        if (found := SECTION.fullmatch(text)) is not None:
            return self._begin(found["section"])
        if LIBRARY_HEADER.fullmatch(text) is not None:
            return self._begin(LIBRARY)
        taken = self._take_row(line) if self._section else NOT_MINE
        return taken or self._take_other(line)

    def _begin(self, section: str) -> LineKind:
        if not self._is_open or section == self._section == "syscalls":
            self.begin_report()
            self._is_open = True
            self._repeats.clear()
        self._section = section
        return LineKind.HEADER

    def _take_row(self, line: Line) -> Claim:
        text, offset = line.text, line.offset
        if self._section == LIBRARY:
            found = LIBRARY_ROW.fullmatch(text)
            return NOT_MINE if found is None else self._add_count(f"{found['library']} {found['name']}", found["count"], offset)
        if self._section != "syscalls":
            found = COUNT.fullmatch(text)
            return (
                NOT_MINE
                if found is None
                else self._add_count(f"{self._section} {found['name'].rstrip(':')}", found["count"], offset)
            )
        if (found := TOTALS.fullmatch(text)) is not None:
            return self._add_total(found["name"], COLUMNS, found, offset)
        if (found := TIMES.fullmatch(text)) is not None:
            kind = self._add_total(found["name"], COLUMNS[:1], found, offset)
            if found["name"] == "elapsed":
                self.begin_call()
            return kind
        if (found := BARE_TOTALS.fullmatch(text)) is not None:
            return self._add_total("total", COLUMNS, found, offset)
        found = ROW.fullmatch(text)
        if found is None:
            return NOT_MINE
        return self._add_syscall(found["name"], found["seconds"], found["calls"], found["errors"] or "", offset)

    def _add_syscall(self, name: str, seconds: str, calls: str, errors: str, offset: int) -> Outcome:
        reason = self.add_row(self._syscalls, COLUMNS, [seconds, calls, errors], instance=self._repeats.name(name), offset=offset)
        return reason or LineKind.SAMPLE

    def _add_total(self, name: str, columns: tuple[str, ...], found: re.Match[str], offset: int) -> Outcome:
        words = [found[column] for column in columns]
        return self.add_row(self._totals, columns, words, instance=name, offset=offset) or LineKind.SAMPLE

    def _add_count(self, name: str, count: str, offset: int) -> Outcome:
        if self._section == LIBRARY:
            reason = self.add_row(self._functions, ("calls",), [count], instance=self._repeats.name(name), offset=offset)
        else:
            reason = self.add_row(self._events, ("count",), [count], instance=self._repeats.name(name), offset=offset)
        return reason or LineKind.SAMPLE

    def _take_other(self, line: Line) -> Outcome:
        if self.see_time_line(line.text):
            self.begin_call()
            return LineKind.TIMESTAMP
        if self._take_one_line(line):
            return LineKind.SAMPLE
        return LineKind.IGNORED if MESSAGE.fullmatch(line.text.strip()) is not None else NOT_OURS

    def _take_one_line(self, line: Line) -> bool:
        """Return a whole report on one line, as in mails and web pages: only if every word fits."""
        is_report = len(line.text) <= MAX_REPORT and "syscall seconds calls errors" in line.text
        words = line.text.split() if is_report else []
        if not words:
            return False
        at = words.index("seconds") + 3
        rows: list[tuple[str, str, str, str]] = []
        while at + 2 < len(words) and RULE.fullmatch(words[at]) is None:
            n_words = 4 if at + 3 < len(words) and words[at + 3].isdecimal() else 3
            row = ROW.fullmatch(" ".join(words[at : at + n_words]))
            if row is None or " " in row["name"]:
                return False
            rows.append((row["name"], row["seconds"], row["calls"], row["errors"] or ""))
            at += n_words
        tail = ONE_LINE_TAIL.fullmatch(" ".join(words[at:]))
        if tail is None:
            return False
        self._begin("syscalls")
        for row_words in rows:
            self._add_syscall(*row_words, line.offset)
        for part in tail.group("totals", "user", "elapsed"):
            found = TOTALS.fullmatch(part) or TIMES.fullmatch(part)
            assert found is not None
            columns = COLUMNS if found.re is TOTALS else COLUMNS[:1]
            self._add_total(found["name"], columns, found, line.offset)
        self.begin_call()
        return True


ONE_LINE_TAIL: Final = re.compile(
    r"(?:-{3,} ){1,3}(?P<totals>sys totals: \d{0,12}\.\d{1,9} \d{1,18} \d{1,18}) (?P<user>usr time: \d{0,12}\.\d{1,9})"
    r" (?P<elapsed>elapsed: \d{0,12}\.\d{1,9})",
    re.ASCII,
)
