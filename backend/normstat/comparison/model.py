"""The result of a comparison: the only definition of its shape.

`service` builds it, `saved_format` stores and reads it, the API serialises it, the report renders it, and the page's types are
generated from its OpenAPI schema. The docstrings of the fields become descriptions in that schema. Baseline first, incident second.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from normstat.comparison.ledger_model import LedgerLine, Resource
from normstat.comparison.side_values import SideValues, Sparkline
from normstat.runtime.field_docs import Documented
from normstat.window import Window

FindingKind = Literal[
    "level", "top", "bottom", "stall", "spikes", "movement", "frozen", "saturated", "trend", "missing",
    "appeared", "disappeared", "zero", "rhythm",
]  # fmt: skip
StoryRole = Literal["work", "busy", "latency", "wait", "errors", "detail"]
ProcessChange = Literal["new", "gone", "more", "less"]
Direction = Literal["up", "down", "same"]
BaselineKind = Literal["baseline", "window", "ago", "host", "group"]
CircumstanceKind = Literal["event", "observer", "no_samples", "lost_bytes", "rejected_lines"]
Subsystem = Literal["cpu", "memory", "disk", "network", "process", "system", "other"]


@dataclass(frozen=True, slots=True)
class ChangeRatios(Documented):
    """The change ratio of each kind of change: how many times its normal variation the series moved in that respect."""

    value: float
    """Level: quantiles, trend."""
    top: float
    """Highest values."""
    bottom: float
    """Lowest values."""
    step: float
    """Movement from sample to sample."""
    still: float
    """Share of equal neighbouring samples."""
    missing: float
    """Share of reports without a value."""
    load: float
    """Level, after subtracting what the load of the host explains."""


@dataclass(frozen=True, slots=True)
class Finding(Documented):
    """A series that changed."""

    instance: str
    """Name of the instance; empty for stats without instances."""
    kind: FindingKind
    direction: Direction
    is_worse: bool | None
    """Whether the change is for the worse. Null: more of it is neither better nor worse."""
    baseline: SideValues
    incident: SideValues
    change_scale: float
    """Natural change of the series, as `kind` measures it: in the field's unit, as a share, or as a factor."""
    change: float
    """Signed change in the incident, as `kind` measures it."""
    change_ratio: float
    """How many times its normal variation the series moved: |change| / change_scale."""
    significance: float
    """Minus the decimal logarithm of the chance of such a change in a normal window."""
    certainty: Literal["sure", "likely"]
    """Whether the change is unusual, or only likely to be."""
    explained_by_load: float
    """Share of the change that the load of the host explains, 0..1."""
    change_ratios: ChangeRatios
    impact: float
    """How much more or less of it there is, 0..1: points of a percentage, else decades of the host's total."""
    anomaly_score: float
    """Orders findings: significance and impact in one number, 0..1."""
    sentence: str
    sparkline: Sparkline | None
    """Null where the finding is not drawn: only the strongest members of the first groups are."""
    expected: float | None = None
    """What people expect of the series. Null: unknown."""


@dataclass(frozen=True, slots=True)
class Command(Documented):
    """A command ready to copy."""

    command: str
    note: str
    """What it shows."""
    needs: str
    """`root`, or empty."""
    source: str
    """A manual page or an address."""
    keep: str = ""
    """The command with its output piped into `normstat-agent put`, as evidence of its host; empty where it is no artefact."""


@dataclass(frozen=True, slots=True)
class Question(Documented):
    """A next question, with the commands that may answer it on this host."""

    why: str
    commands: list[Command]


@dataclass(frozen=True, slots=True)
class FindingGroup(Documented):
    """Findings of one field of a host that changed together, strongest first."""

    rank: int
    """1 for the group with the highest anomaly score."""
    host: str
    stat: str
    field: str
    column: str
    unit: str
    help: str
    subsystem: Subsystem
    kind: FindingKind
    """Taken from the strongest member, like direction, is_worse, change_ratio, significance, certainty and anomaly_score."""
    direction: Direction
    is_worse: bool | None
    """Whether the change is for the worse. Null: more of it is neither better nor worse."""
    change_ratio: float
    """How many times its normal variation the strongest member moved."""
    significance: float
    """Minus the decimal logarithm of the chance of such a change in a normal window."""
    certainty: Literal["sure", "likely"]
    impact: float
    """How much more or less of it there is over all instances, 0..1."""
    anomaly_score: float
    """Orders the groups, 0..1."""
    sentence: str
    n_members: int
    """Series in the group, without the summary of others such as CPU all; 1 for a summary alone."""
    n_instances: int
    """Series of this field on the host, without summaries; 1 for a group of a summary alone."""
    instances: list[str]
    """Names of the members, strongest first, at most 200."""
    members: list[Finding]
    """The strongest members, at most 20."""
    related: list[str]
    """Sentences of other groups of this stat that have mostly the same instances."""
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class StoryProcess(Documented):
    """A process, or the processes of one command, that behaved differently in the incident."""

    host: str
    stat: str
    instance: str
    """The process or command in `stat`."""
    name: str
    """The command, with the process id or the number of processes: `dd (29206)`, `yes (2 processes)`."""
    pids: list[int]
    """Process ids seen in the incident, at most 20. Empty where no tool reported them."""
    change: ProcessChange
    """Not there in the baseline, not there in the incident, or there in both with more or less of something."""
    start_ms: int | None
    """First sample in the incident, milliseconds since the epoch. Null where it was there from the first report on."""
    sentence: str
    origin: str = ""
    """User, unit, parent and arguments of the first process, as far as the raw output says them. Empty: nothing is known."""


@dataclass(frozen=True, slots=True)
class StoryLine(Documented):
    """One clause of a story's evidence."""

    role: StoryRole
    """Throughput, utilisation, latency, waiting, errors, or a detail of the resource."""
    text: str
    rank: int
    """Of the group that it is from."""


@dataclass(frozen=True, slots=True)
class Story(Documented):
    """Groups with one cause: the processes responsible, the resource, and what waited for it."""

    rank: int
    """1 for the story with the highest anomaly score."""
    hosts: list[str]
    """The hosts that show it; the first one began first."""
    topic: str
    """The resource: cpu, disk, memory, network, locks, filesystem, nfs, or the name of a stat that belongs to none of them."""
    title: str
    sentence: str
    anomaly_score: float
    """Of the strongest group."""
    significance: float
    impact: float
    is_worse: bool | None
    """Whether the change is for the worse. Null: neither better nor worse."""
    onset_ms: int | None
    """First sample of the incident outside the baseline's range, milliseconds since the epoch. Null: none is."""
    processes: list[StoryProcess]
    """Strongest first, at most 10."""
    lines: list[StoryLine]
    """The evidence in the order of cause and effect; the sentence holds the first of it."""
    also_seen_by: list[str]
    """Columns of other tools that show the same quantities: `bo (vmstat)`."""
    ranks: list[int]
    """All groups of the story, strongest first."""
    resource: Resource | None = None
    """Resource of the ledger line whose sentence begins the story. Null: no ledger line does."""


@dataclass(frozen=True, slots=True)
class UnmatchedSeries(Documented):
    """A series with samples on one side only."""

    host: str
    stat: str
    field: str
    instance: str
    """Name of the instance; empty for stats without instances."""
    n: int
    """Samples on the side that has the series."""
    sentence: str


@dataclass(frozen=True, slots=True)
class InsufficientData(Documented):
    """A series with too few samples to score."""

    host: str
    stat: str
    field: str
    instance: str
    """Name of the instance; empty for stats without instances."""
    n_baseline: int
    n_incident: int
    reason: str


@dataclass(frozen=True, slots=True)
class MutedFinding(Documented):
    """A series that changed and is muted."""

    host: str
    stat: str
    field: str
    instance: str
    """Name of the instance; empty for stats without instances."""
    change_ratio: float
    """How many times its normal variation the series moved."""
    significance: float
    """Minus the decimal logarithm of the chance of such a change in a normal window."""


@dataclass(frozen=True, slots=True)
class ComparedBaseline(Documented):
    """What the incident was compared with."""

    kind: BaselineKind
    """A saved baseline, a window of the same host, the same time a day or a week ago, or another host or the other hosts of a host
    group in the same window."""
    name: str
    """In words."""
    baseline_id: int | None
    """Null unless `kind` is `baseline`."""
    version: int | None
    """Version of the baseline. Null unless `kind` is `baseline`."""
    windows: list[Window]
    """Windows of the first host, without excluded periods."""
    host: str | None
    """Null unless `kind` is `host`."""
    group: str | None = None
    """Name of the host group. Null unless `kind` is `group`."""
    members: list[str] = field(default_factory=list)
    """Hosts of the group that the incident was compared with. Empty unless `kind` is `group`."""


@dataclass(frozen=True, slots=True)
class Circumstance(Documented):
    """A circumstance of the incident: an event, a tool that disturbed the host, or missing data."""

    kind: CircumstanceKind
    host: str
    sentence: str
    """In words, without times of day."""
    start_ms: int | None
    """When it happened or began, milliseconds since the epoch; of a change that was seen later, the earliest possible time. Null:
    the time is not known."""
    end_ms: int | None
    """When it ended; of a change that was seen later, the latest possible time. Null for a moment."""
    command: str | None = None
    """The tool that disturbed the host, where its process was recorded."""
    stream_id: int | None = None
    """The stream that has the rejected lines, or lost bytes."""
    artefact: int | None = None
    """The artefact of the tool that disturbed the host."""
    is_likely_cause: bool = False
    """Whether it is the change whose time fits the onset best: it came shortly before."""


@dataclass(frozen=True, slots=True)
class SideCoverage(Documented):
    """How much data one side has."""

    covered_s: float
    """Seconds with samples, of the stat that covers most."""
    n_samples: int
    """Samples that were read, of all stats and hosts."""
    n_rows_skipped: int
    """Rows beyond the limit that were not read."""


@dataclass(frozen=True, slots=True)
class Sides(Documented):
    """How much data both sides have."""

    baseline: SideCoverage
    incident: SideCoverage


@dataclass(frozen=True, slots=True)
class Counts(Documented):
    """Series outside the findings: all of them, while their lists hold at most 1,000 each."""

    appeared: int
    disappeared: int
    insufficient_data: int
    muted: int


@dataclass(frozen=True, slots=True)
class Comparison(Documented):
    """All series of the hosts, incident against baseline, ranked."""

    hosts: list[str]
    start: datetime
    """First instant of the incident."""
    end: datetime
    """First instant after the incident."""
    method_version: int
    """Version of the scoring method; results of different versions are not comparable."""
    against: ComparedBaseline
    divisor: str | None
    """The series that all others were divided by, as stat.field or stat.field@instance. Null: none."""
    sides: Sides
    is_seasonal: bool
    """Whether the incident was compared with the same hours of the day only."""
    seasonal_note: str
    """Which hours it was compared with, or why with all. Empty without a stored profile."""
    n_series: int
    n_unchanged: int
    n_findings: int
    n_groups: int
    """All groups; `groups` holds at most `limit` of them."""
    verdict: str
    """The result in one sentence."""
    groups: list[FindingGroup]
    appeared: list[UnmatchedSeries]
    """Series with samples in the incident only."""
    disappeared: list[UnmatchedSeries]
    """Series with samples in the baseline only."""
    insufficient_data: list[InsufficientData]
    muted: list[MutedFinding]
    counts: Counts
    spec_versions: dict[str, int]
    """Versions of the specs that the samples were read with."""
    elapsed_ms: int
    """Time that the comparison took."""
    stories: list[Story] = field(default_factory=list)
    """The groups by story, strongest first."""
    notes: list[str] = field(default_factory=list)
    """Notes: small new processes, and how far the baseline can be trusted."""
    circumstances: list[Circumstance] = field(default_factory=list)
    """What else happened around the incident: the events nearest to the onset of the first story first, then tools that disturbed
    the hosts, then missing data."""
    ledger: list[LedgerLine] = field(default_factory=list)
    """Each resource of each host, and its users; per host the heaviest first. Empty where the baseline's samples were not
    read."""
    divisor_note: str = ""
    """How many reports were left out because the divisor is zero or missing in them. Empty: none."""
