"""The bodies of baselines and of their versions, health, exclusions, mutes and host groups."""

from normstat.baselines.baseline_health import HostHealth
from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_versions import VersionInfo
from normstat.baselines.exclusion_rows import ExclusionInfo
from normstat.baselines.host_group_rows import HostGroupInfo, Hosts
from normstat.baselines.mute_rows import MuteInfo
from normstat.runtime.body import Body, Name, Note


class BaselineList(Body):
    """Baselines, newest first."""

    baselines: list[BaselineInfo]


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


class MuteList(Body):
    """Muted series, newest first."""

    mutes: list[MuteInfo]


class HostGroupCreate(Body):
    """A new group of hosts."""

    name: Name
    note: Note = ""
    hosts: Hosts


class HostGroupList(Body):
    """All host groups, by name."""

    groups: list[HostGroupInfo]
