"""Jobs that run by the clock, in the one server process that holds the lock. Each is a function of the package it belongs to."""

import asyncio
from datetime import UTC
from typing import Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.auth.login import delete_expired_logins
from normstat.baselines.lifecycle import update_baselines
from normstat.profiles.profile_job import run_profiles
from normstat.retention.deletion_worker import wish_nightly_retention
from normstat.rollups.rollup_job import run_rollups
from normstat.storage.hypertables import keep_columnstores
from normstat.storage.leader import try_lead
from normstat.storage.stat_tables import SCHEMA
from normstat.storage.storage_sizes import note_sizes
from normstat.storage.turns import Turns

log = structlog.get_logger()

# How often a process asks whether it leads, or still does.
CHECK_S: Final = 30.0
# After the database was lost: whoever had the lock has it no more, and nobody does the jobs.
RETRY_S: Final = 5.0
# What is left then waits for the next time.
ROLLUPS_S: Final = 30.0
PROFILES_S: Final = 25.0


def build_scheduler(sessions: async_sessionmaker[AsyncSession]) -> AsyncIOScheduler:
    """Return all jobs with their times; not started."""
    rollup_turns: Turns[int] = Turns("rollup_failed")
    baseline_turns: Turns[int] = Turns("baseline_update_failed")
    profile_turns: Turns[tuple[int, int]] = Turns("profile_failed")
    scheduler = AsyncIOScheduler(timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 60})
    scheduler.add_job(delete_expired_logins, "interval", args=[sessions], minutes=15, id="delete_expired_logins")
    scheduler.add_job(wish_nightly_retention, "cron", args=[sessions], hour=1, minute=23, id="retention")
    wish = {"budget_s": ROLLUPS_S, "turns": rollup_turns}
    scheduler.add_job(run_rollups, "interval", args=[sessions], kwargs=wish, minutes=1, id="rollups")
    wish = {"turns": baseline_turns}
    scheduler.add_job(update_baselines, "interval", args=[sessions], kwargs=wish, minutes=1, id="update_baselines")
    wish = {"budget_s": PROFILES_S, "turns": profile_turns}
    scheduler.add_job(run_profiles, "interval", args=[sessions], kwargs=wish, seconds=30, id="profiles")
    scheduler.add_job(note_sizes, "cron", args=[sessions], minute=7, id="note_sizes")
    scheduler.add_job(keep_columnstores, "cron", args=[sessions, SCHEMA], minute=37, id="keep_columnstores")
    return scheduler


async def run_jobs(engine: AsyncEngine, sessions: async_sessionmaker[AsyncSession], *, check_s: float = CHECK_S) -> None:
    """Run the scheduler whenever this process holds the lock; until cancelled, whatever happens."""
    while True:
        try:
            async with try_lead(engine) as leadership:
                if leadership is not None:
                    scheduler = build_scheduler(sessions)
                    scheduler.start()
                    log.info("jobs_started")
                    try:
                        while True:
                            await asyncio.sleep(check_s)
                            await leadership.check()
                    finally:
                        scheduler.shutdown(wait=False)
                        log.info("jobs_stopped")
        except (DBAPIError, PoolTimeout) as error:
            log.warning("jobs_lost_database", error=type(error).__name__)
            await asyncio.sleep(min(check_s, RETRY_S))
        except Exception:
            # A defect. Without jobs nothing is kept up, and nobody would notice for days.
            log.exception("jobs_broken", next_try_in_s=check_s)
            await asyncio.sleep(check_s)
        else:
            await asyncio.sleep(check_s)
