"""The operating system of hosts, as reported by their agents, or derived from their tools."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host
from normstat.stats.catalogue import load_catalogue
from normstat.stats.fact_words import find_system


async def read_host_os(session: AsyncSession, names: Iterable[str]) -> dict[str, str]:
    """Return `uname -s -r -m` of each known host; "" where no agent reported it (imported files)."""
    rows = await session.execute(select(Host.name, Host.os).where(Host.name.in_(list(names))))
    return {host.name: host.os for host in rows}


async def read_system(session: AsyncSession, host: str, stats: Iterable[str]) -> str:
    """Return the system of a host with these stats (fact_words.find_system). Missing: "" where it is not known."""
    known = load_catalogue().stats
    os = (await read_host_os(session, [host])).get(host, "")
    return find_system(os, (known[stat][0].os for stat in stats if stat in known))
