"""Heartbeats of server processes: one that hangs (stopped, swapped out, its machine frozen) is cut off, so that others take over.

A process that hangs keeps its connections, and with them its locks: the leader's, those of jobs, rows of hosts. The database sees
nothing wrong. So each process records a heartbeat every few seconds, and looks for others without one: their connections are
terminated, which ends their transactions and frees their locks. When such a process goes on, it finds its connections gone and
begins again; its writes as the leader are refused (db/leader.py). One that was cut off wrongly loses some requests.
"""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.connecting import process_id
from normstat.db.session import open_write_session

log = structlog.get_logger()

BEAT_S: Final = 5.0
# Longer than an event loop is ever blocked, or a database takes to fail over.
HUNG_AFTER_S: Final = 30.0
# A process that could not beat itself cannot judge others: the database was away.
MAX_OWN_PAUSE_S: Final = 3 * BEAT_S
# Records the heartbeat, and finds the processes that hang.
BEAT: Final = text("""
    WITH own AS (
        INSERT INTO server_processes (id, place) VALUES (:id, :place)
        ON CONFLICT (id) DO UPDATE SET beat_at = clock_timestamp()
    )
    SELECT id, place, extract(epoch FROM clock_timestamp() - beat_at)::float8 AS age_s FROM server_processes
    WHERE id <> :id AND beat_at < clock_timestamp() - make_interval(secs => :age_s)
""")
# Those with locks that others wait for come first, and are waited for: a later check finds them gone.
CUT_OFF: Final = text("""
    SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, :wait_ms))
    FROM (
        SELECT pid FROM pg_stat_activity AS a
        WHERE application_name LIKE :name AND datname = current_database() AND pid <> pg_backend_pid()
        ORDER BY NOT EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.locktype = 'advisory'), pid
    ) AS own
""")
FORGET: Final = text("DELETE FROM server_processes WHERE id = :id")
WAIT_MS: Final = 5000


@dataclass(frozen=True, slots=True)
class HungProcess:
    """A process that was cut off: where it ran, the age of its last heartbeat, and how many connections it had."""

    place: str
    age_s: float
    n_connections: int


class Heartbeat:
    """The heartbeat of this process."""

    def __init__(
        self,
        sessions: async_sessionmaker[AsyncSession],
        *,
        hung_after_s: float = HUNG_AFTER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._hung_after_s = hung_after_s
        self._clock = clock
        self._beat_s: float | None = None

    async def beat(self) -> list[HungProcess]:
        """Record a heartbeat, cut off the processes that hang, and return them."""
        last_s, self._beat_s = self._beat_s, self._clock()
        async with open_write_session(self._sessions) as session:
            place = f"{socket.gethostname()}:{os.getpid()}"
            hung = (await session.execute(BEAT, {"id": process_id(), "place": place, "age_s": self._hung_after_s})).all()
            if last_s is None or self._beat_s - last_s > MAX_OWN_PAUSE_S:
                return []
            # What the session has done is committed already (make_probe_engine): others see this heartbeat meanwhile.
            return [await _cut_off(session, process) for process in hung]

    async def end(self) -> None:
        """Remove the heartbeat of this process, which ends."""
        async with open_write_session(self._sessions) as session:
            await session.execute(FORGET, {"id": process_id()})


async def _cut_off(session: AsyncSession, process: Row[tuple[str, str, float]]) -> HungProcess:
    n_connections = await session.scalar(CUT_OFF, {"name": f"normstat % {process.id}", "wait_ms": WAIT_MS})
    await session.execute(FORGET, {"id": process.id})
    found = HungProcess(process.place, process.age_s, int(n_connections or 0))
    if found.n_connections:
        log.warning(
            "server_process_cut_off", place=found.place, heartbeat_age_s=round(found.age_s), n_connections=found.n_connections
        )
    return found
