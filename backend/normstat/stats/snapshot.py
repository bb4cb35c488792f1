"""What the readers of snapshots share: files of /proc and tools that print the present state, recorded again and again.

A snapshot ends where its first key comes again, and before a line that is a time, a call of the tool or the name of a file:

    Sat Nov 21 12:00:01 UTC 2026
    zzz ***Sat Nov 21 12:00:01 UTC 2026
    ==> /proc/pressure/cpu <==
    [root@db1 ~]# cat /proc/meminfo
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from normstat.errors import shorten
from normstat.stats.formats import read_number
from normstat.stats.lines import ABSENT, Line, LineReading
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Stat
from normstat.stats.stamp import parse_stamp

FILE_LINE: Final = re.compile(r"==> (?P<file>\S[^<>]{0,300}) <==")
PROMPT: Final = re.compile(
    r"(?:\[?[\w.-]{1,40}@[^#$%>]{1,100}[#$%>]|(?:[\w.-]{1,40}(?: [\w/~.-]{1,60})?)?[#$])\s*(?P<command>\S.{0,300})", re.ASCII
)
PATH: Final = re.compile(r"/(?:proc|sys)/[\w./:@-]+")
# A sample of more columns than these is no tool's.
MAX_GATHERED: Final = 4096
NO_WORDS: Final = frozenset({ABSENT, ""})


@dataclass(slots=True)
class Gathered:
    """A row whose values stand in several lines; `offset` is the first of them."""

    instance: str
    offset: int
    time_us: int
    columns: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def to_state(self) -> list[object]:
        """What `from_state` takes."""
        return [self.instance, self.offset, self.time_us, self.columns, self.words]


def gathered_from_state(state: object) -> Gathered | None:
    """What to_state gave. Missing: None when the state is none."""
    if not isinstance(state, list) or len(state) != 5:
        return None
    instance, offset, time_us, columns, words = state
    if not isinstance(columns, list) or not isinstance(words, list) or len(columns) != len(words):
        return None
    return Gathered(str(instance), int(offset), int(time_us), [str(item) for item in columns], [str(item) for item in words])


class SnapshotReading(LineReading):
    """A LineReading that knows lines of time, prompts and names of files, and gathers rows of many lines.

    A reader writes `take_data`, and may write `take_blank` and `see_file`; it calls `want_report` before it adds the first row of a
    snapshot, and `gather` for values that come line by line.
    """

    n_reports: int
    file: str

    def load(self, own: State) -> None:
        """Takes up the state; readers with more state call it first."""
        n_reports = own.get("reports")
        # How many reports this call of the tool has made so far, as far as it matters: 0, 1 or 2.
        self.n_reports = n_reports if isinstance(n_reports, int) else 0
        self._is_begun = own.get("begun") is True
        # The file that was named last, "" for none.
        self.file = str(own.get("file", ""))
        self._gathered: dict[str, Gathered] = {}
        rows = own.get("gathered")
        for name, row in rows.items() if isinstance(rows, dict) else ():
            found = gathered_from_state(row)
            if found is not None and str(name) in self._stats:
                self._gathered[str(name)] = found

    def save(self) -> State:
        """The state; readers with more state add theirs."""
        rows = {name: row.to_state() for name, row in self._gathered.items()}
        return {"reports": self.n_reports, "begun": self._is_begun, "file": self.file, "gathered": rows}

    # What a reader says.

    def take_data(self, line: Line, text: str) -> LineKind | str | None:
        """What the line is to the tool, a reason why it cannot be read, or None when it is none of its lines."""
        raise NotImplementedError

    def take_blank(self) -> None:
        """A blank line came."""

    def see_file(self, path: str) -> None:
        """The lines that come are from this file."""

    # What a reader uses.

    def want_report(self) -> None:
        """A row comes: it is of the present report, or begins one."""
        if not self._is_begun:
            self.begin_report()
            self._is_begun = True
            self.n_reports = min(self.n_reports + 1, 2)

    @property
    def stamped_us(self) -> int:
        """The instant that the next report was stamped with. Missing: NO_TIME when it was not."""
        return self._base_us if self._is_stamp_new else NO_TIME

    def see_instant(self, time_us: int) -> None:
        """The next report was made at this instant."""
        self._base_us, self._n_since, self._is_stamp_new = time_us, 0, True

    def end_report(self) -> None:
        """What was gathered is whole; what comes is another report."""
        self.flush()
        self._is_begun = False

    def gather(self, stat: Stat, columns: Sequence[str], words: Sequence[str], *, offset: int, instance: str = "") -> str | None:
        """Puts values to the row of that stat that is being gathered. A column that is there already begins the next report.

        Missing: None when all is well, else the reason why the line cannot be taken.
        """
        refused = self.refusal(stat, columns, words)
        row = self._gathered.get(stat.name)
        if refused is not None or (row is not None and len(row.columns) + len(columns) > MAX_GATHERED):
            return refused or f"more than {MAX_GATHERED} values in one sample"
        if row is not None and row.instance != instance:
            self.flush(stat.name)
            row = None
        if row is not None and not set(row.columns).isdisjoint(columns):
            self.end_report()
            row = None
        if row is None:
            self.want_report()
            row = self._gathered[stat.name] = Gathered(instance, offset, self.report_us)
        row.columns.extend(columns)
        row.words.extend(words)
        return None

    def is_gathering(self, name: str) -> bool:
        """Whether a row of that stat is being gathered."""
        return name in self._gathered

    def flush(self, name: str | None = None) -> None:
        """Adds the rows that were gathered, all or that of one stat."""
        for stat_name in [name] if name is not None else list(self._gathered):
            row = self._gathered.pop(stat_name, None)
            if row is not None:
                self.add_gathered(self.stat(stat_name), row)

    def add_gathered(self, stat: Stat, row: Gathered) -> None:
        """Adds a row that is whole. Its words were checked when they came."""
        self.add_row(stat, row.columns, row.words, instance=row.instance, time_us=row.time_us, offset=row.offset)

    def refusal(self, stat: Stat, columns: Sequence[str], words: Sequence[str]) -> str | None:
        """The reason why a row with these words cannot be added. Missing: None when it can."""
        for column, word in zip(columns, words, strict=True):
            known = self._fields_of(stat, [column], [word])[0]
            if word not in NO_WORDS and known.is_documented and read_number(word, known) is None:
                return f"column {column}: {shorten(word, 40)} is no number that it can hold"
        return None

    # The machinery.

    def take_line(self, line: Line) -> LineKind | str:
        """Tries the tool's own lines first, then those that recorders and people put between."""
        text = line.text.strip()
        if not text:
            self.take_blank()
            return LineKind.IGNORED
        found = self.take_data(line, text)
        if found is not None:
            return found
        if self._see_time(text):
            return LineKind.TIMESTAMP
        path = named_file(text, self.spec.tool)
        if path is not None:
            # The report goes on: several files are read at one time.
            self.flush()
            self.file = path
            self.see_file(path)
            return LineKind.HEADER
        return f"no line of {self.spec.tool}"

    def _see_time(self, text: str) -> bool:
        stamp = parse_stamp(text)
        if stamp is None:
            return False
        # A stamp stands before a call. The rows before it are added while the time of theirs still stands.
        self.begin_call()
        self.see_stamp(stamp)
        return True

    def begin_call(self) -> None:
        """A recorder calls the tool anew."""
        self.end_report()
        self.n_reports = 0

    def finish(self) -> None:
        """The stream ended."""
        self.end_report()


def named_file(text: str, tool: str) -> str | None:
    """The file that a heading or a prompt names, "" when a prompt names none but calls the tool.

    Missing: None for any other line.

    >>> named_file("==> /proc/pressure/cpu <==", "psi"), named_file("[root@db1 ~]# nfsstat -c", "nfsstat"), named_file("# x", "psi")
    ('/proc/pressure/cpu', '', None)
    """
    found = FILE_LINE.fullmatch(text)
    if found is not None:
        return found["file"]
    found = PROMPT.fullmatch(text)
    if found is None:
        return None
    path = PATH.search(found["command"])
    if path is not None:
        return path[0]
    return "" if tool in re.findall(r"[\w.+-]+", found["command"]) else None
