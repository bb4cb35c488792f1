"""The bodies of comparisons: findings in groups, what is apart from them, and comparisons that were kept.

The records of normstat.comparison have members of the same names. Baseline first, incident second.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.schemas import Body, Interval, Name, Note

FindingKind = Literal[
    "level", "spread", "shape", "top", "bottom", "stall", "spikes", "movement", "frozen", "saturated", "trend", "missing",
    "appeared", "zero",
]  # fmt: skip
Subsystem = Literal["cpu", "memory", "disk", "network", "process", "system", "other"]


class Summary(Body):
    """One side of a series. Missing: null where it has no sample. `quantiles`: 33 from the lowest to the highest."""

    n: int
    mean: float | None
    median: float | None
    p5: float | None
    p95: float | None
    p99: float | None
    lowest: float | None
    highest: float | None
    quantiles: list[float] | None


class Columns(Body):
    """Lowest and highest of equal columns of time; null where there is no sample."""

    low: list[float | None]
    high: list[float | None]


class Figure(Columns):
    """The incident over time; `baseline`: in the same shape by elapsed time, where it is one window."""

    start_ms: int
    end_ms: int
    baseline: Columns | None


class ScoreParts(Body):
    """How many times the usual change each kind of change is; `load`: against what the load of the host explains."""

    value: float
    shape: float
    top: float
    bottom: float
    step: float
    still: float
    missing: float
    load: float = 0.0


class Finding(Body):
    """A series that differs. `usual`: how much it changes by itself; `score`: how many times that it did; `surprise`: minus the
    decimal logarithm of the chance of that in a normal window; `impact`: how much of it there is, 0..1; `explained`: the share
    that the load explains, 0..1."""

    instance: str
    kind: FindingKind
    baseline: Summary
    incident: Summary
    usual: float
    change: float
    score: float
    surprise: float = 0.0
    explained: float = 0.0
    parts: ScoreParts
    impact: float
    sentence: str
    figure: Figure | None


class Command(Body):
    """A command ready to copy. `needs`: "root" or ""; `source`: a manual page or an address."""

    command: str
    note: str
    needs: str
    source: str


class Question(Body):
    """What to ask next."""

    why: str
    commands: list[Command]


class Group(Body):
    """Findings of one field that tell the same; `members` and `instances` hold the strongest, `n_members` counts all."""

    rank: int
    host: str
    stat: str
    field: str
    column: str
    unit: str
    help: str
    subsystem: Subsystem
    kind: FindingKind
    direction: Literal["up", "down", "same"]
    is_worse: bool | None
    score: float
    surprise: float = 0.0
    impact: float
    weight: float
    sentence: str
    n_members: int
    n_instances: int
    instances: list[str]
    members: list[Finding]
    related: list[str]
    questions: list[Question]


class OneSided(Body):
    """A series that only one side has."""

    host: str
    stat: str
    field: str
    instance: str
    side: Literal["baseline", "incident"]
    n: int
    sentence: str


class Thin(Body):
    """A series that was not judged."""

    host: str
    stat: str
    field: str
    instance: str
    n_baseline: int
    n_incident: int
    reason: str


class MutedFinding(Body):
    """A finding that nobody wanted to see."""

    host: str
    stat: str
    field: str
    instance: str
    score: float


class Against(Body):
    """What the incident was compared with; `name` in words."""

    kind: Literal["baseline", "window", "ago", "host"]
    name: str
    baseline_id: int | None
    version: int | None
    windows: list[Interval]
    host: str | None


class Side(Body):
    """How much one side holds: seconds with samples, by the stat that covers most, all samples, and rows that were not read."""

    covered_s: float
    n_samples: int
    n_rows_skipped: int = 0


class Sides(Body):
    """How much both sides hold."""

    baseline: Side
    incident: Side


class Counts(Body):
    """How many series are apart from the findings."""

    one_sided: int
    thin: int
    muted: int


class Comparison(Body):
    """All series of the hosts, incident against what is normal, ranked. `verdict`: the whole of it in one sentence."""

    hosts: list[str]
    start: datetime
    end: datetime
    method_version: int
    against: Against
    divisor: str | None
    sides: Sides
    is_seasonal: bool
    seasonal_note: str
    n_series: int
    n_unchanged: int
    n_findings: int
    n_groups: int
    verdict: str
    groups: list[Group]
    one_sided: list[OneSided]
    thin: list[Thin]
    muted: list[MutedFinding]
    counts: Counts
    spec_versions: dict[str, int]
    elapsed_ms: int


# --- kept ones ---


class KeptCreate(Body):
    """A comparison to be kept: it is made, and its answer never changes afterwards."""

    name: Name
    note: Note = ""
    inputs: ComparisonInputs


class KeptUpdate(Body):
    """Another name or note."""

    name: Name | None = None
    note: Note | None = None


class KeptInfo(Body):
    """A kept comparison without its answer. `inputs`: the parameters of GET /comparison that gave it."""

    id: int
    name: str
    note: str
    inputs: dict[str, Annotated[str | int | list[str] | None, Field(union_mode="left_to_right")]]
    created_by: str
    created_at: datetime


class KeptList(Body):
    """Kept comparisons, the newest first."""

    comparisons: list[KeptInfo]


class Kept(KeptInfo):
    """A kept comparison with its answer, as it was when it was kept."""

    result: Comparison
