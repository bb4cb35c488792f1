"""A saved baseline as one comparison uses it: one version for all hosts, read once."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_rows import read_baseline
from normstat.baselines.baseline_versions import effective_windows_by_host, read_version
from normstat.baselines.window_sets import Windows
from normstat.errors import BadRequest, NoData
from normstat.profiles.stored_profile import LoadedProfile, load_wanted, to_wanted
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class SavedBaseline:
    """A version of a baseline. `windows`: by host id, without what is excluded for that host"""

    id: int
    name: str
    version: int
    time_zone: str
    windows: Mapping[int, Windows]

    def windows_of(self, host: str, host_id: int) -> Windows:
        """Return the windows for a host.

        Raises: NoData when all of them are excluded
        """
        windows = self.windows[host_id]
        if not windows:
            raise NoData(f"All windows of baseline {self.name} are excluded for {host}", {"baseline": self.id})
        return windows

    async def load_profile(self, session: AsyncSession, host_id: int, incident: Window) -> LoadedProfile | None:
        """Return the stored profile for a host and the hours of the incident. Missing: None where the samples are to be read."""
        wanted = to_wanted(self.id, self.version, host_id, self.time_zone, tuple(self.windows[host_id]))
        return await load_wanted(session, wanted, at=incident)


async def read_saved_baseline(
    session: AsyncSession, baseline_id: int, version: int | None, host_ids: Mapping[str, int]
) -> SavedBaseline:
    """Return a version of a baseline (None: the newest) with its windows for these hosts.

    Raises: NotFound for an unknown baseline or version; BadRequest when it does not cover one of the hosts
    """
    info = await read_baseline(session, baseline_id)
    number = info.version if version is None else version
    record = await read_version(session, baseline_id, number)
    hosts = info.hosts if version is None else record.hosts
    for host in host_ids:
        if host not in hosts:
            raise BadRequest(
                f"Baseline {info.name} covers {', '.join(hosts)}, not {host}. Choose a baseline that covers {host}",
                {"baseline": info.id, "host": host},
            )
    windows = await effective_windows_by_host(session, baseline_id, list(host_ids.values()), number)
    return SavedBaseline(info.id, info.name, number, record.time_zone, windows)
