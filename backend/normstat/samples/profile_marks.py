"""Invalidates pieces and profiles of baselines when the samples change that they were built from.

The caller holds the host's row lock.

- hosts.profiled_until: no piece of the host reaches beyond it, so later samples cost nothing
- profile_pieces: those of a changed span are deleted, also those only claimed (being built)
- profiles: those whose windows overlap it are marked as stale

A worker claims a piece first, with the host's row locked, and reads the samples afterwards; if the claim is gone when the piece is
done, the piece is discarded. So a change either precedes the reading and is in the piece, or invalidates the piece.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import psycopg

DELETE_PIECES: Final = """
    DELETE FROM profile_pieces
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND start_at <= %(last)s AND end_at > %(first)s
"""
MARK_PROFILES: Final = """
    UPDATE profiles SET is_stale = true
    WHERE host_id = %(host_id)s AND NOT is_stale AND effective && tstzrange(%(first)s, %(last)s, '[]')
"""
DELETE_OLD: Final = """
    DELETE FROM profile_pieces
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND start_at < %(before)s
    RETURNING start_at
"""
MARK_OLD: Final = """
    UPDATE profiles SET is_stale = true
    WHERE host_id = %(host_id)s AND NOT is_stale AND effective && tstzrange(%(first)s, %(before)s)
"""


@dataclass(frozen=True, slots=True)
class Changed:
    """A stat of a host whose samples changed between two instants, both included."""

    host_id: int
    stat_id: int
    first: datetime
    last: datetime


async def mark_profiles(connection: psycopg.AsyncConnection, changed: Changed, profiled_until: datetime | None) -> None:
    """Invalidate what was built from these samples; does nothing when nothing reaches that far."""
    if profiled_until is None or changed.first >= profiled_until:
        return
    span = {"host_id": changed.host_id, "stat_id": changed.stat_id, "first": changed.first, "last": changed.last}
    await connection.execute(DELETE_PIECES, span)
    await connection.execute(MARK_PROFILES, span)


async def forget_profiles_before(connection: psycopg.AsyncConnection, host_id: int, stat_id: int, before: datetime) -> None:
    """Invalidate what was built from samples older than `before`, which are deleted."""
    of_stat = {"host_id": host_id, "stat_id": stat_id, "before": before}
    gone = [row[0] for row in await (await connection.execute(DELETE_OLD, of_stat)).fetchall()]
    firsts = [start for start in gone if isinstance(start, datetime)]
    if firsts:
        await connection.execute(MARK_OLD, {"host_id": host_id, "first": min(firsts), "before": before})
