"""The bodies of baselines, and of what is around them: versions, health, exclusions, mutes, groups of hosts."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from normstat.api.instants import Instant
from normstat.api.schemas import NO_NUL, BaselineInfo, Body, Interval, Name, Note
from normstat.baselines.lifecycle import MAX_RECORD_HOURS, MIN_RECORD_HOURS

StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=100_000, pattern=NO_NUL)]
Hosts = Annotated[list[Name], Field(min_length=1, max_length=10_000)]
TimeZone = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=NO_NUL)]


class BaselineList(Body):
    """Baselines, the newest first."""

    baselines: list[BaselineInfo]


class IntervalInput(Body):
    """A window in a request: half-open [start, end); both need a zone."""

    start: Instant
    end: Instant


Windows = Annotated[list[IntervalInput], Field(min_length=1, max_length=10_000)]


class RuleInput(Body):
    """Windows that come again, by an RRULE (RFC 5545) or a word (daily, weekdays, weekends, mondays).

    `start`: local time of day (09:00; the windows of the last `keep_days` are then there at once), or local date and time
    (2026-11-02T09:00). Whole days of `duration_s` are days of the calendar.
    """

    rrule: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
    start: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
    duration_s: Annotated[int, Field(ge=1, le=2**31 - 1)]
    keep_days: Annotated[int, Field(ge=1, le=100_000)] = 28


class BaselineCreate(Body):
    """A new baseline: of `hosts` or a `group`, made of just one of `windows`, `record_hours` (from now on) and `rule`."""

    name: Name
    note: Note = ""
    hosts: Hosts | None = None
    group: Name | None = None
    windows: Windows | None = None
    record_hours: Annotated[float, Field(ge=MIN_RECORD_HOURS, le=MAX_RECORD_HOURS)] | None = None
    rule: RuleInput | None = None
    time_zone: TimeZone = "UTC"


class BaselineUpdate(Body):
    """What to change of a baseline; members left out stay. `rule` null ends its rule; `reason` says why, in its versions."""

    name: Name | None = None
    note: Note | None = None
    windows: Windows | None = None
    hosts: Hosts | None = None
    group: Name | None = None
    time_zone: TimeZone | None = None
    rule: RuleInput | None = None
    reason: Reason | None = None


class BaselineCopy(Body):
    """The name of the copy."""

    name: Name


class BaselineArchive(Body):
    """Whether the baseline is hidden from lists."""

    is_archived: bool


class VersionInfo(Body):
    """What a baseline was, and why it became so."""

    version: int
    windows: list[Interval]
    hosts: list[str]
    time_zone: str
    reason: str
    made_by: str
    made_at: datetime


class VersionList(Body):
    """All versions of a baseline, the newest first."""

    versions: list[VersionInfo]


class StatHealth(Body):
    """What a baseline has of one stat. `instances_gone` are in it and not in the last day of data, `instances_new` the reverse.

    At most 20 names each; the numbers count all. `n_samples` is an estimate where `is_estimate`.
    """

    stat: str
    n_samples: int
    is_estimate: bool
    coverage: float
    instances_gone: list[str]
    n_instances_gone: int
    instances_new: list[str]
    n_instances_new: int


class HostHealth(Body):
    """What a baseline has of one host; `coverage`: part of the effective windows, as far as they are over, that has samples."""

    host: str
    state: Literal["good", "stale", "thin", "empty"]
    reasons: list[str]
    windows: list[Interval]
    coverage: float
    n_samples: int
    newest_at: datetime | None
    age_days: float | None
    stats: list[StatHealth]


class BaselineHealth(Body):
    """The health of a baseline for each of its hosts."""

    version: int
    hosts: list[HostHealth]


class ExclusionCreate(Body):
    """A window that was an incident; without a host, of all hosts."""

    name: Name
    note: Note = ""
    start: Instant
    end: Instant
    host: Name | None = None


class ExclusionInfo(Body):
    """A window that no baseline counts."""

    id: int
    name: str
    note: str
    start: datetime
    end: datetime
    host: str | None
    created_by: str
    created_at: datetime


class ExclusionMade(Body):
    """The new exclusion, and how many baselines leave something out because of it."""

    exclusion: ExclusionInfo
    n_baselines: int


class ExclusionGone(Body):
    """How many baselines count the window again."""

    n_baselines: int


class ExclusionList(Body):
    """Exclusions, the newest window first."""

    exclusions: list[ExclusionInfo]


class MuteCreate(Body):
    """A series that shall not be among the findings; without a host of all hosts, without an instance of all instances."""

    host: Name | None = None
    stat: StatName
    field: FieldKey
    instance: InstanceName | None = None
    reason: Note = ""


class MuteInfo(Body):
    """A muted series."""

    id: int
    host: str | None
    stat: str
    field: str
    instance: str | None
    reason: str
    created_by: str
    created_at: datetime


class MuteList(Body):
    """Muted series, the newest first."""

    mutes: list[MuteInfo]


class HostGroupCreate(Body):
    """A new group of hosts."""

    name: Name
    note: Note = ""
    hosts: Hosts


class HostGroupUpdate(Body):
    """What to change; members left out stay. With other hosts, the group's baselines get a new version."""

    name: Name | None = None
    note: Note | None = None
    hosts: Hosts | None = None


class HostGroupInfo(Body):
    """A group of hosts, and the names of the baselines that speak of it."""

    id: int
    name: str
    note: str
    hosts: list[str]
    baselines: list[str]


class HostGroupList(Body):
    """All groups, by name."""

    groups: list[HostGroupInfo]


class BandStep(Body):
    """The band in [start, end), in the field's unit; `n`: samples."""

    start_ms: int
    end_ms: int
    p5: float
    p50: float
    p95: float
    n: int


class BandInfo(Body):
    """The band of a series, step by step; without steps, `reason` says why."""

    baseline: int
    version: int
    is_seasonal: bool
    steps: list[BandStep]
    unit: str
    reason: str | None
