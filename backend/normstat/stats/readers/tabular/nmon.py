"""The files of nmon (`nmon -f`, topas_nmon of AIX): sections of comma-separated lines, dated by their ZZZZ line.

CPU_ALL,CPU Total web1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs
DISKBUSY,Disk %Busy web1,sda,sdb
NET,Network I/O web1,eth0-read-KB/s,eth0-write-KB/s
ZZZZ,T0001,10:00:01,06-MAR-2020
CPU_ALL,T0001,1.0,0.5,0.0,98.5,0.0,,2
DISKBUSY,T0001,1.2,0.0
NET,T0001,10.2,3.4
TOP,+PID,Time,%CPU,%Usr,%Sys,Size,Command
TOP,0001234,T0001,12.10,11.00,1.10,3412,java

The lines of a section begin with its name. Its first line names the columns. The ZZZZ line of a label (T0001) comes before the
lines with that label; in a file that was sorted it does not, so those lines have no time.

Keys of `[layout]`:
    other    the stat of the sections that no other key names: SECTION COLUMN is the instance
    ignored  regular expressions of sections of text
Keys of `[[layout.sections]]`:
    stat     the stat of the section
    pattern  regular expression of the section's name; its group `instance` is the instance
    form     "row": the columns are fields; "things": each column is an instance, and `column` is the field;
             "pairs": each column is instance and field, parted by `pair`; "processes": a line is a process
    column   the field of a section of things
    pair     regular expression of a column with the groups `instance` and `column`

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> result = read(require_spec("nmon"), excerpt, state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances) for block in result.blocks[:4]]
[('nmon_cpu', ['all']), ('nmon_process', ['1234/java']), ('nmon_process_command', ['java']), ('nmon_net', ['eth0'])]
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.timestamps import Timestamp, day_seconds, parse_clock
from normstat.stats.layout import ASCII, JOINED
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

TIME: Final = "ZZZZ"
ABOUT: Final = "AAA"
HOST: Final = "host"
LABEL: Final = re.compile(r"T\d{4,9}", re.ASCII)
SECTION: Final = re.compile(r"[A-Z][\w.]{0,60}", re.ASCII)
DATE: Final = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4})", re.ASCII)
NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?", re.ASCII)
PID: Final = re.compile(r"\d{1,12}", re.ASCII)
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
PID_COLUMN: Final = "+PID"
COMMAND: Final = "Command"
# Columns of a process that are texts or name it.
PROCESS_TEXTS: Final = frozenset({PID_COLUMN, "Time", COMMAND, "WLMclass"})
VALUE: Final = "value"
# Names of columns that are remembered, for all sections together.
MAX_NAMES: Final = 100_000
ALL: Final = "all"


class SectionForm(StrEnum):
    """The layout of a section's columns; the module's docstring explains it."""

    ROW = "row"
    THINGS = "things"
    PAIRS = "pairs"
    PROCESSES = "processes"


@dataclass(frozen=True)
class NmonSection:
    """A section, or several; the module's docstring explains the keys."""

    stat: Stat
    pattern: Annotated[re.Pattern[str], ASCII]
    form: SectionForm
    column: str = ""
    pair: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        """Require what the form needs."""
        if (self.form is SectionForm.THINGS) != bool(self.column):
            raise ValueError("column: a section of things needs it, and no other")
        if (self.form is SectionForm.PAIRS) != (self.pair is not None):
            raise ValueError("pair: a section of pairs needs it, and no other")


@dataclass(frozen=True)
class NmonLayout(Layout):
    """The sections; the module's docstring explains the keys."""

    other: Stat
    sections: tuple[NmonSection, ...]
    ignored: Annotated[re.Pattern[str] | None, JOINED, ASCII] = None


LAYOUT: Final = NmonLayout


@dataclass(frozen=True, slots=True)
class Cells:
    """A part of a line that is a row: its instance, columns and words."""

    stat: Stat
    instance: str
    columns: Sequence[str]
    words: Sequence[str]


class Reader(LineReader[NmonLayout]):
    """One call of the reader: `_headers` are the columns by section, `_label` is the present one, "" before any."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        headers = own.get("headers")
        found = headers if isinstance(headers, dict) else {}
        self._headers = {str(name): [str(column) for column in columns] for name, columns in found.items()}
        self._n_names = sum(map(len, self._headers.values()))
        self._label = str(own.get("label", ""))
        self._is_other = own.get("other") is True

    def load_after_gap(self, own: State) -> None:
        """Keep the headers; the time of the present lines may be lost."""
        self.load({"headers": own.get("headers"), "other": own.get("other")})

    def save(self) -> State:
        """Return the state for `load`."""
        return {"headers": self._headers, "label": self._label, "other": self._is_other}

    def take_line(self, line: Line) -> Outcome:
        """Return a time, the columns of a section, or its values."""
        text = line.text.strip(" \t")
        if not text:
            return LineKind.IGNORED
        section, *cells = text.split(",")
        if SECTION.fullmatch(section) is None or not cells:
            return LineKind.TIMESTAMP if self.see_time_line(text) else Rejected("not a known line of nmon")
        if section == ABOUT and len(cells) > 1 and cells[0] == HOST:
            self._is_other = self.is_another_host(cells[1].strip())
        if self._is_other:
            return ANOTHER_HOST
        if section == TIME:
            return self._take_time(cells)
        ignored = self.layout.ignored
        if section == ABOUT or (ignored is not None and ignored.fullmatch(section) is not None):
            if section == ABOUT and cells[0] == "progname":
                # Another run begins.
                self.load({"other": self._is_other})
            return LineKind.IGNORED
        known = next((known for known in self.layout.sections if known.pattern.fullmatch(section) is not None), None)
        is_process = known is not None and known.form is SectionForm.PROCESSES
        if LABEL.fullmatch(cells[1] if is_process and len(cells) > 1 else cells[0]) is None:
            return self._take_header(section, cells, is_process=is_process)
        return self._take_values(section, known, cells, line.offset)

    def _take_time(self, cells: Sequence[str]) -> Outcome:
        """Take the time of a label: `T0001,10:00:01,06-MAR-2020`."""
        seconds = parse_clock(cells[1]) if len(cells) > 1 else None
        if seconds is None or LABEL.fullmatch(cells[0]) is None:
            return Rejected("no label and clock")
        day = _parse_day(cells[2]) if len(cells) > 2 else None
        if day is None and len(cells) > 2:
            return Rejected(f"{cells[2][:40]!r} is not a date like 06-MAR-2020")
        self._label = cells[0]
        at = seconds if day is None else day_seconds(day) + seconds
        self.see_stamp(Timestamp(at, is_clock_only=day is None, offset_s=None))
        self.begin_report()
        return LineKind.TIMESTAMP

    def _take_header(self, section: str, cells: Sequence[str], *, is_process: bool) -> Outcome:
        """Remember the columns of a section. Processes have a title in a line of its own."""
        if is_process and cells[0] != PID_COLUMN:
            return LineKind.HEADER
        columns = _strip_end(cells if is_process else cells[1:])
        n_names = self._n_names - len(self._headers.get(section, ())) + len(columns)
        if n_names > MAX_NAMES:
            return Rejected(f"more than {MAX_NAMES} columns in all sections")
        self._headers[section], self._n_names = columns, n_names
        return LineKind.HEADER

    def _take_values(self, section: str, known: NmonSection | None, cells: Sequence[str], offset: int) -> Outcome:
        is_process = known is not None and known.form is SectionForm.PROCESSES
        label = cells[1] if is_process else cells[0]
        if label != self._label:
            return Rejected(f"no time known for {label}: its {TIME} line is not before it")
        columns = self._headers.get(section)
        if columns is None:
            return Rejected(f"a line of {section} before the names of its columns")
        words = list(cells if is_process else cells[1:])
        while len(words) > len(columns) and not words[-1].strip():
            words.pop()
        if len(words) != len(columns):
            return Rejected(f"{len(words)} values for {len(columns)} columns")
        parts = list(self._parts(section, known, columns, words))
        if not any(word.strip() for part in parts for word in part.words):
            return LineKind.IGNORED
        # Checked first, so that a line is read whole or not at all.
        wrong = next((word for part in parts for word in part.words if word and NUMBER.fullmatch(word) is None), None)
        if wrong is not None:
            return Rejected(f"{wrong[:40]!r} is not a number")
        for part in parts:
            refused = self.add_row(part.stat, part.columns, part.words, instance=part.instance, offset=offset)
            if refused is not None:
                return refused
        return LineKind.SAMPLE

    def _parts(self, section: str, known: NmonSection | None, columns: Sequence[str], words: Sequence[str]) -> list[Cells]:
        """Return the rows that a line is."""
        pairs = [(column, word.strip()) for column, word in zip(columns, words, strict=True) if column]
        if known is None:
            return self._others(section, pairs)
        if known.form is SectionForm.ROW:
            found = known.pattern.fullmatch(section)
            named = found.groupdict().get("instance") if found is not None else None
            instance = "" if "instance" not in known.pattern.groupindex else ALL if named is None else named.lstrip("0") or "0"
            return [Cells(known.stat, instance, [column for column, _ in pairs], [word for _, word in pairs])]
        if known.form is SectionForm.PROCESSES:
            texts = {column: word for column, word in pairs if column in PROCESS_TEXTS}
            pid = texts.get(PID_COLUMN, "")
            pid = str(int(pid)) if PID.fullmatch(pid) is not None else pid
            numbers = [(column, word) for column, word in pairs if column not in PROCESS_TEXTS]
            instance = f"{pid}/{texts.get(COMMAND, '')}"
            return [Cells(known.stat, instance, [column for column, _ in numbers], [word for _, word in numbers])]
        if known.form is SectionForm.THINGS:
            return [Cells(known.stat, column, [known.column], [word]) for column, word in pairs if word]
        assert known.pair is not None
        parts, rest = [], []
        for column, word in pairs:
            found = known.pair.fullmatch(column)
            if found is None:
                rest.append((column, word))
            elif word:
                parts.append(Cells(known.stat, found["instance"], [found["column"]], [word]))
        return [*parts, *self._others(section, rest)]

    def _others(self, section: str, pairs: Sequence[tuple[str, str]]) -> list[Cells]:
        return [Cells(self.layout.other, f"{section} {column}", [VALUE], [word]) for column, word in pairs if word]


def _strip_end(columns: Sequence[str]) -> list[str]:
    """Return the names without blanks, and without the empty ones at the end: lines may end with a comma."""
    names = [column.strip() for column in columns]
    while names and not names[-1]:
        names.pop()
    return names


def _parse_day(text: str) -> dt.date | None:
    """Return the day, with its month in English.

    >>> _parse_day("06-MAR-2020"), _parse_day("2020-03-06")
    (datetime.date(2020, 3, 6), None)
    """
    found = DATE.fullmatch(text.strip().upper())
    if found is None or found[2] not in MONTHS:
        return None
    try:
        return dt.date(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]))
    except ValueError:
        return None
