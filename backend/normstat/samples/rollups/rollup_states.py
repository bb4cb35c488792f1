"""The state of each host's rollups, and dropping them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.connecting import is_citus
from normstat.db.session import WriteSession, driver_of, open_read_session
from normstat.samples.lookup import require_host
from normstat.samples.rollups.rollup_rows import forget_rollups

READ_STATES: Final = """
    SELECT h.id, h.name, h.rolled_until,
      (SELECT count(*) FROM rollup_marks AS m WHERE m.host_id = h.id),
      (SELECT coalesce(sum(octet_length(r.body)), 0)::int8 FROM rollups AS r WHERE r.host_id = h.id)
    FROM hosts AS h
    WHERE NOT EXISTS (SELECT FROM host_deletions AS d WHERE d.host_id = h.id)
    ORDER BY h.name
"""
# On a cluster: each statement is of one kind of table.
HOSTS_OF_CLUSTER: Final = """
    SELECT h.id, h.name, h.rolled_until FROM hosts AS h
    WHERE NOT EXISTS (SELECT FROM host_deletions AS d WHERE d.host_id = h.id)
    ORDER BY h.name
"""
MARKS_OF_CLUSTER: Final = "SELECT host_id, count(*) FROM rollup_marks GROUP BY host_id"
SIZES_OF_CLUSTER: Final = "SELECT host_id, sum(octet_length(body))::int8 FROM rollups GROUP BY host_id"


@dataclass(frozen=True, slots=True)
class RollupState:
    """The state of a host's rollups; `n_marked` hours of stats before `until` changed since. Missing: `until` None: not started."""

    host_id: int
    host: str
    until: datetime | None
    n_marked: int
    n_bytes: int


async def read_rollup_states(session: AsyncSession) -> list[RollupState]:
    """Return all hosts by name."""
    connection = await driver_of(session)
    if is_citus():
        marks = {row[0]: row[1] for row in await (await connection.execute(MARKS_OF_CLUSTER)).fetchall()}
        sizes = {row[0]: row[1] for row in await (await connection.execute(SIZES_OF_CLUSTER)).fetchall()}
        hosts = await (await connection.execute(HOSTS_OF_CLUSTER)).fetchall()
        rows: list[tuple[object, ...]] = [(*row, marks.get(row[0], 0), sizes.get(row[0], 0)) for row in hosts]
    else:
        rows = await (await connection.execute(READ_STATES)).fetchall()
    return [
        RollupState(int(str(id_)), str(name), until if isinstance(until, datetime) else None, int(str(n)), int(str(n_bytes)))
        for id_, name, until, n, n_bytes in rows
    ]


async def drop_rollups(session: WriteSession, host: str | None) -> int:
    """Drop the rollups of a host, or of all (None); return the number of hosts.

    Raises: NotFound for an unknown host
    """
    wanted = None if host is None else await require_host(session, host)
    host_ids = [state.host_id for state in await read_rollup_states(session) if wanted in (None, state.host_id)]
    for host_id in sorted(host_ids):
        await forget_rollups(session, host_id)
    return len(host_ids)


async def count_marks(sessions: async_sessionmaker[AsyncSession], host: str | None) -> int:
    """Hours of stats that wait to be rolled up again, of a host or of all (None)."""
    async with open_read_session(sessions) as session:
        return sum(state.n_marked for state in await read_rollup_states(session) if host in (None, state.host))
