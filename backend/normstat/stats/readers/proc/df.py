"""df of Linux, Solaris and BSD: how full file systems are.

    Filesystem     Type 1K-blocks     Used Available Use% Mounted on
    /dev/vda       ext4 264212084 27805968  67695296  30% /
    /dev/mapper/a-very-long-name-that-fills-the-line
                   ext4  10000000  5000000   5000000  50% /data

Keys of `[[layout.tables]]`: the first one with a column of the header is the table's.
    stat      the stat of the rows
    columns   words that only this table's header has: "1K-blocks", "Inodes"
Keys of `[layout]`:
    texts     columns that are not numbers (Type)
    ends      first words of the column that holds the mount point, which may have blanks ("Mounted on")
    columns   names of columns with blanks

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"Filesystem 1K-blocks Used Available Use% Mounted on\\n/dev/vda 264212084 27805968 67695296 30% /\\n"
>>> block = read(require_spec("df_linux"), text, state={}, offset=0).blocks[0]
>>> block.instances, [field.column for field in block.fields]
(['/'], ['1K-blocks', 'Used', 'Available', 'Use%'])
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

NUMBER: Final = re.compile(r"-?\d{1,20}(?:[.,]\d{1,3})?[KMGTPEkmgtpe]?i?B?|-", re.ASCII)
PERCENT: Final = re.compile(r"-?\d{1,3}%|-", re.ASCII)
# Solaris without options: "/var (/dev/dsk/c0t0d0s3 ): 1234567 blocks 98765 files".
SHORT: Final = re.compile(
    r"(?P<mount>/\S{0,300}) +\((?P<device>[^()]{1,300})\):? *(?P<blocks>\d{1,18}) blocks +(?P<files>-?\d{1,18}) files", re.ASCII
)
MAX_COLUMNS: Final = 32
# Words of a device on a separate line.
MAX_DEVICE_WORDS: Final = 3
MESSAGE: Final = re.compile(r"df: .*")
BLOCKS: Final = re.compile(r"1(?P<unit>[kKMGTPE])B?-\w+")
UNITS_OF_NUMBERS: Final = "iB"


@dataclass(frozen=True)
class DfTable:
    """A form of the table; the module's docstring explains the keys."""

    stat: Stat
    columns: frozenset[str]


@dataclass(frozen=True)
class DfLayout(Layout):
    """The layout of df; the module's docstring explains the keys."""

    tables: tuple[DfTable, ...]
    texts: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()


LAYOUT: Final = DfLayout


class Reader(SnapshotReader[DfLayout]):
    """One call of the reader: `_header` are the columns between the device and the mount point, `_alone` a device on its own."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._header = texts_of(own.get("header"))
        self._stat = str(own.get("stat", ""))
        self._alone = own.get("alone") is True
        self._unit = self._unit_of(self._header)

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "header": self._header, "stat": self._stat, "alone": self._alone}

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        super().begin_call()
        self._header, self._alone = [], False

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        header = self._split_header(text)
        if header is not None:
            self.end_report()
            self._stat, self._header = header
            self._unit, self._alone = self._unit_of(self._header), False
            return LineKind.HEADER
        if MESSAGE.fullmatch(text) is not None:
            return LineKind.IGNORED
        short = SHORT.fullmatch(text)
        if short is not None:
            return self._take_short(line, short)
        if not self._header:
            return NOT_MINE
        return self._take_row(line, text.split())

    def _split_header(self, text: str) -> tuple[str, list[str]] | None:
        """Return the stat and the columns of a header. Missing: None when the line is not a header."""
        words = text.split()
        if not 3 <= len(words) <= MAX_COLUMNS or any(word.startswith("/") for word in words):
            return None
        end = next((number for number, word in enumerate(words) if word in self.layout.ends), None)
        if end is None or end < 2:
            return None
        for known in self.layout.columns:
            # "Avail Capacity" stays two columns; "% iused" or "1024 blocks" are one.
            parts = known.split()
            for number in range(end - len(parts) + 1):
                if words[number : number + len(parts)] == parts:
                    words[number : number + len(parts)] = [known]
                    end -= len(parts) - 1
                    break
        columns = words[1:end]
        for table in self.layout.tables:
            if not table.columns.isdisjoint(columns):
                return (table.stat.name, columns) if len(set(columns)) == len(columns) else None
        return None

    @staticmethod
    def _unit_of(header: Sequence[str]) -> str:
        """Return the suffix for one block. Missing: "" if the header names no such block."""
        found = next(filter(None, map(BLOCKS.fullmatch, header)), None)
        return found["unit"] if found is not None else ""

    def _take_row(self, line: Line, words: Sequence[str]) -> Outcome:
        header = self._header
        was_alone, self._alone = self._alone, False
        begin = self._find_numbers(words, least=0 if was_alone else 1)
        if begin is None:
            if not was_alone and len(words) <= MAX_DEVICE_WORDS and not any(map(NUMBER.fullmatch, words)):
                # The device filled the line; the numbers are on the next one.
                self._alone = True
                return LineKind.HEADER
            return Rejected(f"not {len(header)} columns followed by a mount point")
        columns: list[str] = []
        numbers: list[str] = []
        for column, word in zip(header, words[begin : begin + len(header)], strict=True):
            if column not in self.layout.texts:
                columns.append(column)
                numbers.append(_plain(word, self._unit))
        instance = " ".join(words[begin + len(header) :])
        return self.put_row(self.stat(self._stat), columns, numbers, instance=instance, offset=line.offset)

    def _find_numbers(self, words: Sequence[str], *, least: int) -> int | None:
        """Return where the columns begin: after a device, which may have blanks, and before a mount point.

        Missing: None when there is none.
        """
        header = self._header
        for begin in range(least, len(words) - len(header)):
            end = begin + len(header)
            fits = all(
                column in self.layout.texts or (PERCENT if "%" in word else NUMBER).fullmatch(word) is not None
                for column, word in zip(header, words[begin:end], strict=True)
            )
            if fits and (words[end].startswith("/") or words[end] == "-"):
                return begin
            if begin - least > MAX_COLUMNS:
                return None
        return None

    def _take_short(self, line: Line, found: re.Match[str]) -> Outcome:
        stat = next((stat for stat in self.spec.stats if any(known.column == "blocks" for known in stat.fields)), None)
        if stat is None:
            return Rejected("df without options is not from this system")
        words = [found["blocks"], found["files"]]
        return self.put_row(stat, ["blocks", "files"], words, instance=found["mount"], offset=line.offset)


def _plain(word: str, unit: str) -> str:
    """Return the number without what its column says already: "12046M" below "1M-blocks"."""
    if word == "-":
        return word
    number = word.rstrip(UNITS_OF_NUMBERS).rstrip("%")
    return number.removesuffix(unit) if unit else number
