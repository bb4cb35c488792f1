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

from normstat.retention import retention_rules, retention_run
from normstat.storage import host_deletion
from normstat.storage.schema.retention_models import HostDeletion, RetentionRun
from normstat.storage.session import open_locked_sessions, open_read_session, open_write_session
from normstat.storage.turns import Turns, describe, is_database_away
from normstat.storage.user_specs import refresh_catalogue

log = structlog.get_logger()

# Any number that no other advisory lock has.
UPKEEP_LOCK: Final = 0x6E6F726D_00000012
POLL_S: Final = 5.0
DEFECT_WAIT_S: Final = 60.0
# The deletion of a host, or a run of retention, by its number.
Work = tuple[str, int]
DELETION: Final = "host_id"
RUN: Final = "run"


async def run_upkeep(database_url: str, sessions: async_sessionmaker[AsyncSession], *, poll_s: float = POLL_S) -> None:
    """Work off whatever is wished for, whenever no other process does; until cancelled, whatever happens."""
    turns: Turns[Work] = Turns("upkeep_failed")
    while True:
        try:
            async with open_read_session(sessions) as session:
                is_wanted = bool(turns.order(await _list_work(session)))
            if is_wanted:
                await work_off_upkeep(database_url, turns)
        except (DBAPIError, PoolTimeout, psycopg.Error) as error:
            # What was begun is begun again, and what it did stays done.
            log.warning("upkeep_lost_database", error=type(error).__name__, cause=str(error).splitlines()[:1])
        except Exception:
            # A defect, which must not end deletions and retention until somebody restarts the server.
            log.exception("upkeep_broken", next_try_in_s=DEFECT_WAIT_S)
            await asyncio.sleep(DEFECT_WAIT_S)
        await asyncio.sleep(poll_s)


async def work_off_upkeep(database_url: str, turns: Turns[Work] | None = None) -> bool:
    """Work off all deletions and runs of retention that wait; False, and nothing done, when another process does.

    What fails stops none of the others; `turns` know when it is tried again.
    Raises: without `turns`, the first failure, once all others are done
    """
    own: Turns[Work] = Turns("upkeep_failed") if turns is None else turns
    async with open_locked_sessions(database_url, UPKEEP_LOCK) as sessions:
        if sessions is None:
            return False
        while True:
            async with open_write_session(sessions) as session:
                await refresh_catalogue(session)
                coming = own.order(await _list_work(session))
            if not coming:
                break
            kind, number = work = coming[0]
            with own.turn(work, **{kind: number}):
                if kind == DELETION:
                    await host_deletion.delete_host(sessions, number)
                else:
                    await _apply_rules(sessions, number)
    if turns is None and own.failures:
        raise next(iter(own.failures.values())).error
    return True


async def _apply_rules(sessions: async_sessionmaker[AsyncSession], run_id: int) -> None:
    """Run retention; a run that fails as a whole is at its end, the next one begins again."""
    async with open_write_session(sessions) as session:
        await retention_rules.begin_run(session, run_id)
    try:
        await retention_run.apply_rules(sessions, run_id, now=datetime.now(UTC))
    except Exception as error:
        if not is_database_away(error):
            async with open_write_session(sessions) as session:
                await retention_rules.end_run(session, run_id, describe(error))
        raise


async def wish_nightly_retention(sessions: async_sessionmaker[AsyncSession]) -> None:
    """The nightly job: a run of retention is wished for, when there are rules."""
    async with open_write_session(sessions) as session:
        if await retention_rules.read_rules(session):
            await retention_rules.add_run(session, created_by=NIGHTLY)


NIGHTLY: Final = "every night"


async def _list_work(session: AsyncSession) -> list[Work]:
    """Return what is wished for: deletions first, each in the order in which it was asked for."""
    deletions = select(HostDeletion.host_id).where(HostDeletion.finished_at.is_(None)).order_by(HostDeletion.requested_at)
    runs = select(RetentionRun.id).where(RetentionRun.state.in_(retention_rules.OPEN_STATES)).order_by(RetentionRun.id)
    return [
        *((DELETION, host_id) for host_id in await session.scalars(deletions)),
        *((RUN, run_id) for run_id in await session.scalars(runs)),
    ]
