"""The operating system of hosts, as reported by their agents, or derived from their tools."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host
from normstat.stats.catalogue import load_catalogue


async def read_host_os(session: AsyncSession, names: Iterable[str]) -> dict[str, str]:
    """Return `uname -s -r -m` of each known host; "" where no agent reported it (imported files)."""
    rows = await session.execute(select(Host.name, Host.os).where(Host.name.in_(list(names))))
    return {host.name: host.os for host in rows}


def find_system(os: str, stats: Iterable[str]) -> str:
    """Return the system of a host as specs name it: `sunos`, `linux`. For a host without an agent, it is that of its tools.

    Missing: "" where they do not show it

    >>> find_system("SunOS 5.10 sun4v", ()), find_system("", ["mpstat_solaris", "dtrace_keys"]), find_system("", ["ping"])
    ('sunos', 'sunos', '')
    """
    if os:
        return "sunos" if os.startswith("SunOS") else "linux"
    known = load_catalogue().stats
    systems = {known[stat][0].os for stat in stats if stat in known} - {"any"}
    return systems.pop() if len(systems) == 1 else ""
