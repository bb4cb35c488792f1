"""The base of snapshot readers: for files of /proc and tools that print the current state, recorded repeatedly.

A snapshot ends where its first key repeats, and before a line that is a time, a call of the tool or the name of a file:

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
from normstat.stats.engine.line_engine import LayoutT
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Claim, Outcome, Rejected
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.part_files import is_part_file
from normstat.stats.records import NO_TIME, LineKind, State, number_of
from normstat.stats.spec import Stat

FILE_LINE: Final = re.compile(r"==> (?P<file>\S[^<>]{0,300}) <==")
PROMPT: Final = re.compile(
    r"(?:\[?[\w.-]{1,40}@[^#$%>]{1,100}[#$%>]|(?:[\w.-]{1,40}(?: [\w/~.-]{1,60})?)?[#$])\s*(?P<command>\S.{0,300})", re.ASCII
)
PATH: Final = re.compile(r"/(?:proc|sys)/[\w./:@-]+")
# No tool prints a sample with more columns.
MAX_GATHERED: Final = 4096
OF_A_PART: Final = Rejected("of a cgroup, a NUMA node or a container, not of the host")
NO_VALUES: Final = Rejected("no numbers")
NO_WORDS: Final = frozenset({ABSENT, ""})
# All integers of this many digits fit in 63 bits.
MAX_INTEGER_LENGTH: Final = 18
HUGE: Final = re.compile(r"9[3-9]\d{17}|922337203685477580[89]|1[0-8]\d{18}", re.ASCII)


@dataclass(slots=True)
class GatheredRow:
    """A row whose values stand in several lines; `offset` is the first of them."""

    instance: str
    offset: int
    time_us: int
    words: dict[str, str] = field(default_factory=dict)

    def to_state(self) -> list[object]:
        """Return what `from_state` takes."""
        return [self.instance, self.offset, self.time_us, self.words]


def gathered_from_state(state: object) -> GatheredRow | None:
    """Return the snapshot of a state from `to_state`. Missing: None for any other state."""
    if not isinstance(state, list) or len(state) != 4 or not isinstance(state[3], dict):
        return None
    instance, offset, time_us, words = state
    return GatheredRow(str(instance), int(offset), int(time_us), {str(column): str(word) for column, word in words.items()})


class SnapshotReader(LineReader[LayoutT]):
    """A LineReader that knows lines of time, prompts and names of files, and gathers rows of many lines.

    A reader writes `take_data`, and may write `take_blank` and `see_file`; it calls `want_report` before it adds the first row of a
    snapshot, and `gather` for values that come line by line.
    """

    prefix_kinds = frozenset(FormKind)
    reads_files = True

    # Whether the instance distinguishes rows of a cgroup or a NUMA node from those of the host.
    reads_parts = False
    n_reports: int
    file: str

    def load(self, own: State) -> None:
        """Take up the state; readers with more state call it first."""
        # How many reports this call of the tool has made so far, as far as it matters: 0, 1 or 2.
        self.n_reports = number_of(own.get("reports"), 0)
        self._is_begun = own.get("begun") is True
        # The file that was named last, "" for none.
        self.file = str(own.get("file", ""))
        self._is_part = not self.reads_parts and is_part_file(self.file)
        self._gathered: dict[str, GatheredRow] = {}
        rows = own.get("gathered")
        for name, row in rows.items() if isinstance(rows, dict) else ():
            found = gathered_from_state(row)
            if found is not None and str(name) in self._stats:
                self._gathered[str(name)] = found

    def save(self) -> State:
        """Return the state; readers with more state add theirs."""
        rows = {name: row.to_state() for name, row in self._gathered.items()}
        return {"reports": self.n_reports, "begun": self._is_begun, "file": self.file, "gathered": rows}

    # Implemented by a reader.

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the kind of the line, the reason why it cannot be read, or None when it is not a line of the tool."""
        raise NotImplementedError

    def take_blank(self) -> None:
        """Handle a blank line."""

    def see_file(self, path: str) -> None:
        """Note the file that the next lines are from."""

    # Used by a reader.

    def want_report(self) -> None:
        """Start a report for the next row, unless one is open."""
        if not self._is_begun:
            self.begin_report()
            self._is_begun = True
            self.n_reports = min(self.n_reports + 1, 2)

    @property
    def stamped_us(self) -> int:
        """The instant that the next report was stamped with. Missing: NO_TIME when it was not."""
        return self._base_us if self._is_stamp_new else NO_TIME

    def see_instant(self, time_us: int) -> None:
        """Date the next report with this instant."""
        self._base_us, self._n_since, self._is_stamp_new = time_us, 0, True

    def end_report(self) -> None:
        """End the present report and add the rows that were gathered."""
        self.flush()
        self._is_begun = False

    def gather(
        self, stat: Stat, columns: Sequence[str], words: Sequence[str], *, offset: int, instance: str = ""
    ) -> Rejected | None:
        """Add values to the stat's open row. A column that the row already has starts the next report.

        Missing: None on success, else the reason why the line cannot be taken.
        """
        refused = self.refusal(stat, columns, words) if columns else NO_VALUES
        row = self._gathered.get(stat.name)
        if refused is not None or (row is not None and len(row.words) + len(columns) > MAX_GATHERED):
            return refused or Rejected(f"more than {MAX_GATHERED} values in one sample")
        if row is not None and row.instance != instance:
            self.flush(stat.name)
            row = None
        if row is not None and any(column in row.words for column in columns):
            self.end_report()
            row = None
        if row is None:
            self.want_report()
            row = self._gathered[stat.name] = GatheredRow(instance, offset, self.report_us)
        row.words.update(zip(columns, words, strict=True))
        return None

    def has_gathered(self, name: str, instance: str, columns: Sequence[str]) -> bool:
        """Return whether the row of that stat and instance that is being gathered has one of the columns."""
        row = self._gathered.get(name)
        return row is not None and row.instance == instance and any(column in row.words for column in columns)

    def flush(self, name: str | None = None) -> None:
        """Add the gathered rows, all or those of one stat."""
        for stat_name in [name] if name is not None else list(self._gathered):
            row = self._gathered.pop(stat_name, None)
            if row is not None:
                self.add_gathered(self.stat(stat_name), row)

    def add_gathered(self, stat: Stat, row: GatheredRow) -> None:
        """Add a complete row. Its words were checked when they were read."""
        words = list(row.words.values())
        missing = unreadable(words)
        self.add_row(stat, list(row.words), words, instance=row.instance, time_us=row.time_us, offset=row.offset, missing=missing)

    def put_row(self, stat: Stat, columns: Sequence[str], words: Sequence[str], *, instance: str, offset: int) -> Outcome:
        """Add a row of the present report: what its line is then, or why it cannot be read."""
        if not columns:
            return NO_VALUES
        self.want_report()
        refused = self.add_row(stat, columns, words, instance=instance, offset=offset, missing=unreadable(words))
        return refused or LineKind.SAMPLE

    def refusal(self, stat: Stat, columns: Sequence[str], words: Sequence[str]) -> Rejected | None:
        """Return the reason why a row with these words cannot be added. Missing: None when it can."""
        for column, word in zip(columns, words, strict=True):
            known = self._fields_of(stat, [column], [word])[0]
            if word not in unreadable([word]) and known.is_documented and read_number(word, known) is None:
                return Rejected(f"column {column}: {shorten(word, 40)} is not a number that it can hold")
        return None

    # Internals.

    def take_line(self, line: Line) -> Outcome:
        """Try the tool's own lines first, then those inserted by recorders and users."""
        text = line.text.strip()
        if not text:
            self.take_blank()
            return LineKind.IGNORED
        found = OF_A_PART if self._is_part else self.take_data(line, text)
        if isinstance(found, LineKind):
            return found
        if self._see_time(text):
            return LineKind.TIMESTAMP
        path = named_file(text, self.spec.tool)
        if path is not None:
            # The report continues: several files are read at the same time.
            self.flush()
            self.file = path
            self._is_part = not self.reads_parts and is_part_file(path)
            self.see_file(path)
            return LineKind.HEADER
        return found or Rejected(f"not a line of {self.spec.tool}")

    def _see_time(self, text: str) -> bool:
        stamp = parse_time_line(text)
        if stamp is None:
            return False
        # A stamp precedes a call. Add the previous rows while their time is still set.
        self.begin_call()
        self.see_stamp(stamp)
        return True

    def begin_call(self) -> None:
        """Start a new call of the tool by a recorder."""
        self.end_report()
        self.n_reports = 0

    def finish(self) -> None:
        """Complete the last report: the stream has ended."""
        self.end_report()


class RepeatingReader(SnapshotReader[LayoutT]):
    """A SnapshotReader whose report ends where a name repeats: an instance, or a section."""

    # A report with this many names ends without a repeat, so that the state stays bounded.
    max_names = 65_536

    def load(self, own: State) -> None:
        """Restore the names of the present report; readers with more state call it first."""
        super().load(own)
        names = own.get("seen")
        self._names_seen = set(map(str, names)) if isinstance(names, list) else set()

    def save(self) -> State:
        """Return the state; readers with more state add theirs."""
        return {**super().save(), "seen": sorted(self._names_seen)}

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        self._names_seen.clear()

    def has_seen(self, name: str) -> bool:
        """Return whether the present report has the name."""
        return name in self._names_seen

    def see_name(self, name: str) -> None:
        """Note a name; one that the present report has already begins the next."""
        if name in self._names_seen or len(self._names_seen) >= self.max_names:
            self.end_report()
        self._names_seen.add(name)


def unreadable(words: Sequence[str]) -> frozenset[str]:
    """Return the words that are no value: none, and counters that do not fit in 63 bits (-1 as the kernel prints it without a
    sign).
    """
    large = [word for word in words if len(word) > MAX_INTEGER_LENGTH and HUGE.fullmatch(word) is not None]
    return NO_WORDS.union(large) if large else NO_WORDS


def named_file(text: str, tool: str) -> str | None:
    """Return the file that a heading or a prompt names, "" when a prompt names none but calls the tool.

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
