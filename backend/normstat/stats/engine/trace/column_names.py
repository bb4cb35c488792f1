"""Find the words of a line that name columns. The row below decides, so there is more than one way to read a header.

  PID COMM             # CALLS TIME (us)    Max wait
 1520 java                   9       210        12.5

Every word may be a name, words with one blank between them may be one, and names may be as wide as the cells below them say: when
each cell begins where a word begins, or ends where one ends, the words around it are its name.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.stats.engine.trace.trace_lines import is_number

MAX_COLUMNS: Final = 64
MAX_HEADER: Final = 400
MAX_TITLE_LENGTH: Final = 120
TITLE_ENDS: Final = (":", ",", ")")
# Bars between columns are blanks.
WORD: Final = re.compile(r"[^\s|]+")
# Ends of sentences, titles and lists.
SENTENCE_ENDS: Final = (".", ":", ",", ";", ")]", "'")
# A word that occurs in headers and hardly in sentences: FUNC, %RAN, R_Kb, EXEC/s, HIT%, (ns).
HEADER_WORD: Final = re.compile(
    r"%\S+|\S+%|[A-Z][A-Z0-9_/.#-]+(?:\(\S+\))?|[#>]\s?\S+|\S+/s|.*\((?:[num]?s|[num]?secs?|[KMGkmg]?[Bb](?:ytes)?|bytes|count)\)"
)
REMARK: Final = re.compile(r" \([^()]*\d[^()]*\)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line and its position."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """A way to read a line as the names of columns.

    `is_strong`: its words hardly occur in sentences; for other headers, the cells of rows must be below the names. `is_squeezed`:
    single blanks separate its words, so the position of a cell proves nothing.
    """

    cells: tuple[Cell, ...]
    is_strong: bool
    is_squeezed: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(cell.text for cell in self.cells)

    @property
    def is_certain(self) -> bool:
        """Whether the line is a header even where the row below does not fit it: every word is one of headers."""
        return self.is_strong and all(is_name(cell) or (len(cell.text) == 1 and cell.text.isupper()) for cell in self.cells)


def split_cells(text: str, start: int = 0) -> list[Cell]:
    """Return the words of a line from a place on."""
    return [Cell(found[0], found.start(), found.end()) for found in WORD.finditer(text, start)]


def split_headers(text: str, row: str = "") -> list[TraceHeader]:
    """Return the ways in which a line may name columns, the likeliest first; `row` is the line below it.

    Missing: [] when the line cannot be a header.

    >>> [header.names for header in split_headers("     DEVICE           TIME (ns)")]
    [('DEVICE', 'TIME (ns)')]
    >>> [header.names for header in split_headers("#SysCalls  Process Name", "1577       java")]
    [('#SysCalls', 'Process Name'), ('#SysCalls', 'Process', 'Name')]
    """
    if len(text) > MAX_HEADER or text.rstrip().endswith(SENTENCE_ENDS) or "..." in text:
        return []
    is_squeezed = "  " not in text.strip()
    words = tuple(_join_units(split_cells(text)))
    if not words:
        return []
    gapped = _joined(words, [at for at in range(len(words)) if not at or words[at].start - words[at - 1].end > 1])
    cells = split_cells(row)
    below = _name_by_row(words, cells)
    ways = [words, below, gapped] if below is None or are_aligned(words, cells) else [below, words, gapped]
    found: list[TraceHeader] = []
    for way in ways:
        if way is not None and _names_columns(way) and all(way != header.cells for header in found):
            found.append(TraceHeader(way, is_strong=way == words and any(map(is_name, way)), is_squeezed=is_squeezed))
    return found


def is_name(cell: Cell) -> bool:
    """Return whether the word occurs in headers and hardly in sentences."""
    return HEADER_WORD.fullmatch(cell.text) is not None


def is_header(text: str) -> bool:
    """Return whether the line has a word that hardly occurs in titles."""
    return not text.endswith(SENTENCE_ENDS) and any(map(is_name, split_cells(text)))


def trim_title(text: str) -> str:
    """Return the title without its end. Missing: "" for a text that is too long for one."""
    text = " ".join(text.split()).rstrip(" :,;")
    return text if len(text) <= MAX_TITLE_LENGTH else ""


def find_title(texts: Sequence[str], title: str) -> str:
    """Return the title of a table: the line right above its header, the last of the texts, or else the title that was there before.

    The line above small words may be the upper line of a header of two lines, unless it ends like a title.
    """
    above = texts[0] if len(texts) > 1 else ""
    if above and not is_header(above) and (is_header(texts[-1]) or above.endswith(TITLE_ENDS)):
        return trim_title(above)
    return trim_title(title)


def are_aligned(columns: Sequence[Cell], cells: Sequence[Cell]) -> bool:
    """Return whether every cell is below the name of its column."""
    return len(columns) == len(cells) and all(
        cell.start < column.end and column.start < cell.end for column, cell in zip(columns, cells, strict=True)
    )


def _names_columns(cells: Sequence[Cell]) -> bool:
    if not 2 <= len(cells) <= MAX_COLUMNS:
        return False
    return all(not is_number(cell.text) and any(sign.isalpha() or sign == "%" for sign in cell.text) for cell in cells)


def _join_units(cells: Iterable[Cell]) -> list[Cell]:
    """Join names such as `TIME (ns)` and `# CALLS`; a number in parentheses is a remark."""
    joined: list[Cell] = []
    is_open = False
    for cell in cells:
        if joined and (is_open or cell.text.startswith("(") or joined[-1].text == "#"):
            last = joined[-1]
            joined[-1] = Cell(f"{last.text} {cell.text}", last.start, cell.end)
            is_open = "(" in joined[-1].text and not cell.text.endswith(")")
        else:
            joined.append(cell)
    return [replace(cell, text=REMARK.sub("", cell.text)) for cell in joined]


def _name_by_row(words: Sequence[Cell], cells: Sequence[Cell]) -> tuple[Cell, ...] | None:
    """Return the words as names of the cells below them.

    Missing: None when a cell neither begins nor ends where a word does, or when a word could belong to two cells.
    """
    if not 2 <= len(cells) < len(words) <= MAX_COLUMNS:
        return None
    starts = {word.start: at for at, word in enumerate(words)}
    ends = {word.end: at for at, word in enumerate(words)}
    first = [starts.get(cell.start) for cell in cells]
    last = [ends.get(cell.end) for cell in cells]
    bounds = [0]
    for at in range(len(cells) - 1):
        end, begin = last[at], first[at + 1]
        if end is not None and begin is not None and begin != end + 1:
            # One of the two is chance, that of a cell which is aligned at its other side.
            if last[at + 1] is not None:
                begin = None
            elif first[at] is not None:
                end = None
            else:
                return None
        if end is not None:
            bounds.append(end + 1)
        elif begin is not None:
            bounds.append(begin)
        else:
            return None
    return _joined(words, bounds)


def _joined(words: Sequence[Cell], bounds: Sequence[int]) -> tuple[Cell, ...] | None:
    """Return the names that begin at the words with these numbers.

    Missing: None when a name would have a wide gap in it, or two words of which each is a name: a cell may be missing below them.
    """
    names = []
    for first, behind in zip(bounds, [*bounds[1:], len(words)], strict=True):
        pairs = list(zip(words[first:behind], words[first + 1 : behind], strict=False))
        if first >= behind or any(right.start - left.end > 1 or (is_name(left) and is_name(right)) for left, right in pairs):
            return None
        text = " ".join(word.text for word in words[first:behind])
        names.append(Cell(text, words[first].start, words[behind - 1].end))
    return tuple(names)
