"""free of procps and of busybox: rows of memory, swap space and their sum under one header.

                   total        used        free      shared  buff/cache   available
    Mem:        24684084     1244200    20421712      242376     3578992    23439884
    Swap:              0           0           0

                 total       used       free     shared    buffers     cached
    Mem:       2054560    1983744      70816          0     160500    1200648
    -/+ buffers/cache:     622596    1431964

    SwapUse           0 CachUse     2051824  MemUse     1554232 MemFree    21957228

Rows of three numbers hold the first three columns, the row of old releases the second and third. Without a suffix the unit is that
of the option (-m, -g), KiB when there was none; with suffixes (-h) the numbers are separate fields, in bytes.

Layout keys: `rows` and `line`, the stats of the two forms.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"      total  used  free  shared  buff/cache   available\\nMem:     9     4     3       1           1           5\\n"
>>> block = read(require_spec("free_linux"), text, state={}, offset=0).blocks[0]
>>> block.instances, [field.key for field in block.fields][:3], [values.tolist() for values in block.values][:3]
(['Mem'], ['total', 'used', 'free'], [[9], [4], [3]])
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

ROW: Final = re.compile(r"(?P<name>-/\+ buffers/cache|[^\W\d][^\d:：]{0,30}?) ?[:：]\s+(?P<words>\S.*)")
PAIR: Final = re.compile(r"(?P<name>(?:Swap|Cach|Mem)(?:Use|Free))\s+(?P<word>\S+)")
SIZED: Final = re.compile(r"\d+(?:[.,]\d+)?(?:[KMGTPE]i?|B)", re.ASCII)
NUMBER: Final = re.compile(r"\d")
BUFFERS: Final = "-/+ buffers/cache"
# The columns that rows of three numbers have, and the group of those with suffixes.
SHORT_ROW: Final = 3
HUMAN: Final = "human"
# Headers have 6 columns, 7 with -w or in procps 3.2 and before ("shared buffers cached"), in any language.
HEADER_SIZES: Final = (6, 7)
MAX_HEADER: Final = 400
INDENT: Final = " " * 8


@dataclass(frozen=True)
class FreeLayout(Layout):
    """The stats of the two forms: `rows` of the table, `line` of free -L."""

    rows: Stat
    line: Stat


LAYOUT: Final = FreeLayout


class Reader(LineReader[FreeLayout]):
    """One call of the reader. `_header` are the columns of the present report."""

    prefix_kinds = frozenset(FormKind)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._header = texts_of(own.get("header"))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {"header": self._header}

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = line.text.strip()
        if not text:
            return LineKind.IGNORED
        pairs = list(PAIR.finditer(text))
        if pairs:
            return self._take_pairs(text, pairs, line.offset)
        words = text.split()
        if len(text) <= MAX_HEADER and self._is_header(line.text, words):
            self._header = words
            self.begin_report()
            return LineKind.HEADER
        row = ROW.fullmatch(text)
        if row is not None:
            return self._take_row(row["name"], row["words"].split(), line.offset)
        return LineKind.TIMESTAMP if self.see_time_line(text) else Rejected("not a known line of free")

    def _is_header(self, text: str, words: Sequence[str]) -> bool:
        """Return whether the words are columns: English ones, or, on the line of the header, those of another language."""
        if len(words) not in HEADER_SIZES or any(NUMBER.search(word) or ":" in word for word in words):
            return False
        return text.startswith(INDENT) or words[:SHORT_ROW] == ["total", "used", "free"]

    def _take_row(self, name: str, words: Sequence[str], offset: int) -> Outcome:
        header = self._header
        if not header:
            return Rejected("a row before any header")
        if name == BUFFERS:
            columns = header[1:SHORT_ROW]
        elif len(words) == SHORT_ROW:
            columns = header[:SHORT_ROW]
        else:
            columns = header
        if len(words) != len(columns):
            return Rejected(f"{len(words)} values for {len(columns)} columns")
        return self._add(self.layout.rows, columns, words, name, offset)

    def _take_pairs(self, text: str, pairs: Sequence[re.Match[str]], offset: int) -> Outcome:
        """Return the one line of free -L."""
        if PAIR.sub("", text).strip():
            return Rejected("not a known line of free")
        self.begin_report()
        names = [pair["name"] for pair in pairs]
        if len(set(names)) != len(names):
            return Rejected("a name appears twice in the line")
        return self._add(self.layout.line, names, [pair["word"] for pair in pairs], "", offset)

    def _add(self, stat: Stat, columns: Sequence[str], words: Sequence[str], instance: str, offset: int) -> Outcome:
        pairs = [(HUMAN if SIZED.fullmatch(word) else "", column) for column, word in zip(columns, words, strict=True)]
        return self.add_row(stat, pairs, words, instance=instance, offset=offset) or LineKind.SAMPLE
