"""Tables under any header: which words name the columns, and which cell of a row belongs to which of them.

  UID    PID   PPID CMD              DEVICE  MAJ MIN D            BYTES
    0  27751  20320 tar              cmdk0   102  16 W            23040

A header is only believed when the line below it fits: as many cells as columns, or more where one column of text may hold blanks
and exactly one way of cutting fits what is known. A row that fits in no way, or in two, is not cut.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from normstat.stats.header import slug
from normstat.stats.spec import Field, Stat
from normstat.stats.stamp import Stamp
from normstat.stats.trace.text import TIME_NAMES, find_stamp, is_number

MAX_COLUMNS: Final = 64
MAX_HEADER: Final = 400
WORD: Final = re.compile(r"[^\s|]+")
GAPPED: Final = re.compile(r"[^\s|]+(?: [^\s|]+)*")
# A word that stands in a header and hardly in a sentence: FUNC, %RAN, R_Kb, EXEC/s, HIT%, (ns).
HEADER_WORD: Final = re.compile(
    r"%\S+|\S+%|[A-Z][A-Z0-9_/.#-]+(?:\(\S+\))?|[#>]\S+|\S+/s|.*\((?:[num]?s|[num]?secs?|[KMGkmg]?[Bb](?:ytes)?|bytes|count)\)"
)
# Numbers that name something: they are the key and no value.
NAMING: Final = frozenset({"PID", "TID", "LWP", "LWPID", "LWP/ID", "TGID", "PID/LWP", "TPID", "CPUID", "CORE", "IRQ", "CHIP"})
# Numbers that tell rows apart and may be wanted as numbers as well.
NAMING_TOO: Final = frozenset(
    {"MAJ", "MIN", "ERR", "SIG", "PORT", "LPORT", "RPORT", "FPORT", "DPORT", "SPORT", "ZONE", "PROJ", "NODE", "FD"}
)
# Text that may hold blanks: names of programs and files, and what is said of them.
BLANKED: Final = frozenset({
    "CMD", "COMM", "COMMAND", "EXEC", "EXECNAME", "PROCESS", "PROCESS NAME", "NAME", "FILE", "PATH", "PATHNAME", "FILENAME", "ARGS",
    "DESC", "QUERY", "EVENT", "THREAD", "FUNC", "FUNCTION", "CALL", "TEXT", "DATA", "STATISTIC", "HOST", "PARENT",
})  # fmt: skip
# Other columns of text, which may look like numbers (a program called 17287).
TEXTS: Final = BLANKED | {
    "DISK", "DEVICE", "DEV", "LADDR", "RADDR", "SADDR", "DADDR", "FADDR", "LADDR:LPORT", "RADDR:RPORT", "SYSCALL", "D", "T", "RW",
    "DIR", "IP", "TYPE", "THREADS", "MODULE", "CACHE", "SENDER", "RECIPIENT", "HARDIRQ", "SOFTIRQ", "VM", "SYS", "PCOMM", "TASK",
}  # fmt: skip
ABSENT: Final = "-"


class Role(StrEnum):
    """What a column is; one letter each, because the roles of a table are kept between pieces as a text."""

    VALUE = "v"
    KEY = "k"
    BOTH = "b"
    LABEL = "l"
    TIME = "t"
    # Not known before the first row that has something there: a value or a key, a value that is part of the key or a key.
    OPEN = "?"
    OPEN_BOTH = "o"


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line and where it stands in it."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is being read: `roles` has one letter for each column, "?" while only missing values stood under it."""

    stat: str
    title: str
    columns: tuple[Cell, ...]
    roles: str
    # Words of the header's line that nothing stands under are gone from `columns`; the bars between columns are blanks.
    is_strong: bool

    def to_state(self) -> list[object]:
        """As JSON values."""
        columns = [[column.text, column.start, column.end] for column in self.columns]
        return [self.stat, self.title, columns, self.roles, self.is_strong]

    @staticmethod
    def from_state(state: object) -> "Table | None":
        """What to_state gave, None for anything else."""
        if not isinstance(state, list) or len(state) != 5 or not isinstance(state[2], list):
            return None
        columns = tuple(Cell(str(name), int(start), int(end)) for name, start, end in state[2])
        return Table(str(state[0]), str(state[1]), columns, str(state[3]), state[4] is True)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row cut into cells: the words of its key, and its values under their columns; `stamp` is the time in it."""

    key: str
    columns: tuple[str, ...]
    words: tuple[str, ...]
    stamp: Stamp | None
    table: Table


def split_headers(text: str) -> list[tuple[Cell, ...]]:
    """The ways in which a line may name columns: each word one, or words with one blank between them one.

    Missing: [] when the line cannot be a header.

    >>> [[cell.text for cell in cells] for cells in split_headers("     DEVICE           TIME (ns)")]
    [['DEVICE', 'TIME (ns)']]
    >>> [[cell.text for cell in cells] for cells in split_headers("#SysCalls  Process Name")]
    [['#SysCalls', 'Process', 'Name'], ['#SysCalls', 'Process Name']]
    """
    if len(text) > MAX_HEADER or text.rstrip().endswith((".", ":", ",", ";", ")]", "'")) or "..." in text:
        return []
    words = _join_units([Cell(found[0], found.start(), found.end()) for found in WORD.finditer(text)])
    if any(is_number(cell.text) or not any(sign.isalpha() or sign == "%" for sign in cell.text) for cell in words):
        return []
    gapped = [Cell(found[0], found.start(), found.end()) for found in GAPPED.finditer(text)]
    ways = [tuple(words)]
    if [cell.text for cell in gapped] != [cell.text for cell in words]:
        ways.append(tuple(gapped))
    return [way for way in ways if 2 <= len(way) <= MAX_COLUMNS]


def is_strong_header(cells: Sequence[Cell]) -> bool:
    """Whether the words are those of a header; others are believed only when they stand right above the cells of a row."""
    return any(HEADER_WORD.fullmatch(cell.text) is not None for cell in cells)


def begin_table(stat: Stat, cells: Sequence[Cell], *, title: str, roles: str = "") -> Table:
    """A table with these columns; `roles` are those that its spec says, else they are guessed by names and by the first rows."""
    if not roles:
        known = {slug(column) for field in stat.fields for column in (field.column, *field.aliases)}
        roles = "".join(_role(cell.text, at, len(cells), known) for at, cell in enumerate(cells))
    return Table(stat.name, title, tuple(cells), roles, is_strong_header(cells))


def cut_row(table: Table, text: str) -> TableRow | str | None:
    """The row that the line is under the table's columns, with what it teaches about them.

    Missing: None when the line is no row of the table; a reason when it has as many cells, but no numbers where numbers belong.
    """
    stamp: Stamp | None = None
    start = 0
    columns, roles = table.columns, table.roles
    timed = find_stamp(text) if columns[0].text.upper() in TIME_NAMES else None
    if timed is not None:
        stamp, start = timed
        columns, roles = columns[1:], roles[1:]
    cells = [Cell(found[0], found.start(), found.end()) for found in WORD.finditer(text, start)]
    found = _fit(columns, roles, cells)
    if found is None:
        return _disagreement(columns, roles, [cell.text for cell in cells]) if len(cells) == len(columns) else None
    if not table.is_strong and not _are_aligned(columns, found):
        return None
    learnt = "".join(_learn(role, cell.text) for role, cell in zip(roles, found, strict=True))
    values = [
        (column.text, cell.text)
        for column, role, cell in zip(columns, learnt, found, strict=True)
        if role in (Role.VALUE, Role.BOTH)
    ]
    key = [" ".join(cell.text.split()) for role, cell in zip(learnt, found, strict=True) if role in (Role.KEY, Role.BOTH)]
    return TableRow(
        key=" ".join(part for part in key if part != ABSENT),
        columns=tuple(name for name, _ in values),
        words=tuple(word for _, word in values),
        stamp=stamp,
        table=replace(table, roles=learnt if stamp is None else Role.TIME + learnt),
    )


def stat_column(stat: Stat, name: str) -> Field | None:
    """The field of the stat that the header means, whatever its case and blanks. Missing: None when the stat does not know it."""
    key = slug(name)
    for field in stat.fields:
        if any(slug(column) == key for column in (field.column, *field.aliases)):
            return field
    return None


def _role(name: str, at: int, n_columns: int, known: set[str]) -> Role:
    upper = name.upper()
    if upper in NAMING_TOO:
        return Role.OPEN_BOTH
    if slug(name) in known:
        return Role.VALUE
    return Role.KEY if upper in NAMING or upper in TEXTS or (upper == "CPU" and at < n_columns - 1) else Role.OPEN


def _learn(role: str, text: str) -> str:
    if text == ABSENT or role not in (Role.OPEN, Role.OPEN_BOTH):
        return role
    if not is_number(text):
        return Role.KEY
    return Role.VALUE if role == Role.OPEN else Role.BOTH


def _join_units(cells: Iterable[Cell]) -> list[Cell]:
    """`TIME (ns)` is one name; what stands in parentheses and holds a number is a remark."""
    joined: list[Cell] = []
    is_open = False
    for cell in cells:
        if joined and (is_open or cell.text.startswith("(")):
            last = joined[-1]
            joined[-1] = Cell(f"{last.text} {cell.text}", last.start, cell.end)
            is_open = not cell.text.endswith(")")
        else:
            joined.append(cell)
    return [replace(cell, text=re.sub(r" \([^()]*\d[^()]*\)", "", cell.text)) for cell in joined]


def _disagreement(columns: Sequence[Cell], roles: str, texts: Sequence[str]) -> str | None:
    for column, role, text in zip(columns, roles, texts, strict=True):
        if role in (Role.VALUE, Role.BOTH) and text != ABSENT and not is_number(text):
            return f"column {column.text}: {text[:40]!r} is no number"
    return None


def _fit(columns: Sequence[Cell], roles: str, cells: Sequence[Cell]) -> list[Cell] | None:
    """One cell for each column, joined where a text holds blanks."""
    n_extra = len(cells) - len(columns)
    if n_extra < 0 or not columns:
        return None
    if not n_extra:
        return None if _disagreement(columns, roles, [cell.text for cell in cells]) else list(cells)
    ways = []
    for at, role in enumerate(roles):
        if role not in (Role.VALUE, Role.BOTH):
            first, last = cells[at], cells[at + n_extra]
            whole = Cell(" ".join(cell.text for cell in cells[at : at + n_extra + 1]), first.start, last.end)
            way = [*cells[:at], whole, *cells[at + n_extra + 1 :]]
            if not is_number(whole.text) and _disagreement(columns, roles, [cell.text for cell in way]) is None:
                ways.append((at, way))
    aligned = [way for _, way in ways if _are_aligned(columns, way)]
    if len(aligned) == 1:
        return aligned[0]
    named = [way for at, way in ways if columns[at].text.upper() in BLANKED]
    return named[0] if len(named) == 1 else None


def _are_aligned(columns: Sequence[Cell], cells: Sequence[Cell]) -> bool:
    """Whether every cell stands under the name of its column."""
    return all(cell.start < column.end and column.start < cell.end for column, cell in zip(columns, cells, strict=True))
