"""The lines of a ledger: the only definition of their shape. The docstrings of the fields become descriptions in OpenAPI."""

from dataclasses import dataclass
from typing import Literal

from normstat.comparison.side_values import SideValues, Sparkline
from normstat.runtime.field_docs import Documented

# Throttling: a unit that used up its CPU time; memory_limit: one that was at its limit of memory.
Resource = Literal["cpu", "memory", "disk", "network", "processes", "gpu", "throttling", "memory_limit", "database"]
Certainty = Literal["sure", "likely", "nothing"]
# CPU time; anonymous memory; data read and written; processes that waited for a disk; CPU time of ended children; time of a GPU;
# sessions of a database that executed a statement; sessions that waited for one that blocked them.
Quantity = Literal["cpu", "memory", "read", "written", "blocked", "children", "gpu", "statement", "blocking"]
PartKind = Literal["process", "command", "unit", "statement", "session", "kernel", "others", "remainder"]


@dataclass(frozen=True, slots=True)
class LedgerPart(Documented):
    """How much of a resource one user took. In the unit of the line, or of the part's own `unit`."""

    name: str
    """`python3 (21866)`, `yes (2 processes)`, `statement 0x4f2a1b3c: UPDATE orders`, `interrupts`, `others`, `not seen`."""
    stat: str
    """The stat that it was read from."""
    instance: str
    """The process, command or unit in `stat`. Empty for the kernel and the remainder."""
    kind: PartKind
    """A process, the processes of a command, those of a systemd unit or container, a statement or the session of a
    database, a part of the kernel, all others
    together, or what is left of the total."""
    command: str
    """The command. Empty for units, the kernel and the remainder."""
    pids: list[int]
    """Process ids that made the change, largest first, at most 20. Empty where no tool reported them."""
    quantity: Quantity
    """The quantity."""
    unit: str
    baseline: float
    """Mean of the baseline."""
    incident: float
    """Mean of the incident; of memory that of the quarter that differs most."""
    low: float
    """Lower end of its normal range: of the means of the baseline's windows."""
    high: float
    """Upper end of its normal range."""
    change: float
    """Incident minus baseline."""
    share: float | None
    """Share of the change of all parts that changed in the same direction, 0..1; of a unit in the unit of the line, share of the
    total's. Null for the others and the remainder."""
    is_outside: bool
    """Whether the incident is outside the normal range by more than the largest part of a normal window is."""
    is_new: bool
    """Whether it was not there in the baseline."""
    is_gone: bool
    """Whether its command is not there in the incident."""
    start_ms: int | None
    """First sample in the incident, milliseconds since the epoch. Null where it may have been there from the beginning."""
    is_culprit: bool
    """Whether the sentence of the line names it."""
    windows: list[float]
    """Its mean in each window of the baseline, as the line's `window_starts_ms`."""
    of_unit: str = ""
    """The systemd unit or container of the first process. Empty: in none, or the raw output is gone."""


@dataclass(frozen=True, slots=True)
class DrawnTotal(Documented):
    """The total of a line over time, a value for each report, in the unit of the line."""

    baseline: SideValues
    incident: SideValues
    sparkline: Sparkline
    onset_ms: int | None
    """First report of the incident outside the baseline's range, milliseconds since the epoch. Null: none is."""


@dataclass(frozen=True, slots=True)
class LedgerLine(Documented):
    """A resource of a host: its total, what is normal, and who took it."""

    host: str
    resource: Resource
    name: str
    """What the total is of: `the CPUs`, `memory`, a disk, an interface, a GPU, a unit or container, a database."""
    stat: str
    """The stat of the total."""
    fields: list[str]
    """The fields that the total was made of."""
    instance: str
    """The instance of the total. Empty for stats without instances."""
    unit: str
    """Of the total; CPU time is in per cent of one CPU."""
    capacity: float | None
    """Most that the total can be. Null: not known."""
    baseline: float
    """Mean of the baseline."""
    incident: float
    """Mean of the incident; of memory that of the quarter that differs most."""
    low: float
    """Lower end of the normal range: of the means of the baseline's windows, which are as long as the incident or shorter."""
    high: float
    """Upper end of the normal range."""
    change: float
    """Incident minus baseline."""
    outside: float
    """Signed distance of the incident from the normal range; 0 within it."""
    is_full: bool
    """Whether the total is at its capacity, so that its split is the answer."""
    certainty: Certainty
    ratio: float
    """How many times as far outside its normal range the total, or one of its parts, is as that of a normal window."""
    weight: float
    """Orders the lines: how much of the capacity changed beyond what is normal, 0..1."""
    parts: list[LedgerPart]
    """The users that moved as the total did come first, those outside their normal range before the rest, at most 12; then all
    others together. With the remainder they are the total."""
    units: list[LedgerPart]
    """The same, split by systemd unit and container: those that changed, in the same order, at most 12. Ended processes count."""
    remainder: LedgerPart | None
    """What no part explains. Null where the total has no parts in its own unit."""
    window_s: float
    """Length of the windows of the baseline that the normal range is made of, seconds."""
    window_starts_ms: list[int]
    """When each of them begins, milliseconds since the epoch."""
    windows: list[float]
    """The mean of the total in each of them."""
    sentence: str
    note: str = ""
    """What was not recorded; of a unit at its limit, what the host had left. Empty: there is nothing to add."""
    limit: float | None = None
    """The CPUs, or KiB of memory, that the unit may use. Null: unknown, or the line is not about a unit."""
    drawn: DrawnTotal | None = None
    """Null where the line is not worth reporting."""
