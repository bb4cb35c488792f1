"""The result of a reader: blocks of samples, rejected lines, and an account of every byte.

A block is columnar: all its rows were printed under one header, so they share their fields. Times are int64 microseconds since
the epoch (UTC); `NO_TIME` marks a row whose tool printed none. Integers stay int64, decimals are float64, and a row that would
not come back digit for digit from the canonical form of its fields carries its own text in `printed`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from normstat.stats.line_kind import LineKind as LineKind  # noqa: PLC0414 (imported from here with the records)
from normstat.stats.spec import Field, Stat
from normstat.stats.timing import NO_TIMING as NO_TIMING  # noqa: PLC0414 (likewise)
from normstat.stats.timing import Timing as Timing  # noqa: PLC0414 (likewise)

NO_TIME: Final = np.iinfo(np.int64).min

Int64Array = npt.NDArray[np.int64]
ValueArray = npt.NDArray[np.int64] | npt.NDArray[np.float64]
# JSON values only: the state of a reader is kept in the database between chunks.
State = dict[str, object]
Default = TypeVar("Default")


def texts_of(value: object) -> list[str]:
    """Return a list of texts from a state. Missing: [] for anything else."""
    return [str(item) for item in value] if isinstance(value, list) else []


def number_of(value: object, default: Default) -> int | Default:
    """Return a whole number from a state. Missing: the default for anything else."""
    return value if isinstance(value, int) else default


class RowNames(Sequence[str]):
    """The instances of many rows: the different `names`, each once, and in `codes` which of them each row has.

    A row costs the number of its name, not a name. Some of the names may be those of no row.
    Shape: codes (n,).
    """

    __slots__ = ("codes", "names")

    def __init__(self, names: Sequence[str], codes: Int64Array) -> None:
        self.names = names
        self.codes = codes

    @classmethod
    def number(cls, names: Sequence[str]) -> Self:
        """Return the names of rows with their numbers, in the order of their first rows."""
        known: dict[str, int] = {}
        codes = np.fromiter((known.setdefault(name, len(known)) for name in names), np.int64, len(names))
        return cls(list(known), codes)

    @classmethod
    def merge(cls, names: Sequence[str], codes: Int64Array) -> Self:
        """Return the same for names of which some may be equal."""
        known: dict[str, int] = {}
        merged = [known.setdefault(name, len(known)) for name in names]
        return cls(names, codes) if len(known) == len(names) else cls(list(known), np.array(merged, np.int64)[codes])

    @classmethod
    def join(cls, parts: Sequence[Sequence[str]]) -> Self:
        """Return the names of the rows of all parts, one after another."""
        numbered = [part if isinstance(part, RowNames) else cls.number(part) for part in parts]
        shifts = accumulate((len(part.names) for part in numbered), initial=0)
        codes = [part.codes + shift for part, shift in zip(numbered, shifts, strict=False)]
        return cls.merge([name for part in numbered for name in part.names], np.concatenate(codes))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> "RowNames": ...

    def __getitem__(self, at: int | slice) -> "str | RowNames":
        return RowNames(self.names, self.codes[at]) if isinstance(at, slice) else self.names[self.codes[at]]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __repr__(self) -> str:
        return repr(list(self))

    def take(self, rows: npt.NDArray[np.intp]) -> "RowNames":
        """Return the names of these rows. Shape: rows (m,)."""
        return RowNames(self.names, self.codes[rows])

    def present(self) -> tuple[list[int], list[int], list[int]]:
        """Return the numbers of the names that rows have, in the order of their first rows, and the first and the last row of
        each.
        """
        n_rows = len(self.codes)
        firsts = np.full(len(self.names), n_rows)
        lasts = np.zeros(len(self.names), np.int64)
        rows = np.arange(n_rows)
        # The last of several rows with the same number wins.
        lasts[self.codes] = rows
        firsts[self.codes[::-1]] = rows[::-1]
        found = np.flatnonzero(firsts < n_rows)
        found = found[np.argsort(firsts[found])]
        return found.tolist(), firsts[found].tolist(), lasts[found].tolist()


@dataclass(frozen=True, slots=True)
class SampleBlock:
    """Samples of one stat that share their fields, in the order of their lines.

    Shape: time_us, line_offset (n,) int64; instances n names; values[i] (n,) int64 or float64, one array for each of `fields`.
    Units: those of the fields. Missing: missing[i] is None, or (n,) bool with True where the tool printed its word for
    "no value" (the value there is 0 and means nothing); time_us NO_TIME where no time is known.
    """

    stat: Stat
    fields: tuple[Field, ...]
    time_us: Int64Array
    instances: Sequence[str]
    values: tuple[ValueArray, ...]
    line_offset: Int64Array
    missing: tuple[npt.NDArray[np.bool_] | None, ...] = ()
    # Row number -> the row's tokens as printed, field by field joined by single blanks, where the canonical form differs.
    printed: Mapping[int, str] = field(default_factory=dict)
    # No whole number of the block is farther from 0. None: unknown.
    bound: int | None = None

    def __len__(self) -> int:
        return len(self.time_us)


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line that could not be read, with the reason in words; `text` is cut to REJECTED_TEXT_LIMIT characters.

    `offset` is the line's first byte in the stream, `n_bytes` its length with the newline, `line_no` counts from 1.
    """

    offset: int
    line_no: int
    n_bytes: int
    text: str
    reason: str


REJECTED_TEXT_LIMIT: Final = 2000


@dataclass(frozen=True, slots=True)
class LineEvent:
    """Something that happened to the host, read from a line; `offset` is the line's first byte in the stream.

    `earlier_us` is the earliest time at which it may have happened; NO_TIME if `time_us` is exact, or nothing is known. `kind` is a
    word (fact_words.EventKind); `origin` is the file or tool that it is about, "" for none.
    Units: microseconds since the epoch.
    """

    offset: int
    time_us: int
    earlier_us: int
    kind: str
    origin: str
    text: str


@dataclass(frozen=True, slots=True)
class Accounts:
    """The number of lines and bytes of each kind. The bytes add up to the bytes taken."""

    n_lines: Mapping[LineKind, int]
    n_bytes: Mapping[LineKind, int]


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Everything that one call of a reader found.

    `n_taken` bytes of the input were accounted for; the rest (an unfinished last line) must be given again, with more after it.
    `open_lines` are the offsets of lines whose rows were returned, and which a row of the next piece may name again: that of a
    lock, whose stack is still open.
    """

    blocks: tuple[SampleBlock, ...]
    since_boot: tuple[SampleBlock, ...]
    rejected: tuple[RejectedLine, ...]
    accounts: Accounts
    state: State
    n_taken: int
    events: tuple[LineEvent, ...] = ()
    open_lines: tuple[int, ...] = ()


def shift_times(result: ReadResult, shift_us: int) -> ReadResult:
    """Return the result with all known times that much later. The state keeps the times as printed.

    Units: microseconds.
    """
    return replace(
        result,
        blocks=tuple(_shift_block(block, shift_us) for block in result.blocks),
        since_boot=tuple(_shift_block(block, shift_us) for block in result.since_boot),
        events=tuple(
            replace(event, time_us=_shift(event.time_us, shift_us), earlier_us=_shift(event.earlier_us, shift_us))
            for event in result.events
        ),
    )


def _shift_block(block: SampleBlock, shift_us: int) -> SampleBlock:
    return replace(block, time_us=np.where(block.time_us == NO_TIME, NO_TIME, block.time_us + shift_us))


def _shift(time_us: int, shift_us: int) -> int:
    return time_us if time_us == NO_TIME else time_us + shift_us
