"""The work in the background that removes data: deletions of hosts, and retention. One process at a time does it."""

import asyncio
from datetime import UTC, datetime
from typing import Final

import psycopg
import structlog
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.store import host_deletion, retention, retention_rules
from normstat.store.life_models import HostDeletion, RetentionRun
from normstat.store.session import open_locked_sessions, open_read_session, open_write_session
from normstat.store.user_specs import refresh_catalogue

log = structlog.get_logger()

# Any number that no other advisory lock has.
UPKEEP_LOCK: Final = 0x6E6F726D_00000012
POLL_S: Final = 5.0


async def run_upkeep(database_url: str, sessions: async_sessionmaker[AsyncSession], *, poll_s: float = POLL_S) -> None:
    """Works off whatever is wished for, whenever no other process does; until cancelled."""
    while True:
        try:
            async with open_read_session(sessions) as session:
                is_wanted = await _has_work(session)
            if is_wanted:
                await work_off_upkeep(database_url)
        except (DBAPIError, PoolTimeout, psycopg.Error) as error:
            # What was begun is begun again, and what it did stays done.
            log.warning("upkeep_lost_database", error=type(error).__name__, cause=str(error).splitlines()[:1])
        await asyncio.sleep(poll_s)


async def work_off_upkeep(database_url: str) -> bool:
    """Works off all deletions and runs of retention that wait; False, and nothing done, when another process does."""
    async with open_locked_sessions(database_url, UPKEEP_LOCK) as sessions:
        if sessions is None:
            return False
        while True:
            async with open_write_session(sessions) as session:
                await refresh_catalogue(session)
                host_id = await host_deletion.next_deletion(session)
                run_id = None if host_id is not None else await retention_rules.next_run(session)
            if host_id is not None:
                await host_deletion.delete_host(sessions, host_id)
            elif run_id is not None:
                await retention.apply_rules(sessions, run_id, now=datetime.now(UTC))
            else:
                return True


async def wish_nightly_retention(sessions: async_sessionmaker[AsyncSession]) -> None:
    """The nightly job: a run of retention is wished for, when there are rules."""
    async with open_write_session(sessions) as session:
        if await retention_rules.read_rules(session):
            await retention_rules.add_run(session, created_by=NIGHTLY)


NIGHTLY: Final = "every night"


async def _has_work(session: AsyncSession) -> bool:
    deletion = select(HostDeletion.host_id).where(HostDeletion.finished_at.is_(None)).exists()
    run = select(RetentionRun.id).where(RetentionRun.state.in_(retention_rules.OPEN_STATES)).exists()
    return bool(await session.scalar(select(deletion | run)))
