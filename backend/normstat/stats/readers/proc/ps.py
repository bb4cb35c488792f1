"""ps: tables of processes as recorded by OSWatcher, sosreport and users.

    USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
    root           1  0.0  0.3 104364 13208 ?        Ss   Nov20   0:06 /sbin/init splash
    F S UID          PID    PPID  C PRI  NI ADDR SZ WCHAN  STIME TTY          TIME CMD
    4 S root           1       0  0  80   0 - 26091 -      Nov20 ?        00:00:06 /sbin/init splash

The instance is the process' number and its program, "1/init"; with threads it is "1/7/init". Times are in seconds.

Keys of `[layout]`:
    texts    columns that are not numbers
    times    columns that are times of CPU or since the beginning
    starts   columns with the start time of the process, in one, two or five words
    threads  columns that are a thread's number
    sizes    columns that are KiB when they have no suffix

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"PID %CPU %MEM VSZ RSS START TIME COMMAND\\n1 0.0 0.3 104364 13208 Nov20 0:06 /sbin/init splash\\n"
>>> block = read(require_spec("ps_linux"), text, state={}, offset=0).blocks[0]
>>> block.instances, [field.column for field in block.fields], block.values[-1].tolist()
(['1/init'], ['%CPU', '%MEM', 'VSZ', 'RSS', 'TIME'], [6])
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Rejected
from normstat.stats.engine.series.labelled_numbers import command_name, kib_of, seconds_of
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import split_words
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State, texts_of

COMMANDS: Final = frozenset({"COMMAND", "CMD", "ARGS", "COMM"})
PID: Final = "PID"
MAX_COLUMNS: Final = 64
NUMBER: Final = re.compile(r"-?\d{1,18}(?:[.,]\d{1,3})?", re.ASCII)
HEADER_WORD: Final = re.compile(r"[%A-Za-z][\w%+:/-]{0,20}", re.ASCII)
LONG_START: Final = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4}", re.ASCII)
DAY: Final = re.compile(r"[A-Z][a-z]{2} +\d{1,2}(?= |$)", re.ASCII)
START: Final = re.compile(r"(?:\d\d:\d\d(?::\d\d)?|[A-Z][a-z]{2}[ _]+\d{1,2})(?= |$)", re.ASCII)
WAITS: Final = "WCHAN"
STATE: Final = "STAT"
NICE: Final = re.compile(r"[<N] +", re.ASCII)
# Solaris has the class of the kernel's own processes (SY) and of others in the place of the nice value.
NOTHING: Final = frozenset({"-", "?", "*", "", "FF", "RR", "SY", "RT", "SD", "FX"})


@dataclass(frozen=True)
class PsLayout(OneStatLayout):
    """Columns by what they hold; the module's docstring explains the keys."""

    texts: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    starts: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()


LAYOUT: Final = PsLayout


class Reader(SnapshotReader[PsLayout]):
    """One call of the reader: `_header` are the columns."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._header = texts_of(own.get("header"))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "header": self._header}

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        self._header = []

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        words = text.split(None, MAX_COLUMNS)
        if self.is_header(words):
            self.end_report()
            self._header = words
            return LineKind.HEADER
        # A date could pass for a process whose number is the day.
        return self._take_row(line, text) if self._header and parse_time_line(text) is None else NOT_MINE

    def is_header(self, words: Sequence[str]) -> bool:
        """Return whether these are the columns of a table of processes."""
        return (
            2 < len(words) <= MAX_COLUMNS
            and PID in words
            and words[-1] in COMMANDS
            and len(set(words)) == len(words)
            and all(map(HEADER_WORD.fullmatch, words))
        )

    def _take_row(self, line: Line, text: str) -> Claim:
        cells = self._split_row(text)
        if isinstance(cells, Rejected):
            # Command lines with newlines continue on further lines; these look like anything.
            return cells
        named = dict(zip(self._header, cells, strict=True))
        if named[PID] == "-":
            # ps -m prints the threads below their process, without a number.
            return LineKind.IGNORED
        if not named[PID].isdigit():
            return Rejected(f"column PID: {named[PID][:40]!r} is not a number")
        columns: list[str] = []
        words: list[str] = []
        for column, word in zip(self._header[:-1], cells, strict=False):
            if column in self.layout.texts or column in self.layout.starts or column in self.layout.threads or column == PID:
                continue
            number = self._number(column, word)
            if number is None:
                return Rejected(f"column {column}: {word[:40]!r} is not a number")
            columns.append(column)
            words.append(number)
        threads = [named[column] for column in self._header if column in self.layout.threads]
        instance = "/".join([named[PID], *threads, command_name(cells[-1])])
        return self.put_row(self.spec.stats[0], columns, words, instance=instance, offset=line.offset)

    def _split_row(self, text: str) -> list[str] | Rejected:
        """Return the cells of a row, or why they are ambiguous."""
        cells: list[str] = []
        rest = text
        for number, column in enumerate(self._header[:-1]):
            if column == WAITS and self._header[number + 1] in self.layout.starts and START.match(rest) is not None:
                # Solaris prints nothing for a process that does not wait.
                cells.append("-")
                continue
            found = (LONG_START.match(rest) or DAY.match(rest)) if column in self.layout.starts else None
            if found is not None:
                cells.append(found[0])
                rest = rest[found.end() :].lstrip()
                continue
            word, *more = split_words(rest, 1) if rest else [""]
            if not more:
                return Rejected(f"{len(cells) + 1} cells for {len(self._header)} columns")
            cells.append(word)
            rest = more[0]
        if self._header[-2] == STATE:
            # Busybox has a separate column for niced processes, "S N".
            rest = NICE.sub("", rest, count=1) if NICE.match(rest) else rest
        return [*cells, rest]

    def _number(self, column: str, word: str) -> str | None:
        """Return the word as a plain number. Missing: "" if ps prints that it has none, None when it is not a number."""
        if word in NOTHING:
            return ""
        if column in self.layout.times:
            return seconds_of(word)
        if column in self.layout.sizes:
            return kib_of(word)
        return word if NUMBER.fullmatch(word) is not None else None
