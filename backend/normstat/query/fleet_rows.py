"""Rows of many hosts at once: their ids and groups, instances of a few stats, streams at a moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.baseline_models import HostGroup, HostGroupHost
from normstat.db.schema.models import Host, StatTable
from normstat.db.session import driver_of
from normstat.samples.instance_cache import LAST_STEP
from normstat.window import Window

READ_INSTANCES: Final = """
    SELECT id, host_id, stat_id, name FROM all_instances
    WHERE host_id = ANY(%(host_ids)s::int8[]) AND stat_id = ANY(%(stat_ids)s::int8[])
      AND first_sample_at < %(end)s AND last_sample_at >= %(start)s AND pack_first_at < %(end)s AND pack_last_at >= %(start)s
"""
READ_PAST_STREAMS: Final = """
    SELECT host_id, max(last_sample_at) FILTER (WHERE last_sample_at <= %(at)s), count(*) FILTER (WHERE last_sample_at > %(at)s),
        coalesce(array_agg(DISTINCT command) FILTER (WHERE last_sample_at > %(at)s), '{}')
    FROM streams WHERE first_sample_at < %(at)s GROUP BY host_id
"""


@dataclass(frozen=True, slots=True)
class PresentInstance:
    """An instance of a stat of a host that has samples near a window."""

    id: int
    host_id: int
    stat_id: int
    name: str


@dataclass(frozen=True, slots=True)
class PastStreams:
    """The streams of a host at a moment. `ended_at`: the last sample of those that ended before; `n_running`: those with samples
    before and after; `commands`: theirs
    """

    ended_at: datetime | None = None
    n_running: int = 0
    commands: tuple[str, ...] = ()


async def read_host_ids(session: AsyncSession) -> dict[str, int]:
    """Return the ids of all hosts by name."""
    return {name: id_ for id_, name in await session.execute(select(Host.id, Host.name))}


async def read_stat_names(session: AsyncSession) -> list[str]:
    """Return the names of all stats with samples of any host."""
    return list(await session.scalars(select(StatTable.name)))


async def read_groups_of_hosts(session: AsyncSession) -> dict[int, list[str]]:
    """Return the names of the groups of each host, by name."""
    query = select(HostGroupHost.host_id, HostGroup.name).join(HostGroup, HostGroup.id == HostGroupHost.group_id)
    found: dict[int, list[str]] = {}
    for host_id, name in await session.execute(query.order_by(HostGroup.name)):
        found.setdefault(host_id, []).append(name)
    return found


async def read_instances(
    session: AsyncSession, host_ids: Sequence[int], stat_ids: Sequence[int], window: Window
) -> list[PresentInstance]:  # fmt: skip
    """Return the instances of these stats of these hosts that have samples in the window, or shortly before it."""
    cursor = await (await driver_of(session)).execute(
        READ_INSTANCES,
        {"host_ids": list(host_ids), "stat_ids": list(stat_ids), "start": window.start - LAST_STEP, "end": window.end},
    )
    return [PresentInstance(*row) for row in await cursor.fetchall()]  # type: ignore[arg-type]


async def read_past_streams(session: AsyncSession, at: datetime) -> dict[int, PastStreams]:
    """Return the streams with samples before a moment, by host."""
    cursor = await (await driver_of(session)).execute(READ_PAST_STREAMS, {"at": at})
    return {
        int(str(host_id)): PastStreams(ended_at, int(str(n_running)), tuple(commands))  # type: ignore[arg-type]
        for host_id, ended_at, n_running, commands in await cursor.fetchall()
    }
