"""Marks of a host's samples: they change whenever samples before an instant arrive, are removed or are replaced, and only then.

A stream that has passed the instant grows after it: only late samples and reparses count. For any other stream every byte counts.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of

READ_MARKS: Final = """
    SELECT side.host_id, h.os, count(s.id), md5(string_agg(concat_ws(' ',
        s.id, s.spec_version, c.n_replaced, c.n_late, CASE WHEN s.last_sample_at < side.end_at THEN s.acked_offset END
    ), ',' ORDER BY s.id))
    FROM unnest(%(host_ids)s::int8[], %(ends)s::timestamptz[]) AS side(host_id, end_at)
    JOIN hosts AS h ON h.id = side.host_id
    LEFT JOIN streams AS s ON s.host_id = side.host_id AND s.first_sample_at < side.end_at
    LEFT JOIN stream_changes AS c ON c.stream_id = s.id
    GROUP BY side.host_id, h.os
    ORDER BY side.host_id
"""
# What retention removed so far, the columns of all stats, the mutes, and what is expected.
READ_COMMON: Final = """
    SELECT
        (SELECT concat_ws(' ', count(*), sum(n_samples)) FROM retention_runs),
        (SELECT concat_ws(' ', count(*), sum(spec_version)) FROM stats),
        (SELECT count(*) FROM stat_fields),
        (SELECT concat_ws(' ', count(*), sum(id)) FROM muted_series),
        (SELECT concat_ws(' ', count(*), sum(id)) FROM expected_values)
"""
READ_PROFILES: Final = """
    SELECT host_id, slot, method, made_at, until_at, is_stale, sources FROM profiles
    WHERE baseline_id = %(baseline_id)s AND version = %(version)s AND host_id = ANY(%(host_ids)s)
    ORDER BY host_id, slot, method
"""


async def read_data_marks(session: AsyncSession, ends: Mapping[int, datetime]) -> list[object]:
    """Return the marks of the samples of hosts, each before an instant, and of what applies to all of them."""
    connection = await driver_of(session)
    common = await (await connection.execute(READ_COMMON)).fetchone()
    cursor = await connection.execute(READ_MARKS, {"host_ids": list(ends), "ends": list(ends.values())})
    return [common, *await cursor.fetchall()]


async def read_profile_marks(session: AsyncSession, baseline_id: int, version: int, host_ids: Sequence[int]) -> list[object]:
    """Return what changes whenever a stored profile of a version of a baseline is built, confirmed or outdated."""
    connection = await driver_of(session)
    arguments = {"baseline_id": baseline_id, "version": version, "host_ids": list(host_ids)}
    return list(await (await connection.execute(READ_PROFILES, arguments)).fetchall())
