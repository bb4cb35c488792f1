"""The bodies of baselines and of their versions, health, exclusions, mutes and host groups."""

from typing import Annotated

from pydantic import Field, StringConstraints

from normstat.baselines.baseline_health import HostHealth
from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_versions import VersionInfo
from normstat.baselines.exclusion_rows import ExclusionInfo
from normstat.baselines.host_group_rows import HostGroupInfo
from normstat.baselines.lifecycle import MAX_RECORD_HOURS, MIN_RECORD_HOURS
from normstat.baselines.mute_rows import MuteInfo
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Note

StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=100_000, pattern=NO_NUL)]
Hosts = Annotated[list[Name], Field(min_length=1, max_length=10_000)]
TimeZone = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=NO_NUL)]


class BaselineList(Body):
    """Baselines, newest first."""

    baselines: list[BaselineInfo]


class IntervalInput(Body):
    """A window in a request: half-open [start, end); both instants need a zone."""

    start: Instant
    end: Instant


Windows = Annotated[list[IntervalInput], Field(min_length=1, max_length=10_000)]


class RuleInput(Body):
    """Recurring windows, as an RRULE (RFC 5545) or a word (daily, weekdays, weekends, mondays).

    `start`: local time of day (09:00; the windows of the last `keep_days` then exist at once), or local date and time
    (2026-11-02T09:00). Whole days of `duration_s` are calendar days.
    """

    rrule: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
    start: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
    duration_s: Annotated[int, Field(ge=1, le=2**31 - 1)]
    keep_days: Annotated[int, Field(ge=1, le=100_000)] = 28


class BaselineCreate(Body):
    """A new baseline for `hosts` or a `group`, defined by exactly one of `windows`, `record_hours` (from now on) and `rule`."""

    name: Name
    note: Note = ""
    hosts: Hosts | None = None
    group: Name | None = None
    windows: Windows | None = None
    record_hours: Annotated[float, Field(ge=MIN_RECORD_HOURS, le=MAX_RECORD_HOURS)] | None = None
    rule: RuleInput | None = None
    time_zone: TimeZone = "UTC"


class BaselineUpdate(Body):
    """Changes to a baseline; members left out stay unchanged. `rule` null removes its rule; `reason` is recorded with the
    version.
    """

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


class VersionList(Body):
    """All versions of a baseline, newest first."""

    versions: list[VersionInfo]


class BaselineHealth(Body):
    """The health of a baseline for each of its hosts."""

    version: int
    hosts: list[HostHealth]


class ExclusionCreate(Body):
    """A window to exclude as an incident; without a host, for all hosts."""

    name: Name
    note: Note = ""
    start: Instant
    end: Instant
    host: Name | None = None


class ExclusionMade(Body):
    """The new exclusion, and the number of baselines that it affects."""

    exclusion: ExclusionInfo
    n_baselines: int


class ExclusionGone(Body):
    """The number of baselines that include the window again."""

    n_baselines: int


class ExclusionList(Body):
    """Exclusions, newest window first."""

    exclusions: list[ExclusionInfo]


class MuteCreate(Body):
    """A series to hide from findings; without a host for all hosts, without an instance for all instances."""

    host: Name | None = None
    stat: StatName
    field: FieldKey
    instance: InstanceName | None = None
    reason: Note = ""


class MuteList(Body):
    """Muted series, newest first."""

    mutes: list[MuteInfo]


class HostGroupCreate(Body):
    """A new group of hosts."""

    name: Name
    note: Note = ""
    hosts: Hosts


class HostGroupUpdate(Body):
    """Changes to a group; members left out stay unchanged. Other hosts give the group's baselines a new version."""

    name: Name | None = None
    note: Note | None = None
    hosts: Hosts | None = None


class HostGroupList(Body):
    """All host groups, by name."""

    groups: list[HostGroupInfo]
