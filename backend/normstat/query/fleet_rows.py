"""What the fleet page reads of many hosts at once: instances of a few stats, the baselines that cover them, their profiles."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.storage.instance_cache import LAST_STEP
from normstat.storage.profile_rows import ProfileKey, ProfileRow
from normstat.storage.schema.baseline_models import HostGroup, HostGroupHost
from normstat.storage.schema.models import Host, StatTable
from normstat.storage.session import driver_of
from normstat.window import Window

# A range with both ends.
RANGE: Final = re.compile(r'\["([^"]+)","([^"]+)"\)')
READ_INSTANCES: Final = """
    SELECT id, host_id, stat_id, name FROM instances
    WHERE host_id = ANY(%(host_ids)s::int8[]) AND stat_id = ANY(%(stat_ids)s::int8[])
      AND first_sample_at < %(end)s AND last_sample_at >= %(start)s
"""
READ_PAST_STREAMS: Final = """
    SELECT host_id, max(last_sample_at) FILTER (WHERE last_sample_at <= %(at)s), count(*) FILTER (WHERE last_sample_at > %(at)s),
        coalesce(array_agg(DISTINCT command) FILTER (WHERE last_sample_at > %(at)s), '{}')
    FROM streams WHERE first_sample_at < %(at)s GROUP BY host_id
"""
# The newest baseline of a host with windows, one that is being recorded only where there is no other, as the page chooses one; the
# rolling baseline where no person marked one. Lengths are of the time before now.
READ_BASELINES: Final = """
    SELECT DISTINCT ON (bh.host_id) bh.host_id, b.id, b.version, b.name, b.time_zone, own.windows::text,
        b.rolling_host_id IS NOT NULL
    FROM baselines AS b JOIN baseline_hosts AS bh ON bh.baseline_id = b.id
    CROSS JOIN LATERAL (
        SELECT b.windows - coalesce((
            SELECT range_agg(tstzrange(e.start_at, e.end_at)) FROM exclusions AS e WHERE e.host_id IS NULL OR e.host_id = bh.host_id
        ), '{}'::tstzmultirange) AS windows
    ) AS own
    WHERE b.archived_at IS NULL AND NOT isempty(b.windows) AND (%(min_s)s::float8 = 0 OR (
        SELECT sum(extract(epoch FROM least(upper(part), %(now)s::timestamptz) - lower(part))) FROM unnest(own.windows) AS part
        WHERE lower(part) < %(now)s::timestamptz
    ) >= %(min_s)s::float8)
    ORDER BY bh.host_id, %(min_s)s::float8 > 0 AND NOT EXISTS (
        SELECT FROM profiles AS p WHERE p.baseline_id = b.id AND p.host_id = bh.host_id AND p.slot = -1 AND p.spec_versions <> '{}'
            AND p.version IN (b.version, CASE WHEN b.rolling_host_id IS NOT NULL THEN b.version - 1 END)
    ), b.rolling_host_id IS NOT NULL, b.recording_until IS NOT NULL, b.id DESC
"""
READ_PROFILES: Final = """
    SELECT p.baseline_id, p.version, p.host_id, p.slot, p.method, p.made_at, p.until_at, p.effective::text, p.is_stale, p.sources
    FROM unnest(%(baselines)s::int8[], %(versions)s::int4[], %(hosts)s::int8[], %(slots)s::int2[], %(others)s::int2[])
      AS wanted(baseline_id, version, host_id, slot, other)
    JOIN profiles AS p ON p.baseline_id = wanted.baseline_id AND p.version = wanted.version AND p.host_id = wanted.host_id
      AND p.slot IN (-1, wanted.slot, wanted.other) AND p.method = %(method)s
"""
READ_BANDS: Final = """
    SELECT p.baseline_id, p.version, p.host_id, p.slot, p.band
    FROM unnest(%(baselines)s::int8[], %(versions)s::int4[], %(hosts)s::int8[], %(slots)s::int2[])
      AS wanted(baseline_id, version, host_id, slot)
    JOIN profiles AS p ON p.baseline_id = wanted.baseline_id AND p.version = wanted.version AND p.host_id = wanted.host_id
      AND p.slot = wanted.slot AND p.method = %(method)s
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


@dataclass(frozen=True, slots=True)
class CoveringBaseline:
    """The baseline that a host is judged by. `windows`: the effective ones; they may reach into the future"""

    id: int
    version: int
    name: str
    time_zone: str
    windows: tuple[Window, ...]
    is_rolling: bool = False


@lru_cache(maxsize=4096)
def read_windows(text: str) -> tuple[Window, ...]:
    """Return the windows of a multirange as PostgreSQL prints it. A fleet has the same few for most of its hosts.

    >>> read_windows('{["2026-11-20 09:00:00+00","2026-11-20 09:30:00.5+00")}')[0].end.isoformat()
    '2026-11-20T09:30:00.500000+00:00'
    """
    return tuple(Window(datetime.fromisoformat(start), datetime.fromisoformat(end)) for start, end in RANGE.findall(text))


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


async def read_covering_baselines(
    session: AsyncSession, *, min_s: float = 0.0, now: datetime | None = None
) -> dict[int, CoveringBaseline]:  # fmt: skip
    """Return the baseline of each host that one covers, by the host's id.

    With `min_s`: only those that long by `now`, and one that has a profile with samples before one that has none yet: a new
    baseline does not end the comparison with the one before.
    """
    cursor = await (await driver_of(session)).execute(READ_BASELINES, {"min_s": min_s, "now": now})
    return {
        int(str(host_id)): CoveringBaseline(
            int(str(id_)), int(str(version)), str(name), str(zone), read_windows(str(ranges)), bool(is_rolling)
        )
        for host_id, id_, version, name, zone, ranges, is_rolling in await cursor.fetchall()
    }


async def read_profile_heads(
    session: AsyncSession, wanted: Sequence[tuple[ProfileKey, int, int]]
) -> dict[tuple[int, int], dict[int, ProfileRow]]:  # fmt: skip
    """Return the profiles of all hours and of two seasonal slots, without bodies, by baseline and host, then by slot."""
    if not wanted:
        return {}
    asked = {
        "baselines": [key.baseline_id for key, _, _ in wanted],
        "versions": [key.version for key, _, _ in wanted],
        "hosts": [key.host_id for key, _, _ in wanted],
        "slots": [slot for _, slot, _ in wanted],
        "others": [other for _, _, other in wanted],
        "method": wanted[0][0].method,
    }
    cursor = await (await driver_of(session)).execute(READ_PROFILES, asked)
    found: dict[tuple[int, int], dict[int, ProfileRow]] = {}
    for baseline_id, version, host_id, slot, method, made_at, until_at, effective, is_stale, sources in await cursor.fetchall():
        assert isinstance(made_at, datetime)
        assert isinstance(until_at, datetime)
        key = ProfileKey(*(int(str(number)) for number in (baseline_id, version, host_id, slot, method)))
        row = ProfileRow(key, made_at, until_at, read_windows(str(effective)), bool(is_stale), {}, str(sources), b"")
        found.setdefault((key.baseline_id, key.host_id), {})[key.slot] = row
    return found


async def read_band_bodies(session: AsyncSession, keys: Sequence[ProfileKey]) -> Mapping[ProfileKey, bytes]:
    """Return the bytes of the bands of these profiles."""
    if not keys:
        return {}
    asked = {
        "baselines": [key.baseline_id for key in keys],
        "versions": [key.version for key in keys],
        "hosts": [key.host_id for key in keys],
        "slots": [key.slot for key in keys],
        "method": keys[0].method,
    }
    bodies = {}
    async with (await driver_of(session)).cursor(binary=True) as cursor:
        await cursor.execute(READ_BANDS, asked)
        for baseline_id, version, host_id, slot, body in await cursor.fetchall():
            assert isinstance(body, bytes)
            numbers = (int(str(number)) for number in (baseline_id, version, host_id, slot, keys[0].method))
            bodies[ProfileKey(*numbers)] = body
    return bodies
