"""The streams of hosts that rules may judge: how far each has come, and whether anything before that has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

READ_STREAMS: Final = text("""
    SELECT s.host_id, s.id, s.acked_offset, s.spec_version, coalesce(c.n_late, 0), coalesce(s.first_sample_at, :oldest),
        s.last_sample_at, array_to_string(s.stat_names, ' ')
    FROM streams AS s LEFT JOIN stream_changes AS c ON c.stream_id = s.id
    WHERE s.host_id = ANY(:ids) AND s.last_sample_at >= :oldest ORDER BY s.host_id, s.id
""")
# What retention removed so far.
READ_REMOVED: Final = text("SELECT count(*), CAST(coalesce(sum(n_samples), 0) AS int8) FROM retention_runs")


@dataclass(frozen=True, slots=True)
class StreamMark:
    """How far a stream has come. `n_changes`: how often samples came late, or were derived again"""

    n_acked: int
    n_changes: tuple[int, int]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class HostStreams:
    """The streams of a host with recent samples, by id, and the last sample of each stat that they have."""

    marks: Mapping[int, StreamMark]
    stats: Mapping[str, datetime]


NO_STREAMS: Final = HostStreams({}, {})


async def read_streams(session: AsyncSession, host_ids: Sequence[int], oldest: datetime) -> dict[int, HostStreams]:
    """Return the streams of hosts with samples since that time."""
    marks: dict[int, dict[int, StreamMark]] = {}
    stats: dict[int, dict[str, datetime]] = {}
    for host_id, id_, n_acked, version, n_late, first_at, last_at, names in await session.execute(
        READ_STREAMS, {"ids": list(host_ids), "oldest": oldest}
    ):
        marks.setdefault(host_id, {})[id_] = StreamMark(n_acked, (version, n_late), first_at, last_at)
        own = stats.setdefault(host_id, {})
        for name in names.split():
            own[name] = max(own.get(name, last_at), last_at)
    return {host_id: HostStreams(own, dict(sorted(stats.get(host_id, {}).items()))) for host_id, own in marks.items()}


async def read_removed(session: AsyncSession) -> tuple[int, int]:
    """Return what changes whenever retention removes samples."""
    n_runs, n_samples = (await session.execute(READ_REMOVED)).one()
    return n_runs, n_samples
