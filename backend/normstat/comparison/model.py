"""What a comparison says: findings in groups, and what is apart from them. Baseline first, incident second."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from normstat.window import Window

FindingKind = Literal[
    "level", "spread", "shape", "top", "bottom", "stall", "spikes", "movement", "frozen", "saturated", "trend", "missing",
    "appeared", "zero",
]  # fmt: skip
Direction = Literal["up", "down", "same"]
AgainstKind = Literal["baseline", "window", "ago", "host"]
SideName = Literal["baseline", "incident"]


@dataclass(frozen=True, slots=True)
class SideValues:
    """One side of a series, in the unit of its field. Missing: None where it has no sample.

    `quantiles`: N_QUANTILES numbers from the lowest to the highest, evenly spaced in probability; `p99` of a stored profile is the
    mean of the largest 2 % of its windows
    """

    n: int
    mean: float | None
    median: float | None
    p5: float | None
    p95: float | None
    p99: float | None
    lowest: float | None
    highest: float | None
    quantiles: list[float] | None


@dataclass(frozen=True, slots=True)
class Columns:
    """Lowest and highest of equal columns of time. Missing: None where there is no sample."""

    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """The incident over time; `baseline`: in the same shape by elapsed time, where its samples were read and it is one window."""

    start_ms: int
    end_ms: int
    low: list[float | None]
    high: list[float | None]
    baseline: Columns | None


@dataclass(frozen=True, slots=True)
class Parts:
    """How many times its usual change each kind of change is; `load`: against what the load of the host explains."""

    value: float
    shape: float
    top: float
    bottom: float
    step: float
    still: float
    missing: float
    load: float


@dataclass(frozen=True, slots=True)
class Finding:
    """A series that differs.

    `usual`: how much it changes by itself, `change`: how much it did, both as the kind measures it (the field's unit, a share, a
    factor);
    `score`: how many times the usual that is; `surprise`: minus the decimal logarithm of the chance of that in a normal window;
    `impact`: how much of it there is, 0..1
    """

    instance: str
    kind: FindingKind
    direction: Direction
    is_worse: bool | None
    baseline: SideValues
    incident: SideValues
    usual: float
    change: float
    score: float
    surprise: float
    explained: float
    parts: Parts
    impact: float
    weight: float
    sentence: str
    figure: Figure | None


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one field of a host that tell the same, the strongest first."""

    host: str
    stat: str
    field: str
    column: str
    unit: str
    help: str
    kind: FindingKind
    direction: Direction
    is_worse: bool | None
    score: float
    surprise: float
    impact: float
    weight: float
    sentence: str
    n_members: int
    n_instances: int
    instances: list[str]
    members: list[Finding]
    related: list[str] = dataclasses.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class OneSided:
    """A series that only one side has."""

    host: str
    stat: str
    field: str
    instance: str
    side: SideName
    n: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Thin:
    """A series that was not judged, and why."""

    host: str
    stat: str
    field: str
    instance: str
    n_baseline: int
    n_incident: int
    reason: str


@dataclass(frozen=True, slots=True)
class Muted:
    """A finding that nobody wanted to see."""

    host: str
    stat: str
    field: str
    instance: str
    score: float


@dataclass(frozen=True, slots=True)
class SideAccount:
    """How much one side holds: seconds with samples, by the stat that covers most, all samples, and rows that were not read."""

    covered_s: float
    n_samples: int
    n_rows_skipped: int = 0


@dataclass(frozen=True, slots=True)
class HostComparison:
    """One host: every series of it is in a group, unchanged, one-sided, thin or muted."""

    host: str
    windows: Sequence[Window]
    version: int | None
    baseline: SideAccount
    incident: SideAccount
    is_seasonal: bool
    seasonal_note: str
    n_unchanged: int
    n_findings: int
    groups: list[Group]
    one_sided: list[OneSided]
    thin: list[Thin]
    muted: list[Muted]
    spec_versions: dict[str, int]

    @property
    def n_series(self) -> int:
        """All series that were looked at."""
        return self.n_unchanged + self.n_findings + len(self.one_sided) + len(self.thin) + len(self.muted)
