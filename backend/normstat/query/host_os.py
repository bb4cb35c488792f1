"""The operating system of hosts, as reported by their agents."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host


async def read_host_os(session: AsyncSession, names: Iterable[str]) -> dict[str, str]:
    """Return `uname -s -r -m` of each known host; "" where no agent reported it (imported files)."""
    rows = await session.execute(select(Host.name, Host.os).where(Host.name.in_(list(names))))
    return {host.name: host.os for host in rows}
