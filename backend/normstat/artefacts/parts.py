"""The parts of an artefact: what was read from its text, in the shape in which it is drawn and compared.

A part is columnar and never changed once made. Whole numbers stay int, so nanoseconds come back digit for digit; None is a value
that the tool did not print.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from normstat.stats.spec import Kind, Worse

Number = int | float


class PartKind(StrEnum):
    """How a part is drawn.

    table      rows with a key, ranked by one column: bars and their cumulative share
    stacks     stacks with a weight: a flame graph
    histogram  distributions: buckets of one or more keys, at one or more times
    log        events in their order: a line for each CPU or thread
    """

    TABLE = "table"
    STACKS = "stacks"
    HISTOGRAM = "histogram"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class PartColumn:
    """A column of numbers. `is_additive`: its values may be summed over rows and over reports (counts and times, not means)."""

    key: str
    title: str
    unit: str
    kind: Kind
    worse: Worse
    decimals: int
    help: str
    is_additive: bool


@dataclass(frozen=True, slots=True)
class TablePart:
    """Rows with keys.

    Shape: keys[i] n texts for each of `key_names`; values[j] n numbers or None for each of `columns`; report (n) numbers into
    `report_us`. `weight` is the key of the column that ranks the rows, "" where none does.
    Units: report_us microseconds since the epoch, None where no time is known.
    """

    stat: str
    title: str
    key_names: tuple[str, ...]
    keys: tuple[Sequence[str], ...]
    columns: tuple[PartColumn, ...]
    values: tuple[Sequence[Number | None], ...]
    weight: str
    report: Sequence[int]
    report_us: tuple[int | None, ...]
    kind: PartKind = PartKind.TABLE

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.report)

    def column(self, key: str) -> Sequence[Number | None]:
        """Return the values of a column.

        Raises: KeyError
        """
        for column, values in zip(self.columns, self.values, strict=True):
            if column.key == key:
                return values
        raise KeyError(key)


@dataclass(frozen=True, slots=True)
class StackPart:
    """Stacks as a tree that starts at the root of each stack; equal beginnings are one node.

    Node 0 is the whole. A node's parent comes before it. `values[j]` holds what belongs to the node itself, not to its callees.
    Shape: parent, name (n_nodes) int32, name is a number into `names`; values[j] (n_nodes) int64 or float64 for each of `columns`.
    `n_cut` stacks lost their deepest frames, because there were too many nodes; their weight is in the frame above.
    """

    stat: str
    title: str
    columns: tuple[PartColumn, ...]
    weight: str
    names: Sequence[str]
    parent: npt.NDArray[np.int32]
    name: npt.NDArray[np.int32]
    values: tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], ...]
    n_stacks: int
    n_cut: int = 0
    kind: PartKind = PartKind.STACKS

    @property
    def n_rows(self) -> int:
        """Number of different stacks."""
        return self.n_stacks


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of a distribution, half-open [low, high). Missing: None where it has no end on that side."""

    label: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class HistogramPart:
    """Distributions that share their buckets, by key and report.

    Shape: counts[i] one count for each of `buckets`, in the distribution keys[i] of the report report[i].
    Units: `unit` that of the buckets' ends, "" where the tool does not say.
    """

    stat: str
    title: str
    unit: str
    buckets: tuple[Bucket, ...]
    keys: Sequence[str]
    report: Sequence[int]
    report_us: tuple[int | None, ...]
    counts: Sequence[Sequence[Number]]
    kind: PartKind = PartKind.HISTOGRAM

    @property
    def n_rows(self) -> int:
        """Number of distributions."""
        return len(self.keys)


class LogClock(StrEnum):
    """What the times of a log count from.

    epoch     the epoch: they are dates
    day       the midnight of an unknown day
    relative  the boot of the host, or the start of the trace: the tool does not say
    """

    EPOCH = "epoch"
    DAY = "day"
    RELATIVE = "relative"


class CodedTexts(Sequence[str]):
    """Texts that mostly repeat: each different one once, and its number for each row.

    Shape: names (n_names), codes (n) int32, numbers into `names`.
    """

    __slots__ = ("_known", "codes", "names")

    def __init__(self, names: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        self.names = names
        self.codes = codes
        self._known: dict[str, npt.NDArray[np.int64]] = {}

    def remember(self, what: str, make: Callable[[Sequence[str]], npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        """Return what is made of the names, which never change, made once."""
        if what not in self._known:
            self._known[what] = make(self.names)
        return self._known[what]

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> "CodedTexts": ...

    def __getitem__(self, at: int | slice) -> "str | CodedTexts":
        if isinstance(at, slice):
            return CodedTexts(self.names, self.codes[at])
        name: str = self.names[self.codes[at]]
        return name

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodedTexts) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "CodedTexts":
        """Return texts as their names, in the order of their first rows, and codes."""
        known: dict[str, int] = {}
        codes = [known.setdefault(text, len(known)) for text in texts]
        return cls(list(known), np.array(codes, np.int32))


# Marks a number that an event of a log does not have.
NO_NUMBER: Final = -1


@dataclass(frozen=True, slots=True)
class LogPart:
    """Events of a trace, in the order of their times; those of one time in the order of their lines.

    `object`: what the event is about: a lock's address, an interrupt, the task that is woken or comes next. `function`: where it
    happened. `arguments`: what else the tool printed. `duration_ns`: how long it took, by the tool.
    Shape: time_ns, duration_ns (n) int64; cpu, pid, line (n) int32; the others n texts.
    Units: time_ns nanoseconds since what `clock` says; the tool printed `decimals` digits of a second. line is from 1.
    Missing: NO_NUMBER, texts "".
    `n_backwards`: events that were printed after one with a later time.
    """

    stat: str
    title: str
    clock: LogClock
    decimals: int
    time_ns: npt.NDArray[np.int64]
    cpu: npt.NDArray[np.int32]
    pid: npt.NDArray[np.int32]
    command: CodedTexts
    event: CodedTexts
    function: CodedTexts
    object: CodedTexts
    duration_ns: npt.NDArray[np.int64]
    arguments: CodedTexts
    line: npt.NDArray[np.int32]
    n_backwards: int = 0
    kind: PartKind = PartKind.LOG

    @property
    def n_rows(self) -> int:
        """Number of events."""
        return len(self.time_ns)


Part = TablePart | StackPart | HistogramPart | LogPart
