"""Read tables under any header: find the names of the columns, and assign the cells of rows to them.

  UID    PID   PPID CMD              DEVICE  MAJ MIN D            BYTES
    0  27751  20320 tar              cmdk0   102  16 W            23040

A header is only accepted when the line below it fits: as many cells as columns, or more where one column of text may hold blanks
and exactly one way of cutting fits what is known. A row that fits in no way, or in two, is not cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from normstat.stats.engine.header import slug
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.times.timestamps import Timestamp
from normstat.stats.engine.trace.column_names import Cell, TraceHeader, are_aligned, split_cells
from normstat.stats.engine.trace.trace_lines import TIME_NAMES, find_stamp, is_number
from normstat.stats.spec import Field, Stat

# Columns that name something: keys, not values, even if numeric.
NAMING: Final = frozenset({"LWP/ID", "PID/LWP", "CPUID", "CORE", "IRQ", "CHIP"})
NAMING_NUMBERS: Final = frozenset({"PID", "TID", "LWP", "LWPID", "TGID", "TPID"})
# Documented where they are numbers, but some tools print a name there.
NUMBER_OR_NAME: Final = frozenset({"UID"})
# Numbers that are both key and value; MAJ and MIN only if a device has both.
NAMING_TOO: Final = frozenset({"ERR", "SIG", "PORT", "LPORT", "RPORT", "FPORT", "DPORT", "SPORT", "ZONE", "PROJ", "NODE", "FD"})
DEVICE_NUMBERS: Final = frozenset({"MAJ", "MIN"})
# Text that may contain blanks: names of programs and files, and remarks.
BLANKED: Final = frozenset({
    "CMD", "COMM", "COMMAND", "EXEC", "EXECNAME", "PROCESS", "PROCESS NAME", "NAME", "FILE", "PATH", "PATHNAME", "FILENAME", "ARGS",
    "CMDLINE", "DESC", "QUERY", "EVENT", "THREAD", "FUNC", "FUNCTION", "CALL", "TEXT", "DATA", "STATISTIC", "HOST",
    "PARENT",
})  # fmt: skip
# Other columns of text, which may look like numbers (a program called 17287).
TEXTS: Final = BLANKED | {
    "DISK", "DEVICE", "DEV", "LADDR", "RADDR", "SADDR", "DADDR", "FADDR", "LADDR:LPORT", "RADDR:RPORT", "SYSCALL", "D", "T", "RW",
    "DIR", "IP", "TYPE", "THREADS", "MODULE", "CACHE", "SENDER", "RECIPIENT", "HARDIRQ", "SOFTIRQ", "VM", "SYS", "PCOMM", "TASK",
}  # fmt: skip
ABSENT: Final = "-"


class TraceRole(StrEnum):
    """The role of a column; one letter each, because the roles of a table are kept between pieces as text."""

    VALUE = "v"
    KEY = "k"
    NUMBER_KEY = "n"
    BOTH = "b"
    LABEL = "l"
    TIME = "t"
    # Not known before the first row that has something there: a value or a key, a value that is part of the key or a key.
    OPEN = "?"
    OPEN_BOTH = "o"


NUMBERS: Final = frozenset({TraceRole.VALUE, TraceRole.BOTH, TraceRole.NUMBER_KEY})
KEYS: Final = frozenset({TraceRole.KEY, TraceRole.NUMBER_KEY, TraceRole.BOTH})


@dataclass(frozen=True, slots=True)
class TraceTable:
    """A table that is being read: `roles` has one letter for each column. Of its header: see TraceHeader.

    `below` is where the cells of the last row stood that had one for each column: some tools print headers to the left and rows to
    the right.
    """

    stat: str
    title: str
    columns: tuple[Cell, ...]
    roles: str
    is_strong: bool
    is_squeezed: bool
    below: tuple[tuple[int, int], ...] = ()

    def to_state(self) -> list[object]:
        """Return the state as JSON values."""
        columns = [[column.text, column.start, column.end] for column in self.columns]
        return [self.stat, self.title, columns, self.roles, self.is_strong, self.is_squeezed, [list(edges) for edges in self.below]]

    @staticmethod
    def from_state(state: object) -> "TraceTable | None":
        """Return what to_state gave, None for anything else."""
        if not isinstance(state, list) or len(state) != 7:
            return None
        stat, title, names, roles, is_strong, is_squeezed, edges = state
        columns = tuple(Cell(str(name), int(start), int(end)) for name, start, end in names)
        below = tuple((int(start), int(end)) for start, end in edges)
        return TraceTable(str(stat), str(title), columns, str(roles), is_strong is True, is_squeezed is True, below)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row cut into cells: the words of its key, and its values under their columns; `stamp` is the time in it."""

    key: str
    columns: tuple[str, ...]
    words: tuple[str, ...]
    stamp: Timestamp | None
    table: TraceTable


def begin_table(stat: Stat, header: TraceHeader, title: str) -> TraceTable:
    """Return a table with these columns, whose roles are guessed by their names and by the first rows."""
    known = {slug(column) for field in stat.fields for column in (field.column, *field.aliases)}
    roles = "".join(_role(header.names, at, known) for at in range(len(header.names)))
    return TraceTable(stat.name, title, header.cells, roles, header.is_strong, header.is_squeezed)


def cut_row(table: TraceTable, text: str, *, is_exact: bool = False) -> TableRow | Rejected | None:
    """Return the row that the line is under the table's columns, with what it teaches about them; `is_exact`: no cell has a
    blank in it.

    Missing: None when the line is no row of the table; a reason when it has as many cells, but no numbers where numbers belong.
    """
    stamp: Timestamp | None = None
    start = 0
    columns, roles = table.columns, table.roles
    timed = find_stamp(text) if columns[0].text.upper() in TIME_NAMES else None
    if timed is not None:
        stamp, start = timed
        columns, roles = columns[1:], roles[1:]
    cells = split_cells(text, start)
    found = None if is_exact and len(cells) != len(columns) else _fit(table, columns, roles, cells)
    if found is None:
        return _disagreement(columns, roles, [cell.text for cell in cells]) if len(cells) == len(columns) else None
    if not table.is_strong and not are_aligned(columns, found):
        return None
    learnt = "".join(_learn(role, cell.text) for role, cell in zip(roles, found, strict=True))
    values = [
        (column.text, cell.text)
        for column, role, cell in zip(columns, learnt, found, strict=True)
        if role in (TraceRole.VALUE, TraceRole.BOTH)
    ]
    key = [" ".join(cell.text.split()) for role, cell in zip(learnt, found, strict=True) if role in KEYS]
    return TableRow(
        key=" ".join(part for part in key if part != ABSENT),
        columns=tuple(name for name, _ in values),
        words=tuple(word for _, word in values),
        stamp=stamp,
        table=replace(
            table,
            roles=learnt if stamp is None else TraceRole.TIME + learnt,
            below=tuple((cell.start, cell.end) for cell in cells) if len(cells) == len(columns) else table.below,
        ),
    )


def stat_column(stat: Stat, name: str) -> Field | None:
    """Return the stat's field for a header, ignoring case and blanks. Missing: None when the stat does not
    know it.
    """
    key = slug(name)
    for field in stat.fields:
        if any(slug(column) == key for column in (field.column, *field.aliases)):
            return field
    return None


def _role(names: Sequence[str], at: int, known: set[str]) -> TraceRole:
    name, upper = names[at], names[at].upper()
    if name in NAMING_TOO or (name in DEVICE_NUMBERS and DEVICE_NUMBERS.issubset(names)):
        return TraceRole.OPEN_BOTH
    if slug(name) in known and name not in NUMBER_OR_NAME:
        return TraceRole.VALUE
    if upper in NAMING_NUMBERS:
        return TraceRole.NUMBER_KEY
    return TraceRole.KEY if upper in NAMING or upper in TEXTS or (upper == "CPU" and at < len(names) - 1) else TraceRole.OPEN


def _learn(role: str, text: str) -> str:
    if text == ABSENT or role not in (TraceRole.OPEN, TraceRole.OPEN_BOTH):
        return role
    if not is_number(text):
        return TraceRole.KEY
    return TraceRole.VALUE if role == TraceRole.OPEN else TraceRole.BOTH


def _disagreement(columns: Sequence[Cell], roles: str, texts: Sequence[str]) -> Rejected | None:
    for column, role, text in zip(columns, roles, texts, strict=True):
        if role in NUMBERS and text != ABSENT and not is_number(text):
            return Rejected(f"column {column.text}: {text[:40]!r} is not a number")
    return None


def _fit(table: TraceTable, columns: Sequence[Cell], roles: str, cells: Sequence[Cell]) -> list[Cell] | None:
    """Return one cell for each column, joined where a text holds blanks: all others must stand at the edges of their names, so
    that a word too many anywhere else is seen. Where blanks were squeezed, names that are known for such texts must do.
    """
    n_extra = len(cells) - len(columns)
    if n_extra < 0 or not columns:
        return None
    if not n_extra:
        return None if _disagreement(columns, roles, [cell.text for cell in cells]) else list(cells)
    ways = []
    for at, role in enumerate(roles):
        if role not in NUMBERS:
            first, last = cells[at], cells[at + n_extra]
            whole = Cell(" ".join(cell.text for cell in cells[at : at + n_extra + 1]), first.start, last.end)
            way = [*cells[:at], whole, *cells[at + n_extra + 1 :]]
            is_text = not all(is_number(cell.text) for cell in cells[at : at + n_extra + 1])
            if is_text and _disagreement(columns, roles, [cell.text for cell in way]) is None:
                ways.append((at, way))
    if table.is_squeezed:
        found = [(at, way) for at, way in ways if columns[at].text.upper() in BLANKED]
    else:
        near = [(at, way, off) for at, way in ways if (off := _off_edges(table, columns, way)) <= {at}]
        # Better a text that begins or ends with its name than one that only reaches below it.
        found = [(at, way) for at, way, off in near if not off] or [(at, way) for at, way, _ in near if are_aligned(columns, way)]
    if len(found) > 1:
        found = [(at, way) for at, way in found if columns[at].text.upper() in BLANKED]
    return found[0][1] if len(found) == 1 else None


def _off_edges(table: TraceTable, columns: Sequence[Cell], cells: Sequence[Cell]) -> set[int]:
    """Return the cells that begin and end neither where their names do nor where the cells of the row before did."""
    below = table.below if len(table.below) == len(columns) else [(column.start, column.end) for column in columns]
    places = enumerate(zip(columns, below, cells, strict=True))
    return {
        at
        for at, (column, (start, end), cell) in places
        if cell.start not in (column.start, start) and cell.end not in (column.end, end)
    }
