"""Hosts that rules may judge: those with recent samples, and what changed since they were judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# Streams without any sample since the oldest time that is judged are not looked at: a host may have thousands.
READ_HOSTS: Final = text("""
    SELECT h.id, h.name, h.tags || h.agent_tags AS tags, h.clock_offset_s, w.progress, w.since_at,
        s.n_streams, s.n_acked, s.n_changes, s.last_sample_at, c.late_from, c.n_late, c.ids
    FROM hosts AS h
    JOIN LATERAL (
        SELECT count(*) AS n_streams, sum(acked_offset)::int8 AS n_acked, max(last_sample_at) AS last_sample_at,
            sum(spec_version)::int8 AS n_changes
        FROM streams WHERE host_id = h.id AND last_sample_at >= :oldest
    ) AS s ON s.n_streams > 0
    LEFT JOIN LATERAL (
        SELECT min(c.late_from) AS late_from, array_agg(c.n_late ORDER BY c.stream_id) AS n_late,
            array_agg(c.stream_id ORDER BY c.stream_id) AS ids
        FROM streams AS s JOIN stream_changes AS c ON c.stream_id = s.id
        WHERE s.host_id = h.id AND c.late_from IS NOT NULL
    ) AS c ON true
    LEFT JOIN watched_hosts AS w ON w.host_id = h.id
    WHERE h.id NOT IN (SELECT host_id FROM host_deletions)
    ORDER BY h.id
""")


@dataclass(frozen=True, slots=True)
class WatchableHost:
    """A host with recent samples.

    `mark` changes with every byte that its streams send; `late`: by stream, how often samples came late when `late_from` was read;
    `progress`: how far each rule has judged it. Missing: `late_from`, None when nothing is late
    """

    id: int
    name: str
    tags: tuple[str, ...]
    clock_offset_s: float
    last_sample_at: datetime
    mark: tuple[int, int, int]
    late_from: datetime | None
    late: Mapping[int, int]
    progress: Mapping[str, Mapping[str, object]]


async def read_watchable(session: AsyncSession, oldest: datetime) -> list[WatchableHost]:
    """Return the hosts with samples since that time, by id."""
    rows = (await session.execute(READ_HOSTS, {"oldest": oldest})).all()
    return [
        WatchableHost(
            id=row.id,
            name=row.name,
            tags=tuple(row.tags),
            clock_offset_s=row.clock_offset_s or 0.0,
            last_sample_at=row.last_sample_at,
            mark=(row.n_streams, row.n_acked, row.n_changes),
            late_from=row.late_from,
            late=dict(zip(row.ids or (), row.n_late or (), strict=True)),
            progress=row.progress or {},
        )
        for row in rows
    ]
